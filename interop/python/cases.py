"""What a client does, case by case, and what it says of each. A client of either SDK is a `Peer` of this module."""

import argparse
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field

import anyio
import ensemble

LIMIT = 20
"""Seconds for a case."""


class Unsupported(Exception):
    """The SDK cannot do at all what a case needs."""


@dataclass
class Question:
    """What a server asked. The key is known in 2026-07-28 only."""

    message: str | None = None
    schema: dict | None = None
    url: str | None = None
    sampling: dict | None = None
    key: str | None = None


@dataclass
class Answer:
    action: str = "accept"
    content: dict | None = None


@dataclass
class Result:
    """What a tool answered; `error` is the text of an error, whichever way it came."""

    content: list[tuple[str, str]] = field(default_factory=list)
    structured: dict | None = None
    error: str | None = None


class Peer(ABC):
    """A connected client, and what was sent to it besides answers."""

    modern: bool

    def __init__(self) -> None:
        self.logs: list[tuple[str, str | None, object]] = []
        self.expected: list[tuple[Question, Answer]] = []
        self.surprises: list[str] = []

    def answer(self, asked: Question) -> Answer:
        """The answer that the case has for a question. A question that no case expects is cancelled."""
        for at, (question, answer) in enumerate(self.expected):
            if question.message == asked.message:
                del self.expected[at]
                self.surprises += differences(question, asked)
                return answer
        self.surprises.append(f"unexpected question: {asked}")
        return Answer("cancel")

    @abstractmethod
    def server(self) -> tuple[str, str]: ...

    @abstractmethod
    async def tools(self) -> dict[str, dict | None]:
        """The output schemas by the names of the tools."""

    @abstractmethod
    async def prompts(self) -> dict[str, list[str]]:
        """The names of the arguments by the names of the prompts."""

    @abstractmethod
    async def templates(self) -> list[str]: ...

    @abstractmethod
    async def pages(self) -> list[list[str]]:
        """The URIs of the resources, page by page."""

    @abstractmethod
    async def call(self, tool: str, arguments: dict, on_progress: Callable | None = None) -> Result: ...

    @abstractmethod
    async def read(self, uri: str) -> list[tuple[str, str]]: ...

    @abstractmethod
    async def prompt(self, name: str, arguments: dict[str, str]) -> list[tuple[str, str]]: ...

    @abstractmethod
    async def complete(self, prompt: str, argument: str, value: str) -> list[str]: ...

    @abstractmethod
    async def want_logs(self) -> None: ...

    @abstractmethod
    async def cancel(self, tool: str, after: float) -> None:
        """Calls a tool, and cancels that after some seconds."""

    @abstractmethod
    def listen(self, uri: str) -> AbstractAsyncContextManager[Callable[[], Awaitable[None]]]:
        """Listens for changes of a resource; what it gives returns once there was one."""

    @abstractmethod
    async def round(self, tool: str, state: str | None = None) -> tuple[str | None, list[str]] | None:
        """One round of a call by hand: the state and the keys of the questions it came back with, none at the end."""


# Comparing


def check(what: str, expected: object, got: object) -> None:
    if expected != got:
        raise AssertionError(f"{what}: expected {shown(expected)}, got {shown(got)}")


def shown(value: object) -> str:
    text = f"`{value}`" if isinstance(value, str) else repr(value)
    return text if len(text) < 400 else f"{text[:200]}… ({len(text)} characters)"


def differences(expected: Question, asked: Question) -> list[str]:
    pairs = [("url", expected.url, asked.url), ("sampling", expected.sampling, asked.sampling)]
    if asked.key is not None:
        pairs.append(("key", expected.key, asked.key))
    found = [f"{name}: expected {shown(a)}, got {shown(b)}" for name, a, b in pairs if a != b]
    return found + lacking(expected.schema, asked.schema, "schema")


def lacking(expected: object, got: object, path: str) -> list[str]:
    """Where a schema differs from the expected one. It may say more (titles, descriptions), but not ask for more."""
    if isinstance(expected, dict) and isinstance(got, dict):
        if path == "schema.properties" and expected.keys() != got.keys():
            return [f"{path}: expected {list(expected)}, got {list(got)}"]
        return [line for key in expected for line in lacking(expected[key], got.get(key), f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        if path == "schema.required":
            expected, got = sorted(expected), sorted(got)
        pairs = zip(expected, got, strict=True)
        return [line for at, (a, b) in enumerate(pairs) for line in lacking(a, b, f"{path}[{at}]")]
    return [] if expected == got else [f"{path}: expected {shown(expected)}, got {shown(got)}"]


async def until(true: Callable[[], bool]) -> None:
    """Waits for what may come after an answer: notifications are not ordered with it. The limit of the case ends it."""
    while not true():
        await anyio.sleep(0.05)


# Cases


CASES: dict[str, Callable[[Peer], Awaitable[None]]] = {}


def case(name: str):
    def register(function):
        CASES[name] = function
        return function

    return register


def check_text(tool: str, text: str, result: Result) -> None:
    check(f"error of {tool}", None, result.error)
    check(tool, [("text", text)], result.content)


async def says(peer: Peer, tool: str, arguments: dict, text: str) -> None:
    check_text(tool, text, await peer.call(tool, arguments))


@contextmanager
def answering(peer: Peer, *script: tuple[Question, Answer]) -> Iterator[None]:
    """Every question of the script is asked, as it should be, and no other."""
    peer.expected, peer.surprises = list(script), []
    yield
    check("wrong questions", [], peer.surprises)
    check("questions not asked", [], [question.message for question, _ in peer.expected])


async def asks(peer: Peer, tool: str, arguments: dict, text: str, *script: tuple[Question, Answer]) -> None:
    with answering(peer, *script):
        result = await peer.call(tool, arguments)
    check_text(tool, text, result)


@case("list")
async def list_(peer: Peer) -> None:
    check("server", (ensemble.NAME, ensemble.VERSION), peer.server())
    check("tools", sorted(TOOLS), sorted(await peer.tools()))
    check("prompts", {"greet": ["name", "style"], "grüße_東京": ["größe"], "letter": []}, await peer.prompts())
    check("templates", ["report://{id}"], await peer.templates())


TOOLS = "echo add size count log sleep slept touch confirm order sign_in sum_up where trip quiz wait".split()


@case("tools")
async def tools(peer: Peer) -> None:
    await says(peer, "echo", {"text": "hello"}, "hello")
    for tool, arguments in [("no_such_tool", {}), ("add", {"b": 40})]:
        result = await peer.call(tool, arguments)
        if result.error is None:
            raise AssertionError(f"{tool} with {arguments}: expected an error, got {shown(result)}")
        await says(peer, "echo", {"text": "still here"}, "still here")


@case("unicode")
async def unicode(peer: Peer) -> None:
    text = '🎼 ünïcödé "quoted"\n\u0007'
    await says(peer, "size", {"größe": text}, f"größe: {text}")
    messages = await peer.prompt("grüße_東京", {"größe": text})
    check("grüße_東京", [("user", f"größe: {text}")], messages)


@case("structured")
async def structured(peer: Peer) -> None:
    if (await peer.tools())["add"] is None:
        raise AssertionError("add: expected an output schema, got none")
    result = await peer.call("add", {"a": 2, "b": 40})
    check("error of add", None, result.error)
    check("add", {"sum": 42}, result.structured)


@case("large")
async def large(peer: Peer) -> None:
    text = "0123456789abcdef" * 65_536
    await says(peer, "echo", {"text": text}, text)


@case("progress")
async def progress(peer: Peer) -> None:
    reports = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    check_text("count", "counted 5", await peer.call("count", {"to": 5}, on_progress))
    with anyio.move_on_after(5):
        await until(lambda: len(reports) >= 5)
    check("reports", [(n, 5, f"step {n}") for n in range(1, 6)], reports)


@case("log")
async def log(peer: Peer) -> None:
    await peer.want_logs()
    peer.logs.clear()
    await says(peer, "log", {}, "logged")
    with anyio.move_on_after(5):
        await until(lambda: len(peer.logs) >= 2)
    check("logs", [("info", ensemble.NAME, "one"), ("warning", ensemble.NAME, "two")], peer.logs)


@case("cancel-call")
async def cancel_call(peer: Peer) -> None:
    await peer.call("slept", {})
    await peer.cancel("sleep", after=1)
    # That a call is over may reach a server after the next call.
    with anyio.move_on_after(10):
        while (await peer.call("slept", {})).content != [("text", "cancelled")]:
            await anyio.sleep(0.2)
        return
    raise AssertionError("slept: expected `cancelled` within 10 seconds")


@case("pages")
async def pages(peer: Peer) -> None:
    got = await peer.pages()
    check("resources", sorted([*ensemble.ITEMS, ensemble.NOTE]), sorted(uri for page in got for uri in page))
    if len(got) < 3:
        raise AssertionError(f"pages: expected three or more, got {len(got)}")


@case("read")
async def read(peer: Peer) -> None:
    check("item://7", [("item://7", "item 7")], await peer.read("item://7"))


@case("complete")
async def complete(peer: Peer) -> None:
    check("f", ["formal", "friendly", "funny"], await peer.complete("greet", "style", "f"))
    check("fo", ["formal"], await peer.complete("greet", "style", "fo"))


@case("prompt")
async def prompt(peer: Peer) -> None:
    messages = await peer.prompt("greet", {"name": "Ada", "style": "formal"})
    check("greet", [("user", "Write a formal greeting to Ada.")], messages)


@case("changes")
async def changes(peer: Peer) -> None:
    before = await note(peer)
    async with peer.listen(ensemble.NOTE) as told:
        await says(peer, "touch", {}, "touched")
        await told()
    after = await note(peer)
    if after <= before:
        raise AssertionError(f"note: expected a version after {before}, got {after}")


async def note(peer: Peer) -> int:
    [(uri, text)] = await peer.read(ensemble.NOTE)
    number = text.removeprefix("version ")
    check("note", (ensemble.NOTE, f"version {int(number)}"), (uri, text))
    return int(number)


ORDERED = {
    "name": "Ada",
    "mail": "ada@example.com",
    "day": "2026-07-28",
    "site": "https://example.com/a?b=c",
    "copies": 3,
    "weight": 1.5,
    "gift": True,
    "size": "large",
    "region": "us",
    "extras": ["ribbon", "box"],
}


@case("form")
async def form(peer: Peer) -> None:
    with answering(peer, (Question("Your order", ensemble.ORDER, key="order"), Answer(content=ORDERED))):
        result = await peer.call("order", {})
    check("error of order", None, result.error)
    # Compared as JSON, where true is not 1.
    check("order", json.dumps(ORDERED, sort_keys=True), json.dumps(result.structured, sort_keys=True))


CONFIRM = Question("Run deploy?", ensemble.CONFIRM, key="confirm")


@case("accept")
async def accept(peer: Peer) -> None:
    await asks(peer, "confirm", {"action": "deploy"}, "done: deploy", (CONFIRM, Answer(content={"ok": True})))
    await asks(peer, "confirm", {"action": "deploy"}, "refused", (CONFIRM, Answer(content={"ok": False})))


@case("decline")
async def decline(peer: Peer) -> None:
    await asks(peer, "confirm", {"action": "deploy"}, "declined", (CONFIRM, Answer("decline")))


@case("cancel")
async def cancel(peer: Peer) -> None:
    await asks(peer, "confirm", {"action": "deploy"}, "cancelled", (CONFIRM, Answer("cancel")))


@case("url")
async def url(peer: Peer) -> None:
    question = Question("Please sign in", url=ensemble.SIGN_IN, key="sign_in")
    await asks(peer, "sign_in", {}, "signed in", (question, Answer()))
    await asks(peer, "sign_in", {}, "declined", (question, Answer("decline")))


@case("sampling")
async def sampling(peer: Peer) -> None:
    asked = {"messages": [("user", "Sum up: a long story")], "max_tokens": ensemble.MAX_TOKENS}
    answer = Answer(content={"model": "ensemble-1", "text": "short"})
    script = (Question("sampling", sampling=asked, key="sum_up"), answer)
    await asks(peer, "sum_up", {"text": "a long story"}, "ensemble-1 says: short", script)


@case("roots")
async def roots(peer: Peer) -> None:
    uris = ["file:///srv/one", "file:///srv/two"]
    script = (Question("roots", key="where"), Answer(content={"uris": uris}))
    await asks(peer, "where", {}, "\n".join(uris), script)


@case("together")
async def together(peer: Peer) -> None:
    who = (Question("Who travels?", ensemble.NAMED, key="who"), Answer(content={"name": "Ada"}))
    when = (Question("When?", ensemble.DATED, key="when"), Answer(content={"date": "2026-07-28"}))
    await asks(peer, "trip", {}, "Ada on 2026-07-28", who, when)
    if peer.modern:
        _, keys = await peer.round("trip") or (None, [])
        check("keys of the round", ["when", "who"], sorted(keys))


@case("rounds")
async def rounds(peer: Peer) -> None:
    script = [
        (Question(ensemble.question(n, before), ensemble.QUIZ, key=f"q{n}"), Answer(content={"answer": answer}))
        for n, before, answer in [(1, None, "a"), (2, "a", "b"), (3, "b", "c")]
    ]
    await asks(peer, "quiz", {}, "a / b / c", *script)


@case("state-only")
async def state_only(peer: Peer) -> None:
    if not peer.modern:
        raise Unsupported("only 2026-07-28 has states")
    await asks(peer, "wait", {}, "ready")
    # The SDK does not tell how many rounds there were, so they are counted by hand.
    state = None
    for _ in range(2):
        state, keys = await peer.round("wait", state) or (None, [])
        if state is None or keys:
            raise AssertionError(f"wait: expected a state and no question, got {shown(state)} and {keys}")
    check("wait, third round", None, await peer.round("wait", state))


@case("prompt-asks")
async def prompt_asks(peer: Peer) -> None:
    with answering(peer, (Question("To whom?", ensemble.NAMED, key="to"), Answer(content={"name": "Ada"}))):
        messages = await peer.prompt("letter", {})
    check("letter", [("user", "Dear Ada")], messages)


@case("template-asks")
async def template_asks(peer: Peer) -> None:
    question = Question("For whom is report 7?", ensemble.NAMED, key="reader")
    with answering(peer, (question, Answer(content={"name": "Ada"}))):
        contents = await peer.read("report://7")
    check("report://7", [("report://7", "report 7 for Ada")], contents)


# The program


@dataclass
class Run:
    """What the command line asks for."""

    modern: bool
    url: str | None
    command: list[str]
    cases: list[str]


def parse() -> Run:
    before, command = sys.argv[1:], []
    if "--" in before:
        at = before.index("--")
        before, command = before[:at], before[at + 1 :]
    parser = argparse.ArgumentParser(usage="%(prog)s --era modern|legacy [--url URL] CASE... [-- COMMAND ARGS...]")
    parser.add_argument("--era", choices=["modern", "legacy"], required=True)
    parser.add_argument("--url")
    parser.add_argument("cases", nargs="+", choices=[*CASES], metavar="CASE")
    options = parser.parse_args(before)
    if bool(options.url) == bool(command):
        parser.error("either --url or a command after -- is needed")
    return Run(options.era == "modern", options.url, command, options.cases)


def report(name: str, ok: bool | None, why: str | None = None) -> None:
    line = {"case": name, "ok": ok} | ({"why": why} if why else {})
    print(json.dumps(line, ensure_ascii=False), flush=True)


async def go_through(peer: Peer, cases: list[str]) -> None:
    for name in cases:
        try:
            with anyio.fail_after(LIMIT):
                await CASES[name](peer)
            report(name, True)
        except Unsupported as why:
            report(name, None, str(why))
        except TimeoutError:
            report(name, False, f"not done after {LIMIT} seconds")
        except Exception as why:
            report(name, False, f"{why}" if isinstance(why, AssertionError) else f"{type(why).__name__}: {why}")
