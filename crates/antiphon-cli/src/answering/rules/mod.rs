//! `--answers FILE`: rules that answer questions.
//!
//! ```toml
//! [[answer]]
//! server = "https://shop.example.com/*"   # which questions: all of these are optional
//! tool = "deploy"                         # or prompt = "…", or resource = "…" (a URI)
//! key = "confirm"
//! kind = "form"                           # form, url, sample or roots
//! schema = { properties = { approve = { type = "boolean" } } }
//! accept = { approve = true }             # or accept, decline or cancel = true,
//!                                         # sample = "text", roots = ["/srv/project"]
//! ```
//!
//! A server is its URL, its host, its name in a file, or its command line. In names `*` is any run of
//! characters. A `schema` must be part of the form's. The first rule
//! that is for a question answers it. In JSON the rules are a list, alone or as `answer`.

mod file;
mod pattern;
mod rule;

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::Value;

use crate::{
    arguments::kind,
    asked::{Asked, Said},
    failure::Failure,
    nearest::listed,
    printable,
};
use rule::Rule;

/// The rules of a file, in their order.
pub(crate) struct Rules {
    file: String,
    rules: Vec<(Rule, AtomicBool)>,
}

impl Rules {
    /// Reads a file. Directories in it are relative to where it is.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let file = printable::line(&path.to_string_lossy());
        let wrong = |why: String| Failure::usage(format!("{file}: {why}"));
        let rules = match file::read(path)? {
            Value::Array(rules) => rules,
            Value::Object(mut members) => {
                let rules = members.shift_remove("answer");
                if let Some((name, _)) = members.iter().next() {
                    let name = listed([&**name]);
                    return Err(wrong(format!("{name} is not known: rules are [[answer]]")));
                }
                match rules {
                    Some(Value::Array(rules)) => rules,
                    Some(other) => {
                        let why = format!("`answer` must be a list, not {}", kind(&other));
                        return Err(wrong(why));
                    }
                    None => return Err(wrong("there are no rules: write [[answer]]".to_owned())),
                }
            }
            other => {
                let why = format!("rules must be a list, not {}", kind(&other));
                return Err(wrong(why));
            }
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let rules = rules.iter().zip(1..).map(|(rule, number)| {
            let rule = Rule::read(rule, folder);
            let rule = rule.map_err(|why| wrong(format!("rule {number}: {why}")))?;
            Ok((rule, AtomicBool::new(false)))
        });
        let rules = rules.collect::<Result<_, Failure>>()?;
        Ok(Self { file, rules })
    }

    /// What the first rule for this question says, and its number. The error is why that is no
    /// answer.
    pub(crate) fn answer(&self, asked: &Asked) -> Option<(usize, Result<Said, String>)> {
        let mut rules = self.rules.iter().zip(1..);
        let ((rule, used), number) = rules.find(|((rule, _), _)| rule.is_for(asked))?;
        used.store(true, Ordering::Relaxed);
        let said = rule.answer(asked);
        let said = said.map_err(|why| format!("{} {why}", self.describe(number)));
        Some((number, said))
    }

    /// The numbers of the rules that no question was for.
    pub(crate) fn unused(&self) -> Vec<usize> {
        let rules = self.rules.iter().zip(1..);
        let unused = rules.filter(|((_, used), _)| !used.load(Ordering::Relaxed));
        unused.map(|(_, number)| number).collect()
    }

    /// Such as `rule 2 of answers.toml`.
    pub(crate) fn describe(&self, number: usize) -> String {
        format!("rule {number} of {}", self.file)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::PathBuf,
        sync::atomic::AtomicU32,
        time::{Duration, Instant},
    };

    use antiphon::{
        client::Identity,
        types::{
            BooleanSchema, CreateMessageRequestParams, ElicitRequestParams, FormSchema,
            InputRequest, NumberSchema, StringSchema,
        },
    };
    use serde_json::json;

    use super::*;
    use crate::failure::Exit;

    /// A directory with one file in it, until it is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn with(name: &str, text: &str) -> (Self, PathBuf) {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name_of = format!("antiphon-rules-{}-{count}", std::process::id());
            let folder = std::env::temp_dir().join(name_of);
            fs::create_dir_all(folder.join("project")).expect("a directory");
            let file = folder.join(name);
            fs::write(&file, text).expect("written");
            (Self(folder), file)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    fn rules(text: &str) -> Rules {
        let (_folder, file) = Folder::with("answers.toml", text);
        Rules::read(&file).unwrap_or_else(|failure| panic!("{failure}"))
    }

    fn asked(question: impl Into<InputRequest>) -> Asked {
        Asked {
            server: Identity::Named {
                name: "shop".into(),
                server: Box::new(Identity::Http {
                    origin: "https://shop.example.com".into(),
                    path: "/mcp".into(),
                }),
            },
            call: called("tools/call", "deploy"),
            key: "confirm".into(),
            round: 1,
            errors: Vec::new(),
            deadline: Instant::now() + Duration::from_secs(60),
            question: question.into(),
        }
    }

    fn called(method: &str, name: &str) -> antiphon::client::Target {
        let call = json!({"method": method, "name": name});
        serde_json::from_value(call).expect("a call")
    }

    fn form() -> ElicitRequestParams {
        let mut copies = NumberSchema::integer();
        copies.default = Some(1.into());
        let schema = FormSchema::new()
            .required("approve", BooleanSchema::new())
            .required("copies", copies)
            .optional("note", StringSchema::new());
        ElicitRequestParams::form("Sure?", schema)
    }

    fn link() -> ElicitRequestParams {
        ElicitRequestParams::url("Go", "https://example.com")
    }

    fn accept(content: Value) -> Said {
        match content {
            Value::Object(content) => Said::Accept(content),
            other => panic!("{other} is no content"),
        }
    }

    fn said(rules: &Rules, asked: &Asked) -> Option<Said> {
        let (_, said) = rules.answer(asked)?;
        Some(said.expect("an answer"))
    }

    #[test]
    fn conditions_must_all_hold() {
        for (conditions, expected) in [
            ("", true),
            ("server = 'shop'", true),
            ("server = 'https://shop.example.com/*'", true),
            ("server = 'shop (*)'", false),
            ("server = 'sh*'", true),
            ("server = 'shop.example.com'", true),
            ("server = '*.example.com'", true),
            ("server = 'example.com'", false),
            ("server = '*/mcp'", false),
            ("server = 'https://other.example.com/*'", false),
            ("tool = 'deploy'", true),
            ("tool = 'dep*'", true),
            ("tool = 'destroy'", false),
            ("prompt = 'deploy'", false),
            ("resource = '*'", false),
            ("key = 'confirm'", true),
            ("key = 'conf'", false),
            ("kind = 'form'", true),
            ("kind = 'url'", false),
            ("schema = {}", true),
            ("schema = { required = ['copies'] }", true),
            (
                "schema = { properties = { approve = { type = 'boolean' } } }",
                true,
            ),
            (
                "schema = { properties = { approve = { type = 'string' } } }",
                false,
            ),
            (
                "schema = { properties = { copies = { default = 1.0 } } }",
                true,
            ),
            ("schema = { properties = { sure = {} } }", false),
            ("schema = { required = ['copies', 'note'] }", false),
            ("tool = 'deploy'\nkey = 'other'", false),
        ] {
            let rules = rules(&format!("[[answer]]\n{conditions}\ncancel = true"));
            let expected = expected.then_some(Said::Cancel);
            assert_eq!(said(&rules, &asked(form())), expected, "{conditions}");
        }
    }

    #[test]
    fn a_call_that_is_not_known_is_no_tool() {
        let rules = rules("[[answer]]\ntool = '*'\ncancel = true");
        let mut asked = asked(form());
        asked.call = called("", "");
        assert_eq!(said(&rules, &asked), None);
        asked.call = called("resources/read", "file:///x");
        assert_eq!(said(&rules, &asked), None);
    }

    #[test]
    fn the_first_rule_answers_and_is_used() {
        let rules = rules(
            "[[answer]]\nkey = 'other'\ncancel = true\n\
             [[answer]]\nkey = 'confirm'\ndecline = true\n\
             [[answer]]\ncancel = true",
        );
        assert_eq!(rules.unused(), [1, 2, 3]);
        let answer = rules.answer(&asked(form()));
        assert_eq!(answer, Some((2, Ok(Said::Decline))));
        assert_eq!(rules.unused(), [1, 3]);
        assert!(rules.describe(2).starts_with("rule 2 of "));
        assert!(rules.describe(2).ends_with("answers.toml"));
    }

    #[test]
    fn every_kind_has_its_answers() {
        let sample = || CreateMessageRequestParams::user("Sum up", 50);
        for (says, question, expected) in [
            (
                "accept = { approve = true }",
                form().into(),
                accept(json!({"approve": true, "copies": 1})),
            ),
            (
                "accept = { approve = false, copies = 2, note = 'x' }",
                form().into(),
                accept(json!({"approve": false, "copies": 2, "note": "x"})),
            ),
            (
                "accept = true",
                ElicitRequestParams::form("?", FormSchema::new()).into(),
                accept(json!({})),
            ),
            ("accept = true", link().into(), accept(json!({}))),
            ("decline = true", link().into(), Said::Decline),
            ("cancel = true", form().into(), Said::Cancel),
        ] {
            let question: InputRequest = question;
            let rules = rules(&format!("[[answer]]\n{says}"));
            assert_eq!(said(&rules, &asked(question)), Some(expected), "{says}");
        }
        let rules_of = rules("[[answer]]\nkind = 'sample'\nsample = 'Short.'");
        let Some(Said::Sample(message)) = said(&rules_of, &asked(sample())) else {
            panic!("no message");
        };
        assert_eq!(message.first_text(), Some("Short."));
        let rules_of = rules("[[answer]]\nroots = ['project']");
        let Some(Said::Roots(roots)) = said(&rules_of, &asked(InputRequest::roots())) else {
            panic!("no roots");
        };
        assert_eq!(roots.len(), 1);
        assert!(roots[0].uri.ends_with("/project"), "{}", roots[0].uri);
    }

    #[test]
    fn what_does_not_fit_is_told_by_number() {
        let sample: InputRequest = CreateMessageRequestParams::user("Sum up", 50).into();
        let (form, link): (InputRequest, InputRequest) = (form().into(), link().into());
        for (says, question, part) in [
            ("accept = { approve = true }", &link, "no answer to a link"),
            ("accept = true", &form, "also needs `approve`"),
            (
                "accept = { aprove = true }",
                &form,
                "did you mean `approve`?",
            ),
            ("sample = 'x'", &form, "no answer to a form"),
            ("roots = []", &sample, "takes `sample`"),
            ("decline = true", &sample, "takes `sample`"),
            ("accept = true", &InputRequest::roots(), "takes `roots`"),
        ] {
            let rules = rules(&format!(
                "[[answer]]\nkey = 'other'\ncancel = true\n[[answer]]\n{says}"
            ));
            let Some((2, Err(error))) = rules.answer(&asked(question.clone())) else {
                panic!("{says}: an answer");
            };
            assert!(error.starts_with("rule 2 of "), "{error}");
            assert!(error.contains(part), "{part} is not in {error}");
        }
    }

    #[test]
    fn an_answer_that_was_rejected_is_not_given_again() {
        let rules = rules("[[answer]]\naccept = { approve = true }");
        let mut asked = asked(form());
        assert!(matches!(rules.answer(&asked), Some((1, Ok(_)))));
        asked.errors = vec!["approve: not now\u{1b}".into()];
        let Some((1, Err(error))) = rules.answer(&asked) else {
            panic!("an answer");
        };
        assert!(error.contains(r"approve: not now\u{1b}"), "{error}");
    }

    #[test]
    fn json_says_the_same() {
        let list = r#"[{"tool": "deploy", "decline": true}]"#;
        let object = format!(r#"{{"answer": {list}}}"#);
        for (name, text) in [
            ("a.json", list),
            ("a.json", &object),
            ("a", list),
            ("a", &object),
        ] {
            let (_folder, file) = Folder::with(name, text);
            let rules = Rules::read(&file).unwrap_or_else(|failure| panic!("{failure}"));
            assert_eq!(said(&rules, &asked(form())), Some(Said::Decline));
        }
    }

    #[test]
    fn a_bad_file_is_told_with_its_place() {
        for (name, text, parts) in [
            ("a.toml", "", &["no rules", "[[answer]]"][..]),
            (
                "a.toml",
                "[[answers]]\ncancel = true",
                &["`answers` is not known"],
            ),
            (
                "a.toml",
                "answer = 1",
                &["`answer` must be a list, not a number"],
            ),
            (
                "a.toml",
                "[[answer]]\ncancel = ",
                &["not TOML", "line 2 column 10"],
            ),
            (
                "a.json",
                "[{\"cancel\": tru}]",
                &["not JSON", "line 1 column 16"],
            ),
            ("a.json", "7", &["rules must be a list"]),
            ("a.json", "[7]", &["rule 1: must be a table"]),
            (
                "a.json",
                "[{\"accept\": {\"n\": 1e999}}]",
                &["line 1 column"],
            ),
            (
                "a.toml",
                "[[answer]]\ntol = 'x'\ncancel = true",
                &["rule 1: `tol`", "`tool`?"],
            ),
            (
                "a.toml",
                "[[answer]]\ntool = 1\ncancel = true",
                &["rule 1: `tool` must be a text"],
            ),
            (
                "a.toml",
                "[[answer]]\nkey = 'x'",
                &["rule 1: says nothing", "`accept`"],
            ),
            (
                "a.toml",
                "[[answer]]\ncancel = true\n[[answer]]\naccept = {}\ncancel = true",
                &["rule 2: says too much: only one of `accept`, `cancel`"],
            ),
            (
                "a.toml",
                "[[answer]]\ndecline = false",
                &["`decline` must be true"],
            ),
            (
                "a.toml",
                "[[answer]]\naccept = false",
                &["write `decline = true`"],
            ),
            (
                "a.toml",
                "[[answer]]\naccept = 'sesame'",
                &["`accept` must be a table"],
            ),
            (
                "a.toml",
                "[[answer]]\nsample = 1",
                &["`sample` must be a text"],
            ),
            (
                "a.toml",
                "[[answer]]\nroots = 'x'",
                &["`roots` must be a list"],
            ),
            (
                "a.toml",
                "[[answer]]\nroots = [1]",
                &["`roots` must hold directories"],
            ),
            (
                "a.toml",
                "[[answer]]\nroots = ['none']",
                &["rule 1: `roots`: none: "],
            ),
            (
                "a.toml",
                "[[answer]]\nkind = 'link'\ncancel = true",
                &["`kind` is one of", "`url`"],
            ),
            (
                "a.toml",
                "[[answer]]\nkind = 'url'\naccept = {a = 1}",
                &["no answer to a link"],
            ),
            (
                "a.toml",
                "[[answer]]\nkind = 'url'\nschema = {}\ncancel = true",
                &["for forms"],
            ),
            (
                "a.toml",
                "[[answer]]\nschema = 'x'\ncancel = true",
                &["`schema` must be a table"],
            ),
            (
                "a.toml",
                "[[answer]]\ntool = 'a'\nprompt = 'b'\ncancel = true",
                &["a `tool`, a `prompt` or a `resource`"],
            ),
        ] {
            let (_folder, file) = Folder::with(name, text);
            let Err(failure) = Rules::read(&file) else {
                panic!("{text} was read");
            };
            assert_eq!(failure.exit, Exit::Usage);
            let file = file.display().to_string();
            for part in parts.iter().chain(&[file.as_str()]) {
                assert!(failure.text.contains(part), "{part} is not in {failure}");
            }
            assert!(!failure.text.contains("sesame"), "{failure}");
        }
        let Err(failure) = Rules::read(Path::new("/no/such/file")) else {
            panic!("read");
        };
        assert!(failure.text.contains("/no/such/file"), "{failure}");
    }
}
