"""The client of the grid on PyPI `mcp` 2: its `Client`, of either era.

Nothing is left out. The SDK declares `roots` with `listChanged` true, whether or not the client ever tells of changes.
"""

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    InputRequiredResult,
    ListRootsResult,
    PromptReference,
    ResourceUpdatedNotification,
    Root,
    TextContent,
)

sys.path.append(str(Path(__file__).parent.parent))
import cases
from cases import Peer, Question, Result

MODERN = "2026-07-28"


class Connected(Peer):
    def __init__(self, run: cases.Run) -> None:
        super().__init__()
        self.modern = run.modern
        self.changed: list[str] = []
        self.client = Client(
            transport(run),
            mode="auto" if run.modern else "legacy",
            elicitation_callback=self.on_elicit,
            sampling_callback=self.on_sample,
            list_roots_callback=self.on_roots,
            logging_callback=self.on_log,
            message_handler=self.on_message,
            log_level="info",
        )

    # What the server asks

    async def on_elicit(self, context, params) -> ElicitResult:
        key = self.key(context)
        if params.mode == "url":
            answer = self.answer(Question(params.message, url=params.url, key=key))
        else:
            answer = self.answer(Question(params.message, params.requested_schema, key=key))
        return ElicitResult(action=answer.action, content=answer.content)

    async def on_sample(self, context, params) -> CreateMessageResult:
        messages = [(message.role, text_of(message.content)) for message in params.messages]
        asked = {"messages": messages, "max_tokens": params.max_tokens}
        said = self.answer(Question("sampling", sampling=asked, key=self.key(context))).content
        return CreateMessageResult(role="assistant", model=said["model"], content=TextContent(text=said["text"]))

    async def on_roots(self, context) -> ListRootsResult:
        uris = self.answer(Question("roots", key=self.key(context))).content["uris"]
        return ListRootsResult(roots=[Root(uri=uri) for uri in uris])

    def key(self, context) -> str | None:
        """The key of a question, which the SDK gives for the id of a request where there is no request."""
        return context.request_id if self.modern else None

    async def on_log(self, params) -> None:
        self.logs.append((params.level, params.logger, params.data))

    async def on_message(self, message) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self.changed.append(message.params.uri)

    # What the cases need

    def server(self) -> tuple[str, str]:
        info = self.client.server_info
        return (info.name, info.version) if info else ("", "")

    async def tools(self) -> dict[str, dict | None]:
        pages = await every(self.client.list_tools)
        return {tool.name: tool.output_schema for page in pages for tool in page.tools}

    async def prompts(self) -> dict[str, list[str]]:
        prompts = [prompt for page in await every(self.client.list_prompts) for prompt in page.prompts]
        return {prompt.name: sorted(argument.name for argument in prompt.arguments or []) for prompt in prompts}

    async def templates(self) -> list[str]:
        pages = await every(self.client.list_resource_templates)
        return [template.uri_template for page in pages for template in page.resource_templates]

    async def pages(self) -> list[list[str]]:
        return [[resource.uri for resource in page.resources] for page in await every(self.client.list_resources)]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> Result:
        try:
            result = await self.client.call_tool(tool, arguments, progress_callback=on_progress)
        except MCPError as error:
            return Result(error=error.message)
        content = [(block.type, text_of(block)) for block in result.content]
        return Result(content, result.structured_content, f"{content}" if result.is_error else None)

    async def read(self, uri: str) -> list[tuple[str, str]]:
        result = await self.client.read_resource(uri)
        return [(contents.uri, contents.text) for contents in result.contents]

    async def prompt(self, name: str, arguments: dict[str, str]) -> list[tuple[str, str]]:
        result = await self.client.get_prompt(name, arguments)
        return [(message.role, text_of(message.content)) for message in result.messages]

    async def complete(self, prompt: str, argument: str, value: str) -> list[str]:
        result = await self.client.complete(PromptReference(name=prompt), {"name": argument, "value": value})
        return result.completion.values

    async def want_logs(self) -> None:
        # In 2026-07-28 each request says so: see `log_level` above.
        if not self.modern:
            await self.client.set_logging_level("info")

    async def cancel(self, tool: str, after: float) -> None:
        with anyio.move_on_after(after):
            await self.client.call_tool(tool)

    @asynccontextmanager
    async def listen(self, uri: str):
        if self.modern:
            async with self.client.listen(resource_subscriptions=[uri]) as events:

                async def told() -> None:
                    cases.check("event", uri, (await anext(events)).uri)

                yield told
        else:
            self.changed.clear()
            await self.client.subscribe_resource(uri)
            yield lambda: cases.until(lambda: uri in self.changed)

    async def round(self, tool: str, state: str | None = None) -> tuple[str | None, list[str]] | None:
        result = await self.client.session.call_tool(tool, request_state=state, allow_input_required=True)
        if not isinstance(result, InputRequiredResult):
            return None
        return result.request_state, list(result.input_requests or {})


def transport(run: cases.Run):
    if run.url:
        # By default the SDK takes at most 1 MiB in one event of a stream; `large` needs more.
        return streamable_http_client(run.url, max_sse_event_size=8 * 1024 * 1024)
    # The SDK hands a server a few variables of the environment only; a server of the grid may need any.
    return StdioServerParameters(command=run.command[0], args=run.command[1:], env=dict(os.environ))


def text_of(block) -> str:
    return getattr(block, "text", repr(block))


async def every(listing) -> list:
    """All pages of a listing."""
    pages = [await listing()]
    while cursor := pages[-1].next_cursor:
        pages.append(await listing(cursor=cursor))
    return pages


async def main() -> None:
    run = cases.parse()
    peer = Connected(run)
    async with peer.client as client:
        spoken = client.protocol_version
        if (spoken >= MODERN) == run.modern:
            return await cases.go_through(peer, run.cases)
    sys.exit(f"the server speaks {spoken}")


if __name__ == "__main__":
    anyio.run(main)
