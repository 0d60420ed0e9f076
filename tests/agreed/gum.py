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

EVERY = 8
"""How many documents there are to one that is scored, since the scorer is slow."""

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
        mentions[name].append([entity.eid_or_grp, [token for _, token in tokens], place[mention.head][1]])
    entities[name] += 1
relations = [
    sum(1 for entity in document.coref_entities if entity.split_ante),
    sum(len(mention.bridging) for entity in document.coref_entities for mention in entity.mentions),
]
found = {
    name: [n, entities[name], len(mentions[name]), hashlib.sha256(
        json.dumps(sorted(mentions[name])).encode()).hexdigest()[:16]]
    for name, n in n_tokens.items()
}
print(json.dumps({"relations": relations, "documents": found}))
"""


def released_text(gum, form):
    """The documents of a form as one file, without those that are refused."""
    files = [
        file
        for file in sorted((Path(gum) / FORMS[form]).glob("*.conllu"))
        if file.stem not in REFUSED[form]
    ]
    return "".join(file.read_text("utf-8").rstrip("\n") + "\n\n" for file in files)


def scored_texts(text):
    """Key and response to score: every `EVERY`-th document without repeated mentions, and with a seeded change.

    Some mentions of the response are dropped, shortened, or in other entities.  Neither has relations of entities.
    """
    rng, key, response = random.Random(7), [], []
    for document in re.findall(r"(?ms)^# newdoc.*?(?=^# newdoc|\Z)", text)[::EVERY]:
        lines = document.split("\n")[:-1]
        mentions = find_mentions(lines)
        key += with_mentions(lines, mentions)
        response += with_mentions(lines, perturbed(rng, mentions))
    return {
        name: "".join(f"{line}\n" for line in lines)
        for name, lines in (("key", key), ("response", response))
    }


def find_mentions(lines):
    """(first line, last line, entity, fields) of the mentions of a document, without repeated ones."""
    found, opened = {}, {}
    for number, line in enumerate(lines):
        value = (
            re.search(r"\t(?:[^\t]*\|)?Entity=([^|\t]*)[^\t]*$", line)
            if not line.startswith("#")
            else None
        )
        for opens, entity, fields, closes in re.findall(
            r"(\()?([^()-]+)(-[^()]*)?(\))?", value[1] if value else ""
        ):
            if opens:
                opened.setdefault(entity, []).append((number, fields))
            if closes:
                start, fields = opened[entity].pop()
                found.setdefault((start, number), (entity, fields))
    return [(*span, *rest) for span, rest in sorted(found.items())]


def perturbed(rng, mentions):
    """Other mentions of the same document, none of which repeats or crosses one of its own entity."""
    entities = sorted({entity for _, _, entity, _ in mentions})
    found = {}
    for start, end, entity, fields in mentions:
        chance = rng.random()
        if chance < 0.2:
            entity = rng.choice(entities)
        elif chance < 0.25:
            entity = f"x{len(found)}"
        elif chance < 0.35:
            end = start
        crosses = any(
            e == entity and s < start <= last < end for (s, last), (e, _) in found.items()
        )
        if chance < 0.9 and not crosses:
            found.setdefault((start, end), (entity, fields))
    return [(*span, *rest) for span, rest in sorted(found.items())]


def with_mentions(lines, mentions):
    """The lines of a document with these mentions instead of its own."""
    opening, closing = {}, {}
    for start, end, entity, fields in sorted(
        mentions, key=lambda mention: (mention[0], -mention[1])
    ):
        opening.setdefault(start, []).append(f"({entity}{fields}" + (")" if start == end else ""))
        if start < end:
            closing.setdefault(end, []).insert(0, f"{entity})")
    changed = []
    for number, line in enumerate(lines):
        if "\t" in line and not line.startswith("#"):
            *cells, misc = line.split("\t")
            kept = [
                one
                for one in misc.split("|")
                if one.partition("=")[0] not in ("_", "Entity", "Bridge", "SplitAnte")
            ]
            brackets = "".join([*closing.get(number, []), *opening.get(number, [])])
            kept += [f"Entity={brackets}"] if brackets else []
            line = "\t".join([*cells, "|".join(kept) or "_"])
        changed.append(line)
    return changed


def digest(text):
    """A digest of a file."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def scores(printed):
    """{metric: [precision, recall, F1]} of what the scorer prints, in percent."""
    found = re.findall(
        r"^(\w+)\nRecall: ([\d.]+)\s+Precision: ([\d.]+)\s+F1: ([\d.]+)", printed, re.MULTILINE
    )
    return {
        name: [float(precision), float(recall), float(f1)] for name, recall, precision, f1 in found
    }


def main(gum, scorer, python):
    """Read and score all forms."""
    result = {
        "commits": COMMITS,
        "command": "corefud-scorer.py KEY RESPONSE -a MATCH -z linear -m METRICS [-s]",
    }
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            whole = Path(folder) / "whole.conllu"
            whole.write_text(released_text(gum, form), "utf-8")
            texts = scored_texts(released_text(gum, form))
            paths = [Path(folder) / f"{name}.conllu" for name in texts]
            for path, text in zip(paths, texts.values(), strict=True):
                path.write_text(text, "utf-8")
            read = subprocess.run(
                [python, "-c", READ, whole], capture_output=True, text=True, check=True
            )
            found = {}
            for match, keep in SETTINGS:
                command = [
                    python,
                    Path(scorer) / "corefud-scorer.py",
                    *paths,
                    "-a",
                    match,
                    "-z",
                    "linear",
                ]
                command += ["-m", *METRICS, *(["-s"] if keep == "true" else [])]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[f"{match} {keep}"] = scores(done.stdout)
            for name in REFUSED[form]:
                done = subprocess.run(
                    [python, "-c", READ, Path(gum) / FORMS[form] / f"{name}.conllu"]
                )
                assert done.returncode, name
            texts["released"] = released_text(gum, form)
            digests = {name: digest(text) for name, text in texts.items()}
            result[form] = {"digests": digests, **json.loads(read.stdout), "scores": found}
    text = json.dumps(result, indent=1)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda match: " ".join(match[0].split()), text)
    (HERE / "gum.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
