"""Equalities: what annotators sent, as chains of the mentions that they were given."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.marmara_sample import ANNOTATIONS, SAMPLE

from closeread.exceptions import FormatError
from closeread.tasks.marmara.equalities import (
    describe_unused,
    dump_annotation,
    read_equalities,
    read_given,
)

GIVEN_FILE = SAMPLE / "given" / "77000112.conll"
GIVEN = read_given(GIVEN_FILE)
"""24 mentions; 4, 5 and 6 begin with the same word, and are (3, 2 and 1) words long in this order."""


def read(folder, text):
    (folder / "a.txt").write_text(text, "utf-8")
    return read_equalities(folder / "a.txt", GIVEN)


def ids_of(annotation):
    """The chains by the ids of their mentions."""
    ids = {span: int(m_id) for m_id, span in GIVEN.mentions.items()}
    return [[ids[span] for span in chain] for chain in annotation.chains]


@pytest.mark.parametrize("path", ANNOTATIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_sample_s_annotations_are_the_same_as_conll(path):
    of_document = read_given(SAMPLE / "given" / f"{path.parent.name}.conll")
    annotation = read_equalities(path, of_document)
    assert dump_annotation(annotation, of_document, ".conll") == path.with_suffix(
        ".conll"
    ).read_text("utf-8")


def test_lines_that_share_an_id_join(tmp_path):
    text = "# anna\n\n16=22\n1 = 13\n  # a comment\n2 = 14\r\n14=03 = 17\n13 = 21\n"
    annotation = read(tmp_path, text)
    assert ids_of(annotation) == [[1, 13, 21], [2, 3, 14, 17], [16, 22]]
    assert annotation.unused == [
        str(one) for one in (4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 18, 19, 20, 23, 24)
    ]


def test_no_equality_at_all_is_an_annotation_without_chains(tmp_path):
    annotation = read(tmp_path, "# nothing in common\n")
    assert (annotation.chains, len(annotation.unused)) == ([], 24)


def test_a_given_file_has_one_document(here):
    (here / "given.conll").write_text(
        "".join(path.read_text("utf-8") for path in SAMPLE.glob("given/*.conll")), "utf-8"
    )
    with pytest.raises(
        FormatError,
        match=r"contains 6 documents \(expected one, since equalities name no document\)",
    ):
        read_given(here / "given.conll")


def test_unused_mentions_are_listed_up_to_a_number(tmp_path):
    annotation = read(tmp_path, "1 = 2\n")
    assert describe_unused(annotation, GIVEN, 2) == [
        "22 given mentions not used (first 2 shown):",
        "3 (77000112003.2, 'Sergide')",
        '4 (77000112003.2, "Kıyıkent\'in eski balıkçılarını gösteren yüz fotoğraf")',
    ]
    every = read(tmp_path, " = ".join(str(one) for one in range(1, 25) if one not in (5, 6, 19)))
    assert describe_unused(every, GIVEN, 3)[0] == "3 given mentions not used:"


FREE = [m_id for m_id in GIVEN.mentions if m_id not in ("4", "5", "19")]
"""Mentions that don't overlap."""


def join_slowly(lines):
    """Chains of lines of ids, by joining any two that share one until none do."""
    chains = [set(line) for line in lines]
    while True:
        pair = next(((a, b) for a in chains for b in chains if a is not b and a & b), None)
        if pair is None:
            return sorted(sorted(map(int, chain)) for chain in chains)
        chains = [chain for chain in chains if chain not in pair] + [pair[0] | pair[1]]


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(FREE), min_size=2, max_size=4, unique=True), max_size=8),
    st.randoms(),
)
def test_the_order_of_lines_and_ids_does_not_matter(tmp_path_factory, lines, rng: random.Random):
    folder = tmp_path_factory.getbasetemp()
    annotation = read(folder, "# a\n" + "\n".join(map("=".join, lines)))
    assert ids_of(annotation) == join_slowly(lines)
    named = {int(m_id) for line in lines for m_id in line}
    assert [int(m_id) for m_id in annotation.unused] == [
        one for one in range(1, 25) if one not in named
    ]
    shuffled = [rng.sample(line, len(line)) for line in rng.sample(lines, len(lines))]
    assert read(folder, "# b\n" + "\n".join(map(" = ".join, shuffled))) == annotation


def overlap(one, other):
    return one != other and one[0] <= other[1] and other[0] <= one[1]


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.sampled_from(list(GIVEN.mentions)), min_size=2, max_size=3, unique=True),
        max_size=6,
    )
)
def test_an_error_if_and_only_if_a_chain_has_overlapping_mentions(tmp_path_factory, lines):
    folder = tmp_path_factory.getbasetemp()
    chains = [[GIVEN.mentions[str(m_id)] for m_id in chain] for chain in join_slowly(lines)]
    if any(overlap(one, other) for chain in chains for one in chain for other in chain):
        with pytest.raises(FormatError, match="puts overlapping mentions into one chain"):
            read(folder, "# a\n" + "\n".join(map("=".join, lines)))
    else:
        assert ids_of(read(folder, "# a\n" + "\n".join(map("=".join, lines)))) == join_slowly(lines)
