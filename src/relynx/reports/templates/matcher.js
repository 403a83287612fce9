// Where a pattern matches in one sequence. Constants, predicates and variables are numbers; an
// argument that is 0 or more is a variable, -1 is `_`, and -2 - c is the constant c.

const MOST_MATCHES = 1000;
const MOST_STEPS = 300000; // candidates tried before the search gives up

function decodeBytes(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

function bitOf(bytes, i) {
  return (bytes[i >> 3] >> (i & 7)) & 1;
}

// The facts of a sequence: for each predicate a list of rows of arguments.
function decodeFacts(text, keys) {
  const bytes = decodeBytes(text);
  let at = 0;
  function number() {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }
  const facts = keys.map(() => []);
  while (at < bytes.length) {
    const key = number();
    const n = number();
    for (let i = 0; i < n; i++) {
      facts[key].push(Array.from({ length: keys[key][1] }, number));
    }
  }
  return facts;
}

function addTo(map, key, value) {
  if (map.has(key)) map.get(key).push(value);
  else map.set(key, [value]);
}

// A dimension as a graph, with what is reached from an event remembered.
function makeGraph(links) {
  const forward = new Map();
  const backward = new Map();
  const nodes = new Set();
  for (const [x, y] of links) {
    addTo(forward, x, y);
    addTo(backward, y, x);
    nodes.add(x).add(y);
  }
  const memory = new Map();

  function neighbours(edges, from) {
    const out = new Set();
    for (const x of from) for (const y of edges.get(x) || []) out.add(y);
    return out;
  }

  // One step or more: the transitive closure.
  function closure(edges, start) {
    const out = new Set();
    let edge = [start];
    while (edge.length) {
      edge = [...neighbours(edges, edge)].filter((y) => !out.has(y));
      edge.forEach((y) => out.add(y));
    }
    return out;
  }

  // Exactly n steps. On a cycle the sets come again, and the rest of the steps is a remainder.
  function walk(edges, start, n) {
    const seen = new Map();
    const sets = [];
    let here = new Set([start]);
    for (let i = 0; i < n && here.size; i++) {
      const name = [...here].sort((a, b) => a - b).join(",");
      if (seen.has(name)) {
        const first = seen.get(name);
        return sets[first + ((n - first) % (i - first))];
      }
      seen.set(name, i);
      sets.push(here);
      here = neighbours(edges, here);
    }
    return here;
  }

  return {
    nodes,
    reached(start, n, back) {
      const name = `${start} ${n} ${back}`;
      if (!memory.has(name)) {
        const edges = back ? backward : forward;
        memory.set(name, n === 0 ? closure(edges, start) : walk(edges, start, n));
      }
      return memory.get(name);
    },
  };
}

function isLink(atom) {
  return atom[0] === -1;
}

function argumentsOf(atom) {
  return isLink(atom) ? atom.slice(3) : atom.slice(1);
}

// All bindings of a pattern's variables, no two alike: {found, complete}. `facts` is what
// decodeFacts gives, `graphs` has a graph for each dimension.
function findMatches(pattern, facts, graphs, objectIdentity, limit = MOST_MATCHES) {
  const atoms = pattern.atoms;
  const found = [];
  if (atoms.some((atom) => atom[0] === -2)) return { found, complete: true };
  const binding = new Array(pattern.variables.length).fill(-1);
  const constants = new Set(
    atoms
      .flatMap(argumentsOf)
      .filter((arg) => arg <= -2)
      .map((arg) => -2 - arg),
  );
  const names = new Set();
  const done = new Array(atoms.length).fill(false);
  let steps = 0;
  let complete = true;

  const known = (arg) => arg <= -2 || (arg >= 0 && binding[arg] >= 0);
  const value = (arg) => (arg <= -2 ? -2 - arg : binding[arg]);

  // Give the arguments values; returns the variables that were bound, or null.
  function bind(args, values) {
    const bound = [];
    for (let i = 0; i < args.length; i++) {
      const arg = args[i];
      if (arg === -1) continue;
      if (known(arg)) {
        if (value(arg) === values[i]) continue;
      } else if (!(objectIdentity && (constants.has(values[i]) || binding.includes(values[i])))) {
        binding[arg] = values[i];
        bound.push(arg);
        continue;
      }
      bound.forEach((v) => (binding[v] = -1));
      return null;
    }
    return bound;
  }

  // Values for the arguments of an atom, made one by one: there may be very many.
  function* candidates(atom) {
    if (!isLink(atom)) {
      yield* facts[atom[0]];
      return;
    }
    const [, dimension, n, x, y] = atom;
    const graph = graphs[dimension];
    if (!known(x) && known(y)) {
      for (const from of graph.reached(value(y), n, true)) yield [from, value(y)];
      return;
    }
    for (const from of known(x) ? [value(x)] : graph.nodes) {
      for (const to of graph.reached(from, n, false)) yield [from, to];
    }
  }

  // The atom to go on with: one whose arguments are known, else the one with fewest unknown.
  function next() {
    let best = -1;
    let least = Infinity;
    atoms.forEach((atom, i) => {
      if (done[i]) return;
      const args = argumentsOf(atom);
      const free = args.filter((arg) => !known(arg)).length;
      const touches = args.some(known) || free === 0;
      const cost = free + (touches ? 0 : 10) + (isLink(atom) ? 0.5 : 0);
      if (cost < least) [best, least] = [i, cost];
    });
    return best;
  }

  function search(left) {
    if (!left) {
      const name = binding.join(",");
      if (!names.has(name)) {
        names.add(name);
        found.push([...binding]);
      }
      return;
    }
    const i = next();
    const args = argumentsOf(atoms[i]);
    done[i] = true;
    for (const values of candidates(atoms[i])) {
      if (++steps > MOST_STEPS || found.length >= limit) {
        complete = false;
        break;
      }
      const bound = bind(args, values);
      if (bound) {
        search(left - 1);
        bound.forEach((v) => (binding[v] = -1));
      }
    }
    done[i] = false;
  }

  search(atoms.length);
  return { found, complete };
}
