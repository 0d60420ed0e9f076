"""Figures of the corpus: each by hand on an invented document, and nesting by a slow twin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.marmara.records import count_nested, facts


def sentence(number, *tokens):
    """A sentence of words with their first tag; capitals are as written."""
    return {
        "number": number,
        "tokens": [
            {
                "form": form,
                "lemma": lemma,
                "groups": [[tag]],
                "head": None,
                "head_group": None,
                "relation": None,
            }
            for form, lemma, tag in tokens
        ],
    }


def document(name, genre, sentences, clusters):
    n_tokens = sum(len(one["tokens"]) for one in sentences)
    return {
        "document": name,
        "genre": genre,
        "sentences": sentences,
        "mentions": [],
        "clusters": clusters,
        "n_tokens": n_tokens,
    }


# Dün Ayşe kendi bahçesinin kapısını açtı . / O bugün Ayşe'yi gördü .
FIRST = document(
    "77000001",
    "News",
    [
        sentence(
            "77000001001.1",
            ("Dün", "dün", "Adv"),
            ("Ayşe", "Ayşe", "Noun"),
            ("kendi", "kendi", "Pron"),
            ("bahçesinin", "bahçe", "Noun"),
            ("kapısını", "kapı", "Noun"),
            ("açtı", "aç", "Verb"),
            (".", ".", "Punc"),
        ),
        sentence(
            "77000001001.2",
            ("O", "o", "Pron"),
            ("bugün", "bugün", "Adv"),
            ("Ayşe'yi", "Ayşe", "Noun"),
            ("gördü", "gör", "Verb"),
            (".", ".", "Punc"),
        ),
    ],
    # Ayşe, kendi, Ayşe'yi; [kendi bahçesinin kapısını] and O; a chain of one, which counts as none
    [[[1, 1], [2, 2], [9, 9]], [[2, 4], [7, 7]], [[3, 3]]],
)
SECOND = document(
    "77000002", None, [sentence("77000002001.1", *[("a", "a", "Noun")] * 4)], [[[0, 0], [2, 2]]]
)


def test_every_figure_of_two_documents():
    assert facts([FIRST, SECOND]) == {
        "documents": 2,
        "sentences": 3,
        "tokens": 16,
        "mentions": 7,
        "chains": 3,
        "tokens per document": 8,
        # (5 mentions * 12 tokens + 2 * 4) / 16, and (2 chains * 12 + 1 * 4) / 16
        "mentions per document, weighted by tokens": 68 / 16,
        "chains per document, weighted by tokens": 28 / 16,
        "mentions: pronoun": 2,  # kendi, O
        "mentions: proper noun": 2,  # Ayşe, Ayşe'yi
        "mentions: other token": 2,  # a, a
        "mentions: several tokens": 1,
        "% of nested mentions": pytest.approx(100 / 7),  # kendi, in kendi bahçesinin kapısını
        "mentions nested in a nested mention": 0,
        "chains of two mentions": 2,
        "chains of ten or more mentions": 0,
        "News: documents": 1,
        "News: tokens": 12,
        "News: mentions": 5,
        "News: chains": 2,
    }


def test_long_chains():
    clusters = [[[n, n] for n in range(size)] for size in (9, 10, 11)]
    records = [
        document(f"7700000{n}", None, [sentence("1", *[("a", "a", "Noun")] * 12)], [c])
        for n, c in enumerate(clusters)
    ]
    assert facts(records)["chains of ten or more mentions"] == 2


@pytest.mark.parametrize(
    ("spans", "nested", "twice"),
    [
        ([(0, 3), (4, 6)], 0, 0),
        ([(0, 3), (0, 2), (3, 3)], 2, 0),
        ([(0, 3), (1, 4)], 0, 0),  # they cross
        ([(0, 9), (1, 5), (2, 3), (7, 7)], 3, 1),
        ([(0, 9), (1, 5), (6, 8), (7, 7)], 3, 1),
        ([(0, 5), (4, 9), (5, 8)], 1, 0),
    ],
)
def test_nesting_by_hand(spans, nested, twice):
    assert count_nested([{"clusters": [[list(span) for span in spans]]}]) == (nested, twice)


def slow_nesting(spans):
    """The mentions that another one contains, and those that a nested one contains."""

    def inside(one, other):
        return one != other and other[0] <= one[0] and one[1] <= other[1]

    nested = [one for one in spans if any(inside(one, other) for other in spans)]
    return len(nested), sum(any(inside(one, other) for other in nested) for one in spans)


@given(
    st.sets(
        st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda one: (one[0], one[0] + one[1])),
        min_size=2,
    )
)
def test_nesting_is_the_slow_twins(spans):
    assert count_nested([{"clusters": [[list(span) for span in spans]]}]) == slow_nesting(
        sorted(spans)
    )


def test_documents_without_mentions_have_no_share_of_them():
    found = facts([{**SECOND, "clusters": [], "genre": "Other"}, {**FIRST, "clusters": []}])
    assert "% of nested mentions" not in found
    assert (found["mentions"], found["mentions: pronoun"], found["chains of two mentions"]) == (
        0,
        0,
        0,
    )
    assert [name for name in found if name.endswith(": documents")] == [
        "News: documents",
        "Other: documents",
    ]
