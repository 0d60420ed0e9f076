"""Run CorefUD's scorer on random CoNLL-U files with empty nodes and keep its anaphor-decomposable score for zeros.

    python tests/agreed/corefud_anaphors.py SCORER [PYTHON]

SCORER is a checkout of github.com/ufal/corefud-scorer at the commit named below, PYTHON one that has udapi.  Writes
`corefud_anaphors.json` beside this file.  The documents are made here from their seeds, so that a test can make them
again.  Both sides have the same empty nodes, so that how these are matched does not matter.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
COMMIT = "4fd7b0e0c661aeeff88bc60c19ef507b84d1b590"
N_PAIRS = 60
COLUMNS = "{}\tw\t_\tNOUN\t_\t_\t{}\t{}\t{}\t{}"


class Document(NamedTuple):
    """A document of a single sentence.

    Attributes:
        empty: for each token, whether it is an empty node.
        key, response: from the token of each mention of one token to its entity.
    """

    empty: list[bool]
    key: dict[int, int]
    response: dict[int, int]


def random_documents(seed):
    """Documents with empty nodes, whose mentions are single tokens: zeros and others."""
    rng = random.Random(seed)
    documents = []
    for _ in range(rng.randint(1, 3)):
        empty = [False, *(rng.random() < 0.4 for _ in range(rng.randint(5, 18)))]
        key = {token: rng.randrange(4) for token in range(len(empty)) if rng.random() < 0.7}
        response = {
            token: entity if rng.random() < 0.7 else rng.randrange(6)
            for token, entity in key.items()
        }
        response = {token: entity for token, entity in response.items() if rng.random() < 0.85}
        response |= {token: rng.randrange(6) for token in range(len(empty)) if rng.random() < 0.1}
        documents.append(Document(empty, key, response))
    return documents


def format_side(documents, side):
    """Write one side of documents as CoNLL-U."""
    return "".join(
        format_document(f"d{number}", document.empty, getattr(document, side))
        for number, document in enumerate(documents)
    )


def format_document(name, empty, mentions):
    """Write a document as CoNLL-U."""
    lines = [
        f"# newdoc id = {name}",
        "# global.Entity = eid-etype-head-other",
        f"# sent_id = {name}s",
    ]
    word = node = 0
    for token, is_empty in enumerate(empty):
        word, node = (word, node + 1) if is_empty else (word + 1, 0)
        entity = f"Entity=({name}e{mentions[token]}-x-1-)" if token in mentions else "_"
        if is_empty:
            lines.append(COLUMNS.format(f"{word}.{node}", "_", "_", f"{word}:dep", entity))
        else:
            lines.append(
                COLUMNS.format(word, int(word > 1), "dep" if word > 1 else "root", "_", entity)
            )
    return "\n".join(lines) + "\n\n"


def read_scores(printed):
    """Return {metric: [precision, recall, F1]} of what the scorer prints, in percent."""
    found = re.findall(
        r"^(\w+)\nRecall: ([\d.]+)\s+Precision: ([\d.]+)\s+F1: ([\d.]+)", printed, re.MULTILINE
    )
    return {
        name: [float(precision), float(recall), float(f1)] for name, recall, precision, f1 in found
    }


def main(scorer, python=sys.executable):
    """Score all pairs."""
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {side: Path(folder) / f"{side}.conllu" for side in ("key", "response")}
        for seed in range(N_PAIRS):
            for side, path in files.items():
                path.write_text(format_side(random_documents(seed), side), "utf-8")
            command = [python, Path(scorer) / "corefud-scorer.py", *files.values()]
            command += ["-a", "exact", "-z", "linear", "-s", "-m", "muc", "zero"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            said[str(seed)] = read_scores(done.stdout)
    result = {
        "tool": "corefud-scorer",
        "commit": COMMIT,
        "command": "corefud-scorer.py KEY RESPONSE -a exact -z linear -s -m muc zero",
        "said": said,
    }
    (HERE / "corefud_anaphors.json").write_text(json.dumps(result, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
