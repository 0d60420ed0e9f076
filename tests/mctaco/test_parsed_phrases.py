"""Event phrases from texts: sentences parsed by hand, and bad input with its messages."""

from pathlib import Path

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from closeread.exceptions import FormatError
from closeread.tasks.mctaco.phrases import find_event_phrases, read_paragraphs

VOCABULARY = spacy.blank("en").vocab

# A sentence as "word/part of speech/relation/head", heads from 0; the phrases; the reason.
SENTENCES = [
    (
        "The/DET/det/1 potter/NOUN/nsubj/2 sold/VERB/ROOT/2 her/PRON/poss/4 kiln/NOUN/dobj/2 ./PUNCT/punct/2",
        ["the potter sold her kiln"],
        "subject, verb and object; the sentence begins small",
    ),
    (
        "Ann/PROPN/nsubj/1 came/VERB/ROOT/1 and/CCONJ/cc/1 left/VERB/conj/1 home/NOUN/dobj/3",
        ["Ann came", "Ann left home"],
        "a coordinated verb takes the subject before it; a name stays as it is",
    ),
    (
        "Ann/PROPN/nsubj/1 came/VERB/ROOT/1 ,/PUNCT/punct/1 Bo/PROPN/nsubj/4 left/VERB/conj/1",
        ["Ann came", "Bo left"],
        "a coordinated verb with a subject",
    ),
    (
        "I/PRON/nsubj/3 have/AUX/aux/3 never/ADV/neg/3 slept/VERB/ROOT/3",
        ["I have never slept"],
        "auxiliaries and negation; I stays as it is",
    ),
    (
        "When/ADV/advmod/2 it/PRON/nsubj/2 rained/VERB/advcl/5 ,/PUNCT/punct/5 she/PRON/nsubj/5 slept/VERB/ROOT/5",
        ["it rained", "she slept"],
        "an adverbial clause is a phrase of its own",
    ),
    (
        "Because/SCONJ/mark/2 it/PRON/nsubj/2 rained/VERB/advcl/4 Ann/PROPN/nsubj/4 slept/VERB/ROOT/4",
        ["it rained", "Ann slept"],
        "without its conjunction",
    ),
    (
        "She/PRON/nsubj/1 wanted/VERB/ROOT/1 to/PART/aux/3 paint/VERB/xcomp/1 it/PRON/dobj/3",
        ["she wanted to paint it"],
        "an infinitive belongs to its verb and has no subject",
    ),
    (
        "it/PRON/nsubj/1 rained/VERB/ccomp/4 ,/PUNCT/punct/4 she/PRON/nsubj/4 said/VERB/ROOT/4",
        ["it rained", "she said"],
        "what is quoted before the verb is a phrase of its own",
    ),
    (
        "She/PRON/nsubj/1 said/VERB/ROOT/1 it/PRON/nsubj/3 rained/VERB/ccomp/1",
        ["she said it rained", "it rained"],
        "what is said after the verb belongs to it",
    ),
    (
        "people/NOUN/nsubj/3 who/PRON/nsubj/2 sing/VERB/relcl/0 smile/VERB/ROOT/3",
        ["people who sing smile"],
        "a relative pronoun is no subject of a phrase",
    ),
    ("Did/AUX/aux/2 he/PRON/nsubj/2 leave/VERB/ROOT/2 ?/PUNCT/punct/2", [], "a question"),
    ("Let/VERB/ROOT/0 's/PRON/nsubj/2 go/VERB/ccomp/0", [], "a proposal"),
    ("left/VERB/conj/0", [], "coordinated with itself, by a parser that is wrong"),
    ("Leave/VERB/ROOT/0 now/ADV/advmod/0", [], "no subject"),
    ("She/PRON/nsubj/1 is/AUX/ROOT/1 ill/ADJ/acomp/1", [], "a state"),
    (
        "NASA/NOUN/nsubj:pass/2 was/AUX/aux:pass/2 asked/VERB/root/2",
        ["NASA was asked"],
        "labels of Universal Dependencies; an abbreviation stays as it is",
    ),
    (
        '"/PUNCT/punct/2 She/PRON/nsubj/2 sang/VERB/ROOT/2 "/PUNCT/dobj/2',
        ["she sang"],
        "punctuation at the edges, whatever its relation, is no first word",
    ),
]


def parse(sentence):
    tokens = [token.rsplit("/", 3) for token in sentence.split()]
    words, parts, relations, heads = zip(*tokens, strict=True)
    return Doc(VOCABULARY, words=words, pos=parts, deps=relations, heads=list(map(int, heads)))


@pytest.mark.parametrize(("sentence", "expected", "why"), SENTENCES)
def test_sentences(sentence, expected, why):
    assert list(find_event_phrases(parse(sentence))) == expected, why


def test_contractions_are_written_as_in_the_text():
    words = ["She", "did", "n't", "sleep"]
    heads, relations = [3, 3, 3, 3], ["nsubj", "aux", "neg", "ROOT"]
    spaces, parts = [True, False, True, False], ["PRON", "AUX", "PART", "VERB"]
    document = Doc(VOCABULARY, words=words, spaces=spaces, pos=parts, deps=relations, heads=heads)
    assert list(find_event_phrases(document)) == ["she didn't sleep"]


def test_blank_lines_separate_paragraphs(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbf\r\n one\r\ntwo \r\n\r\n \t\r\nthree")
    assert read_paragraphs(path, 10) == ["one two", "three"]


def test_all_problems_of_a_text_at_once(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\n12\x07\n34\n\n567\n\x1b\n")
    with pytest.raises(FormatError) as error:
        read_paragraphs(path, 4)
    assert [(problem.line, problem.message) for problem in error.value.problems] == [
        (2, "contains the control character U+0007"),
        (2, "the paragraph has 6 characters (limit of the pipeline: 4)"),
        (6, "contains the control character U+001B"),
        (5, "the paragraph has 5 characters (limit of the pipeline: 4)"),
        (None, "contains no words"),
    ]


@Language.component("closeread_test_parser")
def parse_by_position(document):
    """Take the first word of every sentence for its subject and the second for its verb."""
    heads, relations, parts = [], [], []
    begin = 0
    for token in document:
        part, relation = {0: ("PRON", "nsubj"), 1: ("VERB", "ROOT")}.get(
            token.i - begin, ("NOUN", "obj")
        )
        heads.append(min(begin + 1, len(document) - 1))
        relations.append("punct" if token.is_punct else relation)
        parts.append("PUNCT" if token.is_punct else part)
        begin = token.i + 1 if token.text == "." else begin
    words, spaces = zip(*((token.text, bool(token.whitespace_)) for token in document), strict=True)
    return Doc(document.vocab, words=words, spaces=spaces, pos=parts, deps=relations, heads=heads)


@pytest.fixture
def pipeline(here):
    nlp = spacy.blank("en")
    nlp.add_pipe("closeread_test_parser")
    nlp.to_disk("pipeline")
    Path("one.txt").write_text("She sold boats.\n\nHe slept.\n", "utf-8")
    Path("two.txt").write_text("she sold boats. They went home early.\n", "utf-8")
    return "pipeline"


@pytest.mark.filterwarnings("ignore")  # warnings of spaCy itself
def test_phrases_of_texts(ran, here, pipeline):
    command = [
        "phrases",
        "text",
        "one.txt",
        "two.txt",
        "--spacy-model",
        pipeline,
        "-o",
        "events.txt",
    ]
    assert ran(*command) == "events.txt: 3 phrases from 3 paragraphs\n"
    assert (
        Path("events.txt").read_text("utf-8") == "she sold boats\nhe slept\nthey went home early\n"
    )
    assert ran(*command, "--max-words", "3") == "events.txt: 2 phrases from 3 paragraphs\n"


@pytest.mark.filterwarnings("ignore")
def test_texts_that_can_not_be_used(run, here, pipeline):
    Path("bad.txt").write_bytes(b"ab\xff")
    command = [
        "phrases",
        "text",
        "bad.txt",
        "one.txt",
        "nowhere.txt",
        "--spacy-model",
        pipeline,
        "-o",
        "events.txt",
    ]
    done = run(*command)
    assert (done.exit_code, Path("events.txt").exists()) == (1, False)
    assert "bad.txt:1: byte 3 (0xff) is not valid UTF-8" in done.stderr
    assert "nowhere.txt: can't be read: No such file or directory" in done.stderr
    done = run(
        "phrases",
        "text",
        "two.txt",
        "--max-words",
        "2",
        "--spacy-model",
        pipeline,
        "-o",
        "events.txt",
    )
    assert (done.exit_code, Path("events.txt").exists()) == (2, False)
    assert "no event phrase of at most 2 words was found (expected at least one)" in done.stderr


@pytest.mark.filterwarnings("ignore")
def test_pipelines_that_can_not_be_used(run, here, pipeline, monkeypatch):
    command = ["phrases", "text", "one.txt", "-o", "events.txt", "--spacy-model"]
    spacy.blank("en").to_disk("blank")
    done = run(*command, "blank")
    assert done.exit_code == 2
    found = "spaCy pipeline 'en_pipeline' does not annotate dependencies and parts of speech"
    assert f"{found} (expected a pipeline with a parser)" in " ".join(done.stderr.split())
    done = run(*command, "xx_no_such_pipeline")
    assert done.exit_code == 2
    assert "spaCy pipeline 'xx_no_such_pipeline' does not exist" in " ".join(done.stderr.split())
    Path("blank/meta.json").write_text("{")
    assert "spaCy pipeline 'blank' can't be loaded: " in " ".join(
        run(*command, "blank").stderr.split()
    )
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    done = run(*command, pipeline)
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: closeread phrases text needs spacy: pip install 'closeread[spacy]'\n",
    )
    assert not Path("events.txt").exists()
