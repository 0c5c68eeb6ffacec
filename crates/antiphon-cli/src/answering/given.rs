//! Answers in words on the command line, as `antiphon resume` takes them.
//!
//! `approve=true` or `confirm.approve=true` fills in a field of a form, `summary=TEXT` is what a
//! model says, `roots=DIRECTORY` is a root; keys alone are accepted, declined or cancelled.

use std::path::Path;

use antiphon::types::{
    CreateMessageResult, ElicitRequestFormParams, ElicitRequestParams, InputRequest,
};
use serde_json::{Map, Value};

use super::fill;
use crate::{
    arguments::{self, Pair},
    asked::Said,
    failure::Failure,
    nearest::{instead, listed, nearest},
    printable,
    root::root,
};

/// What is said to the open questions, in their order; some may be left open.
pub(crate) fn answers(
    open: &[(&str, &InputRequest)],
    pairs: &[String],
    declines: &[String],
    cancels: &[String],
    accepts: &[String],
) -> Result<Vec<(String, Said)>, Failure> {
    let mut given: Vec<Given<'_>> = open.iter().map(|_| Given::default()).collect();
    let keys: Vec<_> = open.iter().map(|(key, _)| *key).collect();
    for (option, words, word) in [
        ("--decline", declines, Word::Decline),
        ("--cancel", cancels, Word::Cancel),
        ("--accept", accepts, Word::Accept),
    ] {
        for key in words {
            let Some(at) = keys.iter().position(|known| known == key) else {
                let why = format!("asks nothing that is open: {}", instead(key, &keys));
                return Err(wrong(&format!("{option} {key}"), &why));
            };
            let before = given[at].word.replace(word);
            if before.is_some_and(|before| before != word) {
                return Err(wrong(key, "is answered in two ways: choose one"));
            }
        }
    }
    for pair in arguments::parse(pairs)? {
        let (at, field) = place(open, pair.name)?;
        given[at].pairs.push(pair.named(field));
    }
    let mut answers = Vec::new();
    for ((key, question), given) in open.iter().zip(given) {
        if let Some(said) = given.said(key, question)? {
            answers.push(((*key).to_owned(), said));
        }
    }
    Ok(answers)
}

/// What is given for one question.
#[derive(Default)]
struct Given<'a> {
    word: Option<Word>,
    /// By field, or by the key if there are no fields.
    pairs: Vec<Pair<'a>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Accept,
    Decline,
    Cancel,
}

impl Given<'_> {
    fn said(&self, key: &str, question: &InputRequest) -> Result<Option<Said>, Failure> {
        if self.word.is_none() && self.pairs.is_empty() {
            return Ok(None);
        }
        if matches!(self.word, Some(Word::Decline | Word::Cancel)) && !self.pairs.is_empty() {
            return Err(wrong(key, "is answered in two ways: choose one"));
        }
        let said = match (question, self.word) {
            (InputRequest::Elicit(_), Some(Word::Decline)) => Said::Decline,
            (InputRequest::Elicit(_), Some(Word::Cancel)) => Said::Cancel,
            (InputRequest::Elicit(ElicitRequestParams::Form(form)), _) => {
                Said::Accept(self.filled(key, form)?)
            }
            (InputRequest::Elicit(_), _) => Said::Accept(Map::new()),
            (InputRequest::Sample(_), None) => Said::Sample(Box::new(self.message(key)?)),
            (InputRequest::Roots(_), None) => {
                let roots = self.pairs.iter().map(|pair| {
                    let path = pair.text()?;
                    let wrong =
                        |error| Failure::usage(format!("{}: {error}", printable::line(&path)));
                    root(Path::new(&path)).map_err(wrong)
                });
                Said::Roots(roots.collect::<Result<_, _>>()?)
            }
            (question, _) => return Err(wrong(key, &how(key, question))),
        };
        Ok(Some(said))
    }

    fn filled(
        &self,
        key: &str,
        form: &ElicitRequestFormParams,
    ) -> Result<Map<String, Value>, Failure> {
        let form = &form.requested_schema;
        let schema = match serde_json::to_value(form)? {
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        let content = arguments::over(Map::new(), &self.pairs, &schema)
            .map_err(|failure| Failure::usage(format!("{}: {failure}", shown(key))))?;
        fill::accepted(form, content.arguments)
            .map_err(|why| wrong(key, &format!("does not fit: {why}")))
    }

    fn message(&self, key: &str) -> Result<CreateMessageResult, Failure> {
        let [pair] = self.pairs.as_slice() else {
            return Err(wrong(key, "is answered more than once"));
        };
        Ok(CreateMessageResult::text(pair.text()?, "a-person").stop_reason("endTurn"))
    }
}

/// Which question a name is about, and the field of it.
fn place<'a>(open: &[(&str, &InputRequest)], name: &'a str) -> Result<(usize, &'a str), Failure> {
    let questions = || open.iter().enumerate();
    if let Some((at, (key, question))) = questions().find(|(_, (key, _))| *key == name) {
        match question {
            InputRequest::Sample(_) | InputRequest::Roots(_) => return Ok((at, name)),
            InputRequest::Elicit(ElicitRequestParams::Form(_)) => {}
            _ => return Err(wrong(key, &how(key, question))),
        }
    }
    // A key may have dots, and so may a field.
    let within = |key: &str| name.strip_prefix(key)?.strip_prefix('.');
    let qualified = questions().filter_map(|(at, (key, question))| {
        let field = within(key)?;
        has_field(question, field).then_some((at, field))
    });
    let plain = questions().filter(|(_, (_, question))| has_field(question, name));
    let mut found: Vec<_> = qualified.collect();
    if found.is_empty() {
        found = plain.map(|(at, _)| (at, name)).collect();
    }
    match found.as_slice() {
        [place] => Ok(*place),
        [] => {
            let within = questions().find(|(_, (key, _))| within(key).is_some());
            let why = match within {
                Some((_, (key, question))) => how(key, question),
                None => ways(open, name),
            };
            Err(wrong(
                name,
                &format!("is no field of an open question: {why}"),
            ))
        }
        several => {
            let ways = several
                .iter()
                .map(|(at, field)| format!("{}.{field}", open[*at].0));
            let ways: Vec<_> = ways.collect();
            let ways = listed(ways.iter().map(String::as_str));
            Err(wrong(
                name,
                &format!("is asked more than once: write one of {ways}"),
            ))
        }
    }
}

fn form(question: &InputRequest) -> Option<&ElicitRequestFormParams> {
    match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => Some(form),
        _ => None,
    }
}

fn has_field(question: &InputRequest, field: &str) -> bool {
    form(question).is_some_and(|form| form.requested_schema.property(field).is_some())
}

/// All that can be written instead.
fn ways(open: &[(&str, &InputRequest)], name: &str) -> String {
    if open.is_empty() {
        return "nothing is open".to_owned();
    }
    let forms = open.iter().filter_map(|(_, question)| form(question));
    let fields = forms.flat_map(|form| &form.requested_schema.properties);
    let near = nearest(name, fields.map(|(field, _)| field.as_str()));
    if let Some(near) = near.first() {
        return format!("did you mean {}?", listed([*near]));
    }
    let ways = open.iter().map(|(key, question)| how(key, question));
    ways.take(10).collect::<Vec<_>>().join("; ")
}

/// How a question is answered.
fn how(key: &str, question: &InputRequest) -> String {
    let shown = printable::excerpt(key, 60);
    match question {
        InputRequest::Elicit(ElicitRequestParams::Form(form)) => {
            let fields = form.requested_schema.properties.iter();
            let fields: Vec<_> = fields
                .map(|(field, _)| format!("{key}.{field}=…"))
                .collect();
            match fields.is_empty() {
                true => format!("write --accept {shown}, --decline {shown} or --cancel {shown}"),
                false => format!("write {}", listed(fields.iter().map(String::as_str))),
            }
        }
        InputRequest::Elicit(_) => {
            format!("write --accept {shown}, --decline {shown} or --cancel {shown}")
        }
        InputRequest::Sample(_) => format!("write `{shown}=…`, what the model says"),
        InputRequest::Roots(_) => format!("write `{shown}=…`, a directory, for each root"),
        other => {
            let method = printable::excerpt(other.method(), 60);
            format!("`{shown}` is {method}, which cannot be answered here")
        }
    }
}

fn shown(name: &str) -> String {
    format!("`{}`", printable::excerpt(name, 60))
}

fn wrong(name: &str, why: &str) -> Failure {
    Failure::usage(format!("{} {why}", shown(name)))
}

#[cfg(test)]
mod tests {
    use antiphon::types::{
        BooleanSchema, CreateMessageRequestParams, FormSchema, NumberSchema, StringSchema,
        UntitledMultiSelectEnumSchema,
    };
    use serde_json::json;

    use super::*;
    use crate::failure::Exit;

    /// Everything that may be open.
    fn open() -> Vec<(&'static str, InputRequest)> {
        let mut copies = NumberSchema::integer();
        copies.default = Some(1.into());
        let order = FormSchema::new()
            .required("title", StringSchema::new())
            .required("copies", copies)
            .optional("tags", UntitledMultiSelectEnumSchema::new(["new", "used"]));
        let confirm = FormSchema::new().required("approve", BooleanSchema::new());
        let other = FormSchema::new()
            .required("approve", BooleanSchema::new())
            .optional("other", StringSchema::new());
        vec![
            ("order", ElicitRequestParams::form("?", order).into()),
            ("confirm", ElicitRequestParams::form("?", confirm).into()),
            ("other", ElicitRequestParams::form("?", other).into()),
            (
                "agree",
                ElicitRequestParams::form("?", FormSchema::new()).into(),
            ),
            (
                "login",
                ElicitRequestParams::url("?", "https://example.com").into(),
            ),
            (
                "summary",
                CreateMessageRequestParams::user("Sum up", 9).into(),
            ),
            ("roots", InputRequest::roots()),
        ]
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn given(text: &[&str]) -> Result<Vec<(String, Said)>, Failure> {
        let [mut pairs, mut declines, mut cancels, mut accepts] = [const { Vec::new() }; 4];
        let mut text = text.iter();
        while let Some(word) = text.next() {
            let list = match *word {
                "--decline" => &mut declines,
                "--cancel" => &mut cancels,
                "--accept" => &mut accepts,
                pair => {
                    pairs.push(pair);
                    continue;
                }
            };
            list.push(*text.next().expect("a key"));
        }
        let open = open();
        let open: Vec<_> = open
            .iter()
            .map(|(key, question)| (*key, question))
            .collect();
        let [pairs, declines, cancels, accepts] =
            [pairs, declines, cancels, accepts].map(|list| words(&list));
        answers(&open, &pairs, &declines, &cancels, &accepts)
    }

    fn accept(content: Value) -> Said {
        match content {
            Value::Object(content) => Said::Accept(content),
            other => panic!("{other} is no content"),
        }
    }

    #[test]
    fn words_are_answers() {
        let sample = |text: &str| {
            Said::Sample(Box::new(
                CreateMessageResult::text(text, "a-person").stop_reason("endTurn"),
            ))
        };
        for (words, expected) in [
            (&[][..], vec![]),
            (
                &["confirm.approve=yes"],
                vec![("confirm", accept(json!({"approve": true})))],
            ),
            (
                &["title=42"],
                vec![("order", accept(json!({"title": "42", "copies": 1})))],
            ),
            (
                &["tags=new", "order.title=a", "tags=used", "copies=3"],
                vec![(
                    "order",
                    accept(json!({"title": "a", "copies": 3, "tags": ["new", "used"]})),
                )],
            ),
            (
                &["--accept", "order", "title=a"],
                vec![("order", accept(json!({"title": "a", "copies": 1})))],
            ),
            (
                &["other=x", "other.approve=true"],
                vec![("other", accept(json!({"approve": true, "other": "x"})))],
            ),
            (
                &["--accept", "login", "--accept", "agree"],
                vec![("agree", accept(json!({}))), ("login", accept(json!({})))],
            ),
            (
                &["--decline", "confirm", "--cancel", "login"],
                vec![("confirm", Said::Decline), ("login", Said::Cancel)],
            ),
            (&["summary=a=b"], vec![("summary", sample("a=b"))]),
            (&[r#"summary:="a\nb""#], vec![("summary", sample("a\nb"))]),
        ] {
            match given(words) {
                Ok(answers) => {
                    let expected = expected.into_iter();
                    let expected = expected.map(|(key, said)| (key.to_owned(), said));
                    assert_eq!(answers, expected.collect::<Vec<_>>(), "{words:?}");
                }
                Err(failure) => panic!("{words:?}: {failure}"),
            }
        }
    }

    #[test]
    fn roots_are_directories() {
        let answers = given(&["roots=src", "roots=tests"]).expect("roots");
        let [(key, Said::Roots(roots))] = answers.as_slice() else {
            panic!("no roots");
        };
        assert_eq!(key, "roots");
        let names: Vec<_> = roots.iter().map(|root| root.name.as_deref()).collect();
        assert_eq!(names, [Some("src"), Some("tests")]);
        let failure = given(&["roots=none"]).expect_err("no directory");
        assert!(failure.text.starts_with("none: "), "{failure}");
    }

    #[test]
    fn what_is_no_answer_is_told_with_what_would_be() {
        for (words, parts) in [
            (&["approve"][..], &["`approve` has no value"][..]),
            (
                &["approve=true"],
                &[
                    "`approve` is asked more than once",
                    "`confirm.approve`, `other.approve`",
                ],
            ),
            (&["titel=x"], &["`titel`", "did you mean `title`?"]),
            (
                &["frobnicate=x"],
                &[
                    "`order.title=…`",
                    "--accept login",
                    "`summary=…`",
                    "`roots=…`",
                ],
            ),
            (
                &["order.x=1"],
                &["`order.x`", "`order.title=…`, `order.copies=…`"],
            ),
            (&["confirm=true"], &["`confirm`", "`order.title=…`"]),
            (&["login=yes"], &["`login`", "--accept login"]),
            (
                &["copies=many"],
                &["`order`: `copies` must be a whole number, not `many`"],
            ),
            (&["tags=old"], &["`order`: `tags`", "`new` or `used`"]),
            (
                &["title=a", "order.title=b"],
                &["`title` is given more than once"],
            ),
            (&["copies=2"], &["`order` does not fit", "needs `title`"]),
            (
                &["--accept", "order"],
                &["`order` does not fit", "needs `title`"],
            ),
            (
                &["--accept", "summary"],
                &["`summary=…`, what the model says"],
            ),
            (&["--decline", "roots"], &["`roots=…`"]),
            (
                &["summary=a", "summary=b"],
                &["`summary` is answered more than once"],
            ),
            (
                &["--decline", "conform"],
                &["`--decline conform`", "did you mean `confirm`?"],
            ),
            (&["--cancel", "x"], &["there are `order`, `confirm`"]),
            (
                &["--decline", "login", "--accept", "login"],
                &["`login`", "two ways"],
            ),
            (&["--decline", "order", "title=a"], &["`order`", "two ways"]),
        ] {
            let failure = given(words).expect_err(&words.join(" "));
            assert_eq!(failure.exit, Exit::Usage);
            for part in parts {
                assert!(failure.text.contains(part), "{part} is not in {failure}");
            }
        }
    }

    #[test]
    fn keys_may_have_dots() {
        let form = |field| {
            let schema = FormSchema::new().required(field, StringSchema::new());
            InputRequest::from(ElicitRequestParams::form("?", schema))
        };
        let (one, two) = (form("name"), form("b.name"));
        let open = [("a.b", &one), ("a", &two)];
        let said = |pair: &str| answers(&open, &words(&[pair]), &[], &[], &[]);
        let failure = said("a.b.name=x").expect_err("either");
        assert!(failure.text.contains("more than once"), "{failure}");
        assert_eq!(
            said("name=x").expect("an answer"),
            [("a.b".to_owned(), accept(json!({"name": "x"})))]
        );
        assert_eq!(
            said("b.name=x").expect("an answer"),
            [("a".to_owned(), accept(json!({"b.name": "x"})))]
        );
    }
}
