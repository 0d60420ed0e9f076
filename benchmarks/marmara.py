"""closeread on files in the formats of the Marmara corpus and of its treebank.

    CLOSEREAD_DATA=… python benchmarks/marmara.py

`CLOSEREAD_DATA` names a folder with `marmara_coref`, whose annotation may be simulated: only times are of interest.
Writes `results/marmara.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.

Fragments are those of the whole treebank, as it is distributed: its extracted files taken apart, with nothing escaped,
in windows-1254.  Times are wall-clock seconds within a process, without its start.
"""

import json
import os
import tempfile
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

from measure import calls, kept

from closeread.corpora.sources import DATA_VARIABLE
from closeread.tasks.coref.marmara.corpus_files import read_corpus_folder
from closeread.tasks.coref.marmara.extraction import extract, write_documents

RUNS = 5


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
            write_documents(Path(scratch, f"out{next(numbers)}"), extract(fragments))

        parsed = "xml.etree.ElementTree, the same files, elements only"
        timings = calls(
            {
                parsed: lambda: parse_all(folder / "treebank", folder / "coreference"),
                "closeread, treebank and coreference to records": lambda: read_corpus_folder(folder),
                f"closeread, {n_fragments:,} fragments to documents": extract_all,
            },
            RUNS,
        )
    return "files", parsed, timings


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
        lines = ['<?xml version="1.0" encoding="windows-1254" ?>', f'<Set sentences="{len(sentences)}">']
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
    tables = {name: (peer, timings) for name, peer, timings in (measure(folder) for measure in (measure_files,))}
    print(json.dumps(kept("marmara", tables), indent=1))


if __name__ == "__main__":
    main()
