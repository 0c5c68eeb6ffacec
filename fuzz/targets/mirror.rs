//! Header values: any text survives the trip, an honest header passes, a changed one does not.
#![no_main]

use antiphon_core::mirror::{Header, HeaderParams, decode, encode};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, value::RawValue};

fuzz_target!(|text: &str| {
    let header = encode(text);
    assert!(
        header
            .bytes()
            .all(|byte| matches!(byte, 0x20..=0x7e | b'\t'))
    );
    assert_eq!(decode(&header).as_deref(), Ok(text));
    if let Ok(value) = decode(text) {
        assert_eq!(decode(&encode(&value)).as_deref(), Ok(&*value));
    }
    // `[schema, arguments]`
    if let Ok((Value::Object(schema), arguments)) = serde_json::from_str(text)
        && let Ok(params) = HeaderParams::of(&schema)
    {
        check(&params, arguments);
    }
});

fn check(params: &HeaderParams, arguments: &RawValue) {
    let mut headers = Vec::new();
    for param in params.iter() {
        let name = &*param.header;
        assert!(name.starts_with("mcp-param-") && headers.iter().all(|(other, _)| *other != name));
        let Ok(value) = param.value(arguments) else {
            // Ambiguous: no header can be right.
            assert!(verdict(params, arguments, &headers).is_err());
            return;
        };
        match value.map(|raw| serde_json::from_str(raw.get())) {
            None => {}
            Some(Ok(Value::String(text))) => headers.push((name, encode(&text).into_owned())),
            Some(Ok(Value::Array(_) | Value::Object(_)) | Err(_)) => return,
            Some(Ok(scalar)) => headers.push((name, scalar.to_string())),
        }
    }
    assert_eq!(verdict(params, arguments, &headers), Ok(()));
    assert_eq!(params.check(Some(arguments), |_| Header::None), Ok(()));
    for at in 0..headers.len() {
        let mut changed = headers.clone();
        changed[at].1.push('x');
        assert!(verdict(params, arguments, &changed).is_err(), "{changed:?}");
        changed.remove(at);
        assert!(verdict(params, arguments, &changed).is_err(), "{changed:?}");
    }
}

fn verdict(
    params: &HeaderParams,
    arguments: &RawValue,
    headers: &[(&str, String)],
) -> Result<(), String> {
    params.check(Some(arguments), |name| {
        let header = headers.iter().find(|(other, _)| *other == name);
        header.map_or(Header::Absent, |(_, text)| Header::Value(text))
    })
}
