//! What a file says of one server.

use std::path::{Path, PathBuf};

use antiphon::{client::Era, types::Version};
use serde_json::{Map, Value};

use super::{
    Configured,
    document::{Dialect, Entry},
    expand::{Unexpanded, Values, is_variable},
    url,
};
use crate::printable;

/// A server, and what there is to say about its settings.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) server: Configured,
    pub(super) era: Era,
    /// Of settings that count for the host alone.
    pub(super) notes: Vec<String>,
}

/// Where a server stands whose settings do not say so.
pub(super) struct Directories {
    /// What relative paths are relative to.
    pub(super) base: PathBuf,
    /// Where it is started.
    pub(super) start: Option<PathBuf>,
}

/// Reads the settings of a server.
///
/// # Errors
/// Which setting is wrong, and what about it; its value is not told.
pub(super) fn read(entry: &Entry, values: &Values<'_>, at: &Directories) -> Result<Read, String> {
    let Value::Object(map) = &entry.fields else {
        return Err("it is no table of settings".to_owned());
    };
    let fields = Fields { map, values };
    match entry.dialect {
        Dialect::Ours => ours(&fields, at),
        Dialect::Hosts => hosts(&fields, at),
    }
}

/// Whether the host was told to leave the server alone.
pub(super) fn is_disabled(entry: &Entry) -> bool {
    entry.dialect == Dialect::Hosts
        && (entry.fields.get("disabled") == Some(&Value::Bool(true))
            || entry.fields.get("enabled") == Some(&Value::Bool(false)))
}

fn ours(fields: &Fields<'_>, at: &Directories) -> Result<Read, String> {
    const OF_URL: [&str; 3] = ["url", "headers", "bearer_env"];
    const OF_COMMAND: [&str; 4] = ["command", "args", "env", "cwd"];
    for key in fields.map.keys() {
        let key = key.as_str();
        if !OF_URL.contains(&key)
            && !OF_COMMAND.contains(&key)
            && !["protocol", "legacy"].contains(&key)
        {
            let key = printable::excerpt(key, 60);
            return Err(format!(
                "`{key}` is not known; there are url, headers, bearer_env, or command, args, env, \
                 cwd; and protocol, legacy"
            ));
        }
    }
    let given = |keys: &[&'static str]| keys.iter().copied().find(|key| fields.has(key));
    let server = match (given(&OF_URL), given(&OF_COMMAND)) {
        (Some(one), Some(other)) => {
            return Err(format!(
                "`{one}` is for a server at a URL, `{other}` for one that is started; it can only \
                 be one of them"
            ));
        }
        (Some(_), None) => fields.http("url")?,
        (None, Some(_)) => fields.stdio(at, true)?,
        (None, None) => return Err("it has neither `url` nor `command`".to_owned()),
    };
    Ok(Read {
        server,
        era: fields.era()?,
        notes: Vec::new(),
    })
}

fn hosts(fields: &Fields<'_>, at: &Directories) -> Result<Read, String> {
    let mut notes = Vec::new();
    let kind = fields.text("type")?.map(|kind| kind.to_ascii_lowercase());
    let is_started = match kind.as_deref() {
        None => fields.has("command"),
        Some("stdio" | "local") => true,
        Some("http" | "streamable-http" | "streamablehttp" | "streamable_http" | "remote") => false,
        Some("sse") => {
            notes.push(
                "its type is sse, the way of 2024 to reach a server; Streamable HTTP is tried"
                    .to_owned(),
            );
            false
        }
        Some(other) => {
            let other = printable::excerpt(other, 20);
            return Err(format!(
                "`type` is {other}; stdio, http and streamable-http are known"
            ));
        }
    };
    let server = match is_started {
        true => fields.stdio(at, false)?,
        false => {
            let keys = ["url", "serverUrl", "httpUrl"];
            let key = keys.into_iter().find(|key| fields.has(key));
            fields.http(key.ok_or("it has neither `command` nor `url`")?)?
        }
    };
    if fields.has("envFile") {
        notes.push("its envFile is not read; set what it needs before the call".to_owned());
    }
    Ok(Read {
        server,
        era: Era::Auto,
        notes,
    })
}

/// The settings of a server.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    values: &'a Values<'a>,
}

impl Fields<'_> {
    fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    fn http(&self, key: &str) -> Result<Configured, String> {
        let url = self.text(key)?.ok_or("it has no `url`")?;
        url::check(&url).map_err(|why| format!("`{key}`: {why}"))?;
        let bearer_env = match self.map.get("bearer_env") {
            None => None,
            Some(Value::String(name)) if is_variable(name) => Some(name.clone()),
            Some(_) => {
                return Err(
                    "`bearer_env` is the name of a variable that holds a token, never the token"
                        .to_owned(),
                );
            }
        };
        Ok(Configured::Http {
            url,
            headers: self.pairs("headers")?,
            bearer_env,
        })
    }

    /// `splits`: whether a command without arguments may be a whole command line.
    fn stdio(&self, at: &Directories, splits: bool) -> Result<Configured, String> {
        let mut words = match self.map.get("command") {
            Some(Value::Array(_)) if splits => self.texts("command")?,
            Some(Value::String(line)) if splits && !self.has("args") => {
                let words = shlex::split(line).ok_or("`command` has a quote without an end")?;
                let words = words.iter().map(|word| self.expand("command", word));
                words.collect::<Result<_, _>>()?
            }
            _ => Vec::from_iter(self.text("command")?),
        };
        words.extend(self.texts("args")?);
        let cwd = match self.text("cwd")? {
            Some(cwd) => Some(at.base.join(self.path(&cwd))),
            None => at.start.clone(),
        };
        let mut words = words.into_iter();
        let command = words.next().filter(|command| !command.is_empty());
        let command = self.path(&command.ok_or("it has no `command`")?);
        // Whether a relative path is relative to the new directory or to the old one depends on
        // the system; this one is relative to the new one.
        let command = match &cwd {
            Some(cwd) if command.components().count() > 1 => cwd.join(command),
            _ => command,
        };
        Ok(Configured::Stdio {
            command,
            args: words.collect(),
            env: self.pairs("env")?,
            cwd,
        })
    }

    fn era(&self) -> Result<Era, String> {
        let is_legacy = match self.map.get("legacy") {
            None => false,
            Some(Value::Bool(legacy)) => *legacy,
            Some(_) => return Err("`legacy` is true or false".to_owned()),
        };
        match (self.text("protocol")?, is_legacy) {
            (None, false) => Ok(Era::Auto),
            (None, true) => Ok(Era::Legacy),
            (Some(_), true) => Err("`legacy` and `protocol` exclude each other".to_owned()),
            (Some(version), false) => match version.parse::<Version>() {
                Ok(version) => Ok(Era::Pinned(version)),
                Err(_) => {
                    let known = Version::MODERN.iter().chain(Version::LEGACY);
                    let known: Vec<_> = known.map(|version| version.as_str()).collect();
                    Err(format!("`protocol` is one of {}", known.join(", ")))
                }
            },
        }
    }

    /// A path that may begin with `~/`.
    fn path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.values.environment.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => Path::new(path).to_owned(),
        }
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => self.expand(key, text).map(Some),
            Some(_) => Err(format!("`{key}` is no text")),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("`{key}` is no list of texts");
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| self.expand(key, &plain(item).ok_or_else(wrong)?))
                .collect(),
            Some(_) => Err(wrong()),
        }
    }

    fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, String> {
        let pairs = match self.map.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(pairs)) => pairs,
            Some(_) => return Err(format!("`{key}` is no table of texts")),
        };
        let set = pairs.iter().filter(|(_, value)| !value.is_null());
        set.map(|(name, value)| {
            let path = format!("{key}.{}", printable::excerpt(name, 60));
            let value = plain(value).ok_or_else(|| format!("`{path}` is no text"))?;
            Ok((name.clone(), self.expand(&path, &value)?))
        })
        .collect()
    }

    fn expand(&self, key: &str, text: &str) -> Result<String, String> {
        self.values.expand(text).map_err(|error| match error {
            Unexpanded::Unset(name) => format!(
                "`{key}`: the variable {name} is not set; set it, or write ${{{name}:-DEFAULT}}"
            ),
            Unexpanded::Unknown(expression) if expression == "${" => {
                format!("`{key}`: a ${{ has no }}")
            }
            Unexpanded::Unknown(expression) => format!(
                "`{key}`: only its host knows what {} stands for; name the server in \
                 antiphon.toml, with ${{VAR}} for a variable",
                printable::excerpt(&expression, 60)
            ),
        })
    }
}

/// A text, or what is as good as one.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::environment::Environment, *};

    fn read_as(dialect: Dialect, fields: Value) -> Result<Read, String> {
        let variables = |name: &str| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "TOKEN" => Some("s3cret".to_owned()),
            _ => None,
        };
        let environment = Environment::new("linux", PathBuf::from("/srv/src"), variables);
        let values = Values {
            environment: &environment,
            root: Path::new("/srv"),
        };
        let at = Directories {
            base: PathBuf::from("/srv"),
            start: Some(PathBuf::from("/srv")),
        };
        let entry = Entry {
            name: "a".to_owned(),
            fields,
            dialect,
            project: None,
        };
        read(&entry, &values, &at)
    }

    fn ours(fields: Value) -> Result<Read, String> {
        read_as(Dialect::Ours, fields)
    }

    fn hosts(fields: Value) -> Result<Read, String> {
        read_as(Dialect::Hosts, fields)
    }

    /// Program, arguments, directory.
    fn started(read: Result<Read, String>) -> (String, Vec<String>, Option<PathBuf>) {
        match read.map(|read| read.server) {
            Ok(Configured::Stdio {
                command, args, cwd, ..
            }) => (command.to_string_lossy().into_owned(), args, cwd),
            other => panic!("not started: {other:?}"),
        }
    }

    #[test]
    fn a_command_is_a_line_or_a_list() {
        for fields in [
            json!({ "command": "npx -y 'my server'" }),
            json!({ "command": ["npx", "-y"], "args": ["my server"] }),
            json!({ "command": "npx", "args": ["-y", "my server"] }),
        ] {
            let (command, args, _) = started(ours(fields));
            assert_eq!(command, "npx");
            assert_eq!(args, ["-y", "my server"]);
        }
        // What a variable holds is one word, and what a host calls a command is its program.
        let (command, args, _) = started(ours(json!({ "command": "run \"${NONE:-a b}\"" })));
        assert_eq!((command.as_str(), args), ("run", vec!["a b".to_owned()]));
        let (command, args, _) = started(hosts(json!({ "command": "my server" })));
        assert_eq!((command.as_str(), args.len()), ("my server", 0));
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        for (fields, command, cwd) in [
            (json!({ "command": "node" }), "node", "/srv"),
            (json!({ "command": "./serve" }), "/srv/./serve", "/srv"),
            (json!({ "command": "x", "cwd": "sub" }), "x", "/srv/sub"),
            (json!({ "command": "x", "cwd": "/else" }), "x", "/else"),
            (json!({ "command": "x", "cwd": "~/s" }), "x", "/home/ada/s"),
            (json!({ "command": "~/bin/x" }), "/home/ada/bin/x", "/srv"),
        ] {
            let (program, _, directory) = started(ours(fields));
            assert_eq!(program, command);
            assert_eq!(directory, Some(PathBuf::from(cwd)));
        }
    }

    #[test]
    fn hosts_have_names_of_their_own() {
        for fields in [
            json!({ "url": "https://a.example/mcp" }),
            json!({ "serverUrl": "https://a.example/mcp", "disabledTools": ["x"] }),
            json!({ "type": "streamableHttp", "httpUrl": "https://a.example/mcp" }),
            json!({ "type": "sse", "url": "https://a.example/mcp", "command": null }),
        ] {
            let read = hosts(fields).expect("a server");
            let Configured::Http { url, .. } = read.server else {
                panic!("started");
            };
            assert_eq!(url, "https://a.example/mcp");
        }
        let noted = hosts(json!({ "type": "sse", "url": "https://a.example" })).expect("a server");
        assert!(noted.notes[0].contains("sse"));
        let noted = hosts(json!({ "command": "a", "envFile": ".env" })).expect("a server");
        assert!(noted.notes[0].contains("envFile"));
    }

    #[test]
    fn values_are_expanded_and_secrets_are_not_shown() {
        let read = ours(
            json!({ "url": "https://${HOST:-a.example}/mcp", "bearer_env": "TOKEN",
            "headers": { "x-key": "key ${TOKEN}", "x-number": 7 } }),
        )
        .expect("a server");
        let shown = format!("{read:?}");
        assert!(
            shown.contains("x-key") && shown.contains("TOKEN"),
            "{shown}"
        );
        assert!(!shown.contains("s3cret"), "{shown}");
        let Configured::Http { url, headers, .. } = read.server else {
            panic!("started");
        };
        assert_eq!(url, "https://a.example/mcp");
        let expected = [("x-key", "key s3cret"), ("x-number", "7")];
        assert_eq!(headers, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));

        let read = hosts(json!({ "command": "a", "args": ["--token=${TOKEN}"],
            "env": { "KEY": "${env:TOKEN}", "GONE": null } }))
        .expect("a server");
        let shown = format!("{read:?}");
        assert!(
            shown.contains("KEY") && !shown.contains("s3cret"),
            "{shown}"
        );
        let Configured::Stdio { env, args, .. } = read.server else {
            panic!("at a URL");
        };
        assert_eq!(env, [("KEY".to_owned(), "s3cret".to_owned())]);
        assert_eq!(args, ["--token=s3cret"]);
    }

    #[test]
    fn eras_are_chosen() {
        let era = |more: Value| {
            let mut fields = json!({ "url": "https://a.example" });
            let members = fields.as_object_mut().expect("an object");
            members.extend(more.as_object().cloned().unwrap_or_default());
            ours(fields).map(|read| read.era)
        };
        assert_eq!(era(json!({})), Ok(Era::Auto));
        assert_eq!(era(json!({ "legacy": true })), Ok(Era::Legacy));
        let pinned = Era::Pinned(Version::V2025_06_18);
        assert_eq!(era(json!({ "protocol": "2025-06-18" })), Ok(pinned));
        assert!(era(json!({ "protocol": "2025-06-18", "legacy": true })).is_err());
        let told = era(json!({ "protocol": "2025" })).expect_err("no revision");
        assert!(told.contains("2025-06-18"), "{told}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (fields, part) in [
            (json!("x"), "no table"),
            (json!({}), "neither `url` nor `command`"),
            (
                json!({ "url": "https://a.example", "hedaers": {} }),
                "`hedaers` is not known",
            ),
            (json!({ "url": "https://a.example", "args": [] }), "`args`"),
            (json!({ "command": "a", "headers": {} }), "`headers`"),
            (json!({ "headers": { "a": "s3cret" } }), "no `url`"),
            (json!({ "command": "a 's3cret" }), "quote"),
            (json!({ "command": "" }), "no `command`"),
            (
                json!({ "command": ["a", ["s3cret"]] }),
                "`command` is no list",
            ),
            (
                json!({ "command": "a", "env": { "KEY": ["s3cret"] } }),
                "`env.KEY` is no text",
            ),
            (
                json!({ "command": "a", "env": "KEY=s3cret" }),
                "`env` is no table",
            ),
            (json!({ "url": ["s3cret"] }), "`url` is no text"),
            (
                json!({ "url": "https://u:s3cret@a.example" }),
                "--bearer-env",
            ),
            (
                json!({ "url": "https://a.example", "bearer_env": "s3cret-x" }),
                "`bearer_env`",
            ),
            (
                json!({ "url": "https://a.example", "legacy": "yes" }),
                "true or false",
            ),
            (
                json!({ "url": "https://a.example", "headers": { "x": "${NONE}" } }),
                "`headers.x`: the variable NONE is not set",
            ),
            (
                json!({ "command": "a", "args": ["${input:key}"] }),
                "${input:key}",
            ),
        ] {
            let told = ours(fields).expect_err(part);
            assert!(told.contains(part), "{told} does not say {part}");
            assert!(!told.contains("s3cret"), "{told}");
        }
        let told = hosts(json!({ "type": "ws", "url": "ws://a.example" })).expect_err("a socket");
        assert!(told.contains("`type` is ws"), "{told}");
        assert!(hosts(json!({ "type": "stdio", "url": "https://a.example" })).is_err());
    }
}
