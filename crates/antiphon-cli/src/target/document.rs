//! A file that names servers: `antiphon.toml`, or the JSON of a host.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::relaxed;
use crate::bounded;

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) entries: Vec<Entry>,
}

/// A server as a file has it, not looked at yet.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) fields: Value,
    pub(super) dialect: Dialect,
    /// The project that a host keeps this server for, if the file says so.
    pub(super) project: Option<PathBuf>,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `antiphon.toml`: whatever is not known is refused.
    Ours,
    /// A host's JSON: what is not known is for the host.
    Hosts,
}

impl Document {
    /// Reads a file; `None` if there is none. `cwd` is whose project's servers count.
    ///
    /// # Errors
    /// What is wrong, and where in the file; nothing of what the file says is repeated.
    pub(super) fn read(path: &Path, cwd: &Path) -> Result<Option<Self>, String> {
        let text = match bounded::read(path, bounded::LARGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // A parent of it is a file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        match is_toml(path, &text) {
            true => Self::from_toml(&text).map(Some),
            false => Self::from_json(&text, cwd).map(Some),
        }
    }

    fn from_toml(text: &str) -> Result<Self, String> {
        let table: toml::Table = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let (line, column) = place(text, at);
            let what = crate::printable::line(error.message());
            format!("{what} at line {line} column {column}")
        })?;
        let mut document = Self::default();
        for (key, value) in table {
            if key != "servers" {
                let key = crate::printable::excerpt(&key, 60);
                return Err(format!(
                    "`{key}` is not known; a server is [servers.NAME] with its settings"
                ));
            }
            let value = serde_json::to_value(value).map_err(|error| error.to_string())?;
            document.add("servers", value, Dialect::Ours, None)?;
        }
        Ok(document)
    }

    fn from_json(text: &str, cwd: &Path) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(&relaxed::plain(text)).map_err(|error| error.to_string())?;
        let Value::Object(mut top) = value else {
            return Err("it is no JSON object".to_owned());
        };
        let mut document = Self::default();
        // Of a project's servers and everybody's, the project's count first.
        if let Some(Value::Object(projects)) = top.get_mut("projects") {
            for directory in cwd.ancestors() {
                let key = directory.to_string_lossy();
                let Some(Value::Object(project)) = projects.get_mut(key.as_ref()) else {
                    continue;
                };
                document.take(project, Some(directory))?;
            }
        }
        document.take(&mut top, None)?;
        Ok(document)
    }

    /// Takes the servers out of an object that may have some.
    fn take(
        &mut self,
        object: &mut Map<String, Value>,
        project: Option<&Path>,
    ) -> Result<(), String> {
        for key in ["mcpServers", "servers"] {
            if let Some(servers) = object.remove(key) {
                self.add(key, servers, Dialect::Hosts, project)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        key: &str,
        servers: Value,
        dialect: Dialect,
        project: Option<&Path>,
    ) -> Result<(), String> {
        let servers = match servers {
            Value::Object(servers) => servers,
            Value::Null => return Ok(()),
            _ => return Err(format!("`{key}` is no table of servers")),
        };
        self.entries
            .extend(servers.into_iter().map(|(name, fields)| Entry {
                name,
                fields,
                dialect,
                project: project.map(Path::to_owned),
            }));
        Ok(())
    }
}

fn is_toml(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("json" | "jsonc") => false,
        _ => !text.trim_start().starts_with(['{', '\u{feff}', '/']),
    }
}

/// The line and column of a byte, both from 1.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(document: &Document) -> Vec<&str> {
        let names = document.entries.iter().map(|entry| entry.name.as_str());
        names.collect()
    }

    #[test]
    fn a_file_without_an_extension_is_known_by_what_it_says() {
        let file = Path::new("servers");
        assert!(is_toml(file, "[servers.a]\n"));
        assert!(is_toml(file, "# a\n"));
        assert!(!is_toml(file, "\n {\"servers\": {}}"));
        assert!(!is_toml(file, "// a\n{}"));
        assert!(is_toml(Path::new("a.toml"), "{"));
        assert!(!is_toml(Path::new("a.json"), "["));
    }

    #[test]
    fn a_malformed_file_says_where() {
        let told = Document::from_toml("[servers.a]\nheaders = { k = \"s3cret }\n").unwrap_err();
        assert!(told.contains("line 2"), "{told}");
        assert!(told.contains("column"), "{told}");
        assert!(!told.contains("s3cret"), "{told}");
        for text in [
            "a = s3cret",
            "a = \"x\" s3cret",
            "a = [\"s3cret\" \"\"]",
            "= \"s3cret\"",
        ] {
            let told = Document::from_toml(text).unwrap_err();
            assert!(told.contains("line 1 column "), "{told}");
            assert!(!told.contains("s3cret"), "{told}");
        }
        let told = Document::from_json("{\n \"mcpServers\": s3cret }", Path::new("/")).unwrap_err();
        assert!(told.contains("line 2 column 16"), "{told}");
        assert!(!told.contains("s3cret"), "{told}");
    }

    #[test]
    fn what_is_no_table_of_servers_is_refused() {
        for (text, told) in [
            ("[server.a]", "`server` is not known"),
            ("servers = 1", "`servers` is no table"),
        ] {
            let error = Document::from_toml(text).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        for (text, told) in [
            ("[]", "no JSON object"),
            ("{\"mcpServers\": []}", "`mcpServers` is no table"),
        ] {
            let error = Document::from_json(text, Path::new("/")).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        let nothing = Document::from_json("{\"theme\": \"dark\"}", Path::new("/")).unwrap();
        assert!(nothing.entries.is_empty());
    }

    #[test]
    fn a_project_has_servers_of_its_own() {
        let text = r#"{ "mcpServers": { "all": {} }, "projects": {
            "/srv": { "mcpServers": { "outer": {} } },
            "/srv/inner": { "mcpServers": { "inner": {} }, "history": [] },
            "/elsewhere": { "mcpServers": { "other": {} } } } }"#;
        let document = Document::from_json(text, Path::new("/srv/inner/src")).unwrap();
        assert_eq!(names(&document), ["inner", "outer", "all"]);
        let projects = document.entries.iter().map(|entry| entry.project.clone());
        let expected = [Some("/srv/inner".into()), Some("/srv".into()), None];
        assert_eq!(projects.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(100_000);
        assert!(Document::from_json(&deep, Path::new("/")).is_err());
        assert!(Document::from_toml(&format!("a = {deep}")).is_err());
    }
}
