"""The client of the grid on PyPI `mcp` 1: its `ClientSession`, of the older era only.

Left out: 2026-07-28, which this SDK does not speak. The SDK declares `roots` with `listChanged` true, whether or not
the client ever tells of changes, and has no way to cancel a call but to send the notification, see `cancel`.
"""

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    CreateMessageResult,
    ElicitResult,
    InitializeResult,
    ListRootsResult,
    PaginatedRequestParams,
    PromptReference,
    ResourceUpdatedNotification,
    Root,
    ServerNotification,
    TextContent,
)
from pydantic import AnyUrl

sys.path.append(str(Path(__file__).parent.parent))
import cases
from cases import Peer, Question, Result


class Connected(Peer):
    modern = False

    def __init__(self) -> None:
        super().__init__()
        self.changed: list[str] = []
        self.session: ClientSession
        self.initialized: InitializeResult

    @asynccontextmanager
    async def connect(self, run: cases.Run):
        async with transport(run) as (read, write, *_):
            async with ClientSession(
                read,
                write,
                elicitation_callback=self.on_elicit,
                sampling_callback=self.on_sample,
                list_roots_callback=self.on_roots,
                logging_callback=self.on_log,
                message_handler=self.on_message,
            ) as self.session:
                self.initialized = await self.session.initialize()
                yield

    # What the server asks

    async def on_elicit(self, context, params) -> ElicitResult:
        if params.mode == "url":
            answer = self.answer(Question(params.message, url=params.url))
        else:
            answer = self.answer(Question(params.message, params.requestedSchema))
        return ElicitResult(action=answer.action, content=answer.content)

    async def on_sample(self, context, params) -> CreateMessageResult:
        messages = [(message.role, text_of(message.content)) for message in params.messages]
        asked = {"messages": messages, "max_tokens": params.maxTokens}
        said = self.answer(Question("sampling", sampling=asked)).content
        content = TextContent(type="text", text=said["text"])
        return CreateMessageResult(role="assistant", model=said["model"], content=content)

    async def on_roots(self, context) -> ListRootsResult:
        uris = self.answer(Question("roots")).content["uris"]
        return ListRootsResult(roots=[Root(uri=uri) for uri in uris])

    async def on_log(self, params) -> None:
        self.logs.append((params.level, params.logger, params.data))

    async def on_message(self, message) -> None:
        if isinstance(message, ServerNotification) and isinstance(message.root, ResourceUpdatedNotification):
            self.changed.append(str(message.root.params.uri))

    # What the cases need

    def server(self) -> tuple[str, str]:
        return self.initialized.serverInfo.name, self.initialized.serverInfo.version

    async def tools(self) -> dict[str, dict | None]:
        pages = await every(self.session.list_tools)
        return {tool.name: tool.outputSchema for page in pages for tool in page.tools}

    async def prompts(self) -> dict[str, list[str]]:
        prompts = [prompt for page in await every(self.session.list_prompts) for prompt in page.prompts]
        return {prompt.name: sorted(argument.name for argument in prompt.arguments or []) for prompt in prompts}

    async def templates(self) -> list[str]:
        pages = await every(self.session.list_resource_templates)
        return [template.uriTemplate for page in pages for template in page.resourceTemplates]

    async def pages(self) -> list[list[str]]:
        return [[str(resource.uri) for resource in page.resources] for page in await every(self.session.list_resources)]

    async def call(self, tool: str, arguments: dict, on_progress=None) -> Result:
        try:
            result = await self.session.call_tool(tool, arguments, progress_callback=on_progress)
        except McpError as error:
            return Result(error=error.error.message)
        content = [(block.type, text_of(block)) for block in result.content]
        return Result(content, result.structuredContent, f"{content}" if result.isError else None)

    async def read(self, uri: str) -> list[tuple[str, str]]:
        result = await self.session.read_resource(AnyUrl(uri))
        return [(str(contents.uri), contents.text) for contents in result.contents]

    async def prompt(self, name: str, arguments: dict[str, str]) -> list[tuple[str, str]]:
        result = await self.session.get_prompt(name, arguments)
        return [(message.role, text_of(message.content)) for message in result.messages]

    async def complete(self, prompt: str, argument: str, value: str) -> list[str]:
        reference = PromptReference(type="ref/prompt", name=prompt)
        result = await self.session.complete(reference, {"name": argument, "value": value})
        return result.completion.values

    async def want_logs(self) -> None:
        await self.session.set_logging_level("info")

    async def cancel(self, tool: str, after: float) -> None:
        # The notification needs the id of the request, which the SDK counts but does not tell.
        params = CancelledNotificationParams(requestId=self.session._request_id)
        with anyio.move_on_after(after):
            await self.session.call_tool(tool)
        await self.session.send_notification(ClientNotification(CancelledNotification(params=params)))

    @asynccontextmanager
    async def listen(self, uri: str):
        self.changed.clear()
        await self.session.subscribe_resource(AnyUrl(uri))
        yield lambda: cases.until(lambda: uri in self.changed)

    async def round(self, tool: str, state: str | None = None) -> None:
        raise cases.Unsupported("this SDK does not speak 2026-07-28")


def transport(run: cases.Run):
    if run.url:
        return streamable_http_client(run.url)
    # The SDK hands a server a few variables of the environment only; a server of the grid may need any.
    return stdio_client(StdioServerParameters(command=run.command[0], args=run.command[1:], env=dict(os.environ)))


def text_of(block) -> str:
    return getattr(block, "text", repr(block))


async def every(listing) -> list:
    """All pages of a listing."""
    pages = [await listing()]
    while cursor := pages[-1].nextCursor:
        pages.append(await listing(params=PaginatedRequestParams(cursor=cursor)))
    return pages


async def main() -> None:
    run = cases.parse()
    if run.modern:
        for case in run.cases:
            cases.report(case, None, "this SDK does not speak 2026-07-28")
        return
    peer = Connected()
    async with peer.connect(run):
        await cases.go_through(peer, run.cases)


if __name__ == "__main__":
    anyio.run(main)
