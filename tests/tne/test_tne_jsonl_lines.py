"""The lines of TNE's files: characters, lines that hold no document, and the fast and the strict way to read one."""

import json

from shared.for_each import for_each
from shared.json_lines import dump
from shared.tne_files import TNE, put, read, refuse
from shared.tne_released import document

from closeread.corpus.gold import read_own_gold
from closeread.tasks.tne.tne_jsonl import dump_records


@for_each("character", ["\u0080", "\u0085", "\u009f", "\t", "\n", "\u2028", "\ufeff", "\xa0", "é", "😀"])
@for_each("escaped", [True, False])
def test_characters_that_texts_may_hold(file, character, escaped):
    words = f"a{character}b"
    nps = [{"text": words, "first_char": 1, "last_char": 4, "first_token": 0, "last_token": 0, "id": "np0"}]
    coref = [{"id": "cc0", "members": ["np0"], "np_type": "standard"}]
    record = document(text=f" {words} ", tokens=[words], nps=nps, coref=coref, np_relations=[])
    content = json.dumps(record, ensure_ascii=escaped) + "\n"
    gold = read_own_gold(TNE, put(file, content))
    assert gold.records[0]["text"] == f" {words} "
    assert dump_records(gold.records).count("\n") == 1
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest


@for_each("character", ["\0", "\b", "\x0b", "\f", "\r", "\x1b", "\x1f", "\x7f"])
@for_each("name", ["text", "id", "key"])
def test_characters_that_texts_may_not_hold(file, character, name):
    record = document(**{f"x{character}" if name == "key" else name: f"a{character}"})
    held = "x" if name == "key" else "a"
    found = f":1: the string {held + character!r} contains the control character U+{ord(character):04X}"
    assert refuse(file, dump([record])) == found
    # Escaped in the other ways that there are; DEL needs no escape.
    hexes = f"{ord(character):04x}"
    for spelt in (f"\\u{hexes}", f"\\u{hexes.upper()}"):
        assert refuse(file, dump([record]).replace(json.dumps(character)[1:-1], spelt)) == found
    assert refuse(file, json.dumps(record, ensure_ascii=False)) == found


def test_half_a_character(file):
    assert refuse(file, dump([document(id="\ud83d")])) == r":1: the string '\ud83d' contains the lone surrogate U+D83D"
    assert read(file, dump([document(id="😀")])).problems == []


@for_each(
    ("line", "message"),
    [
        (b"{}x", "is not valid JSON: Extra data at column 3"),
        (b"", "is blank (expected one JSON object per line)"),
        (b"[]", "'[]' is not a JSON object (expected one object per line)"),
        (b'{"id": NaN}', "NaN is not a valid JSON value"),
        (b'{"id": 1e400}', "the number '1e400' is too large for a float"),
        (b'{"id": "a", "id": "a"}', "duplicate key 'id'"),
        (b'{"id" : "a", "id" : "a"}', "duplicate key 'id'"),
        (b'{"id": "a", "\\u0069d": "a"}', "duplicate key 'id'"),
        (b'{"id": "\\u0022", "text": "\\"", "text": "\\""}', "duplicate key 'text'"),
        (b'{"nps": {"np0": {}, "np0": {}}}', "duplicate key 'np0'"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "is nested too deeply (limit: 100 levels)"),
        (b"[" * 10**5, "is nested too deeply (limit: 100 levels)"),
        (b'{"id": ' + b"9" * 5000 + b"}", "contains a number with too many digits"),
    ],
)
def test_lines_that_are_none(file, line, message):
    good = dump([document()]).encode()
    records, numbers, problems = read(file, good + line + b"\n" + dump([document(id="r2")]).encode())
    assert [(problem.line, problem.message) for problem in problems] == [(2, message)]
    assert (len(records), numbers) == (2, [1, 3])


@for_each("depth", [90, 101, 150, 240, 253, 254, 255, 300])
def test_depth(file, depth):
    value = 7
    for _ in range(depth):
        value = [value]
    for changes in ({"extra": value}, {"domain": value}, {"metadata": value}, {"nps": {"np0": {"id": value}}}):
        assert refuse(file, dump([document(**changes)]))


def test_all_problems_of_a_file_come_at_once(file):
    content = [dump([document()]), "x\n", dump([document(nps=7)]), dump([document(nps={"np0": {"id": "np1"}})])]
    content += [dump([document(coref=...)]), '{"id": "r1", "id": "r1"}\n', dump([document()])]
    assert refuse(file, "".join(content)).splitlines() == [
        ": 8 problems:",
        ":2: is not valid JSON: Expecting value at column 1",
        ":3: id 'r1': nps: expected a list, found 7",
        ":3: duplicate id 'r1' (first on line 1) (3 times; also lines 5, 7)",
        ":4: id 'r1': nps: noun phrase 'np0' has the id 'np1' (expected the same)",
        ":5: id 'r1': field 'coref' is missing",
        ":6: duplicate key 'id'",
    ]
