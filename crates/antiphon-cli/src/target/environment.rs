//! [`Environment`]: where this program runs, as far as the search for servers depends on it.

use std::path::{Path, PathBuf};

/// The directories and variables that decide which files are read.
pub(crate) struct Environment {
    pub(super) home: Option<PathBuf>,
    /// Where programs keep what their user set.
    pub(super) config_home: Option<PathBuf>,
    /// Where programs keep what they can find out again.
    pub(super) cache_home: Option<PathBuf>,
    /// Where programs keep what only their user can give them again.
    pub(super) state_home: Option<PathBuf>,
    pub(super) cwd: PathBuf,
    variables: Variables,
}

/// What variables are set to.
type Variables = Box<dyn Fn(&str) -> Option<String>>;

impl Environment {
    /// That of this process.
    pub(crate) fn of_process() -> Self {
        let cwd = std::env::current_dir().unwrap_or_default();
        let variables = |name: &str| std::env::var(name).ok();
        Self::new(std::env::consts::OS, cwd, variables)
    }

    /// That of a process in a directory, with variables, on an operating system.
    pub(crate) fn new(
        os: &str,
        cwd: PathBuf,
        variables: impl Fn(&str) -> Option<String> + 'static,
    ) -> Self {
        // As the specification of XDG_* has it, a relative path counts for nothing.
        let directory = |name: &str| {
            let path = PathBuf::from(variables(name)?);
            path.has_root().then_some(path)
        };
        let home = directory("HOME");
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let (home, config_home, cache_home, state_home) = match os {
            "macos" => (
                home.clone(),
                in_home("Library/Application Support"),
                in_home("Library/Caches"),
                in_home("Library/Application Support"),
            ),
            "windows" => (
                directory("USERPROFILE"),
                directory("APPDATA"),
                directory("LOCALAPPDATA"),
                directory("LOCALAPPDATA"),
            ),
            _ => (
                home.clone(),
                directory("XDG_CONFIG_HOME").or_else(|| in_home(".config")),
                directory("XDG_CACHE_HOME").or_else(|| in_home(".cache")),
                directory("XDG_STATE_HOME").or_else(|| in_home(".local/state")),
            ),
        };
        Self {
            home,
            config_home,
            cache_home,
            state_home,
            cwd,
            variables: Box::new(variables),
        }
    }

    /// What a variable is set to; nothing also if that is no text.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name)
    }

    /// The directory that this program was started in.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Where this program keeps what it can find out again.
    pub(crate) fn cache(&self) -> Option<PathBuf> {
        self.cache_home.as_ref().map(|cache| cache.join("antiphon"))
    }

    /// Where this program keeps access tokens.
    pub(crate) fn tokens(&self) -> Option<PathBuf> {
        let state = self.state_home.as_ref()?;
        Some(state.join("antiphon").join("tokens"))
    }

    /// A path as a person would write it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let short = match self.home.as_ref().map(|home| path.strip_prefix(home)) {
            Some(Ok(below)) => Path::new("~").join(below),
            _ => match path.strip_prefix(&self.cwd) {
                Ok(below) => below.to_owned(),
                Err(_) => path.to_owned(),
            },
        };
        crate::printable::line(&short.to_string_lossy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(os: &str, variables: &'static [(&'static str, &'static str)]) -> Environment {
        let variables = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Environment::new(os, PathBuf::from("/srv"), variables)
    }

    #[test]
    fn each_system_has_its_places() {
        let home = &[("HOME", "/home/ada"), ("XDG_CACHE_HOME", "relative")];
        let linux = on("linux", home);
        assert_eq!(
            linux.config_home,
            Some(PathBuf::from("/home/ada/.config")),
            "the default"
        );
        assert_eq!(
            linux.cache(),
            Some(PathBuf::from("/home/ada/.cache/antiphon"))
        );
        assert_eq!(
            linux.tokens(),
            Some(PathBuf::from("/home/ada/.local/state/antiphon/tokens"))
        );
        let moved = on("linux", &[("XDG_CONFIG_HOME", "/etc/ada")]);
        assert_eq!(moved.tokens(), None);
        assert_eq!(moved.config_home, Some(PathBuf::from("/etc/ada")));
        assert_eq!(moved.cache(), None);
        let mac = on("macos", home);
        assert_eq!(
            mac.config_home,
            Some(PathBuf::from("/home/ada/Library/Application Support"))
        );
        let windows = on("windows", &[("USERPROFILE", "/c/ada"), ("APPDATA", "/c/r")]);
        assert_eq!(windows.home, Some(PathBuf::from("/c/ada")));
        assert_eq!(windows.config_home, Some(PathBuf::from("/c/r")));
    }

    #[test]
    fn paths_are_shown_short() {
        let here = on("linux", &[("HOME", "/home/ada")]);
        for (path, shown) in [
            ("/home/ada/.mcp.json", "~/.mcp.json"),
            ("/srv/antiphon.toml", "antiphon.toml"),
            ("/etc/antiphon.toml", "/etc/antiphon.toml"),
            ("/srv/\u{1b}[2J", "\\u{1b}[2J"),
        ] {
            assert_eq!(here.shown(Path::new(path)), shown);
        }
    }
}
