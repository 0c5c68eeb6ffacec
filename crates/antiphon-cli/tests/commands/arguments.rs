//! Arguments: typed by the tool's schema, or as JSON.

use serde_json::{Value, json};

use crate::{room::Room, shop};

#[test]
fn arguments_are_typed_by_the_schema() {
    let (room, shop) = (Room::new(), shop::open());
    room.write("order.json", r#"{"title":"Emma","copies":2}"#);
    let order = |title: &str, copies: u32, gift: bool, tags: Value, price: Value| json!({ "title": title, "copies": copies, "gift": gift, "tags": tags, "price": price });
    for (words, input, expected) in [
        (
            vec!["title=1984", "copies=3", "gift=true", "price=9.5"],
            "",
            order("1984", 3, true, json!([]), json!(9.5)),
        ),
        (
            vec!["title=a=b", "copies:=4", r#"tags:=["x","y"]"#],
            "",
            order("a=b", 4, false, json!(["x", "y"]), Value::Null),
        ),
        (
            vec!["--args", r#"{"title":"Dune","copies":1}"#, "gift=false"],
            "",
            order("Dune", 1, false, json!([]), Value::Null),
        ),
        (
            vec!["--args", "@order.json", "copies=5"],
            "",
            order("Emma", 5, false, json!([]), Value::Null),
        ),
        (
            vec!["--args", "@-"],
            r#"{"title":"Ulysses","copies":1,"tags":["z"]}"#,
            order("Ulysses", 1, false, json!(["z"]), Value::Null),
        ),
    ] {
        let command = [&["call", &shop.url, "order", "--json"], &words[..]].concat();
        let ran = room.run_from(input, &command).ends(0);
        assert_eq!(ran.json()["structuredContent"], expected, "{words:?}");
        let heard = shop.messages();
        let sent = heard.last().expect("a call");
        assert_eq!(sent["params"]["name"], "order");
    }
}

#[test]
fn arguments_that_do_not_fit_are_not_sent() {
    let (room, shop) = (Room::new(), shop::open());
    room.write("list.json", "[1]");
    room.write("broken.json", "{\"title\": ");
    for (words, says) in [
        (vec!["title=Dune", "copies=many"], "copies"),
        (vec!["title=Dune", "copies=1", "gift=maybe"], "gift"),
        (vec!["title=Dune", "copies:={"], "copies"),
        (vec!["title"], "title"),
        (vec!["title=Dune", "title=Emma"], "title"),
        (vec!["--args", "[1]"], "--args"),
        (vec!["--args", "@list.json"], "list.json"),
        (vec!["--args", "@broken.json"], "broken.json"),
        (vec!["--args", "@absent.json"], "absent.json"),
        (vec!["--args", "@-"], "--args"),
        (vec!["--args", "nothing"], "--args"),
    ] {
        let command = [&["call", &shop.url, "order"], &words[..]].concat();
        room.run(&command).fails(2, says);
    }
    assert_eq!(shop.count("tools/call"), 0);
    assert_eq!(room.files(), ["broken.json", "list.json"]);
}

#[test]
fn what_the_server_refuses_is_told_by_it() {
    let (room, shop) = (Room::new(), shop::open());
    // The schema says what is missing; the server is the judge of it.
    let ran = room.run(&["call", &shop.url, "order", "title=Dune"]);
    let ran = ran.ends(1);
    assert!(ran.out.contains("copies"), "{ran:?}");
    room.run(&["call", &shop.url, "none"]).fails(4, "none");
    room.run(&["prompt", &shop.url, "none"]).fails(4, "none");
    room.run(&["read", &shop.url, "shop://none"])
        .fails(4, "shop://none");
}
