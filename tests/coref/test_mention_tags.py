"""Parts of speech of mentions from those of tokens: hand cases, CoNLL files, and GUM's heads."""

import json
from pathlib import Path

import pytest
from shared.conll_documents import as_ontonotes
from shared.coreference import NO_INTERVALS, write_jsonl

import closeread
from closeread.tasks.coref.metrics.slices import guess_tags, has_tags, tag_mention
from closeread.tasks.coref.sides import read_documents

GUM = Path(__file__).parent.parent / "agreed" / "gum_types.json"

CONLL = """#begin document (a)
a 0 0 The DT x (0
a 0 1 owner NN x -
a 0 2 of IN x -
a 0 3 Rex NNP x 0)|(1)
a 0 4 saw VBD x (2)
a 0 5 it PRP x (0)
#end document
"""


@pytest.mark.parametrize(
    ("tags", "pos"),
    [
        ("PRP", "PRON"),
        ("PRP$", "PRON"),
        ("DT", "PRON"),  # this
        ("NNP", "PROPN"),
        ("NN", "NOUN"),
        ("CD", "X"),
        ("VBD", "X"),
        ("PRP$ NN", "NOUN"),  # her brother
        ("NNP POS NN", "NOUN"),  # Rex's owner
        ("DT NN IN NNP", "NOUN"),  # the owner of Rex
        ("DT NN NNP", "PROPN"),  # the dog Rex
        ("NNP , DT NN", "PROPN"),  # Rex, the dog
        ("NNP CC NNP", "PROPN"),
        ("DT NN WP VBD NNP", "NOUN"),  # the man who saw Rex
        ("DT NN PRP VBD", "NOUN"),  # the man she saw
        ("DT IN PRP", "PRON"),  # all of them
        ("TO VB NNP", "X"),  # to see Rex
        ("DT JJ", "X"),  # the poor
        ("NR DEG NN", "NOUN"),  # Chinese: the noun comes last
        ("PN", "PRON"),
        ("NR", "PROPN"),
    ],
)
def test_the_guess(tags, pos):
    assert tag_mention(tags.split()) == pos


def test_conll_has_tags_in_the_fifth_of_six_or_more_columns(here):
    Path("key.conll").write_text(CONLL)
    table = read_documents(Path("key.conll"))
    assert has_tags(table)
    assert guess_tags(table) == ["NOUN", "PRON", "PROPN", "X"]
    six = CONLL.replace(" x ", " ")
    Path("six.conll").write_text(six)
    assert has_tags(read_documents(Path("six.conll")))
    Path("five.conll").write_text(six.replace("\na 0 ", "\n0 "))
    assert not has_tags(read_documents(Path("five.conll")))
    Path("folder").mkdir()
    Path("folder/a.conll").write_text(CONLL)
    Path("folder/b.conll").write_text(as_ontonotes(CONLL.replace("(a)", "(b)")))
    assert guess_tags(read_documents(Path("folder"))) == ["NOUN", "PRON", "PROPN", "X"] * 2
    Path("none.conll").write_text("#begin document (a)\na 0 0 The _ x (0)\n#end document\n")
    assert not has_tags(read_documents(Path("none.conll")))


@pytest.mark.parametrize("response", ["response.conll", "response.jsonl"])
def test_the_response_has_the_tags_of_the_key(here, response):
    """The response misses the owner, and has the verb instead; its own file has other tags or none."""
    Path("key.conll").write_text(CONLL)
    Path("response.conll").write_text(
        CONLL.replace("(0\n", "-\n").replace("0)|", "").replace("NN x -", "FW x (0)")
    )
    write_jsonl(Path("response.jsonl"), {"a": [[[1, 1], [5, 5]], [[3, 3]], [[4, 4]]]})
    report = closeread.score(
        "coref", response, gold="key.conll", by="mention_type", resampling=NO_INTERVALS
    )
    found = {
        value: [one.scores[f"mentions/{part}"].value for part in ("precision", "recall")]
        for value, one in report.slices["mention_type"].items()
    }
    assert found == {
        "pronoun": [1, 1],
        "proper noun": [1, 1],
        "common noun": [0, 0],
        "other": [1, 1],
    }


def test_most_types_of_gum_are_those_of_the_heads():
    rows = json.loads(GUM.read_text("utf-8"))["types"]
    right = sum(row["mentions"] for row in rows if row["annotated"] == row["guessed"])
    assert round(100 * right / sum(row["mentions"] for row in rows)) == 95
