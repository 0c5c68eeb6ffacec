// Runs every leg of the suite and writes RESULTS.md: all.mjs SUITE CLI URL PROGRAM OUT
// SUITE is the package with its version and CLI its script, URL the server and PROGRAM the client
// under test, OUT a folder for the suite's figures.
import { readFileSync, writeFileSync } from "node:fs";

import { LEGS, Suite } from "./legs.mjs";
import { results } from "./results.mjs";
import { reasonOf, verdict } from "./verdict.mjs";

const [suite, cli, url, program, out] = process.argv.slice(2);
const beside = (name) => new URL(name, import.meta.url);
const notYet = JSON.parse(readFileSync(beside("not-yet.json"), "utf8"));
const target = { server: ["--url", url], client: ["--command", program] };
const runner = new Suite({ cli, target, out });

const legs = LEGS.map((leg) => {
  const rows = runner.run(leg);
  const waiting = rows.filter((row) => reasonOf(notYet, leg.side, row.scenario)).length;
  console.log(`conformance: ${leg.title}: ${rows.length} scenarios, ${waiting} of them not yet`);
  for (const { scenario, suite, alone } of rows) {
    if (reasonOf(notYet, leg.side, scenario)) continue;
    for (const line of new Set([...suite.complaints, ...(alone?.complaints ?? [])])) console.log(line);
  }
  return { ...leg, rows };
});
const wrong = verdict(legs, notYet);
const date = new Date().toISOString().slice(0, 10);
writeFileSync(beside("RESULTS.md"), results({ date, suite, legs, notYet, wrong }));
for (const line of wrong) console.log(line);
console.log(`conformance: ${wrong.length === 0 ? "all as it should be" : `${wrong.length} not as it should be`}`);
process.exit(wrong.length === 0 ? 0 : 1);
