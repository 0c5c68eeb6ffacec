//! Errors, with codes that a revision knows.

use antiphon_types::Version::{self, V2025_11_25};
use antiphon_types::{ErrorObject, code};
use serde_json::Value;

/// Makes an error one of an older revision.
///
/// A resource that is not there gets the code it had (SHIM-S-11, LFEAT-S-04). The codes of the
/// modern era never leave (LEG-S-06), nor do others that are reserved: they become internal
/// errors whose text says the same. That links must be opened first can only be said to a
/// 2025-11-25 client, and only with the links (LFEAT-S-08).
#[must_use]
pub fn error(mut error: ErrorObject, method: &str, version: Version) -> ErrorObject {
    match error.code {
        code::INVALID_PARAMS if method.starts_with("resources/") && names_resource(&error) => {
            error.code = code::RESOURCE_NOT_FOUND;
            error
        }
        code::RESOURCE_NOT_FOUND => error,
        code::URL_ELICITATION_REQUIRED if version == V2025_11_25 && has_links(&error) => error,
        code::MISSING_CLIENT_CAPABILITY => ErrorObject::internal(lacking(error)),
        code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION | code::URL_ELICITATION_REQUIRED => {
            ErrorObject::internal(error.message)
        }
        -32099..=-32000 => {
            error.code = code::INTERNAL_ERROR;
            error
        }
        _ => error,
    }
}

/// Whether the error has the details of [`ErrorObject::resource_not_found`].
fn names_resource(error: &ErrorObject) -> bool {
    let data = error.data.as_ref();
    data.is_some_and(|data| data.get("uri").is_some_and(Value::is_string))
}

/// Whether the error says which links to open, each under an id.
fn has_links(error: &ErrorObject) -> bool {
    let links = error
        .data
        .as_ref()
        .and_then(|data| data.get("elicitations"));
    let Some(links) = links.and_then(Value::as_array) else {
        return false;
    };
    let whole = |link: &Value| {
        let text = |name: &str| link.get(name).is_some_and(Value::is_string);
        link.get("mode").is_some_and(|mode| mode == "url")
            && ["message", "url", "elicitationId"].into_iter().all(text)
    };
    !links.is_empty() && links.iter().all(whole)
}

/// In words, what the client would have to declare.
fn lacking(error: ErrorObject) -> String {
    let mut names = Vec::new();
    let data = error.data.as_ref();
    if let Some(required) = data.and_then(|data| data.get("requiredCapabilities")) {
        for (name, capability) in required.as_object().into_iter().flatten() {
            match capability.as_object() {
                Some(parts) if !parts.is_empty() => {
                    names.extend(parts.keys().map(|part| format!("{name}.{part}")));
                }
                _ => names.push(name.clone()),
            }
        }
    }
    match names.is_empty() {
        true => error.message,
        false => format!("{}: {}", error.message, names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use antiphon_types::{
        ClientCapabilities, ElicitRequestUrlParams, ElicitationCapability, SamplingCapability,
        UrlElicitationRequiredData,
    };
    use serde_json::json;

    use super::*;

    /// SHIM-S-11, LFEAT-S-04
    #[test]
    fn a_missing_resource_has_its_old_code() {
        for version in Version::LEGACY {
            let gone = ErrorObject::resource_not_found("tide://atlantis");
            let told = error(gone.clone(), "resources/read", *version);
            assert_eq!(told.code, -32002);
            assert_eq!(
                (told.message, &told.data),
                (gone.message.clone(), &gone.data)
            );
            // What a handler says in old words needs no change.
            let old = ErrorObject::new(-32002, "Gone");
            assert_eq!(error(old.clone(), "resources/read", *version), old);
            // Elsewhere it is an argument that does not fit.
            assert_eq!(error(gone.clone(), "tools/call", *version), gone);
            let wrong = ErrorObject::invalid_params("Not a URI");
            assert_eq!(error(wrong.clone(), "resources/read", *version), wrong);
        }
    }

    /// LEG-S-06
    #[test]
    fn modern_codes_do_not_leave() {
        let required = ClientCapabilities::new()
            .elicitation(ElicitationCapability::new().form().url())
            .sampling(SamplingCapability::new());
        for (modern, text) in [
            (
                ErrorObject::header_mismatch("Mcp-Name differs"),
                "Mcp-Name differs",
            ),
            (
                ErrorObject::missing_capabilities(required),
                "The client lacks a required capability: elicitation.form, elicitation.url, sampling",
            ),
            (
                ErrorObject::new(-32021, "No").with_data(json!({"requiredCapabilities": 7})),
                "No",
            ),
            (
                ErrorObject::unsupported_version("v9", Version::MODERN),
                "Protocol version not supported: v9",
            ),
            (ErrorObject::new(-32042, "Sign in"), "Sign in"),
            (ErrorObject::new(-32050, "Tide"), "Tide"),
        ] {
            for version in Version::LEGACY {
                let told = error(modern.clone(), "tools/call", *version);
                assert_eq!(told, ErrorObject::internal(text));
            }
        }
    }

    #[test]
    fn all_other_codes_are_the_handlers_own() {
        for code in [
            -32700, -32600, -32601, -32602, -32603, -32100, -31999, -1, 0, 7,
        ] {
            let own = ErrorObject::new(code, "m").with_data(json!([1]));
            assert_eq!(error(own.clone(), "tools/call", V2025_11_25), own);
        }
    }

    /// LFEAT-S-08
    #[test]
    fn links_are_required_only_where_that_can_be_said() {
        let link = ElicitRequestUrlParams::new("Sign in", "https://harbor.example/");
        let links = |links: Vec<ElicitRequestUrlParams>| {
            let data = json!(UrlElicitationRequiredData::new(links));
            ErrorObject::new(-32042, "Sign in first").with_data(data)
        };
        let known = link.clone().elicitation_id("e-1");
        let whole = links(vec![known.clone(), known.clone()]);
        for version in Version::LEGACY {
            let told = error(whole.clone(), "tools/call", *version);
            match *version == V2025_11_25 {
                true => assert_eq!(told, whole),
                false => assert_eq!(told, ErrorObject::internal("Sign in first")),
            }
        }
        let form = json!({"elicitations": [{"mode": "form", "message": "m", "url": "u", "elicitationId": "e"}]});
        for broken in [
            links(Vec::new()),
            links(vec![known, link]),
            ErrorObject::new(-32042, "Sign in first").with_data(json!({"elicitations": {}})),
            ErrorObject::new(-32042, "Sign in first").with_data(form),
        ] {
            let told = error(broken, "tools/call", V2025_11_25);
            assert_eq!(told, ErrorObject::internal("Sign in first"));
        }
    }
}
