"""What CoNLL files say to us and to three scorers: their readers' answers are in `agreed/conll_readers.json`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from agreed import conll_readers as maker
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.conll_documents import SENTENCE, as_ontonotes, has_crossing, random_documents
from shared.peers import find_peer

from closeread.exceptions import FormatError
from closeread.tasks.coref.formats.conll import dump_conll

AGREEMENT = json.loads((Path(maker.__file__).parent / "conll_readers.json").read_text("utf-8"))
READERS = {
    "reference scorer": "reference-coreference-scorers",
    "coval": "coval",
    "corefud-scorer": "corefud-scorer",
}


def shown(documents):
    """The entities of documents as `conll_readers.json` has them."""
    return maker.shown(
        [
            ",".join(f"{mention.start}-{mention.end}" for mention in entity.mentions)
            for document in documents.documents
            for entity in document.entities
        ]
    )


def is_in_sentences(documents):
    """Whether no mention crosses the border of a sentence of OntoNotes' form."""
    return all(
        mention.start // SENTENCE == mention.end // SENTENCE
        for document in documents.documents
        for mention in document.mentions
    )


def number_in_sentences(documents):
    """Return the documents with tokens numbered from the beginning of their sentence."""

    def renumber(entity):
        return entity._replace(
            mentions=[
                mention._replace(start=mention.start % SENTENCE, end=mention.end % SENTENCE)
                for mention in entity.mentions
            ]
        )

    return documents.replaced(
        replace(document, entities=list(map(renumber, document.entities)))
        for document in documents.documents
    )


@pytest.mark.gate
def test_all_readers_agree_on_cells_with_bars(read):
    texts = maker.made_texts()
    for form in (str, as_ontonotes):
        found = {name: shown(read(form(text))) for name, text in texts.items()}
        assert found == AGREEMENT["said"]
    assert all(isinstance(said, str) for said in AGREEMENT["said"].values())
    assert sum(len(read(text).notices) for text in texts.values()) > 100


def test_cells_without_bars_are_read_as_with_bars(read):
    texts, answers = maker.texts_without_bars(), AGREEMENT["without_bars"]
    # 1)(1 and 1)(2) are clear to all.
    for cells, expected in {"(1 1)(1 1)": "0-2,1-1", "(1 1)(2)": "0-1 1-1"}.items():
        assert {shown(read(texts[cells])), *answers[cells].values()} == {expected}
    # coval and corefud-scorer forget that 0 opens.
    assert shown(read(texts["(0(1 1)0)"])) == answers["(0(1 1)0)"]["reference scorer"] == "0-1 0-1"
    assert answers["(0(1 1)0)"]["coval"] == "0-1"
    # To the reference scorer, (1(2)3) without (2) is (13).
    assert shown(read(texts["(3 (1(2)3) 1)"])) == "0-1 1-1 1-2"
    assert answers["(3 (1(2)3) 1)"]["reference scorer"] == "refused"
    assert answers["(1(2)3)"]["reference scorer"] == "0-0 0-0"
    with pytest.raises(FormatError, match="entity 3 closes but is not open"):
        read(texts["(1(2)3)"])


@pytest.mark.parametrize("name", READERS)
def test_what_is_written_is_read_alike(name):
    folders = [find_peer(repository) for repository in READERS.values()]
    command = maker.commands(*folders)[name]

    @settings(max_examples=15)
    @given(files=st.lists(random_documents(crossing=True), min_size=1, max_size=40))
    def check(files):
        files = [documents for documents in files if not has_crossing(documents)]
        texts = [dump_conll(documents.documents) for documents in files]
        assert maker.read_texts(*command, texts) == list(map(shown, files))
        # In OntoNotes' form, which has sentences, no mention crosses their borders; coval and corefud-scorer number
        # tokens from the beginning of the sentence.
        files = list(filter(is_in_sentences, files))
        texts = [as_ontonotes(dump_conll(documents.documents)) for documents in files]
        if name != "reference scorer":
            files = list(map(number_in_sentences, files))
        assert maker.read_texts(*command, texts) == list(map(shown, files))

    check()


@pytest.mark.parametrize("name", READERS)
def test_the_readers_still_say_so(name):
    folders = [find_peer(repository) for repository in READERS.values()]
    found = maker.read_texts(*maker.commands(*folders)[name], list(maker.made_texts().values()))
    assert found == list(AGREEMENT["said"].values())
