"""Event logs: what is read, what is written again, and by whom else the files may be."""

import doctest
import gzip
import pickle
import re
import shlex
import tracemalloc
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import GOLDEN, ROOT

import relynx as rx
from relynx import cli
from relynx.data.xes.event_table import XesTable
from relynx.data.xes.parser import read_log
from relynx.errors import InputError

LOGS = GOLDEN / "xes"
EVENT = "<event><string key='concept:name' value='{}'/></event>"
QUICK = ("--max-length", "2", "--max-iter", "3", "--n-features", "2")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def log(*traces, head=""):
    """A file with some traces, given as texts."""
    Path("log.xes").write_text(
        f"<log>{head}{''.join(map('<trace>{}</trace>'.format, traces))}</log>"
    )
    return "log.xes"


def notes(X):
    """What is said of a log, but not that its traces have no names."""
    return [note for note in X.reading.notes if "numbered" not in note]


def facts(X, predicate):
    return [[atom.args for atom in s.atoms if atom.predicate == predicate] for s in X]


# Logs of random shape, as trees: a slow and obvious reader and writer

KEYS = st.sampled_from(["a", "b", "concept:name", "the key", "case:a", "x/y"])
TEXTS = st.text("ab<&\"'\n\té ", max_size=4)
VALUES = {
    "string": TEXTS,
    "id": st.sampled_from(["u1", "u2"]),
    "int": st.integers(-(2**40), 2**40).map(str),
    "float": st.floats(allow_infinity=False).map(repr),
    "boolean": st.sampled_from(["true", "false"]),
    "date": st.datetimes(timezones=st.timezones() | st.none()).map(
        lambda moment: moment.replace(fold=0).isoformat()
    ),
}


@st.composite
def attribute(draw, depth=2):
    """An attribute with what is nested in it; keys are told apart by the caller."""
    kinds = [*VALUES, "list", "container"] if depth else [*VALUES]
    tag = draw(st.sampled_from(kinds))
    node = ElementTree.Element(tag, key=draw(KEYS))
    if tag in VALUES:
        node.set("value", draw(VALUES[tag]))
    if tag == "list":
        values = ElementTree.SubElement(node, "values")
        values.extend(draw(st.lists(attribute(depth=0), max_size=3)))
    elif depth and draw(st.booleans()):
        node.extend(draw(attributes(depth=depth - 1)))
    return node


@st.composite
def attributes(draw, depth=2):
    return draw(
        st.lists(attribute(depth=depth), max_size=4, unique_by=lambda node: node.get("key"))
    )


@st.composite
def trees(draw):
    root = ElementTree.Element("log", {"xes.version": "2.0"})
    ElementTree.SubElement(root, "extension", name="Concept", prefix="concept", uri="u")
    scope = ElementTree.SubElement(root, "global", scope="event")
    scope.extend(draw(attributes(depth=0)))
    root.extend(draw(attributes()))
    for _ in range(draw(st.integers(1, 4))):
        trace = ElementTree.SubElement(root, "trace")
        trace.extend(draw(attributes()))
        for _ in range(draw(st.integers(0, 3))):
            ElementTree.SubElement(trace, "event").extend(draw(attributes()))
    return root


def plain(node):
    """A tree as nested tuples."""
    return node.tag, tuple(node.attrib.items()), tuple(map(plain, node))


def flat(node, above=""):
    """The values below an element, by their names: what is nested, what is numbered."""
    found = {}
    for child in node:
        if child.tag in ("event", "trace"):
            continue
        name = above if child.tag == "values" else f"{above}/{child.get('key')}".lstrip("/")
        if child.tag in VALUES:
            found.setdefault(name, []).append(child.get("value"))
        for key, values in flat(child, name).items():
            found.setdefault(key, []).extend(values)
    return found


@given(trees())
def test_a_log_is_written_as_it_was_read(tree):
    ElementTree.ElementTree(tree).write("one.xes", encoding="utf-8")
    kept = rx.Sequences  # the class, to make sequences that hold the log and nothing else
    read = read_log("one.xes")
    X, _ = rx.from_events({"case:concept:name": ["a"]}, sequence="case:concept:name")
    names = XesTable(read, "one.xes").trace_names
    X = kept(X.vocabulary, {}, names, reading=X.reading, origin=read)
    rx.write_xes(X, "two.xes")
    again = ElementTree.parse("two.xes").getroot()
    for node in again.iter():
        node.text = node.tail = None
    assert plain(again) == plain(tree)


@given(trees())
def test_every_value_of_an_event_is_in_the_columns(tree):
    ElementTree.ElementTree(tree).write("one.xes", encoding="utf-8")
    part = read_log("one.xes").events
    columns = part.columns()
    events = [event for trace in tree.iter("trace") for event in trace.iter("event")]
    found = [{} for _ in events]
    for name, places in columns.items():
        for place in places:
            texts = part.attributes[place[0]].texts
            for i, code in enumerate(part.column(place).tolist()):
                if code >= 0:
                    found[i].setdefault(part.attributes[place[0]].path, []).append(texts[code])
                    assert name.startswith(part.attributes[place[0]].path)
    wanted = [flat(event) for event in events]
    assert [{k: sorted(v) for k, v in one.items()} for one in found] == [
        {k: sorted(v) for k, v in one.items()} for one in wanted
    ]


TABLES = st.integers(1, 12).flatmap(
    lambda n: st.fixed_dictionaries(
        {
            "case": st.lists(
                st.sampled_from(["x", "y", "z"]) | st.just("7"), min_size=n, max_size=n
            ),
            "at": st.lists(st.integers(0, 9), min_size=n, max_size=n),
            "step": st.lists(st.sampled_from(["a", "b & c", None]), min_size=n, max_size=n),
            "cost": st.lists(st.floats(-5, 5) | st.none(), min_size=n, max_size=n),
            "ok": st.lists(st.booleans() | st.none(), min_size=n, max_size=n),
            "day": st.lists(st.dates() | st.none(), min_size=n, max_size=n),
        }
    )
)


@given(TABLES, st.sampled_from([None, "at", {"at": "at", "cost": "n"}]), st.booleans())
def test_a_table_becomes_a_log_and_the_same_sequences_again(table, order, chosen):
    if isinstance(order, dict):  # without links, an event that has no fact leaves no trace
        table = table | {"n": list(range(len(table["at"]))), "step": ["a"] * len(table["at"])}
    fluents = ["step", "cost", "ok", "day"] if chosen or isinstance(order, dict) else None
    X, _ = rx.from_events(table, sequence="case", order=order, fluents=fluents)
    rx.write_xes(X, "log.xes.gz")
    again, _ = rx.read_xes("log.xes.gz", reading=X.reading)
    assert again == X


# What is read


def test_an_event_follows_the_one_before_it_in_the_file():
    X, y = rx.read_xes(log(EVENT.format("b") + EVENT.format("a")))
    assert str(X[0]) == (
        "begin(trace_1). next_s(e1,e2). concept_name(e1,b). concept_name(e2,a). end."
    )
    assert y is None


def test_order_puts_the_events_of_a_trace_in_another_order():
    event = (
        "<event><string key='s' value='{}'/><date key='t' value='2024-01-0{}T00:00:00Z'/></event>"
    )
    X, _ = rx.read_xes(log(event.format("a", 2) + event.format("b", 1)), order="t")
    assert facts(X, "s") == [[("e1", "b"), ("e2", "a")]]


@pytest.mark.parametrize(
    "times",
    [
        ("2024-01-01T00:00:00.0000002+01:00", "2024-01-01T00:00:00.0000001+01:00"),
        ("9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00"),  # no years of Python, in UTC
    ],
)
def test_times_are_compared_to_the_last_digit_and_the_last_year(times):
    event = "<event><string key='s' value='{}'/><date key='t' value='{}'/></event>"
    X, _ = rx.read_xes(log("".join(map(event.format, "ab", times))), order="t", fluents="s")
    assert facts(X, "s") == [[("e1", "b"), ("e2", "a")]]


def test_an_order_asks_nothing_of_a_trace_without_events():
    event = "<event><string key='s' value='a'/><int key='t' value='2'/></event>"
    X, _ = rx.read_xes(log(event, ""), order="t", fluents="s")
    assert facts(X, "s") == [[("e1", "a")], []]


def test_a_label_is_looked_for_in_the_trace_first():
    event = "<event><string key='kind' value='e'/><string key='s' value='a'/></event>"
    path = log(f"<string key='kind' value='t'/>{event}")
    assert rx.read_xes(path, label="kind")[1].tolist() == ["t"]
    assert rx.read_xes(path, label="case:kind")[1].tolist() == ["t"]


def test_a_label_may_be_an_attribute_that_all_events_of_a_trace_share():
    event = "<event><string key='kind' value='{}'/><string key='s' value='a'/></event>"
    path = log(event.format("p") * 2, event.format("q"))
    assert rx.read_xes(path, label="kind")[1].tolist() == ["p", "q"]


def test_attributes_of_a_trace_describe_the_sequence_even_where_traces_have_one_event():
    path = log(*(f"<int key='age' value='{n}'/>{EVENT.format('a' * n)}" for n in (1, 2)))
    X, _ = rx.read_xes(path)
    assert facts(X, "case_age") == [[(1,)], [(2,)]]


def test_attributes_of_a_trace_that_are_not_asked_for_make_no_facts():
    path = log(*(f"<int key='age' value='{n}'/>{EVENT.format('a' * n)}" for n in (1, 2)))
    X, _ = rx.read_xes(path, attributes=[])
    assert set(X.tables) == {("concept_name", 2)}
    assert notes(X) == ["'case:age' is not used: attributes does not name it"]


def test_a_trace_without_events_is_a_sequence_without_facts():
    X, _ = rx.read_xes(log(EVENT.format("a"), "<int key='age' value='3'/>", EVENT.format("b")))
    assert str(X[1]) == "begin(trace_2). case_age(3). end."
    assert "1 trace without events" in X.reading.notes


def test_traces_of_one_name_are_told_apart():
    name = "<string key='concept:name' value='{}'/>"
    path = log(*(name.format(one) + EVENT.format("a") for one in ("x", "x", "", "trace_2")))
    X, _ = rx.read_xes(path)
    assert X.ids.tolist() == ["x", "trace_2_", "trace_3", "trace_2"]
    assert "2 traces without a name of their own: numbered, as trace_2, ..." in X.reading.notes


def test_names_that_are_integers_stay_integers():
    X, _ = rx.read_xes(log("<int key='concept:name' value='12'/>" + EVENT.format("a")))
    assert X.ids.tolist() == [12]


def test_an_attribute_of_several_types_is_read_as_text():
    events = "<event><int key='k' value='1'/></event><event><string key='k' value='x'/></event>"
    X, _ = rx.read_xes(log(events))
    assert facts(X, "k") == [[("e1", "1"), ("e2", "x")]]
    assert "column 'k' is of the types int and string: read as text" in X.reading.notes


def test_integers_and_floats_are_numbers_together():
    events = "<event><int key='k' value='1'/></event><event><float key='k' value='2.5'/></event>"
    X, _ = rx.read_xes(log(events))
    assert facts(X, "k") == [[("e1", 1.0), ("e2", 2.5)]]


def test_a_number_that_is_none_stands_for_a_missing_text():
    events = EVENT.format("a") + "<event><float key='concept:name' value='nan'/></event>"
    X, _ = rx.read_xes(log(events, EVENT.format("b")))
    assert facts(X, "concept_name") == [[("e1", "a")], [("e1", "b")]]
    assert notes(X) == []


def test_an_empty_text_is_missing():
    X, _ = rx.read_xes(log(EVENT.format("a") + EVENT.format(""), EVENT.format("b")))
    assert facts(X, "concept_name") == [[("e1", "a")], [("e1", "b")]]


def test_an_attribute_of_events_may_look_like_one_of_traces():
    event = "<event><string key='case:a' value='{}'/></event>"
    path = log(
        f"<string key='a' value='t'/>{event.format('e')}{event.format('f')}", event.format("g")
    )
    X, _ = rx.read_xes(path)
    assert facts(X, "event_case_a") == [[("e1", "e"), ("e2", "f")], [("e1", "g")]]
    assert facts(X, "case_a") == [[("t",)], []]


def test_entries_of_a_list_are_numbered_and_most_of_a_long_one_are_left_out():
    entry = "<int key='i' value='{}'/>"
    entries = "".join(map(entry.format, range(30)))
    event = f"<event><list key='l'><values>{entries}</values></list></event>"
    columns = read_log(log(event)).events.columns()
    assert list(columns) == ["l/i", *(f"l/i_{i}" for i in range(2, 21))]


def test_a_classifier_makes_one_fact_of_its_keys():
    head = "<classifier name='My Step' keys=\"concept:name 'the key' lost key\"/>"
    event = "<event>{}<int key='the key' value='1'/><int key='lost key' value='2'/></event>"
    inner = EVENT.format("a").removeprefix("<event>").removesuffix("</event>")
    X, _ = rx.read_xes(log(event.format(inner), head=head), classifier="My Step")
    assert facts(X, "my_step") == [[("e1", "a", 1, 2)]]


def test_a_key_that_is_declared_for_all_and_lacks_gets_a_note():
    head = "<global scope='event'><string key='concept:name' value=''/></global>"
    X, _ = rx.read_xes(log(EVENT.format("a") + EVENT.format("b") + "<event/>", head=head))
    assert notes(X) == ["the log declares 'concept:name' for every event, and 1 event of 3 lack it"]


def test_what_is_no_part_of_a_log_is_passed_over_with_a_note():
    path = log("<odd><string key='k' value='v'/></odd>" + EVENT.format("a"), EVENT.format("b"))
    X, _ = rx.read_xes(path)
    assert notes(X) == ["<odd> in <trace> is ignored, once, first in line 1"]
    assert set(X.tables) == {("concept_name", 2)}


def test_events_outside_of_traces_are_passed_over_with_a_note():
    X, _ = rx.read_xes(log(EVENT.format("a"), EVENT.format("b"), head=EVENT.format("x") * 2))
    assert notes(X) == ["<event> in <log> is ignored, 2 times, first in line 1"]


def test_names_of_elements_may_have_a_prefix():
    text = "<x:log xmlns:x='u'><x:trace><x:event><x:string key='k' value='v'/></x:event></x:trace>"
    Path("p.xes").write_text(text + "<x:trace/></x:log>")
    X, _ = rx.read_xes("p.xes")
    assert facts(X, "k") == [[("e1", "v")], []]


def test_other_encodings_are_read_as_they_say():
    text = f"<?xml version='1.0' encoding='iso-8859-1'?><log><trace>{EVENT.format('é')}</trace>"
    Path("l.xes").write_bytes(
        (text + f"<trace>{EVENT.format('e')}</trace></log>").encode("latin-1")
    )
    assert facts(rx.read_xes("l.xes")[0], "concept_name") == [[("e1", "é")], [("e1", "e")]]


def test_a_later_log_is_read_as_the_first():
    number = "<event><float key='cost' value='{}'/><string key='s' value='a'/></event>"
    first, _ = rx.read_xes(log(*(number.format(i) for i in range(20))))
    later, _ = rx.read_xes(log(number.format(3.5), "<event/>"), reading=first.reading)
    assert facts(later, "cost") == [[("e1", "<5")], []]


def test_a_later_log_may_lack_an_attribute():
    first, _ = rx.read_xes(log(EVENT.format("a"), "<event><string key='s' value='x'/></event>"))
    later, _ = rx.read_xes(log(EVENT.format("a")), reading=first.reading)
    assert facts(later, "concept_name") == [[("e1", "a")]]
    assert notes(later) == ["the log has no 's'"]


def test_reading_holds_no_tree():
    text = "".join(
        f"<trace>{''.join(EVENT.format('abcd'[j % 4]) for j in range(20))}</trace>"
        for _ in range(1000)
    )
    Path("long.xes").write_text(f"<log>{text}</log>")
    tracemalloc.start()
    read_log("long.xes")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_500_000  # a tree of these 20,000 events takes more than ten times as much


# What is written


@pytest.fixture
def repairs():
    return rx.read_xes(LOGS / "repairs.xes", label="outcome")


def test_a_part_of_a_log_is_written_in_its_own_order(repairs):
    X, y = repairs
    rx.write_xes(X[[5, 2, 9]], "part.xes")
    again, labels = rx.read_xes("part.xes", reading=X.reading)
    assert again == X[[5, 2, 9]]
    assert labels.tolist() == y[[5, 2, 9]].tolist()


def test_parts_of_a_log_that_are_put_together_still_know_it(repairs):
    X, _ = repairs
    both = X[:3] + X[3:]
    rx.write_xes(both, "both.xes")
    rx.write_xes(X, "whole.xes")
    assert Path("both.xes").read_bytes() == Path("whole.xes").read_bytes()


def test_other_labels_take_the_place_of_the_first(repairs):
    X, y = repairs
    rx.write_xes(X, "new.xes", ["?" for _ in y])
    values = [
        node.get("value")
        for node in ElementTree.parse("new.xes").iter()
        if node.get("key") == "outcome"
    ]
    assert values == ["?"] * 12
    assert rx.read_xes("new.xes", label="outcome")[1].tolist() == values


def test_labels_may_stand_beside_those_of_the_log(repairs):
    X, y = repairs
    rx.write_xes(X, "new.xes", range(12), label="guess")
    assert rx.read_xes("new.xes", label="guess")[1].tolist() == list(range(12))
    assert rx.read_xes("new.xes", label="outcome")[1].tolist() == y.tolist()


def test_the_same_labels_may_stand_under_another_key(repairs):
    X, y = repairs
    rx.write_xes(X, "new.xes", label="copy")
    assert rx.read_xes("new.xes", label="copy")[1].tolist() == y.tolist()


def test_the_same_labels_change_nothing(repairs):
    X, y = repairs
    rx.write_xes(X, "one.xes")
    rx.write_xes(X, "two.xes", y)
    assert Path("one.xes").read_bytes() == Path("two.xes").read_bytes()


def test_a_copy_in_another_process_knows_only_the_facts(repairs):
    X, _ = repairs
    copy = pickle.loads(pickle.dumps(X))
    assert copy.origin is None
    rx.write_xes(copy, "facts.xes")
    assert rx.read_xes("facts.xes", reading=X.reading)[0] == X
    keys = {node.get("key") for node in ElementTree.parse("facts.xes").findall(".//{*}date")}
    assert keys == set()


def test_a_compact_copy_holds_nothing_of_the_log(repairs):
    assert repairs[0].compact().origin is None


def test_the_same_log_packs_to_the_same_bytes(repairs):
    for name in ("one.xes.gz", "two.xes.gz"):
        rx.write_xes(repairs[0], name)
    assert Path("one.xes.gz").read_bytes() == Path("two.xes.gz").read_bytes()
    rx.write_xes(repairs[0], "plain.xes")
    assert gzip.decompress(Path("one.xes.gz").read_bytes()) == Path("plain.xes").read_bytes()


# Logs that pm4py wrote

READINGS = {
    "repairs.xes": [
        "sequence  case:concept:name, rows in order",
        "label     case:outcome (text)",
        "fluent    concept_name(E,V): concept:name (text)",
        "fluent    org_resource(E,V): org:resource (text)",
        "fluent    cost(E,V): cost (integer)",
        "fluent    urgent(E,V): urgent (boolean)",
        "fluent    note(E,V): note (text)",
        "attribute case_value(V): case:value (number)",
        "note      column 'time:timestamp' is left out: it is a date; a weekday, an hour or a "
        "duration made of it would be read",
        "note      column 'lifecycle:transition' is left out: it has the same value in every row",
    ],
    "nested.xes": [
        "sequence  case:concept:name, rows in order",
        "fluent    concept_name(E,V): concept:name (text)",
        "fluent    the_phase(E,V): the phase (text)",
        "fluent    place(E,V): place (text)",
        "fluent    place_floor(E,V): place/floor (integer)",
        "fluent    place_bay(E,V): place/bay (text)",
        "fluent    place_bay_light(E,V): place/bay/light (boolean)",
        "fluent    parts_part(E,V): parts/part (text)",
        "fluent    parts_part_2(E,V): parts/part_2 (text)",
        "attribute case_size(V): case:size (number)",
        "note      column 'time:timestamp' is left out: it is a date; a weekday, an hour or a "
        "duration made of it would be read",
        "note      1 trace without events",
    ],
    "bare.xes": [
        "sequence  case:concept:name, rows in order",
        "fluent    concept_name(E,V): concept:name (text)",
        "note      column 'time:timestamp' is left out: it is a date; a weekday, an hour or a "
        "duration made of it would be read",
    ],
}
READINGS["nested.xes.gz"] = READINGS["nested.xes"]


@pytest.mark.parametrize("name", READINGS)
def test_a_log_of_another_program_is_read(name):
    label = "outcome" if name == "repairs.xes" else None
    X, _ = rx.read_xes(LOGS / name, label=label)
    assert str(X.reading).splitlines() == READINGS[name]


@pytest.mark.parametrize("name", READINGS)
def test_a_log_of_another_program_is_written_again(name):
    X, _ = rx.read_xes(LOGS / name)
    rx.write_xes(X, "again.xes")
    opened = gzip.open if name.endswith(".gz") else open
    with opened(LOGS / name) as file:
        wanted = ElementTree.parse(file).getroot()
    assert plain(ElementTree.parse("again.xes").getroot()) == plain(wanted)
    assert rx.read_xes("again.xes")[0] == X


def test_a_rule_of_order_is_found_in_a_log_of_another_program(repairs):
    X, y = repairs
    rule = "concept_name(X,repair), follow_s(X,Y), concept_name(Y,test)"
    assert rx.covers(rx.parse_pattern(rule), X).tolist() == (y == "good").tolist()


# Commands


def run(capsys, *args):
    code = cli.main(list(args))
    out, err = capsys.readouterr()
    return code, out, err


def test_check_says_how_a_log_is_read(capsys):
    code, out, err = run(capsys, "check", str(LOGS / "repairs.xes"), "--label", "outcome")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == READINGS["repairs.xes"]


def test_a_model_is_learnt_from_a_log_and_asked_about_another(capsys, repairs):
    X, _ = repairs
    rx.write_xes(X[::2], "train.xes")
    rx.write_xes(X[1::2], "test.xes.gz")
    options = ("--label", "outcome", "--fluents", "concept:name", *QUICK)
    code, _, err = run(capsys, "fit", "train.xes", *options, "-o", "m.relynx")
    assert code == 0
    assert err.splitlines()[2] == "fluent    concept_name(E,V): concept:name (text)"
    code, out, _ = run(capsys, "predict", "m.relynx", "test.xes.gz", "-o", "p.csv")
    assert code == 0
    assert out.splitlines()[0].startswith("accuracy ")
    assert len(Path("p.csv").read_text().splitlines()) == 7


def test_a_log_needs_no_column_of_the_sequence(capsys):
    path = str(LOGS / "bare.xes")
    assert run(capsys, "check", path, "--sequence", "case") == (
        2,
        "",
        f"{path}: the sequences of an event log are its traces\nhint: leave out --sequence\n",
    )


def test_from_events_tells_who_reads_logs():
    assert refused(rx.from_events, "log.xes", sequence="case") == (
        "log.xes ends in '.xes'\nhint: rx.read_xes reads event logs"
    )


# What cannot be written


def refused(function, *args, **options):
    with pytest.raises(InputError) as caught:
        function(*args, **options)
    return str(caught.value)


def test_sequences_without_a_reading_are_no_log():
    X, _ = rx.from_lists([["a"]])
    assert refused(rx.write_xes, X, "x.xes") == (
        "only sequences that read_xes or from_events read can be written as an event log\n"
        "hint: rx.write_lynx writes any sequences to a file"
    )


def test_a_log_is_named_as_one(repairs):
    assert refused(rx.write_xes, repairs[0], "x.csv") == (
        "x.csv ends in none of .xes, .xes.gz\nhint: an event log is a .xes or .xes.gz file"
    )


def test_the_label_of_a_log_has_a_name(repairs):
    assert refused(rx.write_xes, repairs[0], "x.xes", label="") == (
        "label is ''\nhint: give the key of an attribute"
    )


def test_there_is_a_label_for_each_trace(repairs):
    assert refused(rx.write_xes, repairs[0], "x.xes", ["a"]) == (
        "1 label for 12 sequences\nhint: give one label for each sequence"
    )


def test_what_xml_cannot_hold_is_refused_and_no_file_is_left():
    X, _ = rx.from_events({"case": [1, 2], "step": ["a\x00b", "c"]}, sequence="case")
    assert refused(rx.write_xes, X, "x.xes") == (
        "the value 'a\\x00b' of 'step' cannot be written\n"
        "hint: it holds a character that XML does not have"
    )
    assert list(Path().iterdir()) == []


def again(table, **arguments):
    """A table as sequences, and what is read of the log that they are written to."""
    X, _ = rx.from_events(table, **arguments)
    rx.write_xes(X, "again.xes")
    return X, rx.read_xes("again.xes", reading=X.reading)[0]


TWICE = {"c": ["a", "a", "b"], "x": [1, 2, 1], "y": [1, 1, 2], "case:v": ["p", None, "q"]}


@pytest.mark.parametrize(
    "arguments",
    [
        {"fluents": {"p": "x", "q": ["x", "case:v"]}},
        {"fluents": ["x", "case:v"], "order": {"along": "x", "across": "y"}},
        {"fluents": ["x", "y"], "order": "x", "bins": {"x": [2]}},
    ],
)
def test_a_column_of_two_tasks_is_written_once(arguments):
    X, Z = again(TWICE, sequence="c", **arguments)
    assert Z == X


@pytest.mark.parametrize(
    ("arguments", "labels", "message"),
    [
        (
            {"attributes": ["concept:name"]},
            None,
            "a trace would have the attribute 'concept:name' twice\n"
            "hint: rename the column; the name of the trace is its 'concept:name'",
        ),
        (
            {"attributes": ["label"]},
            ["up", "down"],
            "a trace would have the attribute 'label' twice: one is the label\n"
            "hint: give another key of the label: label='class'",
        ),
    ],
)
def test_a_trace_never_gets_two_attributes_of_one_key(arguments, labels, message):
    table = {"c": ["a", "b"], "concept:name": ["x", "y"], "label": ["u", "v"], "s": ["p", "q"]}
    X, _ = rx.from_events(table, sequence="c", fluents=["s"], **arguments)
    with pytest.raises(InputError) as caught:
        rx.write_xes(X, "twice.xes", labels)
    assert str(caught.value) == message
    assert not Path("twice.xes").exists()


def test_times_that_follow_each_other_are_kept_to_the_digit():
    X, _ = rx.read_xes(LOGS / "nested.xes")
    rx.write_xes(X, "again.xes")
    times = [node.get("value") for node in ElementTree.parse("again.xes").findall(".//{*}date")]
    assert set(times) == {f"2024-01-0{day}T23:59:59.001000-03:30" for day in (1, 2, 3)}
    assert all(one != two for one, two in pairwise(times[1:3]))


# The page


def test_the_commands_of_the_page_work(capsys):
    page = (ROOT / "docs" / "event_logs.md").read_text()
    first = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    names = {}
    for example in doctest.DocTestParser().get_examples(first):
        exec(example.source, names)
    commands = re.findall(r"^\$ relynx (.*)$", page, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["check", "fit", "predict"]
    for command in commands:
        more = QUICK if command.startswith("fit") else ()
        code, out, _ = run(capsys, *shlex.split(command), *more)
        assert code == 0
    assert out.startswith("accuracy 1.000")
