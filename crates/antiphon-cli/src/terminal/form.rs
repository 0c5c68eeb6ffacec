//! Forms: field by field, then a review of the whole; Esc leads to the ways out.

use std::{io, ops::Range};

use antiphon::types::{ElicitRequestFormParams, FormSchema, PrimitiveSchema};
use serde_json::{Map, Value};

use super::{
    Prompts,
    field::{Filled, fill},
    labels, printable, secret,
};
use crate::asked::{Reaction, Said};

/// How fields were left: filled in, or by one of the ways out.
#[derive(Debug, PartialEq)]
pub(super) enum Left<W> {
    Filled(Map<String, Value>),
    By(W),
}

/// A way out of a question.
#[derive(Clone, Copy)]
pub(super) enum Out {
    Decline,
    Cancel,
    Later,
}

/// All of them; Esc and Enter take the first. Where a call can wait, so can its questions.
pub(super) fn ways_out(can_wait: bool) -> &'static [(&'static str, Out)] {
    const ALL: &[(&str, Out)] = &[
        ("Decline: say no", Out::Decline),
        ("Cancel: do not choose", Out::Cancel),
        (LATER, Out::Later),
    ];
    match can_wait {
        true => ALL,
        false => &ALL[..2],
    }
}

/// How to leave a question open.
pub(super) const LATER: &str = "Later: save the call and leave";
/// Which way out is taken by who presses Enter without reading.
pub(super) const CANCEL: usize = 1;

impl From<Out> for Reaction {
    fn from(out: Out) -> Self {
        match out {
            Out::Decline => Self::Says(Said::Decline),
            Out::Cancel => Self::Says(Said::Cancel),
            Out::Later => Self::Later,
        }
    }
}

/// Has a person answer a form, or leave it by one of these ways. `before` is what they gave when it
/// was asked the last time.
pub(super) fn answer(
    prompts: &mut dyn Prompts,
    form: &ElicitRequestFormParams,
    out: &[(&str, Out)],
    before: Option<&Map<String, Value>>,
) -> io::Result<Reaction> {
    prompts.tell(&printable::block(&form.message));
    let schema = &form.requested_schema;
    let mut fields = Fields::new(schema, out);
    fields.is_form = true;
    if let Some(before) = before {
        fields.start_with(before);
    }
    let left = match schema.properties.is_empty() {
        true => agree(prompts, out)?,
        false => match fields.fill(prompts, 0..schema.properties.len())? {
            Some(way) => Left::By(way),
            None if is_one_choice(schema) => Left::Filled(fields.content()),
            None => fields.review(prompts)?,
        },
    };
    Ok(match left {
        Left::Filled(content) => Reaction::Says(Said::Accept(content)),
        Left::By(out) => out.into(),
    })
}

/// Has a person fill in fields that are no form of a server's; Esc offers these ways out.
pub(super) fn fill_in<W: Copy>(
    prompts: &mut dyn Prompts,
    schema: &FormSchema,
    out: &[(&str, W)],
) -> io::Result<Left<W>> {
    let mut fields = Fields::new(schema, out);
    Ok(match fields.fill(prompts, 0..schema.properties.len())? {
        Some(way) => Left::By(way),
        None => Left::Filled(fields.content()),
    })
}

/// A form without fields is only agreed to, and not by Enter alone.
fn agree(prompts: &mut dyn Prompts, out: &[(&str, Out)]) -> io::Result<Left<Out>> {
    let options = with_ways_out(&["Accept"], out);
    loop {
        match prompts.choose("Your answer", "", &options, 1 + CANCEL)? {
            Some(0) => return Ok(Left::Filled(Map::new())),
            Some(at) => return Ok(Left::By(out[at - 1].1)),
            None => {
                if let Escape::Out(way) = escape(prompts, false, out)? {
                    return Ok(Left::By(way));
                }
            }
        }
    }
}

/// Whether a single choice is all there is: it needs no review, being on the screen already.
fn is_one_choice(schema: &FormSchema) -> bool {
    let is_choice = |field: &PrimitiveSchema| {
        matches!(
            field,
            PrimitiveSchema::Boolean(_)
                | PrimitiveSchema::UntitledSingleSelect(_)
                | PrimitiveSchema::TitledSingleSelect(_)
                | PrimitiveSchema::LegacyTitledEnum(_)
        )
    };
    let mut fields = schema.properties.iter();
    fields.len() == 1 && fields.all(|(_, field)| is_choice(field))
}

/// Fields that are being filled in.
struct Fields<'a, W> {
    schema: &'a FormSchema,
    out: &'a [(&'a str, W)],
    /// What became of each; `None` if it was not asked for yet.
    filled: Vec<Option<Filled>>,
    /// Whether a server asks for them in a form, and so not for secrets.
    is_form: bool,
}

impl<'a, W: Copy> Fields<'a, W> {
    fn new(schema: &'a FormSchema, out: &'a [(&'a str, W)]) -> Self {
        let mut filled = Vec::new();
        filled.resize_with(schema.properties.len(), || None);
        Self {
            schema,
            out,
            filled,
            is_form: false,
        }
    }

    /// Begins with what was given before.
    fn start_with(&mut self, before: &Map<String, Value>) {
        for ((name, _), filled) in self.schema.properties.iter().zip(&mut self.filled) {
            *filled = Some(match before.get(name) {
                Some(value) => Filled::With(value.clone()),
                None => Filled::LeftOut,
            });
        }
    }

    /// Asks for these fields, one after the other; which way out was taken, if any.
    fn fill(&mut self, prompts: &mut dyn Prompts, fields: Range<usize>) -> io::Result<Option<W>> {
        let mut at = fields.start;
        while at < fields.end {
            match self.fill_one(prompts, at)? {
                Filled::Escaped => match escape(prompts, at > 0, self.out)? {
                    Escape::Again => {}
                    Escape::Back => at -= 1,
                    Escape::Out(way) => return Ok(Some(way)),
                },
                filled => {
                    self.filled[at] = Some(filled);
                    at += 1;
                }
            }
        }
        Ok(None)
    }

    fn fill_one(&self, prompts: &mut dyn Prompts, at: usize) -> io::Result<Filled> {
        let Some((name, field)) = self.schema.properties.get(at) else {
            return Ok(Filled::LeftOut);
        };
        let required = self.schema.is_required(name);
        let before = self.filled[at].as_ref();
        let is_new = !matches!(before, Some(Filled::With(_)));
        if self.is_form && is_new && secret::is_wanted(name, field) {
            match secret::goes_on(prompts, &labels::label(name, field, true))? {
                Some(true) => {}
                Some(false) if !required => return Ok(Filled::LeftOut),
                // Without it there is no answer.
                _ => return Ok(Filled::Escaped),
            }
        }
        fill(prompts, name, field, required, before)
    }

    /// Shows everything before it is sent (ELIC-C-11).
    fn review(&mut self, prompts: &mut dyn Prompts) -> io::Result<Left<W>> {
        let count = self.filled.len();
        let options = with_ways_out(&["Send it", "Change a field"], self.out);
        loop {
            prompts.tell("Your answer:");
            for line in self.lines() {
                prompts.tell(&format!("    {line}"));
            }
            let changed = match prompts.choose("Send it?", "", &options, 0)? {
                Some(0) => return Ok(Left::Filled(self.content())),
                Some(1) => self.pick(prompts)?,
                Some(at) => return Ok(Left::By(self.out[at - 2].1)),
                None => match escape(prompts, true, self.out)? {
                    Escape::Again => None,
                    Escape::Back => Some(count - 1),
                    Escape::Out(way) => return Ok(Left::By(way)),
                },
            };
            if let Some(at) = changed
                && let Some(way) = self.fill(prompts, at..at + 1)?
            {
                return Ok(Left::By(way));
            }
        }
    }

    /// Which field to change; `None` if none.
    fn pick(&self, prompts: &mut dyn Prompts) -> io::Result<Option<usize>> {
        match self.filled.len() {
            1 => Ok(Some(0)),
            _ => prompts.choose("Which one?", "", &self.lines(), 0),
        }
    }

    /// A line for each field.
    fn lines(&self) -> Vec<String> {
        let fields = self.schema.properties.iter().zip(&self.filled);
        let lines = fields.map(|((name, field), filled)| {
            let label = labels::label(name, field, true);
            match filled {
                Some(Filled::With(value)) => format!("{label}: {}", labels::value(field, value)),
                _ => format!("{label}: (left out)"),
            }
        });
        lines.collect()
    }

    fn content(&self) -> Map<String, Value> {
        let fields = self.schema.properties.iter().zip(&self.filled);
        let filled = fields.filter_map(|((name, _), filled)| match filled {
            Some(Filled::With(value)) => Some((name.clone(), value.clone())),
            _ => None,
        });
        filled.collect()
    }
}

/// What Esc came to.
pub(super) enum Escape<W> {
    Again,
    Back,
    Out(W),
}

/// Where to go from here; Enter alone takes the first way out, Esc goes on.
pub(super) fn escape<W: Copy>(
    prompts: &mut dyn Prompts,
    can_go_back: bool,
    out: &[(&str, W)],
) -> io::Result<Escape<W>> {
    let mut options = with_ways_out(&[], out);
    if can_go_back {
        options.push("Back to the field before".to_owned());
    }
    options.push("Go on here".to_owned());
    Ok(match prompts.choose("Leave?", "", &options, 0)? {
        Some(at) if at < out.len() => Escape::Out(out[at].1),
        Some(at) if can_go_back && at == out.len() => Escape::Back,
        _ => Escape::Again,
    })
}

/// These options, and then the ways out.
pub(super) fn with_ways_out<W>(options: &[&str], out: &[(&str, W)]) -> Vec<String> {
    let out = out.iter().map(|(label, _)| label);
    options.iter().chain(out).map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use antiphon::types::{BooleanSchema, StringSchema};
    use serde_json::json;

    use super::{
        super::prompts::scripted::{Does, Scripted},
        *,
    };

    fn form() -> FormSchema {
        FormSchema::new()
            .required("name", StringSchema::new())
            .optional("nick", StringSchema::new())
            .required("sure", BooleanSchema::new())
    }

    fn map(content: Value) -> Map<String, Value> {
        match content {
            Value::Object(content) => content,
            other => panic!("{other} is no content"),
        }
    }

    fn accepted(content: Value) -> Said {
        Said::Accept(map(content))
    }

    fn answered(
        person: &mut Scripted,
        asked: &ElicitRequestFormParams,
        before: Option<&Map<String, Value>>,
    ) -> Said {
        match answer(person, asked, ways_out(true), before).expect("asked") {
            Reaction::Says(said) => said,
            other => panic!("{other:?}"),
        }
    }

    /// What a person who does this says to a form, and what they were shown.
    fn said_to(form: FormSchema, does: impl IntoIterator<Item = Does>) -> (Said, String) {
        let asked = ElicitRequestFormParams::new("Please", form);
        let mut person = Scripted::new(does);
        let said = answered(&mut person, &asked, None);
        assert!(person.is_done(), "{}", person.shown);
        (said, person.shown)
    }

    fn said(does: impl IntoIterator<Item = Does>) -> Said {
        said_to(form(), does).0
    }

    #[test]
    fn fields_come_in_order_and_what_is_left_out_is_not_sent() {
        let does = [
            Does::Writes("Ada"),
            Does::Writes(""),
            Does::Says(false),
            Does::Picks("Send it"),
        ];
        let (said, shown) = said_to(form(), does);
        assert_eq!(said, accepted(json!({ "name": "Ada", "sure": false })));
        let review = "Your answer:\n    name: Ada\n    nick: (left out)\n    sure: no\nSend it? ()";
        assert!(shown.contains(review), "{shown}");
    }

    #[test]
    fn esc_leads_out_by_decline_and_by_cancel() {
        let does = [Does::Escapes, Does::Picks("Decline")];
        assert_eq!(said(does), Said::Decline);
        let does = [Does::Writes("Ada"), Does::Escapes, Does::Picks("Cancel")];
        assert_eq!(said(does), Said::Cancel);
    }

    #[test]
    fn only_what_can_wait_can_be_left_open() {
        let asked = ElicitRequestFormParams::new("Please", form());
        let mut person = Scripted::new([Does::Escapes, Does::Picks("Later")]);
        let reaction = answer(&mut person, &asked, ways_out(true), None).expect("asked");
        assert_eq!(reaction, Reaction::Later);
        let mut person = Scripted::new([Does::Escapes, Does::Enters]);
        answer(&mut person, &asked, ways_out(false), None).expect("asked");
        assert!(!person.shown.contains("Later"), "{}", person.shown);
    }

    #[test]
    fn esc_and_enter_decline_everywhere() {
        for done in 0..4 {
            let steps = [Does::Writes("Ada"), Does::Writes(""), Does::Says(true)];
            let mut does: Vec<_> = steps.into_iter().take(done).collect();
            does.extend([Does::Escapes, Does::Enters]);
            assert_eq!(said(does), Said::Decline, "after {done} fields");
        }
        let (said, _) = said_to(FormSchema::new(), [Does::Escapes, Does::Enters]);
        assert_eq!(said, Said::Decline);
    }

    #[test]
    fn a_field_can_be_gone_back_to() {
        let does = [
            Does::Writes("Adda"),
            Does::Escapes,
            Does::Picks("Back"),
            Does::Writes("Ada"),
            Does::Escapes,
            Does::Escapes,
            Does::Writes("countess"),
            Does::Says(true),
            Does::Picks("Send it"),
        ];
        let content = json!({ "name": "Ada", "nick": "countess", "sure": true });
        assert_eq!(said(does), accepted(content));
    }

    #[test]
    fn the_review_can_change_a_field_and_leave() {
        let filled = || [Does::Writes("Adda"), Does::Writes(""), Does::Says(true)];
        let change = [
            Does::Picks("Change a field"),
            Does::Picks("name: Adda"),
            Does::Writes("Ada"),
            // Nothing is changed by who does not pick one.
            Does::Picks("Change a field"),
            Does::Escapes,
            // Back from the review leads to the last field.
            Does::Escapes,
            Does::Picks("Back"),
            Does::Says(false),
            Does::Picks("Send it"),
        ];
        let does = filled().into_iter().chain(change);
        let (said, shown) = said_to(form(), does);
        assert_eq!(said, accepted(json!({ "name": "Ada", "sure": false })));
        assert!(shown.contains(r#"name () from "Adda""#), "{shown}");

        for (way, expected) in [("Decline", Said::Decline), ("Cancel", Said::Cancel)] {
            let does = filled().into_iter().chain([Does::Picks(way)]);
            assert_eq!(said_to(form(), does).0, expected);
        }
    }

    #[test]
    fn only_what_is_one_choice_goes_without_review() {
        let select = json!({ "type": "string", "enum": ["a", "b"] });
        let select = PrimitiveSchema::from_value(map(select));
        for (form, does, content) in [
            (
                FormSchema::new().required("sure", BooleanSchema::new()),
                Does::Says(true),
                json!({ "sure": true }),
            ),
            (
                FormSchema::new().required("which", select),
                Does::Picks("b"),
                json!({ "which": "b" }),
            ),
        ] {
            assert_eq!(said_to(form, [does]).0, accepted(content));
        }
        let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } });
        let several = PrimitiveSchema::from_value(map(several));
        let does = [Does::Marks(&["b"]), Does::Picks("Send it")];
        let (said, _) = said_to(FormSchema::new().required("which", several), does);
        assert_eq!(said, accepted(json!({ "which": ["b"] })));
        // A single field is changed without picking it.
        let does = [
            Does::Writes("Adda"),
            Does::Picks("Change a field"),
            Does::Writes("Ada"),
            Does::Picks("Send it"),
        ];
        let form = FormSchema::new().required("name", StringSchema::new());
        assert_eq!(said_to(form, does).0, accepted(json!({ "name": "Ada" })));
    }

    #[test]
    fn what_was_left_out_is_still_left_out_on_the_way_back() {
        let mut yes = BooleanSchema::new();
        yes.default = Some(true);
        let form = FormSchema::new()
            .optional("mails", yes)
            .required("name", StringSchema::new());
        let (said, shown) = said_to(
            form,
            [
                Does::Picks("(leave out)"),
                Does::Escapes,
                Does::Picks("Back"),
                Does::Enters,
                Does::Writes("Ada"),
                Does::Picks("Send it"),
            ],
        );
        assert_eq!(said, accepted(json!({ "name": "Ada" })));
        assert!(shown.contains(r#""(leave out)"] from 0"#), "{shown}");
    }

    #[test]
    fn what_was_given_before_is_there_when_it_is_asked_again() {
        let asked = ElicitRequestFormParams::new("Please", form());
        let before = map(json!({ "name": "Ada", "sure": true }));
        let does = [
            Does::Enters,
            Does::Writes("countess"),
            Does::Enters,
            Does::Enters,
        ];
        let mut person = Scripted::new(does);
        let said = answered(&mut person, &asked, Some(&before));
        let content = json!({ "name": "Ada", "nick": "countess", "sure": true });
        assert_eq!(said, accepted(content));
    }

    #[test]
    fn secrets_are_not_filled_in_by_accident() {
        let required = || FormSchema::new().required("password", StringSchema::new());
        let (said, shown) = said_to(required(), [Does::Enters, Does::Enters]);
        assert_eq!(said, Said::Decline);
        assert!(shown.contains("must not ask for secrets"), "{shown}");
        // Who wants to, can; and is not warned again of what they have filled in.
        let does = [
            Does::Says(true),
            Does::Writes("hunter2"),
            Does::Picks("Change a field"),
            Does::Writes("hunter3"),
            Does::Picks("Send it"),
        ];
        let (said, _) = said_to(required(), does);
        assert_eq!(said, accepted(json!({ "password": "hunter3" })));

        let optional = FormSchema::new().optional("password", StringSchema::new());
        let (said, _) = said_to(optional, [Does::Enters, Does::Picks("Send it")]);
        assert_eq!(said, accepted(json!({})));
    }

    #[test]
    fn arguments_may_be_secrets() {
        let form = FormSchema::new().required("token", StringSchema::new());
        let mut person = Scripted::new([Does::Writes("abc")]);
        let left = fill_in(&mut person, &form, &[("Choose something else", ())]);
        let content = map(json!({ "token": "abc" }));
        assert_eq!(left.expect("asked"), Left::Filled(content));
    }

    #[test]
    fn nothing_is_agreed_to_by_enter_alone() {
        let (said, _) = said_to(FormSchema::new(), [Does::Enters]);
        assert_eq!(said, Said::Cancel);
        let (said, _) = said_to(FormSchema::new(), [Does::Picks("Accept")]);
        assert_eq!(said, accepted(json!({})));
    }

    #[test]
    fn the_texts_of_a_server_do_nothing_to_the_terminal() {
        let hostile = "\u{1b}]8;;http://evil.example\u{7}x\u{202e}\u{9b}2J";
        let title = json!({ "type": "string", "title": hostile, "description": hostile,
            "default": hostile });
        let options = json!({ "type": "string", "title": hostile, "enum": [hostile] });
        let form = FormSchema::new()
            .required(hostile, PrimitiveSchema::from_value(map(title)))
            .required("which", PrimitiveSchema::from_value(map(options)));
        let asked = ElicitRequestFormParams::new(format!("Sure?\n{hostile}"), form);
        let mut person = Scripted::new([
            Does::Enters,
            Does::Enters,
            Does::Picks("Change a field"),
            Does::Enters,
            Does::Enters,
            Does::Enters,
        ]);
        let said = answered(&mut person, &asked, None);
        let content = json!({ hostile: hostile, "which": hostile });
        assert_eq!(said, accepted(content), "what is not shown is still meant");
        let shown = person.shown;
        assert!(shown.starts_with("  | Sure?\n  | \\u{1b}]8"), "{shown}");
        let deceives = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(deceives), "{shown:?}");
    }
}
