"""Datasets, metrics and statistics for corpora that ask who, what and when of a text.

>>> import closeread
>>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
>>> round(closeread.score("mctaco", rows, config="sample").total.scores["f1"].value, 3)
0.613

What is where the command line has a file may also be an object: a list of rows, a data frame, a dataset, clusters by
document.

Scores: `score`, `compare`, `table`, `validate`, `load_report`; `Report`, `Comparison`, `SystemsTable`, `Resampling`.
Corpora: `corpora()`, `load_dataset`, `load_dataset_builder`, `show`, `stats`, `baseline`, `convert`, `cite`.
Metrics of evaluate: `metrics()`, `load_metric`.
Annotators and errors: `agreement`, `errors()`.
Figures and papers: `plot`, `reproduce`, `Reproduction`.
Trained models: `train`, `predict`.

What a user should know of files and predictions is a `CloseReadWarning`, where the command line has a note.

`corpora`, `errors` and `metrics` are also the names of packages: `closeread.errors.InputError` is a class, and
`closeread.errors("coref", key, response)` counts errors.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from closeread import _called
from closeread._version import __version__
from closeread.hf import register

if TYPE_CHECKING:
    from closeread import errors
    from closeread.api.agreement import agreement
    from closeread.api.baselines import baseline
    from closeread.api.catalog import corpora, metrics, reproduce, stats
    from closeread.api.conversion import convert
    from closeread.api.figures import plot
    from closeread.api.models import predict, train
    from closeread.api.showing import show
    from closeread.api.validation import validate
    from closeread.corpora.citing import cite
    from closeread.corpora.reproduction import Reproduction
    from closeread.counts.comparison import Comparison
    from closeread.counts.estimates import Resampling
    from closeread.counts.report import Report
    from closeread.counts.systems_table import SystemsTable
    from closeread.errors import CloseReadWarning
    from closeread.hf.load import load_dataset, load_dataset_builder
    from closeread.hf.modules import load_metric
    from closeread.scoring import load_report, score
    from closeread.systems import compare, table

__all__ = [
    "CloseReadWarning",
    "Comparison",
    "Report",
    "Reproduction",
    "Resampling",
    "SystemsTable",
    "__version__",
    "agreement",
    "baseline",
    "cite",
    "compare",
    "convert",
    "corpora",
    "errors",
    "load_dataset",
    "load_dataset_builder",
    "load_metric",
    "load_report",
    "metrics",
    "plot",
    "predict",
    "reproduce",
    "score",
    "show",
    "stats",
    "table",
    "train",
    "validate",
]

_HOMES = {
    "CloseReadWarning": "closeread.errors",
    "Comparison": "closeread.counts.comparison",
    "Report": "closeread.counts.report",
    "Reproduction": "closeread.corpora.reproduction",
    "Resampling": "closeread.counts.estimates",
    "SystemsTable": "closeread.counts.systems_table",
    "agreement": "closeread.api.agreement",
    "baseline": "closeread.api.baselines",
    "cite": "closeread.corpora.citing",
    "compare": "closeread.systems",
    "convert": "closeread.api.conversion",
    "load_dataset": "closeread.hf.load",
    "load_dataset_builder": "closeread.hf.load",
    "load_metric": "closeread.hf.modules",
    "load_report": "closeread.scoring",
    "plot": "closeread.api.figures",
    "predict": "closeread.api.models",
    "reproduce": "closeread.api.catalog",
    "score": "closeread.scoring",
    "show": "closeread.api.showing",
    "stats": "closeread.api.catalog",
    "table": "closeread.systems",
    "train": "closeread.api.models",
    "validate": "closeread.api.validation",
}


def __getattr__(name: str) -> Any:
    """Import what is public when it is first used, so that `import closeread` stays light."""
    if name in _HOMES:
        return _called.check_public(getattr(importlib.import_module(_HOMES[name]), name))
    if name in __all__:  # a module that can be called
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'closeread' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


register.install()
