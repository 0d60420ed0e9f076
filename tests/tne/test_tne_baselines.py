"""TNE's baselines: by hand, as the paper prints them, and on the command line."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from shared.tne_annotated import document
from shared.tne_links import link, scores
from shared.tne_random import documents

from closeread.corpus.baselines import load_baseline, load_baselines
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import RowValidator, load_schema
from closeread.exceptions import RequestError
from closeread.tasks.tne import baselines
from closeread.tasks.tne.procedure import PROCEDURE, validate

CORPUS = load_corpus("tne")
NAMES = [
    *("title-first", "title-last", "title-random", "adj-anaphora", "adj-cataphora"),
    *("surface", "surface-extended", "combined", "all-pairs"),
]


def predict(name, records, definition=None, seed=0):
    """The rows of a baseline, with the options that it takes."""
    baseline = load_baseline("tne", name)
    chosen = {"definition": definition or "printed", "seed": seed, "fallback": "none"}
    return baseline.predict(
        records, **{option.name: chosen[option.name] for option in baseline.options}
    )


def linked(name, records, definition=None, seed=0):
    """Of every document the pairs that a baseline links."""
    rows = predict(name, records, definition, seed)
    assert [row["id"] for row in rows] == [record["id"] for record in records]
    assert {link["preposition"] for row in rows for link in row["relations"]} <= {"of"}
    pairs = [
        [(int(ln["anchor"][2:]), int(ln["complement"][2:])) for ln in row["relations"]]
        for row in rows
    ]
    assert all(found == sorted(set(found)) for found in pairs)
    return [set(found) for found in pairs]


@given(records=documents())
def test_a_random_title_is_one_of_the_title_for_the_whole_document(records):
    for record, found in zip(records, linked("title-random", records), strict=True):
        everywhere = [
            {(i, j) for i in range(len(record["nps"])) if i != j}
            for j in range(len(record["nps"]))
            if record["nps"]
            and next(np for np in record["nps"] if np["id"] == f"np{j}")["last_char"]
            <= record["text"].find("\n\n")
        ]
        assert found in (everywhere or [set()])


@given(records=documents())
def test_what_they_send_is_sound(records):
    for name in NAMES:
        rows = predict(name, records)
        assert RowValidator(load_schema("tne"), "submission").problems(rows, range(len(rows))) == []
        assert list(validate(gold=records, system=rows)) == []


@pytest.fixture
def ferry():
    """The first document of the sample; Ferry (np0) and Oldhaven (np1) are its title."""
    return list(read_gold(CORPUS, "sample").records)[:1]


def test_the_ferry_by_hand(ferry):
    others = set(range(13))
    assert linked("title-first", ferry) == [{(i, 0) for i in others - {0}}]
    assert linked("title-last", ferry) == [{(i, 1) for i in others - {1}}]
    # Gannet (np3) begins two tokens after The ferry Gannet (np4), in which it lies, and both end together: of the two,
    # what ends before them has the lower number, np3.
    before = {
        (1, 0),
        (2, 1),
        (4, 2),
        (3, 4),
        (5, 3),
        (6, 5),
        (7, 6),
        (8, 7),
        (9, 8),
        (10, 9),
        (11, 10),
        (12, 11),
    }
    after = {
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 5),
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 9),
        (9, 10),
        (10, 11),
        (11, 12),
    }
    assert linked("adj-anaphora", ferry) == [before]
    assert linked("adj-cataphora", ferry) == [after]
    # One token between: blank lines, hit, outside, on, a full stop, took, another, blamed.
    one_between = {
        (1, 2),
        (2, 4),
        (3, 5),
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 9),
        (10, 11),
        (11, 12),
    }
    assert linked("surface", ferry) == [one_between]
    assert linked("surface", ferry, "described") == [{(5, 6), (6, 7)}]
    assert linked("all-pairs", ferry) == [{(i, j) for i in others for j in others - {i}}]


def test_ten_tokens_are_near():
    record = document("d", ["x"] * 12, (), (), [(0, 0), (10, 10), (11, 11)])
    assert linked("surface-extended", [record]) == [{(0, 2)}]
    assert linked("surface-extended", [record], "described") == [{(0, 1), (1, 2)}]


def test_a_random_title_is_drawn_anew_from_another_seed(ferry):
    complements = {j for seed in range(20) for _, j in linked("title-random", ferry, seed=seed)[0]}
    assert complements == {0, 1}
    assert linked("title-random", ferry, seed=7) == linked("title-random", ferry, seed=7)


def test_links_of_a_document_have_a_limit(ferry, monkeypatch):
    (pairs,) = linked("surface", ferry)
    monkeypatch.setattr(baselines, "MAX_LINKS", len(pairs) - 1)
    with pytest.raises(
        RequestError, match=rf"{len(pairs)} links by this baseline .*at most {len(pairs) - 1}"
    ):
        linked("surface", ferry)


def test_no_documents_and_no_noun_phrases(ferry):
    empty = {**ferry[0], "nps": [], "coref": [], "np_relations": []}
    for name in NAMES:
        assert linked(name, []) == []
        assert linked(name, [empty]) == [set()]
        if name != "title-random":
            assert linked(name, [empty, *ferry, empty]) == [set(), *linked(name, ferry), set()]


DESCRIBED = {"surface": (72.2, 2.5, 4.9), "surface-extended": (27.3, 9.6, 14.3)}
"""What the text's definitions give, measured apart from this package."""


@pytest.fixture
def test_split(corpora):
    return read_gold(CORPUS).records


def unlabelled(gold, name, definition=None, seed=0):
    """Precision, recall and F1 of unlabelled links, times 100."""
    found = scores(PROCEDURE.count(gold=gold, system=predict(name, gold, definition, seed)))
    return tuple(100 * found[f"unlabeled/{part}"] for part in ("precision", "recall", "f1"))


def rounded(values):
    return tuple(round(value, 1) for value in values)


@pytest.mark.gate
def test_scores_as_described(test_split):
    assert {
        name: rounded(unlabelled(test_split, name, "described")) for name in DESCRIBED
    } == DESCRIBED
    for name in ("title-first", "adj-anaphora", "all-pairs"):
        assert unlabelled(test_split, name, "described") == unlabelled(test_split, name)


def predict_fallbacks(name, records, preposition):
    return load_baseline("tne", name).predict(records, fallback=preposition)


@settings(max_examples=20)
@given(records=documents())
def test_every_pair_is_linked_or_has_a_fallback(records):
    for name in load_baselines("tne"):
        without = load_baseline("tne", name).predict(records)
        assert all("fallback" not in row for row in without)
        rows = predict_fallbacks(name, records, "in")
        assert [row["relations"] for row in rows] == [row["relations"] for row in without]
        assert list(validate(gold=records, system=rows)) == []
        for record, row in zip(records, rows, strict=True):
            ends = [
                (one["anchor"], one["complement"]) for one in row["relations"] + row["fallback"]
            ]
            names = [np["id"] for np in record["nps"]]
            assert sorted(ends) == sorted((a, b) for a in names for b in names if a != b)
            assert {one["preposition"] for one in row["fallback"]} <= {"in"}


def test_uprep_by_hand():
    # Title-Last links np0 and np2 to np1; of the other pairs that gold links, two of three are `of` (any), and one is
    # (last), since np2 and np0 are linked by `of` and, last, by `in`.
    record = {"id": "d", "text": "a b\n\nc", "tokens": ["a", "b", "\n\n", "c"]}
    record["nps"] = [
        {
            "id": f"np{n}",
            "text": c,
            "first_char": s,
            "last_char": s + 1,
            "first_token": t,
            "last_token": t,
        }
        for n, (c, s, t) in enumerate([("a", 0, 0), ("b", 2, 1), ("c", 5, 3)])
    ]
    record["np_relations"] = [
        link(0, "on", 1), link(1, "of", 2), link(2, "of", 0), link(2, "in", 0), link(1, "by", 0),
    ]  # fmt: skip
    rows = predict_fallbacks("title-last", [record], "of")
    assert rows == [
        {
            "id": "d",
            "relations": [link(0, "of", 1), link(2, "of", 1)],
            "fallback": [link(0, "of", 2), link(1, "of", 0), link(1, "of", 2), link(2, "of", 0)],
        }
    ]
    for uprep, expected in (("any", Fraction(2, 3)), ("last", Fraction(1, 3))):
        table = PROCEDURE.count(gold=[record], system=rows, uprep=uprep)
        assert scores(table)["uprep"] == float(expected)
    by = PROCEDURE.count(gold=[record], system=predict_fallbacks("title-last", [record], "by"))
    assert scores(by)["uprep"] == float(Fraction(1, 3))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["surface", "--definition", "describd"],
            "'describd' is not one of 'printed', 'described'; did you mean 'described'?",
        ),
        (["surface", "--spacy-model", "x"], "No such option"),
        (["title-first", "--definition", "printed"], "No such option"),
        (["title-last", "--seed", "1"], "No such option"),
        (["title-random", "--seed", "-1"], "'-1' is not valid (expected a whole number)."),
        (
            ["surfaces"],
            f"no such baseline of tne: 'surfaces'. Did you mean 'surface'? (choose from: {', '.join(NAMES)})",
        ),
    ],
)
def test_unknown_options_and_baselines_are_refused(run, tmp_path, arguments, problem):
    target = tmp_path / "said.jsonl"
    done = run("baseline", "tne", *arguments, "--config", "sample", "-o", target)
    assert done.exit_code == 2
    assert problem in done.stderr
    assert not target.exists()
