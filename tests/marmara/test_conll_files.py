"""Coreference in the corpus's CoNLL: what a cell looks like, and that the general reader reads it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.coref_readers import read_conll

from closeread.tasks.marmara.conll import dump_conll

TOKENS = 12
SPANS = st.tuples(st.integers(0, TOKENS - 1), st.integers(0, TOKENS - 1)).map(sorted).map(tuple)


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


@st.composite
def chains(draw):
    """Chains whose mentions don't overlap, over spans that each stand once; those of different chains may cross."""
    found = []
    for span in draw(st.lists(SPANS, unique=True, max_size=10)):
        free = [chain for chain in found if not any(overlap(span, other) for other in chain)]
        place = draw(st.integers(0, len(free)))
        if place < len(free):
            free[place].append(span)
        else:
            found.append([span])
    return found


@given(chains())
def test_what_is_written_is_read_back(tmp_path_factory, chains):
    file = tmp_path_factory.getbasetemp() / "written.conll"
    sentences = [
        make_sentence("77000112003.1", *(f"w{i}" for i in range(1, 6))),
        make_sentence("77000112003.2", *(f"w{i}" for i in range(1, 8))),
    ]
    record = {"document": "77000112", "sentences": sentences, "n_tokens": TOKENS}
    file.write_text(dump_conll([record], [chains]), "utf-8")
    (document,) = read_conll(file).documents
    assert document.name == "77000112"
    found = {
        frozenset((mention.start, mention.end) for mention in entity.mentions)
        for entity in document.entities
    }
    assert found == {frozenset(chain) for chain in chains}
    assert document.n_tokens == TOKENS
    assert list(document.words.read()) == [f"w{i}" for i in (*range(1, 6), *range(1, 8))]


def make_sentence(number, *forms):
    empty = {"groups": [], "head": None, "head_group": None, "relation": None}
    return {"number": number, "tokens": [{"form": form, "lemma": form, **empty} for form in forms]}


def test_words_have_the_numbers_of_the_treebank():
    sentences = [
        make_sentence("77000112003.1", "Kar", "yağdı", "."),
        make_sentence("77000112003.2", "Evet", "."),
    ]
    text = dump_conll(
        [{"document": "a", "sentences": sentences, "n_tokens": 5}],
        [[[[1, 2]]]],
        {"77000112003.1": [1, 3, 4]},
    )
    assert text.splitlines() == [
        "#begin document (a)",
        *("77000112003.1\t1\tKar\t-", "77000112003.1\t3\tyağdı\t(1", "77000112003.1\t4\t.\t1)", ""),
        *("77000112003.2\t1\tEvet\t-", "77000112003.2\t2\t.\t-", "", "#end document"),
    ]


@pytest.mark.parametrize(
    ("name", "form", "message"),
    [
        ("a", "kar yağdı", "sentence '77000112003.1': CoNLL can't express the word 'kar yağdı'"),
        ("a\n", "kar", r"document 'a\\n': a CoNLL file can't express this name"),
    ],
)
def test_what_conll_can_not_express_is_refused(name, form, message):
    sentences = [make_sentence("77000112003.1", form)]
    record = {"document": name, "sentences": sentences, "n_tokens": 1}
    with pytest.raises(ValueError, match=message):
        dump_conll([record], [[]])
