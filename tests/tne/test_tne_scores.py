"""TNE's scores: hand cases, an exact twin, breakdowns, and the release."""

import json
import re
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.count_tables import sum_counts
from shared.for_each import for_each
from shared.tne_documents import DOCUMENTS, DOMAINS, FEW, UPREP, inputs, phrase, references, relations, rows
from shared.tne_links import gold_rows, scores
from twins import links as twin

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError
from closeread.tasks.tne.columns import PREPOSITIONS, documents_of, rows_of
from closeread.tasks.tne.kernels.links import pairs
from closeread.tasks.tne.procedure import BREAKDOWNS, EXPRESSED, PROCEDURE, count, find_joined, validate

CASES = json.loads((Path(__file__).parent.parent / "cases" / "tne.json").read_text("utf-8"))


# By hand.


def fractions(expected):
    """The scores of a case, by the names of a report."""
    for name, score in expected.items():
        if isinstance(score, list):
            yield from zip((f"{name}/{part}" for part in ("precision", "recall", "f1")), score, strict=True)
        else:
            yield name, score


@for_each("case", CASES["scores"], ids=lambda case: case["name"])
def test_hand_cases(case):
    options = PROCEDURE.resolve_options(case.get("options", {}))
    table = count(gold=references(case["gold"]), system=rows(case["system"], case.get("fallback")), **options)
    got = scores(table)
    for name, expected in fractions(case["expected"]):
        if expected is None:
            assert got[name] is None, name
        else:
            assert got[name] == pytest.approx(float(Fraction(expected)), abs=1e-12), name
    if "decided" in case:
        counts = table.values.sum(axis=0)
        decided = [metric.name for metric in PROCEDURE.metrics if metric.is_undefined(counts, table.names)]
        assert decided == case["decided"]


@for_each("case", CASES["parts"], ids=lambda case: case["name"])
def test_parts_by_hand(case):
    gold = references(case["gold"], case.get("texts", ()), case.get("phrases", ()))
    table = count(gold=gold, system=rows(case["system"], case.get("fallback")), breakdowns=[case["by"]])
    parts = table.slices(case["by"])
    for value, expected in case["expected"].items():
        assert {name: n for name, n in sum_counts(parts[value]).items() if n} == expected, value
    assert set(parts) == set(case["expected"])


# Against the twin.


def turned(links):
    """Links as the twin has them."""
    return [(anchor, complement, preposition) for anchor, preposition, complement in links or ()]


def expected_counts(documents, uprep, **kept):
    """What the twin counts of every document."""
    told = any(back for _, _, back in documents)
    return [
        twin.counts(turned(system), turned(gold), turned(back) if told else None, uprep, **kept)
        for gold, system, back in documents
    ]


def summed(counts):
    return {name: sum(count[name] for count in counts) for name in twin.NAMES}


@given(DOCUMENTS, UPREP)
def test_fast_is_twin(documents, uprep):
    table = count(**inputs(documents), uprep=uprep)
    expected = expected_counts(documents, uprep)
    assert [dict(zip(table.names, row, strict=True)) for row in table.values.tolist()] == expected
    found = scores(table)
    for name, score in twin.scores(summed(expected)).items():
        assert found[name] == (None if score is None else pytest.approx(float(score), abs=1e-12)), name


@given(DOCUMENTS, UPREP)
def test_parts_are_the_twins_and_sum_to_the_whole(documents, uprep):
    table = count(**inputs(documents), breakdowns=["preposition"], uprep=uprep)
    parts = table.slices("preposition")
    for preposition in FEW:
        expected = summed(expected_counts(documents, uprep, kept=lambda _, said, p=preposition: said == p))
        found = sum_counts(parts[preposition]) if preposition in parts else dict.fromkeys(expected, 0)
        assert found == expected
    whole = np.zeros_like(table.values)
    for part in parts.values():
        whole[[table.units.index(unit) for unit in part.units]] += part.values
        assert part.values.any(axis=1).all()  # a document without any is left out
    assert np.array_equal(whole, table.values)
    by_domain, told = table.slices("domain"), any(back for _, _, back in documents)
    assert set(by_domain) == {"news", "books", "unknown"} & {
        domain or "unknown" for domain in DOMAINS[: len(documents)]
    }
    assert sum(len(part.units) for part in by_domain.values()) == len(documents)
    for value, part in by_domain.items():
        inside = [doc for i, doc in enumerate(documents) if (DOMAINS[i % 3] or "unknown") == value]
        expected = [twin.counts(turned(s), turned(g), turned(f) if told else None, uprep) for g, s, f in inside]
        assert sum_counts(part) == summed(expected)


WORDS = [*FEW, "member of", "members of", "with", "and", "ofin", ""]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.sampled_from([" ", "  ", "\n", ", "]))
def test_what_joins_two_noun_phrases(between, blank):
    # The noun phrases are A, B and so on, with one of the words between each and the next.
    text, phrases = "", []
    for i, word in enumerate([*between, ""]):
        phrases.append(phrase(i, chr(65 + i), len(text)))
        text += f"{chr(65 + i)}{blank if i % 2 else ' '}{word} "
    documents = documents_of([{"id": "d", "text": text, "nps": phrases}, {"id": "e", "text": "", "nps": []}])
    n = len(phrases)
    every = np.array([(i, j) for i in range(n) for j in range(n) if i != j], np.int64)
    key = pairs(np.zeros(len(every), np.int64), *every.T)
    expected = [
        (i, j)
        for i, j in every.tolist()
        if any(
            re.match(rf" {re.escape(said)} {re.escape(phrases[j]['text'])}(?![^\W_])", text[phrases[i]["last_char"] :])
            for said in (*PREPOSITIONS[1:], "member of", "members of")
        )
    ]
    found = find_joined(key, documents)
    assert sorted(found.tolist()) == sorted(
        pairs(np.array([0]), np.array([i]), np.array([j])).item() for i, j in expected
    )


def test_domains_and_forums():
    places = [("news", None), ("books", None), ("reddit", "Cats"), ("reddit", None), (None, None), (None, "Cats")]
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


def test_fields_that_are_not_there():
    gold = references([[(0, "of", 1)]])
    table = count(gold=gold, system=rows([[(0, "of", 1)]]), breakdowns=tuple(BREAKDOWNS))
    assert table.fields == {"domain": ["unknown"], "forum": ["unknown"]}
    with pytest.raises(
        RequestError, match=r"no field 'expressed' to slice by \(choose from: domain, forum, preposition"
    ):
        table.slices("expressed")


def test_the_options():
    assert PROCEDURE.resolve_options({}) == {"uprep": "any", "missing": "error"}
    with pytest.raises(RequestError, match=r"option uprep: 'first' is not one of 'any', 'last'"):
        PROCEDURE.resolve_options({"uprep": "first"})
    assert PROCEDURE.resampling_unit == PROCEDURE.unit == "document"


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
    explicit = table.slices("expressed")
    assert list(explicit) == list(EXPRESSED)
    for name, whole in found.items():
        for field in ("expressed", "preposition"):
            assert sum(sum_counts(part)[name] for part in table.slices(field).values()) == whole
    assert len(table.slices("preposition")) == 24


@pytest.mark.extended
@for_each(("uprep", "share"), [("any", 27.0), ("last", 23.6)])
def test_falling_back_on_of(release, uprep, share):
    # Nothing is linked, and every gold pair falls back on `of`: the paper prints 23.5 for that.
    fallen = [
        {"id": row["id"], "relations": [], "fallback": [
            {"anchor": anchor, "complement": complement, "preposition": "of"}
            for anchor, complement in dict.fromkeys((link["anchor"], link["complement"]) for link in row["relations"])
        ]}
        for row in gold_rows(release)
    ]  # fmt: skip
    table = count(gold=release, system=fallen, uprep=uprep)
    assert sum_counts(table)["fallback/gold"] == 106_201
    assert round(100 * scores(table)["uprep"], 1) == share


@pytest.mark.gate
def test_linking_every_pair(release):
    # As the spec says of this baseline: 17.2, 100 and 29.4.
    every = [
        {"id": record["id"], "relations": relations([(i, "of", j) for i in range(n) for j in range(n) if i != j])}
        for record, n in zip(release, documents_of(release).sizes.tolist(), strict=True)
    ]
    found = scores(count(gold=release, system=every))
    assert [round(100 * found[f"unlabeled/{part}"], 1) for part in ("precision", "recall", "f1")] == [17.2, 100, 29.4]


# Size.


@pytest.mark.extended
def test_a_document_of_many_noun_phrases():
    n, rng = 60_000, np.random.default_rng(7)
    gold, system = (
        [(i, FEW[label], (i + step) % n) for i, step, label in zip(range(n), *drawn, strict=True)]
        for drawn in ((rng.integers(1, n, n).tolist(), rng.integers(0, 3, n).tolist()) for _ in range(2))
    )
    sides = {"gold": references([gold]), "system": rows([system[: n // 2] + gold[n // 2 :]])}
    tracemalloc.start()
    found = sum_counts(count(**sides))
    assert list(validate(**sides)) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    half = twin.counts(turned(system[: n // 2]), turned(gold[: n // 2]))
    assert found["links/right"] == half["links/right"] + n // 2
    assert found["linked/gold"] == half["linked/gold"] + n // 2
    assert peak < 2000 * n  # a matrix of all pairs would have 60,000 bytes a noun phrase, at the least


def test_the_same_columns_however_often_they_are_asked_for():
    documents = documents_of(references([[(0, "of", 1), (2, "in", 1)]]))
    assert documents_of(documents) is documents
    system = rows_of(rows([[(0, "of", 1)]]))
    first = count(gold=documents, system=system)
    assert np.array_equal(count(gold=documents, system=system).values, first.values)
    assert np.array_equal(count(gold=list(documents), system=list(system)).values, first.values)
