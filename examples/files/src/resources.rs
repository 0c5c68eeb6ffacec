//! Files as resources: `file:///` and the path.

use std::{io::Read, path::Path, sync::Arc};

use antiphon::{
    Args, CancellationToken, Contents, State, Stop,
    schemars::{self, JsonSchema},
    types::Resource,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::{blocking, roots::Roots, search::walk};

/// Files of more bytes are not sent as a resource.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// More files are not listed; templates and the tool `search` lead to the others.
const MOST_LISTED: usize = 1000;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct File {
    path: String,
}

pub(crate) async fn read(
    Args(file): Args<File>,
    State(roots): State<Arc<Roots>>,
) -> Result<Contents, Stop> {
    blocking(move || {
        let path = Path::new("/").join(file.path);
        // What is not served is not there.
        let place = path.to_str().and_then(|path| roots.find(path).ok());
        let place = place.ok_or_else(Stop::not_found)?;
        let (file, metadata) = place.file().map_err(|_| Stop::not_found())?;
        if metadata.len() > MOST_BYTES {
            let text = format!("`{place}` has more than {MOST_BYTES} bytes; read parts of it.");
            return Err(Stop::fail(text));
        }
        let mut bytes = Vec::new();
        // It may have grown in between.
        file.take(MOST_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|error| place.wrong(&error))?;
        let known = mime_type(&path);
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Contents::text(text).mime_type(known.unwrap_or("text/plain")),
            Err(error) => Contents::blob(error.as_bytes())
                .mime_type(known.unwrap_or("application/octet-stream")),
        })
    })
    .await
}

/// The files there are, as far as they are not hidden.
pub(crate) async fn list(
    State(roots): State<Arc<Roots>>,
    cancelled: CancellationToken,
) -> Result<Vec<Resource>, Stop> {
    blocking(move || {
        let mut listed = Vec::new();
        for root in roots.places() {
            walk(root, false, &cancelled, |place| {
                let (dir, inner) = place.within();
                let path = place.path();
                let name = place.name().unwrap_or_default();
                let mut resource = Resource::new(uri(&path), name);
                resource.mime_type = mime_type(&path).map(str::to_owned);
                resource.size = dir.symlink_metadata(inner).ok().map(|file| file.len());
                if !name.starts_with('.') {
                    listed.push(resource);
                }
                listed.len() < MOST_LISTED
            })?;
        }
        Ok(listed)
    })
    .await
}

/// The URI of a file.
pub(crate) fn uri(path: &Path) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~');
    let path = path.to_string_lossy();
    format!("file://{}", utf8_percent_encode(&path, ESCAPED))
}

/// What a file is, by the end of its name; `None` for what only its contents can tell.
fn mime_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match &*extension {
        "css" => "text/css",
        "csv" => "text/csv",
        "gif" => "image/gif",
        "gz" => "application/gzip",
        "htm" | "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "js" | "mjs" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "tar" => "application/x-tar",
        "toml" => "application/toml",
        "txt" | "log" => "text/plain",
        "wasm" => "application/wasm",
        "wav" => "audio/wav",
        "webp" => "image/webp",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "zip" => "application/zip",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_in_a_uri() {
        let uri = uri(Path::new("/a b/ü#?%.txt"));
        assert_eq!(uri, "file:///a%20b/%C3%BC%23%3F%25.txt");
    }
}
