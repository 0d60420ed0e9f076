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

ROUNDED = ">>> {name: round(score, 4) for name, score in scores.items()}\n"
ALL = """>>> for name in ("mentions/f1", "muc/f1", "b3/f1", "ceafm/f1", "lea/f1", "conll/f1"):
...     print(name, round(scores[name], 4))
mentions/f1 0.8
muc/f1 0.4
b3/f1 0.4545
ceafm/f1 0.5333
lea/f1 0.2778
conll/f1 0.4582"""

MODULES = {
    "coref": (
        "All scores of coreference in one pass: mentions, MUC, B³, CEAFm, CEAFe, BLANC, LEA and CoNLL F1.",
        "Sources: Vilain et al. (1995), Bagga and Baldwin (1998), Luo (2005), Luo et al. (2014), Moosavi and Strube "
        "(2016),\nPradhan et al. (2012)",
        ALL,
    ),
    "coref_muc": (
        "MUC: the share of the links within entities that are found.",
        "Source: Vilain et al. (1995)",
        f"{ROUNDED}{{'muc/precision': 0.4, 'muc/recall': 0.4, 'muc/f1': 0.4}}",
    ),
    "coref_b3": (
        "B³: the share of each mention's entity that is found.",
        "Source: Bagga and Baldwin (1998)",
        f"{ROUNDED}{{'b3/precision': 0.5, 'b3/recall': 0.4167, 'b3/f1': 0.4545}}",
    ),
    "coref_ceafm": (
        "CEAFm: the mentions that entities share under their best one-to-one mapping.",
        "Source: Luo (2005)",
        f"{ROUNDED}{{'ceafm/precision': 0.5, 'ceafm/recall': 0.5714, 'ceafm/f1': 0.5333}}",
    ),
    "coref_ceafe": (
        "CEAFe: the similarity of entities under their best one-to-one mapping.",
        "Source: Luo (2005)",
        f"{ROUNDED}{{'ceafe/precision': 0.4333, 'ceafe/recall': 0.65, 'ceafe/f1': 0.52}}",
    ),
    "coref_blanc": (
        "BLANC: the average score of coreference links and non-coreference links.",
        "Source: Recasens and Hovy (2011), Luo et al. (2014)",
        f"{ROUNDED}{{'blanc/precision': 0.325, 'blanc/recall': 0.4444, 'blanc/f1': 0.3676}}",
    ),
    "coref_lea": (
        "LEA: the share of each entity's links that are found, weighted by the size of the entity.",
        "Source: Moosavi and Strube (2016)",
        f"{ROUNDED}{{'lea/precision': 0.3333, 'lea/recall': 0.2381, 'lea/f1': 0.2778}}",
    ),
    "coref_conll": (
        "CoNLL F1: the mean of the F1 of MUC, B³ and CEAFe.",
        "Source: Pradhan et al. (2012)",
        f"{ROUNDED}{{'conll/f1': 0.4582}}",
    ),
}
"""What each module computes, where from, and the example in its text, by name."""


def describe(name: str) -> str:
    """Return the docstring of a module, without importing evaluate."""
    summary, sources, example = MODULES[name]
    return TEXT.format(name=name, summary=summary, sources=sources, example=example)


def make_module(module: str) -> type[EvaluateModule]:
    """Make the class of a module.

    Args:
        module: the name of the Python module that holds it, which ends with that of the metric.
    """
    from closeread.hf.metric import EvaluateModule
    from closeread.hf.modules import class_name
    from closeread.tasks.coref.procedure import PROCEDURE

    name = module.rpartition(".")[2]
    metric = name.removeprefix("coref").removeprefix("_")
    attributes = {
        "__module__": module,
        "__doc__": describe(name),
        "PROCEDURE": PROCEDURE.with_metrics(metric) if metric else PROCEDURE,
        "SCHEMA": "coref",
        "PREDICTIONS": "clusters",
        "REFERENCES": "clusters",
    }
    return type(class_name(name), (EvaluateModule,), attributes)
