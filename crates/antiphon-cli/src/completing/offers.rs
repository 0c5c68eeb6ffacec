//! What servers offer, kept for a while, so that a Tab need not wait for them.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use antiphon::types::{Prompt, Resource, ResourceTemplate, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    private,
    target::{Environment, Place},
};

/// How long it is kept.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// How many offers of a server are kept, and arguments of an offer.
const MOST: usize = 1000;

/// What kind of thing a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Tools,
    Prompts,
    Resources,
}

impl Kind {
    /// What a command is about, if it is about something that the server offers.
    pub(super) fn of_command(command: &str) -> Option<Self> {
        match command {
            "call" => Some(Self::Tools),
            "prompt" | "complete" => Some(Self::Prompts),
            "read" => Some(Self::Resources),
            _ => None,
        }
    }

    fn directory(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
        }
    }
}

/// A tool, a prompt or a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offer {
    /// What stands on a command line: of a resource, its URI.
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) arguments: Vec<Argument>,
}

impl Offer {
    /// The values that an argument can have, if they are known.
    pub(super) fn values(&self, argument: &str) -> Option<&[String]> {
        let mut arguments = self.arguments.iter();
        let argument = arguments.find(|it| it.name == argument)?;
        Some(&argument.values)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Argument {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<String>,
    /// All values it can have, if they are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<String>,
}

/// What a server listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Offered<'a> {
    Tools(&'a [Tool]),
    Prompts(&'a [Prompt]),
    Resources(&'a [Resource], &'a [ResourceTemplate]),
}

impl Offered<'_> {
    fn kind(self) -> Kind {
        match self {
            Self::Tools(_) => Kind::Tools,
            Self::Prompts(_) => Kind::Prompts,
            Self::Resources(..) => Kind::Resources,
        }
    }

    pub(super) fn offers(self) -> Vec<Offer> {
        match self {
            Self::Tools(tools) => tools.iter().take(MOST).map(of_tool).collect(),
            Self::Prompts(prompts) => prompts.iter().take(MOST).map(of_prompt).collect(),
            Self::Resources(resources, templates) => {
                let templates = templates.iter().filter_map(of_template);
                let offers = resources.iter().map(of_resource).chain(templates);
                offers.take(MOST).collect()
            }
        }
    }
}

fn of_tool(tool: &Tool) -> Offer {
    let members = tool.input_schema.get("properties");
    let members = members.and_then(Value::as_object).into_iter().flatten();
    let arguments = members.take(MOST).map(|(name, schema)| Argument {
        name: name.clone(),
        about: about(schema.get("description").and_then(Value::as_str)),
        values: values(schema),
    });
    Offer {
        name: tool.name.clone(),
        about: about(tool.title.as_deref().or(tool.description.as_deref())),
        arguments: arguments.collect(),
    }
}

fn of_prompt(prompt: &Prompt) -> Offer {
    let arguments = prompt.arguments.iter().flatten();
    let arguments = arguments.take(MOST).map(|argument| Argument {
        name: argument.name.clone(),
        about: about(argument.description.as_deref()),
        values: Vec::new(),
    });
    Offer {
        name: prompt.name.clone(),
        about: about(prompt.title.as_deref().or(prompt.description.as_deref())),
        arguments: arguments.collect(),
    }
}

fn of_resource(resource: &Resource) -> Offer {
    Offer {
        name: resource.uri.clone(),
        about: about(resource.title.as_deref().or(Some(&resource.name))),
        arguments: Vec::new(),
    }
}

/// As far as all of its resources begin alike.
fn of_template(template: &ResourceTemplate) -> Option<Offer> {
    let (beginning, _) = template.uri_template.split_once('{')?;
    (!beginning.is_empty()).then(|| Offer {
        name: beginning.to_owned(),
        about: about(template.title.as_deref().or(Some(&template.name))),
        arguments: Vec::new(),
    })
}

/// The first line is enough.
fn about(text: Option<&str>) -> Option<String> {
    let first = text?.trim().lines().next()?;
    Some(first.chars().take(200).collect())
}

fn values(schema: &Value) -> Vec<String> {
    let texts = |list: &Vec<Value>| {
        let texts = list.iter().take(MOST).filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    match (schema.get("enum"), schema.get("type")) {
        (Some(Value::Array(list)), _) => texts(list),
        (_, Some(Value::String(kind))) if kind == "boolean" => {
            vec!["true".to_owned(), "false".to_owned()]
        }
        _ => Vec::new(),
    }
}

/// Keeps what a server listed for those who complete a command line. It is no loss if that fails.
pub(crate) fn remember(place: &Place, offered: Offered<'_>) {
    let environment = Environment::of_process();
    _ = keep(place, offered.kind(), &offered.offers(), &environment);
}

pub(super) fn keep(
    place: &Place,
    kind: Kind,
    offers: &[Offer],
    environment: &Environment,
) -> Option<()> {
    let path = path(place, kind, environment)?;
    let directory = path.parent()?;
    private::create_directory(directory).ok()?;
    // Written apart and moved, so that nobody reads half of it.
    let new = path.with_extension(std::process::id().to_string());
    let text = serde_json::to_vec(offers).ok()?;
    let written = private::create(&new).and_then(|mut file| file.write_all(&text));
    written
        .and_then(|()| fs::rename(&new, &path))
        .inspect_err(|_| _ = fs::remove_file(&new))
        .ok()
}

/// What was kept, unless it is too old.
pub(super) fn recall(place: &Place, kind: Kind, environment: &Environment) -> Option<Vec<Offer>> {
    recall_at(SystemTime::now(), &path(place, kind, environment)?)
}

/// Whether this very server was ever asked what it offers.
pub(super) fn is_known(place: &Place, environment: &Environment) -> bool {
    [Kind::Tools, Kind::Prompts, Kind::Resources]
        .into_iter()
        .filter_map(|kind| path(place, kind, environment))
        .any(|path| path.exists())
}

fn recall_at(now: SystemTime, path: &Path) -> Option<Vec<Offer>> {
    let written = fs::metadata(path).ok()?.modified().ok()?;
    // One from the future may be of any age.
    let age = now.duration_since(written).ok()?;
    let bytes = (age < KEPT).then(|| fs::read(path).ok())??;
    serde_json::from_slice(&bytes).ok()
}

/// Where it is kept. The name does not show what the place is: its command line or URL may hold
/// secrets.
fn path(place: &Place, kind: Kind, environment: &Environment) -> Option<PathBuf> {
    let hash = |part: u8| {
        let mut hasher = DefaultHasher::new();
        part.hash(&mut hasher);
        match place {
            Place::Url(url) => ("url", url).hash(&mut hasher),
            Place::Command(words) => ("command", words, environment.cwd()).hash(&mut hasher),
            Place::Named(named) => {
                ("named", &named.name, &named.from, &named.server).hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    let name = format!("{:016x}{:016x}.json", hash(0), hash(1));
    Some(environment.cache()?.join(kind.directory()).join(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_tool_takes_is_kept() {
        let Value::Object(schema) = json!({ "type": "object", "properties": {
            "title": { "type": "string", "description": " Which book.\nAny." },
            "binding": { "type": "string", "enum": ["hard", "soft", 3] },
            "gift": { "type": "boolean" },
            "any": true,
        } }) else {
            panic!("a schema is an object");
        };
        let offers = Offered::Tools(&[Tool::new("order", schema)]).offers();
        let arguments = offers[0].arguments.iter();
        let arguments: Vec<_> = arguments
            .map(|argument| (argument.name.as_str(), argument.values.join(" ")))
            .collect();
        let expected = [
            ("title", ""),
            ("binding", "hard soft"),
            ("gift", "true false"),
            ("any", ""),
        ];
        assert_eq!(
            arguments,
            expected.map(|(name, values)| (name, values.to_owned()))
        );
        assert_eq!(offers[0].arguments[0].about.as_deref(), Some("Which book."));
    }

    #[test]
    fn a_template_is_offered_as_far_as_it_is_fixed() {
        let template = |text: &str| ResourceTemplate::new(text, "it");
        let templates = ["shop://books/{isbn}", "{+any}", "shop://all"].map(template);
        let one = Resource::new("shop://one", "one");
        let offers = Offered::Resources(&[one], &templates).offers();
        let names: Vec<_> = offers.iter().map(|offer| offer.name.as_str()).collect();
        assert_eq!(names, ["shop://one", "shop://books/"]);
    }

    #[test]
    fn it_is_kept_for_ten_minutes() {
        let name = format!("antiphon-offers-{}.json", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, r#"[{"name":"order"}]"#).expect("a file");
        let written = fs::metadata(&path)
            .and_then(|data| data.modified())
            .expect("a time");
        let seconds = Duration::from_secs;
        let names = |now| {
            let offers = recall_at(now, &path)?;
            Some(
                offers
                    .into_iter()
                    .map(|offer| offer.name)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(names(written), Some(vec!["order".to_owned()]));
        assert!(names(written + seconds(599)).is_some());
        assert_eq!(names(written + seconds(600)), None);
        assert_eq!(names(written - seconds(1)), None);
        fs::write(&path, "{").expect("a file");
        assert_eq!(names(SystemTime::now()), None);
        fs::remove_file(&path).expect("ours");
        assert_eq!(names(SystemTime::now()), None);
    }
}
