"""Every function warns of what its command notes: each message once, at the line of the user's code that called it."""

import shutil
import warnings

import pytest
from shared.entry_points import sample_gold, system_rows

import closeread
from closeread.corpus import notices
from closeread.files import package_folder

SAMPLE = {"config": "sample"}
ODD_POSSESSION = (
    "1 possession has a relation to an unknown anchor (first: in 'The Lighthouse Clock')."
)
ODD_NOUN_PHRASES = "2 linked noun phrases are times, dates or measurements (first: np2 in 's1')."
LONELY = "1 document of gold in none of the other files: 'b'."
WORD = (
    "1 word of the response differs from the key's in 1 document ('d; part 000'); first: line 2: "
    "token 0 of document 'd; part 000' is 'X', but 'A' in the key (line 2)"
)
TOGETHER, ONLY_A = {"a": [[[0, 0], [1, 1]]], "b": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0], [1, 1]]]}
CONLL = "#begin document (d); part 000\nd 0 0 {} - (0)\nd 0 1 B - (0)\n\n#end document\n"


def other_files():
    """A folder with the sample in the place of the released file of WikiPossessions."""
    shutil.copy(
        package_folder("closeread.loaders.wikipossessions") / "sample.csv", "annotations.csv"
    )
    return "."


OWN_FILE = "annotations.csv is not the released file (sha256 "

CALLS = {
    "errors coref": (
        lambda: closeread.errors("coref", "response.conll", gold="key.conll", words="warn"),
        [WORD],
    ),
    "errors tne": (
        lambda: closeread.errors("tne", system_rows("tne"), gold=sample_gold("tne")),
        [ODD_NOUN_PHRASES],
    ),
    "plot of a record": (
        lambda: closeread.plot(
            "possession", "The Lighthouse Clock", gold=sample_gold("wikipossessions")
        ),
        [ODD_POSSESSION],
    ),
    "plot beside gold": (lambda: closeread.plot("mistakes", TOGETHER, ONLY_A), [LONELY]),
    "convert tne": (
        lambda: closeread.convert("tne", system_rows("tne"), gold=sample_gold("tne")),
        [ODD_NOUN_PHRASES],
    ),
    "compare": (
        lambda: closeread.compare("coref", *["response.conll"] * 2, gold="key.conll", words="warn"),
        [WORD],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_message_once_at_the_line_of_the_call(name, here, monkeypatch):
    monkeypatch.setattr(notices, "_shown", set())
    for file, word in (("key.conll", "A"), ("response.conll", "X")):
        (here / file).write_text(CONLL.format(word), "utf-8")
    call, expected = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
        call()
    told = [str(one.message) for one in caught]
    assert [
        text[: len(OWN_FILE)] if text.startswith(OWN_FILE) else text for text in told
    ] == expected
    assert {(one.category, one.filename) for one in caught} == {
        (closeread.CloseReadWarning, __file__)
    }


def test_a_command_notes_each_line_once():
    told = []
    with notices.telling(told.extend):
        notices.warn("one split is skipped.\nAnother is skipped.")
        notices.warn_all(["Another is skipped.", "two words differ", "two words differ"])
        notices.warn("two words differ")
    assert told == ["one split is skipped.", "Another is skipped.", *["two words differ"] * 2]
