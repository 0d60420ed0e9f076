"""TNE's scores: hand cases, an exact twin, what must hold of any input, and the release."""

import importlib.util
import json
import re
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.corpora.gold import load_corpus, read_gold
from closeread.counts.table import merge
from closeread.errors import RequestError
from closeread.tasks.tne.columns import PREPOSITIONS, documents_of
from closeread.tasks.tne.kernels.links import pairs
from closeread.tasks.tne.procedure import EXPRESSED, PROCEDURE, count, joined, problems

HERE = Path(__file__).parent
CASES = json.loads((HERE.parent / "cases" / "tne.json").read_text("utf-8"))
TNE = load_corpus("tne")


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


twin = loaded("links_twin")


def relations(links):
    """Links given as [anchor's number, preposition, complement's number]; None for none."""
    if links is None:
        return None
    return [
        {"anchor": f"np{anchor}", "complement": f"np{complement}", "preposition": preposition}
        for anchor, preposition, complement in links
    ]


def references(documents, texts=(), phrases=()):
    """Gold records; with texts and the noun phrases in them, of which each stands at its first place."""
    records = [{"id": f"d{i}", "np_relations": relations(links)} for i, links in enumerate(documents)]
    for record, text, of_document in zip(records, texts, phrases, strict=False):
        record["text"] = text
        record["nps"] = [phrase(i, words, text.index(words)) for i, words in enumerate(of_document)]
    return records


def phrase(number, words, start):
    place = {"first_char": start, "last_char": start + len(words), "first_token": 0, "last_token": 0}
    return {"id": f"np{number}", "text": words, **place}


def rows(documents, fallbacks=None):
    """What a system sends; None for a document is no row."""
    fallbacks = fallbacks or [None] * len(documents)
    return [
        links
        if links is None
        else {"id": f"d{i}", "relations": relations(links)} | ({} if back is None else {"fallback": relations(back)})
        for i, (links, back) in enumerate(zip(documents, fallbacks, strict=True))
    ]


def scores(table):
    totals = table.values.sum(axis=0)
    found = {metric.name: float(metric.score(totals, table.names)) for metric in PROCEDURE.metrics}
    return {name: None if np.isnan(score) else score for name, score in found.items()}


def totals_of(table):
    return dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))


# By hand.


def fractions(expected):
    """The scores of a case, by the names of a report."""
    for name, score in expected.items():
        if isinstance(score, list):
            yield from zip((f"{name}/{part}" for part in ("precision", "recall", "f1")), score, strict=True)
        else:
            yield name, score


@pytest.mark.parametrize("case", CASES["scores"], ids=lambda case: case["name"])
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
        totals = table.values.sum(axis=0)
        decided = [metric.name for metric in PROCEDURE.metrics if metric.decided(totals, table.names)]
        assert decided == case["decided"]


@pytest.mark.parametrize("case", CASES["parts"], ids=lambda case: case["name"])
def test_parts_by_hand(case):
    gold = references(case["gold"], case.get("texts", ()), case.get("phrases", ()))
    table = count(gold=gold, system=rows(case["system"], case.get("fallback")))
    parts = table.slices(case["by"])
    for value, expected in case["expected"].items():
        assert {name: n for name, n in totals_of(parts[value]).items() if n} == expected, value
    assert set(parts) == set(case["expected"])


# Beside the twin.

FEW = ("of", "in", "member(s) of")
PHRASE = st.integers(0, 3)
LINK = st.tuples(PHRASE, st.sampled_from(FEW), PHRASE).filter(lambda link: link[0] != link[2])
SIDE = st.lists(LINK, max_size=8)
DOCUMENT = st.tuples(SIDE, SIDE, st.none() | SIDE)
DOCUMENTS = st.lists(DOCUMENT, max_size=4)
UPREP = st.sampled_from(["any", "last"])
DOMAINS = ("news", "books", None)


def turned(links):
    """Links as the twin has them."""
    return [(anchor, complement, preposition) for anchor, preposition, complement in links or ()]


def inputs(documents):
    """Gold and system of documents, each a gold side, a system side and a fallback."""
    gold = references([document[0] for document in documents])
    for i, record in enumerate(gold):
        record["domain"] = DOMAINS[i % 3]
    return {"gold": gold, "system": rows(*([document[side] for document in documents] for side in (1, 2)))}


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
    table = count(**inputs(documents), uprep=uprep)
    parts = table.slices("preposition")
    for preposition in FEW:
        expected = summed(expected_counts(documents, uprep, kept=lambda _, said, p=preposition: said == p))
        found = totals_of(parts[preposition]) if preposition in parts else dict.fromkeys(expected, 0)
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
        assert totals_of(part) == summed(expected)


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
    found = joined(key, documents)
    assert sorted(found.tolist()) == sorted(
        pairs(np.array([0]), np.array([i]), np.array([j])).item() for i, j in expected
    )


# What must hold of any input.


@given(st.lists(SIDE, min_size=1, max_size=4))
def test_perfect_is_one(sides):
    gold, system = references(sides), rows(sides)
    found = scores(count(gold=gold, system=system))
    linked = any(sides)
    assert {score for name, score in found.items() if "/" in name} == {float(linked)}
    assert found["iprep"] == (1 if linked else None)
    assert found["uprep"] is None


@given(DOCUMENTS, UPREP)
def test_identities(documents, uprep):
    found = scores(count(**inputs(documents), uprep=uprep))
    iprep = found["iprep"] or 0
    assert found["links/recall"] == pytest.approx(found["unlabeled/recall"] * iprep, abs=1e-12)
    assert found["links/precision"] == pytest.approx(found["unlabeled/precision"] * iprep, abs=1e-12)
    assert all(score is None or 0 <= score <= 1 for score in found.values())
    for family in ("links", "unlabeled", "triplets"):
        precision, recall, f1 = (found[f"{family}/{part}"] for part in ("precision", "recall", "f1"))
        assert min(precision, recall) - 1e-12 <= f1 <= max(precision, recall) + 1e-12


@given(DOCUMENTS, UPREP, st.data())
def test_names_and_order_of_documents_do_not_matter(documents, uprep, data):
    given_inputs = inputs(documents)
    order = data.draw(st.permutations(range(len(documents))))
    other = {side: [dict(records[i], id=f"x{i}") for i in order] for side, records in given_inputs.items()}
    table, back = count(**given_inputs, uprep=uprep), count(**other, uprep=uprep)
    assert np.array_equal(back.values, table.values[list(order)])
    assert list(back.units) == [f"x{i}" for i in order]


@given(DOCUMENTS, UPREP)
def test_counts_of_a_union_are_those_of_its_parts(documents, uprep):
    # With a fallback in each: a document without one alone says nothing of UPrep, beside others it is wrong.
    told = [(gold, system, [*(back or []), (0, "of", 3)]) for gold, system, back in documents]
    whole = inputs(told)
    table = count(**whole, uprep=uprep)
    parts = [count(**{side: [records[i]] for side, records in whole.items()}, uprep=uprep) for i in range(len(told))]
    if parts:
        together = merge(parts)
        assert (together.names, list(together.units)) == (table.names, list(table.units))
        assert np.array_equal(together.values, table.values)


@given(DOCUMENTS, UPREP)
def test_a_fallback_changes_uprep_only(documents, uprep):
    with_it = scores(count(**inputs(documents), uprep=uprep))
    without = scores(count(**inputs([(gold, system, None) for gold, system, _ in documents]), uprep=uprep))
    assert without["uprep"] is None
    assert {**with_it, "uprep": None} == without


@given(DOCUMENTS, UPREP)
def test_a_fallback_changes_uprep_only_of_every_preposition(documents, uprep):
    with_it = count(**inputs(documents), uprep=uprep).slices("preposition")
    without = count(**inputs([(gold, system, None) for gold, system, _ in documents]), uprep=uprep).slices(
        "preposition"
    )
    for name, table in without.items():
        assert {**scores(with_it[name]), "uprep": None} == scores(table)
    # What is fallen back on may be a preposition of gold that no link counts for; nothing but UPrep has it.
    for name in with_it.keys() - without.keys():
        assert {family for family, n in totals_of(with_it[name]).items() if n} <= {"fallback/right", "fallback/gold"}


@given(DOCUMENTS, st.data())
def test_missing_documents(documents, data):
    present = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    sides = inputs(documents)
    system = [row if there else None for row, there in zip(sides["system"], present, strict=True)]
    empty = count(gold=sides["gold"], system=system, missing="empty")
    emptied = [row or {"id": record["id"], "relations": []} for row, record in zip(system, sides["gold"], strict=True)]
    assert np.array_equal(empty.values, count(gold=sides["gold"], system=emptied).values)
    skipped = count(gold=sides["gold"], system=system, missing="skip")
    assert list(skipped.units) == [record["id"] for record, there in zip(sides["gold"], present, strict=True) if there]
    assert np.array_equal(skipped.values, empty.values[np.array(present, np.bool_)])
    parts = skipped.slices("preposition").values()
    for name, whole in totals_of(skipped).items():
        assert sum(totals_of(part)[name] for part in parts) == whole
    if all(present):
        assert np.array_equal(count(gold=sides["gold"], system=system).values, empty.values)
    else:
        absent = present.count(False)
        with pytest.raises(ValueError, match=f"{absent} of {len(present)} documents have no prediction"):
            count(gold=sides["gold"], system=system)


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
    table = count(gold=gold, system=rows([[(0, "of", 1)]]))
    assert table.fields == {"domain": ["unknown"], "forum": ["unknown"]}
    with pytest.raises(RequestError, match=r"no field 'expressed' to slice by \(there are: domain, forum, preposition"):
        table.slices("expressed")


def test_the_options():
    assert PROCEDURE.resolve_options({}) == {"uprep": "any", "missing": "error"}
    with pytest.raises(RequestError, match="option uprep is 'first'; needed: one of any, last"):
        PROCEDURE.resolve_options({"uprep": "first"})
    assert PROCEDURE.resampling_unit == PROCEDURE.unit == "document"


# Rows that no schema refuses.


@pytest.mark.parametrize(
    ("name", "row", "found"),
    [
        ("a right one", {"id": "d0", "relations": relations([(0, "of", 1), (0, "in", 1), (1, "of", 0)])}, []),
        ("another's", {"id": "d1", "relations": []}, ["id is 'd1'; needed: 'd0', as in the gold"]),
        (
            "a noun phrase that is none",
            {"id": "d0", "relations": relations([(0, "of", 4), (9, "of", 1)])},
            [
                "relations[1]: anchor 'np9' does not exist; needed: one of its 4 noun phrases, np0 to np3",
                "relations[0]: complement 'np4' does not exist; needed: one of its 4 noun phrases, np0 to np3",
            ],
        ),
        (
            "no id of a noun phrase",
            {"id": "d0", "relations": [{"anchor": "np01", "complement": "x\x1b", "preposition": "of"}]},
            [
                "relations[0]: anchor 'np01' does not exist; needed: one of its 4 noun phrases, np0 to np3",
                r"relations[0]: complement 'x\x1b' does not exist; needed: one of its 4 noun phrases, np0 to np3",
            ],
        ),
        (
            "the same again, which does not exist",
            {"id": "d0", "relations": [{"anchor": "x", "complement": "np1", "preposition": "of"}] * 2},
            [
                "relations[0]: anchor 'x' does not exist; needed: one of its 4 noun phrases, np0 to np3",
                "relations[1]: anchor 'x' does not exist; needed: one of its 4 noun phrases, np0 to np3",
            ],
        ),
        (
            "a link to itself",
            {"id": "d0", "relations": relations([(1, "of", 0), (2, "of", 2)])},
            ["relations[1]: np2 is linked to itself; needed: two noun phrases"],
        ),
        (
            "a link again",
            {"id": "d0", "relations": relations([(0, "of", 1), (0, "in", 1), (0, "of", 1), (0, "of", 1)])},
            [
                "relations[2]: the link of np0 and np1 by 'of' is given twice",
                "relations[3]: the link of np0 and np1 by 'of' is given twice",
            ],
        ),
        (
            "two fallbacks of a pair",
            {"id": "d0", "relations": [], "fallback": relations([(0, "of", 1), (1, "of", 0), (0, "in", 1)])},
            ["fallback[2]: np0 and np1 have a fallback already; needed: one"],
        ),
        (
            "everything of a fallback",
            {"id": "d0", "relations": [], "fallback": relations([(7, "of", 1), (1, "of", 1)])},
            [
                "fallback[0]: anchor 'np7' does not exist; needed: one of its 4 noun phrases, np0 to np3",
                "fallback[1]: np1 is linked to itself; needed: two noun phrases",
            ],
        ),
    ],
)
def test_problems(name, row, found):
    gold = references([[(0, "of", 1)]], ["A B C D"], [["A", "B", "C", "D"]])
    other = references([[(0, "of", 1)]])[0] | {"id": "z"}
    assert list(problems(gold=[other, *gold], system=[{"id": "z", "relations": []}, row])) == [
        ("system", 1, what) for what in found
    ]
    assert list(problems(gold=[*gold, other], system=[row, None])) == [("system", 0, what) for what in found]


def test_problems_of_documents_with_few_noun_phrases():
    phrases = [phrase(0, "the roof", 0)]
    gold = [{"id": f"d{n}", "np_relations": [], "nps": phrases[:n]} for n in range(2)]
    system = rows([[(0, "of", 1)], [(0, "of", 1)]])
    assert [(index, what) for _, index, what in problems(gold=gold, system=system)] == [
        (0, "relations[0]: anchor 'np0' does not exist; needed: none, since it has no noun phrases"),
        (0, "relations[0]: complement 'np1' does not exist; needed: none, since it has no noun phrases"),
        (1, "relations[0]: complement 'np1' does not exist; needed: np0, its only noun phrase"),
    ]


def test_problems_where_the_noun_phrases_are_not_known():
    gold = references([[(0, "of", 1)]])
    assert list(problems(gold=gold, system=rows([[(90, "of", 99999)]]))) == []
    bad = [{"id": "d0", "relations": [{"anchor": "it", "complement": "np0", "preposition": "of"}]}]
    found = "relations[0]: anchor 'it' does not exist; needed: np0, np1 or so on"
    assert list(problems(gold=gold, system=bad)) == [("system", 0, found)]


def test_a_document_without_noun_phrases():
    gold = [{"id": "d0", "np_relations": [], "nps": []}]
    found = list(problems(gold=gold, system=rows([[(0, "of", 1)]])))
    assert [what for _, _, what in found] == [
        "relations[0]: anchor 'np0' does not exist; needed: none, since it has no noun phrases",
        "relations[0]: complement 'np1' does not exist; needed: none, since it has no noun phrases",
    ]


# The release.


@pytest.fixture
def release(corpora):
    return read_gold(TNE).records


def as_rows(records):
    """The gold links as a system sends them, each once."""
    names = ("anchor", "complement", "preposition")
    links = [dict.fromkeys(tuple(link[n] for n in names) for link in record["np_relations"]) for record in records]
    return [
        {"id": record["id"], "relations": [dict(zip(names, link, strict=True)) for link in of_document]}
        for record, of_document in zip(records, links, strict=True)
    ]


def test_the_release_against_itself(release):
    table = count(gold=release, system=as_rows(release))
    found = totals_of(table)
    # The figures of the official evaluator, and of the paper's data without duplicates.
    assert (found["links/gold"], found["triplets/gold"]) == (106_201, 120_196)
    assert sum(len(record["np_relations"]) for record in release) == 120_198
    assert {score for name, score in scores(table).items() if name != "uprep"} == {1}
    explicit = table.slices("expressed")
    assert list(explicit) == list(EXPRESSED)
    for name, whole in found.items():
        for field in ("expressed", "preposition"):
            assert sum(totals_of(part)[name] for part in table.slices(field).values()) == whole
    assert len(table.slices("preposition")) == 24


@pytest.mark.parametrize(("uprep", "share"), [("any", 27.0), ("last", 23.6)])
def test_falling_back_on_of(release, uprep, share):
    # Nothing is linked, and every gold pair falls back on `of`: the paper prints 23.5 for that.
    fallen = [
        {"id": row["id"], "relations": [], "fallback": [
            {"anchor": anchor, "complement": complement, "preposition": "of"}
            for anchor, complement in dict.fromkeys((link["anchor"], link["complement"]) for link in row["relations"])
        ]}
        for row in as_rows(release)
    ]  # fmt: skip
    table = count(gold=release, system=fallen, uprep=uprep)
    assert totals_of(table)["fallback/gold"] == 106_201
    assert round(100 * scores(table)["uprep"], 1) == share


def test_linking_every_pair(release):
    # As the spec says of this baseline: 17.2, 100 and 29.4.
    every = [
        {"id": record["id"], "relations": relations([(i, "of", j) for i in range(n) for j in range(n) if i != j])}
        for record, n in zip(release, documents_of(release).sizes.tolist(), strict=True)
    ]
    found = scores(count(gold=release, system=every))
    assert [round(100 * found[f"unlabeled/{part}"], 1) for part in ("precision", "recall", "f1")] == [17.2, 100, 29.4]


# Size.


def test_a_document_of_many_noun_phrases():
    n, rng = 60_000, np.random.default_rng(7)
    gold, system = (
        [(i, FEW[label], (i + step) % n) for i, step, label in zip(range(n), *drawn, strict=True)]
        for drawn in ((rng.integers(1, n, n).tolist(), rng.integers(0, 3, n).tolist()) for _ in range(2))
    )
    sides = {"gold": references([gold]), "system": rows([system[: n // 2] + gold[n // 2 :]])}
    tracemalloc.start()
    found = totals_of(count(**sides))
    assert list(problems(**sides)) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    half = twin.counts(turned(system[: n // 2]), turned(gold[: n // 2]))
    assert found["links/right"] == half["links/right"] + n // 2
    assert found["linked/gold"] == half["linked/gold"] + n // 2
    assert peak < 2000 * n  # a matrix of all pairs would have 60,000 bytes a noun phrase, at the least


def test_the_same_columns_however_often_they_are_asked_for():
    documents = documents_of(references([[(0, "of", 1), (2, "in", 1)]]))
    assert documents_of(documents) is documents
    system = PROCEDURE.rows(rows([[(0, "of", 1)]]))
    first = count(gold=documents, system=system)
    assert np.array_equal(count(gold=documents, system=system).values, first.values)
    assert np.array_equal(count(gold=list(documents), system=list(system)).values, first.values)
