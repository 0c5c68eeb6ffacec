//! Contents that are not text, as files.
//!
//! A server has a say in their names, so they are made safe: a file is never written over, leaves
//! the directory it belongs to, is hidden, or has a name that a program would look for.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;

use crate::{
    failure::{Exit, Failure},
    printable,
};

/// Most files that one result makes.
const MOST: usize = 1000;

/// Most names that are tried for one file.
const TRIES: usize = 10_000;

/// Longest name without what follows the last dot, in bytes.
const LONGEST: usize = 100;

/// With padding or without, as servers do.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Media types, and what their files end with. No program takes its orders from such a file;
/// what is not among them ends with `.bin`.
const KINDS: [(&str, &str); 51] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpeg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("image/bmp", "bmp"),
    ("image/tiff", "tiff"),
    ("image/tiff", "tif"),
    ("image/avif", "avif"),
    ("image/heic", "heic"),
    ("image/x-icon", "ico"),
    ("image/vnd.microsoft.icon", "ico"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/wave", "wav"),
    ("audio/ogg", "ogg"),
    ("audio/opus", "opus"),
    ("audio/flac", "flac"),
    ("audio/aac", "aac"),
    ("audio/mp4", "m4a"),
    ("audio/webm", "weba"),
    ("audio/midi", "mid"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
    ("video/ogg", "ogv"),
    ("video/mpeg", "mpg"),
    ("video/quicktime", "mov"),
    ("application/pdf", "pdf"),
    ("application/epub+zip", "epub"),
    ("application/zip", "zip"),
    ("application/gzip", "gz"),
    ("application/x-gzip", "gz"),
    ("application/x-gtar", "tgz"),
    ("application/x-tar", "tar"),
    ("application/x-bzip2", "bz2"),
    ("application/zstd", "zst"),
    ("application/x-7z-compressed", "7z"),
    ("application/vnd.apache.parquet", "parquet"),
    ("application/vnd.sqlite3", "sqlite"),
    ("application/msword", "doc"),
    ("application/vnd.ms-excel", "xls"),
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
    ),
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
    ),
    (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "pptx",
    ),
    ("text/csv", "csv"),
    ("text/tab-separated-values", "tsv"),
    ("font/woff2", "woff2"),
    ("application/octet-stream", "bin"),
];

/// The same for texts that came as bytes. Programs look for such files, by names like `package.json`:
/// theirs have a number.
const TEXTS: [(&str, &str); 9] = [
    ("text/plain", "txt"),
    ("text/markdown", "md"),
    ("text/html", "html"),
    ("text/xml", "xml"),
    ("application/xml", "xml"),
    ("application/json", "json"),
    ("application/yaml", "yaml"),
    ("application/x-yaml", "yaml"),
    ("text/yaml", "yaml"),
];

/// Why there is no file.
#[derive(Debug)]
pub(super) enum Unsaved {
    /// The server did not send what it should.
    NotBase64,
    /// It cannot be written.
    Failed(Failure),
}

/// The files of one result.
pub(super) struct Files<'a> {
    /// What files are named for that have no name of their own.
    stem: String,
    out: Option<&'a Path>,
    saved: usize,
}

impl<'a> Files<'a> {
    pub(super) fn new(name: &str, out: Option<&'a Path>) -> Self {
        let stem = safe(name).unwrap_or_else(|| "content".to_owned());
        Self {
            stem,
            out,
            saved: 0,
        }
    }

    /// Writes a file; gives its path, printable, and its size.
    pub(super) fn save(
        &mut self,
        uri: Option<&str>,
        mime_type: &str,
        data: &str,
    ) -> Result<(String, usize), Unsaved> {
        let bytes = decode(data).ok_or(Unsaved::NotBase64)?;
        if self.saved == MOST {
            let why = format!("a result makes no more than {MOST} files");
            return Err(Unsaved::Failed(Failure::new(Exit::Failed, why)));
        }
        self.saved += 1;
        let name = match uri.and_then(|uri| safe(&decoded(last_segment(uri)))) {
            Some(name) => Name::of_its_own(&name, mime_type),
            None => Name::numbered(&self.stem, self.saved, mime_type),
        };
        let path = self.write(&name, &bytes).map_err(Unsaved::Failed)?;
        Ok((path, bytes.len()))
    }

    fn write(&self, name: &Name, bytes: &[u8]) -> Result<String, Failure> {
        let directory = self.out.unwrap_or(Path::new("."));
        let fail = |path: &Path, why: &io::Error| {
            let path = printable::line(&path.to_string_lossy());
            Failure::new(Exit::Failed, format!("cannot write {path}: {why}"))
        };
        if self.out.is_some() {
            fs::create_dir_all(directory).map_err(|why| fail(directory, &why))?;
        }
        for at in 0..TRIES {
            let path = directory.join(name.candidate(at));
            match File::create_new(&path) {
                Ok(mut file) => {
                    if let Err(why) = file.write_all(bytes) {
                        drop(file);
                        // Half a file is worse than none.
                        _ = fs::remove_file(&path);
                        return Err(fail(&path, &why));
                    }
                    return Ok(printable::line(&path.to_string_lossy()));
                }
                Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
                Err(why) => return Err(fail(&path, &why)),
            }
        }
        let why = io::Error::other(format!("there are {TRIES} of that name already"));
        Err(fail(&directory.join(name.candidate(0)), &why))
    }
}

/// What a file may be called.
#[derive(Debug, PartialEq)]
struct Name {
    stem: String,
    /// The number of the first candidate; none if it has none.
    first: Option<usize>,
    extension: String,
}

impl Name {
    fn numbered(stem: &str, number: usize, mime_type: &str) -> Self {
        Self {
            stem: stem.to_owned(),
            first: Some(number),
            extension: extension(mime_type).to_owned(),
        }
    }

    /// The name keeps its end only if that is the end of a kind that is known here.
    fn of_its_own(name: &str, mime_type: &str) -> Self {
        let extension = extension(mime_type);
        let is_text = has_end(&TEXTS, extension);
        let known = |end: &str| has_end(&KINDS, end) || is_text && has_end(&TEXTS, end);
        let (stem, extension) = match name.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() && known(end) => (stem, end),
            _ => (name, extension),
        };
        Self {
            stem: stem.to_owned(),
            first: has_end(&TEXTS, extension).then_some(1),
            extension: extension.to_owned(),
        }
    }

    fn candidate(&self, at: usize) -> String {
        let Self {
            stem, extension, ..
        } = self;
        match (self.first, at) {
            (Some(first), _) => format!("{stem}-{}.{extension}", first + at),
            (None, 0) => format!("{stem}.{extension}"),
            (None, _) => format!("{stem}-{}.{extension}", at + 1),
        }
    }
}

/// What files of this type end with.
fn extension(mime_type: &str) -> &'static str {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    let mut kinds = KINDS.iter().chain(&TEXTS);
    if let Some((_, extension)) = kinds.find(|(it, _)| *it == essence) {
        return extension;
    }
    match essence.rsplit_once('+') {
        Some((_, "json")) => "json",
        Some((_, "xml")) => "xml",
        _ if essence.starts_with("text/") => "txt",
        _ => "bin",
    }
}

fn has_end(kinds: &[(&str, &str)], end: &str) -> bool {
    kinds.iter().any(|(_, it)| it.eq_ignore_ascii_case(end))
}

/// What a URI ends with, without query and fragment.
pub(super) fn last_segment(uri: &str) -> &str {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    path.rsplit(['/', ':']).next().unwrap_or_default()
}

fn decoded(segment: &str) -> String {
    percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

/// A name that every system takes for a plain file in the same directory.
fn safe(name: &str) -> Option<String> {
    let kept = |c: char| (c.is_alphanumeric() && !printable::deceives(c)) || "-_.".contains(c);
    let name: String = (name.chars().map(|c| if kept(c) { c } else { '_' })).collect();
    // Neither hidden, nor an option, nor another name once Windows has cut it.
    let mut name = name.trim_start_matches(['.', '-', '_']);
    if name.len() > LONGEST {
        // Its end is kept, if it has one.
        let end = name.rsplit_once('.').map_or("", |(_, end)| end);
        let end = if end.len() > 10 { "" } else { end };
        let cut = name.floor_char_boundary(LONGEST - end.len() - 1);
        let shorter = format!("{}.{end}", &name[..cut]);
        return safe(&shorter);
    }
    name = name.trim_end_matches(['.', '_']);
    if !name.contains(char::is_alphanumeric) {
        return None;
    }
    let device = name.split('.').next().unwrap_or_default();
    match is_device(device) {
        true => Some(format!("file-{name}")),
        false => Some(name.to_owned()),
    }
}

/// Names that Windows keeps for devices, whatever they end with.
fn is_device(stem: &str) -> bool {
    let stem = stem.to_ascii_lowercase();
    let numbered = |rest: &str| {
        let mut rest = rest.chars();
        let digit = rest.next().is_some_and(|c| c.is_numeric());
        digit && rest.next().is_none()
    };
    matches!(&*stem, "con" | "prn" | "aux" | "nul" | "conin" | "conout")
        || ["com", "lpt"]
            .iter()
            .any(|port| stem.strip_prefix(port).is_some_and(numbered))
}

fn decode(data: &str) -> Option<Vec<u8>> {
    // Some break it into lines.
    match data.contains(['\r', '\n']) {
        true => BASE64.decode(data.replace(['\r', '\n'], "")).ok(),
        false => BASE64.decode(data).ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        path::PathBuf,
        process,
        sync::atomic::{AtomicU32, Ordering},
    };

    use antiphon::types::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};

    use super::super::{Style, resource, tests::piped, tool};
    use super::*;

    /// A directory of its own, which is gone afterwards.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let at = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("antiphon-files-{}-{at}", process::id());
            let path = env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }

        fn style(&self) -> Style {
            Style {
                out: Some(self.0.clone()),
                ..piped()
            }
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn contents_are_written_and_a_line_says_where() {
        let directory = Directory::new();
        let data = base64::engine::general_purpose::STANDARD.encode(vec![7; 1234]);
        let blocks = vec![
            ContentBlock::text("Here:"),
            ContentBlock::image(data, "image/png"),
            ContentBlock::audio("AA", "audio/mpeg"),
            ContentBlock::image("no base64", "image/png"),
            ContentBlock::image("AA\n==", "image/unheard-of"),
        ];
        let result = CallToolResult::content(blocks);
        let shown = tool("chart", &result, &directory.style());
        let at = |name: &str| directory.0.join(name).display().to_string();
        let lines = [
            "Here:".to_owned(),
            format!("image/png, 1,234 bytes: {}", at("chart-1.png")),
            format!("audio/mpeg, 1 byte: {}", at("chart-2.mp3")),
            "image/png, not saved: the server did not send valid Base64".to_owned(),
            format!("image/unheard-of, 1 byte: {}", at("chart-3.bin")),
        ];
        assert_eq!(shown.text, lines.join("\n"));
        assert!(shown.unsaved.is_none());
        let written = fs::read(directory.0.join("chart-1.png")).unwrap();
        assert_eq!(written, vec![7; 1234]);
        assert_eq!(
            directory.names(),
            ["chart-1.png", "chart-2.mp3", "chart-3.bin"]
        );
    }

    #[test]
    fn nothing_is_written_over() {
        let directory = Directory::new();
        fs::write(directory.0.join("a.pdf"), "mine").unwrap();
        let parts = vec![
            ResourceContents::blob("x://host/dir/a.pdf?v=1#p", "AA=="),
            ResourceContents::blob("x://host/a.pdf", "AAA="),
        ];
        let read = ReadResourceResult::new(parts);
        _ = resource("x://host/dir/a.pdf", &read, &directory.style());
        assert_eq!(directory.names(), ["a-2.pdf", "a-3.pdf", "a.pdf"]);
        let mine = fs::read_to_string(directory.0.join("a.pdf")).unwrap();
        assert_eq!(mine, "mine");
        let image = CallToolResult::content(vec![ContentBlock::image("AA==", "image/gif")]);
        _ = tool("a", &image, &directory.style());
        _ = tool("a", &image, &directory.style());
        assert!(directory.names().ends_with(&["a.pdf".to_owned()]));
        assert_eq!(directory.names()[..2], ["a-1.gif", "a-2.gif"]);
    }

    #[test]
    fn texts_end_like_texts_and_no_program_looks_for_them() {
        for (uri, mime_type, expected) in [
            ("x://a/notes.txt", "text/plain", "notes-1.txt"),
            ("x://a/notes", "text/plain; charset=utf-8", "notes-1.txt"),
            ("x://a/package.json", "application/json", "package-1.json"),
            ("x://a/README.md", "text/markdown", "README-1.md"),
            ("x://a/data", "application/ld+json", "data-1.json"),
            ("x://a/feed", "application/atom+xml", "feed-1.xml"),
            ("x://a/run.sh", "text/x-shellscript", "run.sh-1.txt"),
            ("x://a/table.csv", "text/csv", "table.csv"),
            ("x://a/package.json", "image/png", "package.json.png"),
            (
                "x://a/package.json",
                "application/x-unheard-of",
                "package.json.bin",
            ),
        ] {
            let directory = Directory::new();
            let mut files = Files::new("it", Some(&directory.0));
            files.save(Some(uri), mime_type, "AA==").unwrap();
            assert_eq!(directory.names(), [expected], "{uri} {mime_type}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let directory = Directory::new();
        let elsewhere = Directory::new();
        let target = elsewhere.0.join("target");
        std::os::unix::fs::symlink(&target, directory.0.join("a.pdf")).unwrap();
        let parts = vec![ResourceContents::blob("x://a.pdf", "AA==")];
        _ = resource(
            "x://a.pdf",
            &ReadResourceResult::new(parts),
            &directory.style(),
        );
        assert_eq!(directory.names(), ["a-2.pdf", "a.pdf"]);
        assert!(!target.exists());
    }

    #[test]
    fn a_directory_that_is_none_is_told_and_the_rest_is_shown() {
        let directory = Directory::new();
        let file = directory.0.join("file");
        fs::write(&file, "").unwrap();
        let style = Style {
            out: Some(file.clone()),
            ..piped()
        };
        let blocks = vec![
            ContentBlock::image("AA==", "image/png"),
            ContentBlock::text("Done."),
        ];
        let shown = tool("chart", &CallToolResult::content(blocks), &style);
        assert!(
            shown
                .text
                .starts_with("image/png, not saved: cannot write ")
        );
        assert!(shown.text.ends_with("\nDone."));
        let failure = shown.unsaved.unwrap();
        assert!(failure.text.contains(&*file.to_string_lossy()), "{failure}");
        assert_eq!(fs::read(&file).unwrap(), b"");
    }

    #[test]
    fn names_are_made_safe() {
        let long = format!("x://{}.png", "é".repeat(300));
        let table = [
            ("file:///a/report.pdf", Some("report.pdf")),
            ("file:///a/b%20c.png", Some("b_c.png")),
            ("file:///a/日本.png", Some("日本.png")),
            ("file:///a/r%C3%A9sum%C3%A9.PDF", Some("résumé.PDF")),
            ("file:///a/dir/", Some("dir.bin")),
            ("urn:isbn:123", Some("123.bin")),
            ("noslash", Some("noslash.bin")),
            // Out of the directory, hidden, an option.
            ("x://a/..%2f..%2fetc%2fpasswd", Some("etc_passwd.bin")),
            ("x://a/..%5c..%5cboot.png", Some("boot.png")),
            ("x://a/C:evil.png", Some("evil.png")),
            ("x://a/c%3aevil.png", Some("c_evil.png")),
            ("x://a/.ssh", Some("ssh.bin")),
            ("x://a/-rf.png", Some("rf.png")),
            ("x://a/a.png%00.gif", Some("a.png_.gif")),
            ("x://a/a.png.%20.", Some("a.png")),
            ("x://a/%1b%5d0;a%07.png", Some("0_a_.png")),
            ("x://a/gpj%e2%80%ae.png", Some("gpj_.png")),
            ("x://a/no%e3%85%a4.png", Some("no_.png")),
            // Devices.
            ("x://a/con", Some("file-con.bin")),
            ("x://a/NUL.png", Some("file-NUL.png")),
            ("x://a/com1.tar.gz", Some("file-com1.tar.gz")),
            ("x://a/lpt%C2%B9.png", Some("file-lpt¹.png")),
            ("x://a/console.png", Some("console.png")),
            // What a program would look for.
            ("x://a/antiphon.toml", Some("antiphon.toml.bin")),
            ("x://a/Makefile", Some("Makefile.bin")),
            ("x://a/run.sh", Some("run.sh.bin")),
            // No name at all.
            ("", None),
            ("x://a/..", None),
            ("x://a/%2e%2e", None),
            ("x://a/___", None),
            ("x://a/%ff%fe", None),
            (&*long, Some(&*format!("{}.png", "é".repeat(48)))),
        ];
        for (uri, expected) in table {
            let name = safe(&decoded(last_segment(uri)));
            let name = name.map(|name| Name::of_its_own(&name, "x/y").candidate(0));
            assert_eq!(name.as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn a_name_without_an_end_gets_that_of_its_type() {
        let name = |name, mime_type| Name::of_its_own(name, mime_type).candidate(0);
        assert_eq!(name("chart", "image/png"), "chart.png");
        assert_eq!(name("chart", "IMAGE/PNG; q=1"), "chart.png");
        assert_eq!(name("chart.toml", "image/png"), "chart.toml.png");
        assert_eq!(name("chart.jpg", "image/png"), "chart.jpg");
    }
}
