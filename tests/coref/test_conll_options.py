"""The options that say how CoNLL files are read: `words` and `word_column`, and notes about what was read."""

import json
from pathlib import Path
from shutil import copyfile

import pytest
from shared.conll_documents import ONTONOTES, as_ontonotes, document
from shared.coref_readers import read_conll
from shared.coreference import read_response, score_files, write_jsonl

from closeread.exceptions import FormatError
from closeread.tasks.coref.key_response import put_in_order
from closeread.tasks.coref.word_comparison import note_other_words

KEY = document("n 0 0 a (1)", "n 0 1 b -", "n 0 2 c (1)") + document("n 0 0 d (1)", name="(e)")
OTHER = document("n 0 0 a (1)", "n 0 1 B -", "n 0 2 C (1)") + document("n 0 0 D (1)", name="(e)")
SEMEVAL = """#begin document a
1\ta\tl\tl\tx\t(1)
2\tb\tl\tl\tx\t-

1\tc\tm\tm\tx\t(1)
#end document a
#begin document e
1\td\tl\tl\tx\t(1)
#end document e
"""


@pytest.fixture(params=[str, as_ontonotes])
def pair(here, request):
    Path("key.conll").write_text(request.param(KEY))
    Path("other.conll").write_text(request.param(OTHER))
    return "key.conll", "other.conll"


def test_other_words_are_an_error(run, pair):
    done = run("score", "coref", *pair, "--no-ci")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert (
        "other.conll:3: token 1 of document 'a' is 'B', but 'b' in the key (line 3)" in done.stderr
    )
    assert (
        "other.conll:7: token 0 of document 'e' is 'D', but 'd' in the key (line 7)" in done.stderr
    )


def test_other_words_may_be_scored_with_a_note(run, pair):
    done = run("score", "coref", *pair, "--no-ci", "--words", "warn", "--json")
    assert done.exit_code == 0
    first = "first: line 3: token 1 of document 'a' is 'B', but 'b' in the key (line 3)"
    where = f"3 words of the response differ from the key's in 2 documents ('a', 'e'); {first}"
    assert done.stderr == f"note: {where}\n"
    report = json.loads(done.stdout)
    assert report["scores"]["b3/f1"]["value"] == 1
    assert "|words:warn|" in report["signature"]
    assert "words:" not in run("score", "coref", "key.conll", "key.conll", "--no-ci").stdout


def test_other_words_may_be_scored_without_a_note(run, pair):
    done = run("score", "coref", *pair, "--no-ci", "--words", "ignore")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "|words:ignore|" in done.stdout
    copyfile("key.conll", "copy.conll")
    same = run("score", "coref", "key.conll", "copy.conll", "--no-ci", "--words", "warn")
    assert (same.exit_code, same.stderr) == (0, "")


@pytest.mark.parametrize("words", ["warn", "ignore"])
def test_another_number_of_tokens_is_an_error_all_the_same(run, pair, words):
    Path("other.conll").write_text(OTHER.replace("n 0 1 B -\n", "n 0 1 B -\n" * 2))
    done = run("score", "coref", *pair, "--no-ci", "--words", words)
    assert done.exit_code == 1
    assert "document 'a' has 4 tokens, but 3 in the key" in done.stderr
    assert "token 1" not in done.stderr


def test_words_in_python_and_in_other_formats(pair):
    assert score_files(*pair, words="ignore", metrics=("lea",))["lea/f1"] == 1
    clusters = {"a": [[[0, 0], [2, 2]]], "e": [[[0, 0]]]}
    without_words = write_jsonl(Path("other.jsonl"), clusters)
    response = read_response("key.conll", without_words, words="warn")
    assert [len(document.mentions) for document in response.documents] == [2, 1]
    assert list(response.notices) == []


def test_the_differing_words_of_many_documents(here, read):
    key = read("".join(document("a -", "b -", name=f"({i})") for i in range(9)))
    same = read("".join(document("a -", "b -", name=f"({i})") for i in range(9)))
    assert note_other_words(key, same) == []
    Path("other.conll").write_text(
        "".join(document("A -", "B (1)", name=f"({i})") for i in (7, 3, 5, 4, 2))
    )
    (note,) = note_other_words(key, put_in_order(key, read_conll(Path("other.conll"))))
    first = "first: line 18: token 0 of document '2' is 'A', but 'a' in the key (line 10)"
    assert (
        note
        == f"10 words of the response differ from the key's in 5 documents ('2', '3', '4', …); {first}"
    )


def test_the_word_column_is_guessed_for_each_file(run, pair):
    Path("semeval.conll").write_text(SEMEVAL)
    plain = SEMEVAL.replace("\tl\tl\tx", "").replace("\tm\tm\tx", "")
    Path("plain.conll").write_text(plain)
    copyfile("key.conll", "copy.conll")
    for response in ("semeval.conll", "plain.conll", "copy.conll"):
        done = run("score", "coref", "key.conll", response, "--no-ci")
        assert (done.exit_code, done.stderr) == (0, "")


def test_the_word_column_can_be_given(run, pair):
    Path("semeval.conll").write_text(SEMEVAL)
    Path("lemmas.conll").write_text(SEMEVAL.replace("\tb\t", "\tB\t").replace("\tc\t", "\tC\t"))
    assert run("score", "coref", "semeval.conll", "lemmas.conll", "--no-ci").exit_code == 1
    done = run("score", "coref", "semeval.conll", "lemmas.conll", "--no-ci", "--word-column", "3")
    assert (done.exit_code, done.stderr) == (0, "")
    default = run("score", "coref", "semeval.conll", "semeval.conll", "--no-ci")
    # the signature does without it
    assert done.stdout.splitlines()[-1] == default.stdout.splitlines()[-1]
    found = "semeval.conll:1: the word column is 6, but the document has 6 columns, and the last contains the mentions"
    done = run("score", "coref", "semeval.conll", "lemmas.conll", "--no-ci", "--word-column", "6")
    assert (done.exit_code, done.stderr) == (
        1,
        f"Error: {found} (expected 1 to 5) (2 times; also line 7)\n",
    )
    for value in ("0", "last", "-1"):
        done = run("score", "coref", "semeval.conll", "lemmas.conll", "--word-column", value)
        assert done.exit_code == 2
        assert "expected auto or the number of a column, from 1" in done.stderr
    both = run(
        "compare", "coref", "semeval.conll", "lemmas.conll", "lemmas.conll", "--word-column", "4"
    )
    assert both.exit_code == 0
    assert (
        run("errors", "coref", "semeval.conll", "lemmas.conll", "--word-column", "3").exit_code == 0
    )


def test_the_word_column_of_sentences_of_several_widths(run, read):
    words = [read(ONTONOTES, column).documents[0].words.read() for column in (None, 4, 11)]
    assert words[0] == words[1] == ["The", "ferry", "left", "and", "sank", "Quiet", "It", "was"]
    assert words[2] == ["*"] * 8
    # The second sentence has no predicate, and so no twelfth column before that of the mentions.
    with pytest.raises(FormatError, match=r":8: the number of columns is 12 \(expected 14, as in"):
        read(ONTONOTES, 12)


def test_notes_about_brackets_reach_the_user(run, pair):
    Path("key.conll").write_text(document("a (1", "b 1)|(1", "c 1)"))
    done = run("score", "coref", "key.conll", "key.conll", "--no-ci", "--metrics", "b3")
    note = (
        "note: key.conll: an entity closes and opens again in 1 cell; what opens is read before "
        "what closes, as the reference scorer does (first: '1)|(1' on line 3)\n"
    )
    assert done.exit_code == 0
    assert done.stderr.count(note) == 1  # of both sides, which are one file
    Path("other.conll").write_text(document("a (1", "b (1)", "c 1)"))
    nested = run("score", "coref", "other.conll", "key.conll", "--no-ci", "--metrics", "b3")
    assert "100.00" in nested.stdout
    assert nested.stderr.count(note) == 1
