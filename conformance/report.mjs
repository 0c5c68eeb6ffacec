// Counts the suite's checks: report.mjs CHECKS-FOLDER EXPECTED
// EXPECTED is the number of scenarios that must be there, or the names of those that are judged.
import { complaints, scenarios } from "./checks.mjs";

const [folder, ...names] = process.argv.slice(2);
const all = names.length === 1 && /^[0-9]+$/.test(names[0]);
const expected = all ? Number(names[0]) : names.length;
const judged = scenarios(folder).filter(({ name }) => all || names.includes(name));
const bad = judged.flatMap(({ name, checks }) => complaints(name, checks));
const passed = judged.filter(({ name, checks }) => checks.length > 0 && complaints(name, checks).length === 0).length;
for (const line of bad) console.log(line);
console.log(`conformance: ${passed} of ${expected} scenarios, ${bad.length} failures and warnings`);
process.exit(bad.length === 0 && passed === expected && judged.length === passed ? 0 : 1);
