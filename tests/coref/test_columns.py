"""The mentions of documents as columns: nothing of them is lost, and every column has the right rows."""

from hypothesis import given
from hypothesis import strategies as st
from shared.coreference_tables import digest_documents

from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention

SPAN = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)).map(
    lambda three: tuple(sorted(three))
)
CLUSTERS = st.lists(
    st.lists(st.lists(SPAN, min_size=1, max_size=3), max_size=3), min_size=1, max_size=6
)


@st.composite
def documents(draw, *, with_heads=True):
    """Documents of which some mentions are discontinuous, or have no heads unless all have."""
    made = []
    for number, clusters in enumerate(draw(CLUSTERS)):
        entities = []
        for cluster in clusters:
            mentions = []
            for start, head, end in cluster:
                parts = draw(st.sampled_from([(), ((start, head), (end, end))]))
                has_head = with_heads or draw(st.booleans())
                mentions.append(Mention(start, end, head if has_head else None, parts))
            entities.append(Entity("", mentions))
        made.append(Document(f"d{number}", entities, nodes=[EmptyNode(number, 0, ())]))
    return made


@given(documents=documents() | documents(with_heads=False))
def test_rows_are_the_mentions_in_the_order_of_the_documents(documents):
    document, entity, start, end, head = Documents(documents).columns
    numbers = iter(range(100))
    expected = [
        (number, next_entity, *mention[:3])
        for number, read in enumerate(documents)
        for next_entity, of in [(next(numbers), of) for of in read.entities]
        for mention in of.mentions
    ]
    heads = [row[4] for row in expected]
    if None in heads:
        assert head is None
        rows = list(zip(document, entity, start, end, heads, strict=True))
    else:
        rows = list(zip(document, entity, start, end, head, strict=True))
    assert rows == expected
    assert Documents(documents).list_mentions() == [
        mention for read in documents for mention in read.mentions
    ]


@given(documents=documents())
def test_digests_of_documents_do_not_depend_on_their_neighbours(documents):
    alone = [digest_documents(Documents([document]))[0] for document in documents]
    assert digest_documents(Documents(documents)) == alone
