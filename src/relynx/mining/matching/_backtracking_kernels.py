"""Compiled loops of the index and of the matcher by search, on flat arrays.

Inside a sequence a constant is a *key*: an event is its node number (nodes are numbered over all
sequences), any other constant is `n_nodes + code`. Equal keys mean equal constants.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relynx._kernels import by_reference, inlined, inner_kernel, kernel

FACT, NODE, LINK = 0, 1, 2  # kinds of step
TEST, BIND, SKIP = 0, 1, 2  # what a step does with an argument of a fact
FROM, BACK, BOTH = 0, 1, 2  # which ends of a link are known
GRAPH, PATHS, LINE = 0, 1, 2  # the shape of a dimension in a sequence
ONE = np.uint64(1)
NONE = np.uint64(0)
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


@by_reference
class Data(NamedTuple):
    """The facts that a set of patterns asks about. R relations, I indexes, D dimensions."""

    n_nodes: int
    most_nodes: int  # of any sequence
    most_words: int
    has_graphs: bool  # whether some dimension is a graph in some sequence
    node_off: NDArray[np.int64]  # S+1: the nodes of each sequence
    word_off: NDArray[np.int64]  # S+1: the 64-bit words that hold a set of its nodes
    event_code: NDArray[np.int32]  # codes of the events, sorted inside each sequence
    event_node: NDArray[np.int32]  # and their nodes
    cells: NDArray[np.int32]  # keys, relation after relation, argument after argument
    cell_off: NDArray[np.int64]  # R
    size: NDArray[np.int64]  # R: number of facts
    seq_off: NDArray[np.int64]  # R x S+1
    index_off: NDArray[np.int64]  # I
    perm: NDArray[np.int32]  # facts sorted by (sequence, key of the indexed argument)
    keys: NDArray[np.int32]  # those keys
    lo: NDArray[np.int32]  # I x N: the facts that hold a node, as a range of perm
    hi: NDArray[np.int32]
    shape: NDArray[np.uint8]  # D x S
    order: NDArray[np.int32]  # D x N: nodes path by path
    rank: NDArray[np.int32]  # D x N: the place of a node in order
    first: NDArray[np.int32]  # D x N: the rank at which a node's path begins
    last: NDArray[np.int32]  # D x N: and ends
    next_off: NDArray[np.int64]  # D x 2 x N+1: neighbours, forward and backward
    neighbours: NDArray[np.int32]


@by_reference
class Plan(NamedTuple):
    """How one pattern is matched. Slots are variables first, then constants."""

    n_variables: int
    constants: NDArray[np.int32]  # codes
    steps: NDArray[np.int32]  # kind and five numbers a row
    args: NDArray[np.int32]  # (what to do, slot)
    differ: NDArray[np.int32]  # slots that a variable must differ from when it is bound
    differ_off: NDArray[np.int32]  # n_variables+1
    depends: NDArray[np.int64]  # bit j of entry i: step i uses what step j binds
    group: NDArray[np.int32]  # the domain of a variable, or -1
    templates: NDArray[np.int32]  # rows of bits that a domain lies in
    template_off: NDArray[np.int32]  # G+1
    edges: NDArray[np.int32]  # (dimension, n or 0, group, group), parents before children
    n_binding: int  # the steps after these bind no variable that has a name
    exact: bool  # domains alone decide on sequences whose dimensions are paths


@kernel
def walk_paths(before, after, edge_off, node_off, shape, order, rank, first, last):
    """The paths that links make in each sequence. Link e leads from node before[e] to node
    after[e]. `order` gets the nodes path by path, by their beginnings; of each node `rank` is its
    place there, `first` and `last` are those of its path. In a sequence that is no set of paths
    every node is a path by itself."""
    most = 0
    for s in range(len(node_off) - 1):
        most = max(most, node_off[s + 1] - node_off[s])
    previous = np.empty(most, np.int32)
    following = np.empty(most, np.int32)
    for s in range(len(node_off) - 1):
        base = node_off[s]
        n = node_off[s + 1] - base
        for i in range(n):
            previous[i] = -1
            following[i] = -1
        is_graph = False
        for e in range(edge_off[s], edge_off[s + 1]):
            x, y = before[e] - base, after[e] - base
            if x == y or following[x] >= 0 or previous[y] >= 0:
                is_graph = True
                break
            following[x], previous[y] = y, x
        at, n_paths = base, 0
        if not is_graph:
            for head in range(n):
                if previous[head] >= 0:
                    continue
                n_paths += 1
                begin, node = at, np.int64(head)
                while node >= 0:
                    order[at] = base + node
                    rank[base + node] = at
                    first[base + node] = begin
                    at += 1
                    node = np.int64(following[node])
                for place in range(begin, at):
                    last[order[place]] = at - 1
        shape[s] = LINE if n_paths <= 1 else PATHS
        if is_graph or at < base + n:  # what no path reaches is a circle
            shape[s] = GRAPH
            for i in range(base, base + n):
                order[i], rank[i], first[i], last[i] = i, i, i, i


@kernel
def mark_template(cells, seq_off, node_off, word_off, arg, rules, out):
    """Set in `out` the bit of each node that argument `arg` takes in a fact that obeys `rules`. A
    rule (i, 0, key) asks that argument i is a key, (i, 1, j) that it equals argument j, (i, 2, key)
    and (i, 3, j) the opposite."""
    n_nodes = node_off[-1]
    for s in range(len(node_off) - 1):
        for f in range(seq_off[s], seq_off[s + 1]):
            node = cells[arg, f]
            if node >= n_nodes:
                continue
            good = True
            for r in range(rules.shape[0]):
                kind, other = rules[r, 1], rules[r, 2]
                if kind & 1:
                    other = cells[other, f]
                if (cells[rules[r, 0], f] == other) != (kind < 2):
                    good = False
                    break
            if good:
                at = node - node_off[s]
                out[word_off[s] + (at >> 6)] |= ONE << np.uint64(at & 63)


@inlined
def has_bit(sets, row, at):
    return (sets[row, at >> 6] >> np.uint64(at & 63)) & ONE != NONE


@inlined
def shift_on_line(sets, source, target, n_words, n, back):
    """Keep of a set what lies n steps (0: any number) after, or before, a node of another."""
    if n == 0:
        beyond = False  # whether the nearest node of the source lies in an earlier word
        for i in range(n_words):
            w = n_words - 1 - i if back else i
            word = sets[source, w]
            keep = FULL if beyond else NONE
            if word != NONE and not beyond:
                beyond = True
                if back:
                    word |= word >> np.uint64(1)  # fill all bits below the highest
                    word |= word >> np.uint64(2)
                    word |= word >> np.uint64(4)
                    word |= word >> np.uint64(8)
                    word |= word >> np.uint64(16)
                    word |= word >> np.uint64(32)
                    keep = word >> ONE
                else:
                    low = word & (~word + ONE)
                    keep = ~(low | (low - ONE))
            sets[target, w] &= keep
    else:
        whole, part = n >> 6, np.uint64(n & 63)
        rest = np.uint64(64) - part
        for w in range(n_words):
            near = w + whole if back else w - whole
            far = near + 1 if back else near - 1
            word = NONE
            if 0 <= near < n_words:
                word = sets[source, near] >> part if back else sets[source, near] << part
            if part != NONE and 0 <= far < n_words:
                word |= sets[source, far] << rest if back else sets[source, far] >> rest
            sets[target, w] &= word


@inlined
def shift_on_paths(sets, source, target, n, back, nodes, order, first, last):
    """The same where a dimension is a set of paths. The last row of `sets` is scratch."""
    node0, node1 = nodes[0], nodes[1]
    n_words = (node1 - node0 + 63) >> 6
    scratch = sets.shape[0] - 1
    for w in range(n_words):
        sets[scratch, w] = NONE
    seen = False
    for i in range(node1 - node0):
        r = node1 - 1 - i if back else node0 + i
        node = order[r]
        end = last[node] if back else first[node]
        if n == 0:
            if r == end:
                seen = False
            hit = seen
            seen = seen or has_bit(sets, source, node - node0)
        else:
            other = r + n if back else r - n
            hit = other <= end if back else other >= end
            if hit:
                hit = has_bit(sets, source, order[other] - node0)
        if hit:
            at = node - node0
            sets[scratch, at >> 6] |= ONE << np.uint64(at & 63)
    for w in range(n_words):
        sets[target, w] &= sets[scratch, w]


@inner_kernel
def walk(next_off, neighbours, node, n, node0, n_nodes, marks, out):
    """The nodes n steps (0: one or more) from a node of a general dimension; how many."""
    count = 0
    if n == 0:
        for i in range(n_nodes):
            marks[i] = 0
        at = -1
        here = node
        while True:
            for e in range(next_off[here], next_off[here + 1]):
                to = neighbours[e]
                if marks[to - node0] == 0:
                    marks[to - node0] = 1
                    out[count] = to
                    count += 1
            at += 1
            if at >= count:
                return count
            here = out[at]
    out[0] = node
    count = 1
    for _ in range(n):
        for i in range(n_nodes):
            marks[i] = 0
        for i in range(count):
            here = out[i]
            for e in range(next_off[here], next_off[here + 1]):
                marks[neighbours[e] - node0] = 1
        count = 0
        for i in range(n_nodes):
            if marks[i]:
                out[count] = node0 + i
                count += 1
        if count == 0:
            return 0
    return count


@inner_kernel
def lower_bound(keys, lo, hi, key):
    """The first place from lo to hi whose key is not less."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if keys[mid] < key:
            lo = mid + 1
        else:
            hi = mid
    return lo


@inlined
def event_key(event_code, event_node, lo, hi, code):
    """The node of a constant that is an event of the sequence with nodes lo to hi, else -1."""
    at = lower_bound(event_code, lo, hi, code)
    if at < hi and event_code[at] == code:
        return np.int64(event_node[at])
    return np.int64(-1)


@inner_kernel
def allowed(plan, bound, sets, node0, n_nodes, v, key):
    """Bind variable v to a key, if that is in its domain and different from what it must be."""
    good, differ = True, plan.differ
    g = plan.group[v]
    if g >= 0:
        good = key < n_nodes and has_bit(sets, g, key - node0)
    if good:
        for i in range(plan.differ_off[v], plan.differ_off[v + 1]):
            if bound[differ[i]] == key:
                good = False
                break
    if good:
        bound[v] = key
    return good


@inlined
def narrow(template_off, templates, bits, word0, n_words, n_here, sets):
    """Fill the domain of each event variable; False when one is empty."""
    tail = n_here & 63
    last = (ONE << np.uint64(tail)) - ONE if tail else FULL
    good = True
    for g in range(len(template_off) - 1):
        some = NONE
        for w in range(n_words):
            word = last if w == n_words - 1 else FULL
            for t in range(template_off[g], template_off[g + 1]):
                word &= bits[templates[t], word0 + w]
            sets[g, w] = word
            some |= word
        if some == NONE:
            good = False
            break
    return good


@kernel
def solve(plan, data, bits, sequences, limit, counts, found):
    """Count the matches of a plan in each of the sequences, up to `limit`.

    First the domains of the events are made consistent along the dimensions, which settles most
    sequences. Then backtracking over the steps: a dead end jumps back to the last step that it
    depends on. With a limit above 1, row i of `found` gets the keys of match i, and once there is
    a match the steps back are taken one by one, as all matches count.
    """
    steps, args, depends = plan.steps, plan.args, plan.depends
    template_off, templates, edges = plan.template_off, plan.templates, plan.edges
    constants, n_variables = plan.constants, plan.n_variables
    n_nodes, node_off, word_off = data.n_nodes, data.node_off, data.word_off
    cells, cell_off, size, seq_off = data.cells, data.cell_off, data.size, data.seq_off
    index_off, perm, keys, lo, hi = data.index_off, data.perm, data.keys, data.lo, data.hi
    shape, order, rank = data.shape, data.order, data.rank
    first, last = data.first, data.last
    next_off, neighbours = data.next_off, data.neighbours

    # A level of the search is a step of the plan: its candidates that are left are those from
    # cursor to end, and blame has a bit for each earlier step that its failures may be due to.
    n_steps, n_edges = steps.shape[0], edges.shape[0]
    bound = np.zeros(n_variables + len(constants) + 1, np.int64)
    cursor = np.zeros(n_steps + 1, np.int64)
    end = np.zeros(n_steps + 1, np.int64)
    blame = np.zeros(n_steps + 1, np.int64)
    near = np.zeros((n_steps + 1, data.most_nodes if data.has_graphs else 0), np.int64)
    marks = np.zeros(data.most_nodes if data.has_graphs else 0, np.uint8)
    sets = np.zeros((len(template_off) + 1, data.most_words), np.uint64)

    for v in range(n_variables):
        bound[v] = -1
    for i in range(len(sequences)):
        s = sequences[i]
        node0, n_here = node_off[s], node_off[s + 1] - node_off[s]
        n_words = word_off[s + 1] - word_off[s]
        if not narrow(template_off, templates, bits, word_off[s], n_words, n_here, sets):
            continue
        # The edges are a forest: one pass up and one down make all domains consistent, and the pass
        # up alone tells whether the roots keep a node. Graphs are left to the search.
        exact, good = plan.exact, True
        for turn in range(2 * n_edges):
            up = turn < n_edges  # children narrow parents first, then parents children
            e = n_edges - 1 - turn if up else turn - n_edges
            d, n = edges[e, 0], edges[e, 1]
            source = edges[e, 3] if up else edges[e, 2]
            target = edges[e, 2] if up else edges[e, 3]
            back = up
            if n < 0:  # the edge runs from child to parent
                n = -n - 1
                back = not up
            kind = shape[d, s]
            if kind == LINE:
                shift_on_line(sets, source, target, n_words, n, back)
            elif kind == PATHS:
                shift_on_paths(
                    sets, source, target, n, back, node_off[s : s + 2], order[d], first[d], last[d]
                )
            else:
                exact = False
                continue
            some = NONE
            for w in range(n_words):
                some |= sets[target, w]
            if some == NONE:
                good = False
                break
            if exact and turn == n_edges - 1:
                break
        if not good:
            continue
        if exact:  # nothing but these domains decides, so that no search is needed
            counts[i] = 1
            continue

        # A constant may be an event here and a value there.
        for c in range(len(constants)):
            code = np.int64(constants[c])
            key = event_key(data.event_code, data.event_node, node0, node_off[s + 1], code)
            bound[n_variables + c] = key if key >= 0 else n_nodes + code
        count = 0
        depth = 0
        entering = True
        while depth >= 0:
            if depth == n_steps:
                if limit > 1:
                    for v in range(n_variables):
                        found[count, v] = bound[v]
                count += 1
                if count == limit:
                    break
                depth = min(plan.n_binding, depth) - 1  # nobody sees the rest in other ways
                entering = False
                continue
            kind, what, how = steps[depth, 0], steps[depth, 1], steps[depth, 2]
            a, b, mode = steps[depth, 3], steps[depth, 4], steps[depth, 5]
            if entering:  # list the candidates of this step
                blame[depth] = depends[depth]
                if kind == FACT:
                    if how < 0:
                        cursor[depth], end[depth] = seq_off[what, s], seq_off[what, s + 1]
                    elif bound[a] < n_nodes:  # each node has its range of facts at hand
                        cursor[depth], end[depth] = lo[how, bound[a]], hi[how, bound[a]]
                    else:
                        base = index_off[how]
                        stop = base + seq_off[what, s + 1]
                        at = lower_bound(keys, base + seq_off[what, s], stop, bound[a])
                        cursor[depth] = at - base
                        while at < stop and keys[at] == bound[a]:
                            at += 1
                        end[depth] = at - base
                elif kind == NODE:
                    cursor[depth], end[depth] = node0, node0 + n_here
                else:
                    cursor[depth], end[depth] = 0, 0
                    start = bound[b] if mode == BACK else bound[a]
                    if start >= n_nodes or (mode == BOTH and bound[b] >= n_nodes):
                        pass
                    elif shape[what, s] == GRAPH:
                        links, out = next_off[what, 1 if mode == BACK else 0], near[depth]
                        hops = np.int64(how)
                        many = walk(links, neighbours, start, hops, node0, n_here, marks, out)
                        end[depth] = many
                        if mode == BOTH:
                            end[depth] = 0
                            for j in range(many):
                                if near[depth, j] == bound[b]:
                                    end[depth] = 1
                    else:  # along a path candidates are ranks, and its ends bound them
                        r = rank[what, start]
                        if mode == FROM:
                            cursor[depth] = r + how if how else r + 1
                            stop = last[what, start] + 1
                            end[depth] = min(stop, cursor[depth] + 1) if how else stop
                        elif mode == BACK:
                            cursor[depth] = r - how if how else first[what, start]
                            end[depth] = r
                            if how:
                                inside = cursor[depth] >= first[what, start]
                                end[depth] = cursor[depth] + 1 if inside else cursor[depth]
                        else:
                            to = rank[what, bound[b]]
                            far = to == r + how if how else to > r
                            if far and first[what, start] == first[what, bound[b]]:
                                end[depth] = 1
            taken = False  # the first candidate that fits binds what the step introduces
            while cursor[depth] < end[depth]:
                at = cursor[depth]
                cursor[depth] = at + 1
                if kind == FACT:
                    fact = at
                    if how >= 0:
                        fact = np.int64(perm[index_off[how] + at])
                    base, m = cell_off[what] + fact, size[what]
                    taken = True
                    for j in range(mode):
                        act, slot = args[b + j, 0], args[b + j, 1]
                        if act == SKIP:
                            continue
                        key = np.int64(cells[base + j * m])
                        if act == TEST:
                            taken = bound[slot] == key
                        else:
                            taken = allowed(plan, bound, sets, node0, n_nodes, slot, key)
                        if not taken:
                            break
                elif kind == LINK and mode == BOTH:
                    taken = True
                else:
                    slot, node = what, at
                    if kind == LINK:
                        slot = b if mode == FROM else a
                        is_graph = shape[what, s] == GRAPH
                        node = near[depth, at] if is_graph else np.int64(order[what, at])
                    taken = allowed(plan, bound, sets, node0, n_nodes, slot, node)
                if taken:
                    break
            if taken:
                depth += 1
                entering = True
                continue
            entering = False
            # Back to the last step that this failure may be due to, which inherits the other
            # causes: no other choice in between can help. Once a match was found, what was tried
            # above it is no failure any more, and every step back counts; so it does where steps
            # are too many for the bits.
            if count or n_steps > 62:
                depth -= 1
                continue
            causes = blame[depth]
            depth -= 1
            while depth >= 0 and (causes >> depth) & 1 == 0:
                depth -= 1
            if depth >= 0:
                blame[depth] |= causes & ~(np.int64(1) << depth)
        counts[i] = count
