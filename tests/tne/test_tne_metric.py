"""TNE's scores as an evaluate module: the same numbers as the command line, from anything that holds rows."""

import pytest
from hf import conftest
from shared.tne_links import ENDS, link

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.exceptions import SubmissionError
from closeread.hf.export import export

offline = conftest.offline
MARKS = [
    pytest.mark.usefixtures("offline"),
    pytest.mark.filterwarnings("ignore:.*known odd:closeread.CloseReadWarning"),
    pytest.mark.filterwarnings("ignore:2 linked noun phrases are times:closeread.CloseReadWarning"),
]
pytestmark = [pytest.mark.gate, *MARKS]

GOLD = list(read_gold(load_corpus("tne"), "sample").records)


def system():
    """Of gold every other link, every third of these by `of`; and something to fall back on for the others."""
    rows = []
    for record in GOLD:
        links = [{name: one[name] for name in ENDS} for one in record["np_relations"]]
        said = [
            one | ({"preposition": "of"} if i % 3 == 0 else {}) for i, one in enumerate(links[::2])
        ]
        pairs = dict.fromkeys((one["anchor"], one["complement"]) for one in links[1::2])
        back = [
            {"anchor": anchor, "complement": complement, "preposition": "of"}
            for anchor, complement in pairs
        ]
        rows.append(
            {
                "id": record["id"],
                "relations": [dict(t) for t in dict.fromkeys(tuple(s.items()) for s in said)],
            }
        )
        rows[-1]["fallback"] = back
    return rows


SYSTEM = system()


@pytest.fixture
def tne_links(offline, evaluate):
    return evaluate.load("tne_links")


def shapes(rows):
    """The sample's rows in everything that people hold rows in."""
    yield rows
    yield list(rows)
    yield rows[:]
    yield rows.with_format("arrow")
    yield rows.with_format("pandas")
    yield rows.to_pandas()
    yield rows.data.table
    yield rows.to_iterable_dataset()
    yield iter(GOLD)
    yield tuple(GOLD)


def test_any_table_as_references(tne_links, tmp_path, datasets):
    by = ("domain", "expressed")
    wanted = tne_links.report(predictions=SYSTEM, references=GOLD, by=by, resampling=Resampling(0))
    rows = closeread.load_dataset("tne", "sample", split="test")
    assert [record["forum"] for record in rows] == [record["forum"] for record in GOLD]
    for references in shapes(rows):
        found = tne_links.report(
            predictions=SYSTEM, references=references, by=by, resampling=Resampling(0)
        )
        assert (found.total, found.slices) == (wanted.total, wanted.slices), type(references)
        assert found.provenance.signature == wanted.provenance.signature, type(references)
    export("tne", tmp_path / "repository", configs=["sample"])
    plain = datasets.load_dataset(str(tmp_path / "repository"), "sample", split="test")
    assert tne_links.compute(predictions=SYSTEM, references=plain) == tne_links.compute(
        predictions=SYSTEM, references=GOLD
    )


def bare(*absent):
    """The sample's records with less in them: null, or taken away."""
    nulls = [{**record, **dict.fromkeys(absent)} for record in GOLD]
    return nulls, [
        {name: value for name, value in record.items() if name not in absent} for record in GOLD
    ]


@pytest.mark.parametrize(
    "absent",
    [
        ("metadata",),
        ("text", "tokens"),
        ("nps",),
        ("coref",),
        ("domain", "forum"),
        ("text", "tokens", "nps", "coref", "metadata", "domain", "forum"),
    ],
)
def test_references_with_less_in_them(tne_links, absent, datasets):
    wanted = tne_links.compute(predictions=SYSTEM, references=GOLD)
    nulls, without = bare(*absent)
    for references in (nulls, without, datasets.Dataset.from_list(without)):
        assert tne_links.compute(predictions=SYSTEM, references=references) == wanted
    signatures = [
        tne_links.report(
            predictions=SYSTEM, references=references, resampling=Resampling(0)
        ).provenance.signature
        for references in (nulls, without)
    ]
    assert signatures[0] == signatures[1]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"relations": [link(0, "of", 13)]},
         "row 0: relations[0]: complement 'np13' does not exist (expected one of its 13 noun phrases, np0 to np12)"),
        ({"relations": [link(0, "of", 0)]}, "row 0: relations[0]: np0 is linked to itself (expected two noun phrases)"),
        ({"relations": [link(0, "of", 1)] * 2}, "row 0: relations[1]: np0 and np1 are already linked by 'of'"),
        ({"fallback": [link(0, "of", 1), link(0, "in", 1)]},
         "row 0: fallback[1]: np0 and np1 already have a fallback (expected at most one)"),
        ({"id": "s2"}, "row 0: id is 's2' (expected 's1', as in the gold)"),
        ({"relations": None}, "row 0: relations: expected a list, found null"),
        ({"relations": [{"anchor": "np0", "complement": "np1", "preposition": None}]},
         "row 0: relations[0].preposition: null is not one of 'of', "),
    ],
)  # fmt: skip
def test_bad_predictions(tne_links, row, problem):
    rows = [{**SYSTEM[0], **row}, *SYSTEM[1:]]
    for call in (tne_links.compute, tne_links.report):
        with pytest.raises(SubmissionError) as caught:
            call(predictions=rows, references=GOLD)
        assert caught.value.source == "predictions"
        assert caught.value.problems[0].text.startswith(problem)


def test_arrays_of_the_leaderboard_are_pointed_to_their_conversion(tne_links):
    message = (
        "predictions: row 1: the prediction is a leaderboard array, predicted_prepositions "
        "(expected id and relations); convert the file first: closeread convert tne FILE --to jsonl"
    )
    for call in (tne_links.compute, tne_links.report):
        with pytest.raises(SubmissionError) as caught:
            call(
                predictions=[SYSTEM[0], {"predicted_prepositions": [0]}, *SYSTEM[2:]],
                references=GOLD,
            )
        assert str(caught.value) == message


def test_the_unlabelled_files_are_no_references(tne_links):
    rows = [
        {name: value for name, value in record.items() if name != "np_relations"} for record in GOLD
    ]
    with pytest.raises(SubmissionError, match="row 0: field 'np_relations' is missing"):
        tne_links.compute(predictions=SYSTEM, references=rows)
