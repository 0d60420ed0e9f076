"""Zeros in files: scores worked out by hand, for every way to match them."""

from fractions import Fraction
from shutil import copyfile

import numpy as np
import pytest
from shared.coreference import report_files, score_files, write_corefud, write_jsonl

from closeread.exceptions import RequestError, SubmissionError

MATCHINGS = ("exact", "head", "partial")

pytestmark = pytest.mark.filterwarnings(
    r"ignore:the key has \d+ empty nodes:closeread.CloseReadWarning"
)  # what is not scored is told

KEY_NODES = {"2.1": "2:obj", "3.1": "4:nsubj", "4.1": "4:obj"}
KEY = {
    "1": "(e1-x-1-)",
    "2": "",
    "2.1": "(e2-x-1-)",
    "3": "",
    "3.1": "(e1-x-1-)",
    "4": "",
    "4.1": "(e2-x-1-)",
}
# The response lacks the first zero, has the others in each other's place, and has word 2 as a mention of e2.
NODES = {"3.1": "4:obj", "4.1": "4:nsubj"}
RESPONSE = {
    "1": "(e1-x-1-)",
    "2": "(e2-x-1-)",
    "3": "",
    "3.1": "(e2-x-1-)",
    "4": "",
    "4.1": "(e1-x-1-)",
}


@pytest.fixture
def key(tmp_path):
    return write_corefud(tmp_path / "key.conllu", KEY, dependencies=KEY_NODES)


@pytest.fixture
def response(tmp_path):
    return write_corefud(tmp_path / "response.conllu", RESPONSE, dependencies=NODES)


def score(key, response, names=("b3/recall",), **options):
    metrics = tuple({name.split("/")[0] for name in names})
    found = score_files(key, response, metrics=metrics, **options)
    return [found[name] for name in names]


def are(*fractions):
    return pytest.approx([float(Fraction(text)) for text in fractions], abs=1e-12)


@pytest.mark.parametrize("matching", MATCHINGS)
@pytest.mark.parametrize(
    ("zeros", "b3", "anaphors"),
    [
        # e1 is at 1 and 3.1, which the response has in e1 and e2, e2 at 4.1, which it has in e1: (2 + 1) / 2 of 4.
        ("linear", "3/8", "0/2"),
        # The nsubj is in e1 as it should be, and the obj in e2: (4 + 1) / 2 of 4.  The nsubj has a right antecedent.
        ("dependent", "5/8", "1/2"),
        # The places are exchanged, so nothing is lost; but the zeros are scored by their places.
        ("corefud", "5/8", "0/2"),
        # Only word 1 remains; the entity of zeros is gone.
        ("exclude", "1/1", "0"),
    ],
)
def test_by_hand(key, response, matching, zeros, b3, anaphors):
    names = ("b3/recall", "zeros/recall", "zeros/precision", "zeros/f1")
    found = score(key, response, names, zeros=zeros, matching=matching)
    assert found == are(b3, anaphors, anaphors, anaphors)


def test_tokens_of_mentions_overlap_by_place(key, response):
    # 1, 3.1 and 4.1 of four tokens on each side; without zeros 1 of 1 and of 2.
    names = ("mor/precision", "mor/recall")
    for zeros in ("linear", "dependent", "corefud"):
        assert score(key, response, names, zeros=zeros) == are("3/4", "3/4")
    assert score(key, response, names, zeros="exclude") == are("1/2", "1/1")


@pytest.mark.parametrize("zeros", ["linear", "dependent", "corefud"])
def test_a_response_without_empty_nodes(tmp_path, key, zeros):
    # The response has 1 of the four mentions of the key, and word 4 in the same entity.
    cells = {"1": "(e1-x-1-)", "2": "", "3": "", "4": "(e1-x-1-)"}
    response = write_corefud(tmp_path / "words.conllu", cells)
    names = ("mentions/recall", "mentions/precision", "b3/recall", "b3/precision")
    assert score(key, response, names, zeros=zeros) == are("1/4", "1/2", "1/8", "1/4")
    assert score(response, key, names, zeros=zeros) == are("1/2", "1/4", "1/4", "1/8")
    # In another format, the rows are the words.
    rows = (f"{word} {cell}" for word, cell in zip("wwww", ["(0)", "-", "-", "(0)"], strict=True))
    conll = tmp_path / "words.conll"
    conll.write_text("\n".join(["#begin document (d)", *rows, "#end document", ""]))
    assert score(key, conll, names, zeros=zeros) == are("1/4", "1/2", "1/8", "1/4")


def test_a_response_that_counts_empty_nodes_as_tokens(tmp_path, key):
    # JSON Lines number the tokens of the key: 1, 2, 2.1, 3, 3.1, 4, 4.1.
    response = write_jsonl(tmp_path / "r.jsonl", {"d": [[[0, 0], [4, 4]], [[2, 2], [6, 6]]]})
    assert score(key, response, ("lea/f1", "zeros/f1", "mor/f1")) == are("1", "1", "1")
    assert (
        report_files(key, response).provenance.signature
        == report_files(key, key).provenance.signature
    )


def test_singletons_are_dropped_before_zeros(tmp_path):
    # e1 has two mentions, one of them a zero: it is no singleton, and one mention is left of it.
    cells = {"1": "(e1-x-1-)", "1.1": "(e1-x-1-)", "2": "(e2-x-1-)"}
    key = write_corefud(tmp_path / "k.conllu", cells, dependencies={"1.1": "2:nsubj"})
    report = report_files(key, key, keep_singletons="false", zeros="exclude", metrics="b3")
    assert report.total.counts["mentions/key"] == 1
    assert report.total.scores["b3/f1"].value == 1


def test_words_must_be_the_same(tmp_path, key):
    fewer = write_corefud(tmp_path / "f.conllu", {"1": "(e1-x-1-)", "1.1": "", "2": "", "3": ""})
    expected = r"document 'd' has 3 tokens \(not counting empty nodes\), but 4 in the key"
    with pytest.raises(SubmissionError, match=expected):
        report_files(key, fewer)
    other = write_corefud(tmp_path / "o.conllu", RESPONSE, {"4": "v"})
    with pytest.raises(
        SubmissionError, match=r"token 4 of document 'd' is 'v', but 'w' in the key \(line 9\)"
    ):
        report_files(key, other)


def test_documents_in_another_order_keep_their_empty_nodes(tmp_path, key, response):
    more = {
        name: path.read_text().replace("id = d", "id = c")
        for name, path in (("key", key), ("response", response))
    }
    both = [tmp_path / "both-key.conllu", tmp_path / "both-response.conllu"]
    both[0].write_text(
        key.read_text()
        + write_corefud(tmp_path / "c.conllu", KEY).read_text().replace("= d", "= c")
    )
    both[1].write_text(more["key"] + response.read_text())
    for zeros, expected in (("linear", "11/16"), ("dependent", "13/16")):
        assert score(*both, zeros=zeros) == are(expected)  # 4 of 4 in c, and 3/8 or 5/8 of 4 in d


def test_the_signature_names_zeros_if_they_are_not_matched_by_place(tmp_path, key, response):
    by_place = report_files(key, response).provenance
    assert "zeros" not in by_place.signature
    assert by_place.options["zeros"] == "linear"
    dependent = report_files(key, response, zeros="dependent").provenance.signature
    assert "|zeros:dependent|" in dependent
    # Dependencies are then part of the gold, and so are heads: another key.
    other = write_corefud(
        tmp_path / "other.conllu", KEY, dependencies={**KEY_NODES, "4.1": "2:obj"}
    )
    assert report_files(other, response).provenance.signature == by_place.signature
    assert report_files(other, response, zeros="dependent").provenance.signature != dependent


def test_two_scorers_can_not_be_followed_at_once(key, response):
    with pytest.raises(
        RequestError,
        match="zeros 'corefud' and duplicates 'reference' follow two different scorers",
    ):
        score(key, response, zeros="corefud", duplicates="reference")


def test_a_note_says_that_empty_nodes_differ(run, key, response):
    note = "note: the key has 3 empty nodes and the response 2, 2 of them at the same places; zeros are matched by place "
    assert note in run("score", "coref", key, response).stderr
    assert note in run("validate", "coref", key, response).stderr
    assert run("score", "coref", key, copyfile(key, f"{key}.copy")).stderr == ""


def test_without_zeros_nothing_changes(tmp_path):
    path = write_corefud(tmp_path / "k.conllu", {"1": "(e1-x-1-)", "2": "(e1-x-1-)"})
    reports = [
        report_files(path, path, zeros=zeros)
        for zeros in ("linear", "dependent", "corefud", "exclude")
    ]
    assert all(report.total.scores == reports[0].total.scores for report in reports)
    assert np.isclose(score(path, path, ("zeros/f1",))[0], 0)  # 0/0
