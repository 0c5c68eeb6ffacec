//! Header values that repeat body values: `Mcp-Name` and the `Mcp-Param-*` family.
//!
//! The value encoding (HDR-C-12 to HDR-C-15), the `x-mcp-header` annotations of a tool's input
//! schema (HDR-S-05 to HDR-S-12), and the comparison of a header with the body it mirrors.

use std::{borrow::Cow, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{
    Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};

/// What a mirrored header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header<'a> {
    /// This transport has no headers.
    None,
    /// The header is missing.
    Absent,
    /// The header's text, as it came.
    Value(&'a str),
    /// The header holds bytes that are not visible ASCII, or stands more than once.
    Malformed,
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// A value as it travels in a header: as it is where that is safe, else in Base64 between
/// markers.
///
/// ```
/// use antiphon_core::mirror::encode;
/// assert_eq!(encode("rotterdam"), "rotterdam");
/// assert_eq!(encode("Malmö"), "=?base64?TWFsbcO2?=");
/// ```
pub fn encode(value: &str) -> Cow<'_, str> {
    let bytes = value.as_bytes();
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let safe = bytes.iter().all(|byte| matches!(byte, 0x20..=0x7e | b'\t'))
        && !blank(bytes.first())
        && !blank(bytes.last())
        && marked(value).is_none();
    if safe {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(bytes)))
    }
}

/// The value a header carries.
///
/// # Errors
/// Marked text that is not canonical Base64 of UTF-8 (HDR-S-23).
pub fn decode(header: &str) -> Result<Cow<'_, str>, Undecodable> {
    let header = header.trim_matches([' ', '\t']);
    match marked(header) {
        None => Ok(Cow::Borrowed(header)),
        Some(inner) => STANDARD
            .decode(inner)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(Cow::Owned)
            .ok_or(Undecodable),
    }
}

fn marked(text: &str) -> Option<&str> {
    text.strip_prefix(OPEN)?.strip_suffix(CLOSE)
}

/// A header value marked as Base64 that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undecodable;

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value between =?base64? and ?= is not Base64 of UTF-8 text")
    }
}

impl std::error::Error for Undecodable {}

/// The annotated parameters of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeaderParams(Vec<HeaderParam>);

/// One parameter that travels in a header as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParam {
    /// The property names from the root of the arguments to the value.
    pub path: Vec<String>,
    /// The header's name in full, `Mcp-Param-` included, in lower case.
    pub header: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    String,
    Integer,
    Boolean,
}

/// An `x-mcp-header` annotation that breaks a rule, which spoils the whole tool (HDR-S-12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidAnnotation(String);

impl fmt::Display for InvalidAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidAnnotation {}

const ANNOTATION: &str = "x-mcp-header";

/// Most parameters of one tool that can be mirrored: HTTP servers take about that many headers.
const MOST: usize = 100;

impl HeaderParams {
    /// Reads the annotations of an input schema.
    ///
    /// # Errors
    /// The first annotation that is misplaced, misspelt, of a type that cannot be mirrored, or
    /// a repetition of another.
    pub fn of(schema: &Map<String, Value>) -> Result<Self, InvalidAnnotation> {
        let mut found = Self::default();
        if schema.contains_key(ANNOTATION) {
            return Err(InvalidAnnotation(format!(
                "{ANNOTATION} on the schema's root"
            )));
        }
        found.walk(schema, &mut Vec::new())?;
        Ok(found)
    }

    /// Whether no parameter is annotated.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The annotated parameters.
    pub fn iter(&self) -> impl Iterator<Item = &HeaderParam> {
        self.0.iter()
    }

    /// Follows `properties` and refuses annotations anywhere else.
    fn walk(
        &mut self,
        schema: &Map<String, Value>,
        path: &mut Vec<String>,
    ) -> Result<(), InvalidAnnotation> {
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        let Value::Object(property) = property else {
                            continue;
                        };
                        path.push(name.clone());
                        if let Some(annotation) = property.get(ANNOTATION) {
                            self.add(annotation, property, path)?;
                        }
                        self.walk(property, path)?;
                        path.pop();
                    }
                }
                (ANNOTATION, _) => {}
                // A literal is data, not a schema.
                ("const" | "default" | "enum" | "examples", _) => {}
                _ if annotated(value) => {
                    return Err(InvalidAnnotation(format!(
                        "{ANNOTATION} below `{keyword}` at {}: only properties can be mirrored",
                        place(path)
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        annotation: &Value,
        property: &Map<String, Value>,
        path: &[String],
    ) -> Result<(), InvalidAnnotation> {
        let refuse = |why: &str| {
            Err(InvalidAnnotation(format!(
                "{ANNOTATION} at {}: {why}",
                place(path)
            )))
        };
        let Some(name) = annotation.as_str() else {
            return refuse("the value must be a string");
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            return refuse("the value must be one or more RFC 9110 token characters");
        }
        let kind = match property.get("type").and_then(Value::as_str) {
            Some("string") => Kind::String,
            Some("integer") => Kind::Integer,
            Some("boolean") => Kind::Boolean,
            _ => return refuse("only a string, integer or boolean parameter can be mirrored"),
        };
        if self.0.len() == MOST {
            return refuse(&format!("more than {MOST} parameters cannot be mirrored"));
        }
        let header = format!("mcp-param-{}", name.to_ascii_lowercase());
        if self.0.iter().any(|other| other.header == header) {
            return refuse("another parameter has the same header name");
        }
        self.0.push(HeaderParam {
            path: path.to_vec(),
            header,
            kind,
        });
        Ok(())
    }

    /// Compares the headers with the arguments they mirror (HDR-S-14 to HDR-S-17).
    ///
    /// # Errors
    /// A sentence that names the header at fault.
    pub fn check<'h>(
        &self,
        arguments: Option<&RawValue>,
        header: impl Fn(&str) -> Header<'h>,
    ) -> Result<(), String> {
        for param in &self.0 {
            let value = match arguments {
                Some(arguments) => param.value(arguments)?,
                None => None,
            };
            param.check(value, header(&param.header))?;
        }
        Ok(())
    }
}

impl HeaderParam {
    /// The value these arguments give the parameter; `null` counts as none (HDR-C-19).
    ///
    /// Only the way to the value is read: what stands beside it cannot hide it.
    ///
    /// # Errors
    /// When the way cannot be read, or leads to two values.
    pub fn value<'v>(&self, arguments: &'v RawValue) -> Result<Option<&'v RawValue>, String> {
        let mut value = arguments;
        for name in &self.path {
            match member(value, name) {
                Ok(Some(found)) => value = found,
                Ok(None) => return Ok(None),
                Err(error) => return Err(format!("{}: {error}", self.header)),
            }
        }
        Ok(Some(value).filter(|value| value.get() != "null"))
    }

    fn check(&self, value: Option<&RawValue>, header: Header<'_>) -> Result<(), String> {
        let name = &self.header;
        let text = match header {
            Header::None => return Ok(()),
            Header::Malformed => return Err(format!("{name} holds characters a header must not")),
            Header::Absent => None,
            Header::Value(text) => {
                Some(decode(text).map_err(|undecodable| format!("{name}: {undecodable}"))?)
            }
        };
        match (value, text) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!(
                "{name} is there but the argument it mirrors is not"
            )),
            (Some(_), None) => Err(format!("{name} is missing")),
            (Some(value), Some(text)) if self.equals(value, &text) => Ok(()),
            (Some(_), Some(_)) => Err(format!("{name} differs from the argument it mirrors")),
        }
    }

    fn equals(&self, value: &RawValue, text: &str) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(value.get()) else {
            return false;
        };
        match (self.kind, &value) {
            (_, Value::String(value)) => value == text,
            (_, Value::Bool(value)) => text == if *value { "true" } else { "false" },
            // It may be of a type the schema forbids: validation will say so, if the header is
            // honest.
            (kind, Value::Number(number)) => {
                let number = number.to_string();
                // HDR-S-21: 42.0 is 42.
                let same = || integer(text).is_some_and(|text| integer(&number) == Some(text));
                number == text || (kind == Kind::Integer && same())
            }
            _ => false,
        }
    }
}

/// The value of one member of an object; none if it is no object.
fn member<'v>(object: &'v RawValue, name: &str) -> serde_json::Result<Option<&'v RawValue>> {
    struct Member<'n>(&'n str);
    impl<'de> Visitor<'de> for Member<'_> {
        type Value = Option<&'de RawValue>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                let value = map.next_value()?;
                if key == self.0 && found.replace(value).is_some() {
                    return Err(A::Error::custom(format!("`{key}` stands twice")));
                }
            }
            Ok(found)
        }
    }
    if !object.get().starts_with('{') {
        return Ok(None);
    }
    serde_json::Deserializer::from_str(object.get()).deserialize_map(Member(name))
}

/// An integer in decimal, also when spelt with a fraction of zeros or an exponent.
fn integer(text: &str) -> Option<i128> {
    if let Ok(exact) = text.parse() {
        return Some(exact);
    }
    let real: f64 = text.parse().ok()?;
    (real.fract() == 0.0 && real.abs() < 9_007_199_254_740_992.0).then_some(real as i128)
}

fn annotated(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key(ANNOTATION) || map.values().any(annotated),
        Value::Array(items) => items.iter().any(annotated),
        _ => false,
    }
}

fn place(path: &[String]) -> String {
    if path.is_empty() {
        "the root".to_owned()
    } else {
        format!("`{}`", path.join("."))
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(schema: &Value) -> Result<HeaderParams, InvalidAnnotation> {
        HeaderParams::of(schema.as_object().expect("an object"))
    }

    /// HDR-C-12 to HDR-C-15, HDR-B-01; the table of wire.md 6.2.
    #[test]
    fn values_are_encoded_only_where_they_must_be() {
        for (value, header) in [
            ("rotterdam", "rotterdam"),
            ("Malmö", "=?base64?TWFsbcO2?="),
            (" x", "=?base64?IHg=?="),
            ("x\t", "=?base64?eAk=?="),
            ("a b", "a b"),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
            ("=?BASE64?eA==?=", "=?BASE64?eA==?="),
            ("a\nb", "=?base64?YQpi?="),
            ("", ""),
        ] {
            assert_eq!(encode(value), header);
            assert_eq!(decode(header).as_deref(), Ok(value));
        }
    }

    /// HDR-S-23: one spelling, strictly.
    #[test]
    fn bad_base64_is_refused() {
        for header in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(decode(header), Err(Undecodable), "{header}");
        }
        assert_eq!(
            decode("=?base64?SGVsbG8=").as_deref(),
            Ok("=?base64?SGVsbG8=")
        );
        assert_eq!(decode("  padded\t").as_deref(), Ok("padded"));
    }

    proptest::proptest! {
        #[test]
        fn every_value_survives_the_trip(value in ".*") {
            let header = encode(&value).into_owned();
            proptest::prop_assert!(header.bytes().all(|b| matches!(b, 0x20..=0x7e | b'\t')));
            proptest::prop_assert_eq!(decode(&header).expect("decodes"), value);
        }
    }

    #[test]
    fn no_tool_has_more_headers_than_a_request() {
        let many = |count: usize| {
            let property = |at| json!({ "type": "string", "x-mcp-header": format!("A{at}") });
            let properties: Map<_, _> = (0..count)
                .map(|at| (at.to_string(), property(at)))
                .collect();
            params(&json!({ "properties": properties }))
        };
        assert_eq!(many(MOST).expect("a request's worth").iter().count(), MOST);
        assert!(many(MOST + 1).is_err());
        assert!(many(100_000).is_err());
    }

    /// HDR-S-05 to HDR-S-12.
    #[test]
    fn annotations_are_found_or_refused() {
        let good = params(&json!({"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "literal":{"const":{"x-mcp-header":"data"}}}}))
        .expect("valid");
        let headers: Vec<&str> = good.iter().map(|param| param.header.as_str()).collect();
        assert_eq!(headers, ["mcp-param-region", "mcp-param-n"]);
        assert_eq!(good.0[1].path, ["deep", "n"]);
        let string = json!({"type":"string","x-mcp-header":"A"});
        for bad in [
            json!({"x-mcp-header":"A"}),
            json!({"properties":{"a":{"type":"string","x-mcp-header":""}}}),
            json!({"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}),
            json!({"properties":{"a":{"type":"string","x-mcp-header":"a\r\n"}}}),
            json!({"properties":{"a":{"type":"string","x-mcp-header":7}}}),
            json!({"properties":{"a":{"type":"number","x-mcp-header":"A"}}}),
            json!({"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}),
            json!({"properties":{"a":{"type":"object","x-mcp-header":"A"}}}),
            json!({"properties":{"a":string,"b":{"type":"string","x-mcp-header":"a"}}}),
            json!({"properties":{"a":{"type":"array","items":string}}}),
            json!({"allOf":[{"properties":{"a":string}}]}),
            json!({"if":{"properties":{"a":string}}}),
            json!({"$defs":{"a":string}}),
            json!({"additionalProperties":string}),
        ] {
            assert!(params(&bad).is_err(), "{bad}");
        }
    }

    /// HDR-S-13 to HDR-S-17, HDR-S-21.
    #[test]
    fn headers_must_say_what_the_body_says() {
        let params = params(&json!({"properties":{
            "s":{"type":"string","x-mcp-header":"S"},
            "i":{"type":"integer","x-mcp-header":"I"},
            "b":{"type":"boolean","x-mcp-header":"B"}}}))
        .expect("valid");
        let verdict = |arguments: &str, headers: &[(&str, &'static str)]| {
            let raw = RawValue::from_string(arguments.to_owned()).expect("JSON");
            params
                .check(Some(&raw), |name| {
                    headers
                        .iter()
                        .find(|(n, _)| *n == name)
                        .map_or(Header::Absent, |(_, value)| Header::Value(value))
                })
                .is_ok()
        };
        let s = "mcp-param-s";
        assert!(verdict("{}", &[]));
        assert!(verdict(r#"{"s":null}"#, &[]));
        assert!(verdict(r#"{"s":"Hello"}"#, &[(s, "=?base64?SGVsbG8=?=")]));
        assert!(verdict(r#"{"s":"SGVsbG8="}"#, &[(s, "SGVsbG8=")]));
        assert!(!verdict(r#"{"s":"Hello"}"#, &[]));
        assert!(!verdict(r#"{"s":"Hello"}"#, &[(s, "hello")]));
        assert!(!verdict("{}", &[(s, "x")]));
        assert!(!verdict(r#"{"s":"Hello"}"#, &[(s, "=?base64?SGVsbG8?=")]));
        // What stands beside a value does not hide it, and two values are none.
        for beside in [r#""x":1e400"#, r#""x":"\ud800""#, r#""x":{"deep":[1]}"#] {
            let arguments = format!(r#"{{"s":"Hello",{beside}}}"#);
            assert!(!verdict(&arguments, &[]), "{arguments}");
            assert!(verdict(&arguments, &[(s, "Hello")]), "{arguments}");
        }
        assert!(!verdict(r#"{"s":"a","s":"b"}"#, &[(s, "b")]));
        assert!(!verdict(r#"{"s":"a","\u0073":"b"}"#, &[(s, "a")]));
        assert!(verdict("[1]", &[]));
        for (body, header, same) in [
            ("42", "42", true),
            ("42", "42.0", true),
            ("42.0", "42", true),
            ("-7", "-7", true),
            ("42", "43", false),
            ("9007199254740993", "9007199254740992", false),
            ("42", "x", false),
            // No integer, so for validation to refuse; the header is honest.
            ("42.5", "42.5", true),
            ("42.5", "42", false),
        ] {
            let arguments = format!(r#"{{"i":{body}}}"#);
            assert_eq!(
                verdict(&arguments, &[("mcp-param-i", header)]),
                same,
                "{body} {header}"
            );
        }
        assert!(verdict(r#"{"b":true}"#, &[("mcp-param-b", "true")]));
        assert!(!verdict(r#"{"b":true}"#, &[("mcp-param-b", "TRUE")]));
    }
}
