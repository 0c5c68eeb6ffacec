// RESULTS.md: what every leg came to.
import { figuresOf, isClean, reasonOf } from "./verdict.mjs";

export function results({ date, suite, legs, notYet, wrong }) {
  const parts = [
    head(date, suite),
    ...(wrong.length > 0 ? [`## Not as it should be\n\n${wrong.map((line) => `- ${line}`).join("\n")}`] : []),
    summary(legs, notYet),
    pending(legs, notYet),
    ...legs.map((leg) => section(leg, notYet)),
  ];
  return `${parts.join("\n\n")}\n`;
}

function head(date, suite) {
  return `# Results of the official conformance suite

${date}, \`${suite}\`. Written by \`conformance/run all\`, not by hand.

Figures are checks: passed / failed / warned. A scenario is clean if no check failed, none warned, and some check
of its own passed. Client scenarios run together and each alone: only alone does the suite mind how
the program ends. Every scenario that a leg has is run; those that are for things which are not there yet
are listed under [not yet](#not-yet), with the reason, and all others must be clean.

The suite also has two scenarios for authorization servers; there is none here to try.`;
}

const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const judged = ({ side, rows }, notYet) => rows.filter((row) => !reasonOf(notYet, side, row.scenario));

function summary(legs, notYet) {
  const rows = legs.map((leg) => {
    const ours = judged(leg, notYet);
    const clean = ours.filter(isClean).length;
    const passed = ours.reduce((sum, row) => sum + row.suite.passed, 0);
    const bad = ours.reduce((sum, row) => sum + row.suite.failed + row.suite.warned, 0);
    return [
      leg.title,
      `\`${[leg.side, ...leg.options].join(" ")}\``,
      leg.rows.length,
      `${clean} of ${ours.length}`,
      `${passed} / ${bad}`,
      leg.rows.length - ours.length,
    ];
  });
  const head = ["leg", "the suite's command", "scenarios", "clean", "checks passed / failed or warned", "not yet"];
  return `## Legs\n\n${table(head, rows)}\n\n${required(legs)}`;
}

// What the revisions require is the only part of the suite that is scored.
function required(legs) {
  const contracts = new Set(legs.map((leg) => leg.contract).filter(Boolean));
  const lines = [...contracts].map((contract) => {
    const rows = legs.filter((leg) => leg.contract === contract).flatMap((leg) => leg.rows);
    const scored = rows.filter((row) => row.scored);
    return `- of the ${scored.length} scenarios that ${contract} requires, ${scored.filter(isClean).length} are clean`;
  });
  return `Scored by the suite, server and client together:\n\n${lines.join("\n")}`;
}

// A table for each side: the reason, and the figures in each leg.
function pending(legs, notYet) {
  const tables = ["server", "client"].map((side) => {
    const waits = (row) => reasonOf(notYet, side, row.scenario);
    const mine = legs.filter((leg) => leg.side === side && leg.rows.some(waits));
    const rows = Object.entries(notYet[side] ?? {}).flatMap(([reason, names]) =>
      names.map((name) => [`\`${name}\``, reason, ...mine.map((leg) => inLeg(leg, name))]),
    );
    return `### Not yet: ${side}\n\n${table(["scenario", "why", ...mine.map((leg) => leg.name)], rows)}`;
  });
  return ["## Not yet", "Together; where a scenario alone has other figures, they follow.", ...tables].join("\n\n");
}

function inLeg({ rows }, name) {
  const row = rows.find(({ scenario }) => scenario === name);
  if (!row) return "";
  const [suite, alone] = [row.suite, row.alone ?? row.suite].map(figuresOf);
  return suite === alone ? suite : `${suite}; alone ${alone}`;
}

function section(leg, notYet) {
  const ours = judged(leg, notYet);
  const title = `## ${leg.title[0].toUpperCase()}${leg.title.slice(1)}`;
  if (ours.length === 0) return `${title}\n\nNothing but what is [not yet](#not-yet).`;
  const rows = ours.map((row) => {
    const name = `\`${row.scenario}\`${row.scored ? "" : " (not scored)"}`;
    const cells = [isClean(row) ? name : `**${name}**`, figuresOf(row.suite)];
    return row.alone ? [...cells, figuresOf(row.alone)] : cells;
  });
  const head = leg.side === "client" ? ["scenario", "suite", "alone"] : ["scenario", "suite"];
  return `${title}\n\n${table(head, rows)}`;
}
