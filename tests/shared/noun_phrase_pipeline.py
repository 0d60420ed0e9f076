"""A spaCy pipeline without a model: parts of speech from a small invented lexicon, and noun phrases from these."""

import numpy as np
import spacy
from spacy.attrs import DEP, HEAD, POS
from spacy.language import Language

LEXICON = {
    "DET": "the a another",
    "ADJ": "old strange",
    "NOUN": "ferry rock captain light harbour police",
    "PROPN": "gannet oldhaven may",
    "PRON": "it he",
    "VERB": "hit hits sank saw told",
}
TAGS = {word: tag for tag, words in LEXICON.items() for word in words.split()}
NOUNS = ("NOUN", "PROPN")
BEFORE = ("DET", "ADJ", *NOUNS)
"""What can stand before the last noun of a phrase."""


@Language.component("invented_noun_phrases")
def parse(document):
    """Set parts of speech, and attach to the last noun of a phrase what stands before it."""
    tags = [TAGS.get(token.lower_, "SPACE" if token.is_space else "X") for token in document]
    heads = [0] * len(tags)
    for last in (
        i for i, tag in enumerate(tags) if tag in NOUNS and (tags[i + 1 :] or ["X"])[0] not in NOUNS
    ):
        first = last
        while first and tags[first - 1] in BEFORE:
            first -= 1
            heads[first] = last - first
    deps = ["dep" if head else "nsubj" for head in heads]
    add = document.vocab.strings.add
    rows = [[add(tag), head, add(dep)] for tag, head, dep in zip(tags, heads, deps, strict=True)]
    return document.from_array([POS, HEAD, DEP], np.array(rows, np.uint64))


def make_pipeline():
    """The pipeline."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("invented_noun_phrases")
    return pipeline
