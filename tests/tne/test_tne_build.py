"""Documents built from plain texts, by a pipeline of invented rules and with the noun phrases of the release."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pages
import pytest
from shared.json_lines import read

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import RequestError

spacy = pytest.importorskip("spacy")

from shared.noun_phrase_pipeline import make_pipeline  # noqa: E402 (needs spaCy)
from spacy.language import Language  # noqa: E402

from closeread.corpus.pipelines import list_unneeded  # noqa: E402
from closeread.tasks.tne.building import PlainText, build_documents, read_texts  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of spaCy itself

PAGE = Path(__file__).parent.parent.parent / "docs" / "tne.md"
FERRY = "Ferry hits rock\nMay 4\n\nThe ferry Gannet hit a rock. It sank.\nThe captain saw a strange light.\n"
LAID_OUT = "Ferry hits rock\n\nMay 4 \n\nThe ferry Gannet hit a rock. It sank. \nThe captain saw a strange light."
TOKENS = [
    *("Ferry", "hits", "rock", "\n\n", "May", "4", "\n\n"),
    *("The", "ferry", "Gannet", "hit", "a", "rock", ".", "It", "sank", ".", "\n"),
    *("The", "captain", "saw", "a", "strange", "light", "."),
]
# Counted by hand in LAID_OUT and TOKENS.
PHRASES = [
    ("Ferry", 0, 5, 0, 0),
    ("rock", 11, 15, 2, 2),
    ("May", 17, 20, 4, 4),
    ("The ferry Gannet", 25, 41, 7, 9),
    ("a rock", 46, 52, 11, 12),
    ("The captain", 64, 75, 18, 19),
    ("a strange light", 80, 95, 21, 23),
]
FIELDS = ("text", "first_char", "last_char", "first_token", "last_token")
SHORT = "Rock\nMay 4\nHe saw a light.\n"


@pytest.fixture
def pipeline(here):
    """A folder with the pipeline of invented rules."""
    make_pipeline().to_disk(here / "rules")
    return ["--spacy-model", "rules"]


@pytest.fixture
def texts(here):
    (here / "ferry.txt").write_text(FERRY)
    (here / "short.txt").write_text(SHORT)
    return ["ferry.txt", "short.txt"]


def test_the_ferry_by_hand(ran, pipeline, texts):
    assert ran("prepare", "tne", "documents", "ferry.txt", *pipeline, "-o", "built.jsonl") == (
        "built.jsonl: 1 document, 7 noun phrases\n"
    )
    phrases = [
        dict(zip(FIELDS, phrase, strict=True)) | {"id": f"np{number}"}
        for number, phrase in enumerate(PHRASES)
    ]
    assert read("built.jsonl") == [
        {
            "id": "ferry",
            "text": LAID_OUT,
            "tokens": TOKENS,
            "nps": phrases,
            "coref": [{"id": f"cc{i}", "members": [f"np{i}"], "np_type": None} for i in range(7)],
            "metadata": {"annotators": None, "url": None, "source": "ferry.txt"},
        }
    ]


def test_what_is_built_is_read_and_predicted(ran, pipeline, texts):
    ran("prepare", "tne", "documents", *texts, *pipeline, "-o", "built.jsonl")
    assert (
        ran("baseline", "tne", "title-last", "--gold", "built.jsonl", "-o", "mine.jsonl")
        == "mine.jsonl: 2 rows\n"
    )
    # All but the title's last, rock and Rock, are linked to it: 6 of 7 and 2 of 3 (Rock, May, a light).
    assert [len(row["relations"]) for row in read("mine.jsonl")] == [6, 2]
    ran("convert", "tne", "mine.jsonl", "--gold", "built.jsonl", "--to", "gold", "-o", "gold.jsonl")
    scores = json.loads(
        ran("score", "tne", "mine.jsonl", "--gold", "gold.jsonl", "--json", "--no-ci")
    )["scores"]
    assert (scores["links/precision"]["value"], scores["links/recall"]["value"]) == (1, 1)


def test_the_commands_of_the_page(ran, here, texts):
    """They print what the page says, with the pipeline of invented rules instead of a model."""
    page = PAGE.read_text("utf-8")
    make_pipeline().to_disk("en_core_web_sm")
    Path("texts").mkdir()
    for name in texts:
        Path(name).rename(Path("texts") / name)
    assert f"$ cat texts/ferry.txt\n{FERRY}$" in page
    commands = [
        line for line in pages.find_commands(page, "spaCy") if line.startswith("closeread ")
    ]
    assert len(commands) == 3
    for line in commands:
        assert f"$ {line}\n{ran(*line.split()[1:])}" in page


@pytest.mark.parametrize(("chosen", "sizes"), [([], [7, 3]), (["--paragraphs", "1"], [5, 3])])
def test_the_first_paragraphs_are_kept(ran, pipeline, texts, chosen, sizes):
    ran("prepare", "tne", "documents", *texts, *pipeline, *chosen, "-o", "built.jsonl")
    assert [len(record["nps"]) for record in read("built.jsonl")] == sizes


def test_problems_of_all_texts_at_once(run, here, texts):
    Path("title.txt").write_text("Title\n")
    Path("control.txt").write_text("T\nS\nOne \x01.\n")
    done = run(
        "prepare",
        "tne",
        "documents",
        *texts,
        "title.txt",
        "control.txt",
        "--spacy-model",
        "any",
        "-o",
        "built.jsonl",
    )
    assert done.exit_code == 1
    assert "title.txt: has 1 non-blank line (expected a title, a subtitle and" in done.stderr
    assert (
        "control.txt:3: character 5 is the control character U+0001 (expected plain text)"
        in done.stderr
    )
    done = run(
        "prepare",
        "tne",
        "documents",
        *texts,
        "--spacy-model",
        "xx_no_such_pipeline",
        "-o",
        "built.jsonl",
    )
    assert done.exit_code == 2
    assert (
        "spaCy pipeline 'xx_no_such_pipeline' does not exist (expected an installed pipeline"
        in done.stderr
    )
    assert not Path("built.jsonl").exists()
    assert (
        run("prepare", "tne", "documents", *texts, "-o", "built.jsonl").exit_code == 2
    )  # by which pipeline?
    assert (
        run(
            "prepare", "tne", "documents", "ferry.txt", "--spacy-model", "any", "-o", "ferry.txt"
        ).exit_code
        == 2
    )
    assert Path("ferry.txt").read_text() == FERRY


TEXT = PlainText("x", "x.txt", "Rock", "May 4", ("He saw a light.",))


def build(pipeline, texts=(TEXT,)):
    """The documents of texts, and notices about them."""
    return build_documents(texts, pipeline, "mine")


@Language.component("invented_tags")
def tag(document):
    for token in document:
        token.pos_ = "NOUN"
    return document


@Language.component("invented_parses")
def parse(document):
    for token in tag(document):
        token.dep_ = "dep"
    return document


def lines_as_chunks(document):
    """A noun chunk for each sentence, and one for the whole text."""
    for sentence in (*document.sents, document[:]):
        yield sentence.start, sentence.end, 0


@Language.component("invented_lines")
def chunk_lines(document):
    parse(document)
    document.noun_chunks_iterator = lines_as_chunks
    return document


def blank(*components, language="en"):
    pipeline = spacy.blank(language)
    for component in components:
        pipeline.add_pipe(component)
    return pipeline


def test_pipelines_that_find_no_noun_phrases():
    lacking = (
        r"does not annotate parts of speech and dependencies \(expected a pipeline with a parser\)"
    )
    with pytest.raises(RequestError, match=lacking):
        build(blank("sentencizer"))
    with pytest.raises(
        RequestError, match="no noun phrases of the language of pipeline 'mine', 'xx'"
    ):
        build(blank("invented_parses", language="xx"))


def test_texts_that_are_too_long():
    pipeline = make_pipeline()
    pipeline.max_length = 20
    with pytest.raises(RequestError) as error:
        build(pipeline)
    found = "1 text too long for spaCy pipeline 'mine': 'x' (expected at most 20 characters"
    assert str(error.value) == f"{found}; shorten with paragraphs=)"


def test_components_that_noun_phrases_do_not_need_are_left_out():
    pipeline = blank("tagger", "parser", "ner", "lemmatizer", "senter")
    assert list_unneeded(pipeline) == ["ner", "lemmatizer", "senter"]
    pipeline.rename_pipe("ner", "names")
    assert list_unneeded(pipeline) == ["names", "lemmatizer", "senter"]
    pipeline.add_pipe("merge_entities")  # it needs names
    assert list_unneeded(pipeline) == []
    assert list_unneeded(blank("ner", "invented_tags")) == []


def test_sentences_begin_on_every_line_and_noun_phrases_stay_on_it():
    records, notices = build(blank("invented_lines"))
    assert [np["text"] for np in records[0]["nps"]] == ["Rock", "May 4", "He saw a light."]
    # The other noun phrase is the whole text.
    assert notices == ["1 noun phrase left out because it goes beyond its line."]
    _, notices = build(blank("invented_lines"), [TEXT, replace(TEXT, id="y")])
    assert notices == ["2 noun phrases left out because they go beyond their line."]


def test_a_text_without_noun_phrases_is_told():
    texts = [
        PlainText("x", "x.txt", "Sank", "Now", ("It sank.",)),
        PlainText("y", "y.txt", "Sank", "May 4", ("It sank.",)),
        TEXT,
    ]
    records, notices = build(make_pipeline(), texts)
    assert [len(record["nps"]) for record in records] == [0, 1, 3]
    assert notices == [
        "1 document without noun phrases: 'x'.",
        "1 document without noun phrases in the title: 'y'.",
    ]


def make_pipeline_of(records):
    """A pipeline that finds the noun phrases of these documents, whatever they are."""
    spans = {
        record["text"].rstrip(): [
            (np["first_token"], np["last_token"] + 1, 0) for np in record["nps"]
        ]
        for record in records
    }

    @Language.component("released_noun_phrases")
    def find(document):
        parse(document)
        document.noun_chunks_iterator = lambda doc: spans[doc.text]
        return document

    return blank("released_noun_phrases")


def test_released_texts_are_built_as_released(corpora, here):
    """Their layout, tokens and offsets come out again, given the parts of a text and the spans of its noun phrases."""
    released = list(islice(read_gold(load_corpus("tne"), "default", "validation").records, 50))
    texts = []
    for record in released:
        path = here / f"{record['id']}.txt"
        path.write_text("\n".join(part for part in record["text"].split("\n") if part.strip()))
        texts += read_texts([path])
    records, _ = build_documents(texts, make_pipeline_of(released), "mine", 3)
    for record, again in zip(released, records, strict=True):
        assert again["id"] == record["id"]
        assert again["text"] == record["text"].rstrip()
        blank_end = record["tokens"][-1].isspace()
        assert again["tokens"] == record["tokens"][: -1 if blank_end else None]
        spans = [
            {tuple(np[field] for field in FIELDS) for np in one["nps"]} for one in (record, again)
        ]
        assert spans[0] == spans[1]
