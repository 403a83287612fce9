// The text about a chosen sequence: its class, class probabilities, votes and facts.

const MOST_FACTS = 300; // of one predicate that are listed

function isWrong(i) {
  return data.labelled && data.sequences.labels[i] !== data.sequences.predicted[i];
}

function sequenceTitle(i) {
  const { ids, labels, predicted } = data.sequences;
  const parts = ["predicted ", el("strong", {}, user(data.classes[predicted[i]]))];
  if (data.labelled) {
    const verdict = isWrong(i)
      ? el("strong", { class: "wrong" }, "✗ wrong")
      : el("strong", { class: "right" }, "✓ right");
    parts.unshift("is ", el("strong", {}, user(data.classes[labels[i]])), ", ");
    parts.push("  ", verdict);
  }
  return el("header", { class: "head" }, el("h3", {}, user(ids[i])), el("p", {}, ...parts));
}

function predictionBox(i, votesOpen) {
  const { labels, predicted, probabilities } = data.sequences;
  const own = probabilities[i].map((value) => value / 1000);
  const label = (c) => (data.labelled && labels[i] === c ? el("small", {}, " true class") : null);
  const part = el(
    "div",
    { class: "prediction" },
    el("div", {}, el("h4", {}, "Class probabilities"), classBars(own, predicted[i], label)),
  );
  if (data.votes.length) part.append(pairVotes(i, votesOpen));
  return part;
}

function pairVotes(i, open) {
  const votes = decodeBytes(data.votes[i]);
  const probabilities = data.pairProbabilities ? decodeBytes(data.pairProbabilities[i]) : null;
  const body = data.pairs.map((pair, k) => {
    const vote = bitOf(votes, k);
    const value = probabilities ? probabilities[k] / 255 : 0;
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, user(pairName(pair))),
      el("td", {}, user(data.classes[pair.classes[vote]])),
      probabilities
        ? el("td", { class: "number" }, percent(vote === 0 ? value : 1 - value))
        : null,
    );
  });
  return el(
    "details",
    { class: "votes", open },
    el("summary", {}, "Pairwise votes"),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Pairwise votes" },
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "pair"),
            el("th", { scope: "col" }, "vote"),
            probabilities
              ? el("th", { scope: "col", class: "number" }, "probability")
              : null,
          ),
        ),
        el("tbody", {}, ...body),
      ),
    ),
  );
}

// All facts of a sequence; those of the match are marked. The list is made when it is opened.
function factList(sequence, pattern, binding, open) {
  const used = binding ? pattern.atoms.filter((atom) => !isLink(atom)) : [];
  const isUsed = (key, row) =>
    used.some(
      (atom) =>
        atom[0] === key &&
        ground(atom, binding).every((value, at) => value === null || value === row[at]),
    );
  const total = sequence.facts.reduce((n, rows) => n + rows.length, 0);
  const box = el("details", { class: "facts" }, el("summary", {}, counted(total, "fact")));
  const write = () => {
    if (!box.open || box.children.length > 1) return;
    sequence.facts.forEach((rows, key) => {
      if (rows.length) box.append(factLine(rows, key, isUsed));
    });
  };
  box.addEventListener("toggle", write);
  box.open = open;
  write();
  return box;
}

function factLine(rows, key, isUsed) {
  const left = rows.length - MOST_FACTS;
  return el(
    "p",
    {},
    el("strong", {}, user(data.keys[key][0])),
    data.derived[key] ? el("small", {}, " derived by a rule") : null,
    " ",
    ...rows
      .slice(0, MOST_FACTS)
      .flatMap((row) => [
        el("code", { class: isUsed(key, row) ? "used" : null }, user(factText(key, row))),
        " ",
      ]),
    left > 0 ? `and ${left.toLocaleString("en")} more` : null,
  );
}
