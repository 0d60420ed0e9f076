"""Timelines of systems: what is read, what is refused, and what is odd about them."""

import json

import pytest
from shared.for_each import for_each
from shared.timelines import CORPUS, GOLD, GOLD_WITH_DOCUMENTS, entry, write_texts

from closeread.corpus.gold import read_own_gold
from closeread.corpus.submissions import read_submission
from closeread.exceptions import FormatError, Problem, SubmissionError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.timeline.timeline_txt import (
    read_folder,
    read_submission_folder,
)


def test_a_submission(tmp_path):
    write_texts(tmp_path, ann="Ann\n1\t2007\t7-2-b\n", cy="Cy\n")
    submission = read_submission(tmp_path, CORPUS, GOLD, "error")
    assert submission.rows == [
        {"id": "ann", "entity": "Ann", "entries": [entry(1, "2007", "7-2-b")]},
        None,
        {"id": "cy", "entity": "Cy", "entries": []},
    ]
    assert submission.missing == ()  # an empty gold timeline is not missed
    assert submission.notices == ()


@for_each("missing", ["empty", "skip"])
def test_missing_timelines(tmp_path, missing):
    write_texts(tmp_path, cy="Cy\n")
    assert read_submission(tmp_path, CORPUS, GOLD, missing).missing == ("ann",)
    with pytest.raises(SubmissionError) as caught:
        read_submission(tmp_path, CORPUS, GOLD, "error")
    message = "1 of 3 ids has no prediction: 'ann'. Add it, or use missing='empty' or missing='skip'"
    assert str(caught.value) == f"{tmp_path}: {message}"


def test_what_is_odd_about_a_submission(tmp_path):
    write_texts(tmp_path, ann="Anna\n1\tZZZZ\t7-9-b\tx\n\n3\t2007\t9-2-b\t7-2-a\n", bea="Bea\n1\t2007\t7-2-b\n")
    at = f"{tmp_path}/ann.txt"
    assert read_submission(tmp_path, CORPUS, GOLD_WITH_DOCUMENTS, "empty").notices == (
        f"{at}:1: the timeline is named 'ann' (expected 'anna' for the entity 'Anna')",
        f"{at}:1: positions have gaps: 2 positions up to 3 (released timelines count from 1 without gaps)",
        f"{at}:2: the anchor 'ZZZZ' is not a date such as 2009-03-XX",
        f"{at}:2: mention '7-9-b' names sentence 9, which its document does not have",
        f"{at}:2: mention 'x' is not of the form docid-sentid-extent",
        f"{at}:3: blank line ignored",
        f"{at}:4: mention '9-2-b' names document '9', which is not available",
        f"{tmp_path}/bea.txt:1: is not scored, because the gold timeline has no entries",
    )


# An anchor at two positions: of the relations of neighbours b < a2 and d < c2 contradict what was said.
TWICE = "Ann\n1\t2007\t7-2-a\n2\t2008\t7-2-b\n3\t2007\t7-2-a2\n4\t2009\t7-2-d\n5\t2008\t7-2-b2\n6\t2009\t7-2-d2\n"
TWO = "2 relations contradict earlier ones in track full, starting here"


def test_contradictions_are_told_of_gold_and_of_a_system(tmp_path):
    # 2007 < 2008; 2008 < 2007 is out; 2007 < 2009; 2009 < 2008 is new, and so 2008 < 2009 is out.
    write_texts(tmp_path / "gold", ann=TWICE)
    told = f"{TWO}; still counted, but ignored for inference"
    for found in (read_folder(tmp_path / "gold"), read_submission_folder(tmp_path / "gold", [])):
        assert found.notices == [Problem(told, 4, "ann.txt")]
    rows = read_folder(tmp_path / "gold").records
    (tmp_path / "rows.jsonl").write_text(dump_json_lines(rows), "utf-8")
    assert read_own_gold(CORPUS, tmp_path / "rows.jsonl").notices == (f"timeline 'ann': entry 3: {told}.",)
    submission = read_submission(tmp_path / "rows.jsonl", CORPUS, [{"id": "ann", "entries": [1]}])
    assert submission.notices == (f"{tmp_path / 'rows.jsonl'}:1: entry 3: {told}",)


def test_the_command_tells_contradictory_gold(tmp_path, run):
    write_texts(tmp_path / "gold", ann=TWICE)
    write_texts(tmp_path / "sent", ann="Ann\n1\t2007\t7-2-a\n")
    done = run("score", "timeline", tmp_path / "sent", "--gold", tmp_path / "gold", "--no-ci")
    assert done.exit_code == 0
    assert f"{tmp_path}/gold/ann.txt:4: {TWO}" in done.stderr
    assert "contradict" not in done.stdout


def test_without_anchors_nothing_contradicts(tmp_path):
    write_texts(tmp_path, ann="Ann\n1\t\t7-2-a\n2\t\t7-2-b\n3\t\t7-2-c\n")
    assert read_folder(tmp_path).notices == []


def test_one_position_an_anchor_contradicts_nothing(tmp_path):
    write_texts(tmp_path, ann="Ann\n0\t2007\t7-2-a\n1\t2008\t7-2-b\n2\t2007\t7-2-c\n2\t2009\t7-2-d\n2\t2007\t7-2-e\n")
    assert read_folder(tmp_path).notices == []


def test_the_same_in_json_lines(tmp_path):
    rows = [
        {"id": "bea", "entity": "Bea", "entries": [entry(1, "2007", "7-2-b")]},
        {"id": "ann", "entity": "Anna", "entries": [entry(1, "2007", "7-2-b"), entry(3, "ZZZZ", "9-2-b")]},
    ]
    path = tmp_path / "system.jsonl"
    path.write_text(dump_json_lines(rows), "utf-8")
    submission = read_submission(path, CORPUS, GOLD_WITH_DOCUMENTS, "empty")
    assert submission.rows == [rows[1], rows[0], None]
    assert submission.notices == (
        f"{path}:1: is not scored, because the gold timeline has no entries",
        f"{path}:2: the timeline is named 'ann' (expected 'anna' for the entity 'Anna')",
        f"{path}:2: positions have gaps: 2 positions up to 3 (released timelines count from 1 without gaps)",
        f"{path}:2: entry 2: the anchor 'ZZZZ' is not a date such as 2009-03-XX",
        f"{path}:2: entry 2: mention '9-2-b' names document '9', which is not available",
    )


def test_broken_submissions(tmp_path):
    write_texts(tmp_path, ann="Ann\n-1\t2007\t7-2-b\n", dee="Dee\n", cy="Ann\n")
    with pytest.raises(SubmissionError) as caught:
        read_submission(tmp_path, CORPUS, GOLD, "error")
    assert str(caught.value) == "\n".join(
        f"{tmp_path}{line}"
        for line in (
            ": 3 problems:",
            f"/ann.txt:2: the position is '-1' (expected a whole number from 0 to {2**53 - 1})",
            "/cy.txt: duplicate entity 'Ann' (first in ann.txt)",
            "/dee.txt: id 'dee' is not in the gold",
        )
    )


@for_each(
    ("change", "problem"),
    [
        ({"position": -1}, "entries[0].position: -1 is less than the minimum of 0"),
        ({"position": 1.5}, "entries[0].position: expected a whole number, found 1.5"),
        ({"position": "1"}, "entries[0].position: expected a whole number, found '1'"),
        ({"position": 2**53}, f"entries[0].position: {2**53} is greater than the maximum of {2**53 - 1}"),
        ({"anchor": None}, "entries[0].anchor: expected text, found null"),
        ({"mentions": []}, "entries[0].mentions: is empty"),
        ({"mentions": ["a", 1]}, "entries[0].mentions[1]: expected text, found 1"),
    ],
)
def test_broken_rows(tmp_path, change, problem):
    path = tmp_path / "system.jsonl"
    rows = [{"id": "ann", "entity": "Ann", "entries": [{**entry(1, "2007", "7-2-b"), **change}]}]
    path.write_text(dump_json_lines(rows), "utf-8")
    with pytest.raises(SubmissionError) as caught:
        read_submission(path, CORPUS, GOLD[:1])
    inside = f"(in {json.dumps(rows[0]['entries'][0])})"
    assert str(caught.value) == f"{path}:1: id 'ann': {problem} {inside}"


def test_spans_of_a_system_are_not_read(tmp_path):
    path = tmp_path / "system.jsonl"
    rows = [{"id": "ann", "entity": "Ann", "entries": [{**entry(1, "2007", "7-2-b"), "spans": []}]}]
    path.write_text(dump_json_lines(rows), "utf-8")
    assert read_submission(path, CORPUS, GOLD[:1]).rows == rows


def test_an_entity_has_one_row(tmp_path):
    path = tmp_path / "system.jsonl"
    rows = [{"id": name, "entity": "Ann", "entries": []} for name in ("ann", "cy")]
    path.write_text(dump_json_lines(rows), "utf-8")
    for read, error in (
        (lambda: read_submission(path, CORPUS, GOLD), SubmissionError),
        (lambda: read_own_gold(CORPUS, path), FormatError),
    ):
        with pytest.raises(error) as caught:
            read()
        assert str(caught.value) == f"{path}:2: duplicate entity 'Ann' (first on line 1)"
