//! `antiphon listen`.

use serde_json::{Value, json};

use crate::{
    demo::over_stdio,
    room::{Room, Running, until},
    served::Served,
    shop::{self, Stuck},
};

/// Listens with these words until the server has changed something; what was printed.
fn heard(era: &[&str], words: &[&str], change: impl Fn(&antiphon::Server)) -> String {
    let room = Room::new();
    let server = shop::server(&Stuck::default());
    let served = Served::server(server.clone());
    let words = [&["listen", &served.url], words, era].concat();
    let running = Running::start(&mut room.command(&words));
    until("it listens", || running.told().contains("listening for"));
    change(&server);
    let ran = running.wait().ends(0);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    ran.out
}

#[test]
fn changes_are_told_until_there_were_enough() {
    for era in [&[][..], &["--legacy"]] {
        let tools = heard(era, &["--count", "1"], |server| {
            server.notify_tools_changed()
        });
        assert_eq!(tools, "tools\n", "{era:?}");
        let json = heard(era, &["--prompts", "--json", "--count", "1"], |server| {
            server.notify_prompts_changed();
        });
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json, json!({ "change": "prompts" }));
        let resource = heard(era, &["shop://about", "--count=1"], |server| {
            server.notify_resource_updated("shop://about");
        });
        assert_eq!(resource, "resource shop://about\n", "{era:?}");
        let json = heard(era, &["shop://about", "--count=1", "--json"], |server| {
            server.notify_resource_updated("shop://about");
        });
        let json: Value = serde_json::from_str(&json).expect("JSON");
        let expected = json!({ "change": "resource", "uri": "shop://about" });
        assert_eq!(json, expected);
    }
}

#[test]
fn a_tool_that_is_taken_away_is_a_change() {
    let printed = heard(&[], &["--tools", "--count", "2"], |server| {
        assert!(server.remove_tool("fail"));
        // Changes at one moment may be told as one.
        let server = server.clone();
        std::thread::spawn(move || {
            for _ in 0..200 {
                std::thread::sleep(std::time::Duration::from_millis(5));
                server.notify_tools_changed();
            }
        });
    });
    assert_eq!(printed, "tools\ntools\n");
}

#[test]
fn listening_ends_in_time() {
    let room = Room::new();
    for words in [
        &["--for", "50ms"][..],
        &["--for=50ms", "--json", "--legacy"],
    ] {
        let words = over_stdio(&[&["listen"], words].concat());
        let ran = room.run(&words).ends(0);
        assert_eq!(ran.out, "");
        assert!(
            ran.err.starts_with("antiphon: listening for {"),
            "{}",
            ran.err
        );
    }
    room.run(&over_stdio(&["listen", "--for", "soon"])).ends(2);
    room.run(&over_stdio(&["listen", "--count", "some"]))
        .ends(2);
}

#[test]
fn a_time_that_never_comes_is_no_trouble() {
    let room = Room::new();
    let shop = shop::open();
    let words = [
        "listen",
        &shop.url,
        "--count",
        "0",
        "--for",
        "500000000000y",
    ];
    room.run(&words).done();
}
