//! `antiphon listen`.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::{
    demo::over_stdio,
    room::{Room, Running, until},
    served::{Says, Served, discovered},
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

/// A server that acknowledges, or in its handshake offers, this and no more.
fn telling(acknowledged: Value, capabilities: Value) -> Served {
    Served::script(move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(&json!({ "tools": {} })),
        Some("initialize") => Says::Result(json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": { "name": "scripted", "version": "9" },
        })),
        _ => {
            let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
            let acknowledged = json!({
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": { "notifications": acknowledged, "_meta": meta },
            });
            Says::After(
                vec![acknowledged],
                json!({ "resultType": "complete", "_meta": meta }),
            )
        }
    })
}

#[test]
fn what_a_server_does_not_tell_is_not_waited_for() {
    let room = Room::new();
    let says = "the server tells no changes of ";
    for era in [&[][..], &["--legacy"]] {
        let nothing = telling(json!({}), json!({ "tools": {}, "resources": {} }));
        for (words, what) in [
            (&[][..], "tools, prompts, resources"),
            (&["--tools"], "tools"),
            (&["shop://a", "--prompts"], "prompts, shop://a"),
        ] {
            let words = [&["listen", &nothing.url], words, era].concat();
            room.run(&words).fails(4, &format!("{says}{what}\n"));
        }
    }
    let tools = json!({ "tools": { "listChanged": true } });
    let part = telling(json!({ "toolsListChanged": true }), tools);
    let heard = r#"antiphon: listening for {"toolsListChanged":true}"#;
    let heard = format!("{heard}\nantiphon: {says}prompts, resources\n");
    let ran = room.run(&["listen", &part.url, "--legacy", "--for", "50ms"]);
    assert_eq!(ran.ends(0).err, heard);
    // It ended the subscription, and was listened to until then.
    let ran = room.run(&["listen", &part.url]).ends(4);
    assert!(ran.err.starts_with(&heard), "{}", ran.err);
}

/// As with `| head -1`: the server is left in good order.
#[test]
fn who_has_heard_enough_may_leave() {
    let room = Room::new();
    let server = shop::server(&Stuck::default());
    let served = Served::server(server.clone());
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = room.command(&["listen", &served.url, "--legacy"]);
    let mut running = command.stdout(writer).stderr(Stdio::null()).spawn();
    let running = running.as_mut().expect("antiphon runs");
    // It says nothing of when it listens that could be read here.
    until("it leaves", || {
        server.notify_tools_changed();
        running.try_wait().expect("a child").is_some()
    });
    assert!(running.wait().expect("ended").success());
    assert!(served.heard().iter().any(|heard| heard.verb == "DELETE"));
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
