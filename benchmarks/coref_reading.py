"""Scoring large coreference files from start to end, beside reading their bytes and counting their lines.

    python benchmarks/coref_reading.py --litbank DIR --gum DIR

The folders are checkouts of dbamman/litbank and amir-zeldes/gum.  Writes `results/coref_reading.json` and prints it;
the tables in README.md are made from it by `python tools/documentation.py`.

A response is the key with a tenth of its mentions of one token dropped, and another tenth in other entities.  Larger
files are copies with other names of documents.  The kinds are invented: each is dense in what takes time to read.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from coref import CLOSEREAD, copies, litbank, perturbed
from measure import kept, processes

from closeread.tasks.coref.formats.conll import dump_conll, read_conll

RUNS = 3
PEER = "read the bytes, count the lines"
COUNT = """
import sys, numpy
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        while part := file.read(2**22):
            numpy.count_nonzero(numpy.frombuffer(part, numpy.uint8) == 10)
"""
SIZES = {"12": 2 / 9, "50": 1, "475": 9}
"""Copies of GUM, 25 MiB, for key and response, by their size in MiB together."""

MIB_OF_A_KIND = 25
WORDS = ["the", "of", "Whale", "ship", "Ahab", "ist", "über", "naïve", "cœur", "слово"]
MISC = "Gloss=a|LId=foo-1|Ref=12_3.4|SpaceAfter=No|Translit=slovo|Anaphor=7|Functor=ACT|LDeriv=abc|LNumValue=3|"
COMMENTS = [f"# text_{i} = this is a comment about the sentence, number {i}" for i in range(12)]
KINDS = {
    "plain": "a mention on every fifth word",
    "mentions": "a mention on every word",
    "relations": "with bridging and split antecedents",
    "misc": "with a hundred bytes of other annotation a word",
    "ranges": "with multiword tokens",
    "comments": "with twelve comments a sentence",
    "empty": "with an empty node after every third word",
    "documents": "documents of eight words",
}


def other_entities(text, seed=0):
    """A response to CorefUD text."""
    rng = np.random.default_rng(seed)

    def change(match):
        chance = rng.random()
        if chance < 0.1:
            return ""
        return f"({rng.integers(5000, 9000)}-{match[1]})" if chance < 0.2 else match[0]

    return re.sub(r"\([^-()|\s]+-([^()|\s]*)\)", change, text)


def corefud_copies(text, n):
    """CorefUD text n times over, or its first documents if n is less than one."""
    documents = re.split(r"(?m)^(?=# newdoc id = )", text)[1:]
    if n < 1:
        return "".join(documents[: round(n * len(documents))])
    return "".join(text.replace("# newdoc id = ", f"# newdoc id = {i}_") for i in range(n))


def sentence(kind, rng, n):
    """The rows of a sentence of n words."""
    for i in range(1, n + 1):
        one, two, three = (f"e{j}" for j in rng.permutation(30)[:3])
        misc = f"Entity=({one}-person-1-)" if kind == "mentions" or i % 5 == 0 else ""
        if kind == "relations" and misc:
            misc = f"Bridge={two}<{one}:part|{misc}|SplitAnte={two}<{one},{three}<{one}"
        misc = MISC + (misc or "A=b") if kind == "misc" else misc or "_"
        if kind == "ranges" and i % 2 and i < n:
            yield f"{i}-{i + 1}\tdu" + 7 * "\t_" + "\tSpaceAfter=No"
        word = WORDS[rng.integers(len(WORDS))]
        yield f"{i}\t{word}\t{word}\tNOUN\tNN\tCase=Nom|Number=Sing\t{i - 1}\tnmod\t{i - 1}:nmod\t{misc}"
        if kind == "empty" and i % 3 == 0:
            dependencies = f"{i}:nsubj|{i - 1}:conj"
            yield f"{i}.1\t_\t_\tPRON\t_\t_\t_\t_\t{dependencies}\tEntity=({two}-person-1-)"


def invented(kind):
    """Documents that are dense in something."""
    rng, parts, size = np.random.default_rng(1), [], 0
    while size < 2**20:
        lines = [f"# newdoc id = d{len(parts)}", "# global.Entity = eid-etype-head-other"]
        for _ in range(1 if kind == "documents" else 100):
            lines += [*(COMMENTS if kind == "comments" else ["# text = a"])]
            lines += [*sentence(kind, rng, 8 if kind == "documents" else 20), ""]
        parts.append("".join(f"{line}\n" for line in lines))
        size += len(parts[-1].encode())
    return corefud_copies("".join(parts), MIB_OF_A_KIND)


def commands(folder, name, key, response, suffix):
    """Our command and the peer's on two texts."""
    files = [folder / f"{name}-{side}{suffix}" for side in ("key", "response")]
    for file, text in zip(files, (key, response), strict=True):
        file.write_text(text, "utf-8")
    return [CLOSEREAD, "score", "coref", *files, "--no-ci"], [sys.executable, "-c", COUNT, *files]


def compared(own, peer):
    """Our figures beside the peer's."""
    return PEER, processes({PEER: peer, "closeread score coref": own}, RUNS)


def main(given):
    """Measure everything and keep it."""
    tables = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        litbank(given.litbank, folder / "litbank.conll")
        table = read_conll(folder / "litbank.conll")
        sides = [copies(dump_conll(one), 20) for one in (table, perturbed(table))]
        tables["conll"] = compared(*commands(folder, "conll", *sides, ".conll"))
        texts = (
            file.read_text("utf-8").rstrip("\n")
            for file in sorted((given.gum / "dep").glob("*.conllu"))
        )
        gum = "".join(f"{text}\n\n" for text in texts)
        response = other_entities(gum)
        for size, n in SIZES.items():
            sides = [corefud_copies(text, n) for text in (gum, response)]
            tables[f"gum_{size}"] = compared(*commands(folder, size, *sides, ".conllu"))
        kinds = {}
        for kind, title in KINDS.items():
            text = invented(kind)
            kinds[title], kinds[PEER] = commands(folder, kind, text, text, ".conllu")
        tables["kinds"] = PEER, processes({PEER: kinds.pop(PEER), **kinds}, RUNS)
    print(json.dumps(kept("coref_reading", tables), indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option in ("litbank", "gum"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    main(parser.parse_args())
