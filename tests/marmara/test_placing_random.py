"""Mentions in random documents: each is in a place with its text, or lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closeread.tasks.marmara.documents import Annotation, Mention
from closeread.tasks.marmara.placing import make_key, place_annotations

IDS = ["77000111", "77000112", "77000113"]
WORDS = st.sampled_from(
    ["Ali", "ali", "o", "bu", "Al", "i", "'", '"', "kabul_etti", "kabul", "etti"]
)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=5), min_size=1, max_size=4)


@st.composite
def corpora(draw):
    """Documents of UD; coreference files of other text, or of the same with other borders of tokens."""
    treebank = {
        name: [
            {"number": f"{name}_{i}", "tokens": [{"form": form} for form in forms]}
            for i, forms in enumerate(draw(SENTENCES), 1)
        ]
        for name in IDS
    }
    annotations = []
    for name in draw(st.lists(st.sampled_from(IDS), unique=True, min_size=1)):
        texts = draw(
            SENTENCES | st.just([[t["form"] for t in one["tokens"]] for one in treebank[name]])
        )
        mentions = []
        for i, words in enumerate(texts, 1):
            spans = st.tuples(st.integers(1, len(words)), st.integers(1, len(words))).map(sorted)
            for first, last in draw(st.lists(spans, max_size=3, unique_by=tuple)):
                text = " ".join(words[first - 1 : last])
                mentions.append(
                    Mention(
                        str(len(mentions)), f"{name}003.{i}", first, last, text, len(mentions) + 3
                    )
                )
        shuffled = draw(st.permutations([mention.id for mention in mentions]))
        cut = draw(st.integers(0, len(shuffled)))
        annotations.append(
            Annotation(
                f"{name}.xml", mentions, [ids for ids in (shuffled[:cut], shuffled[cut:]) if ids]
            )
        )
    return treebank, annotations


@pytest.mark.gate
@given(corpora())
@settings(max_examples=150)
def test_places_have_the_text(corpus):
    treebank, annotations = corpus
    placed = place_annotations(treebank, annotations)
    assert placed.problems == []
    sought = {annotation.file: annotation for annotation in annotations if annotation.mentions}
    # Without a document are files whose mentions are lost, and whose sentences are those of other documents.
    without = {
        notice.file for notice in placed.notices if "; left out" in notice.message and notice.file
    }
    assert without | set(placed.files) == set(sought)
    lost = {
        (one.file, one.message.split("'")[1])
        for one in placed.notices
        if one.message.startswith("mention ")
    }
    assert all((file, mention.id) in lost for file in without for mention in sought[file].mentions)
    used = [
        sentence["number"] for document in placed.documents for sentence in document["sentences"]
    ]
    assert len(used) == len(set(used))
    for document, file in zip(placed.documents, placed.files, strict=True):
        tokens = [
            token["form"] for sentence in document["sentences"] for token in sentence["tokens"]
        ]
        assert document["n_tokens"] == len(tokens)
        by_id = {mention.id: mention for mention in sought[file].mentions}
        spans = {}
        numbers = {}
        for one in document["mentions"]:
            mention = by_id[one["id"]]
            assert make_key("".join(tokens[one["start"] : one["end"] + 1])) == make_key(
                mention.text
            )
            numbers.setdefault(mention.sentence, set()).add(one["sentence"])
            spans[one["start"], one["end"]] = one["id"]
        # Each sentence is in one place, and mentions in different ones.
        assert all(len(found) == 1 for found in numbers.values())
        assert len(spans) == len(document["mentions"])
        of_file = {m_id for name, m_id in lost if name == file}
        assert of_file | set(spans.values()) == set(by_id)
        assert not of_file & set(spans.values())
        chains = [{spans[tuple(span)] for span in cluster} for cluster in document["clusters"]]
        left = [set(ids) - of_file for ids in sought[file].chains]
        assert sorted(map(sorted, chains)) == sorted(sorted(ids) for ids in left if len(ids) > 1)


@given(corpora())
@settings(max_examples=50)
def test_order_of_files_does_not_matter(corpus):
    treebank, annotations = corpus
    assert (
        place_annotations(treebank, annotations).documents
        == place_annotations(treebank, annotations[::-1]).documents
    )
