//! Forms, field by field; Esc leads to the ways out.

use std::io;

use antiphon::{
    client::Answer,
    types::{ElicitRequestFormParams, FormSchema},
};
use serde_json::{Map, Value};

use super::{
    Prompts,
    field::{Filled, fill},
    printable,
};

/// How fields were left: filled in, or by one of the ways out.
#[derive(Debug, PartialEq)]
pub(super) enum Left<W> {
    Filled(Map<String, Value>),
    By(W),
}

/// The ways out of a form.
#[derive(Clone, Copy)]
enum Out {
    Decline,
    Cancel,
}

/// Has a person answer a form.
pub(super) fn answer(
    prompts: &mut dyn Prompts,
    form: &ElicitRequestFormParams,
) -> io::Result<Answer> {
    prompts.tell(&printable::block(&form.message));
    let out = [
        ("Decline: say no", Out::Decline),
        ("Cancel: do not choose", Out::Cancel),
    ];
    let schema = &form.requested_schema;
    let left = match schema.properties.is_empty() {
        true => agree(prompts, &out)?,
        false => fill_in(prompts, schema, &out)?,
    };
    Ok(match left {
        Left::Filled(content) => Answer::accept(content),
        Left::By(Out::Decline) => Answer::decline(),
        Left::By(Out::Cancel) => Answer::cancel(),
    })
}

/// A form without fields is only agreed to, and not by Enter alone.
fn agree<W: Copy>(prompts: &mut dyn Prompts, out: &[(&str, W)]) -> io::Result<Left<W>> {
    let mut options = vec!["Accept".to_owned()];
    options.extend(out.iter().map(|(label, _)| (*label).to_owned()));
    loop {
        match prompts.choose("Your answer", "", &options, out.len())? {
            Some(0) => return Ok(Left::Filled(Map::new())),
            Some(at) => return Ok(Left::By(out[at - 1].1)),
            None => {}
        }
    }
}

/// Has a person fill in fields, one after the other; Esc offers the way back and these ways out.
pub(super) fn fill_in<W: Copy>(
    prompts: &mut dyn Prompts,
    schema: &FormSchema,
    out: &[(&str, W)],
) -> io::Result<Left<W>> {
    let mut content: Vec<Option<Filled>> = Vec::new();
    content.resize_with(schema.properties.len(), || None);
    let mut at = 0;
    while let Some((name, field)) = schema.properties.get(at) {
        let required = schema.is_required(name);
        match fill(prompts, name, field, required, content[at].as_ref())? {
            Filled::Escaped => match escape(prompts, at > 0, out)? {
                Escape::Again => {}
                Escape::Back => at -= 1,
                Escape::Out(way) => return Ok(Left::By(way)),
            },
            filled => {
                content[at] = Some(filled);
                at += 1;
            }
        }
    }
    let names = schema.properties.iter().map(|(name, _)| name.clone());
    let filled = names.zip(content).filter_map(|(name, field)| match field {
        Some(Filled::With(value)) => Some((name, value)),
        _ => None,
    });
    Ok(Left::Filled(filled.collect()))
}

enum Escape<W> {
    Again,
    Back,
    Out(W),
}

fn escape<W: Copy>(
    prompts: &mut dyn Prompts,
    can_go_back: bool,
    out: &[(&str, W)],
) -> io::Result<Escape<W>> {
    let mut options: Vec<_> = out.iter().map(|(label, _)| (*label).to_owned()).collect();
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

    fn left(does: impl IntoIterator<Item = Does>) -> Left<u8> {
        let mut person = Scripted::new(does);
        let left = fill_in(&mut person, &form(), &[("Decline", 1), ("Cancel", 2)]);
        assert!(person.is_done());
        left.expect("asked")
    }

    fn filled(content: Value) -> Left<u8> {
        match content {
            Value::Object(content) => Left::Filled(content),
            other => panic!("{other} is no content"),
        }
    }

    #[test]
    fn fields_come_in_order_and_what_is_left_out_is_not_sent() {
        let does = [Does::Writes("Ada"), Does::Writes(""), Does::Says(false)];
        assert_eq!(left(does), filled(json!({ "name": "Ada", "sure": false })));
    }

    #[test]
    fn esc_leads_out_by_decline_and_by_cancel() {
        let does = [Does::Escapes, Does::Picks("Decline")];
        assert_eq!(left(does), Left::By(1));
        let does = [Does::Writes("Ada"), Does::Escapes, Does::Picks("Cancel")];
        assert_eq!(left(does), Left::By(2));
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
        ];
        let content = json!({ "name": "Ada", "nick": "countess", "sure": true });
        assert_eq!(left(does), filled(content));
    }

    #[test]
    fn what_was_left_out_is_still_left_out_on_the_way_back() {
        let mut yes = BooleanSchema::new();
        yes.default = Some(true);
        let form = FormSchema::new()
            .optional("mails", yes)
            .required("name", StringSchema::new());
        let mut person = Scripted::new([
            Does::Picks("(leave out)"),
            Does::Escapes,
            Does::Picks("Back"),
            Does::Picks("(leave out)"),
            Does::Writes("Ada"),
        ]);
        let left = fill_in(&mut person, &form, &[("Decline", 1)]).expect("asked");
        assert_eq!(left, filled(json!({ "name": "Ada" })));
        assert_eq!(
            person.shown.matches("from 0").count(),
            2,
            "{}",
            person.shown
        );
        assert_eq!(
            person.shown.matches("from 2").count(),
            1,
            "{}",
            person.shown
        );
    }

    #[test]
    fn nothing_is_agreed_to_by_enter_alone() {
        let asked = ElicitRequestFormParams::new("Sure?", FormSchema::new());
        let mut person = Scripted::new([Does::Picks("Decline")]);
        _ = answer(&mut person, &asked).expect("asked");
        assert!(person.shown.contains("from 2"), "{}", person.shown);
    }

    #[test]
    fn the_message_is_shown_as_the_servers() {
        let asked = ElicitRequestFormParams::new("Sure?\n\u{1b}[2J", FormSchema::new());
        let mut person = Scripted::new([Does::Escapes, Does::Picks("Accept")]);
        _ = answer(&mut person, &asked).expect("asked");
        assert!(person.is_done());
        let shown = person.shown;
        assert!(shown.starts_with("  | Sure?\n  | \\u{1b}[2J\n"), "{shown}");
    }
}
