"""The mentions of documents as columns: nothing of them is lost, and every column has the right rows."""

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.coref.documents import Document, Documents, EmptyNode, Entity, Mention
from closeread.tasks.coref.mention_table import MentionTable, document_digests
from closeread.tasks.coref.universal_anaphora.relations import DocumentRelations

SPAN = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)).map(
    lambda three: tuple(sorted(three))
)
CLUSTERS = st.lists(
    st.lists(st.lists(SPAN, min_size=1, max_size=3), max_size=3), min_size=1, max_size=6
)


@st.composite
def documents(draw):
    """Documents with everything that a reader may add."""
    made = []
    for number, clusters in enumerate(draw(CLUSTERS)):
        entities = []
        for label, cluster in enumerate(clusters):
            mentions = [
                Mention(
                    start,
                    end,
                    head,
                    draw(st.sampled_from([(), ((start, head), (end, end))])),
                    draw(st.sampled_from([(), (head,)])),
                    draw(st.sampled_from(["", "NOUN", "PRON"])),
                )
                for start, head, end in cluster
            ]
            entities.append(Entity(f"e{label}", mentions))
        orders = st.permutations(range(len(clusters)))
        made.append(
            Document(
                f"d{number}",
                entities,
                n_tokens=10 + number,
                nodes=[EmptyNode(number, 0, ())],
                is_absent=not clusters and draw(st.booleans()),
                reference_order=draw(st.none() | orders),
                relations=DocumentRelations({f"e{number}": ["x", "y"]}),
                deixis=Document(f"d{number}", entities[:1]),
            )
        )
    return made


def list_mentions(table):
    """The document, the entity, and the mention of every row."""
    columns = (table.document, table.entity, table.start, table.end, table.head)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        (
            document,
            entity,
            Mention(
                start,
                end,
                head,
                table.parts.get(row, ()),
                table.minimum.get(row, ()),
                table.tags[row],
            ),
        )
        for row, (document, entity, start, end, head) in enumerate(rows)
    ]


@given(documents=documents())
def test_rows_are_the_mentions_in_the_order_of_the_documents(documents):
    table = Documents(documents).table
    expected = []
    labels = []
    for number, document in enumerate(documents):
        for entity in document.entities:
            expected += [(number, len(labels), mention) for mention in entity.mentions]
            labels.append(entity.label)
    if not labels:
        assert (len(table.start), table.labels, table.tags) == (0, None, None)
        return
    assert list_mentions(table) == expected
    assert (table.labels, table.n_entities) == (labels, len(labels))


@given(documents=documents())
def test_columns_of_documents(documents):
    table = Documents(documents).table
    assert table.names == [document.name for document in documents]
    assert table.n_tokens.tolist() == [document.n_tokens for document in documents]
    assert table.empty == [document.nodes for document in documents]
    assert [number in table.absent for number in range(len(table))] == [
        document.is_absent for document in documents
    ]
    assert table.relations.documents == {
        document.name: document.relations for document in documents
    }
    deixis = Documents([document.deixis for document in documents])
    assert list(Documents(table.relations.discourse_deixis)) == list(deixis)


@given(documents=documents())
def test_the_order_of_the_reference_scorer(documents):
    table = Documents(documents).table
    orders = [document.reference_order for document in documents]
    if orders == [None] * len(orders):
        assert table.rank is None
        return
    ranks = table.rank.tolist()
    assert sorted(ranks) == list(range(table.n_entities))
    for document, order in zip(documents, orders, strict=True):
        ranks_of_document = ranks[: len(document.entities)]
        del ranks[: len(document.entities)]
        first = min(ranks_of_document, default=0)
        expected = range(len(document.entities)) if order is None else order
        assert [rank - first for rank in ranks_of_document] == list(expected)


@given(documents=documents())
def test_digests_of_documents_do_not_depend_on_their_neighbours(documents):
    alone = [document_digests(Documents([document]).table)[0] for document in documents]
    if all(document.entities for document in documents):
        assert document_digests(Documents(documents).table) == alone


@given(clusters=CLUSTERS)
def test_records_of_columns_are_those_of_documents(clusters):
    made = Documents(
        [
            Document(f"d{number}", [Entity("", [Mention(a, c, b) for a, b, c in c1]) for c1 in of])
            for number, of in enumerate(clusters)
        ]
    )
    assert list(Documents(made.table)) == list(made)


COLUMNS = {
    "names",
    "n_tokens",
    "document",
    "start",
    "end",
    "entity",
    "n_entities",
    "parts",
    "head",
    "labels",
    "empty",
    "minimum",
    "tags",
    "relations",
    "absent",
    "rank",
}
LATER = {"trees", "is_named"}  # of constituents, and of lists in memory


def test_every_column_is_stacked():
    # A column more has to be stacked in `closeread.tasks.coref.mention_table`, and to be tested here.
    assert {field.name for field in fields(MentionTable)} == COLUMNS | LATER
