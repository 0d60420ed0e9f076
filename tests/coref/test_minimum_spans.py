"""Minimum spans: by hand and in files."""

import pytest
from agreed.coval import document_text
from shared.conll_documents import ONTONOTES
from shared.coreference import score_files, write_jsonl

FERRY = "the/DT/(TOP(S(NP(NP* ferry/NN/*) to/IN/(PP* the/DT/(NP* island/NN/*))) sank/VBD/(VP*)))"
CREW = "the/DT/(TOP(S(NP(NP* captain/NN/*) and/CC/* the/DT/(NP* mate/NN/*)) said/VBD/(VP* that/DT/(NP*))))"
THAT = "that/DT/(TOP(S(NP*) follows/VBZ/(VP* from/IN/(PP* that/DT/(NP*)))))"
SKILL = "the/DT/(TOP(NP* ability/NN/* to/TO/(S* swim/VB/(VP*))))"


def rows_of(text):
    return [tuple(token.split("/")) for token in text.split()]


def score(tmp_path, sentences, key, response, **options):
    """Score mentions, each (sentence, first word, last word, entity), by minimum spans."""
    paths = tmp_path / "key.conll", tmp_path / "response.conll"
    for path, mentions in zip(paths, (key, response), strict=True):
        path.write_text(document_text("d", list(map(rows_of, sentences)), mentions), "utf-8")
    return score_files(*paths, matching="minimum", **options)


@pytest.mark.parametrize(
    ("text", "key", "response", "found"),
    [
        (FERRY, (0, 4), (0, 1), True),  # the noun phrase without what modifies it
        (FERRY, (0, 4), (3, 4), False),
        (FERRY, (0, 4), (1, 4), False),  # a leaf is a run of words: "ferry" is not "the ferry"
        (CREW, (0, 4), (0, 1), False),  # both coordinated noun phrases
        # the first noun phrase of the sentence, with or without a part of the rest
        (CREW, (0, 4), (0, 5), True),
        (CREW, (1, 4), (1, 5), True),
        (CREW, (1, 4), (0, 4), False),
        # no word counts: the same words of a sentence are the same mention
        (THAT, (0, 0), (3, 3), True),
        # words before a bracket that opens are placed one token late
        (SKILL, (0, 3), (0, 1), False),
    ],
)
@pytest.mark.filterwarnings("ignore:the key and the response have no mention")
def test_by_hand(text, key, response, found, tmp_path):
    scores = score(tmp_path, [text], [(0, *key, 0)], [(0, *response, 0)])
    assert scores["mentions/f1"] == found


def of_metrics(scores, *names):
    return [
        tuple(scores[f"{name}/{part}"] for part in ("precision", "recall", "f1")) for name in names
    ]


def test_scores_of_an_example(tmp_path):
    key = [(0, 0, 4, 0), (1, 6, 6, 0), (1, 0, 4, 1)]
    response = [(0, 0, 1, 0), (1, 6, 6, 0), (1, 0, 1, 1)]
    scores = score(tmp_path, [FERRY, CREW], key, response)
    third = pytest.approx(2 / 3)
    assert of_metrics(scores, "mentions", "b3", "ceafm", "lea") == [(third, third, third)] * 4
    assert of_metrics(scores, "muc", "ceafe") == [(1, 1, 1), (0.5, 0.5, 0.5)]
    exact = score_files(tmp_path / "key.conll", tmp_path / "response.conll")
    assert of_metrics(exact, "mentions", "b3", "muc") == [
        (pytest.approx(1 / 3),) * 3,
        (pytest.approx(1 / 6),) * 3,
        (0, 0, 0),
    ]


def test_two_mentions_of_an_entity_with_the_same_minimum_span(tmp_path):
    # The entity of the key has one link, whose two mentions are in the same entity of the response.
    scores = score(tmp_path, [FERRY], [(0, 0, 4, 0), (0, 0, 1, 0)], [(0, 0, 1, 0)])
    assert of_metrics(scores, "mentions", "muc", "b3") == [(1, 1, 1), (0, 1, 0), (1, 1, 1)]
    assert of_metrics(scores, "ceafm", "lea") == [(1, 0.5, pytest.approx(2 / 3)), (0, 1, 0)]
    # Both mentions of the key are in the response's entity: 2 * 2 / (2 + 1), as coval has it.
    assert of_metrics(scores, "ceafe") == [(pytest.approx(4 / 3),) * 3]


def test_the_last_entity_that_ends_counts(tmp_path):
    # In the key, the inner mention ends first, so that the outer one's entity is the last of "the ferry".
    key = [(0, 0, 4, 0), (0, 0, 1, 1), (0, 5, 5, 0)]
    scores = score(tmp_path, [FERRY], key, [(0, 0, 1, 0), (0, 5, 5, 0)])
    assert of_metrics(scores, "muc") == [(1, 1, 1)]
    scores = score(
        tmp_path, [FERRY], [(0, 0, 4, 0), (0, 0, 1, 1), (0, 5, 5, 1)], [(0, 0, 1, 0), (0, 5, 5, 0)]
    )
    assert of_metrics(scores, "muc") == [(0, 1, 0)]


def test_singletons_are_dropped_before_mentions_are_matched(tmp_path):
    key = [(0, 0, 4, 0), (0, 0, 1, 1), (0, 5, 5, 1)]
    scores = score(tmp_path, [FERRY], key, [(0, 0, 1, 0), (0, 5, 5, 0)], keep_singletons=False)
    assert of_metrics(scores, "mentions", "muc", "b3") == [(1, 1, 1)] * 3


@pytest.mark.filterwarnings("ignore:the key and the response have no mention")
@pytest.mark.filterwarnings("ignore:the key repeats 1 mention")
def test_a_mention_that_is_dropped_changes_no_other_entity(tmp_path):
    """Of the two entities with the first mention of FERRY, the one that has no other mention comes first in the text."""
    first, others = (
        (0, 0, 4),
        [(0, 0, 1, 0), (0, 5, 5, 0), (0, 3, 4, 0), (1, 0, 4, 0), (1, 0, 1, 0)],
    )
    key = [(*first, 1), *others, (1, 6, 6, 2)]
    response = [(*first, 1), (0, 0, 1, 1), (0, 5, 5, 2), (0, 3, 4, 1), (1, 0, 1, 0), (1, 6, 6, 2)]
    repeated = score(tmp_path, [FERRY, CREW], [(*first, 0), *key], response, duplicates="first")
    assert repeated == score(tmp_path, [FERRY, CREW], key, response)


def test_mentions_in_several_sentences_match_exactly(tmp_path):
    lines = document_text("d", [rows_of(FERRY), rows_of(CREW)], []).split("\n")
    last, following = lines[6], lines[8]
    lines[6], lines[8] = f"{last[:-1]}(0", f"{following[:-1]}0)"
    key, response = tmp_path / "key.conll", tmp_path / "response.jsonl"
    key.write_text("\n".join(lines), "utf-8")
    for mention, found in (([5, 6], 1), ([5, 5], 0), ([6, 6], 0), ([5, 7], 0)):
        write_jsonl(response, {"d; part 000": [[mention]]})
        assert score_files(key, response, matching="minimum")["mentions/f1"] == found


def test_trees_of_sentences_with_different_numbers_of_columns(tmp_path):
    path = tmp_path / "ontonotes.conll"
    path.write_text(ONTONOTES, "utf-8")
    assert score_files(path, path, matching="minimum")["mentions/f1"] == 1
