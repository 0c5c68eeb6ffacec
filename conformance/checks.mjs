// The suite's check files, and what they come to.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

// The checks of each scenario below a folder of the suite. The folder of a scenario is called for
// the scenario and the time, and lies deeper where the scenario's name has a slash.
export function scenarios(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith("checks.json"));
  return files.sort().map((path) => ({
    name: dirname(path).replace(/-[0-9]{4}-[0-9]{2}-[0-9]{2}T[^T]*$/, ""),
    checks: JSON.parse(readFileSync(join(folder, path), "utf8")),
  }));
}

export const isBad = (check) => check.status === "FAILURE" || check.status === "WARNING";

// What went wrong, a line each.
export const complaints = (name, checks) =>
  checks
    .filter(isBad)
    .map((check) => `${check.status} ${name}: ${check.id}: ${check.errorMessage ?? check.description}`);

// The figures of one scenario. It is clean if nothing failed or warned, and something of its own
// passed: of what is not implemented many checks are skipped, and only the schema of the messages,
// which the suite looks at everywhere, is found in order.
export function figures(checks) {
  const of = (status) => checks.filter((check) => check.status === status);
  const passed = of("SUCCESS");
  const failed = of("FAILURE").length;
  const warned = of("WARNING").length;
  const bad = failed + warned > 0;
  const tried = bad || passed.some((check) => check.id !== "wire-schema-valid");
  return { passed: passed.length, failed, warned, tried, clean: tried && !bad };
}
