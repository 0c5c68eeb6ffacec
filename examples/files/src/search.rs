//! Walking through directories, and finding things there.

use std::io::Read;

use antiphon::{CancellationToken, Stop};
use cap_std::fs::FileType;

use crate::roots::Place;

/// Files of more bytes are not searched.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// After so many entries a walk is over, and says so.
const MOST_ENTRIES: usize = 100_000;

/// Visits every regular file below `start`, those of one directory in the order of their names.
/// Symbolic links are not followed; directories that begin with a dot only if `hidden`.
///
/// Returns whether it saw everything: `visit` may end it by `false`.
pub(crate) fn walk(
    start: Place<'_>,
    hidden: bool,
    cancelled: &CancellationToken,
    mut visit: impl FnMut(&Place<'_>) -> bool,
) -> Result<bool, Stop> {
    let mut left = MOST_ENTRIES;
    let mut waiting = vec![start];
    while let Some(directory) = waiting.pop() {
        // What vanishes or cannot be read is passed over.
        let Ok(entries) = entries(&directory) else {
            continue;
        };
        let mut inner = Vec::new();
        for (name, kind) in entries {
            if left == 0 {
                return Ok(false);
            }
            if cancelled.is_cancelled() {
                return Err(Stop::fail("The search was cancelled."));
            }
            left -= 1;
            let is_hidden = name.starts_with('.');
            let place = directory.join(name);
            if kind.is_dir() && (hidden || !is_hidden) {
                inner.push(place);
            } else if kind.is_file() && !visit(&place) {
                return Ok(false);
            }
        }
        waiting.extend(inner.into_iter().rev());
    }
    Ok(true)
}

/// What is in a directory, by name. A name that is no Unicode is left out: no client could ask for
/// it.
pub(crate) fn entries(directory: &Place<'_>) -> Result<Vec<(String, FileType)>, Stop> {
    let read = directory.dir()?.entries();
    let mut entries = Vec::new();
    for entry in read.map_err(|error| directory.wrong(&error))? {
        let Ok(entry) = entry else { continue };
        if let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) {
            entries.push((name, kind));
        }
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(entries)
}

/// The lines of a file that hold `text`, with their numbers; none of a file that is too big or no
/// text.
pub(crate) fn lines_with(place: &Place<'_>, text: &str) -> Vec<(u64, String)> {
    let Ok((file, metadata)) = place.file() else {
        return Vec::new();
    };
    let mut contents = String::new();
    let is_text = metadata.len() <= MOST_BYTES
        && file.take(MOST_BYTES).read_to_string(&mut contents).is_ok()
        && !contents.contains('\0');
    if !is_text {
        return Vec::new();
    }
    let lines = (1..).zip(contents.lines());
    lines
        .filter(|(_, line)| line.contains(text))
        .map(|(number, line)| (number, shortened(line)))
        .collect()
}

/// A line as it is shown: no more of it than one wants to read.
fn shortened(line: &str) -> String {
    let mut shown: String = line.chars().take(200).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// Whether a name fits a pattern, in which `*` is any text and `?` any character.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Behind the last star, and how far that star reaches.
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, n));
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((after, reach)) => {
                    *reach += 1;
                    (p, n) = (*after, *reach);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name) in [
            ("*", ""),
            ("*.rs", "main.rs"),
            ("m*n.?s", "main.rs"),
            ("*a*b", "aabab"),
            ("main.rs", "main.rs"),
            ("?", "ß"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("*.rs", "main.rst"),
            ("?", ""),
            ("a*b", "abc"),
            ("*.RS", "main.rs"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        let (many, long) = ("*a".repeat(40) + "b", "a".repeat(10_000));
        assert!(!fits(&many, &long));
    }

    #[test]
    fn a_long_line_is_shortened_between_characters() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(300)), "é".repeat(200) + "…");
    }
}
