"""The server of the grid on PyPI `mcp` 1: `FastMCP`, for the revisions before 2026-07-28.

Left out: 2026-07-28, which this SDK does not speak; so `wait` answers at once. Two things are done where a reader may
expect another way:
- `FastMCP` takes no version, lists resources on one page and has no handlers of its own for `resources/subscribe` and
  `logging/setLevel`, so these go to the low-level server below it. That one declares `resources.subscribe` as false
  whatever is registered (see interop/defects/python-v1-subscribe-undeclared.py), which is set right below, as users do.
- `logging/setLevel` is accepted and changes nothing: the SDK sends all log messages.
"""

import argparse
import json
import sys
from pathlib import Path
from weakref import WeakSet

import anyio
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.resources import TextResource
from mcp.server.session import ServerSession
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    CallToolResult,
    Completion,
    ElicitResult,
    ListResourcesRequest,
    ListResourcesResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    ServerRequest,
    TextContent,
)
from pydantic import AnyUrl, BaseModel

sys.path.append(str(Path(__file__).parent.parent))
import ensemble

mcp = FastMCP(ensemble.NAME, log_level="WARNING")
low = mcp._mcp_server
low.version = ensemble.VERSION


# Plain tools


class Sum(BaseModel):
    sum: int


@mcp.tool()
def echo(text: str) -> str:
    return text


@mcp.tool()
def add(a: int, b: int) -> Sum:
    return Sum(sum=a + b)


@mcp.tool()
def size(größe: str) -> str:
    return f"größe: {größe}"


@mcp.tool()
async def count(to: int, ctx: Context) -> str:
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
    return f"counted {to}"


@mcp.tool()
async def log(ctx: Context) -> str:
    await ctx.info("one", logger_name=ensemble.NAME)
    await ctx.warning("two", logger_name=ensemble.NAME)
    return "logged"


@low.set_logging_level()
async def set_logging_level(level) -> None:
    pass


# Cancelling


cancelled = False


@mcp.tool()
async def sleep() -> str:
    global cancelled
    try:
        await anyio.sleep(ensemble.SLEEP)
    except anyio.get_cancelled_exc_class():
        cancelled = True
        raise
    return "slept"


@mcp.tool()
def slept() -> str:
    global cancelled
    before, cancelled = cancelled, False
    return "cancelled" if before else "not cancelled"


# Asking. A question belongs to the call that waits for its answer, so it goes out on the stream of that call.


async def form(ctx: Context, message: str, schema: dict) -> ElicitResult:
    """Asks with a schema as it is: `ctx.elicit` takes a model of pydantic, and would fill in the defaults."""
    return await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)


def content(answer: ElicitResult) -> dict:
    if answer.action != "accept" or answer.content is None:
        raise ToolError("this cannot go on without an answer")
    return answer.content


@mcp.tool()
async def confirm(action: str, ctx: Context) -> str:
    match await form(ctx, f"Run {action}?", ensemble.CONFIRM):
        case ElicitResult(action="decline"):
            return "declined"
        case ElicitResult(action="cancel"):
            return "cancelled"
        case answer:
            return f"done: {action}" if content(answer)["ok"] else "refused"


@mcp.tool()
async def order(ctx: Context) -> CallToolResult:
    ordered = content(await form(ctx, "Your order", ensemble.ORDER))
    text = TextContent(type="text", text=json.dumps(ordered))
    return CallToolResult(content=[text], structuredContent=ordered)


@mcp.tool()
async def sign_in(ctx: Context) -> str:
    answer = await ctx.elicit_url("Please sign in", ensemble.SIGN_IN, elicitation_id="sign_in")
    return {"accept": "signed in", "decline": "declined", "cancel": "cancelled"}[answer.action]


@mcp.tool()
async def sum_up(text: str, ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=f"Sum up: {text}"))
    said = await ctx.session.create_message(
        [message], max_tokens=ensemble.MAX_TOKENS, related_request_id=ctx.request_id
    )
    return f"{said.model} says: {said.content.text}"


@mcp.tool()
async def where(ctx: Context) -> str:
    # `ctx.session.list_roots()` cannot be told which call it belongs to.
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    answer = await ctx.session.send_request(ServerRequest(ListRootsRequest()), ListRootsResult, metadata=related)
    return "\n".join(str(root.uri) for root in answer.roots)


@mcp.tool()
async def trip(ctx: Context) -> str:
    who = await form(ctx, "Who travels?", ensemble.NAMED)
    when = await form(ctx, "When?", ensemble.DATED)
    return f"{content(who)['name']} on {content(when)['date']}"


@mcp.tool()
async def quiz(ctx: Context) -> str:
    said: list[str] = []
    for number in range(1, 4):
        message = ensemble.question(number, said[-1] if said else None)
        said.append(content(await form(ctx, message, ensemble.QUIZ))["answer"])
    return " / ".join(said)


@mcp.tool()
def wait() -> str:
    return "ready"


# Prompts


@mcp.prompt()
def greet(name: str, style: str) -> str:
    return f"Write a {style} greeting to {name}."


@mcp.completion()
async def complete(ref, argument, context) -> Completion:
    is_style = getattr(ref, "name", None) == "greet" and argument.name == "style"
    return Completion(values=[style for style in ensemble.STYLES if is_style and style.startswith(argument.value)])


@mcp.prompt()
def grüße_東京(größe: str) -> str:
    return f"größe: {größe}"


@mcp.prompt()
async def letter(ctx: Context) -> str:
    return f"Dear {content(await form(ctx, 'To whom?', ensemble.NAMED))['name']}"


# Resources


for uri in ensemble.ITEMS:
    mcp.add_resource(TextResource(uri=AnyUrl(uri), name=uri, text=uri.replace("://", " ")))


@low.list_resources()
async def list_resources(request: ListResourcesRequest) -> ListResourcesResult:
    cursor = request.params.cursor if request.params else None
    resources, cursor = ensemble.page(await mcp.list_resources(), cursor)
    return ListResourcesResult(resources=resources, nextCursor=cursor)


@mcp.resource("report://{id}")
async def report(id: str, ctx: Context) -> str:
    answer = await form(ctx, f"For whom is report {id}?", ensemble.NAMED)
    return f"report {id} for {content(answer)['name']}"


version = 1


@mcp.resource(ensemble.NOTE)
def note() -> str:
    return f"version {version}"


subscribers: WeakSet[ServerSession] = WeakSet()
"""The sessions that subscribed to the note."""


@low.subscribe_resource()
async def subscribe(uri: AnyUrl) -> None:
    if str(uri) == ensemble.NOTE:
        subscribers.add(low.request_context.session)


@low.unsubscribe_resource()
async def unsubscribe(uri: AnyUrl) -> None:
    subscribers.discard(low.request_context.session)


declare = low.create_initialization_options


def declare_subscriptions(*args, **kwargs):
    options = declare(*args, **kwargs)
    options.capabilities.resources.subscribe = True
    return options


low.create_initialization_options = declare_subscriptions


@mcp.tool()
async def touch() -> str:
    global version
    version += 1
    for session in list(subscribers):
        try:
            await session.send_resource_updated(AnyUrl(ensemble.NOTE))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            subscribers.discard(session)
    return "touched"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    transport = parser.add_mutually_exclusive_group(required=True)
    transport.add_argument("--stdio", action="store_true")
    transport.add_argument("--http", type=int, metavar="PORT")
    port = parser.parse_args().http
    if port is None:
        mcp.run()
    else:
        anyio.run(ensemble.serve, mcp.streamable_http_app(), port)
