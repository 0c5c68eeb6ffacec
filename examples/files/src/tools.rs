//! The tools.

use std::{io::BufReader, sync::Arc};

use antiphon::{
    Args, Ask, CancellationToken, Json, State, Stop,
    schemars::{self, JsonSchema},
    types::ContentBlock,
};
use cap_std::fs::FileType;
use serde::{Deserialize, Serialize};

use crate::{
    blocking,
    delete::{self, Delete},
    excerpt::excerpt,
    resources,
    roots::Roots,
    search::{entries, fits, lines_with, walk},
    write::{self, Overwrite},
};

/// What one call of `read` brings.
const MOST_TEXT: usize = 256 * 1024;
/// What one call of `list` brings.
const MOST_ENTRIES: usize = 1000;
/// What one call of `search` brings.
const MOST_HITS: usize = 200;

type Files = State<Arc<Roots>>;

/// List what is in a directory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// The directory; without one, the directories that are served.
    path: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing {
    entries: Vec<Entry>,
    /// Whether there are more than could be listed.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    path: String,
    kind: Kind,
    /// Of a file, in bytes.
    size: Option<u64>,
}

#[derive(Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Directory,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::Other,
        }
    }
}

pub(crate) async fn list(
    Args(list): Args<List>,
    State(roots): Files,
) -> Result<Json<Listing>, Stop> {
    blocking(move || {
        let Some(path) = list.path else {
            let root = |path| Entry {
                path,
                kind: Kind::Directory,
                size: None,
            };
            return Ok(Json(Listing {
                entries: roots.names().into_iter().map(root).collect(),
                more: false,
            }));
        };
        let directory = roots.find(&path)?;
        let found = entries(&directory)?;
        let more = found.len() > MOST_ENTRIES;
        let shown = found.into_iter().take(MOST_ENTRIES);
        let entries = shown.map(|(name, kind)| {
            let place = directory.join(name);
            let (root, inner) = place.within();
            let metadata = kind.is_file().then(|| root.symlink_metadata(inner));
            Entry {
                path: place.to_string(),
                kind: kind.into(),
                size: metadata.and_then(Result::ok).map(|metadata| metadata.len()),
            }
        });
        let entries = entries.collect();
        Ok(Json(Listing { entries, more }))
    })
    .await
}

/// Read lines of a text file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    path: String,
    /// The first line to read; without one, the first there is.
    #[schemars(range(min = 1))]
    from: Option<u64>,
    /// How many lines at most.
    #[schemars(range(min = 1))]
    lines: Option<u64>,
}

pub(crate) async fn read(
    Args(read): Args<Read>,
    State(roots): Files,
) -> Result<Vec<ContentBlock>, Stop> {
    blocking(move || {
        let place = roots.find(&read.path)?;
        let (file, metadata) = place.file()?;
        let (from, lines) = (read.from.unwrap_or(1), read.lines.unwrap_or(u64::MAX));
        let excerpt = excerpt(BufReader::new(file), from, lines, MOST_TEXT)
            .map_err(|error| place.wrong(&error))?;
        let text = String::from_utf8(excerpt.text).ok();
        let Some(text) = text.filter(|text| !text.contains('\0')) else {
            return Err(Stop::fail(format!(
                "`{place}` is no text, but {} bytes; it can be read as the resource {}.",
                metadata.len(),
                resources::uri(&place.path()),
            )));
        };
        let mut blocks = vec![ContentBlock::text(text)];
        if excerpt.cut {
            let note = format!("(Line {from} goes on; only its beginning is shown.)");
            blocks.push(ContentBlock::text(note));
        }
        if let Some(next) = excerpt.next {
            let note = format!("(There is more: read on with `from`: {next}.)");
            blocks.push(ContentBlock::text(note));
        }
        Ok(blocks)
    })
    .await
}

/// Find files by name, by what they contain, or by both.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// Where to search, with all that is below; without one, everywhere.
    path: Option<String>,
    /// What a file is called: `*` stands for any text and `?` for any character.
    name: Option<String>,
    /// A text that one line of the file contains, exactly so.
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// Whether to search directories that begin with a dot, too.
    #[serde(default)]
    hidden: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Found {
    hits: Vec<Hit>,
    /// Whether the search ended early: there may be more.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Hit {
    path: String,
    /// The number of the line, if a text was searched for.
    line: Option<u64>,
    text: Option<String>,
}

pub(crate) async fn search(
    Args(search): Args<Search>,
    State(roots): Files,
    cancelled: CancellationToken,
) -> Result<Json<Found>, Stop> {
    blocking(move || {
        let starts = match &search.path {
            Some(path) => {
                let start = roots.find(path)?;
                start.dir()?;
                vec![start]
            }
            None => roots.places().collect(),
        };
        let mut hits = Vec::new();
        let mut more = false;
        for start in starts {
            more |= !walk(start, search.hidden, &cancelled, |place| {
                let name = place.name().unwrap_or_default();
                let called = search.name.as_ref();
                if called.is_some_and(|pattern| !fits(pattern, name)) {
                    return true;
                }
                let hit = |line, text| Hit {
                    path: place.to_string(),
                    line,
                    text,
                };
                match &search.text {
                    None => hits.push(hit(None, None)),
                    Some(text) => hits.extend(
                        lines_with(place, text)
                            .into_iter()
                            .map(|(number, line)| hit(Some(number), Some(line))),
                    ),
                }
                hits.len() <= MOST_HITS
            })?;
        }
        more |= hits.len() > MOST_HITS;
        hits.truncate(MOST_HITS);
        Ok(Json(Found { hits, more }))
    })
    .await
}

/// Write a text file, and the directories it is in. The file is replaced as a whole; the user is asked
/// before one that is there is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    path: String,
    /// What the file shall contain.
    text: String,
    /// Whether a file that is there may be replaced, if the user agrees.
    #[serde(default)]
    overwrite: bool,
}

/// What is left of writing.
enum Planned {
    /// The file is new, and there.
    Done(String),
    /// The user has to be asked.
    Overwrite(Overwrite),
}

pub(crate) async fn write(
    Args(Write {
        path,
        text,
        overwrite,
    }): Args<Write>,
    State(roots): Files,
    ask: Ask,
) -> Result<String, Stop> {
    let all = roots.clone();
    let asked = ask.round() > 0;
    let planned = blocking(move || {
        let place = all.find(&path)?;
        match write::old(&place)? {
            // What was asked about is gone, and the answer may have been no.
            None if asked => Err(place.has_changed()),
            None => write::create(&place, &text).map(Planned::Done),
            Some(_) if !overwrite => Err(write::is_there(&place)),
            Some(old) => {
                let overwrite = Overwrite::new(place.to_string(), old, text);
                Ok(Planned::Overwrite(overwrite))
            }
        }
    });
    let overwrite = match planned.await? {
        Planned::Done(said) => return Ok(said),
        Planned::Overwrite(overwrite) => overwrite,
    };
    let text = "Replace this file? What it contains now is lost.";
    let overwrite = ask.confirm("overwrite", text, overwrite)?;
    blocking(move || write::replace(&roots, overwrite)).await
}

/// Delete a file, a symbolic link (not what it leads to) or an empty directory. The user is asked
/// before.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deletion {
    path: String,
}

pub(crate) async fn delete(
    Args(deletion): Args<Deletion>,
    State(roots): Files,
    ask: Ask,
) -> Result<String, Stop> {
    let all = roots.clone();
    let delete = blocking(move || Delete::at(&all.find(&deletion.path)?)).await?;
    let delete = ask.confirm("delete", "Delete this for good?", delete)?;
    blocking(move || delete::delete(&roots, delete)).await
}
