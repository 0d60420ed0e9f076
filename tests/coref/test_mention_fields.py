"""Fields of mentions: the part of every mention, next to a twin, and what a side must have for them."""

from bisect import bisect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.coreference_tables import make_documents, spread
from twins.coref_slices import distances, sizes

from closeread.tasks.coref.metrics.slices import DISTANCES, FIELDS, SIZES

SPANS = st.tuples(st.integers(0, 400), st.integers(0, 5)).map(lambda span: (span[0], sum(span)))
DOCUMENTS = st.lists(
    st.lists(
        st.tuples(SPANS, st.integers(0, 3)), unique_by=lambda mention: mention[0], max_size=40
    ),
    max_size=3,
)


def clusters_of(mentions):
    """Return the clusters of a document, without empty ones, mentions as [start, end]."""
    numbers = sorted({number for _, number in mentions})
    return [[list(span) for span, own in mentions if own == number] for number in numbers]


def parts(name, documents):
    """Return the part of every mention, by its document and span."""
    table = documents.columns
    numbers = FIELDS[name].number(documents)
    places = zip(table.document.tolist(), table.start.tolist(), table.end.tolist(), strict=True)
    return {
        place: FIELDS[name].parts[number]
        for place, number in zip(places, numbers.tolist(), strict=True)
    }


def test_the_size_of_the_entity():
    documents = make_documents(
        [spread(["a", "bc", "def"]), [[[i, i] for i in range(n)] for n in (4, 5, 9, 10, 29, 30)]]
    )
    found = parts("entity_size", make_documents([spread(["a", "bc", "def"])]))
    assert list(found.values()) == ["1", "2", "2", "3-4", "3-4", "3-4"]
    assert FIELDS["entity_size"].parts == ("1", "2", "3-4", "5-9", "10-29", "30+")
    counted = np.bincount(FIELDS["entity_size"].number(documents))
    assert counted.tolist() == [1, 2, 3 + 4, 5 + 9, 10 + 29, 30]


def test_the_distance_is_that_of_first_tokens():
    """From the mention of the entity before it in the text, whatever the order in the file; the shorter comes first."""
    documents = make_documents([[[[9, 12], [0, 5], [9, 9], [39, 40], [340, 340]], [[8, 8]]]])
    assert parts("distance", documents) == {
        (0, 0, 5): "first mention",
        (0, 9, 9): "0-9",
        (0, 9, 12): "0-9",
        (0, 39, 40): "30-99",
        (0, 340, 340): "300+",
        (0, 8, 8): "first mention",
    }


def test_a_distance_on_a_bound():
    spans = [
        [0, 0],
        [9, 9],
        [19, 19],
        [48, 48],
        [78, 78],
        [177, 177],
        [277, 277],
        [576, 576],
        [876, 876],
    ]
    found = list(parts("distance", make_documents([[spans]])).values())
    expected = [
        "first mention",
        "0-9",
        "10-29",
        "10-29",
        "30-99",
        "30-99",
        "100-299",
        "100-299",
        "300+",
    ]
    assert found == expected


def test_the_type_is_that_of_the_head():
    tags = ["PRON", "PROPN", "NOUN", "DET", "VERB", "_", ""]
    documents = make_documents(
        [spread(["abcdefg"])], pos={(0, i): tag for i, tag in enumerate(tags)}
    )
    expected = ["pronoun", "proper noun", "common noun", "other", "other", "unknown", "unknown"]
    assert list(parts("mention_type", documents).values()) == expected


def test_zeros_have_an_empty_node_as_their_head():
    documents = make_documents([spread(["ab"]), spread(["ab"])], empty={(1, 0), (0, 1), (0, 7)})
    assert list(parts("zero", documents).values()) == ["overt", "zero", "zero", "overt"]
    assert list(parts("zero", make_documents([spread(["ab"])], empty=set())).values()) == [
        "overt",
        "overt",
    ]


@pytest.mark.parametrize("name", FIELDS)
def test_nothing_to_number(name):
    documents = make_documents([[]], pos={}, empty=set())
    assert FIELDS[name].number(documents).tolist() == []


def test_what_a_side_must_have():
    without, of_corefud = (
        make_documents([spread(["ab"])]),
        make_documents([spread(["a"])], pos={(0, 0): "_"}, empty=set()),
    )
    assert {name: FIELDS[name].lacks(without) for name in FIELDS} == {
        "entity_size": "",
        "mention_type": "parts of speech, as CorefUD files have them",
        "distance": "",
        "zero": "heads of mentions and empty nodes, as CorefUD files have them",
    }
    assert FIELDS["mention_type"].lacks(of_corefud)
    assert not FIELDS["zero"].lacks(of_corefud)


@given(DOCUMENTS)
def test_fast_is_twin(documents):
    nested = list(map(clusters_of, documents))
    documents_of_clusters = make_documents(nested, names=list(map(str, range(len(nested)))))
    expected_sizes, expected_distances = {}, {}
    for number, clusters in enumerate(nested):
        spans = [[tuple(span) for span in cluster] for cluster in clusters]
        for span, size in sizes(spans).items():
            expected_sizes[(number, *span)] = FIELDS["entity_size"].parts[bisect(SIZES, size)]
        for span, distance in distances(spans).items():
            part = 0 if distance is None else 1 + bisect(DISTANCES, distance)
            expected_distances[(number, *span)] = FIELDS["distance"].parts[part]
    assert parts("entity_size", documents_of_clusters) == expected_sizes
    assert parts("distance", documents_of_clusters) == expected_distances
