"""closeread on files in the formats of the Marmara corpus and of its treebank.

    CLOSEREAD_DATA=… python benchmarks/marmara.py

`CLOSEREAD_DATA` names a folder with `marmara_coref`, whose annotation may be simulated: only times are of interest.
Writes `results/marmara.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.

Fragments are those of the whole treebank, as it is distributed: its extracted files taken apart, with nothing escaped,
in windows-1254.  Times are wall-clock seconds within a process, without its start.

The baseline is timed as processes, from start to end: reading the corpus, predicting all documents, each by a model
that is trained on the others, and writing.  What it is compared with is scikit-learn alone, which trains one of these
machines, on a row of features for each pair of mentions of all documents.
"""

import json
import os
import sys
import tempfile
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from measure import calls, kept, processes
from scipy.sparse import csr_array, save_npz

from closeread.corpus.sources import DATA_VARIABLE
from closeread.tasks.coref.marmara.corpus_files import read_corpus_folder
from closeread.tasks.coref.marmara.documents import read_tokens
from closeread.tasks.coref.marmara.extraction import extract, write_documents
from closeread.tasks.coref.marmara.mentions import PRONOUNS
from closeread.tasks.coref.marmara.pairs import (
    describe_mentions,
    encode_pairs,
    expand_codes,
    list_examples,
    list_gold,
)

RUNS = 5
CLOSEREAD = Path(sys.executable).parent / "closeread"
VECTORS = Path("vectors", "toy20.vec.gz")

# Trains on a matrix of features and their labels: the names of two files.
ALL_ROWS = """
import sys
import numpy, scipy.sparse, sklearn.svm
machine = sklearn.svm.LinearSVC(C=1, dual=False, tol=1e-6, class_weight="balanced")
machine.fit(scipy.sparse.load_npz(sys.argv[1]), numpy.load(sys.argv[2]))
"""


def measure_files(folder):
    """Reading and extracting; the table's name, what the others are compared with, and the timings.

    Args:
        folder: the corpus's.
    """
    with tempfile.TemporaryDirectory() as scratch:
        fragments = Path(scratch, "fragments")
        n_fragments = write_fragments(folder / "treebank", fragments)
        numbers = count()

        def extract_all():
            write_documents(Path(scratch, f"out{next(numbers)}"), extract(fragments).documents)

        parsed = "xml.etree.ElementTree, the same files, elements only"
        timings = calls(
            {
                parsed: lambda: parse_all(folder / "treebank", folder / "coreference"),
                "closeread, treebank and coreference to records": lambda: read_corpus_folder(
                    folder
                ),
                f"closeread, {n_fragments:,} fragments to documents": extract_all,
            },
            RUNS,
        )
    return "files", parsed, timings


def measure_baseline(folder):
    """The baseline; the table's name, what the others are compared with, and the timings.

    Args:
        folder: the corpus's.
    """
    ours = [CLOSEREAD, "baseline", "marmara_coref"]
    vectors = folder / VECTORS
    with tempfile.TemporaryDirectory() as scratch:
        rows, labels = Path(scratch, "rows.npz"), Path(scratch, "labels.npy")
        n_pairs = write_examples(folder, rows, labels)
        one = f"scikit-learn, one model on {n_pairs:,} rows"
        output = ["--data-dir", folder, "-o", Path(scratch, "out.jsonl")]
        variants = {
            "mentions": (),
            "svc": (),
            "svr": (),
            "svr --mentions predicted": (),
            "svr --features TF": ("--vectors", vectors),
        }
        commands = {
            f"closeread, {name}": [*ours, *name.split(), *more, *output]
            for name, more in variants.items()
        }
        timings = processes(
            {one: [sys.executable, "-c", ALL_ROWS, rows, labels]} | commands, runs=3
        )
    return "baseline", one, timings


def write_examples(folder, rows, labels):
    """Write the features and the labels of all examples of the corpus; return their number."""
    found, positive = [], []
    for record in read_corpus_folder(folder).records:
        gold = list_gold(record)
        mentions = describe_mentions(read_tokens(record), list(gold), PRONOUNS)
        pairs = list_examples(list(gold), gold)
        found.append(encode_pairs(mentions, pairs.first, pairs.second))
        positive.append(pairs.is_positive)
    save_npz(rows, csr_array(expand_codes(np.concatenate(found))))
    np.save(labels, np.concatenate(positive))
    return sum(map(len, found))


def parse_all(*folders):
    """Parse all XML files of some folders."""
    for folder in folders:
        for path in folder.glob("*.xml"):
            ElementTree.parse(path)  # noqa: S314


def write_fragments(treebank, folder):
    """Take extracted files apart into fragments as they are distributed; return their number."""
    fragments = {}
    for path in sorted(treebank.glob("*.xml")):
        for sentence in ElementTree.parse(path).getroot():  # noqa: S314
            fragments.setdefault(sentence.get("No").partition(".")[0], []).append(sentence)
    folder.mkdir()
    for fragment, sentences in fragments.items():
        lines = [
            '<?xml version="1.0" encoding="windows-1254" ?>',
            f'<Set sentences="{len(sentences)}">',
        ]
        for sentence in sentences:
            lines += [f'<S No="{sentence.get("No")}">', *map(write_word, sentence), "</S>"]
        text = "\n".join([*lines, "</Set>", ""])
        (folder / f"{fragment}.xml").write_text(text, "windows-1254", errors="replace")
    return len(fragments)


def write_word(word):
    """A word with nothing escaped."""
    attributes = " ".join(f'{name}="{value}"' for name, value in word.attrib.items())
    return f"<W {attributes}>{word.text}</W>"


def main():
    """Measure everything and keep it."""
    folder = Path(os.environ[DATA_VARIABLE], "marmara_coref")
    tables = {
        name: (peer, timings)
        for name, peer, timings in (
            measure(folder) for measure in (measure_files, measure_baseline)
        )
    }
    print(json.dumps(kept("marmara", tables), indent=1))


if __name__ == "__main__":
    main()
