// Counts the suite's checks: report.mjs CHECKS-FOLDER EXPECTED
// EXPECTED is the number of scenarios that must be there, or the names of those that are judged.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, ...names] = process.argv.slice(2);
const all = names.length === 1 && /^[0-9]+$/.test(names[0]);
const expected = all ? Number(names[0]) : names.length;
// A folder is called for its scenario and the time.
const judged = (name) => all || names.includes(name.replace(/-[0-9]{4}-[0-9]{2}-[0-9]{2}T[^T]*$/, ""));
const bad = [];
let scenarios = 0;
let passed = 0;
for (const name of readdirSync(folder).filter(judged).sort()) {
  const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"));
  scenarios += 1;
  let clean = checks.length > 0;
  for (const check of checks) {
    if (check.status === "FAILURE" || check.status === "WARNING") {
      clean = false;
      bad.push(`${check.status} ${name}: ${check.id}: ${check.errorMessage ?? check.description}`);
    }
  }
  if (clean) passed += 1;
}
for (const line of bad) console.log(line);
console.log(`conformance: ${passed} of ${expected} scenarios, ${bad.length} failures and warnings`);
process.exit(bad.length === 0 && passed === expected && scenarios === passed ? 0 : 1);
