//! One request of a client of an older revision, from its method to its answer.

use std::sync::Arc;

use antiphon_core::legacy;
use antiphon_types::{EmptyResult, ErrorObject, LoggingLevel, SetLevelRequestParams, decode};

use super::{
    Aside, Session,
    answering::Told,
    shim::{self, Asks},
    watching,
    writing::Writer,
};
use crate::{
    engine::{
        admit::Method,
        answer::{Answer, lacks_scopes, links_first},
        dispatch::{self, Refusal, guarded},
        observe::Observation,
        params,
    },
    raw::{Call, Observed},
};

/// Whether a request takes a place among those that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Counted,
    Free,
}

/// Answers a request in a session.
pub(super) async fn request(session: &Arc<Session>, told: Told<'_>) -> Answer {
    let place = match told.message.method() {
        // Also when all is busy (LEG-B-07).
        "ping" => Place::Free,
        _ => Place::Counted,
    };
    observed(session, told, place, async |call| {
        let mut json = Vec::new();
        let outcome = run(session, told, call, &mut json).await?;
        Ok((json, outcome))
    })
    .await
}

/// Runs `work` as a request: entered, counted, observed, and its error in the words of the
/// session's revision.
pub(super) async fn observed<'a>(
    session: &'a Arc<Session>,
    told: Told<'a>,
    place: Place,
    work: impl AsyncFnOnce(&Call<'_>) -> Result<(Vec<u8>, Observed), ErrorObject>,
) -> Answer {
    let endpoint = told.served.inner();
    let (message, version) = (told.message, session.version);
    let mut observation = Observation::begin(endpoint, message, told.inbound.transport);
    observation.speaks(version);
    let id = message.id().unwrap_or("null");
    told.outbox.speaks(version);
    let run = async {
        let _entered = dispatch::enter(&session.in_flight, id, told.outbox)
            .map_err(|error| Refusal { status: 200, error })?;
        let _place = match place {
            Place::Free => None,
            Place::Counted => Some(dispatch::place(endpoint)?),
        };
        dispatch::started(told.served, told.inbound).await?;
        let meta = session.meta(&message.params.meta);
        let aside = Aside::new(told.served.clone(), session.clone(), told.outbox.clone());
        let mut call = dispatch::call(message, &meta, version, id, told.inbound, told.outbox)
            .map_err(Refusal::from)?;
        call.log_level = (endpoint.capabilities.logging.is_some()).then(|| session.level());
        call.aside = Some(&aside);
        work(&call).await.map_err(|error| {
            let status = if lacks_scopes(&error, &call) {
                403
            } else {
                200
            };
            let error = legacy::error(links_first(error, &call), message.method(), version);
            Refusal { status, error }
        })
    };
    match observation.run(run).await {
        Ok((json, outcome)) => {
            observation.end(outcome);
            Answer::Message { status: 200, json }
        }
        Err(refusal) => {
            observation.end(Observed::Error(refusal.error.code));
            Answer::error(Some(id), refusal.status, &refusal.error)
        }
    }
}

/// Runs the method and writes its result.
async fn run(
    session: &Arc<Session>,
    told: Told<'_>,
    call: &Call<'_>,
    out: &mut Vec<u8>,
) -> Result<Observed, ErrorObject> {
    let endpoint = told.served.inner();
    let (service, given) = (&*endpoint.service, &told.message.params);
    let name = told.message.method();
    let mut answer = Writer { call, out };
    let written = match Method::of(name) {
        // Neither is of these revisions.
        Method::Discover | Method::Listen => Err(ErrorObject::method_not_found(name)),
        Method::Other => return other(session, told, call, answer).await,
        method if !method.is_offered(name, &endpoint.capabilities) => {
            Err(ErrorObject::method_not_found(name))
        }
        Method::CallTool => {
            let tool = params::call_tool(given)?.first();
            let reply = shim::run(endpoint, call, tool).await?;
            return answer.reply(reply);
        }
        Method::GetPrompt => {
            let prompt = params::get_prompt(given)?.first();
            let reply = shim::run(endpoint, call, prompt).await?;
            return answer.reply(reply);
        }
        Method::ReadResource => {
            let resource = params::read_resource(given)?.first();
            let reply = shim::run(endpoint, call, resource).await?;
            return answer.reply(reply);
        }
        Method::ListTools => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_tools(call, list)).await?)
        }
        Method::ListPrompts => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_prompts(call, list)).await?)
        }
        Method::ListResources => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_resources(call, list)).await?)
        }
        Method::ListResourceTemplates => {
            let list = params::list(given)?;
            answer.rendered(&guarded(call, || service.list_resource_templates(call, list)).await?)
        }
        Method::Complete => {
            let completion = params::completion(given)?;
            let result = guarded(call, || service.complete(call, completion)).await?;
            answer.complete(&dispatch::at_most_a_hundred(result))
        }
    };
    written.map(|()| Observed::Complete)
}

/// The methods that only these revisions have.
async fn other(
    session: &Arc<Session>,
    told: Told<'_>,
    call: &Call<'_>,
    mut answer: Writer<'_, '_>,
) -> Result<Observed, ErrorObject> {
    let endpoint = told.served.inner();
    let offered = &endpoint.capabilities;
    // Without a session nobody could be told.
    let subscribes = session.listener().is_some()
        && offered.resources.as_ref().and_then(|it| it.subscribe) == Some(true);
    match told.message.method() {
        "ping" => {}
        "logging/setLevel" if offered.logging.is_some() => session.set_level(level(told.text)?),
        "resources/subscribe" if subscribes => {
            let uri = params::uri(&told.message.params)?;
            watching::subscribe(endpoint, call, session, uri).await?;
        }
        "resources/unsubscribe" if subscribes => {
            let uri = params::uri(&told.message.params)?;
            if let Some(listener) = session.listener() {
                listener.unwatch(uri);
            }
        }
        name => return Err(ErrorObject::method_not_found(name)),
    }
    answer.complete(&EmptyResult::new())?;
    Ok(Observed::Complete)
}

/// LFEAT-C-01
fn level(text: &str) -> Result<LoggingLevel, ErrorObject> {
    let params = antiphon_core::envelope::raw_params(text).map_or("{}", |raw| raw.get());
    let params = decode::<SetLevelRequestParams>(params);
    params.map(|params| params.level).map_err(|_| {
        ErrorObject::invalid_params(
            "`level` must be one of debug, info, notice, warning, error, critical, alert, \
             emergency",
        )
    })
}
