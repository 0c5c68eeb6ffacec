//! One client and one server, from start to end.

use std::{io, net::TcpListener};

use antiphon_interop::process::{Outcome, hear, serve};

use crate::cell::{Case, Pairing, Transport};

/// Has a client go through the cases with a server: what came of each.
pub(crate) fn play(
    server: &[String],
    client: &[String],
    pairing: &Pairing<'_>,
    cases: &[Case],
) -> Vec<(Case, Outcome)> {
    let (era, names) = (
        pairing.era.to_string(),
        cases.iter().map(|case| case.0).collect::<Vec<_>>(),
    );
    let outcomes = match pairing.transport {
        Transport::Stdio => {
            let mut words = vec!["--".to_owned()];
            words.extend_from_slice(server);
            words.push("--stdio".to_owned());
            Ok(hear(client, &era, &[], &names, &words))
        }
        Transport::Http => free_port().and_then(|port| {
            let _running = serve(server, port)?;
            let url = format!("http://127.0.0.1:{port}/mcp");
            Ok(hear(client, &era, &["--url".to_owned(), url], &names, &[]))
        }),
    };
    match outcomes {
        Ok(outcomes) => cases.iter().copied().zip(outcomes).collect(),
        Err(error) => {
            let failed = |case: &Case| (*case, Outcome::Failed(error.to_string()));
            cases.iter().map(failed).collect()
        }
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
