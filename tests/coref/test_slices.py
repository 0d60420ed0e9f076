"""Scores by fields of mentions: hand cases, sums, and what can't be divided."""

from fractions import Fraction

import numpy as np
import pytest
from shared.coreference_tables import make_documents, spread

from closeread.exceptions import RequestError
from closeread.tasks.coref.metrics.slices import METRICS, find_lacking
from closeread.tasks.coref.procedure import PROCEDURE

MOOSAVI_AND_STRUBE = ["abc", "defg"], ["ab", "cd", "fghi"]


def count(field, key, response, pos=None, **options):
    """Count the slices of two sides, each the documents' clusters of letters."""
    if pos is not None:
        pos = {(number, token): tag for number in range(len(key)) for token, tag in enumerate(pos)}
    sides = [
        make_documents(list(map(spread, side)), pos=pos, empty=set()) for side in (key, response)
    ]
    return PROCEDURE.count(gold=sides[0], system=sides[1], breakdowns=[field], **options)


def score(table):
    """Score a slice: precision, recall and F1 of every metric that it has."""
    metrics = [metric for metric in PROCEDURE.metrics if metric.is_defined(table.names)]
    scores = table.scores(metrics)
    return {
        name: [scores[f"{name}/{part}"] for part in ("precision", "recall", "f1")]
        for name in METRICS
    }


def of_fractions(**expected):
    """Return precision, recall and F1 from precision and recall."""
    scores = {}
    for name, pair in expected.items():
        precision, recall = map(Fraction, pair)
        total = precision + recall
        scores[name] = pytest.approx(
            [float(x) for x in (precision, recall, 2 * precision * recall / (total or 1))]
        )
    return scores


def test_the_size_of_the_entity():
    """The response has two entities of two mentions; all other entities have three or four, on both sides."""
    slices = count("entity_size", *([side] for side in MOOSAVI_AND_STRUBE)).slices("entity_size")
    assert list(slices) == ["2", "3-4"]
    # Of the key, nothing has this size: 0/0.
    assert score(slices["2"]) == of_fractions(
        mentions=(1, 0), muc=("1/2", 0), b3=("3/4", 0), lea=("1/2", 0)
    )
    # 5/12 and 5/21 are B³ and LEA recall of the paper, whose key has no other entities.
    assert score(slices["3-4"]) == of_fractions(
        mentions=("1/2", "6/7"), muc=("1/3", "2/5"), b3=("1/4", "5/12"), lea=("1/6", "5/21")
    )


def test_the_type_of_the_mention():
    """a and f are pronouns, b and c names, all others nouns."""
    tags = ["PRON", "PROPN", "PROPN", "NOUN", "NOUN", "PRON", "NOUN", "NOUN", "NOUN"]
    slices = count("mention_type", *([side] for side in MOOSAVI_AND_STRUBE), pos=tags).slices(
        "mention_type"
    )
    assert list(slices) == ["pronoun", "proper noun", "common noun"]
    # Pronouns: a and f, the f of the key being resolved to neither d nor e.
    assert score(slices["pronoun"]) == of_fractions(
        mentions=(1, 1), muc=(0, 0), b3=("3/4", "7/12"), lea=("2/3", "5/12")
    )
    # b is linked to a on both sides; c to b by the key, to nothing before it by the response.
    assert score(slices["proper noun"]) == of_fractions(
        mentions=(1, 1), muc=(1, "1/2"), b3=("3/4", "1/2"), lea=("1/2", "1/4")
    )


def test_the_distance_to_the_antecedent():
    """The key links b to a; the response links c to a and b to nothing, and has a second entity."""
    slices = count("distance", [["ab", "cz"]], [["ac", "bz"]]).slices("distance")
    assert list(slices) == ["first mention", "0-9", "10-29"]
    # a and c begin entities of the key, a and b those of the response.
    half = of_fractions(mentions=(1, 1), muc=(0, 0), b3=("1/2", "1/2"), lea=(0, 0))
    assert {name: score(table) for name, table in slices.items()} == dict.fromkeys(slices, half)
    assert slices["0-9"].values.sum() > 0


def test_zeros():
    key, response = (
        make_documents([[[[0, 0], [3, 3], [5, 5]]]], empty={(0, 3), (0, 5)}),
        make_documents([[[[0, 0], [3, 3]], [[5, 5]]]], empty={(0, 3), (0, 5)}),
    )
    slices = PROCEDURE.count(gold=key, system=response, breakdowns=["zero"]).slices("zero")
    # Both zeros are anaphors of the key; the response resolves one and has no other.
    assert score(slices["zero"]) == of_fractions(
        mentions=(1, 1), muc=(1, "1/2"), b3=(1, "1/2"), lea=("1/2", "1/4")
    )
    assert score(slices["overt"]) == of_fractions(
        mentions=(1, 1), muc=(0, 0), b3=(1, "2/3"), lea=(1, "1/2")
    )


def test_documents_without_a_response_are_left_out():
    key = make_documents([spread(["ab"]), spread(["cd"])])
    whole = PROCEDURE.count(gold=key, system=[None, spread(["cd"])], breakdowns=["entity_size"])
    some = PROCEDURE.count(
        gold=key, system=[None, spread(["cd"])], breakdowns=["entity_size"], missing="skip"
    )
    assert score(whole.slices("entity_size")["2"]) == of_fractions(
        mentions=(1, "1/2"), muc=(1, "1/2"), b3=(1, "1/2"), lea=(1, "1/2")
    )
    assert score(some.slices("entity_size")["2"]) == of_fractions(
        mentions=(1, 1), muc=(1, 1), b3=(1, 1), lea=(1, 1)
    )


@pytest.mark.parametrize(
    ("field", "sides", "options", "message"),
    [
        (
            "mention_type",
            [["ab"]],
            {},
            "mention_type needs parts of speech, as CorefUD files have them, but the key has none",
        ),
        (
            "distance",
            [["ab"]],
            {"average": "documents"},
            "slices by distance are parts of documents, whose scores can't be averaged; use average='micro'",
        ),
        (
            "entity_size",
            [["ab", "bc"]],
            {"duplicates": "reference"},
            "entity_size needs every mention in one entity, but the key repeats mentions; use duplicates='first'",
        ),
    ],
)
def test_what_can_not_be_divided(field, sides, options, message):
    with pytest.raises(RequestError) as error:
        count(field, sides, sides, **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"matching": "minimum"},
            "entity_size needs mentions that match at most one, as minimum spans need not; use another matching=",
        ),
        (
            {"split_antecedents": "score"},
            "slices by entity_size have no split antecedents; use split_antecedents='ignore'",
        ),
    ],
)
def test_options_that_slices_do_not_follow(options, message):
    assert find_lacking([], [], PROCEDURE.resolve_options(options), "entity_size") == message


def test_without_heads_nothing_is_known_of_zeros():
    with pytest.raises(
        RequestError, match=r"zero needs heads of mentions .*, but the key has none"
    ):
        PROCEDURE.count(gold=[spread(["ab"])], system=[spread(["ab"])], breakdowns=["zero"])


def test_a_side_without_mentions_lacks_nothing():
    key = make_documents([spread(["ab"])], pos={(0, 0): "PRON", (0, 1): "NOUN"})
    slices = PROCEDURE.count(gold=key, system=[[]], breakdowns=["mention_type"]).slices(
        "mention_type"
    )
    assert {name: score(table)["mentions"] for name, table in slices.items()} == {
        "pronoun": [0, 0, 0],
        "common noun": [0, 0, 0],
    }


def test_the_rule_of_the_reference_scorer_is_fine_without_repeats():
    table = count("distance", *([side] for side in MOOSAVI_AND_STRUBE), duplicates="reference")
    plain = count("distance", *([side] for side in MOOSAVI_AND_STRUBE))
    assert np.array_equal(table.breakdowns["distance"].values, plain.breakdowns["distance"].values)
