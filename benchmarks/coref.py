"""closeread beside the reference scorer and coval, on LitBank.

    python benchmarks/coref.py --litbank DIR --perl SCORER.PL --coval DIR

The folders are checkouts of dbamman/litbank, conll/reference-coreference-scorers (v8.01: its scorer.pl) and
ns-moosavi/coval.  The key is LitBank; the response lacks a tenth of its mentions, and a fifth are entities of their own.
closeread computes all of its metrics, each Perl process one, and coval five.
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


def disturb(entities, rng):
    """Return a document's entities without a tenth of the mentions, and a fifth of them as entities of their own."""
    alone = []
    disturbed = []
    for mentions in entities:
        together = []
        for mention in mentions:
            chance = rng.random()
            if chance < 0.2:
                alone.append([mention])
            elif chance < 0.9:
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


def main():
    """Measure and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("--litbank", "--perl", "--coval"):
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
    keep("coref", tables, LIMIT)


if __name__ == "__main__":
    main()
