"""Mentions of the corpus in UD_Turkish-IMST: files of the corpus's size, of which it is known where sentences are."""

import csv
import re
from html import unescape

import pytest

from closeread.tasks.marmara.documents import Annotation, Mention
from closeread.tasks.marmara.placing import make_key, place_annotations
from closeread.tasks.marmara.treebank import read_treebank

MENTION = re.compile(
    r'<mention fromWordIX="(.*?)" id="(.*?)" sentenceNo="(.*?)" toWordIX="(.*?)">(.*?)</mention>'
)
WORD = re.compile(r"<W [^>]*> (.*?) </W>")


@pytest.fixture
def folder(corpora):
    """The folder of the corpus with its treebank, and with UD's."""
    if not (corpora / "marmara_coref" / "ud").is_dir():
        pytest.skip("CLOSEREAD_DATA has no marmara_coref/ud")
    return corpora / "marmara_coref"


def read_annotation(path):
    text = path.read_text()
    mentions = [
        Mention(m_id, sentence, int(first), int(last), unescape(words), 0)
        for first, m_id, sentence, last, words in MENTION.findall(text)
    ]
    chains = [
        re.findall('mentionId="(.*?)"', chain)
        for chain in re.findall("<chain>(.*?)</chain>", text, re.DOTALL)
    ]
    return Annotation(path.name, mentions, chains)


def read_borders(forms):
    """Where tokens begin and end in the text that two editions of a sentence share."""
    borders = [0]
    for form in forms:
        borders.append(borders[-1] + len(make_key(form)))
    return borders


@pytest.mark.extended
def test_mentions_are_where_they_belong(folder):
    treebank = read_treebank({path.name: path for path in sorted((folder / "ud").glob("*.gz"))})
    assert treebank.problems == []
    assert sum(map(len, treebank.documents.values())) == 5635
    assert (
        sum(len(one["tokens"]) for document in treebank.documents.values() for one in document)
        == 56422
    )
    annotations = [read_annotation(path) for path in sorted((folder / "coreference").glob("*.xml"))]
    placed = place_annotations(treebank.documents, annotations)
    assert placed.problems == []
    assert [document["document"] for document in placed.documents] == [
        file.removesuffix(".xml") for file in placed.files
    ]
    with (folder / "sentences.tsv").open(newline="") as table:
        expected = {
            row["sentence"]: row["ud_sent_id"] for row in csv.DictReader(table, delimiter="\t")
        }
    forms = {}
    for path in sorted((folder / "treebank").glob("*.xml")):
        for sentence in path.read_text().split("<S No=")[1:]:
            forms[sentence[1:].partition('"')[0]] = [
                unescape(form) for form in WORD.findall(sentence)
            ]
    n_mentions = n_right = n_wrong = n_exact = 0
    of_file = {
        annotation.file: {one.id: one for one in annotation.mentions} for annotation in annotations
    }
    for document, file in zip(placed.documents, placed.files, strict=True):
        tokens = {
            one["number"]: [token["form"] for token in one["tokens"]]
            for one in document["sentences"]
        }
        n_mentions += len(of_file[file])
        for one in document["mentions"]:
            mention = of_file[file][one["id"]]
            if one["sentence"] != expected[mention.sentence]:
                n_wrong += 1
                continue
            n_right += 1
            here, there = (
                read_borders(tokens[one["sentence"]]),
                read_borders(forms[mention.sentence]),
            )
            n_exact += (
                here[one["from"] - 1] == there[mention.first - 1]
                and here[one["to"]] == there[mention.last]
            )
    assert n_mentions == 5390
    assert n_right >= 0.97 * n_mentions
    assert n_wrong < 0.01 * n_mentions
    n_lost = sum(notice.line is not None for notice in placed.notices)
    assert n_right + n_wrong + n_lost == n_mentions
    # In its sentence, a mention may be at another place with the same words.
    assert n_exact >= 0.999 * n_right
