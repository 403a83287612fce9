// The list of sequences, with filters.

const OPTION = 40; // height of a row of the list
const WINDOW = 400; // and of the list, at most

function sequenceBrowser(container) {
  const { ids, labels, predicted } = data.sequences;
  let filters = { text: "", label: "", given: "", wrong: false, pattern: -1 };
  let rows = [];
  let active = 0;

  const status = el("p", { class: "status" });
  const inner = el("div", { class: "inner" });
  const list = el(
    "div",
    {
      class: "listbox",
      role: "listbox",
      tabindex: 0,
      "aria-label": "Sequences",
      onscroll: drawList,
      onkeydown: keys,
    },
    inner,
  );
  const chosen = el("article", { class: "sequence", "aria-label": "The chosen sequence" });
  const detail = sequenceDetail(chosen);
  const only = el("div", { class: "only" });
  const options = data.classes.map((name, c) => [c, name]);
  const controls = el(
    "div",
    { class: "controls" },
    searchField("Search for an id", (text) => change({ text: text.trim().toLowerCase() })),
    data.labelled
      ? chooser("Class", [["", "all"], ...options], "", (label) => change({ label }))
      : null,
    chooser("Predicted", [["", "all"], ...options.slice(0, data.nClasses)], "", (given) =>
      change({ given }),
    ),
    data.labelled
      ? el(
          "label",
          { class: "check" },
          el("input", {
            type: "checkbox",
            id: "only-wrong",
            onchange: (e) => change({ wrong: e.target.checked }),
          }),
          " misclassified only",
        )
      : null,
  );
  container.append(
    controls,
    only,
    el("div", { class: "browser" }, el("div", { class: "side" }, status, list), chosen),
  );

  function change(part) {
    filters = { ...filters, ...part };
    rows = ids
      .map((_, i) => i)
      .filter(
        (i) =>
          ids[i].toLowerCase().includes(filters.text) &&
          (filters.label === "" || labels[i] === Number(filters.label)) &&
          (filters.given === "" || predicted[i] === Number(filters.given)) &&
          (!filters.wrong || isWrong(i)) &&
          (filters.pattern < 0 || isCovered(i, filters.pattern)),
      );
    drawFilter();
    const missing = data.nSequences - ids.length;
    status.textContent =
      counted(rows.length, "sequence") +
      (missing ? `; ${missing.toLocaleString("en")} more are not on this page` : "");
    say(status.textContent);
    inner.style.height = `${rows.length * OPTION}px`;
    list.scrollTop = 0;
    select(0);
  }

  function showAllAgain() {
    change({ pattern: -1 });
    list.focus({ preventScroll: true });
  }

  function drawFilter() {
    only.replaceChildren();
    if (filters.pattern < 0) return;
    only.append(
      el(
        "p",
        {},
        "Only sequences with: ",
        user(data.patterns[filters.pattern].words),
        " ",
        el(
          "button",
          { type: "button", class: "plain", onclick: showAllAgain },
          "Show all again",
        ),
      ),
    );
  }

  // Only the rows in view are in the page.
  function drawList() {
    const from = Math.max(0, Math.floor(list.scrollTop / OPTION) - 4);
    const to = Math.min(rows.length, from + Math.ceil(WINDOW / OPTION) + 8);
    inner.replaceChildren();
    for (let k = from; k < to; k++) inner.append(option(k));
    if (rows.length && (active < from || active >= to)) inner.append(option(active));
    if (rows.length) list.setAttribute("aria-activedescendant", `sequence-${rows[active]}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function option(k) {
    const i = rows[k];
    const node = el(
      "div",
      {
        class: "option",
        role: "option",
        id: `sequence-${i}`,
        "aria-selected": String(k === active),
        "aria-setsize": rows.length,
        "aria-posinset": k + 1,
        onclick: () => select(k),
      },
      el("span", { class: "id" }, user(ids[i])),
      el(
        "span",
        { class: isWrong(i) ? "given wrong" : "given" },
        isWrong(i) ? ["✗ ", user(data.classes[labels[i]]), " → "] : null,
        user(data.classes[predicted[i]]),
      ),
    );
    node.style.top = `${k * OPTION}px`;
    return node;
  }

  function keys(event) {
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 9,
      PageUp: -9,
      Home: -Infinity,
      End: Infinity,
    };
    if (!(event.key in moves) || !rows.length) return;
    event.preventDefault();
    select(Math.max(0, Math.min(rows.length - 1, active + moves[event.key])), true);
  }

  function select(k, keepsPattern = false) {
    active = k;
    if (rows.length) {
      const top = k * OPTION;
      if (top < list.scrollTop) list.scrollTop = top;
      const height = list.clientHeight;
      if (top + OPTION > list.scrollTop + height) list.scrollTop = top + OPTION - height;
    }
    drawList();
    if (rows.length) detail.show(rows[k], filters.pattern, keepsPattern);
    else detail.nothing();
  }

  change({});
  say("");
  return {
    withPattern(pattern) {
      change({ pattern, text: "", label: "", given: "", wrong: false });
      for (const input of controls.querySelectorAll("select, [type=search]")) input.value = "";
      for (const input of controls.querySelectorAll("[type=checkbox]")) input.checked = false;
    },
  };
}
