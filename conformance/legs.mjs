// The legs of the suite, and how they are run.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

import { complaints, figures, scenarios } from "./checks.mjs";

const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
const CONTRACTS = ["2026-07-28", "2025-11-25"];
// Many programs start at once, on machines that may be busy.
const TIMEOUT = ["--timeout", "60000"];

// Each leg: which program is tried, what the suite is asked for, and the revision that is spoken.
// By default each scenario has a revision of its own, and extensions are among them.
export const LEGS = ["server", "client"].flatMap((side) =>
  [
    ...REVISIONS.map((revision) => ({
      name: revision,
      options: ["--suite", "all", "--spec-version", revision],
      list: [`--${side}`, "--spec-version", revision],
      revision,
    })),
    ...CONTRACTS.map((revision) => ({
      name: `required by ${revision}`,
      options: ["--requirements", revision],
      list: ["--requirements", revision],
      revision,
      contract: revision,
    })),
    { name: "default", options: ["--suite", "all"], list: [`--${side}`] },
  ].map((leg) => ({ ...leg, side, title: `${side}, ${leg.name}` })),
);

export class Suite {
  // target: what each side is pointed at, as options of the suite.
  constructor({ cli, target, out }) {
    this.cli = cli;
    this.target = target;
    this.out = out;
    this.runs = 0;
    this.tried = new Map();
  }

  // Runs a leg: its rows, in the order of the suite.
  run(leg) {
    const { found } = this.#try(leg.side, leg.options);
    const listed = this.#listed(leg);
    const names = new Set([...listed.keys(), ...found.keys()]);
    return [...names].map((scenario) => ({
      scenario,
      scored: listed.get(scenario) ?? true,
      suite: result(scenario, found),
      alone: leg.side === "client" ? this.#alone(scenario, leg.revision) : undefined,
    }));
  }

  // Together, the suite ignores how the client ends; alone it does not. What is alone is the same
  // in every leg of a revision.
  #alone(scenario, revision) {
    const key = `${revision} ${scenario}`;
    if (!this.tried.has(key)) {
      // Extensions belong to no revision: they are forced on the one that the leg is for.
      const at = revision ? ["--spec-version", revision, "--force"] : [];
      const { found, status } = this.#try("client", ["--scenario", scenario, ...at]);
      const came = result(scenario, found);
      // Where checks failed they say more than the end of the program.
      const exit = status !== 0 && came.failed + came.warned === 0;
      this.tried.set(key, { ...came, exit, clean: came.clean && !exit });
    }
    return this.tried.get(key);
  }

  // The scenarios that the suite says a leg has, and whether they count there.
  #listed({ side, list }) {
    const { stdout, status } = spawnSync(process.execPath, [this.cli, "list", ...list], { encoding: "utf8" });
    if (status !== 0) throw new Error(`the suite does not list ${list.join(" ")}`);
    return listed(stdout, side);
  }

  #try(side, options) {
    this.runs += 1;
    const folder = join(this.out, String(this.runs));
    mkdirSync(folder);
    const log = openSync(`${folder}.log`, "w");
    const words = [this.cli, side, ...this.target[side], ...options, ...TIMEOUT, "-o", folder];
    const { status } = spawnSync(process.execPath, words, { stdio: ["ignore", log, log] });
    closeSync(log);
    // The folders of servers have a prefix.
    const name = (of) => (side === "server" ? of.replace(/^server-/, "") : of);
    return { found: new Map(scenarios(folder).map((one) => [name(one.name), one.checks])), status };
  }
}

function result(scenario, found) {
  const checks = found.get(scenario);
  if (!checks) return { ...figures([]), missing: true, complaints: [] };
  return { ...figures(checks), complaints: complaints(scenario, checks) };
}

// The suite's list, as text: headings, then a line for each scenario. Those that do not count come
// last, with their side.
export function listed(text, side) {
  const names = new Map();
  let section;
  let scored = true;
  for (const line of text.split("\n")) {
    const heading = /^(Server|Client|Authorization server) scenarios/.exec(line);
    if (heading) section = heading[1].toLowerCase();
    if (line.startsWith("Run and reported, but never scored")) scored = false;
    const [, name, tag] = /^ +- (\S+)(?: \[(.*)\])?$/.exec(line) ?? [];
    if (name && (scored ? section : tag) === side) names.set(name, scored);
  }
  return names;
}
