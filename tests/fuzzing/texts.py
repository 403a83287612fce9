"""Texts: data, rules, biases, patterns, models of states and transitions, lists."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parsing import parse_rule, parse_term

from fuzzing.targets import NUMBERS, Mutator, Target, golden
from relynx.bias.reader import parse_bias, read_bias
from relynx.cli.options import Columns
from relynx.data.lists import from_lists
from relynx.data.lynx.reader import read_lynx
from relynx.data.lynx.writer import write_lynx
from relynx.errors import InputError, Source
from relynx.logic.datalog import parse_background, read_background
from relynx.logic.nodes import node_rule
from relynx.logic.parser import parse_atom, parse_atoms, parse_clauses
from relynx.mining.matching.match import covers
from relynx.mining.patterns.pattern import parse_pattern
from relynx.models.lohmm.model import LoHMM

FACTS = [
    *(b"begin(s1,a).", b"begin(s2).", b"begin(", b"end.", b"next_s(e1,e2).", b"next_h(e2,e1)."),
    *(b"follow_s(e1,e2).", b"a < b < c.", b"a(x) < (b, c(y)) < d.", b"p(e1,f(x,1.5))."),
    *(b"'it''s'", b"'\\x41\\'", b"\\x", b"0'", b"/*", b"*/", b":-", b"_", b"X", b". ", b"(", b")"),
    *(b"[", b"]", b",", b"|", b"`", b"-", b"<"),
]
RULES = [
    *(b"p(X) :- q(X), \\+ r(X), Y is X + 1.", b":-", b"\\+", b"is", b"mod", b"//", b"**", b"=<"),
    *(b">=", b"=:=", b"\\=", b"<", b"X", b"Y", b"_", b"p", b"q", b"(", b")", b",", b".", b"X * X"),
]
LYNX = [
    b"begin(s1,a). p(e1,f(x,1.5)). next_s(e1,e2). p(e2,f(y,2)). end.\n",
    b"begin(s1,up). q(e1). a(x) < b(y) < (c, d(z)). end.\nbegin(s2,down). a(x) < c. end.\n",
    b"begin(1). atm(d1,c,22,-0.133). bond(d1,d2,7). end. begin(2). atm(d1,o,1,0.5). end.",
    b"begin('Tom''s',1). p('A b',e1). next_s(e1,e2). next_h(e1,e3). end.",
]
BACKGROUND = [
    b"p(X) :- q(X,_), X >= -1.\n",
    b"path(X,Y) :- edge(X,Y). path(X,Z) :- path(X,Y), edge(Y,Z).",
    b"n(0). n(Y) :- n(X), X < 5, Y is X + 1. odd(X) :- n(X), 1 is X mod 2.\n"
    b"e(X) :- n(X), \\+ odd(X).",
    b"near(a,b). near(X,Y) :- near(Y,X). far(X,Y) :- p(X,_), p(Y,_), X \\== Y, \\+ near(X,Y).",
    b"big(E) :- p(E,V), V > 1, W is V * V - 2, W < 10. last(E) :- p(E,_), \\+ next_s(E,_).",
]
PATTERNS = [
    b"he(X,right,alpha), next_s(X,Y), st(Y,plus,short)",
    b"a(X), follow_s(X,Y), b(Y,Z)",
    b"p(X,V), followat_s(2,X,Y), p(Y,V)",
    b"p(X,_,V), next_s(X,Y), p(Y,W,V), a(Y), next_s(Y,Z), b(Z)",
    b"p(X,x,1), followat_s(3,X,Y), q('A b',Y)",
]
BIASES = [
    b"type(he(event,kind)). mode(he(+,#)). dimension(next_s). maxsize(3).",
    b"type(he(event,kind)). values(kind,[alpha,pi]). mode(he(+,#)). mode(he(+,-)).\n"
    b"key([he(_,alpha)]). negconstraint([he(E,K),he(E,K)]). words(he(E,K),'a {K} helix').",
    b"type(a(event)). type(b(event,num)). mode(a(+)). mode(b(+,-)). dimension(next_s).\n"
    b"dimension(next_h). maxfollowat(2). minsupport(0.1). minfreq(2). prior(uniform).",
    b"type(a(event)). mode(a(*)). atmostone([a(E),b(E)]). sametype([a(E),b(E)]). v(a(_)).\n"
    b"type(b(event)). mode(b(+)). object_identity(true). posconstraint([a(_)]). mincover(3).",
]
ORIGINAL = [
    b":- set_lynx_flag('$maxsize',3). type(he(e,kind)). mode(he(+,#)). values(kind,[a,b]).",
    b":- set_lynx_flag(unbalanced_data,true). :- set_lynx_flag('$minfreq',2). type(a(e,k)).\n"
    b"mode(a(+,-)). mode(a(-,+)). values(k,[x,1,2.5]). dimension(next_s). onlyone([a(E,_)]).",
]
LOHMM = [
    b"0.5 : heads <- start.\n0.5 : tails <- start.\n1.0 : heads <- a - tails.\n"
    b"0.3 : tails <- b - heads. 0.7 : heads <- c - heads.",
    b"type(s(k)). values(k,[x,y]). 1.0 : s(X) <- start. 0.4 : s(Y) <- o(X) - s(X).\n"
    b"0.6 : end <- o(X) - s(X). type(o(k)). selection(type).",
    b"blocks([1,3]). 1.0 : a <- start. 1.0 : a <- o - a, block(1). 1.0 : end <- o - a, block(2).",
    b"type(s(k)). values(k,[x,y]). select(s(X),X,[0.3,0.7]).\n1.0 : s(X) <- start.\n"
    b"1 : s(Y) <- o - s(X).",
]
SMALL = [["a", "b", ("p", "x", 1)], ["b", "c", ("p", "y", 2.5)], [["a", "c"], "a"]]
VALUES = [
    *(None, True, 0, -1, 2.5, float("nan"), float("inf"), 10**400, "", "a", "e1", "next_s", "X"),
    *("follow_s", "begin", "a b", "\ud800", b"a", (), ("p",), ("p", "x", 1), ("p", ("f", "x")), []),
    *(["a", "b"], {"a": 1}, {"b"}, frozenset("ab"), ("p", None), ("", "x"), (1, 2), [[["a"]]]),
]


def read_all(path: Path) -> list[Target]:
    """The targets that read texts; `path` is a file to write them to."""
    X, _ = from_lists(SMALL)
    observed = [[parse_atom("a"), parse_atom("b")], [parse_atom("o(x)")], [parse_atom("c")]]

    def lynx(data: bytes) -> bool:
        path.write_bytes(data)
        found, _ = read_lynx(path)
        for one in found:
            str(one)
        try:
            write_lynx(found, path)
        except InputError:
            return True
        if read_lynx(path)[0] != found:
            raise AssertionError("what is written reads back as something else")
        return True

    def rules(data: bytes) -> bool:
        path.write_bytes(data)
        background = read_background(path)
        if parse_background(str(background)) != background:
            raise AssertionError("the rules read back as others")
        if len(data) < 200:  # an honest program may take long, and longer ones do
            found = X.with_background(background)
            str(found[0])
        return True

    def clauses(data: bytes) -> bool:
        text = data.decode("utf-8", "replace")
        source = Source(text, "fuzz.pl")
        found, problems = parse_clauses(source)
        str(InputError(problems) if problems else "")
        taken = False
        for clause in found:
            try:
                rule = node_rule(clause.node, source)
            except InputError:
                continue
            taken = True
            if parse_rule(str(rule)) != rule:
                raise AssertionError(f"{rule} reads back as {parse_rule(str(rule))}")
        return taken

    def atoms(data: bytes) -> bool:
        text, taken = data.decode("utf-8", "replace"), False
        for parse in (parse_term, parse_atom, parse_atoms):
            try:
                parse(text)
                taken = True
            except InputError:
                pass
        return taken

    def bias(data: bytes) -> bool:
        path.write_bytes(data)
        found = read_bias(path)
        if parse_bias(str(found)) != found:
            raise AssertionError("the bias reads back as another one")
        return True

    def pattern(data: bytes) -> bool:
        found = parse_pattern(data.decode("utf-8", "replace"))
        if parse_pattern(str(found)) != found:
            raise AssertionError(f"{found} reads back as another pattern")
        if len(found) <= 8:
            covers(found, X)
        return True

    def lohmm(data: bytes) -> bool:
        path.write_bytes(data)
        model = LoHMM.read(path)
        if str(LoHMM.parse(str(model))) != str(model):
            raise AssertionError("the model reads back as another one")
        model.log_probability(observed)
        return True

    def lists(data: bytes) -> bool:
        given = _lists(random.Random(data))
        found, _ = from_lists(**given)
        str(found[0])
        return True

    def columns(data: bytes) -> bool:
        parts = data.decode("utf-8", "replace").split("\n")
        taken = False
        said = Columns(order=tuple(parts), fluents=tuple(parts), bins=tuple(parts))
        for ask in (said.dimensions, said.facts, said.ranges):
            try:
                ask()
                taken = True
            except InputError:
                pass
        return taken

    prolog = golden("bad/*.pl", "bad_background/*")
    options = [b"day=date\nbed=number", b"time", b"did=step,who\ncost", b"cost=4\nage=20,60"]
    options += [b"width:5", b"a=width:3", b"none", b"cost=supervised", b"10,100"]
    return [
        Target("lynx", 12, Mutator(LYNX * 20 + golden("bad/*.m"), FACTS), lynx),
        Target("clauses", 9, Mutator(BACKGROUND * 3 + prolog, RULES + FACTS), clauses),
        Target("background", 8, Mutator(BACKGROUND * 40 + prolog, RULES), rules),
        Target("atoms", 10, Mutator(PATTERNS + LYNX, FACTS), atoms),
        Target("pattern", 8, Mutator(PATTERNS, RULES + FACTS), pattern),
        Target("bias", 7, Mutator(BIASES * 40 + golden("bad_bias/*.l"), BIASES), bias),
        Target("bias, original", 3, Mutator(ORIGINAL, BIASES), bias),
        Target("bias, Aleph", 3, Mutator(_foreign("*.b"), [b"modeb(1,", b"+", b"#", b":-"]), bias),
        Target("bias, Popper", 3, Mutator(_foreign("*.pl"), [b"body_pred(", b"type("]), bias),
        Target("LoHMM", 6, Mutator(LOHMM * 30 + golden("bad_lohmm/*.lohmm"), LOHMM), lohmm),
        Target("lists", 8, _seed, lists),
        Target("columns", 2, Mutator(options, [b"=", b",", b":", b"\n", *NUMBERS]), columns),
    ]


def _foreign(ending: str) -> list[bytes]:
    return [one[:600] for one in golden(f"foreign_bias/{ending}", f"bad_foreign_bias/{ending}")]


def _seed(rng: random.Random) -> bytes:
    return rng.randbytes(8)


def _lists(rng: random.Random) -> dict[str, Any]:
    """Arguments of `from_lists`, right in most places."""

    def one(good: Callable[[], object], chance: float = 0.03) -> Any:
        return rng.choice(VALUES) if rng.random() < chance else good()

    def position() -> object:
        return rng.choice(("a", "b", "c", ("p", "x", 1), ("p", "y", 2.5), ["a", "b"], {"c"}))

    n = rng.randrange(4)
    given: dict[str, Any] = {
        "lists": one(lambda: [one(lambda: [one(position) for _ in range(rng.randrange(4))])] * n)
    }
    if rng.random() < 0.4:
        given["labels"] = one(lambda: [one(lambda: rng.choice(("x", "y"))) for _ in range(n)], 0.1)
    if rng.random() < 0.3:
        given["ids"] = one(lambda: [one(lambda i=i: f"s{i}") for i in range(n)], 0.1)
    if rng.random() < 0.3:
        given["predicate"] = one(lambda: "sym", 0.2)
    return given
