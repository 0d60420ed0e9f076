"""Bad submissions and gold files, and the whole message about each.

Each case checks all of standard error and the exit code, and that nothing is printed or written.
"""

import json
import os
from pathlib import Path

import pytest
from shared.bad_input import (
    GOOD,
    IDS,
    ROWS,
    SAMPLE,
    expected_message,
    labelled,
    lines,
    put,
    refuses,
    third,
    tsv,
)

import closeread
from closeread import limits
from closeread.exceptions import FormatError, SubmissionError, word_for_command_line
from closeread.files import package_folder

pytestmark = pytest.mark.usefixtures("here")

LACKS_ONE = (
    "1 of 103 ids has no prediction: 'test-00002'. Add it, or use --missing empty or --missing skip"
)
NO_LABEL = "'Yes' is not one of 'no', 'yes'; did you mean 'yes'?"
NO_PATTERN = "is not valid (expected 1 to 64 ASCII letters, digits, '_', '.' and '-')"

SUBMISSIONS = {
    "binary": (b"\x89PNG\r\n\x1a\n\0\0", ["is a binary file: it contains NUL bytes (expected UTF-8 text)"]),
    "Latin-1": ("yes\nn\xf6\n".encode("latin-1"), ["2: byte 2 (0xf6) is not valid UTF-8"]),
    "UTF-16": ("yes\n".encode("utf-16"), ["is UTF-16 text (expected UTF-8)"]),
    "empty": (b"", ["is empty"]),
    "too few labels": ("yes\n" * 102, ["the number of lines is 102 (expected 103, one for each candidate)"]),
    "a blank line after the labels": ("yes\n" * 103 + "\n",
        ["the number of lines is 104 (expected 103, one for each candidate)"]),
    "too few labels, and one wrong": ("yes\nmaybe\n",
        ["the number of lines is 2 (expected 103, one for each candidate)",
        "2: id 'test-00001': label: 'maybe' is not one of 'no', 'yes'"]),
    "too few rows": (lines(*ROWS[:-4]),
        ["4 of 103 ids have no prediction: 'test-00099', 'test-00100', 'test-00101', …. "
        "Add them, or use --missing empty or --missing skip"]),
    "too many rows": (lines(*ROWS, labelled('"no"', '"test-00103"')), ["104: id 'test-00103' is not in the gold"]),
    "unknown id": (third(labelled('"yes"', '"validation-00002"')), [LACKS_ONE,
        "3: id 'validation-00002' is not in the gold"]),
    "duplicate id": (third(ROWS[0]), [LACKS_ONE, "3: duplicate id 'test-00000' (first on line 1)"]),
    "label Yes": (third(labelled('"Yes"')), [f"3: id 'test-00002': label: {NO_LABEL}"]),
    "label Yes in a text file": ("yes\n" * 50 + "Yes\n" + "no\n" * 52,
        [f"51: id 'test-00050': label: {NO_LABEL}"]),
    "true": (third(labelled("true")),
        ["3: id 'test-00002': label: true is not one of 'no', 'yes'; did you mean 'yes'?"]),
    "NaN": (third(labelled("NaN")), ["3: NaN is not a valid JSON value"]),
    "1e400": (third(labelled("1e400")), ["3: the number '1e400' is too large for a float"]),
    "duplicate key": (third('{"id": "test-00002", "label": "no", "label": "yes"}'), ["3: duplicate key 'label'"]),
    "control character": (third(labelled(r'"\u001b[31myes"')),
        [r"3: the string '\x1b[31myes' contains the control character U+001B"]),
    "control character as it is": (third(labelled('"\x1b[31myes"')),
        ["3: is not valid JSON: Invalid control character at column 32"]),
    "lone surrogate": (
        third(labelled(r'"\ud800"')),
        [r"3: the string '\ud800' contains the lone surrogate U+D800"],
    ),
    "as deep as is allowed": (third(labelled("[" * 99 + "]" * 99)),
        [f"3: id 'test-00002': label: {'[' * 58} … {']' * 58} is not one of 'no', 'yes'"]),
    "huge integer": (third(labelled("9" * 5000)), ["3: contains a number with too many digits"]),
    "array": (third("[1, 2]"), ["3: '[1, 2]' is not a JSON object (expected one object per line)"]),
    "a Python dict": (third("{'id': 'test-00002', 'label': None}"),
        ["3: is a Python dict, not JSON (expected double quotes, as json.dumps writes them)"]),
    "no JSON": (third("yes"), ["3: is not valid JSON: Expecting value at column 1"]),
    "blank line": (third(""), ["3: is blank (expected one JSON object per line)"]),
    "broken off": (third(ROWS[2][:-1]), ["3: is not valid JSON: Expecting ',' delimiter at column 36"]),
    "one object on many lines": (json.dumps({"id": IDS[0], "label": "yes"}, indent=1),
        ["is one JSON object on 4 lines (expected JSON Lines: each object on a line of its own)"]),
    "a misspelt key": (third('{"id": "test-00002", "lable": "yes"}'),
        ["3: id 'test-00002': unknown field 'lable'; did you mean 'label'?"]),
    "no label": (third('{"id": "test-00002"}'), ["3: id 'test-00002': field 'label' is missing"]),
    "neither": (third("{}"), [LACKS_ONE, "3: field 'id' is missing", "3: field 'label' is missing"]),
    "id that is a number": (third(labelled('"yes"', "2")), [LACKS_ONE, "3: id: expected text, found 2"]),
    "id that turns the line round": (third(labelled('"yes"', '"\u202etest"')), [LACKS_ONE,
        rf"3: id: '\u202etest' {NO_PATTERN}", r"3: id '\u202etest' is not in the gold"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_submission(run, here, name):
    content, problems = SUBMISSIONS[name]
    put("system", content)
    put("right", lines(*ROWS))
    message = expected_message("system", *problems)
    refuses(run("score", "mctaco", "system", *SAMPLE, "--counts", "kept"), message)
    refuses(run("validate", "mctaco", "system", *SAMPLE), message)
    refuses(run("compare", "mctaco", "right", "system", *SAMPLE), message)
    with word_for_command_line(), pytest.raises(SubmissionError) as caught:
        closeread.score("mctaco", "system", config="sample")
    assert str(caught.value) == message
    assert sorted(os.listdir(here)) == ["right", "system"]


@pytest.mark.filterwarnings("ignore:gold and predictions have no link:closeread.CloseReadWarning")
def test_unknown_fields_give_notes_or_are_refused(run, ran):
    put("right", lines(*ROWS))
    put("system", third('{"id": "test-00002", "label": "yes", "score": 0.9}'))
    done = run("score", "mctaco", "system", *SAMPLE)
    assert done.stdout == ran("score", "mctaco", "right", *SAMPLE)
    notes = done.stderr.splitlines()
    assert notes[0] == "note: system:3: id 'test-00002': unknown field 'score' is ignored"
    assert all("every predicted label is 'yes'" in note for note in notes[1:])
    for command in ("score", "compare", "table", "validate"):
        files = ["system", "right"] if command in ("compare", "table") else ["system"]
        refused = run(command, "mctaco", *files, *SAMPLE, "--extra", "error")
        refuses(refused, "system:3: id 'test-00002': unknown field 'score' (fields: 'id', 'label')")
    rows = [
        {
            "id": "s1",
            "relations": [{"anchor": "np1", "preposition": "of", "complement": "np0", "score": 1}],
        }
    ]
    with pytest.warns(
        closeread.CloseReadWarning, match=r"relations\[0\]: unknown field 'score' is ignored"
    ):
        assert closeread.validate("tne", rows, config="sample", missing="skip")
    rows[0]["relations"][0]["head"] = rows[0]["relations"][0].pop("anchor")
    [problem] = closeread.validate("tne", rows, config="sample", missing="skip").problems[:1]
    assert "relations[0]: unknown field 'score' (fields" in problem


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_gold_and_predictions_for_another_part_are_recognized(here):
    for corpus, file in (
        ("mctaco", "sample.tsv"),
        ("tne", "sample.jsonl"),
        ("wikipossessions", "sample.csv"),
    ):
        path = package_folder(f"closeread.loaders.{corpus}") / file
        for gold in (path, list(closeread.load_dataset(corpus, name="sample", split="test"))):
            problem = closeread.validate(corpus, gold, config="sample").problems[0]
            assert "these are gold records, not predictions (expected only '" in problem
    # Gold of TimeLine has the form of predictions, so that a wrong name is a wrong name.
    timelines = list(closeread.load_dataset("semeval2015_timeline", name="sample", split="test"))
    wrong = f"{timelines[0]['id']}s"
    renamed = [{**timelines[0], "id": wrong}, *timelines[1:]]
    [problem] = closeread.validate("semeval2015_timeline", renamed, config="sample").problems
    assert f"id '{wrong}' is not in the gold; did you mean '{timelines[0]['id']}'?" in problem
    put("system", lines(*ROWS))
    put("test_9442.tsv", tsv(*[GOOD] * 3))
    [problem] = closeread.validate("mctaco", "system", data_dir=".").problems
    assert problem == "system: all 103 ids are those of config='sample', not of test (default)"
    put("system", third('{"id": "Test-00002", "label": "yes"}'))
    problem = closeread.validate("mctaco", "system", config="sample").problems[-1]
    assert problem == "system:3: id 'Test-00002' is not in the gold; did you mean 'test-00002'?"


def test_the_first_20_of_many_problems(run):
    """26 problems of several kinds, of lines that could be read and of lines that could not."""
    wrong = [
        *(labelled('"Yes"', f'"{name}"') for name in IDS[:5]),
        *(labelled('"yes"', f'"nobody-{i}"') for i in range(5)),
        *["{"] * 5,
        *ROWS[15:20] * 2,
        *(labelled("NaN", f'"{name}"') for name in IDS[20:25]),
    ]
    put("system", lines(*wrong, *ROWS[25:]))
    shown = [
        # Fifteen are missing, and no more than ten of them can be what could not be read.
        f" 15 of 103 ids have no prediction: '{IDS[5]}', '{IDS[6]}', '{IDS[7]}', …. "
        "Add them, or use --missing empty or --missing skip",
        f"1: id '{IDS[0]}': label: {NO_LABEL} (5 times; also lines 2, 3, 4, …)",
        *(f"{i + 6}: id 'nobody-{i}' is not in the gold" for i in range(5)),
        "11: is not valid JSON: Expecting property name enclosed in double quotes at column 2 "
        "(5 times; also lines 12, 13, 14, …)",
        *(f"{i + 21}: duplicate id '{IDS[i + 15]}' (first on line {i + 16})" for i in range(5)),
        "26: NaN is not a valid JSON value (5 times; also lines 27, 28, 29, …)",
    ]
    message = "\n".join(["system: 26 problems of 14 kinds:", *(f"system:{p}" for p in shown)])
    refuses(run("score", "mctaco", "system", *SAMPLE), message)


def test_all_rows_wrong_are_all_counted(run):
    """Beyond a hundred rejected rows, problems are counted and no longer worded."""
    put("system", "Yes\n" * 103)
    result = run("score", "mctaco", "system", *SAMPLE)
    assert result.stderr == (
        "Error: system: 103 problems of 2 kinds:\n"
        f"system:1: id 'test-00000': label: {NO_LABEL} (100 times; also lines 2, 3, 4, …)\n"
        "system:101: id 'test-00100': is invalid, too (only 100 rows are explained) (3 times; also lines 102, 103)\n"
    )


def test_problems_that_are_only_counted_are_all_counted(run):
    put("key.jsonl", '{"doc": 1}\n' * 310)
    lines = run("score", "coref", "key.jsonl", "key.jsonl").stderr.splitlines()
    assert lines[0] == "Error: key.jsonl: 510 problems of 4 kinds:"
    assert lines[1].endswith("(100 times; also lines 2, 3, 4, …)")
    assert lines[4].startswith(
        "key.jsonl:101: is invalid, too (only 100 rows are explained) (210 times"
    )


@pytest.mark.parametrize("where", ["system", "gold.tsv", "gold.jsonl"])
class TestNoFileToRead:
    def refused(self, run, where, what):
        put("right", lines(*ROWS))
        asked = ["system", *SAMPLE] if where == "system" else ["right", "--gold", where]
        refuses(run("score", "mctaco", *asked, "--counts", "kept"), f"{where}: {what}")
        assert not Path("kept").exists()

    def test_missing(self, run, where):
        self.refused(run, where, "can't be read: No such file or directory")

    def test_directory(self, run, where):
        Path(where).mkdir()
        self.refused(run, where, "is a directory (expected a file)")

    def test_pipe(self, run, where):
        os.mkfifo(where)
        self.refused(run, where, "is not a regular file")

    def test_line_of_two_gigabytes(self, run, where, monkeypatch):
        put(where, b"{")
        os.truncate(where, 2**31)
        read = Path.read_bytes

        def read_bytes(path):
            assert path.name != where, "a file of that size must not be read"
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        self.refused(run, where, "is too large: 2,147,483,648 bytes (limit: 1,073,741,824)")

    def test_long_lines(self, run, where, monkeypatch):
        monkeypatch.setattr(limits, "MAX_LINE_BYTES", 1000)
        put(where, "x" * 1000 + "\n" + "ä" * 501)
        put("right", lines(*ROWS))
        asked = ["system", *SAMPLE] if where == "system" else ["right", "--gold", where]
        refuses(
            run("score", "mctaco", *asked),
            f"{where}:2: line is too long: 1,002 bytes (limit: 1,000)",
        )


def test_the_name_of_a_file_comes_out_escaped(run):
    name = "a\x1b[31m\u202e"
    message = r"a\x1b[31m\u202e: can't be read: No such file or directory"
    refuses(run("score", "mctaco", name, *SAMPLE), message)
    with pytest.raises(SubmissionError) as caught:
        closeread.score("mctaco", name, config="sample")
    assert (str(caught.value), caught.value.source) == (message, name)


COLUMNS = "(expected 5: sentence, question, answer, label, category)"
CATEGORIES = "'Event Duration', 'Event Ordering', 'Frequency', 'Typical Time', 'Stationarity'"


def record(**changes):
    values = {
        "id": "a",
        "question_id": "q",
        "sentence_id": "s",
        "sentence": "It rained.",
        "question": "When?",
    }
    values |= {"answer": "now", "label": "yes", "category": "Typical Time"} | changes
    return json.dumps({name: value for name, value in values.items() if value is not None})


GOLD = {
    "row with too few columns": ("gold.tsv", tsv(GOOD, GOOD[:4]), [f"2: the number of columns is 4 {COLUMNS}"]),
    "row with too many columns": ("gold.tsv", tsv(GOOD, (*GOOD, "")), [f"2: the number of columns is 6 {COLUMNS}"]),
    "blank line": ("gold.tsv", tsv(GOOD, ("",)), [f"2: the number of columns is 1 {COLUMNS}"]),
    "unknown category": ("gold.tsv", tsv(GOOD, (*GOOD[:4], "Frequenzy")),
        [f"2: id 'test-00001': category: 'Frequenzy' is not one of {CATEGORIES}; did you mean 'Frequency'?"]),
    "unknown label": ("gold.tsv", tsv(GOOD, (*GOOD[:3], "maybe", "Frequency")),
        ["2: id 'test-00001': label: 'maybe' is not one of 'no', 'yes'"]),
    "label with an escape": ("gold.tsv", tsv((*GOOD[:3], "yes\x1b[31m", "Frequency")),
        [r"1: label 'yes\x1b[31m' contains the control character U+001B",
        r"1: id 'test-00000': label: 'yes\x1b[31m' is not one of 'no', 'yes'"]),
    "control characters": ("gold.tsv", tsv(GOOD, ("It\x07 rained.", *GOOD[1:2], "an\x85hour", *GOOD[3:])),
        [r"2: sentence 'It\x07 rained.' contains the control character U+0007",
        r"2: answer 'an\x85hour' contains the control character U+0085"]),
    "no sentence": ("gold.tsv", tsv(("", *GOOD[1:])), ["1: id 'test-00000': sentence: is empty"]),
    "everything at once": ("gold.tsv", tsv(GOOD[:1], ("It rained.", "Why?", "so", "si", "Cause"), GOOD),
        [f"1: the number of columns is 1 {COLUMNS}",
        f"2: id 'test-00001': category: 'Cause' is not one of {CATEGORIES}",
        "2: id 'test-00001': label: 'si' is not one of 'no', 'yes'"]),
    "a question of two categories": ("gold.tsv", tsv(GOOD, (*GOOD[:4], "Frequency")),
        ["2: question 'test-q0000' has category 'Frequency', but 'Event Duration' in an earlier row "
        "(expected one category)"]),
    "a question of two sentences": ("gold.jsonl", lines(record(), record(id="b", sentence_id="t")),
        ["2: question 'q' has sentence_id 't', but 's' in an earlier row (expected one sentence_id)"]),
    "duplicate ids": ("gold.jsonl", lines(record(), record(id="b"), record(), record(id="b")),
        ["3: duplicate id 'a' (first on line 1)", "4: duplicate id 'b' (first on line 2)"]),
    "duplicate ids that turn the line round": ("gold.jsonl", lines(record(id="\u202e"), record(id="\u202e")),
        [rf"1: id: '\u202e' {NO_PATTERN} (2 times; also line 2)", r"2: duplicate id '\u202e' (first on line 1)"]),
    "unknown category in JSON": ("gold.jsonl", lines(record(category="Frequenzy")),
        [f"1: id 'a': category: 'Frequenzy' is not one of {CATEGORIES}; did you mean 'Frequency'?"]),
    "missing key": ("gold.jsonl", lines(record(category=None)), ["1: id 'a': field 'category' is missing"]),
    "misspelt key": ("gold.jsonl", lines(record(category=None, categori="Frequency")),
        ["1: id 'a': unknown field 'categori'; did you mean 'category'?"]),
    "wrong type": ("gold.jsonl", lines(record(sentence=5)), ["1: id 'a': sentence: expected text, found 5"]),
    "other format": ("gold.jsonl", tsv(GOOD), ["1: is not valid JSON: Expecting value at column 1"]),
    "empty": ("gold.tsv", "", ["is empty"]),
    "wrong encoding": ("gold.tsv", tsv(GOOD) + "\xe9", ["2: byte 1 (0xe9) is not valid UTF-8"]),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLD)
def test_gold(run, here, name):
    file, content, problems = GOLD[name]
    put(file, content.encode("latin-1" if name == "wrong encoding" else "utf-8"))
    put("system", "yes\n")
    message = expected_message(file, *problems)
    refuses(run("score", "mctaco", "system", "--gold", file, "--counts", "kept"), message)
    refuses(run("baseline", "mctaco", "random", "--gold", file, "-o", "kept"), message)
    with pytest.raises(FormatError) as caught:
        closeread.score("mctaco", "system", gold=file)
    assert str(caught.value) == message
    assert sorted(os.listdir(here)) == sorted([file, "system"])
