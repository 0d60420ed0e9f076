"""Read GUM and OntoGUM in CoNLL-U with udapi, score perturbed responses with corefud-scorer, and keep the figures.

    python tests/agreed/gum.py GUM SCORER PYTHON

GUM and SCORER are checkouts of github.com/amir-zeldes/gum and github.com/ufal/corefud-scorer at the commits named
below; PYTHON has udapi, from github.com/udapi/udapi-python.  Writes `gum.json` beside this file, which has the ids of
documents and numbers, but nothing of their text.  The responses are made here from the keys by a seeded rule, so that
a test can make them again from the same files.
"""

import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COMMITS = {
    "gum": "72ce5ac14978a324c2fd18d49484e65292cbe316",
    "corefud-scorer": "4fd7b0e0c661aeeff88bc60c19ef507b84d1b590",
    "udapi-python": "c05494e11b45a14b66386ecd0618fd15b7ad124a",
}
FORMS = {"gum": "dep", "ontogum": "coref/ontogum/conllu"}
REFUSED = {"gum": [], "ontogum": ["GENTLE_poetry_road"]}
"""Documents whose brackets don't match, so that udapi refuses them."""

METRICS = ("muc", "bcub", "ceafe", "ceafm", "blanc", "lea")
SETTINGS = [("exact", "true"), ("exact", "false"), ("head", "true"), ("head", "false")]
READ = """
import hashlib, json, sys
from collections import defaultdict
from udapi.core.document import Document
from udapi.block.read.conllu import Conllu

document = Document()
Conllu(files=[sys.argv[1]]).apply_on_document(document)
place, n_tokens, name = {}, defaultdict(int), None
for tree in document.trees:
    name = tree.newdoc or name
    for node in tree.descendants_and_empty:
        place[node] = name, n_tokens[name]
        n_tokens[name] += 1
entities, mentions = defaultdict(int), defaultdict(list)
for entity in document.coref_entities:
    for mention in entity.mentions:
        tokens = [place[word] for word in mention.words]
        name = tokens[0][0]
        mentions[name].append([entity.eid_or_grp, [token for _, token in tokens], place[mention.head][1], entity.etype])
    entities[name] += 1
relations = [
    sum(1 for entity in document.coref_entities if entity.split_ante),
    sum(len(mention.bridging) for entity in document.coref_entities for mention in entity.mentions),
]
found = {
    name: [n, entities[name], len(mentions[name]), hashlib.sha256(
        json.dumps(sorted(mentions[name], key=lambda mention: mention[:2])).encode()).hexdigest()[:16]]
    for name, n in n_tokens.items()
}
print(json.dumps({"relations": relations, "documents": found}))
"""


def key_text(gum, form):
    """The documents of a form as one file, without those that are refused."""
    files = [file for file in sorted((Path(gum) / FORMS[form]).glob("*.conllu")) if file.stem not in REFUSED[form]]
    return "".join(file.read_text("utf-8").rstrip("\n") + "\n\n" for file in files)


def response_text(key):
    """The key with some mentions dropped, shortened, or in other entities; without relations between entities."""
    rng = random.Random(7)
    lines, opened, entities = [], {}, []
    for line in key.split("\n"):
        if line.startswith("# newdoc"):
            entities = []
        if "\t" in line and not line.startswith("#"):
            *cells, misc = line.split("\t")
            attributes = [attribute for attribute in misc.split("|") if not attribute.startswith(("Bridge", "SplitA"))]
            for i, attribute in enumerate(attributes):
                if attribute.startswith("Entity="):
                    attributes[i] = "Entity=" + perturbed(rng, attribute.removeprefix("Entity="), opened, entities)
            line = "\t".join([*cells, "|".join(one for one in attributes if one != "Entity=") or "_"])
        lines.append(line)
    return "\n".join(lines)


def perturbed(rng, cell, opened, entities):
    """An Entity value; `opened` has the new ids of open mentions, `entities` those of the document's entities."""
    pieces = []
    for opens, entity, fields, closes in re.findall(r"(\()?([^()-]+)(-[^()]*)?(\))?", cell):
        if not opens:
            found = opened[entity].pop()
            pieces += [f"{found})"] if found else []
            continue
        chance = rng.random()
        new = (
            entity if chance < 0.75 or not entities else rng.choice(entities) if chance < 0.85 else f"x{len(entities)}"
        )
        entities.append(new)
        is_shorter = 0.9 > chance > 0.8 and not closes
        if chance < 0.9:
            pieces.append(f"({new}{fields}" + (")" if closes or is_shorter else ""))
        if not closes:
            opened.setdefault(entity, []).append(None if is_shorter or chance >= 0.9 else new)
    return "".join(pieces)


def digest(text):
    """A digest of a file."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def scores(printed):
    """{metric: [precision, recall, F1]} of what the scorer prints, in percent."""
    found = re.findall(r"^(\w+)\nRecall: ([\d.]+)\s+Precision: ([\d.]+)\s+F1: ([\d.]+)", printed, re.MULTILINE)
    return {name: [float(precision), float(recall), float(f1)] for name, recall, precision, f1 in found}


def main(gum, scorer, python):
    """Read and score all forms."""
    result = {"commits": COMMITS, "command": "corefud-scorer.py KEY RESPONSE -a MATCH -z linear -m METRICS [-s]"}
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            texts = {"key": key_text(gum, form)}
            texts["response"] = response_text(texts["key"])
            paths = [Path(folder) / f"{name}.conllu" for name in texts]
            for path, text in zip(paths, texts.values(), strict=True):
                path.write_text(text, "utf-8")
            read = subprocess.run([python, "-c", READ, paths[0]], capture_output=True, text=True, check=True)
            found = {}
            for match, keep in SETTINGS:
                command = [python, Path(scorer) / "corefud-scorer.py", *paths, "-a", match, "-z", "linear"]
                command += ["-m", *METRICS, *(["-s"] if keep == "true" else [])]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[f"{match} {keep}"] = scores(done.stdout)
            for name in REFUSED[form]:
                done = subprocess.run([python, "-c", READ, Path(gum) / FORMS[form] / f"{name}.conllu"])
                assert done.returncode, name
            digests = {name: digest(text) for name, text in texts.items()}
            result[form] = {"digests": digests, **json.loads(read.stdout), "scores": found}
    text = json.dumps(result, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda match: " ".join(match[0].split()), text)
    (HERE / "gum.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
