#!/usr/bin/env python3
"""Opens sealed states, after ../sealing-format.md and nothing else.

    decode.py vectors.json                       checks vectors; exits with 1 if any differs
    decode.py --key hex:... [--key ...] STATE    prints what a state says, as JSON

A key is `hex:` or `base64:` and the secret. The secret of the call is not shown without --show-secret.
Needs Python 3.9 and the package `cryptography`, 42 or newer.
"""

import argparse
import base64
import binascii
import hashlib
import json
import re
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

LONGEST = 1 << 20
METHODS = {1: "tools/call", 2: "prompts/get", 3: "resources/read"}
BY_HAND, PENDING, ANSWERED, STEP, ROUNDS, STATE, HANDLE = range(1, 8)
# Those that stand at most once.
SINGLE = {ROUNDS, STATE, HANDLE}


class Refused(Exception):
    """A state that does not open; the word says why."""


class Ambiguous(Exception):
    """A JSON text without a canonical form; the word says why."""


# Keys


class Key:
    def __init__(self, secret):
        if len(secret) < 32:
            raise ValueError("a key has at least 32 bytes")
        self.id = derive(secret, b"antiphon key id v1", 4)
        self.states = AESGCMSIV(derive(secret, b"antiphon requestState v1", 32))
        self.stored = AESGCMSIV(derive(secret, b"antiphon store v1", 32))


def derive(secret, info, length):
    return HKDF(SHA256(), length, salt=None, info=info).derive(secret)


def decrypt(cipher, nonce, sealed, bound):
    try:
        return cipher.decrypt(nonce, sealed, bound)
    except InvalidTag:
        raise Refused("tampered") from None


def key_of(keys, key_id):
    for key in keys:
        if key.id == key_id:
            return key
    raise Refused("unknown_key")


# Envelope


def envelope(text, longest=LONGEST):
    """The form of an envelope, and its bytes."""
    if len(text.encode(errors="surrogateescape")) > -(-longest * 4 // 3):
        raise Refused("too_long")
    if re.search(r"[^A-Za-z0-9_=-]", text):
        raise Refused("alphabet")
    if "=" in text:
        raise Refused("spelling")
    if len(text) % 4 == 1:
        raise Refused("truncated")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    length = int.from_bytes(data[1:4], "big") if len(data) >= 4 else None
    spelling = base64.urlsafe_b64encode(data).decode().rstrip("=")
    if spelling != text:
        raise Refused("truncated" if length is None or len(data) < length else "spelling")
    if not data:
        raise Refused("truncated")
    if data[0] not in (1, 2):
        raise Refused("unknown_form")
    if length is None or len(data) < length:
        raise Refused("truncated")
    if len(data) > length:
        raise Refused("extended")
    return data[0], data


def open_state(keys, text, longest=LONGEST):
    """The payload of a state that was sealed under a key."""
    form, data = envelope(text, longest)
    if form != 1:
        raise Refused("unknown_form")
    if len(data) < 4 + 4 + 12 + 16:
        raise Refused("truncated")
    head, nonce, sealed = data[:8], data[8:20], data[20:]
    return decrypt(key_of(keys, head[4:]).states, nonce, sealed, head)


def open_stored(keys, kind, state_id, kept):
    """What was kept in a store for a state: `b` a body, `a` an answer."""
    if len(kept) < 4 + 12 + 16:
        raise Refused("truncated")
    key_id, nonce, sealed = kept[:4], kept[4:16], kept[16:]
    return decrypt(key_of(keys, key_id).stored, nonce, sealed, kind + state_id)


# Payload

CLAIMS = [
    ("method", 1),
    ("issued", 6),
    ("expires", 6),
    ("deadline", 6),
    ("round", 2),
    ("id", 16),
    ("secret", 16),
    ("audience", 16),
    ("target", 16),
    ("arguments", 16),
    ("principal", 16),
]


def read_payload(payload):
    """The claims and the body."""
    claims, body = read_fields(payload, CLAIMS)
    if claims["method"] not in METHODS:
        raise Refused("contents")
    claims["method"] = METHODS[claims["method"]]
    return claims, read_body(body)


def read_fields(data, fields):
    """Fields of fixed length, numbers unless they have 16 bytes; and what is behind them."""
    values, at = {}, 0
    for name, length in fields:
        part = data[at : at + length]
        if len(part) < length:
            raise Refused("contents")
        values[name] = part.hex() if length == 16 else int.from_bytes(part, "big")
        at += length
    return values, data[at:]


def read_body(data):
    sections = []
    while data:
        length = int.from_bytes(data[1:4], "big")
        if len(data) < 4 + length:
            raise Refused("contents")
        sections.append((data[0], data[4 : 4 + length]))
        data = data[4 + length :]
    kinds = [kind for kind, _ in sections]
    if any(kind not in range(BY_HAND, HANDLE + 1) for kind in kinds) or kinds != sorted(kinds):
        raise Refused("contents")
    if any(kinds.count(kind) > 1 for kind in SINGLE) or (HANDLE in kinds and len(kinds) > 1):
        raise Refused("contents")
    body = {
        "by_hand": [],
        "pending": [],
        "answered": [],
        "steps": [],
        "rounds": None,
        "state": None,
        "handle": None,
    }
    for kind, part in sections:
        if kind == BY_HAND:
            body["by_hand"].append(utf8(part))
        elif kind == PENDING:
            body["pending"].append(read_question(part, [], "note"))
        elif kind == ANSWERED:
            body["answered"].append(read_question(part, [("round", 2)], "answer"))
        elif kind == STEP:
            fields, rest = read_fields(part, [("round", 2), ("shared", 1)])
            body["steps"].append({**fields, **read_key(rest, "result")})
        elif kind == ROUNDS:
            fields, rest = read_fields(part, [("rounds", 2)])
            if rest:
                raise Refused("contents")
            body.update(fields)
        elif kind == STATE:
            body["state"] = utf8(part)
        else:
            fields, rest = read_fields(part, [("handle", 16)])
            if rest:
                raise Refused("contents")
            body.update(fields)
    return body


def read_question(part, more, last):
    head = [("digest", 16), ("tries", 1), ("drifts", 1)]
    fields, rest = read_fields(part, head + more)
    return {**fields, **read_key(rest, last)}


def read_key(data, last):
    """A key with its length before it, then text to the end."""
    if not data or len(data) < 1 + data[0]:
        raise Refused("contents")
    end = 1 + data[0]
    return {"key": utf8(data[1:end]), last: utf8(data[end:])}


def utf8(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("contents") from None


# Digests


def digest(secret, tag, data):
    mac = CMAC(AES(secret))
    mac.update(tag + data)
    return mac.finalize().hex()


def principal(parts):
    data = b""
    for part in parts:
        if part is None:
            data += b"\0"
        else:
            text = part.encode()
            data += b"\1" + len(text).to_bytes(8, "big") + text
    return data


# Links


class BadLink(Exception):
    """A link that somebody gets nothing by; the word says why."""


def make_link(secret, key, until, subject):
    """What a link says, as text."""
    front = bytes.fromhex(digest(secret, b"L", key.encode())) + until.to_bytes(6, "big")
    return base64.urlsafe_b64encode(front + reader(front, subject)).decode().rstrip("=")


def open_link(text, subject, now):
    if not re.fullmatch(r"[A-Za-z0-9_-]{51}", text):
        raise BadLink("text")
    data = base64.urlsafe_b64decode(text + "=")
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != text:
        raise BadLink("text")
    front, who = data[:22], data[22:]
    if who not in (reader(front, subject), reader(front, None)):
        raise BadLink("subject")
    if now >= int.from_bytes(front[16:], "big"):
        raise BadLink("over")
    return data


def reader(front, subject):
    """Who is to open a link."""
    known = b"\0" if subject is None else b"\1" + subject.encode()
    return hashlib.sha256(b"antiphon link\0" + front + known).digest()[:16]


# Canonical JSON: a reader of its own, for exact numbers and names that stand twice

NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
WORDS = {"null": b"n", "true": b"t", "false": b"f"}


def canonical(text):
    return Canonical(text).whole()


class Canonical:
    def __init__(self, text):
        self.text, self.at, self.fault = text, 0, None

    def whole(self):
        form = self.value(0)
        self.space()
        if self.at < len(self.text):
            raise Ambiguous("not_json")
        if self.fault:
            raise Ambiguous(self.fault)
        return form

    def value(self, depth):
        self.space()
        first = self.text[self.at : self.at + 1]
        if first and first in "{[":
            if depth == 128:
                raise Ambiguous("too_deep")
            return self.object(depth + 1) if first == "{" else self.array(depth + 1)
        if first == '"':
            return string_form(self.string())
        for word, form in WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return form
        number = NUMBER.match(self.text, self.at)
        if not number:
            raise Ambiguous("not_json")
        self.at = number.end()
        return number_form(number)

    def array(self, depth):
        self.expect("[")
        items = []
        if not self.eat("]"):
            items.append(self.value(depth))
            while self.eat(","):
                items.append(self.value(depth))
            self.expect("]")
        return b"[" + b"".join(items) + b"]"

    def object(self, depth):
        self.expect("{")
        members = []
        if not self.eat("}"):
            members.append(self.member(depth))
            while self.eat(","):
                members.append(self.member(depth))
            self.expect("}")
        members.sort()
        names = [name for name, _ in members]
        if len(set(names)) < len(names):
            self.fault = self.fault or "repeated"
        forms = [string_form(name) + value for name, value in members]
        return b"{" + b"".join(forms) + b"}"

    def member(self, depth):
        self.space()
        name = self.string()
        self.expect(":")
        return name, self.value(depth)

    def string(self):
        """A string as UTF-8."""
        if self.take(1) != '"':
            raise Ambiguous("not_json")
        chars = []
        while (char := self.take(1)) != '"':
            if char < " ":
                raise Ambiguous("not_json")
            if char == "\\":
                char = self.escape()
            chars.append(char)
        return "".join(chars).encode()

    def escape(self):
        char = self.take(1)
        if char != "u":
            if char not in ESCAPES:
                raise Ambiguous("not_json")
            return ESCAPES[char]
        code = self.unit()
        if 0xD800 <= code < 0xDC00 and self.text.startswith("\\u", self.at):
            back = self.at
            self.at += 2
            low = self.unit()
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
            self.at = back
        if 0xD800 <= code < 0xE000:
            self.fault = self.fault or "surrogate"
            return ""
        return chr(code)

    def unit(self):
        digits = self.take(4)
        if not re.fullmatch("[0-9A-Fa-f]{4}", digits):
            raise Ambiguous("not_json")
        return int(digits, 16)

    def take(self, count):
        taken = self.text[self.at : self.at + count]
        if len(taken) < count:
            raise Ambiguous("not_json")
        self.at += count
        return taken

    def space(self):
        while self.text[self.at : self.at + 1] in (" ", "\t", "\n", "\r"):
            self.at += 1

    def eat(self, char):
        self.space()
        if not self.text.startswith(char, self.at):
            return False
        self.at += 1
        return True

    def expect(self, char):
        if not self.eat(char):
            raise Ambiguous("not_json")


def string_form(data):
    return b"s%d:" % len(data) + data


def number_form(number):
    minus, whole, fraction, sign, exponent = (part or "" for part in number.groups())
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return b"#0e0;"
    exponent = exponent.lstrip("0") or "0"
    power = None
    # No more digits than 64 bits have, as Python reads no number of any length.
    if len(exponent) <= 19 and fits(written := int(sign + exponent)):
        shortest = digits.rstrip("0")
        # Zeros at the end of a fraction move nothing.
        power = written - len(fraction) + len(digits) - len(shortest)
        digits = shortest
    if power is None or not fits(power):
        return f"~{number[0]};".encode()
    return f"#{minus}{digits}e{power};".encode()


def fits(power):
    return -(1 << 63) <= power < 1 << 63


# Vectors


class Checks:
    def __init__(self):
        self.count, self.wrong = 0, []

    def same(self, what, made, expected):
        self.count += 1
        if made != expected:
            self.wrong.append(f"{what}: {made!r} instead of {expected!r}")


def outcome(kind, function, *arguments):
    """What a function returns, or the word that it refuses with."""
    try:
        return function(*arguments)
    except kind as why:
        return f"{kind.__name__}: {why}"


def check_states(checks, keys, states):
    for vector in states:
        name, made_for = vector["name"], vector["made_for"]

        def same(what, made, expected, name=name):
            checks.same(f"state `{name}`, {what}", made, expected)

        try:
            _, data = envelope(vector["state"])
            claims, body = read_payload(open_state([keys[vector["key"]]], vector["state"]))
        except Refused as why:
            same("refused", str(why), None)
            continue
        same("bytes", len(data), vector["bytes"])
        same("nonce", data[8:20].hex(), vector["nonce"])
        same("claims", claims, vector["claims"])
        same("body", body, vector["body"])
        secret = bytes.fromhex(claims["secret"])
        arguments = "{}" if made_for["arguments"] is None else made_for["arguments"]
        for claim, tag, data in [
            ("audience", b"A", made_for["audience"].encode()),
            ("target", b"T", made_for["target"].encode()),
            ("arguments", b"R", canonical(arguments)),
            ("principal", b"P", principal(made_for["principal"])),
        ]:
            same(f"digest of the {claim}", digest(secret, tag, data), claims[claim])
        same("flow", digest(secret, b"F", b""), vector["flow"])


def check_links(checks, vectors):
    for vector in vectors["links"]:
        secret, until = bytes.fromhex(vector["secret"]), vector["until"]
        made = make_link(secret, vector["key"], until, vector["subject"])
        checks.same(f"link of `{vector['key']}` for {vector['subject']}", made, vector["link"])
        made = outcome(BadLink, open_link, vector["link"], vector["subject"], until - 1)
        checks.same(f"opened: {vector['link']}", type(made), bytes)
        made = outcome(BadLink, open_link, vector["link"], vector["subject"], until)
        checks.same(f"too late: {vector['link']}", made, "BadLink: over")
    for vector in vectors["refused_links"]:
        made = outcome(BadLink, open_link, vector["link"], vector["subject"], vector["now"])
        checks.same(f"refused link `{vector['name']}`", made, f"BadLink: {vector['why']}")


def check(vectors):
    checks = Checks()
    keys = {}
    for vector in vectors["keys"]:
        key = keys[vector["name"]] = Key(bytes.fromhex(vector["secret"]))
        checks.same(f"id of the key `{vector['name']}`", key.id.hex(), vector["id"])
    check_states(checks, keys, vectors["states"])
    for vector in vectors["codec"]:
        made = outcome(Refused, envelope, vector["state"])
        sealed = bytes.fromhex(vector["sealed"])
        length = (4 + len(sealed)).to_bytes(3, "big")
        checks.same(f"codec `{vector['name']}`", made, (2, b"\2" + length + sealed))
        if sealed[:1] == b"q":
            made = outcome(Refused, read_payload, sealed[1:])
            checks.same(f"payload of the codec `{vector['name']}`", type(made), tuple)
    for vector in vectors["stored"]:
        kept = bytes.fromhex(vector["kept"])
        kind, state_id = vector["kind"].encode(), bytes.fromhex(vector["id"])
        other = b"a" if kind == b"b" else b"b"
        for kind, state_id, expected in [
            (kind, state_id, bytes.fromhex(vector["text"])),
            (other, state_id, "Refused: tampered"),
            (kind, bytes(16), "Refused: tampered"),
        ]:
            made = outcome(Refused, open_stored, keys.values(), kind, state_id, kept)
            checks.same(f"stored `{vector['name']}`", made, expected)
    for vector in vectors["principals"]:
        data = principal(vector["parts"])
        checks.same(f"principal {vector['parts']}", data.hex(), vector["bytes"])
        made = digest(bytes.fromhex(vector["secret"]), b"P", data)
        checks.same(f"digest of the principal {vector['parts']}", made, vector["digest"])
    for vector in vectors["canonical"]:
        form = outcome(Ambiguous, canonical, vector["json"])
        checks.same(f"form of {vector['json']}", form, vector["form"].encode())
        made = digest(bytes.fromhex(vector["secret"]), b"R", vector["form"].encode())
        checks.same(f"digest of {vector['json']}", made, vector["digest"])
    for vector in vectors["ambiguous"]:
        form = outcome(Ambiguous, canonical, vector["json"])
        checks.same(f"form of {vector['json']!r}", form, f"Ambiguous: {vector['why']}")
    for vector in vectors["questions"]:
        form = outcome(Ambiguous, canonical, vector["question"])
        checks.same(f"form of {vector['question']}", form, vector["form"].encode())
        made = digest(bytes.fromhex(vector["secret"]), b"Q", vector["form"].encode())
        checks.same(f"digest of the question {vector['question']}", made, vector["digest"])
    for vector in vectors["idempotency_keys"]:
        made = digest(bytes.fromhex(vector["secret"]), b"K", vector["key"].encode())
        checks.same(f"idempotency key `{vector['key']}`", made, vector["idempotency_key"])
    check_links(checks, vectors)
    for vector in vectors["refused"]:
        ring = [keys[name] for name in vector["keys"]]

        def opened(vector=vector, ring=ring):
            return read_payload(open_state(ring, vector["state"], vector["longest"]))

        made = outcome(Refused, opened)
        checks.same(f"refused `{vector['name']}`", made, f"Refused: {vector['refusal']}")
    return checks


def key_from(text):
    kind, _, spelt = text.strip().partition(":")
    try:
        if kind == "hex":
            return Key(bytes.fromhex(spelt))
        if kind == "base64":
            spelt = spelt.rstrip("=").replace("-", "+").replace("_", "/")
            return Key(base64.b64decode(spelt + "=" * (-len(spelt) % 4), validate=True))
    except (ValueError, binascii.Error) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    raise argparse.ArgumentTypeError("a key begins with `hex:` or `base64:`")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--key", action="append", type=key_from, help="a key that may have sealed it")
    parser.add_argument("--show-secret", action="store_true", help="show the secret of the call")
    parser.add_argument("what", help="a file of vectors, or with --key a state")
    options = parser.parse_args()
    if options.key:
        try:
            claims, body = read_payload(open_state(options.key, options.what))
        except Refused as why:
            sys.exit(f"refused: {why}")
        secret = bytes.fromhex(claims["secret"])
        if not options.show_secret:
            del claims["secret"]
        told = {**claims, "flow": digest(secret, b"F", b""), **body}
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return
    with open(options.what, encoding="utf-8") as file:
        checks = check(json.load(file))
    for wrong in checks.wrong:
        print(wrong)
    if checks.wrong:
        sys.exit(1)
    print(f"{checks.count} checks: all as in {options.what}")


if __name__ == "__main__":
    main()
