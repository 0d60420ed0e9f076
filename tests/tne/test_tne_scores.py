"""TNE's scores: hand cases, an exact twin, breakdowns, and the release."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared import json_lines
from shared.count_tables import sum_counts
from shared.tne_documents import DOCUMENTS, DOMAINS, FEW, UPREP, inputs, phrase, references, rows
from shared.tne_links import gold_rows, scores
from twins import links as twin

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.metrics import by_name
from closeread.exceptions import RequestError
from closeread.tasks.tne.columns import (
    COUNTS,
    MAX_DOCUMENTS,
    N_LABELS,
    PHRASE_BITS,
    PREPOSITIONS,
    confusion,
    count_by_group,
    document_of,
    documents_of,
    group_labels,
    pairs,
    phrases_of,
    tallies,
    triplets,
)
from closeread.tasks.tne.procedure import BREAKDOWNS, PROCEDURE, are_joined, count

CASES = json.loads((Path(__file__).parent.parent / "cases" / "tne.json").read_text("utf-8"))


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
        assert found[name] == (None if score is None else pytest.approx(float(score), abs=1e-12)), (
            name
        )


@given(DOCUMENTS, UPREP)
def test_parts_are_the_twins_and_sum_to_the_whole(documents, uprep):
    table = count(**inputs(documents), breakdowns=["preposition"], uprep=uprep)
    parts = table.slices("preposition")
    for preposition in FEW:
        expected = summed(
            expected_counts(documents, uprep, kept=lambda _, said, p=preposition: said == p)
        )
        found = (
            sum_counts(parts[preposition]) if preposition in parts else dict.fromkeys(expected, 0)
        )
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
        expected = [
            twin.counts(turned(s), turned(g), turned(f) if told else None, uprep)
            for g, s, f in inside
        ]
        assert sum_counts(part) == summed(expected)


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
    documents = documents_of(
        [{"id": "d", "text": text, "nps": phrases}, {"id": "e", "text": "", "nps": []}]
    )
    n = len(phrases)
    every = np.array([(i, j) for i in range(n) for j in range(n) if i != j], np.int64)
    key = pairs(np.zeros(len(every), np.int64), *every.T)
    expected = [
        (i, j)
        for i, j in every.tolist()
        if any(
            re.match(
                rf" {re.escape(said)} {re.escape(phrases[j]['text'])}(?![^\W_])",
                text[phrases[i]["last_char"] :],
            )
            for said in (*PREPOSITIONS[1:], "member of", "members of")
        )
    ]
    assert [
        pair
        for pair, is_joined in zip(every.tolist(), are_joined(documents, key), strict=True)
        if is_joined
    ] == [list(pair) for pair in expected]


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


N_PHRASES = 4
PHRASE = st.integers(0, N_PHRASES - 1)
TRIPLE = st.tuples(PHRASE, PHRASE, st.integers(1, 3) | st.sampled_from([1, N_LABELS - 1])).filter(
    lambda x: x[0] != x[1]
)
SIDE = st.lists(TRIPLE, max_size=12)
TRIPLES = st.lists(st.tuples(SIDE, SIDE, SIDE), max_size=4)


def arrays(sides):
    """The sides of documents, which are lists of links, as the kernels take them."""
    rows = [(number, *link) for number, links in enumerate(sides) for link in links]
    document, anchor, complement, label = np.array(rows, np.int64).reshape(-1, 4).T
    return group_labels(pairs(document, anchor, complement), label)


def totals(values):
    return {
        name: int(value) for name, value in zip(COUNTS, np.asarray(values).sum(axis=0), strict=True)
    }


NUMBERS = st.tuples(st.integers(0, MAX_DOCUMENTS - 1), *[st.integers(0, 2**PHRASE_BITS - 1)] * 2)


def packed(numbers):
    return pairs(*(np.array([number]) for number in numbers))


@given(NUMBERS, NUMBERS, st.integers(0, N_LABELS - 1))
@example((MAX_DOCUMENTS - 1, *[2**PHRASE_BITS - 1] * 2), (0, 0, 0), N_LABELS - 1)
def test_a_pair_is_one_integer(one, other, label):
    pair = packed(one)
    assert (document_of(pair).item(), *(phrase.item() for phrase in phrases_of(pair))) == one
    assert (packed(other) < pair) == (other < one)
    triplet = triplets(pair, np.array([label]))
    assert triplet >= 0
    assert (triplet < triplets(packed(other), np.array([N_LABELS - 1]))) == (
        (*one, label) < (*other, N_LABELS - 1)
    )


@given(TRIPLES)
def test_confusion_is_the_twins(documents):
    system, gold = (arrays([document[side] for document in documents]) for side in (0, 1))
    n_pairs = len(documents) * N_PHRASES * (N_PHRASES - 1)
    expected = np.zeros((N_LABELS, N_LABELS), np.int64)
    for ours, theirs, _ in documents:
        for (row, column), n in twin.confusion(ours, theirs, range(N_PHRASES)).items():
            expected[row or 0, column or 0] += n
    matrix = confusion(system, gold, n_pairs)
    assert np.array_equal(matrix, expected)
    # All ordered pairs are in it, and what is counted can be read off its margins.
    counted = totals(count_by_group(tallies(system, gold), len(documents))[0])
    assert matrix.sum() == n_pairs
    assert matrix[1:, 1:].trace() == counted["links/right"]
    assert matrix[:, 1:].sum() == counted["links/system"]
    assert matrix[1:].sum() == counted["links/gold"]
    assert matrix[1:, 1:].sum() == counted["linked/system"] == counted["linked/gold"]


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
        for name in read_gold(load_corpus("tne"), "unlabeled").records.column("id")
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
