"""Every log here is wrong, and its whole message is a text of golden/bad_xes."""

import gzip
import time
import zlib

import pytest
from golden_texts import refusals, written

from relynx import InputError, from_events, read_xes

HEAD = "<?xml version='1.0' encoding='UTF-8'?>\n"
EVENT = "<event>\n<string key='concept:name' value='a'/>\n</event>"
NAME = "<string key='concept:name' value='{}'/>"
GOOD = f"{HEAD}<log>\n<trace>\n{NAME.format('t1')}\n{EVENT}\n</trace>\n</log>\n"
CSV_READING = from_events({"case": [1, 2], "step": ["a", "b"]}, sequence="case")[0].reading


def events(*contents, trace="", head=""):
    """A log of one trace, an event a line from line 4 on."""
    lines = "\n".join(map("<event>{}</event>".format, contents))
    return f"{HEAD}<log>{head}\n<trace>{NAME.format('t1')}{trace}\n{lines}\n</trace>\n</log>\n"


def typed(tag, value, key="k"):
    return f"<{tag} key='{key}' value='{value}'/>"


LAUGHS = "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12))
# A name, the content of log.xes (or the name of a file, and its bytes), and arguments.
CASES = {
    "no_such_file": (None, {}),
    "a_folder": ((".", None), {}),
    "an_empty_file": ("", {}),
    "blanks_only": ("  \n\n", {}),
    "a_declaration_only": (HEAD, {}),
    "plain_text": ("case,step\n1,a\n", {}),
    "a_page_of_html": ("<html><body>404</body></html>", {}),
    "a_cut_file": (GOOD[: GOOD.index("</event>")], {}),
    "a_file_cut_in_a_trace": (GOOD[: GOOD.index("</trace>")], {}),
    "a_file_cut_in_the_log": (GOOD[: GOOD.index("</log>") + 3], {}),
    "a_file_cut_in_a_tag": (GOOD[: GOOD.index("value='a'") + 8], {}),
    "tags_that_do_not_match": (GOOD.replace("</event>", "</trace>"), {}),
    "two_logs_in_one_file": (GOOD + "<log/>", {}),
    "an_ampersand": (GOOD.replace("value='a'", "value='a & b'"), {}),
    "an_unknown_entity": (GOOD.replace("value='a'", "value='&nbsp;'"), {}),
    "a_file_that_is_not_utf8": (("log.xes", GOOD.encode().replace(b"'a'", b"'\xe9'")), {}),
    "an_unknown_encoding": (GOOD.replace("UTF-8", "KLINGON"), {}),
    "an_encoding_of_several_bytes": (GOOD.replace("UTF-8", "Big5"), {}),
    "a_wrong_encoding": (GOOD.replace("UTF-8", "UTF-16"), {}),
    "a_zero_byte": (GOOD.replace("'a'", "'\x00'"), {}),
    "a_document_type": (GOOD.replace("<log>", "<!DOCTYPE log SYSTEM 'xes.dtd'><log>"), {}),
    "a_billion_laughs": (
        f"<!DOCTYPE log [<!ENTITY a0 'ha'>{LAUGHS}]>\n<log><trace name='&a11;'/></log>",
        {},
    ),
    "an_outside_entity": (
        "<!DOCTYPE log [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n<log>&x;</log>",
        {},
    ),
    "a_file_that_is_no_gzip": (("log.xes.gz", GOOD.encode()), {}),
    "a_gzip_file_that_is_cut": (("log.xes.gz", gzip.compress(GOOD.encode())[:-12]), {}),
    "a_gzip_file_that_is_damaged": (
        ("log.xes.gz", gzip.compress(GOOD.encode())[:40] + b"\xff" * 40),
        {},
    ),
    "a_gzip_file_without_its_ending": (("log.xes", gzip.compress(GOOD.encode())), {}),
    "a_log_without_traces": ("<log><string key='a' value='b'/></log>", {}),
    "attributes_without_a_key": (events("<string value='a'/>", "<int key='' value='1'/>"), {}),
    "attributes_without_a_value": (events("<string key='a'/>", "<date key='b'/>"), {}),
    "attributes_twice_in_an_event": (events(typed("int", 1) + typed("string", "x")), {}),
    "attributes_twice_in_a_trace": (events("", trace=NAME.format("t2")), {}),
    "attributes_twice_in_an_attribute": (
        events(
            "<string key='a' value='b'><int key='c' value='1'/><int key='c' value='2'/></string>"
        ),
        {},
    ),
    "a_value_that_is_too_long": (events(typed("string", "x" * 1_000_001)), {}),
    "a_tag_that_never_ends": (GOOD.replace("'a'", "'" + "x" * 9_000_000), {}),
    "nested_too_deep": (events("<container key='c'>" * 40 + "</container>" * 40), {}),
    "a_head_nested_too_deep": (
        events("", head="<list key='c'><values>" * 20 + "</values></list>" * 20),
        {},
    ),
    "too_many_attributes": (events(*(typed("int", i, f"k{i}") for i in range(1200))), {}),
    "too_many_problems": (events(*["<string/>"] * 80), {}),
    "an_integer_that_is_none": (events(typed("int", 1), typed("int", "1.5")), {}),
    "a_float_that_is_none": (events(typed("float", "1_0"), typed("float", "2")), {}),
    "a_boolean_that_is_none": (events(typed("boolean", "yes")), {}),
    "a_date_that_is_none": (events(typed("date", "yesterday")), {}),
    "a_float_without_end": (events(typed("float", "INF"), typed("float", "1.5")), {}),
    "an_integer_of_a_trace_that_is_none": (events("", trace=typed("int", "many")), {}),
    "a_float_of_a_trace_without_end": (events("", trace=typed("float", "-INF")), {}),
    "dates_with_and_without_a_zone": (
        events(typed("date", "2024-01-01T00:00:00"), typed("date", "2024-01-01T00:00:00Z")),
        {},
    ),
    "an_unknown_label": (GOOD, {"label": "concept:nam"}),
    "a_label_that_changes": (events(typed("int", 1), typed("int", 2)), {"label": "k"}),
    "a_label_that_is_the_name": (GOOD, {"label": "concept:name"}),
    "an_unknown_order": (GOOD, {"order": "time:timestamp"}),
    "an_order_that_is_missing": (events(typed("int", 1), ""), {"order": "k"}),
    "unknown_fluents": (GOOD, {"fluents": ["org:resource"]}),
    "unknown_attributes": (GOOD, {"attributes": ["amount"]}),
    "an_unknown_classifier": (GOOD, {"classifier": "Activity"}),
    "a_classifier_that_is_near": (
        events("", head="<classifier name='Activity' keys='concept:name'/>"),
        {"classifier": "Activitie"},
    ),
    "a_classifier_of_unknown_keys": (
        events(typed("int", 1), head="<classifier name='C' keys='k l'/>"),
        {"classifier": "C"},
    ),
    "a_classifier_and_fluents": (GOOD, {"classifier": "C", "fluents": ["k"]}),
    "a_reading_and_more": (GOOD, {"reading": CSV_READING, "label": "k"}),
    "a_reading_that_is_none": (GOOD, {"reading": "case"}),
    "numbers_where_the_reading_had_text": (
        events(typed("float", 1.5, "step")),
        {"reading": CSV_READING},
    ),
}


def read(content, arguments):
    path, data = content if isinstance(content, tuple) else ("log.xes", content)
    read_xes(path if data is None else written(path, data), **arguments)


test_a_wrong_log_gets_its_whole_message = refusals("bad_xes", read, CASES)


def test_a_bomb_in_a_gzip_file_is_refused_at_its_first_line(tmp_path):
    packer = zlib.compressobj(9, wbits=31)
    zeros = b"\0" * (1 << 20)
    path = tmp_path / "bomb.xes.gz"
    path.write_bytes(b"".join(packer.compress(zeros) for _ in range(300)) + packer.flush())
    start = time.process_time()
    with pytest.raises(InputError):
        read_xes(path)
    assert time.process_time() - start < 2
