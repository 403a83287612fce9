// Why one class and not another: the contribution of each pattern to the difference of scores.

const FIRST_ROWS = 7; // of the patterns that match, and of those that do not

const NOT_ADDED =
  "This learner is not additive, so patterns have no individual contributions.";

const ALL_OUT =
  "Each class is ruled out by a pattern. Classes that are ruled out least often win, and the finite " +
  "parts of the terms decide between them.";

function pairOf(a, b) {
  return data.pairs.findIndex((pair) => pair.classes.includes(a) && pair.classes.includes(b));
}

// What a term adds for the first class beyond the second: a number, and how often each of the two
// is ruled out. null stands for minus infinity, of which the pair has the finite part.
function difference(pair, values, row, i, j) {
  const n = pair.classes.length;
  const [x, y] = [values[row * n + i], values[row * n + j]];
  const part = (value, c) => (value === null ? pair.outPart[c] : value);
  return { value: part(x, i) - part(y, j), out: [Number(x === null), Number(y === null)] };
}

// The terms of the difference of two scores, the largest first.
function contributions(sequence, a, b) {
  const number = pairOf(a, b);
  const pair = data.pairs[number];
  const n = pair.classes.length;
  const [i, j] = [pair.classes.indexOf(a), pair.classes.indexOf(b)];
  const additive = Boolean(pair.prior);
  // Where a sparse model divides by the size of a sequence.
  const counts = data.sequences.values ? data.sequences.values[sequence] : 1;
  const rows = pair.patterns.map((pattern, row) => {
    const covered = isCovered(sequence, pattern);
    if (!additive) return { pattern, covered, ...NOTHING };
    const values = covered ? pair.present : pair.absent;
    const { value, out } = difference(pair, values, row, i, j);
    return { pattern, covered, value: covered ? counts * value : value, out };
  });
  rows.sort((x, y) => Math.abs(asNumber(y)) - Math.abs(asNumber(x)) || y.covered - x.covered);
  let rest = null;
  if (additive && pair.left && data.rest[number]) {
    const sums = data.rest[number][sequence];
    rest = { value: sums[i] - sums[j], out: [sums[n + i], sums[n + j]] };
  }
  const prior = additive ? { value: pair.prior[i] - pair.prior[j], out: [0, 0] } : null;
  return { number, pair, additive, rows, prior, rest };
}

const NOTHING = { value: null, out: [0, 0] };

// A term as one number: what rules out one class only is infinite.
function asNumber({ value, out }) {
  if (out[0] !== out[1]) return out[0] > out[1] ? -Infinity : Infinity;
  return value === null ? 0 : value;
}

// The class that is ruled out more often loses; where both are so equally often, what is left
// decides.
function sumOf(terms) {
  const sum = { value: 0, out: [0, 0] };
  for (const { value, out } of terms) {
    sum.value += value;
    sum.out = [sum.out[0] + out[0], sum.out[1] + out[1]];
  }
  return sum;
}

function whyTable(sequence, a, b, chosen, choosePattern, all, showAll) {
  const found = contributions(sequence, a, b);
  const terms = [...found.rows, found.prior, found.rest].filter(
    (term) => term !== null && term.value !== null,
  );
  const most = Math.max(...terms.map(asNumber).filter(Number.isFinite).map(Math.abs), 1e-9);
  const body = el("tbody");
  let hidden = 0;
  for (const holds of [true, false]) {
    const group = found.rows.filter((row) => row.covered === holds);
    const shown = group.filter((row, i) => all || i < FIRST_ROWS || row.pattern === chosen);
    hidden += group.length - shown.length;
    const title = holds ? "● Patterns that match: " : "○ Patterns that do not match: ";
    const sum = found.additive ? asNumber(sumOf(group)) : null;
    body.append(sumRow(title + counted(group.length, "pattern"), sum, most, "group"));
    body.append(...shown.map((row) => patternRow(row, chosen, choosePattern, most)));
  }
  const total = found.additive ? sumOf(terms) : null;
  if (found.additive) {
    if (found.pair.left) {
      const left = found.rest ? "" : "; their contributions are missing, and so is the sum";
      const text = `${counted(found.pair.left, "pattern")} not on this page${left}`;
      body.append(sumRow(text, found.rest && asNumber(found.rest), most));
    }
    body.append(sumRow("Prior", asNumber(found.prior), most));
    if (!found.pair.left || found.rest) {
      body.append(sumRow("Difference of the scores", asNumber(total), most, "total"));
    }
  }
  arrowKeys(body, "button.row");
  const head = [el("th", { scope: "col" }, "pattern"), found.additive ? sides(a, b) : null];
  return el(
    "div",
    {},
    el(
      "div",
      { class: "scroll", role: "region", "aria-label": "Contributions of the patterns", tabindex: 0 },
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
    total && Math.min(...total.out) > 0 ? el("p", { class: "quiet" }, ALL_OUT) : null,
  );
}

function patternRow(row, chosen, choosePattern, most) {
  const { pattern, covered } = row;
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
    row.value === null ? null : valueCell(row, most),
  );
}

// Which side of the bars favours which class.
function sides(a, b) {
  const side = (...parts) => el("span", {}, ...parts);
  const both = [side("← ", user(data.classes[b])), side(user(data.classes[a]), " →")];
  return el("th", { scope: "col", class: "sides" }, el("div", {}, ...both));
}

function valueCell(row, most) {
  const value = asNumber(row);
  let text = Number.isFinite(value) ? signed(value) : "rules out";
  if (row.out[0] && row.out[1]) text = "rules out both";
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
