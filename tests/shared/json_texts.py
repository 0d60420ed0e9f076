"""Lines that are JSON, or nearly: what tests of readers draw from."""

import json

from hypothesis import strategies as st

# Numbers, and what looks like them.
SINGLE = """
0 -0 -0.0 1 -1 1.0 1e5 1E+5 0e0 1e400 -1e400 1e-400 5e-324 2e-324 0.1e-7 1.7976931348623157e308 1.7976931348623159e308
9007199254740993 9007199254740993.0 9223372036854775807 9223372036854775808 -9223372036854775809 18446744073709551616
999999999999999999 9999999999999999999 0.111111111111111111 0.1111111111111111111 888888888888888888.777777777777777777
01 - +1 1. .5 1e 0x1 1_0 ١ NaN Infinity -Infinity nan null true false True None
"""
NUMBERS = [*SINGLE.split(), "1" * 5000]
NUMBER = st.sampled_from(NUMBERS) | st.from_regex(
    r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
NUMBER |= st.floats(allow_nan=False).map(json.dumps) | st.integers(-(2**70), 2**70).map(str)

# A few characters, so that keys and what marks them come again and again.
CHARACTER = st.sampled_from(
    [*'ab":{}[],/ ', "\\", "\t", "\r", "\0", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", "😀", "\ufeff"]
)
ESCAPES = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@st.composite
def strings(draw):
    """A string in JSON, most of its characters plain, the others escaped in one of the ways there are."""
    text = ""
    for character in draw(st.text(CHARACTER, max_size=4)):
        short, long = ESCAPES.get(character), json.dumps(character)[1:-1]
        hexes = "".join(f"\\u{ord(unit):04x}" for unit in (character if ord(character) < 2**16 else "xx"))
        ways = [short or character, hexes, hexes.upper().replace("U", "u"), long]
        text += draw(st.sampled_from([character if character not in '"\\' else short, *ways]))
    return f'"{text}"'


BLANK = st.sampled_from(["", "", "", "", " ", "  ", "\t", "\r", "\u00a0"])


@st.composite
def objects(draw, value):
    """An object in JSON with any blanks; some keys come twice, the same or in another spelling."""
    key = st.sampled_from(['"a"', '"b"', '"\\u0061"', '""', '"a\\":"', '":"', '"a\\u0022:"']) | strings()
    entries = draw(st.lists(st.tuples(BLANK, key, BLANK, BLANK, value, BLANK), max_size=3))
    return "{" + ",".join(f"{a}{name}{b}:{c}{child}{d}" for a, name, b, c, child, d in entries) + "}"


@st.composite
def lists(draw, value):
    return "[" + draw(BLANK) + draw(st.sampled_from([",", ", "])).join(draw(st.lists(value, max_size=3))) + "]"


VALUE = st.recursive(NUMBER | strings(), lambda value: objects(value) | lists(value), max_leaves=6)
TAIL = st.sampled_from(["", "", "", "", " ", "\r", "\t", "\n", "\0", "x", "}", "{}", ",", "\ufeff", "\u00a0"])
LINE = st.builds(lambda a, b, c: a + b + c, TAIL, objects(VALUE), TAIL) | VALUE | st.text(CHARACTER, max_size=12)


@st.composite
def damaged(draw):
    """A line with a piece cut out or put in."""
    line = draw(LINE)
    start = draw(st.integers(0, len(line)))
    return line[:start] + draw(st.text(CHARACTER, max_size=2)) + line[start + draw(st.integers(0, 2)) :]
