// The chosen sequence: its drawing, a match of the chosen pattern, and why it has its class.

const NOT_KEPT =
  "The facts of this sequence were left out to keep the page small. " +
  "A report on fewer or shorter sequences includes more facts.";
const ABSENT = "The pattern does not match this sequence.";
const LONG = "The pattern matches, but the search on this page gave up before finding a match.";

function sequenceDetail(detail) {
  const { labels, predicted, probabilities } = data.sequences;
  const state = {
    sequence: -1,
    pattern: -1,
    match: 0,
    from: -1, // the first event that is drawn; -1 leaves it to the match
    focus: -1, // why this class
    against: -1, // and not this one
    all: false, // whether every pattern is listed
    factsOpen: false,
    votesOpen: data.pairs.length <= 10,
  };

  function show(i, pattern, keepsPattern) {
    const others = probabilities[i].map((_, c) => c).filter((c) => c !== predicted[i]);
    others.sort((a, b) => probabilities[i][b] - probabilities[i][a] || a - b);
    const known = isWrong(i) && labels[i] < data.nClasses;
    const keep = keepsPattern && state.pattern >= 0 && isCovered(i, state.pattern);
    Object.assign(state, {
      sequence: i,
      pattern: keep ? state.pattern : pattern,
      match: 0,
      from: -1,
      focus: predicted[i],
      against: known ? labels[i] : others[0],
      all: false,
    });
    draw();
  }

  function draw() {
    const i = state.sequence;
    const sequence = readSequence(i);
    const pattern = state.pattern < 0 ? null : data.patterns[state.pattern];
    let matches = { found: [], complete: true };
    if (pattern && sequence) {
      matches = findMatches(pattern, sequence.facts, sequence.graphs, data.objectIdentity);
    }
    const binding = matches.found[state.match] || null;
    detail.replaceChildren(
      sequenceTitle(i),
      el(
        "div",
        { class: sequence && sequence.order.length ? "view sticky" : "view" },
        sequence ? strip(sequence, pattern, binding) : el("p", { class: "note" }, NOT_KEPT),
        stepper(pattern, binding, matches, sequence),
      ),
      predictionBox(i, state.votesOpen),
      el("h4", {}, "Why"),
      question(i),
      sequence
        ? factList(sequence, pattern, binding, state.factsOpen || !sequence.order.length)
        : "",
    );
    remember("details.facts", "factsOpen");
    remember("details.votes", "votesOpen");
    bringIntoView();
  }

  // What was opened stays open when the rest is drawn anew.
  function remember(selector, name) {
    const box = detail.querySelector(selector);
    if (!box) return;
    box.querySelector("summary").addEventListener("click", () => (state[name] = !box.open));
  }

  // Scroll the strip to the match, where it is not in view.
  function bringIntoView() {
    const box = detail.querySelector(".strip-box");
    const marks = [...detail.querySelectorAll(".matched")].map((one) =>
      one.getBoundingClientRect(),
    );
    if (!box || !marks.length) return;
    const view = box.getBoundingClientRect();
    const left = Math.min(...marks.map((mark) => mark.left)) - view.left;
    const right = Math.max(...marks.map((mark) => mark.right)) - view.left;
    if (right > view.width) box.scrollLeft += Math.min(left - LABEL - 20, right - view.width + 20);
  }

  // The strip stays at the top of a high window; in a low one it may be out of sight.
  function seeView() {
    const view = detail.querySelector(".view").getBoundingClientRect();
    if (view.top < -1 || view.top > innerHeight / 2) {
      detail.querySelector(".view").scrollIntoView({ block: "start" });
    }
  }

  function strip(sequence, pattern, binding) {
    const n = sequence.order.length;
    if (!n)
      return el(
        "p",
        { class: "quiet" },
        "This sequence has no events; its facts are listed below.",
      );
    const shown = binding ? pattern : null;
    const from = firstDrawn(sequence, shown, binding, state.from);
    const box = el(
      "div",
      {
        class: "strip-box scroll",
        tabindex: 0,
        role: "region",
        "aria-label": "The events, in order",
      },
      ...drawStrip(sequence, shown, binding, from),
    );
    return n > MOST_DRAWN ? el("div", {}, box, parts(n, from)) : box;
  }

  // A long sequence is drawn in parts.
  function parts(n, from) {
    const to = Math.min(from + MOST_DRAWN, n);
    const inGroups = (number) => number.toLocaleString("en");
    const move = (start) => {
      state.from = Math.max(0, start);
      draw();
      detail.querySelector(".parts").focus();
    };
    const button = (text, start, off) =>
      el("button", { type: "button", disabled: off, onclick: () => move(start) }, text);
    return el(
      "div",
      { class: "pager parts", tabindex: -1 },
      button("Earlier", from - MOST_DRAWN, from === 0),
      el(
        "p",
        { class: "status" },
        `events ${[from + 1, to].map(inGroups).join("–")} of ${inGroups(n)}`,
      ),
      button("Later", from + MOST_DRAWN, to === n),
    );
  }

  function stepper(pattern, binding, matches, sequence) {
    const box = el("div", { class: "stepper" });
    if (!pattern) {
      box.append(el("p", { class: "quiet" }, "Choose a pattern below to see where it matches."));
      return box;
    }
    box.append(el("p", {}, el("strong", {}, user(pattern.words))));
    if (binding) box.append(steps(pattern, binding, matches));
    else if (!isCovered(state.sequence, state.pattern)) box.append(el("p", {}, ABSENT));
    else if (sequence) box.append(el("p", {}, LONG));
    return box;
  }

  function steps(pattern, binding, { found, complete }) {
    const n = found.length;
    const many = n.toLocaleString("en") + (complete ? "" : " or more");
    const move = (step, name) => {
      state.match = (state.match + step + n) % n;
      state.from = -1;
      draw();
      detail.querySelector(`.stepper .${name}`).focus({ preventScroll: true });
      say(detail.querySelector(".steps").textContent);
    };
    const button = (name, label, sign, step) =>
      n > 1
        ? el(
            "button",
            { type: "button", class: name, "aria-label": label, onclick: () => move(step, name) },
            sign,
          )
        : null;
    const values = pattern.variables.map((name, v) => `${name} = ${data.constants[binding[v]]}`);
    return el(
      "p",
      { class: "steps" },
      button("back", "Previous match", "‹", -1),
      el("span", { class: "which" }, `match ${state.match + 1} of ${many}`),
      button("forward", "Next match", "›", 1),
      el("code", { class: "binding" }, user(values.join(", "))),
    );
  }

  function question(i) {
    const names = data.classes.slice(0, data.nClasses).map((name, c) => [c, name]);
    const set = (which, other) => (value) => {
      if (Number(value) === state[other]) state[other] = state[which];
      state[which] = Number(value);
      state.all = false;
      draw();
      detail.querySelector(`.question select[data-which="${which}"]`).focus();
    };
    const first = chooser("Why", names, state.focus, set("focus", "against"));
    const second = chooser("and not", names, state.against, set("against", "focus"));
    first.querySelector("select").dataset.which = "focus";
    second.querySelector("select").dataset.which = "against";
    return el(
      "div",
      { class: "question" },
      el("div", { class: "controls" }, first, second),
      whyTable(i, state.focus, state.against, state.pattern, choosePattern, state.all, showAll),
    );
  }

  // The focus goes to the first of the patterns that come in.
  function showAll() {
    const rows = () => [...detail.querySelectorAll(".why button.row")];
    const before = new Set(rows().map((row) => row.dataset.pattern));
    state.all = true;
    draw();
    rows()
      .find((row) => !before.has(row.dataset.pattern))
      .focus({ preventScroll: true });
  }

  function choosePattern(pattern) {
    state.pattern = state.pattern === pattern ? -1 : pattern;
    state.match = 0;
    state.from = -1;
    draw();
    const button = detail.querySelector(`button.row[data-pattern="${pattern}"]`);
    if (button) button.focus({ preventScroll: true });
    seeView();
    say(detail.querySelector(".stepper").textContent);
  }

  return {
    show,
    nothing() {
      detail.replaceChildren(el("p", { class: "quiet" }, "No sequence meets these conditions."));
    },
  };
}
