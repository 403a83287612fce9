// A sequence drawn as a strip of events. The longest dimension gives the order, left to right; each
// other one is a lane of arcs above it; what a pattern matched is drawn beneath.

const BOX = { width: 96, gap: 20, line: 13, letters: 13, lines: 5 };
const LANE = 44;
const MOST_DRAWN = 200; // events at a time
const EDGE = 6; // room at the left and right
const LABEL = 52; // room for the names of lanes, which stay while the strip scrolls

// What is needed to draw and to match a sequence; null if its facts are not on the page.
const readSequences = new Map();

function readSequence(i) {
  if (!readSequences.has(i)) {
    const packed = data.sequences.facts[i];
    readSequences.set(i, packed === null ? null : makeSequence(decodeFacts(packed, data.keys)));
  }
  return readSequences.get(i);
}

function makeSequence(facts) {
  const graphs = data.dimensions.map(([, key]) => makeGraph(facts[key]));
  const events = new Set();
  facts.forEach((rows, key) => {
    data.events[key].forEach((isEvent, arg) => {
      if (isEvent) rows.forEach((row) => events.add(row[arg]));
    });
  });
  const main = mainDimension(graphs);
  const order = inOrder([...events].sort(byName), main < 0 ? [] : facts[data.dimensions[main][1]]);
  return { facts, graphs, events, main, order };
}

function byName(a, b) {
  return data.constants[a].localeCompare(data.constants[b], "en", { numeric: true });
}

function mainDimension(graphs) {
  let best = -1;
  graphs.forEach((graph, d) => {
    if (graph.nodes.size && (best < 0 || graph.nodes.size > graphs[best].nodes.size)) best = d;
  });
  return best;
}

// Events along the links, each after those before it; events of a cycle come as they are.
function inOrder(events, links) {
  const waiting = new Map(events.map((event) => [event, 0]));
  const after = new Map();
  for (const [x, y] of links) {
    if (x === y) continue;
    waiting.set(y, waiting.get(y) + 1);
    addTo(after, x, y);
  }
  const linked = new Set(links.flat());
  const left = new Set([
    ...events.filter((e) => linked.has(e)),
    ...events.filter((e) => !linked.has(e)),
  ]);
  const out = [];
  const ready = [...left].filter((event) => waiting.get(event) === 0).reverse();
  while (left.size) {
    const event = ready.length ? ready.pop() : left.values().next().value;
    if (!left.delete(event)) continue;
    out.push(event);
    for (const y of (after.get(event) || []).slice().reverse()) {
      waiting.set(y, waiting.get(y) - 1);
      if (waiting.get(y) === 0) ready.push(y);
    }
  }
  return out;
}

function factText(key, row) {
  const args = row.map((c) => data.constants[c]).join(",");
  return args ? `${data.keys[key][0]}(${args})` : data.keys[key][0];
}

// The lines of an event's box: what was read of this event alone.
function boxLines(sequence, event) {
  const lines = [];
  sequence.facts.forEach((rows, key) => {
    if (data.derived[key] || data.dimensions.some(([, k]) => k === key)) return;
    for (const row of rows) {
      const own = data.events[key].map((isEvent, arg) => isEvent && row[arg] === event);
      if (!own.some(Boolean) || data.events[key].filter(Boolean).length > 1) continue;
      const rest = row.filter((_, arg) => !own[arg]).map((c) => data.constants[c]);
      lines.push([data.keys[key][0], ...rest].join(" "));
    }
  });
  return lines;
}

function cut(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

// Lines of at most so many letters, broken at blanks.
function wrapped(text, most) {
  const out = [];
  for (const word of text.split(" ")) {
    const last = out[out.length - 1];
    if (last !== undefined && [...last].length + 1 + [...word].length <= most) {
      out[out.length - 1] = `${last} ${word}`;
    } else out.push(word);
  }
  return out.map((line) => cut(line, most));
}

// The values that a pattern's atoms have under a binding; null for `_`.
function ground(atom, binding) {
  return argumentsOf(atom).map((arg) => (arg === -1 ? null : arg <= -2 ? -2 - arg : binding[arg]));
}

// Where the part of a long sequence begins that is drawn: as wanted, or a little before the match.
function firstDrawn(sequence, pattern, binding, wanted) {
  const last = Math.max(0, sequence.order.length - MOST_DRAWN);
  if (wanted >= 0 || !pattern) return Math.min(Math.max(wanted, 0), last);
  const matched = namesOfEvents(sequence, pattern, binding);
  const first = sequence.order.findIndex((event) => matched.has(event));
  return Math.min(Math.max(first - 5, 0), last);
}

function drawStrip(sequence, pattern, binding, from) {
  const { graphs, main } = sequence;
  const order = sequence.order.slice(from, from + MOST_DRAWN);
  const place = new Map(order.map((event, i) => [event, i]));
  const lanes = graphs.map((_, d) => d).filter((d) => d !== main && graphs[d].nodes.size);
  const top = 8 + lanes.length * LANE;
  const texts = new Map(order.map((event) => [event, boxTexts(sequence, event)]));
  const most = Math.max(...[...texts.values()].map((lines) => lines.length), 1);
  const boxHeight = 26 + BOX.line * most;
  const centre = (event) => EDGE + place.get(event) * (BOX.width + BOX.gap) + BOX.width / 2;
  const width = 2 * EDGE + order.length * (BOX.width + BOX.gap) - BOX.gap;
  const matched = pattern ? namesOfEvents(sequence, pattern, binding) : new Map();
  const drawn = pattern ? relations(sequence, pattern, binding, place) : [];
  const bottom = top + boxHeight + 16;
  const height = bottom + drawn.length * 26 + 8;
  const drawing = svg("svg", {
    class: "strip",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": stripLabel(sequence, pattern, matched),
  });
  drawing.append(
    svg(
      "defs",
      {},
      ...["arrow", "arrow-strong"].map((id) =>
        svg(
          "marker",
          {
            id,
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 6,
            markerHeight: 6,
            orient: "auto",
          },
          svg("path", { class: id, d: "M0 0L8 4L0 8z" }),
        ),
      ),
    ),
  );
  const labels = svg("svg", { class: "lanes", width: LABEL, height, "aria-hidden": "true" });
  const label = (d, y) => {
    const name = data.dimensions[d][0];
    labels.append(svg("text", { x: 0, y }, cut(name, 6), svg("title", {}, name)));
    drawing.append(svg("text", { class: "on-paper", x: 0, y }, cut(name, 6)));
  };
  lanes.forEach((d, k) => {
    const base = 8 + (k + 1) * LANE;
    label(d, base - 10);
    drawLane(drawing, linksIn(sequence, d, place), base, centre);
  });
  if (main >= 0) {
    label(main, top + boxHeight / 2 + 4);
    drawMain(drawing, linksIn(sequence, main, place), { top, boxHeight }, place, centre);
  }
  order.forEach((event) => {
    const where = { x: centre(event) - BOX.width / 2, y: top, height: boxHeight };
    drawing.append(drawEvent(sequence, event, where, texts.get(event), matched));
  });
  drawn.forEach((one, k) => drawRelation(drawing, one, bottom + k * 26, top + boxHeight, centre));
  return [labels, drawing];
}

function stripLabel(sequence, pattern, matched) {
  const text = `${counted(sequence.order.length, "event")} in order`;
  if (!pattern || !matched.size) return text;
  const names = [...matched].map(([event, name]) => `${name} is ${data.constants[event]}`);
  return `${text}; matched: ${names.join(", ")}`;
}

// The events that the variables of a pattern stand for, with the names of the variables.
function namesOfEvents(sequence, pattern, binding) {
  const out = new Map();
  pattern.variables.forEach((name, v) => {
    if (!sequence.events.has(binding[v])) return;
    out.set(binding[v], out.has(binding[v]) ? `${out.get(binding[v])} ${name}` : name);
  });
  for (const atom of pattern.atoms) {
    for (const value of ground(atom, binding)) {
      if (value !== null && sequence.events.has(value) && !out.has(value)) out.set(value, "•");
    }
  }
  return out;
}

// The atoms of a pattern that tie two events: what to draw beneath the strip.
function relations(sequence, pattern, binding, place) {
  const out = [];
  for (const atom of pattern.atoms) {
    const values = ground(atom, binding);
    const isEvent = (value) => value !== null && sequence.events.has(value);
    const first = values.findIndex(isEvent);
    const second = values.findIndex((value) => isEvent(value) && value !== values[first]);
    const [from, to] = [values[first], values[second]];
    if (second < 0 || !place.has(from) || !place.has(to)) continue;
    const rest = values.filter((_, at) => at !== first && at !== second);
    out.push({ from, to, text: relationText(atom, rest) });
  }
  return out;
}

// A link by its operator; a fact by its predicate and the arguments besides the two events.
function relationText(atom, rest) {
  if (isLink(atom)) {
    const [name] = data.dimensions[atom[1]];
    if (atom[2] > 1) return `followat_${name} ${atom[2]}`;
    return atom[2] === 1 ? `next_${name}` : `follow_${name}`;
  }
  const args = rest.map((c) => (c === null ? "_" : data.constants[c]));
  return [data.keys[atom[0]][0], ...args].join(" ");
}

// The links of a dimension between different events that are drawn, with their text.
function linksIn(sequence, dimension, place) {
  const key = data.dimensions[dimension][1];
  return sequence.facts[key]
    .filter(([x, y]) => x !== y && place.has(x) && place.has(y))
    .map(([x, y]) => [x, y, factText(key, [x, y])]);
}

function drawLane(drawing, links, base, centre) {
  for (const [x, y, text] of links) {
    const [from, to] = [centre(x), centre(y)];
    const lift = base - Math.min(LANE - 8, 12 + Math.abs(to - from) / 14) * 1.3;
    drawing.append(
      svg(
        "path",
        {
          class: "arc",
          d: `M${from} ${base - 2}C${from} ${lift} ${to} ${lift} ${to} ${base - 2}`,
          "marker-end": "url(#arrow)",
        },
        svg("title", {}, text),
      ),
    );
  }
}

// Neighbours in the order are joined by short arrows; other links of it by arcs behind the boxes.
function drawMain(drawing, links, { top, boxHeight }, place, centre) {
  const [middle, base] = [top + boxHeight / 2, top + boxHeight];
  for (const [x, y, text] of links) {
    const [from, to] = [centre(x), centre(y)];
    const near = place.get(y) - place.get(x) === 1;
    const d = near
      ? `M${from + BOX.width / 2} ${middle}H${to - BOX.width / 2 - 1}`
      : `M${from} ${base}C${from} ${base + 14} ${to} ${base + 14} ${to} ${base}`;
    drawing.append(
      svg("path", { class: "arc main", d, "marker-end": "url(#arrow)" }, svg("title", {}, text)),
    );
  }
}

function boxTexts(sequence, event) {
  const lines = boxLines(sequence, event).flatMap((line) => wrapped(line, BOX.letters));
  if (lines.length > BOX.lines) lines.splice(BOX.lines - 1, lines.length, "…");
  return lines;
}

function drawEvent(sequence, event, { x, y, height }, texts, matched) {
  const constant = data.constants[event];
  const name = matched.get(event);
  const [left, right] = [x + 6, x + BOX.width - 6];
  return svg(
    "g",
    { class: name ? "event matched" : "event", "data-event": constant },
    svg("title", {}, [constant, ...boxLines(sequence, event)].join("\n")),
    svg("rect", { x, y, width: BOX.width, height, rx: 6 }),
    svg("text", { class: "name", x: left, y: y + 13 }, cut(constant, name ? 8 : 14)),
    name
      ? svg("text", { class: "variable", x: right, y: y + 13, "text-anchor": "end" }, cut(name, 5))
      : null,
    ...texts.map((text, i) => svg("text", { x: left, y: y + 28 + i * BOX.line }, text)),
  );
}

function drawRelation(drawing, { from, to, text }, y, below, centre) {
  const [a, b] = [centre(from), centre(to)];
  const line = y + 14;
  const end = below + 3;
  const shift = a < b ? 6 : -6;
  drawing.append(
    svg("path", {
      class: "relation",
      d: `M${a + shift} ${below + 1}V${line}H${b - shift}V${end}`,
      "marker-end": "url(#arrow-strong)",
    }),
    svg(
      "text",
      { class: "relation", x: (a + b) / 2, y: line - 4, "text-anchor": "middle" },
      cut(text, 40),
    ),
  );
}
