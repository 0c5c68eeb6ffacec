//! Names that are nearly right: of tools, prompts and arguments.

use serde_json::{Value, json};

use crate::{
    room::Room,
    served::{Says, Served, discovered},
    shop,
};

/// A server with one tool whose schema takes more than it names, and that says in a result that
/// it has no others.
fn lenient() -> Served {
    Served::script(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(&json!({ "tools": {} })),
        Some("tools/list") => Says::Result(json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "tools": [{ "name": "order", "inputSchema": { "type": "object", "properties": {
                "title": { "type": "string" }, "opts": { "type": "object" },
            } } }],
        })),
        _ => {
            let is_known = message["params"]["name"] == "order";
            let text = message["params"]["arguments"].to_string();
            Says::Result(json!({
                "resultType": "complete", "isError": !is_known,
                "content": [{ "type": "text", "text": text }],
            }))
        }
    })
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let (room, shop) = (Room::new(), shop::open());
    for (words, last) in [
        (
            &["call", &shop.url, "ordr"][..],
            "The server has no tool ordr. Did you mean order?",
        ),
        (
            &["call", &shop.url, "ordr", "title=Dune"],
            "The server has no tool ordr. Did you mean order?",
        ),
        (
            &["call", &shop.url, "frobnicate"],
            "The server has no tool frobnicate. It has: order, fail, picture, busy, stuck",
        ),
        (
            &["prompt", &shop.url, "reviev"],
            "The server has no prompt reviev. Did you mean review?",
        ),
        (
            &["prompt", &shop.url, "x", "title=Dune"],
            "The server has no prompt x. It has: review",
        ),
    ] {
        let ran = room.run(words).fails(4, last);
        ran.ends_with(4, last);
    }
    // A tool that is there, and failed, has said all there is to say.
    let listed = shop.count("tools/list");
    let ran = room.run(&["call", &shop.url, "fail"]).ends(1);
    assert_eq!(ran.err, "");
    assert_eq!(shop.count("tools/list"), listed + 1);
}

#[test]
fn a_result_may_say_that_there_is_no_such_tool() {
    let (room, served) = (Room::new(), lenient());
    let ran = room.run(&["call", &served.url, "ordr"]);
    let says = "antiphon: The server has no tool ordr. Did you mean order?";
    ran.ends_with(1, says);
}

#[test]
fn a_misspelt_argument_is_refused_or_doubted() {
    let (room, served) = (Room::new(), lenient());
    let words = ["call", &served.url, "order", "titel=Dune", "opts.l.m=z"];
    let ran = room.run(&words).ends(0);
    let sent: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        sent,
        json!({ "titel": "Dune", "opts": { "l": { "m": "z" } } })
    );
    assert!(ran.err.contains("`titel` is sent"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `title`?"), "{}", ran.err);

    let shop = shop::open();
    let words = ["prompt", &shop.url, "review", "title=Dune", "tonne=plain"];
    let ran = room.run(&words);
    assert!(ran.err.contains("did you mean `tone`?"), "{ran:?}");
}

#[test]
fn a_word_without_a_value_is_told_with_what_there_is() {
    let (room, shop) = (Room::new(), shop::open());
    let words = ["call", &shop.url, "order", "n"];
    let ran = room.run(&words).fails(2, "`n` has no value: write n=…");
    ran.ends_with(2, "It takes: title, copies, gift, tags, price");
    let words = ["prompt", &shop.url, "review", "title"];
    let ran = room.run(&words).fails(2, "`title` has no value");
    ran.ends_with(2, "It takes: title, tone");
    let words = ["call", &shop.url, "busy", "now"];
    room.run(&words).ends_with(2, "It takes no arguments");
    assert_eq!(shop.count("tools/call"), 0);
}
