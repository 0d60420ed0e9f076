"""JSON Lines are read in two ways, of which the fast one takes no line that the strict one refuses."""

import json
import subprocess
import sys
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared import json_texts as texts

from closeread import limits, records
from closeread.corpus.validation import find_wrong_rows
from closeread.formats import json_lines
from closeread.formats.fast_json import FastParser, find_structure
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import UNSAFE


def strictly(lines):
    with mock.patch.object(
        json_lines, "make_fast_parser", return_value=mock.Mock(parse=lambda block: [None] * len(block))
    ):
        return parse_json_lines(lines)


def taken(lines):
    """The lines that the fast way takes."""
    parse = FastParser(UNSAFE).parse
    return [line for line in lines if parse([line.encode("utf-8", "surrogatepass")]) != [None]]


@given(st.lists(texts.LINE | texts.damaged(), min_size=1, max_size=3))
@settings(max_examples=300)
@example(['{"a":1,"a":1}', '{"a" :1,"a":1}', '{"a":{"a":1},"b":{"a":1,"\\u0061":1}}', '{"a":"\\":","a":"\\":"}'])
@example(['{"a":"\\u0022:","b":1,"b":2}', '{"a":"\\"\\u003a","b":1,"b":2}', '{"a":"x\\\\":1}', '{"\\\\":1,"\\\\":1}'])
@example(['\ufeff{"a":1}', '{"a":1}\r', '{"a":-0}', '{"a":-0.0}', '{"a":1e400}', '{"a":[1e-400]}', '{"a":"\ud800"}'])
@example(["null", "[]", '"a"', "1", "", " ", "{", '{"a":NaN}', '{"a":Infinity}', '{"a":"\x7f"}', '{"a":"\x85"}'])
def test_both_ways_agree(lines):
    # As text, so that 1 and 1.0, and 0.0 and -0.0, are two.
    assert repr(parse_json_lines(lines)) == repr(strictly(lines))


@given(texts.NUMBER)
@settings(max_examples=200)
def test_both_ways_read_the_same_numbers(number):
    lines = [f'{{"n":{number}}}', f'{{"n":[{number}, {number}]}}']
    assert repr(parse_json_lines(lines)) == repr(strictly(lines))


# What may surround a value; brackets in texts, and objects that follow others, are no levels.
SHELLS = [('{"a":', "}"), ("[", "]"), ('{"a": [{}, ', "]}"), ('[{"b":"},{"},', "]"), ('[{}, {"a":', "}]")]
SHELLS += [('{"b":"]]]]}}}}","a":', "}"), ('{"b":"},{},{},{","a":', "}"), ('[[],{"b":[{},{},{}],"a":', "}]")]


def levels(value):
    """How many objects and lists stand in each other."""
    depth, level = 0, [value]
    while level := [child for child in level if isinstance(child, dict | list)]:
        depth += 1
        level = [child for parent in level for child in (parent.values() if isinstance(parent, dict) else parent)]
    return depth


@given(st.lists(st.sampled_from(SHELLS), min_size=1, max_size=6), st.integers(-4, 4))
def test_both_ways_count_levels_alike(shells, over):
    line, value = "1", 1
    while levels(value) < limits.MAX_DEPTH - 1 + over:
        start, end = shells[len(line) % len(shells)]
        line = f"{start}{line}{end}"
        value = json.loads(line)
    line = f'{{"top":{line}}}'
    assert repr(parse_json_lines([line])) == repr(strictly([line]))
    assert bool(parse_json_lines([line]).records) == (levels(json.loads(line)) <= limits.MAX_DEPTH)


@pytest.mark.parametrize("depth", [10**3, 10**4, 10**6])
@pytest.mark.parametrize("shell", SHELLS[:3])
def test_any_depth_is_refused(depth, shell):
    (problem,) = parse_json_lines([f'{{"a":{shell[0] * depth}1{shell[1] * depth}}}']).problems
    assert problem.message == "is nested too deeply (limit: 100 levels)"


@pytest.mark.parametrize("shell", SHELLS[:2])
def test_rows_in_memory_have_the_same_limit(shell):
    n = limits.MAX_DEPTH - 1
    fits, too_deep = (json.loads(f'{{"a":{shell[0] * depth}1{shell[1] * depth}}}') for depth in (n, n + 1))
    wrong = find_wrong_rows([fits, too_deep])
    assert {i: [problem.message for problem in found] for i, found in wrong.items()} == {
        1: ["is nested too deeply (limit: 100 levels)"]
    }


def test_the_fast_way_is_taken():
    plain = ['{"id": "a", "label": "yes"}', '{"id":"é😀\u2028","x":[1,2.5,-3,true,null,{"y":{}}]}', '{"a":1}\r', " {} "]
    assert taken(plain) == plain
    many = json.dumps({"relations": [{"anchor": "np1", "complement": "np2", "preposition": "of"}] * 50})
    assert taken([many, many.replace(" ", "")]) == [many, many.replace(" ", "")]
    assert taken(['{"a":"\\n"}', '{"a":1,"a":1}', "[]", "", f'{{"a":{"9" * 19}}}']) == []


COLLECTION = """
import gc
from closeread.formats.json_lines import YOUNG, pause_garbage_collection
if {freezes}:
    gc.freeze()
with pause_garbage_collection():
    assert not gc.isenabled()
    made = [[i] for i in range(2 * YOUNG)]
    young = gc.get_count()[0]
assert gc.isenabled() and young > YOUNG
assert (gc.get_freeze_count() > 0) == {freezes}
assert gc.is_tracked(made) and ({freezes} or gc.get_count()[0] < 1_000)
"""


@pytest.mark.parametrize("freezes", [False, True])
def test_what_was_read_is_old_for_the_garbage_collector(freezes):
    subprocess.run([sys.executable, "-c", COLLECTION.format(freezes=freezes)], check=True)


@given(text=st.binary(), size=st.integers(0, 300))
def test_bytes_are_counted(text, size):
    with mock.patch.object(records, "MANY", size):
        assert records.count_byte(text, b"0") == text.count(b"0")


STRINGS = st.text(texts.CHARACTER, max_size=4)
VALUES = st.recursive(
    STRINGS | st.none(),
    lambda value: st.lists(value, max_size=3) | st.dictionaries(STRINGS, value, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300)
@given(VALUES)
def test_structure_is_what_is_not_in_strings(value):
    def structure(part):
        match part:
            case dict():
                return "{" + "".join(f":{structure(one)}" for one in part.values()) + "}"
            case list():
                return "[" + "".join(map(structure, part)) + "]"
        return ""

    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert find_structure(text.encode("utf-8", "surrogatepass")).decode() == structure(value)
