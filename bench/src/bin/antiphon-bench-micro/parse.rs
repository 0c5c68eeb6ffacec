//! Reading a message, as every one is read first.

use std::hint::black_box;

use antiphon_core::envelope::{Message, Shape};

use crate::{messages, meter::Meter, nested::arguments};

/// A short call.
pub(crate) fn echo(meter: &mut Meter) {
    parse(meter, &messages::call("echo", &messages::echo_arguments()));
}

/// A call that comes back with answers and a state.
pub(crate) fn retry(meter: &mut Meter) {
    parse(meter, &messages::retry(&"s".repeat(400)));
}

/// A call with 10 KB of nested arguments.
pub(crate) fn nested(meter: &mut Meter) {
    parse(meter, &messages::call("order", &arguments()));
}

fn parse(meter: &mut Meter, text: &str) {
    let whole: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let params = &whole["params"];
    let message = Message::parse(text).expect("a message");
    assert_eq!(message.params.name.as_str(), params["name"].as_str());
    let state = params["requestState"].as_str();
    assert_eq!(message.params.request_state.as_str(), state);
    let arguments = message.params.arguments.expect("arguments").get();
    let arguments: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
    assert_eq!(arguments, params["arguments"]);

    meter.repeat(|meter| {
        let shape = meter.count(|| {
            let message = black_box(Message::parse(black_box(text)));
            message.expect("a message").shape()
        });
        assert_eq!(shape, Shape::Request);
    });
}
