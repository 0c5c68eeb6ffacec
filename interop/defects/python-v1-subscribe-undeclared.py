"""A server on PyPI `mcp` 1.30.0 that handles `resources/subscribe` declares `resources.subscribe` as false, in
`Server.get_capabilities`. Clients that go by what is declared never subscribe.

Exits with 0 if the defect is there, with 1 if it is gone.
"""

import sys

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.memory import create_connected_server_and_client_session as connected
from mcp.types import Resource
from pydantic import AnyUrl

URI = AnyUrl("note://today")
server = Server("plain")
subscribed = []


@server.list_resources()
async def list_resources() -> list[Resource]:
    return [Resource(uri=URI, name="today")]


@server.subscribe_resource()
async def subscribe(uri: AnyUrl) -> None:
    subscribed.append(uri)


async def main() -> bool:
    async with connected(server) as session:
        await session.subscribe_resource(URI)
        return session.get_server_capabilities().resources.subscribe


declared = anyio.run(main)
if subscribed == [URI] and not declared:
    print("mcp 1: a subscription was taken, but `resources.subscribe` is declared as false")
else:
    sys.exit(f"mcp 1: taken: {subscribed}, `resources.subscribe` is declared as {declared}: the defect is gone")
