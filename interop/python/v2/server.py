"""The server of the grid on PyPI `mcp` 2: `MCPServer`, for 2026-07-28 and for older clients.

Nothing is left out. Three things are done where a reader may expect another way:
- Questions are returned by hand, not declared with `Resolve(...)`: that names its keys after the module and function
  (`__main__:confirm`), asks no URLs, and does not serve prompts and resource templates.
- `MCPServer` lists resources on one page and has no handlers of its own for `resources/subscribe` and
  `logging/setLevel`, so these are registered on the low-level server below it.
- `logging/setLevel` is accepted and changes nothing: the SDK sends all log messages to older clients.
"""

import argparse
import json
import sys
from pathlib import Path

import anyio
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import TextResource
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CallToolResult,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    EmptyResult,
    InputRequest,
    InputRequiredResult,
    ListResourcesResult,
    ListRootsRequest,
    ListRootsResult,
    PaginatedRequestParams,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel

sys.path.append(str(Path(__file__).parent.parent))
import ensemble



class Tokens(TokenVerifier):
    """Two principals of one client, for audits."""

    async def verify_token(self, token: str) -> AccessToken | None:
        subject = {"one": "Ada", "two": "Bob"}.get(token)
        return subject and AccessToken(token=token, client_id="audit", scopes=[], subject=subject)


parser = argparse.ArgumentParser()
transport = parser.add_mutually_exclusive_group(required=True)
transport.add_argument("--stdio", action="store_true")
transport.add_argument("--http", type=int, metavar="PORT")
parser.add_argument("--tokens", action="store_true", help="only with the token `one` or `two`")
options = parser.parse_args()

guarded = {
    "auth": AuthSettings(issuer_url="https://issuer.example.com", resource_server_url=None),
    "token_verifier": Tokens(),
}
mcp = MCPServer(ensemble.NAME, version=ensemble.VERSION, log_level="WARNING", **(guarded if options.tokens else {}))


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


# Asking


def form(message: str, schema: dict) -> ElicitRequest:
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


ANSWERS = {ElicitRequest: ElicitResult, CreateMessageRequest: CreateMessageResult, ListRootsRequest: ListRootsResult}


async def ask(ctx: Context, questions: dict[str, InputRequest], state: str = "[]") -> dict | InputRequiredResult:
    """The answers by key, or what to return to get them.

    A client of 2026-07-28 is told what to answer, and calls again with the answers and the state (which the SDK seals).
    An older client is asked while its call waits. Its questions belong to that call, so they go out on its stream.
    """
    if is_modern(ctx):
        answers = ctx.input_responses or {}
        if questions.keys() <= answers.keys():
            return answers
        return InputRequiredResult(input_requests=questions, request_state=state)
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    return {
        key: await ctx.session.send_request(question, ANSWERS[type(question)], metadata=related)
        for key, question in questions.items()
    }


def is_modern(ctx: Context) -> bool:
    return ctx.protocol_version >= "2026-07-28"


def content(answer: ElicitResult) -> dict:
    if answer.action != "accept" or answer.content is None:
        raise ToolError("this cannot go on without an answer")
    return answer.content


@mcp.tool()
async def confirm(action: str, ctx: Context) -> str | InputRequiredResult:
    answers = await ask(ctx, {"confirm": form(f"Run {action}?", ensemble.CONFIRM)})
    if isinstance(answers, InputRequiredResult):
        return answers
    match answers["confirm"]:
        case ElicitResult(action="decline"):
            return "declined"
        case ElicitResult(action="cancel"):
            return "cancelled"
        case answer:
            return f"done: {action}" if content(answer)["ok"] else "refused"


@mcp.tool()
async def order(ctx: Context) -> CallToolResult | InputRequiredResult:
    answers = await ask(ctx, {"order": form("Your order", ensemble.ORDER)})
    if isinstance(answers, InputRequiredResult):
        return answers
    ordered = content(answers["order"])
    return CallToolResult(content=[TextContent(text=json.dumps(ordered))], structured_content=ordered)


@mcp.tool()
async def sign_in(ctx: Context) -> str | InputRequiredResult:
    # Only clients before 2026-07-28 know elicitations by an id.
    elicitation_id = None if is_modern(ctx) else "sign_in"
    url = ElicitRequestURLParams(message="Please sign in", url=ensemble.SIGN_IN, elicitation_id=elicitation_id)
    answers = await ask(ctx, {"sign_in": ElicitRequest(params=url)})
    if isinstance(answers, InputRequiredResult):
        return answers
    return {"accept": "signed in", "decline": "declined", "cancel": "cancelled"}[answers["sign_in"].action]


@mcp.tool()
async def sum_up(text: str, ctx: Context) -> str | InputRequiredResult:
    message = SamplingMessage(role="user", content=TextContent(text=f"Sum up: {text}"))
    sampling = CreateMessageRequestParams(messages=[message], max_tokens=ensemble.MAX_TOKENS)
    answers = await ask(ctx, {"sum_up": CreateMessageRequest(params=sampling)})
    if isinstance(answers, InputRequiredResult):
        return answers
    said = answers["sum_up"]
    return f"{said.model} says: {said.content.text}"


@mcp.tool()
async def where(ctx: Context) -> str | InputRequiredResult:
    answers = await ask(ctx, {"where": ListRootsRequest()})
    if isinstance(answers, InputRequiredResult):
        return answers
    return "\n".join(str(root.uri) for root in answers["where"].roots)


@mcp.tool()
async def trip(ctx: Context) -> str | InputRequiredResult:
    answers = await ask(ctx, {"who": form("Who travels?", ensemble.NAMED), "when": form("When?", ensemble.DATED)})
    if isinstance(answers, InputRequiredResult):
        return answers
    return f"{content(answers['who'])['name']} on {content(answers['when'])['date']}"


@mcp.tool()
async def quiz(ctx: Context) -> str | InputRequiredResult:
    said: list[str] = json.loads(ctx.request_state or "[]")
    while len(said) < 3:
        key = f"q{len(said) + 1}"
        message = ensemble.question(len(said) + 1, said[-1] if said else None)
        answers = await ask(ctx, {key: form(message, ensemble.QUIZ)}, json.dumps(said))
        if isinstance(answers, InputRequiredResult):
            return answers
        said.append(content(answers[key])["answer"])
    return " / ".join(said)


@mcp.tool()
async def wait(ctx: Context) -> str | InputRequiredResult:
    times = int(ctx.request_state or 0)
    if is_modern(ctx) and times < 2:
        return InputRequiredResult(request_state=str(times + 1))
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
async def letter(ctx: Context) -> str | InputRequiredResult:
    answers = await ask(ctx, {"to": form("To whom?", ensemble.NAMED)})
    if isinstance(answers, InputRequiredResult):
        return answers
    return f"Dear {content(answers['to'])['name']}"


# Resources


for uri in ensemble.ITEMS:
    mcp.add_resource(TextResource(uri=uri, name=uri, text=uri.replace("://", " ")))


@mcp.resource("report://{id}")
async def report(id: str, ctx: Context) -> str | InputRequiredResult:
    answers = await ask(ctx, {"reader": form(f"For whom is report {id}?", ensemble.NAMED)})
    if isinstance(answers, InputRequiredResult):
        return answers
    return f"report {id} for {content(answers['reader'])['name']}"


version = 1


@mcp.resource(ensemble.NOTE)
def note() -> str:
    return f"version {version}"


@mcp.tool()
async def touch(ctx: Context) -> str:
    global version
    version += 1
    await ctx.notify_resource_updated(ensemble.NOTE)
    for session in list(subscribers.values()):
        await session.send_resource_updated(ensemble.NOTE)
    return "touched"


# What `MCPServer` leaves to the low-level server


subscribers = {}
"""The sessions of older clients that subscribed to the note, by the id of their connection."""


def connection(ctx) -> str:
    return ctx.request.headers["mcp-session-id"] if ctx.request else "stdio"


async def on_subscribe(ctx, params: SubscribeRequestParams) -> EmptyResult:
    if params.uri == ensemble.NOTE:
        subscribers[connection(ctx)] = ctx.session
    return EmptyResult()


async def on_unsubscribe(ctx, params: UnsubscribeRequestParams) -> EmptyResult:
    subscribers.pop(connection(ctx), None)
    return EmptyResult()


async def on_set_level(ctx, params: SetLevelRequestParams) -> EmptyResult:
    return EmptyResult()


async def on_list_resources(ctx, params: PaginatedRequestParams) -> ListResourcesResult:
    resources, cursor = ensemble.page(await mcp.list_resources(), params.cursor)
    return ListResourcesResult(resources=resources, next_cursor=cursor)


low = mcp._lowlevel_server
low.add_request_handler("resources/subscribe", SubscribeRequestParams, on_subscribe)
low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, on_unsubscribe)
low.add_request_handler("logging/setLevel", SetLevelRequestParams, on_set_level)
low.add_request_handler("resources/list", PaginatedRequestParams, on_list_resources)


if __name__ == "__main__":
    if options.http is None:
        mcp.run()
    else:
        anyio.run(ensemble.serve, mcp.streamable_http_app(), options.http)
