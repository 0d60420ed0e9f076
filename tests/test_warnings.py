"""Every function warns of what its command notes: each message once, at the line of the user's code that called it."""

import shutil
import warnings

import pytest
from shared.doors import sample_gold, system_rows

import closeread
from closeread.corpus import notices
from closeread.files import package_folder

SAMPLE = {"config": "sample"}
KNOWN_OF_TNE = "1 known oddity of the released files: see `closeread info tne --oddities`"
ODD_POSSESSION = "1 possession has a relation to an unknown anchor (first: in 'The Lighthouse Clock')."
ODD_NOUN_PHRASES = "2 linked noun phrases are times, dates or measurements (first: np2 in 's1')."
LONELY = "1 document of gold in none of the other files: 'b'."
ALONE = "1 document has fewer than two annotators, and no alpha: 'b'."
WORD = (
    "1 word of the response differs from the key's in 1 document ('d; part 000'); first: line 2: "
    "token 0 of document 'd; part 000' is 'X', but 'A' in the key (line 2)"
)
TOGETHER, ONLY_A = {"a": [[[0, 0], [1, 1]]], "b": [[[0, 0], [1, 1]]]}, {"a": [[[0, 0], [1, 1]]]}
UNDEFINED = "alpha is 0/0, and 1 by convention, in 1 document without two different values: 'a'."
CONLL = "#begin document (d); part 000\nd 0 0 {} - (0)\nd 0 1 B - (0)\n\n#end document\n"
ANN = {"id": "bea", "entity": "Ann", "entries": [{"position": 1, "anchor": "2007", "mentions": ["1-1-b"]}]}


def other_files():
    """A folder with the sample in the place of the released file of WikiPossessions."""
    shutil.copy(package_folder("closeread.loaders.wikipossessions") / "sample.csv", "annotations.csv")
    return "."


OWN_FILE = "annotations.csv is not the released file (sha256 "

CALLS = {
    "agreement wikipossessions": (
        lambda: closeread.agreement("wikipossessions", *[sample_gold("wikipossessions")] * 2),
        [f"annotator {number}: {ODD_POSSESSION}" for number in (1, 2)],
    ),
    "agreement coref": (lambda: closeread.agreement("coref", TOGETHER, ONLY_A), [ALONE, UNDEFINED]),
    "agreement of a file with itself": (
        lambda: closeread.agreement("coref", "key.conll", "key.conll"),
        ["key.conll is given twice; it counts as two files.", UNDEFINED.replace("'a'", "'d; part 000'")],
    ),
    "errors coref": (lambda: closeread.errors("coref", "key.conll", "response.conll", words="warn"), [WORD]),
    "errors tne": (lambda: closeread.errors("tne", system_rows("tne"), **SAMPLE), [KNOWN_OF_TNE]),
    "errors chains": (lambda: closeread.errors("chains", TOGETHER, ONLY_A), [LONELY]),
    "plot of a record": (
        lambda: closeread.plot("possession", "The Lighthouse Clock", gold=sample_gold("wikipossessions")),
        [ODD_POSSESSION],
    ),
    "plot of what is not drawn": (
        lambda: closeread.plot("timeline-relations", "Aurelia", **SAMPLE),
        ["not drawn: 1 mention at position 0, without relations"],
    ),
    "plot of a corpus": (lambda: closeread.plot("prepositions", **SAMPLE), [KNOWN_OF_TNE]),
    "plot beside gold": (lambda: closeread.plot("mistakes", TOGETHER, ONLY_A), [LONELY]),
    "baseline": (lambda: closeread.baseline("tne", "title-first", **SAMPLE), [KNOWN_OF_TNE]),
    "baseline of own gold": (
        lambda: closeread.baseline("tne", "title-first", gold=sample_gold("tne")),
        [ODD_NOUN_PHRASES],
    ),
    "convert tne": (
        lambda: closeread.convert("tne", system_rows("tne"), gold=sample_gold("tne")),
        [ODD_NOUN_PHRASES],
    ),
    "convert timeline": (
        lambda: closeread.convert("timeline", [ANN]),
        ["timeline 'bea': the timeline is named 'bea' (expected 'ann' for the entity 'Ann')."],
    ),
    "compare": (
        lambda: closeread.compare("coref", *["response.conll"] * 2, gold="key.conll", words="warn"),
        [f"{WORD} (2 times)"],
    ),
    "stats": (lambda: closeread.stats("tne", **SAMPLE), [KNOWN_OF_TNE]),
    "reproduce": (lambda: closeread.reproduce("wikipossessions", "3", data_dir=other_files()), [OWN_FILE]),
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
    assert [text[: len(OWN_FILE)] if text.startswith(OWN_FILE) else text for text in told] == expected
    assert {(one.category, one.filename) for one in caught} == {(closeread.CloseReadWarning, __file__)}


def test_a_command_notes_each_line_once():
    told = []
    with notices.telling(told.extend):
        notices.warn("one split is skipped.\nAnother is skipped.")
        notices.warn_all(["Another is skipped.", "two words differ", "two words differ"])
        notices.warn("two words differ")
    assert told == ["one split is skipped.", "Another is skipped.", *["two words differ"] * 2]
