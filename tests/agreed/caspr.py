"""Run CaspR, the adjudication tool of Schüller (2018), and keep what its solutions cost.

    PYTHONPATH=tests python tests/agreed/caspr.py CASPR PYTHON CLINGO

CASPR is github.com/knowlp/caspr-coreference-tool at the commit named below, PYTHON a Python 3 with pexpect, CLINGO the
command of clingo 5 with its arguments, such as "python -m clingo".  Writes `caspr.json` beside this file.  Annotators
are invented here, with seeds, so that a test can make them again; of the tool's own examples only costs are kept.

Costs are counted here, from the chains that the tool writes, by the definition (`twins.adjudication`).  Mentions do not
cross, which the tool can't read, and every annotator has a link, without which it ends with an error.
"""

import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from twins import adjudication as twin

HERE = Path(__file__).parent
COMMIT = "b139878"
OBJECTIVES = ("v", "va", "u", "ua")
N_RANDOM = 25
AS_CASPR = {"incompatible": "containment", "empty_annotators": "ignore"}


def invent(seed):
    """Some annotators of up to nine mentions, of which some are inside others."""
    rng = random.Random(seed)
    mentions = [(3 * i, 3 * i + length) for i in range(6) for length in (0, 2)]
    mentions = rng.sample(mentions, rng.randint(3, 9))
    n_annotators, annotators = rng.randint(2, 6), []
    while len(annotators) < n_annotators:
        chains = [[], [], []]
        for mention in mentions:
            if rng.random() < 0.8:
                rng.choice(chains).append(mention)
        if any(len(chain) > 1 for chain in chains):
            annotators.append([chain for chain in chains if len(chain) > 1])
    return annotators


def write(annotator, path, n_tokens=18):
    """Write an annotator's chains as the tool reads them."""
    opens, closes = ([[] for _ in range(n_tokens)] for _ in range(2))
    for number, chain in enumerate(annotator, start=1):
        for start, end in sorted(chain, key=lambda mention: mention[0] - mention[1]):
            if start == end:
                opens[start].append((0, f"({number})"))
            else:
                opens[start].append((start - end, f"({number}"))
                closes[end].append((end - start, f"{number})"))
    cells = [
        "".join(piece for _, piece in sorted(o) + sorted(c))
        for o, c in zip(opens, closes, strict=True)
    ]
    rows = "".join(f"{i}\t{cell or '-'}\n" for i, cell in enumerate(cells, start=1))
    path.write_text(f"#begin document (d);\n{rows}#end document\n", "utf-8")


def read(path):
    """The chains in the last column of the first document of a file."""
    chains, stack = {}, []
    rows = path.read_text("utf-8").partition("#end")[0].splitlines()[1:]
    for token, row in enumerate(rows):
        for opening, name, closing in re.findall(r"(\()?(\d+)(\))?", row.split()[-1]):
            if opening:
                stack.append((name, token))
            if closing:
                place = max(i for i, (open_name, _) in enumerate(stack) if open_name == name)
                chains.setdefault(name, []).append((stack.pop(place)[1], token))
    return list(chains.values())


def run(tool, python, clingo, files, objective):
    """The chains that the tool finds."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "out.conll")
        command = [
            python,
            tool / "src/caspr.py",
            "--tool",
            clingo,
            "--all",
            "--canonicalize",
            f"--obj={objective}",
            f"--out={output}",
        ]
        subprocess.run(
            [*command, *(f"--ann={file}" for file in files)], check=True, stdout=subprocess.DEVNULL
        )
        return read(output)


def main():
    """Run the tool on invented annotators and on its examples."""
    tool, python, clingo = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    found = {
        "tool": "knowlp/caspr-coreference-tool",
        "commit": COMMIT,
        "random": [],
        "examples": {},
    }
    for seed in range(N_RANDOM):
        annotators, costs = invent(seed), {}
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, f"a{i}.conll") for i in range(len(annotators))]
            for annotator, file in zip(annotators, files, strict=True):
                write(annotator, file)
            for objective in OBJECTIVES:
                chains = run(tool, python, clingo, files, objective)
                costs[objective] = twin.cost(chains, annotators, objective, **AS_CASPR)
        found["random"].append({"seed": seed, "costs": costs})
    files = sorted((tool / "examples/auto/inputs").glob("*.conll"))
    annotators = [read(file) for file in files]
    for objective in OBJECTIVES:
        chains = read(tool / f"examples/auto/outputs/out.{objective}.conll")
        found["examples"][objective] = twin.cost(chains, annotators, objective, **AS_CASPR)
    HERE.joinpath("caspr.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
