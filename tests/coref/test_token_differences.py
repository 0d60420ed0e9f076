"""Different tokens in key and response are found, with their line."""

import re
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st
from shared.conll_documents import InventedWords, as_ontonotes, document, random_documents
from shared.coref_readers import read_conll
from shared.coreference_tables import make_documents

from closeread.files import write_text
from closeread.tasks.coref.formats.conll import dump_conll
from closeread.tasks.coref.key_response import put_in_order
from closeread.tasks.coref.word_comparison import token_differences


def test_tokens_that_differ(read):
    key = read(
        document("n 0 0 a -", "n 0 1 b -")
        + document("c -", name="(b)")
        + document("x -", name="(only key)")
    )
    same = read(
        document("z -", name="(only response)")
        + document("c -", name="(b)")
        + document("a -", "b (1)")
    )
    assert token_differences(key, put_in_order(key, same)) == []
    other = read(document("a -", "", "B -", "c -") + document("-", name="(b)"))
    assert [
        (problem.text, problem.line) for problem in token_differences(key, put_in_order(key, other))
    ] == [
        ("token 1 of document 'a' is 'B', but 'b' in the key (line 3)", 4),
        ("document 'a' has 3 tokens, but 2 in the key", 4),
    ]
    fewer = read(document("a -"))
    assert [
        (problem.text, problem.line) for problem in token_differences(key, put_in_order(key, fewer))
    ] == [("document 'a' has 1 token, but 2 in the key", None)]
    without_words = read(document("-", "-", "-"))
    assert [
        (problem.text, problem.line)
        for problem in token_differences(key, put_in_order(key, without_words))
    ] == [("document 'a' has 3 tokens, but 2 in the key", None)]
    assert token_differences(key, put_in_order(key, make_documents([[]]))) == []
    assert token_differences(key, put_in_order(key, read(document("_ -", "_ (0)")))) == []


@given(
    documents=random_documents(), at=st.integers(0, 7), form=st.sampled_from([str, as_ontonotes])
)
def test_one_changed_word_is_found(file, documents, at, form):
    *others, last = documents.documents
    words = list(last.words.read())
    place = at % len(words)
    assume(any(set(word) != {"_"} for word in words))  # that would say that no word is known
    words[place] += "x"
    write_text(file, form(dump_conll([*others, replace(last, words=InventedWords(words))])))
    found = token_differences(documents, read_conll(file))
    assert [problem.text.split(" of document ")[0] for problem in found] == [f"token {place}"]
    row = file.read_bytes().decode().split("\n")[found[0].line - 1]
    assert re.split(r"[ \t]+", row)[3] == words[place]
