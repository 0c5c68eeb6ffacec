//! [`Sealed`]: a raw service whose states are protected.

use std::{future::Future, io, pin::Pin, sync::Arc};

use antiphon_core::seal::claims::Method;
use antiphon_types::{
    CallToolResult, CompleteResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceResult,
    SubscriptionFilter,
};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{
    Sealing,
    leg::{Bound, Leg},
};
use crate::raw::{
    About, Answering, Call, CallTool, Complete, Error, GetPrompt, HeaderParams, List, Outgoing,
    ReadResource, Rendered, Reply, Round, Service,
};

/// A raw service whose states are protected: what [`Sealing::layer`] makes of it.
#[derive(Debug)]
pub struct Sealed<S> {
    sealing: Sealing,
    service: S,
}

impl<S: Service> Sealed<S> {
    pub(super) fn new(sealing: Sealing, service: S) -> Self {
        Self { sealing, service }
    }

    /// Runs `ask`, which may ask, with what it may see of the round.
    async fn run<'a, T: Outgoing>(
        &'a self,
        call: &'a Call<'a>,
        bound: Bound<'a>,
        round: Round<'a>,
        ask: impl AsyncFnOnce(Round<'_>) -> Result<Reply<T>, Error>,
    ) -> Result<Reply<T>, Error> {
        let mut leg = Leg::new(&self.sealing, bound);
        leg.open(call, round).await?;
        // Answers to what was asked, and no others.
        let responses = match leg.answers().is_empty() {
            true => None,
            false => Some(to_raw_value(leg.answers()).map_err(|error| unwritable(&error))?),
        };
        let seen = Round {
            responses: responses.as_deref(),
            state: leg.state(),
        };
        let work = async {
            leg.claim(call).await?;
            match leg.recorded() {
                Some(answer) => answer,
                None => ask(seen).await,
            }
        };
        leg.run(call, work).await
    }
}

fn unwritable(error: &serde_json::Error) -> Error {
    tracing::error!(%error, "answers do not serialise");
    Error::internal("Internal error")
}

#[diagnostic::do_not_recommend]
impl<S: Service> Service for Sealed<S> {
    fn about(&self) -> About {
        self.service.about()
    }

    fn start(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> {
        Box::pin(async {
            self.sealing.check()?;
            self.service.start().await
        })
    }

    fn stop(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.service.stop()
    }

    fn list_tools<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        self.service.list_tools(call, list)
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        let bound = Bound {
            method: Method::CallTool,
            target: tool.name,
            arguments: tool.arguments,
        };
        Box::pin(
            self.run(call, bound, tool.round, async move |round: Round<'_>| {
                self.service
                    .call_tool(call, CallTool { round, ..tool })
                    .await
            }),
        )
    }

    fn header_params(&self, call: &Call<'_>, tool: &str) -> Option<Arc<HeaderParams>> {
        self.service.header_params(call, tool)
    }

    fn list_prompts<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListPromptsResult>> {
        self.service.list_prompts(call, list)
    }

    fn get_prompt<'a>(
        &'a self,
        call: &'a Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        let bound = Bound {
            method: Method::GetPrompt,
            target: prompt.name,
            arguments: prompt.arguments,
        };
        Box::pin(
            self.run(call, bound, prompt.round, async move |round: Round<'_>| {
                self.service
                    .get_prompt(call, GetPrompt { round, ..prompt })
                    .await
            }),
        )
    }

    fn list_resources<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourcesResult>> {
        self.service.list_resources(call, list)
    }

    fn list_resource_templates<'a>(
        &'a self,
        call: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourceTemplatesResult>> {
        self.service.list_resource_templates(call, list)
    }

    fn read_resource<'a>(
        &'a self,
        call: &'a Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        let bound = Bound {
            method: Method::ReadResource,
            target: resource.uri,
            arguments: None,
        };
        Box::pin(self.run(
            call,
            bound,
            resource.round,
            async move |round: Round<'_>| {
                self.service
                    .read_resource(call, ReadResource { round, ..resource })
                    .await
            },
        ))
    }

    fn complete<'a>(
        &'a self,
        call: &'a Call<'a>,
        completion: Complete,
    ) -> Answering<'a, CompleteResult> {
        self.service.complete(call, completion)
    }

    fn listen<'a>(
        &'a self,
        call: &'a Call<'a>,
        filter: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        self.service.listen(call, filter)
    }

    fn other<'a>(
        &'a self,
        call: &'a Call<'a>,
        params: Option<&'a RawValue>,
    ) -> Answering<'a, Rendered<Value>> {
        self.service.other(call, params)
    }
}
