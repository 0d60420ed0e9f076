"""Run CorefUD's scorer on random CoNLL-U files with empty nodes, and keep its counts.

    python tests/agreed/corefud_zeros.py SCORER

SCORER is a checkout of github.com/ufal/corefud-scorer at the commit named in `corefud_tests.py`; this Python needs
udapi and SciPy.  Writes `corefud_zeros.json` beside this file.  The files are made here from their seeds, so that a
test can make them again.  The empty nodes of the response are those of the key, with some missing, moved, added or
given other dependencies.  In the files of `random_rivals`, which have no empty nodes, many mentions have the same head.

A sentence is (the number of its words, its empty nodes).  Empty nodes are named by letters; each is (the word before
it, its dependencies), these are pairs of a parent and a relation.  A node is (sentence, number of the word or name of
the empty node), and mentions are {(first node, last node): (head, entity)}.
"""

import json
import logging
import random
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
N_PAIRS = 40
RELATIONS = ("nsubj", "obj", "obl:arg")
MATCHES = ("exact", "head", "partial-corefud")
BEGIN = "# newdoc id = {}\n# global.Entity = eid-etype-head-other\n"
SETTINGS = {
    "zeros": [
        (match, keep, zeros)
        for match in MATCHES
        for keep in (True, False)
        for zeros in ("linear", "dependent")
    ],
    "rivals": [(match, True, "linear") for match in MATCHES[1:]],
}


def random_zeros(seed):
    """Key and response as CoNLL-U text, with empty nodes."""
    rng = random.Random(seed)
    texts = ["", ""]
    for number in range(rng.randint(1, 3)):
        sentences = [random_sentence(rng) for _ in range(rng.randint(1, 4))]
        mentions = random_mentions(rng, sentences)
        others = [change_nodes(rng, sentence) for sentence in sentences]
        texts[0] += document_text(f"d{number}", sentences, mentions)
        texts[1] += document_text(f"d{number}", others, change_mentions(rng, mentions, others))
    return tuple(texts)


def random_rivals(seed):
    """Key and response as CoNLL-U text, with mentions around few heads."""
    rng = random.Random(seed)
    texts = ["", ""]
    for number in range(rng.randint(1, 2)):
        length = rng.randint(8, 14)
        heads = rng.sample(range(1, length + 1), rng.randint(2, 3))
        for side in (0, 1):
            mentions = {}
            for _ in range(rng.randint(4, 9)):
                head = rng.choice(heads)
                start, end = max(1, head - rng.randint(0, 2)), min(length, head + rng.randint(0, 2))
                mentions[(0, start), (0, end)] = ((0, head), rng.randrange(4))
            texts[side] += document_text(f"d{number}", [(length, {})], mentions)
    return tuple(texts)


PAIRS = {"zeros": random_zeros, "rivals": random_rivals}


def random_sentence(rng):
    """A sentence whose empty nodes are after the same two words, so that those of the response have the same places."""
    n_words = rng.randint(3, 6)
    places = rng.sample(range(n_words + 1), 2)
    empty = {}
    for name in "ABCD"[: rng.choice((0, 1, 2, 2, 3, 4))]:
        empty[name] = (rng.choice(places), random_dependencies(rng, n_words, [*empty]))
    return n_words, empty


def random_dependencies(rng, n_words, others):
    """One to three dependencies on words, the root (0) or, rarely, other empty nodes."""
    found = set()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        parent = rng.choice(others) if others and rng.random() < 0.1 else rng.randint(0, n_words)
        found.add((parent, rng.choice(RELATIONS)))
    return found


def random_mentions(rng, sentences):
    """Mentions of single empty nodes, and others of up to three nodes."""
    mentions = {}
    for _ in range(rng.randint(3, 12)):
        number = rng.randrange(len(sentences))
        nodes = list_nodes(number, sentences[number])
        empty = [node for node in nodes if isinstance(node[1], str)]
        if empty and rng.random() < 0.6:
            node = rng.choice(empty)
            mentions[node, node] = (node, rng.randrange(4))
        else:
            start = rng.randrange(len(nodes))
            end = min(len(nodes) - 1, start + rng.choice((0, 0, 1, 2)))
            mentions[nodes[start], nodes[end]] = (nodes[rng.randint(start, end)], rng.randrange(4))
    return mentions


def list_nodes(number, sentence):
    """The nodes of a sentence in order."""
    n_words, empty = sentence
    words = [(word, 0, (number, word)) for word in range(1, n_words + 1)]
    between = [
        (after, i, (number, name)) for i, (name, (after, _)) in enumerate(empty.items(), start=1)
    ]
    return [node for _, _, node in sorted(words + between)]


def change_nodes(rng, sentence):
    """The sentence as the response has it."""
    n_words, empty = sentence
    places = sorted({after for after, _ in empty.values()} or {0})
    changed = {}
    for name, (after, dependencies) in empty.items():
        if rng.random() > 0.15:
            moved = rng.choice(places) if rng.random() < 0.3 else after
            others = (
                random_dependencies(rng, n_words, [*changed])
                if rng.random() < 0.3
                else dependencies
            )
            changed[name] = (moved, others)
    if rng.random() < 0.4:
        changed["X"] = (rng.choice(places), random_dependencies(rng, n_words, [*changed]))
    names = rng.sample([*changed], len(changed))
    present = {*changed, *range(n_words + 1)}
    return n_words, {
        name: (
            changed[name][0],
            {(p if p in present else 0, relation) for p, relation in changed[name][1]},
        )
        for name in names
    }


def change_mentions(rng, mentions, sentences):
    """The mentions as the response has them."""
    changed = {}
    for (first, last), (head, entity) in mentions.items():
        nodes = list_nodes(first[0], sentences[first[0]])
        if {first, last, head} <= {*nodes} and rng.random() > 0.1:
            start, end = sorted((nodes.index(first), nodes.index(last)))
            place = min(max(nodes.index(head), start), end)
            if rng.random() < 0.2:
                start, end = rng.randint(start, place), rng.randint(place, end)
            changed[nodes[start], nodes[end]] = (
                nodes[place],
                entity if rng.random() < 0.75 else rng.randrange(4, 7),
            )
    for number, (_, empty) in enumerate(sentences):
        if "X" in empty and rng.random() < 0.8:
            changed[(number, "X"), (number, "X")] = ((number, "X"), rng.randrange(4))
    return changed


def document_text(name, sentences, mentions):
    """The text of a document."""
    text = BEGIN.format(name)
    for number, (n_words, empty) in enumerate(sentences):
        nodes = list_nodes(number, (n_words, empty))
        here = {pair: value for pair, value in mentions.items() if pair[0][0] == number}
        ids = number_nodes(nodes)
        cells = entity_cells(name, nodes, here)
        text += f"# sent_id = {name}s{number}\n"
        for node, cell in zip(nodes, cells, strict=True):
            if isinstance(node[1], str):
                parents = [
                    (ids.get((number, parent), str(parent)), relation)
                    for parent, relation in empty[node[1]][1]
                ]
                dependencies = "|".join(
                    f"{parent}:{relation}" for parent, relation in sorted(parents)
                )
                text += "\t".join([ids[node], *"_" * 7, dependencies, cell]) + "\n"
            else:
                text += (
                    "\t".join(
                        [ids[node], f"w{node[1]}", *"____", str(node[1] - 1), "dep", "_", cell]
                    )
                    + "\n"
                )
        text += "\n"
    return text


def number_nodes(nodes):
    """The ids of the nodes of a sentence: 1, 1.1, 1.2, 2 and so on."""
    ids, word, after = {}, 0, 0
    for node in nodes:
        word, after = (word, after + 1) if isinstance(node[1], str) else (node[1], 0)
        ids[node] = f"{word}.{after}" if after else str(word)
    return ids


def entity_cells(name, nodes, mentions):
    """The last column of a sentence; mentions that cross an earlier one of their entity are left out."""
    spans = {}
    for (first, last), (head, entity) in mentions.items():
        start, end = nodes.index(first), nodes.index(last)
        if not any(
            e == entity and (a < start <= b < end or start < a <= end < b)
            for (a, b), (_, e) in spans.items()
        ):
            spans[start, end] = (nodes.index(head), entity)
    cells = ["" for _ in nodes]
    for (start, end), (_, entity) in sorted(
        spans.items(), key=lambda item: item[0][1] - item[0][0]
    ):
        cells[end] += f"{name}e{entity})" if start < end else ""
    for (start, end), (head, entity) in sorted(
        spans.items(), key=lambda item: item[0][0] - item[0][1]
    ):
        cells[start] += f"({name}e{entity}-x-{head - start + 1}-" + (")" if start == end else "")
    return [f"Entity={cell}" if cell else "_" for cell in cells]


def main(scorer):
    """Count all pairs in all settings."""
    from corefud_tests import COMMIT, COUNTS, count

    logging.disable(logging.CRITICAL)
    sys.path.insert(0, scorer)
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("key.conllu", "response.conllu")]
        for kind, make in PAIRS.items():
            for seed in range(N_PAIRS):
                for path, text in zip(files, make(seed), strict=True):
                    path.write_text(text, "utf-8")
                for match, keep, zeros in SETTINGS[kind]:
                    said[f"{kind} {seed} {match} {keep} {zeros}"] = count(
                        *files, match, zeros, keep
                    )
    result = {
        "tool": "corefud-scorer 1.2",
        "commit": COMMIT,
        "command": "CorefUDReader and Evaluator, as in corefud_tests.py",
        "columns": COUNTS,
        "said": said,
    }
    lines = (
        json.dumps(result, indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
    )
    (HERE / "corefud_zeros.json").write_text(lines.replace("}, ", "},\n") + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
