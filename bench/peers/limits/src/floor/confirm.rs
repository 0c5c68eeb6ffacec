//! The tool that asks before it acts: a call in two legs, with sealed state between them.

use std::{borrow::Cow, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    reply::Refusal,
    seal::Sealer,
    tools::{Answer, Call, Outcome, read},
};

/// What a state is bound to, before the arguments.
const BOUND: &[u8] = b"tools/call\0confirm\0";
const STEP: &str = "confirm";
/// Makes the state as long as the contract wants it.
const PAD: &str = match str::from_utf8(&[b'x'; 140]) {
    Ok(pad) => pad,
    Err(_) => unreachable!(),
};

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
}

#[derive(Deserialize, Serialize)]
struct State<'a> {
    #[serde(borrow)]
    step: Cow<'a, str>,
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow)]
    pad: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Answers<'a> {
    #[serde(borrow)]
    confirm: Option<Elicited<'a>>,
}

#[derive(Deserialize)]
struct Elicited<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    content: Option<Content>,
}

#[derive(Deserialize)]
struct Content {
    ok: bool,
}

pub(super) async fn confirm(sealer: Arc<Sealer>, call: Call) -> Outcome {
    let Arguments { action } = read(&call.arguments)?;
    let bound = [BOUND, &call.arguments].concat();
    let Some(text) = &call.state else {
        return Ok(ask(&sealer, &action, &bound));
    };
    let mut buffer = Vec::new();
    let opened = sealer.open(text, &bound, &mut buffer);
    let state: Option<State<'_>> = opened.and_then(|json| serde_json::from_slice(json).ok());
    let Some(state) = state.filter(|state| state.step == STEP) else {
        return Ok(Answer::Refuse(Refusal::State));
    };
    let answers = call.answers.as_deref().unwrap_or(b"{}");
    let Ok(Answers { confirm }) = serde_json::from_slice(answers) else {
        let problem = Refusal::Params("the input responses have the wrong shape");
        return Ok(Answer::Refuse(problem));
    };
    // A client may come back without the answer; then it is asked again.
    let Some(answer) = confirm else {
        return Ok(ask(&sealer, &action, &bound));
    };
    let agreed = answer.action == "accept" && answer.content.is_some_and(|content| content.ok);
    Ok(Answer::Text(match agreed {
        true => format!("done: {}", state.action),
        false => "refused".to_owned(),
    }))
}

fn ask(sealer: &Sealer, action: &str, bound: &[u8]) -> Answer {
    let state = State {
        step: STEP.into(),
        action: action.into(),
        pad: PAD.into(),
    };
    Answer::Ask {
        message: format!("Run {action}?"),
        state: sealer.seal(&state, bound),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const DEPLOY: &str = r#"{"action":"deploy"}"#;
    const ACCEPT: &str = r#"{"confirm":{"action":"accept","content":{"ok":true}}}"#;

    fn call(arguments: &'static str, answers: Option<&'static str>, state: Option<&str>) -> Call {
        Call {
            arguments: Bytes::from_static(arguments.as_bytes()),
            answers: answers.map(|json| Bytes::from_static(json.as_bytes())),
            state: state.map(|text| Bytes::copy_from_slice(text.as_bytes())),
        }
    }

    /// The state of a first leg.
    async fn first(sealer: &Arc<Sealer>) -> String {
        match confirm(sealer.clone(), call(DEPLOY, None, None)).await {
            Ok(Answer::Ask { message, state }) if message == "Run deploy?" => state,
            _ => panic!("the first leg does not ask"),
        }
    }

    #[tokio::test]
    async fn does_what_the_user_said() {
        let sealer = Arc::new(Sealer::new());
        let state = first(&sealer).await;
        for (answers, expected) in [
            (ACCEPT, "done: deploy"),
            (
                r#"{"confirm":{"action":"accept","content":{"ok":false}}}"#,
                "refused",
            ),
            (r#"{"confirm":{"action":"decline"}}"#, "refused"),
        ] {
            let call = call(DEPLOY, Some(answers), Some(&state));
            let outcome = confirm(sealer.clone(), call).await;
            assert!(matches!(outcome, Ok(Answer::Text(text)) if text == expected));
        }
    }

    #[tokio::test]
    async fn asks_again_as_long_as_the_answer_or_the_state_is_missing() {
        let sealer = Arc::new(Sealer::new());
        let state = first(&sealer).await;
        for call in [
            call(DEPLOY, None, Some(&state)),
            call(DEPLOY, Some("{}"), Some(&state)),
            call(DEPLOY, Some(ACCEPT), None),
        ] {
            let outcome = confirm(sealer.clone(), call).await;
            assert!(matches!(outcome, Ok(Answer::Ask { .. })));
        }
    }

    #[tokio::test]
    async fn refuses_a_state_for_other_arguments_and_answers_of_another_shape() {
        let sealer = Arc::new(Sealer::new());
        let state = first(&sealer).await;
        let other = call(r#"{"action":"delete"}"#, Some(ACCEPT), Some(&state));
        let outcome = confirm(sealer.clone(), other).await;
        assert!(matches!(outcome, Ok(Answer::Refuse(Refusal::State))));
        let odd = call(DEPLOY, Some(r#"{"confirm":"yes"}"#), Some(&state));
        let outcome = confirm(sealer, odd).await;
        assert!(matches!(outcome, Ok(Answer::Refuse(Refusal::Params(_)))));
    }
}
