"""Slices of CorefUD files with empty nodes, which key and response need not share, however zeros are matched."""

from pathlib import Path

from shared.coreference import write_jsonl

import closeread
from closeread.counts.estimates import Resampling

CONLLU = """# newdoc id = GUM_news_x
# global.Entity = eid-etype-head-other
1\tAna\t_\tPROPN\tNNP\t_\t2\tnsubj\t_\tEntity=(e1-x-1-)
2\tsaw\t_\tVERB\tVBD\t_\t0\troot\t_\t_
3\therself\t_\tPRON\tPRP\t_\t2\tobj\t_\tEntity=(e1-x-1-)
3.1\t_\t_\tPRON\t_\t_\t_\t_\t4:nsubj\tEntity=(e1-x-1-)
4\tleft\t_\tVERB\tVBD\t_\t2\tconj\t_\t_

"""


def test_types_zeros_and_genres_of_a_file(here):
    Path("key.conllu").write_text(CONLLU)
    Path("response.conllu").write_text(CONLLU.replace("4:nsubj\tEntity=(e1-x-1-)", "4:nsubj\t_"))
    report = closeread.score(
        "coref",
        "response.conllu",
        gold="key.conllu",
        by=("mention_type", "zero", "genre"),
        resampling=Resampling(0),
    )
    recall = {
        field: {value: part.scores["muc/recall"].value for value, part in of.items()}
        for field, of in report.slices.items()
    }
    assert recall == {
        "mention_type": {"pronoun": 1 / 2, "proper noun": 0},
        "zero": {"zero": 0, "overt": 1},
        "genre": {"news": 1 / 2},
    }


def test_a_response_in_json_lines_has_the_zeros_of_the_key(here):
    Path("key.conllu").write_text(CONLLU)
    write_jsonl(Path("response.jsonl"), {"GUM_news_x": [[[0, 0], [3, 3]], [[2, 2]]]})
    report = closeread.score(
        "coref", "response.jsonl", gold="key.conllu", by="zero", resampling=Resampling(0)
    )
    scores = report.slices["zero"]["zero"].scores
    assert [scores[f"muc/{part}"].value for part in ("precision", "recall")] == [1, 1]


def test_errors_without_zeros(here, ran):
    Path("key.conllu").write_text(CONLLU)
    Path("response.conllu").write_text(CONLLU.replace("4:nsubj\tEntity=(e1-x-1-)", "4:nsubj\t_"))
    errors = ("errors", "coref", "key.conllu", "response.conllu", "--format", "csv")
    assert ran(*errors).splitlines()[1:] == [
        "missing mention,GUM_news_x,e1,_ [3-3],news,3-4,pronoun,0-9,zero"
    ]
    assert ran(*errors, "--zeros", "exclude").splitlines()[1:] == []
    # Tokens of JSON Lines are the key's, empty nodes included: the mention after the zero is spurious.
    write_jsonl(Path("response.jsonl"), {"GUM_news_x": [[[3, 3], [4, 4]]]})
    found = ran(
        "errors",
        "coref",
        "key.conllu",
        "response.jsonl",
        "--kind",
        "spurious mention",
        "--zeros",
        "exclude",
    )
    assert "4-4" in found
    assert "3-3" not in found
