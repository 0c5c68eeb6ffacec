//! Questions as requests to an older client, and its answers as those to modern questions.

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18, V2025_11_25};
use antiphon_types::{
    CreateMessageRequestParams, ElicitRequestFormParams, ElicitRequestParams,
    ElicitRequestUrlParams, InputRequest, SamplingContent, SamplingMessage,
};
use serde::Serialize;
use serde_json::{Map, Value, json, to_value};

use super::{content, members, tool};

type Object = Map<String, Value>;

/// A question as a request to an older client: its method and its params (SHIM-S-01, SHIM-S-02,
/// SHIM-S-04).
///
/// A link is asked for under `elicitation_id`, which the notice of its completion will repeat. A
/// message of several blocks, before a revision has those, becomes several messages.
///
/// # Errors
/// In words, if the revision cannot be asked this at all.
pub fn question(
    request: &InputRequest,
    version: Version,
    elicitation_id: Option<&str>,
) -> Result<(&'static str, Value), String> {
    let (method, mut params) = match request {
        InputRequest::Elicit(ElicitRequestParams::Form(params)) => {
            ("elicitation/create", form(params, version)?)
        }
        InputRequest::Elicit(ElicitRequestParams::Url(params)) => {
            ("elicitation/create", url(params, version, elicitation_id)?)
        }
        InputRequest::Sample(params) => ("sampling/createMessage", sample(params, version)?),
        InputRequest::Roots(None) => ("roots/list", Object::new()),
        InputRequest::Roots(Some(params)) => ("roots/list", object(params)?),
        other => return Err(cannot(version, &format!("`{}`", other.method()))),
    };
    members::strip_meta(&mut params, version);
    Ok((method, Value::Object(params)))
}

/// The params of a form that a revision knows just as it is, so that [`question`] would leave it
/// so. Most are such forms, and then need not be looked at as JSON.
#[must_use]
pub fn plain_form(request: &InputRequest, version: Version) -> Option<&ElicitRequestFormParams> {
    let InputRequest::Elicit(ElicitRequestParams::Form(params)) = request else {
        return None;
    };
    let fits = |meta| members::meta_fits(meta, version);
    (version >= V2025_11_25 && params.meta.as_ref().is_none_or(fits)).then_some(params)
}

/// Whether an answer to this question is the same in this revision: [`answer`] would leave it so.
#[must_use]
pub fn answers_alike(request: &InputRequest, version: Version) -> bool {
    version >= V2025_11_25 || !matches!(request, InputRequest::Elicit(_))
}

/// What an older client answered to a [`question`], as the answer to the modern one.
#[must_use]
pub fn answer(request: &InputRequest, version: Version, mut result: Value) -> Value {
    if let InputRequest::Elicit(ElicitRequestParams::Form(params)) = request
        && let Some(Value::Object(content)) = result.get_mut("content")
    {
        let filled = std::mem::take(content);
        *content = params.requested_schema.content_from(version, filled);
    }
    result
}

fn form(params: &ElicitRequestFormParams, version: Version) -> Result<Object, String> {
    if version < V2025_06_18 {
        return Err(cannot(version, "a form"));
    }
    let schema = params.requested_schema.in_revision(version);
    let mut asked = ElicitRequestFormParams::new(&*params.message, schema);
    asked.meta.clone_from(&params.meta);
    let mut asked = object(&asked)?;
    // SHIM-S-04
    if version < V2025_11_25 {
        asked.shift_remove("mode");
    }
    Ok(asked)
}

fn url(
    params: &ElicitRequestUrlParams,
    version: Version,
    elicitation_id: Option<&str>,
) -> Result<Object, String> {
    if version < V2025_11_25 {
        return Err(cannot(version, "to open a link"));
    }
    let mut asked = params.clone();
    if let Some(id) = elicitation_id {
        asked.elicitation_id = Some(id.to_owned());
    }
    // LFEAT-S-06
    if asked.elicitation_id.is_none() {
        return Err("A link needs an elicitation id".to_owned());
    }
    object(&asked)
}

fn sample(params: &CreateMessageRequestParams, version: Version) -> Result<Object, String> {
    let mut asked = params.clone();
    let messages = std::mem::take(&mut asked.messages);
    for content in messages.iter().flat_map(|it| it.content.as_slice()) {
        sayable(content, version)?;
    }
    if version < V2025_11_25 {
        if params.tools.is_some() || params.tool_choice.is_some() {
            return Err(cannot(version, "for a message with tools"));
        }
        asked.messages = messages.into_iter().flat_map(apart).collect();
        let mut asked = object(&asked)?;
        members::each(&mut asked, "messages", |message| {
            if let Some(Value::Object(block)) = message.get_mut("content") {
                content::block(block, version);
            }
        });
        return Ok(asked);
    }
    asked.messages = messages;
    let mut asked = object(&asked)?;
    members::each(&mut asked, "tools", |it| tool::tool(it, version));
    members::each(&mut asked, "messages", |message| {
        match message.get_mut("content") {
            Some(Value::Object(block)) => tool_result(block, version),
            Some(Value::Array(_)) => {
                members::each(message, "content", |block| tool_result(block, version));
            }
            _ => {}
        }
    });
    Ok(asked)
}

/// Whether the revision's models can be told this (SHIM-S-02).
fn sayable(content: &SamplingContent, version: Version) -> Result<(), String> {
    let (since, what) = match content {
        SamplingContent::Text(_) | SamplingContent::Image(_) => return Ok(()),
        SamplingContent::Audio(_) => (V2025_03_26, "about audio"),
        SamplingContent::ToolUse(_) | SamplingContent::ToolResult(_) => {
            (V2025_11_25, "for a message with tools")
        }
        _ => return Err(cannot(version, "about content of an unknown type")),
    };
    match version >= since {
        true => Ok(()),
        false => Err(cannot(version, what)),
    }
}

/// A message for each block; what is said of all of them has no place.
fn apart(message: SamplingMessage) -> impl Iterator<Item = SamplingMessage> {
    let role = message.role;
    let blocks = message.content.into_vec().into_iter();
    blocks.map(move |block| SamplingMessage::new(role, block))
}

/// What a tool gave is restricted as in the result of a call.
fn tool_result(block: &mut Object, version: Version) {
    if block.get("type") == Some(&json!("tool_result")) {
        tool::given(block, version);
    }
}

fn object(params: &impl Serialize) -> Result<Object, String> {
    match to_value(params) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("The question has no members".to_owned()),
        Err(error) => Err(format!("The question does not serialise: {error}")),
    }
}

fn cannot(version: Version, what: &str) -> String {
    format!("A client of protocol version {version} cannot be asked {what}")
}

#[cfg(test)]
mod tests {
    use antiphon_types::Version::V2024_11_05;
    use antiphon_types::{
        Annotations, AudioContent, FormSchema, ImageContent, IncludeContext, InputRequired,
        ListRootsRequestParams, OneOrMany, TextContent, TitledMultiSelectEnumSchema, TitledOption,
        Tool, ToolChoice, ToolResultContent,
    };
    use serde_json::from_value;

    use super::*;

    fn asked(request: impl Into<InputRequest>, version: Version) -> Result<Value, String> {
        question(&request.into(), version, Some("e-9")).map(|(_, params)| params)
    }

    fn sides() -> ElicitRequestFormParams {
        let options = vec![
            TitledOption::new("p", "Port"),
            TitledOption::new("s", "Starboard"),
        ];
        let form = FormSchema::new().required("sides", TitledMultiSelectEnumSchema::new(options));
        ElicitRequestFormParams::new("Which?", form)
    }

    /// SHIM-S-02, SHIM-S-04
    #[test]
    fn forms_are_those_of_the_revision() {
        for version in [V2024_11_05, V2025_03_26] {
            let refused = asked(sides(), version).unwrap_err();
            assert!(refused.contains("a form"), "{refused}");
        }
        let early = asked(sides(), V2025_06_18).unwrap();
        assert_eq!(early.get("mode"), None);
        let field = "/requestedSchema/properties/sides/type";
        assert_eq!(early.pointer(field), Some(&json!("string")));
        let late = asked(sides(), V2025_11_25).unwrap();
        assert_eq!(late, to_value(sides()).unwrap());
    }

    #[test]
    fn what_was_filled_in_answers_the_modern_form() {
        let request = sides().into();
        let typed = json!({"action": "accept", "content": {"sides": "Port, s"}, "_meta": {}});
        assert_eq!(
            answer(&request, V2025_06_18, typed.clone()),
            json!({"action": "accept", "content": {"sides": ["p", "s"]}, "_meta": {}})
        );
        assert_eq!(answer(&request, V2025_11_25, typed.clone()), typed);
        // Nothing is taken for granted of what a client sends.
        for result in [
            json!({"action": "decline"}),
            json!({"content": "Port"}),
            json!({"content": {"sides": 7}}),
            json!([]),
            Value::Null,
        ] {
            assert_eq!(answer(&request, V2025_06_18, result.clone()), result);
        }
        let roots = json!({"roots": [], "content": {"sides": "p"}});
        let request = InputRequest::roots();
        assert_eq!(answer(&request, V2025_06_18, roots.clone()), roots);
    }

    #[test]
    fn a_form_is_plain_if_nothing_would_change() {
        let meta = |key: &str| Map::from_iter([(key.to_owned(), json!(1))]);
        let related = "io.modelcontextprotocol/related-task";
        let mut plain = 0;
        for form in [
            sides(),
            sides().meta(meta("quay")),
            sides().meta(meta(related)),
            sides().meta(meta("io.modelcontextprotocol/logLevel")),
        ] {
            let request = form.clone().into();
            for version in Version::LEGACY {
                let asked = asked(form.clone(), *version);
                let unchanged = asked == Ok(to_value(&form).unwrap());
                assert_eq!(plain_form(&request, *version).is_some(), unchanged);
                plain += usize::from(unchanged);
            }
        }
        assert_eq!(plain, 3, "all but one in the last of the older revisions");
        assert_eq!(plain_form(&InputRequest::roots(), V2025_11_25), None);
    }

    #[test]
    fn answers_are_alike_where_nothing_would_change() {
        let request = sides().into();
        let typed = json!({"action": "accept", "content": {"sides": "Port, s"}});
        for version in [V2025_06_18, V2025_11_25] {
            let alike = answer(&request, version, typed.clone()) == typed;
            assert_eq!(answers_alike(&request, version), alike);
            assert!(answers_alike(&InputRequest::roots(), version));
        }
    }

    /// LFEAT-S-06, SHIM-S-04
    #[test]
    fn links_have_an_id() {
        let link = ElicitRequestUrlParams::new("Sign in", "https://harbor.example/");
        for version in [V2024_11_05, V2025_03_26, V2025_06_18] {
            assert!(asked(link.clone(), version).unwrap_err().contains("link"));
        }
        let expected = json!({
            "mode": "url", "message": "Sign in", "url": "https://harbor.example/",
            "elicitationId": "e-9",
        });
        assert_eq!(asked(link.clone(), V2025_11_25), Ok(expected));
        let own = link.clone().elicitation_id("own").into();
        let (_, params) = question(&own, V2025_11_25, None).unwrap();
        assert_eq!(params["elicitationId"], "own");
        assert!(question(&link.into(), V2025_11_25, None).is_err());
    }

    #[test]
    fn several_blocks_become_several_messages() {
        let dated = Annotations::new().last_modified("2026-07-28");
        let note = || Map::from_iter([("quay".to_owned(), json!(1))]);
        let text = TextContent::new("Which ship?")
            .annotations(dated)
            .meta(note());
        let image = ImageContent::new("AA==", "image/png");
        let both = SamplingMessage::user(vec![text.into(), image.into()]).meta(note());
        let one = SamplingMessage::assistant(vec![SamplingContent::text("Aurora")]);
        let none = SamplingMessage::assistant(Vec::new());
        let params = CreateMessageRequestParams::new(vec![both, one, none], 20)
            .include_context(IncludeContext::None)
            .temperature(0.5);
        let late = asked(params.clone(), V2025_11_25).unwrap();
        assert_eq!(late, to_value(&params).unwrap());
        let early = json!({
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Which ship?", "annotations": {}}},
                {"role": "user", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
                {"role": "assistant", "content": {"type": "text", "text": "Aurora"}},
            ],
            "includeContext": "none", "temperature": 0.5, "maxTokens": 20,
        });
        assert_eq!(asked(params, V2024_11_05), Ok(early));
    }

    /// SHIM-S-02
    #[test]
    fn models_are_told_what_the_revision_can_say() {
        let with = |content: SamplingContent| {
            CreateMessageRequestParams::new(vec![SamplingMessage::user(content)], 20)
        };
        let plain = CreateMessageRequestParams::user("Which ship?", 20);
        let unknown = Map::from_iter([("type".to_owned(), json!("scene"))]);
        for (params, since) in [
            (plain.clone(), Some(V2024_11_05)),
            (
                with(AudioContent::new("AA==", "audio/wav").into()),
                Some(V2025_03_26),
            ),
            (plain.clone().tools(Vec::new()), Some(V2025_11_25)),
            (
                plain.clone().tool_choice(ToolChoice::none()),
                Some(V2025_11_25),
            ),
            (
                with(ToolResultContent::new("u-1", Vec::new()).into()),
                Some(V2025_11_25),
            ),
            (with(SamplingContent::Other(unknown)), None),
        ] {
            for version in Version::LEGACY {
                let can = since.is_some_and(|since| *version >= since);
                let asked = asked(params.clone(), *version);
                assert_eq!(asked.is_ok(), can, "{version} {asked:?}");
            }
        }
    }

    /// LFEAT-S-10
    #[test]
    fn tools_of_a_model_are_those_of_the_revision() {
        let list = Map::from_iter([("type".to_owned(), json!("array"))]);
        let tide = Tool::empty("tide").output_schema(list).title("Tide");
        let given = ToolResultContent::new("u-1", Vec::new()).structured_content(json!([4]));
        for content in [
            OneOrMany::One(given.clone().into()),
            OneOrMany::Many(vec![given.into()]),
        ] {
            let message = SamplingMessage::user(content);
            let params =
                CreateMessageRequestParams::new(vec![message], 20).tools(vec![tide.clone()]);
            let asked = asked(params, V2025_11_25).unwrap();
            assert_eq!(asked["tools"][0]["title"], "Tide");
            assert_eq!(asked["tools"][0].get("outputSchema"), None);
            let content = &asked["messages"][0]["content"];
            let block = content.get(0).unwrap_or(content);
            assert_eq!(block.get("structuredContent"), None);
            assert_eq!(block["content"], json!([{"type": "text", "text": "[4]"}]));
        }
    }

    #[test]
    fn roots_need_no_params() {
        for version in Version::LEGACY {
            let bare = question(&InputRequest::roots(), *version, None);
            assert_eq!(bare, Ok(("roots/list", json!({}))));
        }
        let meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "info"});
        let params = ListRootsRequestParams::new().meta(from_value(meta).unwrap());
        let asked = asked(params, V2024_11_05);
        assert_eq!(asked, Ok(json!({"_meta": {"progressToken": 1}})));
    }

    #[test]
    fn metadata_of_a_question_is_kept() {
        let meta = json!({"quay": 1, "io.modelcontextprotocol/related-task": {"taskId": "t"}});
        let form = sides().meta(from_value(meta.clone()).unwrap());
        let early = asked(form.clone(), V2025_06_18).unwrap();
        assert_eq!(early["_meta"], json!({"quay": 1}));
        assert_eq!(asked(form, V2025_11_25).unwrap()["_meta"], meta);
    }

    #[test]
    fn nobody_is_asked_what_no_revision_knows() {
        let unknown = json!({"inputRequests": {"k": {"method": "harbor/close", "params": {}}}});
        let unknown: InputRequired = from_value(unknown).unwrap();
        let (_, unknown) = unknown.requests().next().unwrap();
        for version in Version::LEGACY {
            assert!(question(unknown, *version, None).is_err());
        }
    }
}
