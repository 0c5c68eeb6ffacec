//! The client's directories: where the server may work.

use antiphon::{Ask, Stop, tool};

/// Tell which directories are open to the server.
#[tool(read_only)]
pub(super) async fn workspace(ask: Ask) -> Result<String, Stop> {
    let roots = ask.roots("roots")?;
    if roots.is_empty() {
        return Ok("No roots.".to_owned());
    }
    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
    Ok(format!("{} root(s): {}", uris.len(), uris.join(", ")))
}
