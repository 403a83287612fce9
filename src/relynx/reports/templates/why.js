// Why one class and not another: what each pattern adds to the difference of their scores.

const FIRST_ROWS = 7; // of the patterns that hold, and of those that do not

const NOT_ADDED =
  "This learner does not add up its patterns one by one, so there are no single contributions.";

// null stands for minus infinity.
function term(value) {
  return value === null ? -Infinity : value;
}

function pairOf(a, b) {
  return data.pairs.findIndex((pair) => pair.classes.includes(a) && pair.classes.includes(b));
}

// The terms of the difference of two scores, the largest first.
function contributions(sequence, a, b) {
  const number = pairOf(a, b);
  const pair = data.pairs[number];
  const n = pair.classes.length;
  const [i, j] = [pair.classes.indexOf(a), pair.classes.indexOf(b)];
  const difference = (values, row) => {
    const [x, y] = [term(values[row * n + i]), term(values[row * n + j])];
    return x === y ? 0 : x - y; // both minus infinity say nothing
  };
  const additive = Boolean(pair.prior);
  const rows = pair.patterns.map((pattern, row) => {
    const covered = isCovered(sequence, pattern);
    const value = additive ? difference(covered ? pair.present : pair.absent, row) : null;
    return { pattern, covered, value };
  });
  rows.sort((x, y) => Math.abs(y.value || 0) - Math.abs(x.value || 0) || y.covered - x.covered);
  let rest = null;
  if (additive && pair.left) rest = difference(data.rest[number][sequence], 0);
  return { number, pair, additive, rows, prior: additive ? difference(pair.prior, 0) : null, rest };
}

// Terms that rule a class out decide; one on each side leaves nothing to say.
function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

function whyTable(sequence, a, b, chosen, choosePattern, all, showAll) {
  const found = contributions(sequence, a, b);
  const values = [...found.rows.map((row) => row.value), found.prior, found.rest];
  const terms = values.filter((value) => value !== null);
  const most = Math.max(...terms.filter(Number.isFinite).map(Math.abs), 1e-9);
  const body = el("tbody");
  let hidden = 0;
  for (const holds of [true, false]) {
    const group = found.rows.filter((row) => row.covered === holds);
    const shown = group.filter((row, i) => all || i < FIRST_ROWS || row.pattern === chosen);
    hidden += group.length - shown.length;
    const title = holds ? "● What holds here: " : "○ What does not hold: ";
    const sum = found.additive ? sumOf(group.map((row) => row.value)) : null;
    body.append(sumRow(title + counted(group.length, "pattern"), sum, most, "group"));
    body.append(...shown.map((row) => patternRow(row, chosen, choosePattern, most)));
  }
  if (found.additive) {
    if (found.rest !== null) {
      const text = `${counted(found.pair.left, "pattern")} not on this page`;
      body.append(sumRow(text, found.rest, most));
    }
    body.append(sumRow("Where both begin (the prior)", found.prior, most));
    body.append(sumRow("Difference of the scores", sumOf(terms), most, "total"));
  }
  arrowKeys(body, "button.row");
  const head = [el("th", { scope: "col" }, "pattern"), found.additive ? sides(a, b) : null];
  return el(
    "div",
    {},
    el(
      "div",
      { class: "scroll", role: "region", "aria-label": "What the patterns add", tabindex: 0 },
      el("table", { class: "why" }, el("thead", {}, el("tr", {}, ...head)), body),
    ),
    hidden
      ? el(
          "button",
          { type: "button", class: "plain", onclick: showAll },
          `Show ${counted(hidden, "more pattern")}`,
        )
      : null,
    found.additive ? null : el("p", { class: "quiet" }, NOT_ADDED),
  );
}

function patternRow({ pattern, covered, value }, chosen, choosePattern, most) {
  const p = data.patterns[pattern];
  const button = el(
    "button",
    {
      type: "button",
      class: "row",
      "data-pattern": pattern,
      "aria-pressed": String(pattern === chosen),
      onclick: () => choosePattern(pattern),
    },
    el("span", { class: "words" }, user(p.words)),
    el("code", {}, user(p.text)),
  );
  return el(
    "tr",
    { class: [covered ? "present" : "absent", pattern === chosen ? "chosen" : ""].join(" ") },
    el("th", { scope: "row" }, button),
    value === null ? null : valueCell(value, most),
  );
}

// Which side of the bars speaks for which class.
function sides(a, b) {
  const side = (...parts) => el("span", {}, ...parts);
  const both = [side("← ", user(data.classes[b])), side(user(data.classes[a]), " →")];
  return el("th", { scope: "col", class: "sides" }, el("div", {}, ...both));
}

function valueCell(value, most) {
  const text = Number.isFinite(value) ? signed(value) : "rules out";
  return el("td", { class: "number sum" }, balance(value, most), el("span", {}, text));
}

function sumRow(text, value, most, name = "") {
  return el(
    "tr",
    { class: `sums ${name}` },
    el("th", { scope: "row" }, text),
    value === null
      ? null
      : el("td", { class: "number sum" }, balance(value, most), el("span", {}, signed(value))),
  );
}
