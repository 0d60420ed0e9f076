"""Slices of CorefUD files with empty nodes, which key and response need not share, however zeros are matched."""

from pathlib import Path

import numpy as np
import pytest
from agreed import corefud_zeros
from shared.coreference import write_jsonl
from shared.for_each import for_each

import closeread
from closeread.counts.estimates import Resampling
from closeread.counts.procedure import GoldSpec
from closeread.scoring import open_scorer
from closeread.tasks.coref.metrics.slices import FIELDS

# the random files have no parts of speech
FIELDS_OF_FILES = [name for name in FIELDS if name != "mention_type"]
SETTINGS = [
    {"matching": matching, "zeros": zeros, "keep_singletons": keep}
    for matching, keep in (("exact", "true"), ("head", "false"), ("partial", "true"))
    for zeros in ("linear", "dependent", "corefud", "exclude")
]


@pytest.mark.gate
@for_each("seed", range(12))
def test_slices_sum_to_the_whole(here, seed):
    for name, text in zip(
        ("key.conllu", "response.conllu"), corefud_zeros.random_zeros(seed), strict=True
    ):
        Path(name).write_text(text)
    for options in SETTINGS:
        scorer = open_scorer(
            "coref", GoldSpec(gold=Path("key.conllu")), {"duplicates": "first", **options}
        )
        table = scorer.tabulate(scorer.read(Path("response.conllu")).rows, FIELDS_OF_FILES)
        for inside in table.breakdowns.values():
            sums = np.zeros((len(table.units), len(inside.names)))
            np.add.at(sums, inside.unit, inside.values)
            for name, column in zip(inside.names, sums.T, strict=True):
                whole = name if name in table.names else f"{name.partition('/')[0]}/common"
                assert column == pytest.approx(
                    table.values[:, table.names.index(whole)], abs=1e-9
                ), (options, name)


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
