//! Forms of `antiphon call`: every kind of field, and every way through them and out.

use serde_json::json;

use crate::{
    ERAS, call,
    support::{
        BACKSPACE, DOWN, ENTER, ESC, Host, SPACE, Terminal,
        host::{ask, form},
    },
};

#[test]
fn every_kind_of_field_is_asked_for_in_its_own_way() {
    for era in ERAS {
        let server = Host::open();
        let titled =
            json!([{ "const": "eu", "title": "Europe" }, { "const": "us", "title": "America" }]);
        let fields = [
            (
                "name",
                json!({ "type": "string", "description": "Who you are." }),
            ),
            ("mail", json!({ "type": "string", "format": "email" })),
            ("day", json!({ "type": "string", "format": "date" })),
            (
                "copies",
                json!({ "type": "integer", "minimum": 1, "maximum": 9 }),
            ),
            ("weight", json!({ "type": "number" })),
            ("gift", json!({ "type": "boolean" })),
            (
                "size",
                json!({ "type": "string", "enum": ["small", "large"] }),
            ),
            ("region", json!({ "type": "string", "oneOf": titled })),
            (
                "extras",
                json!({ "type": "array", "minItems": 1, "maxItems": 2,
                "items": { "type": "string", "enum": ["ribbon", "card", "box"] } }),
            ),
            ("note?", json!({ "type": "string", "title": "A note" })),
        ];
        let steps = [ask("order", form("Your order", &fields))];
        let mut terminal = call(&server, &steps, era);
        terminal.wait_for("| Your order");
        terminal.wait_for("? name");
        terminal.wait_for("[Who you are; Esc to leave]");
        terminal.press("Ada");
        terminal.press(ENTER);
        // What does not fit is told, and can be corrected.
        terminal.answer("? mail", "ada");
        terminal.wait_for("! this is not a mail address");
        terminal.answer("? mail ada", "@example.com");
        terminal.answer("? day", "28.7.2026");
        terminal.wait_for("! this is not a date such as 2026-07-28");
        terminal.wait_for("? day 28.7.2026");
        terminal.press(&BACKSPACE.repeat("28.7.2026".len()));
        terminal.press("2026-07-28");
        terminal.press(ENTER);
        terminal.wait_for("? copies");
        terminal.wait_for("[a whole number from 1 to 9; Esc to leave]");
        terminal.press("10");
        terminal.press(ENTER);
        terminal.wait_for("! 10 is greater than the maximum of 9");
        terminal.answer("? copies 10", BACKSPACE);
        terminal.answer("? weight", "heavy");
        terminal.wait_for("! this is not a number");
        terminal.wait_for("? weight heavy");
        terminal.press(&BACKSPACE.repeat("heavy".len()));
        terminal.press("1.50");
        terminal.press(ENTER);
        terminal.answer("? gift", "y");
        terminal.answer("? size", DOWN);
        terminal.answer("? region", "Ame");
        terminal.wait_for("? extras");
        terminal.wait_for("1 to 2 choices; Space to mark");
        terminal.press(ENTER);
        terminal.wait_for("! choose at least 1");
        terminal.wait_for("? extras");
        terminal.press(&format!("{SPACE}{DOWN}{DOWN}{SPACE}"));
        terminal.press(ENTER);
        terminal.answer("? A note (optional)", "");
        terminal.wait_for("Send it?");
        let review = "Your answer:\n    name: Ada\n    mail: ada@example.com\n    day: 2026-07-28\n    \
                      copies: 1\n    weight: 1.5\n    gift: yes\n    size: large\n    \
                      region: America (us)\n    extras: ribbon, box\n    A note: (left out)\n";
        let screen = terminal.screen();
        assert!(screen.contains(review), "{screen}");
        assert!(
            server.answers().is_empty(),
            "nothing is sent before the review"
        );
        terminal.press(ENTER);
        terminal.wait_for("Done.");
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert!(terminal.is_usable());
        let content = json!({ "name": "Ada", "mail": "ada@example.com", "day": "2026-07-28",
            "copies": 1, "weight": 1.5, "gift": true, "size": "large", "region": "us",
            "extras": ["ribbon", "box"] });
        assert_eq!(
            server.answer(),
            json!({ "action": "accept", "content": content })
        );
    }
}

#[test]
fn defaults_are_there_to_be_taken() {
    let server = Host::open();
    let fields = [
        ("name", json!({ "type": "string", "default": "Ada" })),
        ("copies", json!({ "type": "integer", "default": 3 })),
        ("gift", json!({ "type": "boolean", "default": true })),
        (
            "size?",
            json!({ "type": "string", "enum": ["small", "large"], "default": "large" }),
        ),
        (
            "extras",
            json!({ "type": "array", "default": ["card"],
            "items": { "type": "string", "enum": ["ribbon", "card"] } }),
        ),
    ];
    let mut terminal = call(&server, &[ask("order", form("Your order", &fields))], &[]);
    for question in [
        "? name Ada",
        "? copies 3",
        "? gift",
        "? size (optional)",
        "? extras",
    ] {
        terminal.answer(question, "");
    }
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let content = json!({ "name": "Ada", "copies": 3, "gift": true, "size": "large",
        "extras": ["card"] });
    assert_eq!(
        server.answer(),
        json!({ "action": "accept", "content": content })
    );
}

fn two_fields() -> Vec<serde_json::Value> {
    let fields = [
        ("name", json!({ "type": "string" })),
        ("city", json!({ "type": "string" })),
    ];
    vec![ask("who", form("Who are you?", &fields))]
}

#[test]
fn a_field_is_changed_before_the_answer_is_sent() {
    let server = Host::open();
    let mut terminal = call(&server, &two_fields(), &[]);
    terminal.answer("? name", "Adda");
    terminal.answer("? city", "London");
    terminal.answer("Send it?", "Change");
    terminal.answer("Which one?", "name");
    terminal.wait_for("? name Adda");
    terminal.press(&BACKSPACE.repeat(4));
    terminal.press("Ada");
    terminal.press(ENTER);
    terminal.wait_for("name: Ada\r\n");
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let content = json!({ "name": "Ada", "city": "London" });
    assert_eq!(server.answer()["content"], content);
}

/// Whatever is typed between two prompts would stand among what they draw.
#[test]
fn keys_are_not_echoed_from_the_first_field_to_the_review() {
    let server = Host::open();
    let names: Vec<_> = ('a'..='t').map(String::from).collect();
    let boolean = || json!({ "type": "boolean" });
    let fields: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), boolean()))
        .collect();
    let mut terminal = call(&server, &[ask("all", form("All of it?", &fields))], &[]);
    terminal.wait_for("? a");
    let is_echoed = terminal.watch_echo();
    terminal.press("y");
    terminal.press(ENTER);
    for name in &names[1..] {
        terminal.answer(&format!("? {name}"), "y");
    }
    terminal.wait_for("Send it?");
    assert!(!is_echoed());
    terminal.press(ENTER);
    assert_eq!(terminal.wait_for_end(), Some(0));
    assert!(terminal.is_usable());
}

/// Esc, and then one of the ways out; in every field, and in the review.
#[test]
fn declining_and_cancelling_are_near_wherever_one_is() {
    for era in ERAS {
        for (way, action) in [("", "decline"), ("Cancel", "cancel")] {
            for filled in 0..3 {
                let server = Host::open();
                let mut terminal = call(&server, &two_fields(), era);
                for question in ["? name", "? city"].into_iter().take(filled) {
                    terminal.answer(question, "x");
                }
                terminal.wait_for(["? name", "? city", "Send it?"][filled]);
                terminal.press(ESC);
                terminal.answer("Leave?", way);
                assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
                assert!(terminal.is_usable());
                assert_eq!(server.answer(), json!({ "action": action }));
            }
        }
    }
}

#[test]
fn nothing_is_lost_by_who_goes_on_after_all() {
    let server = Host::open();
    let mut terminal = call(&server, &two_fields(), &[]);
    terminal.answer("? name", "Ada");
    terminal.wait_for("? city");
    terminal.press(ESC);
    terminal.wait_for("Leave?");
    terminal.press(ESC);
    terminal.wait_for("? city");
    terminal.press(ESC);
    terminal.answer("Leave?", "Back");
    terminal.answer("? name Ada", " L.");
    terminal.answer("? city", "London");
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0));
    let content = json!({ "name": "Ada L.", "city": "London" });
    assert_eq!(server.answer()["content"], content);
}

fn password(name: &str) -> Vec<serde_json::Value> {
    let fields = [(name, json!({ "type": "string", "title": "Your password" }))];
    vec![ask("login", form("Log in", &fields))]
}

#[test]
fn what_looks_like_a_secret_is_warned_of_and_not_given_by_accident() {
    for era in ERAS {
        let server = Host::open();
        let mut terminal = call(&server, &password("pw"), era);
        terminal.wait_for("! Your password: this looks like a secret.");
        terminal.answer("? Fill it in all the same?", "");
        terminal.answer("Leave?", "");
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert_eq!(server.answer(), json!({ "action": "decline" }));

        let server = Host::open();
        let mut terminal = call(&server, &password("pw"), era);
        terminal.answer("? Fill it in all the same?", "y");
        terminal.answer("? Your password", "hunter2");
        terminal.answer("Send it?", "");
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert_eq!(server.answer()["content"], json!({ "pw": "hunter2" }));

        // What may be left out is left out.
        let server = Host::open();
        let mut terminal = call(&server, &password("pw?"), era);
        terminal.answer("? Fill it in all the same?", "");
        terminal.wait_for("Your password: (left out)");
        terminal.answer("Send it?", "");
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert_eq!(server.answer()["content"], json!({}));
    }
}

#[test]
fn a_form_without_fields_is_agreed_to_on_purpose() {
    for (choice, answer) in [
        ("", json!({ "action": "cancel" })),
        ("Accept", json!({ "action": "accept", "content": {} })),
        ("Decline", json!({ "action": "decline" })),
    ] {
        let server = Host::open();
        let mut terminal: Terminal = call(&server, &[ask("sure", form("Sure?", &[]))], &[]);
        terminal.answer("Your answer", choice);
        assert_eq!(terminal.wait_for_end(), Some(0));
        assert_eq!(server.answer(), answer);
    }
}

/// That one field needs another is not seen in either of them.
#[test]
fn an_answer_that_does_not_fit_as_a_whole_is_asked_for_again() {
    for era in ERAS {
        let server = Host::open();
        let fields = [
            ("train?", json!({ "type": "string" })),
            ("seat?", json!({ "type": "string" })),
        ];
        let mut question = form("How do you travel?", &fields);
        let needs = json!({ "train": ["seat"] });
        question["params"]["requestedSchema"]["dependentRequired"] = needs;
        let mut terminal = call(&server, &[ask("how", question)], era);
        terminal.answer("? train (optional)", "ICE 5");
        terminal.answer("? seat (optional)", "");
        terminal.answer("Send it?", "");
        terminal.wait_for(" asks [");
        terminal.wait_for("\r\n  ! ");
        // What was given is there again.
        terminal.answer("? train (optional) ICE 5", "");
        terminal.answer("? seat (optional)", "61");
        terminal.answer("Send it?", "");
        assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
        let content = json!({ "train": "ICE 5", "seat": "61" });
        assert_eq!(server.answer()["content"], content);
    }
}

#[test]
fn people_may_have_any_name() {
    let server = Host::open();
    let fields = [("name", json!({ "type": "string", "maxLength": 7 }))];
    let mut terminal = call(&server, &[ask("who", form("Who?", &fields))], &[]);
    terminal.answer("? name", "Zoë 日本語");
    terminal.wait_for("name: Zoë 日本語");
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert_eq!(server.answer()["content"], json!({ "name": "Zoë 日本語" }));
}

/// Keys that a prompt does not know are no part of an answer.
#[test]
fn control_characters_are_not_sent() {
    let server = Host::open();
    let fields = [("name", json!({ "type": "string" }))];
    let mut terminal = call(&server, &[ask("who", form("Who?", &fields))], &[]);
    terminal.answer("? name", "Ada\u{15}\u{17}B");
    terminal.answer("Send it?", "");
    assert_eq!(terminal.wait_for_end(), Some(0), "{}", terminal.screen());
    assert_eq!(server.answer()["content"], json!({ "name": "AdaB" }));
}
