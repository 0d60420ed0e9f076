"""Agreement of two annotators of possessions: hand cases, and Cohen's kappa compared with scikit-learn."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.possession_records import HEADER, ROW
from sklearn.metrics import cohen_kappa_score

from closeread.errors import FormatError
from closeread.tasks.wikipossessions.agreement import agreement
from closeread.tasks.wikipossessions.kernels.agreement import cohen_kappa

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


def test_kappa_by_hand():
    # 20 items, 15 equal; 10 and 13 of them are "a": expected (10 * 13 + 10 * 7) / 400 = 1/2; (3/4 - 1/2) / (1/2).
    first = "a" * 10 + "b" * 10
    second = "a" * 9 + "b" + "a" * 4 + "b" * 6
    assert cohen_kappa(first, second) == pytest.approx(0.5)
    assert math.isnan(cohen_kappa("", ""))
    assert math.isnan(cohen_kappa("aaa", "aaa"))
    assert cohen_kappa([None, "a"], [None, "a"]) == 1


@given(pairs=LABELS)
def test_kappa_is_that_of_scikit_learn(pairs):
    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) > 1:
        assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second), nan_ok=True)


def held(possessor, order, certainty="certain", anchor="1900", relation="during", relation_certainty="certain"):
    return {
        "type": "PER", "possessor": possessor, "certainty": certainty, "order": order, "anchor": anchor,
        "relation": relation, "relation_certainty": relation_certainty,
    }  # fmt: skip


FIRST = [{"article": "The Jug", "possessions": [held("Ada", "1"), held("Ben", "2"), held("Cleo", "3", anchor="1950")]}]
SECOND = [
    {
        "article": "The Jug",
        "possessions": [held("Ada", "1", certainty="uncertain"), held("Cleo", "2", anchor="1951"), held("Dora", "3"),
                        held("the Ben", "4")],
    }
]  # fmt: skip


def test_by_hand():
    found = agreement(FIRST, SECOND)
    assert found.shared == 3
    assert found.precision["possessor"] == 3 / 4
    assert found.recall["possessor"] == 1
    # The second has six pairs, among them (Ada, Ben) and (Ada, Cleo), but not (Ben, Cleo).
    assert found.precision["ordering"] == 2 / 6
    assert found.recall["ordering"] == 2 / 3
    assert found.same == {"certainty": 2, "anchor": 2, "relation": 3, "relation_certainty": 3}
    # Anchors: 1900, 1900, 1950 and 1900, 1900, 1951: (2/3 - 4/9) / (5/9).
    assert found.kappa["anchor"] == pytest.approx(2 / 5)
    # One of three is uncertain for the second and none for the first, so agreement is at chance level.
    assert found.kappa["certainty"] == 0
    assert math.isnan(found.kappa["relation"])


def test_agreement_with_oneself():
    found = agreement(FIRST, FIRST)
    assert set(found.precision.values()) == set(found.recall.values()) == {1.0}
    assert found.kappa["anchor"] == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1530-1545", "1530 \u2013 1545"),
        ("1530-1545", "1545-1530"),
        ("1888-Now", "1888-now"),
        ("1888", "AD 1888"),
        ("the French Revolution", "French revolution"),
        ("Unknown", None),
    ],
)
def test_anchors_with_the_same_meaning_agree(one, other):
    sides = [[{"article": "The Jug", "possessions": [held("Ada", "1", anchor=anchor)]}] for anchor in (one, other)]
    assert agreement(*sides).same["anchor"] == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1888", "1889"),
        ("1888", "1888-Now"),
        ("1888", "Unknown-1888"),
        ("1888", "Unknown"),
        ("44 BC", "44"),
        ("a", "b"),
    ],
)
def test_anchors_with_different_meanings_disagree(one, other):
    sides = [[{"article": "The Jug", "possessions": [held("Ada", "1", anchor=anchor)]}] for anchor in (one, other)]
    assert agreement(*sides).same["anchor"] == 0


def test_articles_of_only_one_annotator():
    first, second = ([{"article": name, "possessions": []} for name in names] for names in ("ABX", "XCDEFG"))
    with pytest.raises(FormatError) as caught:
        agreement(first, second, names=("anna.csv", "ben.csv"))
    assert str(caught.value).splitlines()[1:] == [
        "annotations: anna.csv lacks 5 of the 6 articles of ben.csv: 'C', 'D', 'E', … (expected the same articles)",
        "annotations: ben.csv lacks 2 of the 3 articles of anna.csv: 'A', 'B' (expected the same articles)",
    ]


def test_problems_of_both_files_are_reported_at_once(run, tmp_path):
    paths = [tmp_path / name for name in ("anna.csv", "ben.csv")]
    for path, order in zip(paths, ("abc", "-1"), strict=True):
        path.write_text(f"{HEADER}\n{ROW.replace('#1#', f'#{order}#')}\n", "utf-8")
    done = run("agreement", "wikipossessions", *paths)
    assert done.exit_code == 1
    assert f"{paths[0]}:2: article 'A Vase': order is 'abc'" in done.stderr
    assert f"{paths[1]}:2: article 'A Vase': order is '-1'" in done.stderr


def test_notes_name_their_file(run, tmp_path):
    paths = [tmp_path / name for name in ("anna.csv", "ben.csv")]
    for path, time in zip(paths, ("1888", "1900-1888"), strict=True):
        path.write_text(f"{HEADER}\n{ROW.replace('1888', time)}\n", "utf-8")
    done = run("agreement", "wikipossessions", *paths)
    assert done.exit_code == 0
    assert f"note: {paths[1]}: 1 possession has an anchor whose later year comes first" in done.stderr
    assert f"note: {paths[0]}" not in done.stderr


def test_command_output(ran, run):
    for name, records in (("anna", FIRST), ("ben", SECOND)):
        derived = {"anchor_kind": "years", "open_start": False, "open_end": False}
        rows = [
            {**r, "text": None, "possessions": [
                {**p, **derived, "lower": int(p["anchor"]), "upper": int(p["anchor"])} for p in r["possessions"]
            ]}
            for r in records
        ]  # fmt: skip
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = json.loads(ran("agreement", "wikipossessions", "anna.jsonl", "ben.jsonl", "--json"))
    assert found["precision"] == {"possessor": 0.75, "ordering": 2 / 6}
    assert found["kappa"]["relation"] is None
    printed = ran("agreement", "wikipossessions", "anna.jsonl", "ben.jsonl")
    assert "0.400" in printed
    assert "Labels are compared on the 3 possessors that both annotators have." in printed
    table = ran("agreement", "wikipossessions", "anna.jsonl", "ben.jsonl", "--format", "csv").splitlines()
    assert table[0] == ",precision,recall,same label,kappa,shared"
    assert f"ordering,{2 / 6},{2 / 3},,,3" in table
    assert any(line.startswith("relation,,,") and line.endswith(",,3") for line in table)
