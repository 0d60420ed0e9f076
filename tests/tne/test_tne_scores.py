"""TNE's scores: hand cases, answers of an earlier implementation, breakdowns, and the release."""

import gzip
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import json_lines
from shared.count_tables import sum_counts
from shared.tne_documents import DOCUMENTS, DOMAINS, FEW, UPREP, inputs, phrase, references, rows
from shared.tne_links import gold_rows, scores

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.metrics import by_name
from closeread.exceptions import RequestError
from closeread.records import column
from closeread.tasks.tne.figures import count_confusions
from closeread.tasks.tne.links import COUNTS, PREPOSITIONS
from closeread.tasks.tne.phrases import PlacedPhrases
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE, count, find_expression

TESTS = Path(__file__).parent.parent
CASES = json.loads((TESTS / "cases" / "tne.json").read_text("utf-8"))
AGREED = json.loads(gzip.decompress((TESTS / "agreed" / "tne_links.json.gz").read_bytes()))
"""Random documents and predictions, with what the array program counted that this code replaced, which agreed with the
official evaluator: counts for every choice of options, counts of parts, confusions, and lists of errors."""


# By hand.


def fractions(expected):
    """The scores of a case, by the names of a report."""
    for name, score in expected.items():
        if isinstance(score, list):
            yield from zip(
                (f"{name}/{part}" for part in ("precision", "recall", "f1")), score, strict=True
            )
        else:
            yield name, score


@pytest.mark.parametrize("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    options = PROCEDURE.keep_options(
        PROCEDURE.resolve_options(case.get("options", {})), reading=False
    )
    table = count(
        gold=references(case["gold"]), system=rows(case["system"], case.get("fallback")), **options
    )
    got = scores(table)
    for name, expected in fractions(case["expected"]):
        if expected is None:
            assert got[name] is None, name
        else:
            assert got[name] == pytest.approx(float(Fraction(expected)), abs=1e-12), name
    if "decided" in case:
        counts = table.values.sum(axis=0)
        decided = [
            metric.name
            for metric in PROCEDURE.metrics
            if metric.evaluate(by_name(counts, table.names))[1]
        ]
        assert decided == case["decided"]


@pytest.mark.parametrize("case", CASES["parts"], ids=lambda case: case["name"])
def test_parts_by_hand(case):
    gold = references(case["gold"], case.get("texts", ()), case.get("phrases", ()))
    table = count(
        gold=gold, system=rows(case["system"], case.get("fallback")), breakdowns=[case["by"]]
    )
    parts = table.slices(case["by"])
    for value, expected in case["expected"].items():
        assert {name: n for name, n in sum_counts(parts[value]).items() if n} == expected, value
    assert set(parts) == set(case["expected"])


# Against an earlier implementation.


def test_counts_are_those_of_the_array_program():
    for number, case in enumerate(AGREED):
        for choice, expected in case["counts"].items():
            uprep, missing = choice.split()
            options = {"uprep": uprep, "missing": missing}
            table = count(gold=case["gold"], system=case["system"], **options)
            assert table.values.tolist() == expected, (number, choice)


def test_parts_are_those_of_the_array_program():
    for number, case in enumerate(AGREED):
        names = tuple(case["parts"])
        table = count(gold=case["gold"], system=case["system"], breakdowns=names, missing="empty")
        assert list(table.breakdowns) == list(names)
        for name, expected in case["parts"].items():
            parts = table.breakdowns[name]
            labels = [parts.parts[part] for part in parts.part]
            rows_found = zip(parts.unit.tolist(), labels, parts.values.tolist(), strict=True)
            assert list(map(list, rows_found)) == expected, (number, name)


def test_confusions_are_those_of_the_array_program():
    for case in AGREED:
        if "confusion" in case:
            matrix = count_confusions(case["gold"], case["system"])
            cells = [[*map(int, cell), int(matrix[tuple(cell)])] for cell in np.argwhere(matrix)]
            assert cells == case["confusion"]


def test_the_answers_cover_what_they_should():
    rows_given = [row for case in AGREED for row in case["system"]]
    assert sum(row is None for row in rows_given) > 20
    assert sum(bool(row and row.get("fallback")) for row in rows_given) > 100
    totals = np.sum([np.sum(case["counts"]["any empty"], axis=0) for case in AGREED], axis=0)
    any_right, last_right = (
        np.sum([np.sum(case["counts"][f"{uprep} empty"], axis=0) for case in AGREED], axis=0)[
            COUNTS.index("fallback/right")
        ]
        for uprep in ("any", "last")
    )
    assert (totals > 0).all()
    assert any_right > last_right > 0


@given(DOCUMENTS, UPREP)
def test_parts_sum_to_the_whole(documents, uprep):
    table = count(**inputs(documents), breakdowns=["preposition"], uprep=uprep)
    whole = np.zeros_like(table.values)
    for part in table.slices("preposition").values():
        whole[[table.units.index(unit) for unit in part.units]] += part.values
        assert part.values.any(axis=1).all()  # a document without any is left out
    assert np.array_equal(whole, table.values)
    by_domain = table.slices("domain")
    assert set(by_domain) == {"news", "books", "unknown"} & {
        domain or "unknown" for domain in DOMAINS[: len(documents)]
    }
    assert sum(len(part.units) for part in by_domain.values()) == len(documents)


WORDS = [*FEW, "member of", "members of", "with", "and", "ofin", ""]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.sampled_from([" ", "  ", "\n", ", "]),
)
def test_what_joins_two_noun_phrases(between, blank):
    # The noun phrases are A, B and so on, with one of the words between each and the next.
    text, phrases = "", []
    for i, word in enumerate([*between, ""]):
        phrases.append(phrase(i, chr(65 + i), len(text)))
        text += f"{chr(65 + i)}{blank if i % 2 else ' '}{word} "
    placed = PlacedPhrases({"id": "d", "text": text, "nps": phrases})
    names = list(placed)
    written = (*PREPOSITIONS[1:], "member of", "members of")
    for anchor, anchor_name in enumerate(names):
        behind = text[phrases[anchor]["last_char"] :]
        for complement, complement_name in enumerate(names):
            if anchor == complement:
                continue
            words = re.escape(phrases[complement]["text"])
            is_joined = any(
                re.match(rf" {re.escape(said)} {words}(?![^\W_])", behind) for said in written
            )
            found = find_expression(placed, (anchor_name, complement_name), "of")
            assert found == ("explicit" if is_joined else "implicit")


def test_domains_and_forums():
    places = [
        ("news", None),
        ("books", None),
        ("reddit", "Cats"),
        ("reddit", None),
        (None, None),
        (None, "Cats"),
    ]
    gold = [
        {**record, "id": f"d{i}", "domain": domain, "forum": forum}
        for i, (domain, forum) in enumerate(places)
        for record in references([[(0, "of", 1)]])
    ]
    table = count(gold=gold, system=rows([[(0, "of", 1)]] * len(gold)))
    assert table.fields == {
        "domain": ["news", "books", "reddit", "reddit", "unknown", "unknown"],
        "forum": ["none", "none", "Cats", "unknown", "unknown", "Cats"],
    }


# The release.


@pytest.fixture
def release(corpora):
    return read_gold(load_corpus("tne")).records


def test_the_release_against_itself(release):
    table = count(gold=release, system=gold_rows(release), breakdowns=tuple(BREAKDOWNS))
    found = sum_counts(table)
    # The figures of the official evaluator, and of the paper's data without duplicates.
    assert (found["links/gold"], found["triplets/gold"]) == (106_201, 120_196)
    assert sum(len(record["np_relations"]) for record in release) == 120_198
    assert {score for name, score in scores(table).items() if name != "uprep"} == {1}
    assert scores(table)["uprep"] is None
    explicit = table.slices("expressed")
    assert list(explicit) == ["implicit", "explicit"]
    for name, whole in found.items():
        for field in ("expressed", "preposition"):
            assert sum(sum_counts(part)[name] for part in table.slices(field).values()) == whole
    assert len(table.slices("preposition")) == 24


def test_fields_that_are_not_there():
    gold = references([[(0, "of", 1)]])
    table = count(gold=gold, system=rows([[(0, "of", 1)]]), breakdowns=tuple(BREAKDOWNS))
    assert table.fields == {"domain": ["unknown"], "forum": ["unknown"]}
    with pytest.raises(
        RequestError,
        match=r"no such field to slice by: 'expressed' \(choose from: domain, forum, preposition",
    ):
        table.slices("expressed")


@pytest.mark.gate
def test_the_unlabelled_files_can_be_validated_and_not_scored(run, ran, corpora, tmp_path):
    rows = [
        {"id": name, "relations": []}
        for name in column(read_gold(load_corpus("tne"), "unlabeled").records, "id")
    ]
    path = json_lines.write(tmp_path / "system.jsonl", rows)
    assert "valid; 500 of 500 gold records of tne test (unlabeled) have predictions" in ran(
        "validate", "tne", path, "--config", "unlabeled"
    )
    refused = run("score", "tne", path, "--config", "unlabeled")
    assert refused.exit_code == 2
    assert "500 of 500 documents have no gold links (first: 'r1491')" in refused.stderr


@pytest.mark.filterwarnings("ignore:.*No prediction")
def test_tables_explain_the_accuracies_that_they_have():
    shown = str(closeread.score("tne", [], config="sample", missing="empty"))
    expected = (
        "IPrep: accuracy of prepositions over gold pairs that the system links; UPrep: accuracy"
    )
    assert expected in " ".join(shown.split())
    assert "IPrep" not in str(
        closeread.score("tne", [], config="sample", missing="empty", metrics="links")
    )
