"""The evaluate modules of coreference, which differ in a name and in what they say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from closeread.hf.metric import EvaluateModule

TEXT = """{summary}

{sources}; details follow the reference scorer.

Predictions and references are lists with one item per document: a list of entities, each a list of mentions
`[start, end]`, where `end` is the last token, or `[start, end, head]`.  Counts are summed over documents.

>>> import evaluate, closeread
>>> {name} = evaluate.load("{name}")
>>> key = [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]
>>> response = [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]]
>>> scores = {name}.compute(predictions=[response], references=[key])
{example}

The example is from Moosavi and Strube (2016, section 3)."""

ALL = """>>> for name in ("mentions/f1", "muc/f1", "b3/f1", "ceafm/f1", "lea/f1", "conll/f1"):
...     print(name, round(scores[name], 4))
mentions/f1 0.8
muc/f1 0.4
b3/f1 0.4545
ceafm/f1 0.5333
lea/f1 0.2778
conll/f1 0.4582"""

SUMMARY = "All scores of coreference in one pass: mentions, MUC, B³, CEAFm, CEAFe, BLANC, LEA and CoNLL F1."
SOURCES = (
    "Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Luo et al. (2014), Moosavi and Strube (2016),"
    "\nPradhan et al. (2012)"
)

METRICS = {
    "muc": ("MUC: the share of the links within entities that are found.", "Vilain et al. (1995)", (0.4, 0.4, 0.4)),
    "b3": ("B³: the share of each mention's entity that is found.", "Bagga and Baldwin (1998)", (0.5, 0.4167, 0.4545)),
    "ceafm": (
        "CEAFm: the mentions that entities share under their best one-to-one mapping.",
        "Luo (2005)",
        (0.5, 0.5714, 0.5333),
    ),
    "ceafe": (
        "CEAFe: the similarity of entities under their best one-to-one mapping.",
        "Luo (2005)",
        (0.4333, 0.65, 0.52),
    ),
    "blanc": (
        "BLANC: the average score of coreference links and non-coreference links.",
        "Recasens and Hovy (2011), Luo et al. (2014)",
        (0.325, 0.4444, 0.3676),
    ),
    "lea": (
        "LEA: the share of each entity's links that are found, weighted by the size of the entity.",
        "Moosavi and Strube (2016)",
        (0.3333, 0.2381, 0.2778),
    ),
    "conll": ("CoNLL F1: the mean of the F1 of MUC, B³ and CEAFe.", "Pradhan et al. (2012)", (0.4582,)),
}
"""What each metric is, where from, and its scores in the example: precision, recall and F1, or only F1."""

MODULES = ("coref", *(f"coref_{metric}" for metric in METRICS))


def describe(name: str) -> str:
    """Return the docstring of a module, without importing evaluate."""
    if name == "coref":
        return TEXT.format(name=name, summary=SUMMARY, sources=SOURCES, example=ALL)
    metric = name.removeprefix("coref_")
    summary, source, found = METRICS[metric]
    parts = ("precision", "recall", "f1")[-len(found) :]
    scores = {f"{metric}/{part}": value for part, value in zip(parts, found, strict=True)}
    example = f">>> {{name: round(score, 4) for name, score in scores.items()}}\n{scores}"
    return TEXT.format(name=name, summary=summary, sources=f"Source: {source}", example=example)


def make_module(module: str) -> type[EvaluateModule]:
    """Make the class of a module, from the name of the Python module that is to have it, such as `….coref_lea`."""
    from closeread.hf.metric import EvaluateModule
    from closeread.hf.modules import class_name
    from closeread.tasks.coref.procedure import PROCEDURE

    name = module.rpartition(".")[2]
    attributes = {
        "__module__": module,
        "__doc__": describe(name),
        "PROCEDURE": PROCEDURE if name == "coref" else PROCEDURE.with_metrics(name.removeprefix("coref_")),
        "SCHEMA": "coref",
        "PREDICTIONS": "clusters",
        "REFERENCES": "clusters",
    }
    return type(class_name(name), (EvaluateModule,), attributes)
