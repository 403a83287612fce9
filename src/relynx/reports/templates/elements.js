// Parts of the page that several others use. Text of the data is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";
const data = JSON.parse(document.getElementById("data-json").textContent);
for (const pattern of data.patterns) {
  pattern.proportions = pattern.supports.map((n, c) => n / Math.max(data.classSizes[c], 1));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// Text that came with the data: its direction is its own.
function user(text) {
  return el("bdi", {}, text);
}

function percent(value, digits = 0) {
  return `${(100 * value).toFixed(digits)} %`;
}

function signed(value) {
  if (value === Infinity) return "+∞";
  if (value === -Infinity) return "−∞";
  if (Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(2);
  if (Number(text) === 0) return "0.00";
  return (value < 0 ? "−" : "+") + text;
}

function counted(n, noun) {
  const plural = noun.endsWith("ch") ? `${noun}es` : `${noun}s`;
  return `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
}

function say(text) {
  document.getElementById("live").textContent = text;
}

function bar(value, label) {
  const width = Math.max(0, Math.min(100, 100 * value)).toFixed(2);
  return svg(
    "svg",
    {
      class: "bar",
      viewBox: "0 0 100 8",
      preserveAspectRatio: "none",
      role: label ? "img" : null,
      "aria-label": label || null,
      "aria-hidden": label ? null : "true",
    },
    svg("rect", { class: "track", width: 100, height: 8 }),
    svg("rect", { class: "value", width, height: 8 }),
  );
}

// A bar to the left or right of the middle.
function balance(value, most) {
  const finite = Number.isFinite(value) ? value : Math.sign(value || 0) * most;
  const width = most > 0 ? (50 * Math.min(Math.abs(finite), most)) / most : 0;
  return svg(
    "svg",
    {
      class: "bar balance",
      viewBox: "0 0 100 8",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    svg("rect", { class: "track", width: 100, height: 8 }),
    svg("rect", {
      class: finite < 0 ? "value against" : "value",
      x: (finite < 0 ? 50 - width : 50).toFixed(2),
      width: width.toFixed(2),
      height: 8,
    }),
    svg("rect", { class: "middle", x: 49.75, width: 0.5, height: 8 }),
  );
}

function classBars(values, own, more = () => null) {
  return el(
    "dl",
    { class: "bars" },
    ...values.map((value, c) =>
      el(
        "div",
        { class: c === own ? "own" : null },
        el("dt", {}, user(data.classes[c]), more(c)),
        el(
          "dd",
          {},
          bar(value, `${data.classes[c]} ${percent(value, 1)}`),
          el("span", { class: "number" }, percent(value, value > 0 && value < 0.995 ? 1 : 0)),
        ),
      ),
    ),
  );
}

function chooser(label, options, chosen, change) {
  const select = el(
    "select",
    { onchange: (event) => change(event.target.value) },
    ...options.map(([value, text]) =>
      el("option", { value, selected: String(value) === String(chosen) }, text),
    ),
  );
  return el("label", { class: "field" }, el("span", {}, label), select);
}

function searchField(label, change) {
  const input = el("input", {
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    oninput: (event) => change(event.target.value),
  });
  return el("label", { class: "field wide" }, el("span", {}, label), input);
}

function pairName(pair) {
  if (pair.classes.length > 2) return "all classes";
  return pair.classes.map((c) => data.classes[c]).join(" / ");
}

// Up and down go through the buttons of a list.
function arrowKeys(container, selector) {
  container.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches(selector)) return;
    const all = [...container.querySelectorAll(selector)];
    const next = all[all.indexOf(event.target) + step];
    if (next) next.focus();
    event.preventDefault();
  });
}
