"""Whatever files hold, they are read or refused; and what is written is read again."""

import shutil
from itertools import accumulate

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from shared.marmara_xml import (
    SENTENCES,
    list_tokens,
    put,
    write_coreference,
    write_fragment,
    write_treebank,
)

from closeread.exceptions import FormatError
from closeread.tasks.marmara.coreference import dump_annotation
from closeread.tasks.marmara.corpus_files import read_corpus
from closeread.tasks.marmara.extraction import extract, write_documents
from closeread.tasks.marmara.treebank import read_treebank

FIRST, SECOND, THIRD = SENTENCES
FRAGMENT = write_fragment([SENTENCES[FIRST], SENTENCES[SECOND]])
EXTRACTED = write_treebank(SENTENCES)
SMALL = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

PIECES = (
    *"<>&\"'[](),+=/ \n\t\x00\x85ş0_",
    *(
        "&lt;",
        "&#0;",
        "<W ",
        "</W>",
        "<S ",
        "</S>",
        "<Set>",
        "<chain>",
        "<mention ",
        "</chain>",
        "<!--",
        "<![CDATA[",
    ),
    *(
        'IX="',
        'No="1"',
        '")(',
        ']"',
        "99",
        "-1",
        "77000112003.1",
        "77000112003.2",
        "77000112_2",
        "<?xml?>",
    ),
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
)


@st.composite
def spoiled(draw, text):
    """A text with a few pieces cut out, put in or doubled."""
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        piece = draw(st.sampled_from((*PIECES, text[start:end] * 2)))
        text = text[:start] + piece + text[end:]
    return text.encode(draw(st.sampled_from(("utf-8", "windows-1254"))), "replace")


@SMALL
@given(spoiled(FRAGMENT))
def test_fragments_are_extracted_or_refused(tmp_path, data):
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    put(tmp_path / "in", {"77000112003.xml": data})
    try:
        extracted, _ = extract(tmp_path / "in")
    except FormatError:
        return
    write_documents(tmp_path / "out", extracted)
    written = read_treebank({path.name: path for path in (tmp_path / "out").iterdir()})
    assert written.problems == []
    assert written.documents == {
        name: list_tokens(sentences) for name, sentences in extracted.items()
    }


def check_record(record):
    """Check what holds of every record."""
    tokens = [token for sentence in record["sentences"] for token in sentence["tokens"]]
    assert len(tokens) == record["n_tokens"] > 0
    lengths = [len(sentence["tokens"]) for sentence in record["sentences"]]
    offsets = dict(
        zip(
            (one["number"] for one in record["sentences"]),
            accumulate(lengths, initial=0),
            strict=False,
        )
    )
    for sentence in record["sentences"]:
        assert all(
            token["head"] is None or 0 < token["head"] <= len(sentence["tokens"])
            for token in sentence["tokens"]
        )
        assert all(token["form"] and token["lemma"] for token in sentence["tokens"])
    spans = [(one["start"], -one["end"]) for one in record["mentions"]]
    assert spans == sorted(set(spans))
    for one in record["mentions"]:
        assert offsets[one["sentence"]] <= one["start"] <= one["end"] < len(tokens)
    clustered = [tuple(span) for cluster in record["clusters"] for span in cluster]
    assert len(clustered) == len(set(clustered))
    assert {(start, -end) for start, end in clustered} <= set(spans)


WORDS = st.text("abçĞıİşÖ<>&\"'[].,-_", min_size=1, max_size=6)


@SMALL
@given(st.lists(st.tuples(WORDS, WORDS, st.sampled_from("\"'")), min_size=1, max_size=6))
def test_raw_characters_in_fragments_are_read_as_they_are(tmp_path, words):
    # `]">` inside a value is its end, by the rule for repairs.
    assume(not any("]'>" in lemma or ']">' in lemma for _, lemma, _ in words))
    lines = [
        f'<W IX="{ix}" LEM="" IG={quote}[(1,"{lemma}+Noun")]{quote} REL="[,( )]"> {form} </W>'
        for ix, (form, lemma, quote) in enumerate(words, start=1)
    ]
    text = "\n".join(['<Set><S No="1">', *lines, "</S></Set>"])
    put(tmp_path, {"77000112003.xml": text.encode("windows-1254")})
    documents, notices = extract(tmp_path)
    assert notices == []
    (sentence,) = documents["77000112"]
    assert [(one["form"], one["lemma"], one["groups"]) for one in sentence.tokens] == [
        (form, lemma, [["Noun"]]) for form, lemma, _ in words
    ]


@st.composite
def annotations(draw):
    """Mentions of the invented sentences, in any order, and chains without overlapping mentions."""
    spans = [
        (number, first, last)
        for number, words in SENTENCES.items()
        for first in range(1, len(words) + 1)
        for last in range(first, len(words) + 1)
    ]
    chosen = draw(st.lists(st.sampled_from(spans), min_size=1, unique=True))
    mentions = [(f"m{place}", *span, "") for place, span in enumerate(chosen)]
    chains = []
    for m_id, number, first, last, _ in mentions:
        options = [
            chain
            for chain in chains
            if not any(
                other == number and start <= last and first <= end for _, other, start, end in chain
            )
        ]
        chain = draw(st.sampled_from([*options, None])) if options else None
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append((m_id, number, first, last))
    return mentions, [[m_id for m_id, *_ in chain] for chain in chains if len(chain) > 1]


@SMALL
@given(annotations())
def test_records_are_written_as_xml_and_read_again(tmp_path, annotation):
    mentions, chains = annotation
    files = put(tmp_path, {"t.xml": EXTRACTED, "a.xml": write_coreference(mentions, chains)})
    treebank = read_treebank({"t.xml": files["t.xml"]})
    found = read_corpus(treebank, {"a.xml": files["a.xml"]}, None)
    assert found.problems == []
    (record,) = found.records
    check_record(record)
    assert {(one["id"], one["sentence"], one["from"], one["to"]) for one in record["mentions"]} == {
        one[:4] for one in mentions
    }
    again = put(tmp_path, {"b.xml": dump_annotation(record)})
    read = read_corpus(treebank, again, None)
    assert (read.problems, read.notices) == ([], [])  # not even a text that differs
    assert read.records == found.records
    ids = {(one["start"], one["end"]): one["id"] for one in record["mentions"]}
    assert {
        frozenset(ids[tuple(span)] for span in cluster) for cluster in record["clusters"]
    } == set(map(frozenset, chains))
