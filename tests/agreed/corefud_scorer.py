"""Run CorefUD's scorer on random CoNLL-U files and keep what it prints.

    python tests/agreed/corefud_scorer.py SCORER [PYTHON]

SCORER is a checkout of github.com/ufal/corefud-scorer at the commit named below, PYTHON one that has udapi.  Writes
`corefud_scorer.json` beside this file.  The files are made here from their seeds, so that a test can make them again;
they hold no empty nodes, which that scorer matches by other rules than words.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COMMIT = "4fd7b0e0c661aeeff88bc60c19ef507b84d1b590"
N_PAIRS = 40
METRICS = ("muc", "bcub", "ceafe", "lea")
SETTINGS = [(match, keep) for match in ("exact", "head", "partial") for keep in ("true", "false")]
ROW = "{}\tw{}\t_\tNOUN\t_\t_\t{}\tdep\t_\t{}"


def random_pair(seed):
    """Key and response as CoNLL-U text."""
    rng = random.Random(seed)
    key, response = [], []
    for document in range(rng.randint(1, 3)):
        length = rng.randint(6, 16)
        spans = {}
        while len(spans) < rng.randint(2, 7):
            start = rng.randrange(length)
            end = min(length - 1, start + rng.choice((0, 0, 1, 2, 4)))
            spans[start, end] = (rng.randint(start, end), rng.randrange(4))
        said = {}
        for (start, end), (head, entity) in spans.items():
            if rng.random() < 0.4:  # other borders around the same head
                start, end = rng.randint(start, head), rng.randint(head, end)
            if rng.random() < 0.9:
                said[start, end] = (head, entity if rng.random() < 0.7 else rng.randrange(4, 7))
        for texts, mentions in ((key, spans), (response, said)):
            texts.append(document_text(f"d{document}", length, mentions))
    return "".join(key), "".join(response)


def document_text(name, length, mentions):
    """One document of a single sentence; mentions are {(start, end): (head, entity)}."""
    cells = [[] for _ in range(length)]
    for (start, end), (_, entity) in sorted(
        mentions.items(), key=lambda item: item[0][1] - item[0][0]
    ):
        if start != end:
            cells[end].append(f"{name}e{entity})")
    for (start, end), (head, entity) in sorted(
        mentions.items(), key=lambda item: item[0][0] - item[0][1]
    ):
        closing = ")" if start == end else ""
        cells[start].append(f"({name}e{entity}-x-{head - start + 1}-{closing}")
    misc = ["Entity=" + "".join(cell) if cell else "_" for cell in cells]
    rows = [ROW.format(i + 1, i, i, cell) for i, cell in enumerate(misc)]
    begin = f"# newdoc id = {name}\n# global.Entity = eid-etype-head-other\n# sent_id = {name}s\n"
    return begin + "\n".join(rows) + "\n\n"


def scores(printed):
    """{metric: [precision, recall, F1]} of what the scorer prints, in percent."""
    found = re.findall(
        r"^(\w+)\nRecall: ([\d.]+)\s+Precision: ([\d.]+)\s+F1: ([\d.]+)", printed, re.MULTILINE
    )
    return {
        name: [float(precision), float(recall), float(f1)] for name, recall, precision, f1 in found
    }


def main(scorer, python=sys.executable):
    """Score all pairs in all settings."""
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("key.conllu", "response.conllu")]
        for seed in range(N_PAIRS):
            for path, text in zip(files, random_pair(seed), strict=True):
                path.write_text(text, "utf-8")
            for match, keep in SETTINGS:
                command = [
                    python,
                    Path(scorer) / "corefud-scorer.py",
                    *files,
                    "-a",
                    match,
                    "-m",
                    *METRICS,
                ]
                command += ["-s"] if keep == "true" else []
                done = subprocess.run(command, capture_output=True, text=True)
                said[f"{seed} {match} {keep}"] = (
                    scores(done.stdout) if done.returncode == 0 else None
                )
    result = {
        "tool": "corefud-scorer",
        "commit": COMMIT,
        "command": "corefud-scorer.py KEY RESPONSE -a MATCH -m muc bcub ceafe lea [-s]",
        "said": said,
    }
    (HERE / "corefud_scorer.json").write_text(json.dumps(result, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
