"""WikiPossessions as a corpus: the release, the sample and their statistics."""

import pytest

from closeread.corpus.facts import load_facts
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import read_submission
from closeread.exceptions import SubmissionError
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.wikipossessions.rules import find_inconsistencies, find_oddities

CORPUS = load_corpus("wikipossessions")
SCORED = ("type", "possessor", "certainty", "order", "anchor", "relation", "relation_certainty")


def all_possessions(records):
    return [
        (record["article"], possession)
        for record in records
        for possession in record["possessions"]
    ]


def test_facts_agree_with_the_declaration(corpora):
    gold = read_gold(CORPUS)
    assert gold.released
    found = load_facts("wikipossessions")(gold.records)
    assert found == {fact.name: fact.value for fact in CORPUS.facts}


def test_the_release_agrees_with_the_card(corpora):
    records = read_gold(CORPUS).records
    rows = all_possessions(records)
    assert all(record["text"] is None for record in records)
    keys = [(article, possession["possessor"], possession["order"]) for article, possession in rows]
    assert len(set(keys)) == len(keys)
    assert [
        possession["anchor"]
        for _, possession in rows
        if (possession["anchor"] or "").endswith("-Unknown")
    ] != []
    unscored = {a for a, p in rows if p["relation"] and p["anchor_kind"] == "unknown"}
    assert unscored == {"The Swing (painting)"}
    assert list(find_oddities(records)) == [
        "2 possessions have a relation to an unknown anchor (first: in 'The Swing (painting)')."
    ]
    assert any(possession["possessor"].endswith(",") for _, possession in rows)
    assert sum('"' in possession["possessor"] for _, possession in rows) == 2
    assert not any((possession["lower"] or 0) < 0 for _, possession in rows)
    # Sorted by type, as the description of the field says.
    for record in records:
        types = [
            ("PER", "ORG", "LOC").index(possession["type"]) for possession in record["possessions"]
        ]
        assert types == sorted(types)


def test_the_sample_has_an_example_of_everything():
    records = read_gold(CORPUS, "sample").records
    found = load_facts("wikipossessions")(records)
    assert all(value > 0 for value in found.values())
    rows = all_possessions(records)
    orders = [(article, possession["order"]) for article, possession in rows]
    assert len(set(orders)) < len(orders)  # ties
    assert {"5.2", "5.10"} <= {possession["order"] for _, possession in rows}
    assert any(
        (possession["lower"] or 0) < 0 < (possession["upper"] or 0) for _, possession in rows
    )
    assert any("Century" in (possession["anchor"] or "") for _, possession in rows)
    assert list(find_inconsistencies(records)) == []


def row(**changes):
    return {
        name: value
        for name, value in {**dict.fromkeys(SCORED), **changes}.items()
        if value != "absent"
    }


ORDER = "(expected positive integers separated by dots, such as 6 or 6.1)"
GOOD = {"possessor": "Ann", "order": "1", "certainty": "certain"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"type": "absent"}, None),
        (
            {
                "type": "LOC",
                "anchor": "1888",
                "relation": "during",
                "relation_certainty": "certain",
            },
            None,
        ),
        ({"type": "GPE"}, "possessions[0].type: 'GPE' is not valid (expected PER, ORG or LOC)"),
        ({"order": 1}, None),
        ({"order": "1.0"}, "possessions[0].order: '1.0' is not valid " + ORDER),
        ({"order": "absent"}, "possessions[0]: field 'order' is missing"),
        ({"possessor": "absent"}, "possessions[0]: field 'possessor' is missing"),
        (
            {"certainty": None},
            "possessions[0].certainty: null is not one of 'certain', 'uncertain'",
        ),
        ({"anchor": "absent"}, "possessions[0]: field 'anchor' is missing"),
        ({"anchor": 1888}, None),
        ({"anchor": [1888]}, "possessions[0].anchor: expected text or null, found a list"),
        (
            {"lower": 1888},
            "possessions[0]: unknown field 'lower' (fields: 'type', 'possessor', 'certainty', 'order', 'anchor', …)",
        ),
    ],
)
def test_submission_rows(tmp_path, changes, problem):
    path = tmp_path / "system.jsonl"
    path.write_text(
        dump_json_lines([{"article": "A", "possessions": [row(**{**GOOD, **changes})]}]), "utf-8"
    )
    if problem is None:
        assert read_submission(path, CORPUS, [{"article": "A"}]).missing == ()
    else:
        with pytest.raises(SubmissionError) as caught:
            read_submission(path, CORPUS, [{"article": "A"}])
        assert str(caught.value).startswith(f"{path}:1: article 'A': {problem} (in {{")
