"""Agreement of two annotators of possessions: hand cases, and Cohen's kappa compared with scikit-learn."""

from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared.possession_records import HEADER, ROW

from closeread.exceptions import FormatError
from closeread.tasks.wikipossessions.agreement import cohen_kappa, measure_agreement
from closeread.tasks.wikipossessions.matching import Possession, match_possessions, normalize_name


def agreement(first, second, setting="exact", **options):
    """The scores of two annotators, by what is compared and the measure."""
    return measure_agreement([first, second], ("a", "b"), setting=setting, **options).pairs[0, 1]


def same(scores):
    """How many shared possessors have the same label, for each label."""
    return {name.removesuffix("/same"): n for name, n in scores.items() if name.endswith("/same")}


LABELS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30
)


def test_kappa_by_hand():
    # 20 items, 15 equal; 10 and 13 of them are "a": expected (10 * 13 + 10 * 7) / 400 = 1/2; (3/4 - 1/2) / (1/2).
    first = "a" * 10 + "b" * 10
    second = "a" * 9 + "b" + "a" * 4 + "b" * 6
    assert cohen_kappa(first, second) == pytest.approx(0.5)
    assert cohen_kappa("", "") is cohen_kappa("aaa", "aaa") is None
    assert cohen_kappa([None, "a"], [None, "a"]) == 1


@given(pairs=LABELS)
def test_kappa_is_that_of_scikit_learn(pairs):
    from sklearn.metrics import cohen_kappa_score

    first, second = zip(*pairs, strict=True)
    if len({*first, *second}) > 1:
        assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))


def held(
    possessor,
    order,
    certainty="certain",
    anchor="1900",
    relation="during",
    relation_certainty="certain",
):
    return {
        "type": "PER", "possessor": possessor, "certainty": certainty, "order": order, "anchor": anchor,
        "relation": relation, "relation_certainty": relation_certainty,
    }  # fmt: skip


FIRST = [
    {
        "article": "The Jug",
        "possessions": [held("Ada", "1"), held("Ben", "2"), held("Cleo", "3", anchor="1950")],
    }
]
SECOND = [
    {
        "article": "The Jug",
        "possessions": [held("Ada", "1", certainty="uncertain"), held("Cleo", "2", anchor="1951"), held("Dora", "3"),
                        held("the Ben", "4")],
    }
]  # fmt: skip


def test_by_hand():
    found = agreement(FIRST, SECOND)
    assert found["anchor/shared"] == 3
    assert found["possessor/precision"] == 3 / 4
    assert found["possessor/recall"] == 1
    assert found["possessor/f1"] == pytest.approx(6 / 7)
    # Of the possessors that both have, each has three pairs: (Ada, Ben), (Ada, Cleo), and one of Ben and Cleo.
    assert found["ordering/precision"] == 2 / 3
    assert found["ordering/recall"] == 2 / 3
    # With Dora, the second has six.
    everyone = agreement(FIRST, SECOND, pairs="all")
    assert (everyone["ordering/precision"], everyone["ordering/recall"]) == (2 / 6, 2 / 3)
    assert (everyone["anchor/kappa"], same(everyone)) == (found["anchor/kappa"], same(found))
    assert same(found) == {"certainty": 2, "anchor": 2, "relation": 3, "relation_certainty": 3}
    # Anchors: 1900, 1900, 1950 and 1900, 1900, 1951: (2/3 - 4/9) / (5/9).
    assert found["anchor/kappa"] == pytest.approx(2 / 5)
    # One of three is uncertain for the second and none for the first, so agreement is at chance level.
    assert found["certainty/kappa"] == 0
    assert found["relation/kappa"] is None


def article(*rows):
    return [{"article": "The Jug", "possessions": [held(*row) for row in rows]}]


def test_a_missed_possessor_is_no_disagreement_about_order():
    # As in the paper: the second annotator has half of the possessors, and orders these alike.
    first, second = (
        article(("A", "1"), ("B", "2"), ("C", "3"), ("D", "4")),
        article(("A", "1"), ("C", "2")),
    )
    shared, everyone = (agreement(first, second, pairs=pairs) for pairs in ("shared", "all"))
    assert (
        shared["possessor/recall"],
        shared["ordering/recall"],
        shared["ordering/precision"],
    ) == (1 / 2, 1, 1)
    assert (everyone["ordering/recall"], everyone["ordering/precision"]) == (1 / 6, 1)


def test_paired_names_match_each_other_only():
    first, second = (
        article((f"Museum {a}", "1"), (f"Museum {b}", "2"))
        for a, b in (("Alt", "Neu"), ("Neu", "Alt"))
    )
    assert agreement(first, second, "partial")["ordering/precision"] == 0
    # As predictions are scored: (Alt, Neu) is found as (Neu, Alt), since both names share a word with both.
    assert agreement(first, second, "partial", pairs="all")["ordering/precision"] == 1


CERTAIN, UNCERTAIN = ("certain",), ("uncertain",)


@pytest.mark.parametrize(
    ("first", "second", "labels", "order", "why"),
    [
        # Equal anchors and other labels, and ordered pairs found of those of the first, for either option.
        (
            [("M", "1", *CERTAIN, "1930-1945"), ("X", "2"), ("M", "3", *CERTAIN, "1980-Now")],
            [("X", "1"), ("M", "2", *CERTAIN, "1980-Now")],
            (2, 6, 1), (1, 6, 0),
            "the second annotator has the later period only, after X",
        ),
        (
            [("M", "1", *CERTAIN, "1930-1945"), ("X", "2"), ("M", "3", *CERTAIN, "1980-Now")],
            [("X", "1"), ("M", "2", *CERTAIN, "1985-2001")],
            (1, 6, 1), (1, 6, 0),
            "no equal anchor, but years in common",
        ),
        (
            [("M", "1", *UNCERTAIN, "Unknown"), ("X", "2"), ("M", "3", *CERTAIN, "Unknown")],
            [("X", "1"), ("M", "2", *CERTAIN, "Unknown")],
            (2, 6, 1), (2, 5, 0),
            "only the certainty tells which",
        ),
        (
            [("M", "1"), ("X", "2"), ("M", "3", *UNCERTAIN, "1950", "after", "uncertain")],
            [("X", "1"), ("M", "2", *CERTAIN, "1950")],
            (2, 3, 1), (1, 6, 0),
            "an anchor weighs more than the three other labels",
        ),
        (
            [("M", "1"), ("X", "2"), ("M", "3")],
            [("X", "1"), ("M", "2")],
            (2, 6, 0), (2, 6, 0),
            "nothing tells which, so the first is taken",
        ),
        (
            [("Modern Art Museum", "1", *CERTAIN, "1930"), ("X", "2"), ("Modern Art Museum", "3", *CERTAIN, "1980")],
            [("X", "1"), ("Modern Art", "2", *CERTAIN, "1980")],
            (2, 6, 1), (1, 6, 0),
            "names that match partially",
        ),
    ],
)  # fmt: skip
def test_repeated_possessors_are_paired_by_what_they_say(first, second, labels, order, why):
    setting = "partial" if "Modern" in first[0][0] else "exact"
    for repeated, expected in (("labels", labels), ("order", order)):
        found = agreement(article(*first), article(*second), setting, repeated=repeated)
        others = sum(number for label, number in same(found).items() if label != "anchor")
        assert found["anchor/shared"] == 2
        # Both have one pair, of X and the other.
        assert (found["anchor/same"], others, found["ordering/recall"]) == expected, why


SAID = st.lists(
    st.tuples(
        st.sampled_from(["1900", "1905", "1900-1910", "1905-Now", "Unknown"]),
        st.sampled_from(["certain", "uncertain"]),
        st.sampled_from(["before", "during"]),
    ),
    min_size=1,
    max_size=4,
)
MEET = {
    frozenset(pair)
    for pair in [
        ("1900", "1900-1910"),
        ("1905", "1900-1910"),
        ("1905", "1905-Now"),
        ("1900-1910", "1905-Now"),
    ]
}


@given(one=SAID, two=SAID)
def test_the_twin_that_tries_every_pairing(one, two):
    few, many = sorted((one, two), key=len)

    def value(pairing):
        anchors = [(a[0], b[0]) for a, b in pairing]
        meet = sum((a == b != "Unknown") or frozenset((a, b)) in MEET for a, b in anchors)
        return (
            sum(a == b for a, b in anchors),
            meet,
            sum((a[1] == b[1]) + (a[2] == b[2]) for a, b in pairing),
        )

    best = max(value(list(zip(few, order, strict=True))) for order in permutations(many, len(few)))
    sides = [
        article(
            *(
                ("M", str(i), certainty, anchor, relation)
                for i, (anchor, certainty, relation) in enumerate(side)
            )
        )
        for side in (one, two)
    ]
    for found in (agreement(*sides), agreement(*sides[::-1])):
        assert (found["anchor/same"], found["certainty/same"] + found["relation/same"]) == (
            best[0],
            best[2],
        )


@given(
    names=st.tuples(
        *[
            st.lists(st.sampled_from(side), max_size=3)
            for side in (["x p", "y p", "x y"], ["x", "y b", "z"])
        ]
    ),
    likeness=st.lists(st.integers(0, 9), min_size=9, max_size=9),
)
# The larger overlap outweighs any likeness: 1/2 is more than 1/3, and 1/4 + 1/2 is more than 1/3 + 1/3.
@example((["x y"], ["x", "y b"]), [0, 9, *[0] * 7])
@example((["x y z", "x y"], ["x", "y v"]), [9, 0, 0, 0, 9, *[0] * 4])
def test_the_twin_of_partial_matching_with_likeness(names, likeness):
    sides = [[Possession(normalize_name(name)) for name in side] for side in names]
    ours, theirs = ([set(name.split()) for name in side] for side in names)

    def value(pairs):
        overlaps = (Fraction(len(ours[i] & theirs[j]), len(ours[i] | theirs[j])) for i, j in pairs)
        return len(pairs), sum(overlaps), sum(likeness[3 * i + j] for i, j in pairs)

    possible = []
    for chosen in product([None, *range(len(theirs))], repeat=len(ours)):
        pairs = [(i, j) for i, j in enumerate(chosen) if j is not None]
        if len({j for _, j in pairs}) == len(pairs) and all(ours[i] & theirs[j] for i, j in pairs):
            possible.append(value(pairs))
    found = match_possessions(*sides, "partial", likeness=lambda i, j: likeness[3 * i + j])
    assert value(found) == max(possible)


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
    sides = [
        [{"article": "The Jug", "possessions": [held("Ada", "1", anchor=anchor)]}]
        for anchor in (one, other)
    ]
    assert agreement(*sides)["anchor/same"] == 1


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
    sides = [
        [{"article": "The Jug", "possessions": [held("Ada", "1", anchor=anchor)]}]
        for anchor in (one, other)
    ]
    assert agreement(*sides)["anchor/same"] == 0


def test_notes_name_their_file(run, tmp_path):
    paths = [tmp_path / name for name in ("anna.csv", "ben.csv")]
    for path, time in zip(paths, ("1888", "1900-1888"), strict=True):
        path.write_text(f"{HEADER}\n{ROW.replace('1888', time)}\n", "utf-8")
    done = run("agreement", "wikipossessions", *paths)
    assert done.exit_code == 0
    assert (
        f"note: {paths[1]}: 1 possession has an anchor whose later year comes first" in done.stderr
    )
    assert f"note: {paths[0]}" not in done.stderr


NAMES = ("anna", "ben", "cem")
ROWS = {
    "anna": [("Ada", "1", "1900", "PC"), ("Ben", "2", "1900", "PC"), ("Cleo", "3", "1950", "PC")],
    "ben": [
        ("Ada", "1", "1900", "PUC"),
        ("Cleo", "2", "1951", "PC"),
        ("Dora", "3", "1900", "PC"),
        ("Ben", "4", "1900", "PC"),
    ],
    "cem": [("Ada", "1", "1900", "PC"), ("Ben", "2", "1950", "PC")],
}
CERTAINTY = {"PC": "certain", "PUC": "uncertain"}

# Of Anna's three possessors Ben has all, and Dora; Cem has two of Anna's three and of Ben's four.
POSSESSORS = ("6/7", "4/5", "2/3")
# Anna and Ben agree on two of the three pairs of Ada, Ben and Cleo; everybody has Ada before Ben.
ORDERING = ("2/3", "1", "1")
# Of all possessors: 2 of 6 and 3 pairs, 1 of 1 and 3, 1 of 1 and 6.
ALL_ORDERING = ("4/9", "1/2", "2/7")
# 1900, 1900, 1950 and 1900, 1900, 1951: (2/3 - 4/9) / (5/9).  Cem's second is another than Anna's and Ben's, who have
# one anchor only, so that agreement is at chance level.
ANCHORS = ("2/5", "0", "0")
# Ben's only uncertain possessor is certain to both others, who have no other label at all.
CERTAINTIES = ("0", None, "0")


def record(name):
    possessions = [
        {"type": "PER", "possessor": possessor, "certainty": CERTAINTY[certainty], "order": order, "anchor": anchor,
         "relation": "during", "relation_certainty": "certain"}
        for possessor, order, anchor, certainty in ROWS[name]
    ]  # fmt: skip
    return [{"article": "The Jug", "possessions": possessions}]


def values(fractions):
    return [None if one is None else float(Fraction(one)) for one in fractions]


@pytest.mark.parametrize(("pairs", "ordering"), [("shared", ORDERING), ("all", ALL_ORDERING)])
def test_three_annotators_by_hand(pairs, ordering):
    found = measure_agreement([record(name) for name in NAMES], NAMES, pairs=pairs)
    assert list(found.pairs) == [(0, 1), (0, 2), (1, 2)]
    expected = {
        "possessor/f1": POSSESSORS,
        "ordering/f1": ordering,
        "anchor/kappa": ANCHORS,
        "certainty/kappa": CERTAINTIES,
        "relation/kappa": (None,) * 3,
        "relation_certainty/kappa": (None,) * 3,
    }
    assert set(found.mean) == set(expected)
    for name, fractions in expected.items():
        assert [scores[name] for scores in found.pairs.values()] == [
            None if value is None else pytest.approx(value) for value in values(fractions)
        ]
        known = [Fraction(one) for one in fractions if one is not None]
        assert found.mean[name] == (
            pytest.approx(float(sum(known) / len(known))) if known else None
        )
    assert found.pairs[1, 2] == agreement(record("ben"), record("cem"), pairs=pairs)
    assert found._to_grids()[0].notes[-1] == (
        "certainty kappa: the mean leaves out 1 of 3 pairs, without a value."
    )


def test_articles_of_all_annotators_are_compared():
    sides = [
        [{"article": name, "possessions": []} for name in names] for names in ("AB", "A", "ABC")
    ]
    with pytest.raises(FormatError) as caught:
        measure_agreement(sides, NAMES)
    assert [problem.message for problem in caught.value.problems] == [
        "ben lacks 1 of the 2 articles of anna: 'B' (expected the same articles)",
        "anna lacks 1 of the 3 articles of cem: 'C' (expected the same articles)",
    ]
