"""JSON Lines: what is accepted is what `json.loads` reads, and all that it reads but should not is refused."""

import json
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from closeread import limits
from closeread.corpus.validation import explain_values
from closeread.formats import text
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import UNSAFE


class Pairs(list):
    """An object, with duplicate keys."""


def walk(value, depth=1):
    """Yield every value inside a value, the keys of objects included, with its depth."""
    yield value, depth
    for child in [one for pair in value for one in pair] if isinstance(value, Pairs) else value:
        if isinstance(child, list):
            yield from walk(child, depth + 1)
        else:
            yield child, depth


def is_acceptable(line):
    """Whether a line is an object without anything to refuse, by a second, slow parser."""
    try:
        value = json.loads(line, object_pairs_hook=Pairs)
    except ValueError:
        return False
    if not isinstance(value, Pairs):
        return False
    for one, depth in walk(value):
        if isinstance(one, Pairs) and len(dict(one)) < len(one):
            return False
        if (isinstance(one, str) and UNSAFE.search(one)) or (
            isinstance(one, float) and not math.isfinite(one)
        ):
            return False
        if isinstance(one, list) and depth > limits.MAX_DEPTH:
            return False
    return True


NUMBERS = [
    "0",
    "-0.0",
    "1",
    "-1",
    "1E+5",
    "1e-400",
    "5e-324",
    "9007199254740993",
    "18446744073709551616",
]
NUMBERS += ["999999999999999999", "0.1111111111111111111", "null", "true"]
STRINGS = [
    r'"a"',
    r'"\u0061"',
    r'""',
    r'"a\":"',
    r'":{,"',
    r'"\\u0000"',
    r'"\ud83d\ude00"',
    '"\u2028"',
    '"😀"',
]
WRONG = r"""
1e400 -1e400 1.7976931348623159e308 01 - +1 1. .5 1e 0x1 1_0 ١ NaN Infinity -Infinity nan True " "\" "\x"
"\u0000" "\u001f" "\u007F" "\u0085" "\u009b" "\n" "\ud800" "\uDCFF"
"""
WRONG = [*WRONG.split(), '"\x7f"', '"\x85"', '"\t"', "1" * 5000]
STRING = st.sampled_from(STRINGS)
VALUE = st.recursive(
    st.sampled_from(NUMBERS)
    | STRING
    | st.floats(allow_nan=False, allow_infinity=False).map(json.dumps),
    lambda value: (
        st.lists(value, max_size=3).map(lambda values: f"[{', '.join(values)}]")
        | st.lists(st.builds("{}:{} ".format, STRING, value), max_size=3).map(
            lambda pairs: f"{{{','.join(pairs)}}}"
        )
    ),
    max_leaves=6,
)
PIECE = st.text(st.sampled_from('ab":{}[],\\ \0\ufeff'), max_size=2)


@st.composite
def lines(draw):
    """A line that is JSON, or nearly: with a piece cut out or put in, or something around it."""
    line = draw(st.sampled_from(["", "", " ", "\t", "\ufeff"])) + draw(
        VALUE.map('{{"a":{}}}'.format) | VALUE
    )
    start = draw(st.integers(0, len(line)))
    return (
        line[:start] + draw(PIECE) + line[start + draw(st.integers(0, 2)) :]
        if draw(st.booleans())
        else line
    )


def check(line):
    records, _, problems, *_ = parse_json_lines([line])
    assert bool(records) == is_acceptable(line), line
    if records:
        assert repr(records) == repr([json.loads(line)])  # as text, so that 1 and 1.0 are two
    else:
        assert len(problems) == 1


def test_every_value_alone():
    assert not any(is_acceptable(f'{{"a":{one}}}') for one in WRONG)
    for one in (*NUMBERS, *STRINGS, *WRONG):
        for shell in ('{{"a":{}}}', '{{"a":[1, {{"b":{}}}]}}', "{{{}:1}}", '{{"b":1, {}:1}}', "{}"):
            check(shell.format(one))


@given(lines())
@settings(max_examples=500)
@example('{"a":1,"a":1}')
@example('{"a":{"a":1},"b":{"a":1,"\\u0061":1}}')
@example('{"a":"\\\\u0000","b":"\\u005cu0000"}')
@example('\ufeff{"a":1}')
@example(' {"a":-0.0}\r')
def test_what_is_accepted(line):
    check(line)


@given(st.lists(lines() | st.just('{"id":"a","label":"yes"}'), max_size=9), st.integers(1, 60))
@example(['{"a":0}', "[{}]"], 1)
def test_a_line_is_read_the_same_whatever_is_beside_it(several, n_bytes):
    alone = [parse_json_lines([line]) for line in several]
    expected = [record for parsed in alone for record in parsed.records]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BYTES_AT_ONCE", n_bytes)
        encoded = "".join(f"{line}\n" for line in several).encode()
        records, numbers, problems, *_ = parse_json_lines(text.Lines(encoded))
    assert repr(records) == repr(expected)
    assert numbers == [number for number, parsed in enumerate(alone, 1) if parsed.records]
    if records:
        found = [(problem.line, problem.message) for problem in problems]
        # Beside a record, a list of records is no other form of file.
        beside = [parse_json_lines(['{"id":"a"}', line]).problems for line in several]
        wrong = [
            (number, problems[0].message) for number, problems in enumerate(beside, 1) if problems
        ]
        assert found == wrong


# What may surround a value; brackets in texts, and objects that follow others, are no levels.
SHELLS = [
    ('{"a":', "}"),
    ("[", "]"),
    ('{"a": [{}, ', "]}"),
    ('[{"b":"},{"},', "]"),
    ('[{}, {"a":', "}]"),
]
SHELLS += [
    ('{"b":"]]]]}}}}","a":', "}"),
    ('{"b":"},{},{},{","a":', "}"),
    ('[[],{"b":[{},{},{}],"a":', "}]"),
]


def test_levels_are_counted():
    for start, end in SHELLS:
        for depth in range(40, limits.MAX_DEPTH + 2):
            line = f'{{"a":{start * depth}1{end * depth}}}'
            assert bool(parse_json_lines([line]).records) == is_acceptable(line)


@pytest.mark.parametrize("depth", [10**3, 10**4, 10**6])
@pytest.mark.parametrize("shell", SHELLS[:3])
def test_any_depth_is_refused(depth, shell):
    (problem,) = parse_json_lines([f'{{"a":{shell[0] * depth}1{shell[1] * depth}}}']).problems
    assert problem.text == "is nested too deeply (limit: 100 levels)"


def test_rows_in_memory_that_are_nested_too_deeply():
    deep = 1
    for _ in range(5000):
        deep = [deep]
    assert [problem.text for problem in explain_values({"a": deep})] == [
        "is nested too deeply (limit: 100 levels)"
    ]
