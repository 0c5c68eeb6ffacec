//! The files that name servers, and the search through them.

use std::path::{Path, PathBuf};

use super::{
    Known, Named,
    document::{Document, Entry},
    entry::{self, Directories},
    environment::Environment,
    expand::Values,
    hint,
};
use crate::{failure::Failure, printable, private};

/// In this directory or the nearest one above that has it, in this order.
const OF_PROJECTS: [&str; 4] = [OURS, ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];

const OURS: &str = "antiphon.toml";

/// How many names of one file are told.
const TOLD: usize = 20;

/// A file that may name servers.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    path: PathBuf,
    scope: Scope,
}

#[derive(Debug, PartialEq, Eq)]
enum Scope {
    /// The user says so.
    Given,
    /// It belongs to the project in this directory.
    Project(PathBuf),
    /// It belongs to the user.
    User,
}

impl Source {
    /// Whether somebody else put it there: in a directory such as /tmp, above where we are, anybody
    /// can say what a name stands for.
    fn is_foreign(&self) -> bool {
        let about = std::fs::metadata(&self.path);
        matches!(self.scope, Scope::Project(_))
            && !about.is_ok_and(|about| private::is_from_here(&about))
    }

    /// Whether it must be in order: a host's file is the host's affair.
    fn must_be_right(&self) -> bool {
        self.scope == Scope::Given || self.path.ends_with(OURS)
    }
}

/// The files to look at, first come, first served. Those of projects exist.
fn sources(config: Option<&Path>, environment: &Environment) -> Vec<Source> {
    if let Some(path) = config {
        return vec![Source {
            path: environment.cwd.join(path),
            scope: Scope::Given,
        }];
    }
    let of_user = of_user(environment);
    let of_projects = OF_PROJECTS.iter().filter_map(|name| {
        // A home is above most projects; its own files come later.
        let mut above = environment.cwd.ancestors().filter(|directory| {
            let path = directory.join(name);
            path.is_file() && !of_user.contains(&path)
        });
        let root = above.next()?;
        Some(Source {
            path: root.join(name),
            scope: Scope::Project(root.to_owned()),
        })
    });
    let of_user = of_user.iter().map(|path| Source {
        path: path.clone(),
        scope: Scope::User,
    });
    of_projects.chain(of_user).collect()
}

/// The user's files, whether or not they exist.
fn of_user(environment: &Environment) -> Vec<PathBuf> {
    let home = |path: &str| environment.home.as_ref().map(|home| home.join(path));
    let settings = |path: &str| environment.config_home.as_ref().map(|at| at.join(path));
    let files = [
        settings("antiphon/antiphon.toml"),
        home(".cursor/mcp.json"),
        home(".claude.json"),
        settings("Claude/claude_desktop_config.json"),
        home(".codeium/windsurf/mcp_config.json"),
    ];
    files.into_iter().flatten().collect()
}

/// The server of a name, and what there is to say about the files that were read.
pub(super) fn find(
    name: &str,
    config: Option<&Path>,
    environment: &Environment,
) -> Result<(Named, Vec<String>), Failure> {
    let mut notes = Vec::new();
    let mut left = Vec::new();
    let mut others = Vec::new();
    for source in sources(config, environment) {
        let file = environment.shown(&source.path);
        let Some(document) = document(&source, environment, &mut notes)? else {
            continue;
        };
        let (disabled, enabled): (Vec<_>, Vec<_>) = document
            .entries
            .iter()
            .partition(|entry| entry::is_disabled(entry));
        if let Some(entry) = enabled.iter().find(|entry| entry.name == name) {
            let read = read(entry, &source, environment);
            let about = format!("server {} in {file}", printable::excerpt(name, 60));
            let read = read.map_err(|why| Failure::usage(format!("{about}: {why}")))?;
            notes.extend(read.notes.iter().map(|note| format!("{about}: {note}")));
            let named = Named {
                name: name.to_owned(),
                from: source.path,
                is_of_project: matches!(source.scope, Scope::Project(_)),
                server: read.server,
                era: read.era,
            };
            return Ok((named, notes));
        }
        if disabled.iter().any(|entry| entry.name == name) {
            left.push(format!("{file}: the server is disabled there"));
        }
        others.push((
            file,
            enabled.iter().map(|entry| entry.name.clone()).collect(),
        ));
    }
    notes.extend(left);
    let told = unknown(name, config, &others, &notes, environment);
    Err(Failure::usage(told))
}

/// What a file says, if there is one that counts; what is odd about it goes to the notes.
fn document(
    source: &Source,
    environment: &Environment,
    notes: &mut Vec<String>,
) -> Result<Option<Document>, Failure> {
    let file = environment.shown(&source.path);
    if source.is_foreign() {
        notes.push(format!(
            "{file} belongs to somebody else and is passed over; to use it, say --config {file}"
        ));
        return Ok(None);
    }
    match Document::read(&source.path, &environment.cwd) {
        Ok(None) if source.scope == Scope::Given => {
            Err(Failure::usage(format!("{file}: there is no such file")))
        }
        Ok(document) => Ok(document),
        Err(why) if source.must_be_right() => Err(Failure::usage(format!("{file}: {why}"))),
        Err(why) => {
            notes.push(format!("{file}: {why}; it is passed over"));
            Ok(None)
        }
    }
}

fn read(entry: &Entry, source: &Source, environment: &Environment) -> Result<entry::Read, String> {
    let project = match (&entry.project, &source.scope) {
        (Some(project), _) | (None, Scope::Project(project)) => Some(project.as_path()),
        (None, Scope::Given | Scope::User) => None,
    };
    let of_file = source.path.parent().unwrap_or(&environment.cwd);
    let at = Directories {
        base: project.unwrap_or(of_file).to_owned(),
        start: project.map(Path::to_owned),
    };
    let values = Values {
        environment,
        root: project.unwrap_or(&environment.cwd),
    };
    entry::read(entry, &values, &at)
}

/// What is said when no file has a name: which names there are, and where we looked.
fn unknown(
    name: &str,
    config: Option<&Path>,
    others: &[(String, Vec<String>)],
    notes: &[String],
    environment: &Environment,
) -> String {
    let mut lines = vec![format!(
        "no server is called {}; {}, or give a command after --",
        printable::excerpt(name, 60),
        hint(name)
    )];
    for (file, names) in others {
        let mut told: Vec<_> = names
            .iter()
            .take(TOLD)
            .map(|name| printable::line(name))
            .collect();
        match names.len().checked_sub(TOLD) {
            Some(more @ 1..) => told.push(format!("and {more} more")),
            _ if names.is_empty() => told.push("no servers".to_owned()),
            _ => {}
        }
        lines.push(format!("{file} has {}", told.join(", ")));
    }
    lines.extend(notes.iter().cloned());
    if config.is_none() {
        lines.push(format!("looked for {}", looked_for(environment)));
    }
    lines.join("\n  ")
}

/// The files that are looked for, in words.
pub(super) fn looked_for(environment: &Environment) -> String {
    let user = of_user(environment);
    let user: Vec<_> = user.iter().map(|path| environment.shown(path)).collect();
    format!(
        "{} here and in all directories above, and for {}",
        OF_PROJECTS.join(", "),
        user.join(", ")
    )
}

/// All servers, as [`find`] would find them by their names, and what there is to say about the
/// files that were read.
pub(super) fn known(
    config: Option<&Path>,
    environment: &Environment,
) -> Result<(Vec<Known>, Vec<String>), Failure> {
    let (mut known, mut notes): (Vec<Known>, _) = (Vec::new(), Vec::new());
    for source in sources(config, environment) {
        let Some(document) = document(&source, environment, &mut notes)? else {
            continue;
        };
        for entry in &document.entries {
            let is_new = known.iter().all(|known| known.name != entry.name);
            if is_new && !entry::is_disabled(entry) {
                known.push(Known {
                    name: entry.name.clone(),
                    from: source.path.clone(),
                    server: read(entry, &source, environment).map(|read| read.server),
                });
            }
        }
    }
    Ok((known, notes))
}

/// All names, each with the file that it is found in; files that cannot be read have none.
pub(super) fn names(config: Option<&Path>, environment: &Environment) -> Vec<(String, PathBuf)> {
    let mut names: Vec<(String, PathBuf)> = Vec::new();
    let sources = sources(config, environment);
    for source in sources.iter().filter(|source| !source.is_foreign()) {
        let Ok(Some(document)) = Document::read(&source.path, &environment.cwd) else {
            continue;
        };
        for entry in &document.entries {
            let is_new = names.iter().all(|(name, _)| *name != entry.name);
            if is_new && !entry::is_disabled(entry) {
                names.push((entry.name.clone(), source.path.clone()));
            }
        }
    }
    names
}
