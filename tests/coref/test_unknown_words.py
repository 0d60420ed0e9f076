"""Words of documents in JSON are known or not; where they are not, everything that needs none of them works."""

import json
from pathlib import Path

import pytest
from shared.coreference import NO_INTERVALS, as_values
from shared.neural import DIALECTS, words_of, write_lines

import closeread
from closeread.exceptions import InputError, RequestError
from closeread.tasks.coref.formats import coref_json

WORDS = "tokens", "sentences", "cased_words"
"""The fields with words."""

OWN = {"document": "a", "clusters": [[[0, 0], [2, 2]]]}
TWICE = {"document": "a", "clusters": [[[0, 0], [2, 2]], [[0, 0], [3, 3]]]}
OPTIONAL = "e2e", "subtokens", "maverick"
"""The dialects that can do without words."""


def without_words(document):
    return {field: value for field, value in document.items() if field not in WORDS}


def misspelt(document):
    return {f"{field}s" * (field in WORDS) or field: value for field, value in document.items()}


def write_conll():
    lines = [
        f"a\t0\t{i}\t{word}\t{'(0)' if i in (0, 2) else '-'}\n"
        for i, word in enumerate(words_of("a"))
    ]
    text = f"#begin document (a); part 000\n{''.join(lines)}\n#end document\n"
    Path("key.conll").write_text(text, "utf-8")
    return Path("key.conll")


def score(response, key, **options):
    """The F1 of LEA."""
    report = closeread.score("coref", response, gold=key, resampling=NO_INTERVALS, **options)
    return as_values(report)["lea/f1"]


def test_every_dialect_is_tried():
    fields = {field for make in DIALECTS.values() for field in make(OWN)}
    assert set(coref_json.DIALECTS) - {"clusters_text_mentions"} <= fields


@pytest.mark.parametrize("lose", [without_words, misspelt], ids=["absent", "misspelt"])
@pytest.mark.parametrize("name", OPTIONAL)
@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_words_are_aligned_only_where_they_are_known(name, lose, here):
    key = write_conll()
    whole = write_lines(Path("whole.jsonl"), [DIALECTS[name](OWN)])
    path = write_lines(Path("response.jsonl"), [lose(DIALECTS[name](OWN))])
    assert score(whole, key, words="align") == score(path, key) == 1
    needs = "words='align' needs words on both sides, but document 'a"
    with pytest.raises(RequestError, match=f"{needs}.* of the response has none"):
        score(path, key, words="align")
    with pytest.raises(RequestError, match=f"{needs}.* of the key has none"):
        score(whole, path, words="align")


@pytest.mark.parametrize("lose", [without_words, misspelt], ids=["absent", "misspelt"])
@pytest.mark.parametrize("name", sorted(DIALECTS.keys() - OPTIONAL))
def test_other_dialects_need_words(name, lose, here):
    path = write_lines(Path("response.jsonl"), [lose(DIALECTS[name](OWN))])
    with pytest.raises(InputError, match=r"is missing|unknown field"):
        score(path, write_conll(), words="align")


REPEATED = {
    **{name: make(TWICE) for name, make in DIALECTS.items()},
    **{f"{name} without words": without_words(DIALECTS[name](TWICE)) for name in OPTIONAL},
    "own": TWICE,
}


@pytest.mark.parametrize("document", REPEATED.values(), ids=REPEATED)
def test_repeated_mentions_are_told_alike(document, here):
    path = write_lines(Path("a.jsonl"), [document])
    found = "document 'a': the mention of tokens 0 to 0 is in entities '0' and '1'; keep one"
    with pytest.raises(InputError, match=found):
        score(path, path)


def test_one_document_with_words_and_one_without(here):
    key = write_lines(Path("key.jsonl"), [DIALECTS["e2e"]({**OWN, "document": n}) for n in "ab"])
    first, second = map(json.loads, key.read_text("utf-8").splitlines())
    response = write_lines(Path("response.jsonl"), [first, without_words(second)])
    assert score(response, key) == 1
    with pytest.raises(RequestError, match="document 'b' of the response has none"):
        score(response, key, words="align")
