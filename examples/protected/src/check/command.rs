//! The same with the `antiphon` command.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::Command,
    time::timeout,
};

use crate::{
    Boxed, Done, holds,
    parties::{PATIENCE, Parties},
};

/// Somebody with a home of their own; it is removed in the end.
struct User<'a> {
    parties: &'a Parties,
    antiphon: &'a Path,
    name: &'static str,
    home: PathBuf,
}

/// How a command ended.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl<'a> User<'a> {
    fn new(parties: &'a Parties, antiphon: &'a Path, name: &'static str) -> Result<Self, Boxed> {
        let folder = format!("antiphon-protected-{}-{name}", std::process::id());
        let home = std::env::temp_dir().join(folder);
        fs::create_dir_all(&home)?;
        Ok(Self {
            parties,
            antiphon,
            name,
            home,
        })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.antiphon);
        command
            .args(words)
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env("XDG_CACHE_HOME", self.home.join("cache"))
            .env("XDG_CONFIG_HOME", self.home.join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    async fn run(&self, words: &[&str]) -> Result<Ran, Boxed> {
        let output = timeout(PATIENCE, self.command(words).output()).await??;
        Ok(Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout)?,
            err: String::from_utf8(output.stderr)?,
        })
    }

    /// Signs in with a browser elsewhere.
    async fn login(&self) -> Result<Ran, Boxed> {
        let url = &self.parties.url;
        let words = ["login", url, "--no-browser", "--scope", "orders:write"];
        let mut child = self.command(&words).spawn()?;
        let errors = child.stderr.take().ok_or("it is piped")?;
        let mut lines = BufReader::new(errors).lines();
        let mut err = String::new();
        let reading = async {
            while let Some(line) = lines.next_line().await? {
                err.push_str(&line);
                err.push('\n');
                let page = line.trim();
                if page.starts_with(&self.parties.issuer) {
                    self.parties
                        .person(self.name)
                        .visit(page.to_owned())
                        .await?;
                }
            }
            Ok::<_, Boxed>(())
        };
        timeout(PATIENCE, reading).await??;
        let mut out = String::new();
        let output = child.stdout.take();
        output
            .ok_or("it is piped")?
            .read_to_string(&mut out)
            .await?;
        let code = child.wait().await?.code();
        Ok(Ran { code, out, err })
    }

    /// What is kept of sign-ins.
    fn tokens(&self) -> Result<Vec<String>, Boxed> {
        let files = fs::read_dir(self.home.join("state/antiphon/tokens"))?;
        let texts = files.map(|file| Ok(fs::read_to_string(file?.path())?));
        let texts: Vec<String> = texts.collect::<Result<_, Boxed>>()?;
        let mut tokens = Vec::new();
        for text in texts {
            let kept: serde_json::Value = serde_json::from_str(&text)?;
            for name in ["access_token", "refresh_token"] {
                tokens.extend(kept[name].as_str().map(str::to_owned));
            }
        }
        Ok(tokens)
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.home);
    }
}

pub(crate) async fn check(parties: &Parties, antiphon: &Path) -> Done {
    let ada = User::new(parties, antiphon, "ada")?;
    let bob = User::new(parties, antiphon, "bob")?;
    let url = &parties.url;

    let stranger = ada.run(&["call", url, "whoami"]).await?;
    let is_told = stranger.err.contains(&parties.issuer) && stranger.err.contains("antiphon login");
    holds(
        "who is not signed in is told what to do",
        stranger.code == Some(7) && is_told,
        &stranger,
    )?;

    for user in [&ada, &bob] {
        let login = user.login().await?;
        let is_in = login.code == Some(0) && login.out.starts_with("Signed in to ");
        holds(&format!("antiphon login: {}", user.name), is_in, &login)?;
        let who = user.run(&["call", url, "whoami"]).await?;
        let is_known = who.code == Some(0) && who.out.trim() == user.name;
        holds(
            &format!("antiphon call: {} is known", user.name),
            is_known,
            &who,
        )?;
    }

    let file = ada.home.join("order.json");
    let file = file.to_str().ok_or("a path that is text")?;
    let words = [
        "call",
        url,
        "order",
        "title=Dune",
        "--no-input",
        "--save",
        file,
    ];
    let order = ada.run(&words).await?;
    holds("the call waits in a file", order.code == Some(20), &order)?;
    let saved = fs::read_to_string(file)?;
    let tokens = ada.tokens()?;
    let is_secret = |text: &str| tokens.iter().all(|token| !text.contains(token.as_str()));
    let all = [&saved, &order.out, &order.err, &stranger.err];
    let kept = tokens.len() >= 2 && all.iter().all(|text| is_secret(text));
    holds(
        "no token is in the file, or on the screen",
        kept,
        tokens.len(),
    )?;

    let copy = bob.home.join("order.json");
    fs::copy(file, &copy)?;
    let copy = copy.to_str().ok_or("a path that is text")?;
    let bobs = bob
        .run(&["resume", copy, "confirm=true", "--no-input"])
        .await?;
    holds(
        "another user cannot resume it",
        bobs.code == Some(21),
        &bobs,
    )?;
    let adas = ada
        .run(&["resume", file, "confirm=true", "--no-input"])
        .await?;
    let is_done = adas.code == Some(0) && adas.out.trim() == "Ordered Dune for ada.";
    holds("its own user can", is_done, &adas)?;

    let logout = ada.run(&["logout", url]).await?;
    let left = ada.run(&["call", url, "whoami"]).await?;
    let is_out = logout.code == Some(0) && left.code == Some(7) && ada.tokens()?.is_empty();
    holds(
        "antiphon logout forgets the tokens",
        is_out,
        (&logout, &left),
    )
}
