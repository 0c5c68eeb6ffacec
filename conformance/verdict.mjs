// What a run of every leg must come to: every scenario is clean, but for those of the list "not
// yet", which are not.
//
// A leg is { side, title, rows }, a row { scenario, suite, alone }, both of them figures; servers
// are not tried alone. The list is { side: { reason: [scenario] } }.

export const isClean = ({ suite, alone }) => suite.clean && (alone?.clean ?? true);

export const reasonOf = (notYet, side, scenario) =>
  Object.entries(notYet[side] ?? {}).find(([, names]) => names.includes(scenario))?.[0];

// Everything that is otherwise, a line each.
export function verdict(legs, notYet) {
  return [...legs.flatMap((leg) => unclean(leg, notYet)), ...outdated(legs, notYet)];
}

function unclean({ side, title, rows }, notYet) {
  return rows
    .filter((row) => !isClean(row) && !reasonOf(notYet, side, row.scenario))
    .map(({ scenario, suite, alone }) => {
      const together = `${title}: ${scenario}: ${figuresOf(suite)}`;
      return alone ? `${together}; alone ${figuresOf(alone)}` : together;
    });
}

// A scenario leaves the list when it is clean wherever it runs, or runs nowhere.
function outdated(legs, notYet) {
  const listed = Object.entries(notYet).flatMap(([side, reasons]) =>
    Object.values(reasons).flatMap((names) => names.map((name) => [side, name])),
  );
  return listed.flatMap(([side, name]) => {
    const rows = legs.filter((leg) => leg.side === side).flatMap((leg) => leg.rows);
    const mine = rows.filter((row) => row.scenario === name);
    const take = "take it out of conformance/not-yet.json";
    if (mine.length === 0) return [`${side}: ${name} is no scenario: ${take}`];
    return mine.every(isClean) ? [`${side}: ${name} is clean: ${take}`] : [];
  });
}

// Passed, failed, warned.
export function figuresOf({ passed, failed, warned, tried, missing, exit }) {
  if (missing) return "no result";
  const figures = tried ? `${passed} / ${failed} / ${warned}` : "nothing tried";
  return exit ? `${figures}, the program failed` : figures;
}
