// The table of all patterns: search, sort, choose.

const ROWS = 20;

function patternTable(container, showSequences) {
  const { patterns, classes } = data;
  const haystack = patterns.map((p) => `${p.text}\n${p.words}`.toLowerCase());
  const others = patterns.map((p) => otherProportion(p));
  const columns = [
    { name: "pattern", of: (i) => patterns[i].words },
    { name: "class", of: (i) => patterns[i].class },
    { name: "of class", of: (i) => patterns[i].proportions[patterns[i].class], down: true },
    { name: "of others", of: (i) => others[i], down: true },
    { name: "odds", of: (i) => patterns[i].odds, down: true },
    { name: "length", of: (i) => patterns[i].length },
    { name: "used by", of: (i) => patterns[i].pairs.length, down: true },
  ];
  let wanted = "";
  let onlyClass = "";
  let sorted = 4;
  let descending = true;
  let page = 0;
  let chosen = -1;
  let rows = [];

  const head = el("tr");
  const body = el("tbody");
  const status = el("p", { class: "status" });
  const previous = el("button", { type: "button", onclick: () => turn(-1) }, "Previous");
  const following = el("button", { type: "button", onclick: () => turn(1) }, "Next");
  const detail = el("tr", { class: "detail", id: "pattern-detail" });
  container.append(
    el(
      "div",
      { class: "controls" },
      searchField("Search in words and text", (text) => {
        wanted = text.trim().toLowerCase();
        refresh();
      }),
      chooser(
        "Class",
        [["", "all"], ...classes.slice(0, data.nClasses).map((name, c) => [c, name])],
        "",
        (value) => {
          onlyClass = value;
          refresh();
        },
      ),
    ),
    el(
      "div",
      { class: "scroll", role: "region", "aria-label": "All patterns", tabindex: 0 },
      el("table", { class: "patterns" }, el("thead", {}, head), body),
    ),
    el("div", { class: "pager" }, previous, status, following),
  );
  arrowKeys(body, "button.row");
  columns.forEach((column, k) => {
    column.cell = el(
      "th",
      { scope: "col", class: k > 1 && k < 6 ? "number" : null },
      el("button", { type: "button", class: "sort", onclick: () => sortBy(k) }, column.name),
    );
    head.append(column.cell);
  });

  function otherProportion(p) {
    const sizes = data.classSizes;
    let covered = 0;
    let all = 0;
    p.supports.forEach((n, c) => {
      if (c !== p.class) [covered, all] = [covered + n, all + sizes[c]];
    });
    return all ? covered / all : 0;
  }

  function sortBy(k) {
    descending = k === sorted ? !descending : Boolean(columns[k].down);
    sorted = k;
    refresh(`sorted by ${columns[k].name}, ${descending ? "largest" : "smallest"} first`);
  }

  function refresh(news = "") {
    const words = wanted.split(/\s+/).filter(Boolean);
    rows = patterns
      .map((_, i) => i)
      .filter((i) => onlyClass === "" || patterns[i].class === Number(onlyClass))
      .filter((i) => words.every((word) => haystack[i].includes(word)));
    const of = columns[sorted].of;
    const sign = descending ? -1 : 1;
    rows.sort((a, b) => {
      const [x, y] = [of(a), of(b)];
      const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
      return sign * order || a - b;
    });
    page = 0;
    draw();
    say([`${counted(rows.length, "pattern")} found`, news].filter(Boolean).join(", "));
  }

  function turn(step) {
    page += step;
    draw();
    // A button that goes out takes the focus with it: the other one is there at either end.
    const [used, other] = step > 0 ? [following, previous] : [previous, following];
    (used.disabled ? other : used).focus();
    say(status.textContent);
  }

  function draw() {
    columns.forEach((column, k) => {
      const order = descending ? "descending" : "ascending";
      column.cell.setAttribute("aria-sort", k === sorted ? order : "none");
    });
    const pages = Math.max(1, Math.ceil(rows.length / ROWS));
    const from = page * ROWS;
    const shown = rows.slice(from, from + ROWS);
    chosen = -1;
    body.replaceChildren(...shown.map(row));
    if (!shown.length) {
      body.append(
        el("tr", {}, el("td", { colspan: columns.length }, "No pattern contains these words.")),
      );
    }
    previous.disabled = page === 0;
    following.disabled = page >= pages - 1;
    const range = shown.length ? `${from + 1}–${from + shown.length} of ` : "";
    const left = data.nPatterns - patterns.length;
    status.textContent =
      range +
      counted(rows.length, "pattern") +
      (left ? `; ${left.toLocaleString("en")} of lower chi-square are not on this page` : "");
  }

  function row(i) {
    const p = patterns[i];
    const button = el(
      "button",
      {
        type: "button",
        class: "row",
        "aria-pressed": String(i === chosen),
        onclick: () => choose(i),
      },
      el("span", { class: "words" }, user(p.words)),
      el("code", {}, user(p.text)),
    );
    const own = p.proportions[p.class];
    return el(
      "tr",
      { class: i === chosen ? "chosen" : null, "data-pattern": i },
      el("th", { scope: "row" }, button),
      el("td", {}, user(classes[p.class])),
      el("td", { class: "number" }, percent(own), bar(own, "")),
      el("td", { class: "number" }, percent(others[i]), bar(others[i], "")),
      el("td", { class: "number" }, `×${p.oddsText}`),
      el("td", { class: "number" }, String(p.length)),
      el("td", { class: "users" }, users(p)),
    );
  }

  function users(p) {
    if (p.pairs.length > 2) return counted(p.pairs.length, "model");
    return user(p.pairs.map((k) => pairName(data.pairs[k])).join(", "));
  }

  function choose(i) {
    chosen = chosen === i ? -1 : i;
    for (const tr of body.querySelectorAll("tr[data-pattern]")) {
      const here = Number(tr.dataset.pattern) === chosen;
      tr.classList.toggle("chosen", here);
      tr.querySelector("button.row").setAttribute("aria-pressed", String(here));
    }
    detail.remove();
    if (chosen >= 0) showDetail(i);
  }

  // The chosen pattern in full, in a row beneath its own.
  function showDetail(i) {
    const p = patterns[i];
    const n = data.sequences.ids.filter((_, s) => isCovered(s, i)).length;
    const cell = el(
      "td",
      { colspan: columns.length },
      classBars(p.proportions, p.class, (c) =>
        el("small", {}, ` ${p.supports[c].toLocaleString("en")}`),
      ),
      el(
        "p",
        { class: "quiet" },
        "Proportions and numbers of the training sequences covered. Odds of ",
        user(classes[p.class]),
        `: ×${p.oddsText}. Used by `,
        user(p.pairs.map((k) => pairName(data.pairs[k])).join(", ")),
        ".",
      ),
      el(
        "button",
        { type: "button", class: "action", disabled: n === 0, onclick: () => showSequences(i) },
        `Show the ${counted(n, "sequence")} here that it covers`,
      ),
    );
    detail.replaceChildren(cell);
    body.querySelector(`tr[data-pattern="${i}"]`).after(detail);
    say(`${p.words}; covers ${counted(n, "sequence")} here`);
  }

  refresh();
  say("");
}

const coveredRows = [];

// Whether a pattern covers a sequence, as computed by the library.
function isCovered(sequence, pattern) {
  if (!coveredRows[sequence]) {
    coveredRows[sequence] = decodeBytes(data.sequences.covered[sequence]);
  }
  return bitOf(coveredRows[sequence], pattern) === 1;
}
