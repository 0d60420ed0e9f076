"""JSON Lines are read in two ways, of which the fast one takes no line that the strict one refuses."""

import json
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shared import json_texts as texts

from closeread import limits
from closeread.formats import json_lines
from closeread.formats.fast_json import FastParser
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


def test_the_fast_way_is_taken():
    plain = ['{"id": "a", "label": "yes"}', '{"id":"é😀\u2028","x":[1,2.5,-3,true,null,{"y":{}}]}', '{"a":1}\r', " {} "]
    assert taken(plain) == plain
    many = json.dumps({"relations": [{"anchor": "np1", "complement": "np2", "preposition": "of"}] * 50})
    assert taken([many, many.replace(" ", "")]) == [many, many.replace(" ", "")]
    assert taken(['{"a":"\\n"}', '{"a":1,"a":1}', "[]", "", f'{{"a":{"9" * 19}}}']) == []
