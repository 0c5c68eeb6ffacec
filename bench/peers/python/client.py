"""The client under test on the Python SDK: --url URL [--echo N] [--mrtr N]. See CONTRACT.md."""

import argparse
import asyncio
import json
import time

from mcp import Client
from mcp.types import ElicitResult

WARM_UP = 50


async def accept(context, params) -> ElicitResult:
    return ElicitResult(action="accept", content={"ok": True})


async def call(client: Client, tool: str, arguments: dict, expected: str) -> None:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    if text != expected:
        raise SystemExit(f"expected {expected!r}, not {text!r}")


async def part(name: str, count: int, one) -> dict:
    """What so many calls took, as members of the line that is printed."""
    cpu, start = time.process_time_ns(), time.perf_counter_ns()
    for number in range(count):
        await one(number)
    wall, cpu = time.perf_counter_ns() - start, time.process_time_ns() - cpu
    return {f"{name}_n": count, f"{name}_wall_ns": wall, f"{name}_cpu_ns": cpu}


async def work(flags: argparse.Namespace) -> dict:
    async with Client(flags.url, elicitation_callback=accept) as client:

        async def echo(number: int, word: str = "hello") -> None:
            text = f"{word} {number}"
            await call(client, "echo", {"text": text}, text)

        async def confirm(number: int) -> None:
            action = f"deploy {number}"
            await call(client, "confirm", {"action": action}, f"done: {action}")

        for number in range(WARM_UP):
            await echo(number, "warm")
        figures = await part("echo", flags.echo, echo)
        return figures | await part("mrtr", flags.mrtr, confirm)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--echo", type=int, default=5000)
    parser.add_argument("--mrtr", type=int, default=1000)
    print(json.dumps(asyncio.run(work(parser.parse_args()))))


if __name__ == "__main__":
    main()
