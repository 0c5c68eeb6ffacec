// Counts the suite's checks: report.mjs CHECKS-FOLDER EXPECTED-SCENARIOS
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, expected] = process.argv.slice(2);
const bad = [];
let scenarios = 0;
let passed = 0;
for (const name of readdirSync(folder).sort()) {
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
process.exit(bad.length === 0 && passed === Number(expected) && scenarios === passed ? 0 : 1);
