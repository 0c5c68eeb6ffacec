"""The server under test on the Python SDK: --http PORT [--tools N], or --stdio. See CONTRACT.md."""

import argparse
import json

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from pydantic import BaseModel

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
PAD = "x" * 140


class Agreed(BaseModel):
    ok: bool


class Address(BaseModel):
    street: str
    city: str
    zip: str
    country: str


class Line(BaseModel):
    sku: str
    title: str
    quantity: int
    price: float
    tags: list[str]


class Order(BaseModel):
    id: str
    customer: str
    address: Address
    lines: list[Line]
    gift: bool
    note: str | None


def say(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


def end(agreed: bool, action: str) -> CallToolResult:
    return say(f"done: {action}" if agreed else "refused")


async def echo(text: str) -> CallToolResult:
    """Repeats its text."""
    return say(text)


async def slow(ms: int) -> CallToolResult:
    """Answers after a while."""
    await anyio.sleep(ms / 1000)
    return say(f"slept {ms}")


async def nested(orders: list[Order]) -> CallToolResult:
    """Counts what is ordered."""
    lines = [line for order in orders for line in order.lines]
    return say(f"{len(lines)} lines, {sum(line.quantity for line in lines)} pieces")


async def confirm(action: str, ctx: Context) -> CallToolResult | InputRequiredResult:
    """Asks before it acts."""
    if ctx.request_context.protocol_version < "2026-07-28":
        answer = await ctx.elicit(f"Run {action}?", Agreed)
        return end(answer.action == "accept" and answer.data.ok, action)
    answer = (ctx.input_responses or {}).get("confirm")
    # The SDK seals the state on its way out, and opens it before it is here again.
    if ctx.request_state is None or not isinstance(answer, ElicitResult):
        form = ElicitRequestFormParams(message=f"Run {action}?", requested_schema=FORM)
        state = {"step": "confirm", "action": action, "pad": PAD}
        return InputRequiredResult(
            input_requests={"confirm": ElicitRequest(params=form)},
            request_state=json.dumps(state, separators=(",", ":")),
        )
    state = json.loads(ctx.request_state)
    agreed = answer.action == "accept" and (answer.content or {}).get("ok") is True
    return end(agreed and state["step"] == "confirm", state["action"])


async def filler(a: str, b: int | None = None, c: bool | None = None) -> CallToolResult:
    return say("filler")


def server(fillers: int) -> MCPServer:
    server = MCPServer("bench", version="1.0.0", log_level="ERROR")
    for tool in (echo, slow, nested, confirm):
        server.add_tool(tool)
    for index in range(fillers):
        server.add_tool(filler, name=f"filler_{index:04}", description=f"Filler tool number {index}.")
    return server


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--tools", type=int, default=0)
    flags = parser.parse_args()
    if flags.http is None:
        server(flags.tools).run("stdio")
    else:
        app = server(flags.tools).streamable_http_app()
        # Connections stay open while others have their turn.
        quiet = {"log_level": "error", "access_log": False, "timeout_keep_alive": 60}
        uvicorn.run(app, host="127.0.0.1", port=flags.http, **quiet)


if __name__ == "__main__":
    main()
