"""What interop/CONTRACT.md says, as data: the names, the texts and the forms, for the servers and the clients alike."""

import socket

import uvicorn

NAME, VERSION = "ensemble", "1.0"

ITEMS = [f"item://{n}" for n in range(25)]
NOTE = "note://today"
PAGE = 10
STYLES = ["formal", "friendly", "funny"]

SIGN_IN = "https://example.com/sign-in"
MAX_TOKENS = 100
SLEEP = 30


def fields(**properties: dict) -> dict:
    """The schema of a form whose fields are all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


CONFIRM = fields(ok={"type": "boolean"})
NAMED = fields(name={"type": "string"})
DATED = fields(date={"type": "string", "format": "date"})
QUIZ = fields(answer={"type": "string"})
ORDER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "mail": {"type": "string", "format": "email"},
        "day": {"type": "string", "format": "date"},
        "site": {"type": "string", "format": "uri"},
        "copies": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "weight": {"type": "number"},
        "gift": {"type": "boolean", "default": False},
        "size": {"type": "string", "enum": ["small", "large"]},
        "region": {
            "type": "string",
            "oneOf": [{"const": "eu", "title": "Europe"}, {"const": "us", "title": "America"}],
        },
        "extras": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "string", "enum": ["ribbon", "card", "box"]},
        },
        "note": {"type": "string"},
    },
    "required": ["name", "mail", "day", "copies", "weight", "gift", "size", "region", "extras"],
}


def question(number: int, before: str | None = None) -> str:
    """What `quiz` asks in one round, given the answer to the round before."""
    said = f"You said {before}. " if before is not None else ""
    return f"{said}Question {number}?"


def page(uris: list, cursor: str | None) -> tuple[list, str | None]:
    """One page of a list, and the cursor of the next one."""
    start = int(cursor or 0)
    end = start + PAGE
    return uris[start:end], str(end) if end < len(uris) else None


async def serve(app, port: int) -> None:
    """Serves an ASGI application on a socket that listens already, so that `ready` is true when it is printed."""
    listener = socket.create_server(("127.0.0.1", port))
    print("ready", flush=True)
    # uvicorn logs each request to standard output, which is not for people here.
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listener])
