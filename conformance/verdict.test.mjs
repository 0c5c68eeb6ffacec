import assert from "node:assert/strict";
import { test } from "node:test";

import { figures } from "./checks.mjs";
import { listed } from "./legs.mjs";
import { verdict } from "./verdict.mjs";

const check = (status, id = "its-own") => ({ status, id });
const good = figures([check("SUCCESS"), check("SUCCESS", "wire-schema-valid"), check("SKIPPED"), check("INFO")]);
const bad = figures([check("SUCCESS"), check("FAILURE")]);
const leg = (scenario, suite, alone) => ({ side: "client", title: "client, x", rows: [{ scenario, suite, alone }] });

test("clean is what passed something of its own, without a failure or a warning", () => {
  assert.ok(good.clean);
  assert.ok(!bad.clean);
  assert.ok(!figures([check("SUCCESS"), check("WARNING")]).clean);
  assert.ok(!figures([check("SKIPPED"), check("SUCCESS", "wire-schema-valid")]).clean);
  assert.ok(!figures([]).clean);
});

test("what is not listed must be clean, together and alone", () => {
  assert.deepEqual(verdict([leg("ping", good, good)], {}), []);
  assert.deepEqual(verdict([leg("ping", bad, good)], {}), ["client, x: ping: 1 / 1 / 0; alone 2 / 0 / 0"]);
  const crashed = { ...good, exit: true, clean: false };
  assert.deepEqual(verdict([leg("ping", good, crashed)], {}), [
    "client, x: ping: 2 / 0 / 0; alone 2 / 0 / 0, the program failed",
  ]);
  const missing = { ...figures([]), missing: true };
  assert.deepEqual(verdict([leg("ping", missing, good)], {}), ["client, x: ping: no result; alone 2 / 0 / 0"]);
});

test("what is listed must not be clean everywhere, and must exist", () => {
  const notYet = { client: { tasks: ["ping"] } };
  assert.deepEqual(verdict([leg("ping", bad, bad)], notYet), []);
  assert.deepEqual(verdict([leg("ping", bad, bad), leg("ping", good, good)], notYet), []);
  assert.deepEqual(verdict([leg("ping", good, good)], notYet), [
    "client: ping is clean: take it out of conformance/not-yet.json",
  ]);
  assert.deepEqual(verdict([{ ...leg("ping", bad, bad), side: "server" }], notYet), [
    "client, x: ping: 1 / 1 / 0; alone 1 / 1 / 0",
    "client: ping is no scenario: take it out of conformance/not-yet.json",
  ]);
});

test("the suite's list is read by side, with what is scored", () => {
  const text = `Required for 2026-07-28 (2 scenarios, frozen):

Server scenarios (test against a server):
  - ping [2025-06-18,2025-11-25]

Client scenarios (test against a client):
  - tools_call

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
`;
  assert.deepEqual([...listed(text, "server")], [["ping", true], ["tasks-lifecycle", false]]);
  assert.deepEqual([...listed(text, "client")], [["tools_call", true], ["auth/dpop", false]]);
});
