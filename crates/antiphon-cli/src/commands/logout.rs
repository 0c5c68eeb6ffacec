//! `antiphon logout`: forgets the tokens of a server.

use antiphon::client::oauth::OAuth;
use clap::Args;
use clap_complete::ArgValueCompleter;

use super::login::server;
use crate::{
    completing,
    failure::Failure,
    options::Connecting,
    printable,
    sign_in::{Known, SignIns},
};

/// Forget the tokens of a server.
///
/// They are removed here. The authorization server is not told: where it lists what was allowed, it can
/// be taken back there.
#[derive(Args)]
#[command(override_usage = "antiphon logout [OPTIONS] <URL|NAME>", after_help = EXAMPLES)]
pub(crate) struct Logout {
    /// The server: a URL, or a name from a file.
    #[arg(value_name = "URL|NAME", add = ArgValueCompleter::new(completing::words))]
    target: String,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon logout https://shop.example.com/mcp

Exit codes: 0 forgotten, or there was nothing to forget, 1 it cannot be, 2 wrong usage.";

impl Logout {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let (url, http) = server(&self.target, &self.connecting)?;
        let Some(sign_ins) = SignIns::of_user() else {
            return Err("there is no place where tokens are kept".into());
        };
        let oauth = sign_ins.with_tokens(OAuth::stored(), &Known::default(), &self.connecting);
        let had_any = http.oauth(oauth).sign_out().await?;
        sign_ins.forget(&url).await?;
        let target = printable::line(&self.target);
        match had_any {
            true => say!("The tokens of {target} are forgotten."),
            false => say!("There are no tokens of {target}."),
        }
        Ok(())
    }
}
