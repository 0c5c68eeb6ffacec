//! One rule: which questions it is for, and what it says to them.

use std::path::Path;

use antiphon::{
    client::Identity,
    types::{CreateMessageResult, ElicitRequestParams, FormSchema, InputRequest, Root},
};
use serde_json::{Map, Value};

use super::pattern::Pattern;
use crate::{
    answering::fill,
    arguments::{kind as kind_of, same},
    asked::{Asked, Said},
    nearest::{instead, listed},
    printable,
    root::root,
};

/// What a rule may hold beside its answer.
const CONDITIONS: [&str; 7] = [
    "server", "tool", "prompt", "resource", "key", "kind", "schema",
];

/// What a rule may say; it says one of them.
const ANSWERS: [&str; 5] = ["accept", "decline", "cancel", "sample", "roots"];

/// What is called, and how that is told.
const CALLS: [(&str, &str); 3] = [
    ("tool", "tools/call"),
    ("prompt", "prompts/get"),
    ("resource", "resources/read"),
];

pub(super) struct Rule {
    server: Option<Pattern>,
    /// The method, and what it names.
    call: Option<(&'static str, Pattern)>,
    key: Option<Pattern>,
    kind: Option<Kind>,
    schema: Option<Value>,
    says: Says,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Form,
    Url,
    Sample,
    Roots,
}

enum Says {
    /// With these fields; without any, a link or the defaults are agreed to.
    Accept(Map<String, Value>),
    Decline,
    Cancel,
    Sample(String),
    Roots(Vec<Root>),
}

impl Rule {
    /// A rule as it stands in a file of this folder. The error names the member, not what it holds.
    pub(super) fn read(rule: &Value, folder: &Path) -> Result<Self, String> {
        let Value::Object(members) = rule else {
            return Err(format!("must be a table, not {}", kind_of(rule)));
        };
        let known: Vec<_> = CONDITIONS.into_iter().chain(ANSWERS).collect();
        let mut names = members.keys();
        if let Some(name) = names.find(|name| !known.contains(&name.as_str())) {
            let instead = instead(name, &known);
            return Err(format!("{} is not known: {instead}", listed([&**name])));
        }
        let pattern = |name| Ok::<_, String>(text(members, name)?.map(Pattern::new));
        let rule = Self {
            server: server(members)?,
            call: call(members)?,
            key: pattern("key")?,
            kind: text(members, "kind")?.map(Kind::read).transpose()?,
            schema: schema(members)?,
            says: says(members, folder)?,
        };
        if rule.schema.is_some() && !matches!(rule.kind, None | Some(Kind::Form)) {
            return Err("`schema` is for forms, and `kind` is not \"form\"".to_owned());
        }
        match rule.kind {
            Some(kind) if !rule.says.fits(kind) => Err(rule.misfit(kind)),
            _ => Ok(rule),
        }
    }

    pub(super) fn is_for(&self, asked: &Asked) -> bool {
        let Asked { call, question, .. } = asked;
        let is_called = |(method, name): &(&str, Pattern)| {
            call.method() == *method && name.matches(call.name())
        };
        self.key.as_ref().is_none_or(|key| key.matches(&asked.key))
            && self
                .kind
                .is_none_or(|kind| Kind::of(question) == Some(kind))
            && self
                .server
                .as_ref()
                .is_none_or(|server| names(server, &asked.server))
            && self.call.as_ref().is_none_or(is_called)
            && self.schema.as_ref().is_none_or(|part| {
                let schema = form(question).and_then(|form| serde_json::to_value(form).ok());
                schema.is_some_and(|schema| is_part(part, &schema))
            })
    }

    /// What it says to a question it is for; the error goes on after "rule 1 of answers.toml".
    pub(super) fn answer(&self, asked: &Asked) -> Result<Said, String> {
        if !asked.errors.is_empty() {
            let errors: Vec<_> = asked
                .errors
                .iter()
                .map(|why| printable::line(why))
                .collect();
            return Err(format!(
                "gave an answer that does not fit: {}",
                errors.join("; ")
            ));
        }
        let Some(kind) = Kind::of(&asked.question) else {
            let method = printable::excerpt(asked.question.method(), 80);
            return Err(format!("cannot answer {method}, which is not known here"));
        };
        match (&self.says, form(&asked.question)) {
            says if !says.0.fits(kind) => Err(self.misfit(kind)),
            (Says::Accept(content), Some(form)) => {
                let filled = fill::accepted(form, content.clone());
                filled
                    .map(Said::Accept)
                    .map_err(|why| format!("does not fit: {why}"))
            }
            (Says::Accept(content), None) => Ok(Said::Accept(content.clone())),
            (Says::Decline, _) => Ok(Said::Decline),
            (Says::Cancel, _) => Ok(Said::Cancel),
            (Says::Sample(text), _) => {
                let message = CreateMessageResult::text(text, "a-rule").stop_reason("endTurn");
                Ok(Said::Sample(Box::new(message)))
            }
            (Says::Roots(roots), _) => Ok(Said::Roots(roots.clone())),
        }
    }

    fn misfit(&self, kind: Kind) -> String {
        let says = match &self.says {
            Says::Accept(content) if content.is_empty() => "`accept = true`",
            Says::Accept(_) => "`accept` with fields",
            Says::Decline => "`decline`",
            Says::Cancel => "`cancel`",
            Says::Sample(_) => "`sample`",
            Says::Roots(_) => "`roots`",
        };
        let fits = match kind {
            Kind::Form => "a form: it takes `accept`, `decline` or `cancel`",
            Kind::Url => "a link: it takes `accept = true`, `decline` or `cancel`",
            Kind::Sample => "a request for a model's message: it takes `sample`",
            Kind::Roots => "a request for roots: it takes `roots`",
        };
        format!("has {says}, which is no answer to {fits}")
    }
}

impl Kind {
    const NAMES: [(&str, Self); 4] = [
        ("form", Self::Form),
        ("url", Self::Url),
        ("sample", Self::Sample),
        ("roots", Self::Roots),
    ];

    fn read(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.into_iter().find(|(name, _)| *name == text);
        let names = listed(Self::NAMES.map(|(name, _)| name));
        found
            .map(|(_, kind)| kind)
            .ok_or_else(|| format!("`kind` is one of {names}, not {}", listed([text])))
    }

    fn of(question: &InputRequest) -> Option<Self> {
        match question {
            InputRequest::Elicit(ElicitRequestParams::Form(_)) => Some(Self::Form),
            InputRequest::Elicit(ElicitRequestParams::Url(_)) => Some(Self::Url),
            InputRequest::Sample(_) => Some(Self::Sample),
            InputRequest::Roots(_) => Some(Self::Roots),
            _ => None,
        }
    }
}

impl Says {
    fn fits(&self, kind: Kind) -> bool {
        match self {
            Self::Accept(content) => kind == Kind::Form || kind == Kind::Url && content.is_empty(),
            Self::Decline | Self::Cancel => matches!(kind, Kind::Form | Kind::Url),
            Self::Sample(_) => kind == Kind::Sample,
            Self::Roots(_) => kind == Kind::Roots,
        }
    }
}

fn form(question: &InputRequest) -> Option<&FormSchema> {
    match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => Some(&form.requested_schema),
        _ => None,
    }
}

/// Whether the pattern is for this server: by its name, or by where it is.
fn names(pattern: &Pattern, server: &Identity) -> bool {
    match server {
        Identity::Http { origin, path } => pattern.matches_url(origin, path),
        Identity::Named { name, server } => pattern.matches(name) || names(pattern, server),
        _ => pattern.matches(&server.to_string()),
    }
}

/// Whether everything in `part` is in `whole`, too: members by name, items in any place.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|whole| is_part(part, whole))),
        (Value::Array(part), Value::Array(whole)) => part
            .iter()
            .all(|part| whole.iter().any(|whole| is_part(part, whole))),
        (Value::Number(part), Value::Number(whole)) => same(part, whole),
        (part, whole) => part == whole,
    }
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{name}` must be a text, not {}", kind_of(other))),
    }
}

fn server(members: &Map<String, Value>) -> Result<Option<Pattern>, String> {
    let server = text(members, "server")?.map(Pattern::new);
    match &server {
        Some(pattern) if pattern.leaves_host_open() => Err(
            "`server` is for hosts of others, too: let the name of the host end before the `*`, \
             as in \"https://shop.example.com/*\""
                .to_owned(),
        ),
        _ => Ok(server),
    }
}

fn call(members: &Map<String, Value>) -> Result<Option<(&'static str, Pattern)>, String> {
    let mut called = None;
    for (name, method) in CALLS {
        let Some(pattern) = text(members, name)? else {
            continue;
        };
        if called.replace((method, Pattern::new(pattern))).is_some() {
            return Err("a rule is for a `tool`, a `prompt` or a `resource`".to_owned());
        }
    }
    Ok(called)
}

fn schema(members: &Map<String, Value>) -> Result<Option<Value>, String> {
    match members.get("schema") {
        None => Ok(None),
        Some(schema @ Value::Object(_)) => Ok(Some(schema.clone())),
        Some(other) => Err(format!("`schema` must be a table, not {}", kind_of(other))),
    }
}

fn says(members: &Map<String, Value>, folder: &Path) -> Result<Says, String> {
    let given = ANSWERS
        .iter()
        .filter_map(|name| Some((*name, members.get(*name)?)));
    let (name, value) = match given.collect::<Vec<_>>().as_slice() {
        [one] => *one,
        [] => return Err(format!("says nothing: it needs one of {}", listed(ANSWERS))),
        several => {
            let names = several.iter().map(|(name, _)| *name);
            return Err(format!("says too much: only one of {}", listed(names)));
        }
    };
    match (name, value) {
        ("accept", Value::Bool(true)) => Ok(Says::Accept(Map::new())),
        ("accept", Value::Object(content)) => Ok(Says::Accept(content.clone())),
        ("accept", Value::Bool(false)) => {
            Err("`accept = false` says nothing: write `decline = true`".to_owned())
        }
        ("accept", other) => Err(format!(
            "`accept` must be a table of the form's fields, or true, not {}",
            kind_of(other)
        )),
        ("decline", Value::Bool(true)) => Ok(Says::Decline),
        ("cancel", Value::Bool(true)) => Ok(Says::Cancel),
        ("sample", Value::String(text)) => Ok(Says::Sample(text.clone())),
        ("sample", other) => Err(format!("`sample` must be a text, not {}", kind_of(other))),
        ("roots", Value::Array(paths)) => {
            let roots = paths.iter().map(|path| one_root(path, folder));
            Ok(Says::Roots(roots.collect::<Result<_, _>>()?))
        }
        ("roots", other) => Err(format!(
            "`roots` must be a list of directories, not {}",
            kind_of(other)
        )),
        (name, _) => Err(format!("`{name}` must be true")),
    }
}

fn one_root(path: &Value, folder: &Path) -> Result<Root, String> {
    let Some(path) = path.as_str() else {
        return Err(format!(
            "`roots` must hold directories, not {}",
            kind_of(path)
        ));
    };
    root(&folder.join(path)).map_err(|error| format!("`roots`: {}: {error}", printable::line(path)))
}
