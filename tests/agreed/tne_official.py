"""Run TNE's official evaluator and keep what it says.

    python tests/agreed/tne_official.py EVALUATOR

EVALUATOR is a checkout of github.com/allenai/tne-evaluator at the commit named below; CLOSEREAD_DATA must name the
corpora.  Writes `tne_official.json` beside this file.  Of allennlp, which the evaluator imports, the few names that it
needs are made here (with them it prints what its own `test.sh` expects, in more digits); torch has to be installed.
All systems are made here, by hand or from seeds, so that a test can make them again.

Conventions: a link is (anchor, preposition, complement), with numbers of noun phrases; a document is how many noun
phrases it has, its gold links, and a system's array of labels, one for every ordered pair.
"""

import gzip
import hashlib
import importlib.util
import json
import os
import random
import sys
import types
from pathlib import Path

HERE = Path(__file__).parent
COMMIT = "ebf71c0cbed5d5a908310af7884ed785db9a7e33"
FILES = ("evaluate.py", "mcf1_measure.py", "convert_data2leaderboard_eval.py")
N_RANDOM = 300
SPLITS = {"test": "test.jsonl.gz", "validation": "dev.jsonl.gz"}

PREPOSITIONS = "of,against,in,by,on,about,with,after,member(s) of,to,from,for,among,under,at,between,during,near,over,before"
PREPOSITIONS = [None, *PREPOSITIONS.split(","), "inside", "outside", "into", "around"]

# By hand: three noun phrases, or as many as said.
OF, IN, BY = 1, 3, 4
CASES = {
    "all right": [(3, [(0, "of", 1), (0, "in", 2), (2, "by", 1)], [0, OF, IN, 0, 0, 0, 0, BY, 0])],
    "all wrong": [
        (3, [(0, "of", 1), (0, "in", 2), (2, "by", 1)], [0, IN, BY, OF, 0, 0, OF, OF, 0])
    ],
    "no pair found": [
        (3, [(0, "of", 1), (0, "in", 2), (2, "by", 1)], [0, 0, 0, OF, 0, IN, 0, 0, 0])
    ],
    "some of each": [
        (3, [(0, "of", 1), (0, "in", 2), (2, "by", 1)], [0, OF, BY, OF, 0, 0, 0, 0, 0])
    ],
    "the first of two": [(2, [(0, "of", 1), (0, "in", 1)], [0, OF, 0, 0])],
    "the last of two": [(2, [(0, "of", 1), (0, "in", 1)], [0, IN, 0, 0])],
    "none of two": [(2, [(0, "of", 1), (0, "in", 1), (1, "by", 0)], [0, BY, BY, 0])],
    "gold twice": [(2, [(0, "of", 1), (0, "of", 1)], [0, OF, OF, 0])],
    "labels of a noun phrase with itself": [(2, [(0, "of", 1)], [IN, OF, 0, OF])],
    "nothing said": [(2, [(0, "of", 1)], [0, 0, 0, 0])],
    "nothing to say": [(2, [], [0, OF, 0, 0])],
    "nothing at all": [(2, [], [0, 0, 0, 0])],
    "one noun phrase": [(1, [], [OF])],
    "two documents": [
        (3, [(0, "around", 1), (1, "against", 2)], [0, 24, 0, 0, 0, 2, 0, 0, 0]),
        (2, [(0, "of", 1)], [0, 0, OF, 0]),
    ],
}


def random_documents(seed):
    """One to four invented documents of one to nine noun phrases; every fourth seed says nothing of some of them."""
    rng = random.Random(seed)

    def below(n):
        return int(rng.random() * n)

    documents = []
    for _ in range(1 + below(4)):
        size = 1 + below(9)
        labels = 2 + below(23)
        share = rng.random()
        pairs = [
            (i, j) for i in range(size) for j in range(size) if i != j and rng.random() < share / 2
        ]
        links = [
            (i, PREPOSITIONS[1 + below(labels)], j) for i, j in pairs for _ in range(1 + below(3))
        ]
        links = [link for _, link in sorted((rng.random(), link) for link in links)]
        array = [1 + below(labels) if rng.random() < share else 0 for _ in range(size * size)]
        for i, preposition, j in links:
            if rng.random() < 0.5:
                array[i * size + j] = PREPOSITIONS.index(preposition)
        if seed % 4 == 0 and rng.random() < 0.5:
            array = [0] * (size * size)
        documents.append((size, links, array))
    return documents


# The shares of gold pairs that are dropped and called otherwise, and of pairs that are added.
SHARES = {
    "gold": (0.0, 0.0, 0.0),
    "few": (0.6, 0.1, 0.1),
    "fair": (0.3, 0.2, 0.5),
    "many": (0.1, 0.5, 2.0),
}


def perturbed(system, number, size, links):
    """A system's array for a document, from its gold links: some dropped, some called otherwise, some added."""
    drop, relabel, add = SHARES[system]
    rng = random.Random(f"{system} {number}")

    def below(n):
        return int(rng.random() * n)

    labels = {}
    for anchor, preposition, complement in links:
        labels.setdefault((anchor, complement), []).append(PREPOSITIONS.index(preposition))
    array = [0] * (size * size)
    for (anchor, complement), of_pair in labels.items():
        chance = rng.random()
        if chance >= drop:
            array[anchor * size + complement] = (
                1 + below(24) if chance < drop + relabel else of_pair[below(len(of_pair))]
            )
    for _ in range(int(add * len(labels))):
        place = below(size * size)
        array[place] = array[place] or 1 + below(24)  # on the diagonal as well
    return array


def stand_in(torch):
    """What the evaluator needs of allennlp and overrides, as modules by name."""

    class Metric:
        @staticmethod
        def register(_):
            return lambda metric: metric

        @staticmethod
        def detach_tensors(*tensors):
            return tuple(None if tensor is None else torch.as_tensor(tensor) for tensor in tensors)

    class F1Measure(Metric):
        """Precision, recall and F1 of one label, over what a mask lets through; 0/0 is 0."""

        def __init__(self, positive_label):
            self.label = positive_label
            self.right = self.said = self.gold = 0

        def __call__(self, predictions, gold_labels, mask):
            predictions, gold_labels, mask = self.detach_tensors(predictions, gold_labels, mask)
            said = (predictions.int().argmax(dim=-1) == self.label) & mask
            gold = (gold_labels == self.label) & mask
            self.right += int((said & gold).sum())
            self.said += int(said.sum())
            self.gold += int(gold.sum())

        def get_metric(self, reset):
            precision = self.right / self.said if self.said else 0.0
            recall = self.right / self.gold if self.gold else 0.0
            f1 = 2 * precision * recall / (precision + recall) if self.right else 0.0
            if reset:
                self.right = self.said = self.gold = 0
            return {"precision": precision, "recall": recall, "f1": f1}

    names = {
        "overrides": {"overrides": lambda method: method},
        "allennlp.common.checks": {"ConfigurationError": ValueError},
        "allennlp.training.metrics.metric": {"Metric": Metric},
        "allennlp.training.metrics.f1_measure": {"F1Measure": F1Measure},
        "allennlp.nn.util": {"dist_reduce_sum": lambda value: value},
    }
    for name in list(names):
        parts = name.split(".")
        for i in range(1, len(parts)):
            names.setdefault(".".join(parts[:i]), {"__path__": []})
    modules = {}
    for name, held in names.items():
        modules[name] = types.ModuleType(name)
        vars(modules[name]).update(held)
    return modules


def loaded(folder):
    """The evaluator's modules, by file name."""
    import torch

    sys.modules.update(stand_in(torch))
    modules = {}
    for name in ("mcf1_measure", "evaluate", "convert_data2leaderboard_eval"):
        spec = importlib.util.spec_from_file_location(name, Path(folder) / f"{name}.py")
        modules[name] = importlib.util.module_from_spec(spec)
        if name == "mcf1_measure":  # the evaluator imports it
            sys.modules[name] = modules[name]
        spec.loader.exec_module(modules[name])
    return modules


def answers(modules, documents):
    """The gold of documents as the evaluator reads it, by its own script."""
    for number, (size, links, _) in enumerate(documents):
        nps = {f"np{i}": {"first_token": i, "last_token": i} for i in range(size)}
        ends = [
            (f"np{anchor}", preposition, f"np{complement}")
            for anchor, preposition, complement in links
        ]
        names = ("anchor", "preposition", "complement")
        relations = [dict(zip(names, end, strict=True)) for end in ends]
        yield modules["convert_data2leaderboard_eval"].data_conversion(
            {"id": str(number), "nps": nps, "np_relations": relations}
        )


def official(modules, documents):
    """The six scores of the evaluator."""
    systems = [{"predicted_prepositions": array} for _, _, array in documents]
    return modules["evaluate"].evaluate_documents(list(answers(modules, documents)), systems)


def released(name):
    """How many noun phrases the documents of a split have, and their links."""
    with gzip.open(
        Path(os.environ["CLOSEREAD_DATA"]) / "tne" / SPLITS[name], "rt", encoding="utf-8"
    ) as lines:
        records = [json.loads(line) for line in lines]
    return [
        (
            len(r["nps"]),
            [
                (number(x["anchor"]), x["preposition"], number(x["complement"]))
                for x in r["np_relations"]
            ],
        )
        for r in records
    ]


def number(name):
    """The number of a noun phrase, by its id."""
    return int(name.removeprefix("np"))


def main(folder):
    """Score the hand-made, the random and the perturbed systems."""
    modules = loaded(folder)
    said = {name: official(modules, documents) for name, documents in CASES.items()}
    said |= {
        f"random {seed}": official(modules, random_documents(seed)) for seed in range(N_RANDOM)
    }
    for split in SPLITS:
        gold = released(split)
        for system in SHARES:
            documents = [
                (size, links, perturbed(system, i, size, links))
                for i, (size, links) in enumerate(gold)
            ]
            said[f"{split}: {system}"] = official(modules, documents)
    digests = [
        f"{name} sha256 {hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest()}"
        for name in FILES
    ]
    written = {
        "tool": "github.com/allenai/tne-evaluator evaluate.py",
        "version": f"commit {COMMIT}, {', '.join(digests)}",
        "command": "convert_data2leaderboard_eval.data_conversion(DOCUMENT), evaluate.evaluate_documents(GOLD, SYSTEM)",
        "said": said,
    }
    body = ",\n".join(f"{json.dumps(name)}: {json.dumps(scores)}" for name, scores in said.items())
    rest = [
        f"{json.dumps(name)}: {json.dumps(value)}"
        for name, value in written.items()
        if name != "said"
    ]
    (HERE / "tne_official.json").write_text(
        "{\n" + ",\n".join([*rest, f'"said": {{\n{body}\n}}']) + "\n}\n", "utf-8"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
