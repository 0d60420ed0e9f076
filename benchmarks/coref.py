"""closeread beside the reference scorer, coval and corefud-scorer, on LitBank, GUM and BOOKCOREF.

    python benchmarks/coref.py --litbank DIR --perl SCORER.PL --coval DIR --corefud-scorer DIR --python PYTHON --gum DIR
        --bookcoref DIR

The folders are checkouts of dbamman/litbank, conll/reference-coreference-scorers (v8.01: its scorer.pl),
ns-moosavi/coval, ufal/corefud-scorer, amir-zeldes/gum and sapienzanlp/bookcoref; PYTHON is one that has udapi.  The key is
LitBank; the response lacks a tenth of its mentions, and a fifth are entities of their own.  closeread computes all of
its metrics, each Perl process one, and coval and corefud-scorer five.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from measure import CLOSEREAD, keep, measure_commands

from closeread.tasks.coref.documents import Document, Documents, ListedWords, list_entities
from closeread.tasks.coref.files import read_documents, write_documents

OURS = "closeread, all metrics"
LIMIT = 75
LONG = 300
"""Seconds, for files that take the others minutes."""
PERL_METRICS = ("muc", "bcub", "ceafm", "ceafe", "blanc")


def read_litbank(checkout, scratch):
    """Return the names, the words and the entities of LitBank's documents."""
    path = scratch / "litbank.conll"
    files = sorted((checkout / "coref" / "conll").glob("*.conll"))
    path.write_bytes(b"".join(file.read_bytes() for file in files))
    documents = read_documents(path)
    words = [list(document.words.read()) for document in documents.documents]
    entities = [record["clusters"] for record in documents]
    return list(documents.names), words, entities


def disturb(entities, rng, share_dropped=0.1, share_alone=0.2):
    """Return a document's entities without a share of the mentions, and with a share of them as entities of their own."""
    alone = []
    disturbed = []
    for mentions in entities:
        together = []
        for mention in mentions:
            chance = rng.random()
            if chance < share_alone:
                alone.append([mention])
            elif chance < 1 - share_dropped:
                together.append(mention)
        disturbed.append(together)
    return [mentions for mentions in (*disturbed, *alone) if mentions]


def join(words, entities):
    """Return the words and the entities of all documents as those of one."""
    all_words, all_entities = [], []
    for words_of_document, entities_of_document in zip(words, entities, strict=True):
        shift = len(all_words)
        for mentions in entities_of_document:
            shifted = [[start + shift, end + shift] for start, end in mentions]
            all_entities.append(shifted)
        all_words += words_of_document
    return [all_words], [all_entities]


def write(path, names, words, entities):
    """Write documents as CoNLL."""
    documents = []
    for name, words_of_document, clusters in zip(names, words, entities, strict=True):
        document = Document(
            name,
            list_entities(clusters),
            n_tokens=len(words_of_document),
            words=ListedWords(words_of_document),
        )
        documents.append(document)
    write_documents(Documents(documents), path)
    return path


def write_copies(path, n_copies, names, words, entities):
    """Write so many copies of documents, under names of their own."""
    names = [f"{name}-{number}" for number in range(n_copies) for name in names]
    return write(path, names, words * n_copies, entities * n_copies)


def write_folder(folder, files, rng):
    """Write the responses to the files of a corpus, each disturbed, and return the folder."""
    folder.mkdir()
    for file in files:
        documents = read_documents(file)
        words = [list(document.words.read()) for document in documents.documents]
        entities = [disturb(record["clusters"], rng) for record in documents]
        write(folder / file.name, documents.names, words, entities)
    return folder


def make_commands(arguments, key, response):
    """Return the commands of all scorers on two files."""
    ours = [CLOSEREAD, "score", "coref", key, response]
    commands = {
        OURS: [*ours, "--no-ci"],
        "closeread, with intervals": ours,
        "coval": [sys.executable, arguments.coval / "scorer.py", key, response],
    }
    for metric in PERL_METRICS:
        commands[f"Perl, {metric}"] = ["perl", arguments.perl, metric, key, response]
    return commands


def measure_corefud(arguments, folder, names, words, entities, rng):
    """Measure the scorers of CorefUD on LitBank in that format."""
    key = write(folder / "key.conllu", names, words, entities)
    disturbed = [disturb(of_document, rng) for of_document in entities]
    response = write(folder / "response.conllu", names, words, disturbed)
    script = arguments.corefud_scorer / "corefud-scorer.py"
    commands = {
        OURS: [CLOSEREAD, "score", "coref", key, response, "--preset", "corefud", "--no-ci"],
        "corefud-scorer": [arguments.python, script, key, response],
    }
    return measure_commands(commands, runs=3, limit=LONG)


def measure_annotators(folder, names, words, entities, rng):
    """Measure agreement and adjudication of three annotators of the documents with these names, the first of LitBank."""
    n_documents = len(names)
    files = []
    for annotator in ("anna", "ben", "cleo"):
        annotated = [disturb(document, rng, 0.02, 0.02) for document in entities[:n_documents]]
        path = folder / f"{annotator}.conll"
        files.append(write(path, names, words[:n_documents], annotated))
    agreement = "closeread agreement"
    commands = {
        agreement: [CLOSEREAD, "agreement", "coref", *files],
        "closeread adjudicate": [
            CLOSEREAD,
            "adjudicate",
            "coref",
            *files,
            "-o",
            folder / "gold.conll",
        ],
    }
    return agreement, measure_commands(commands, runs=1, limit=LONG)


def main():
    """Measure and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    folders = ("--litbank", "--coval", "--corefud-scorer", "--gum", "--bookcoref")
    for name in ("--perl", "--python", *folders):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    tables = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        names, words, entities = read_litbank(arguments.litbank, folder)
        disturbed = [disturb(of_document, rng) for of_document in entities]
        key = write(folder / "key.conll", names, words, entities)
        response = write(folder / "response.conll", names, words, disturbed)
        commands = make_commands(arguments, key, response)
        tables["litbank"] = (OURS, measure_commands(commands, limit=LIMIT))
        key = write(folder / "key1.conll", ["all"], *join(words, entities))
        response = write(folder / "response1.conll", ["all"], *join(words, disturbed))
        commands = make_commands(arguments, key, response)
        tables["one_document"] = (OURS, measure_commands(commands, limit=LIMIT))
        key = write_copies(folder / "key20.conll", 20, names, words, entities)
        response = write_copies(folder / "response20.conll", 20, names, words, disturbed)
        ours = {OURS: [CLOSEREAD, "score", "coref", key, response, "--no-ci"]}
        coval = {"coval": [sys.executable, arguments.coval / "scorer.py", key, response]}
        tables["twenty_copies"] = (OURS, measure_commands(ours | coval, runs=1, limit=LONG))
        tables["corefud"] = (OURS, measure_corefud(arguments, folder, names, words, entities, rng))
        files = sorted((arguments.gum / "coref/gum/conll").glob("*.conll"))
        response = write_folder(folder / "gum", files, rng)
        gum = {OURS: [CLOSEREAD, "score", "coref", files[0].parent, response, "--no-ci"]}
        tables["gum"] = (OURS, measure_commands(gum))
        predictions = arguments.bookcoref / "predictions"
        key = predictions / "finetuned_bookcoref/maverick_xl.jsonl"
        response = predictions / "off_the_shelf/maverick_xl.jsonl"
        books = {OURS: [CLOSEREAD, "score", "coref", key, response, "--no-ci"]}
        tables["bookcoref"] = (OURS, measure_commands(books))
        tables["annotators"] = measure_annotators(folder, names[:50], words, entities, rng)
    keep("coref", tables, LIMIT)


if __name__ == "__main__":
    main()
