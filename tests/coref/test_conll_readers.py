"""What CoNLL files say to us and to three scorers: their readers' answers are in `agreed/conll_readers.json`."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from agreed import conll_readers as maker
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.conll_documents import SENTENCE, as_ontonotes, has_crossing, random_tables
from shared.peers import find_peer

from closeread.exceptions import FormatError
from closeread.tasks.coref.formats.conll import dump_conll

AGREEMENT = json.loads((Path(maker.__file__).parent / "conll_readers.json").read_text("utf-8"))
READERS = {
    "reference scorer": "reference-coreference-scorers",
    "coval": "coval",
    "corefud-scorer": "corefud-scorer",
}


def shown(table):
    """The entities of a table as `conll_readers.json` has them."""
    borders = np.searchsorted(table.entity, np.arange(table.n_entities + 1)).tolist()
    spans = [
        f"{start}-{end}"
        for start, end in zip(table.start.tolist(), table.end.tolist(), strict=True)
    ]
    return maker.shown([",".join(spans[first:last]) for first, last in pairwise(borders)])


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
    @given(tables=st.lists(random_tables(crossing=True), min_size=1, max_size=40))
    def check(tables):
        tables = [table for table in tables if not has_crossing(table)]
        texts = [dump_conll(table) for table in tables]
        assert maker.read_texts(*command, texts) == [shown(table) for table in tables]
        # In OntoNotes' form, which has sentences, no mention crosses their borders; coval and corefud-scorer number
        # tokens from the beginning of the sentence.
        tables = [
            table
            for table in tables
            if np.array_equal(table.start // SENTENCE, table.end // SENTENCE)
        ]
        texts = [as_ontonotes(dump_conll(table)) for table in tables]
        if name != "reference scorer":
            tables = [
                replace(table, start=table.start % SENTENCE, end=table.end % SENTENCE)
                for table in tables
            ]
        assert maker.read_texts(*command, texts) == [shown(table) for table in tables]

    check()


@pytest.mark.parametrize("name", READERS)
def test_the_readers_still_say_so(name):
    folders = [find_peer(repository) for repository in READERS.values()]
    found = maker.read_texts(*maker.commands(*folders)[name], list(maker.made_texts().values()))
    assert found == list(AGREEMENT["said"].values())
