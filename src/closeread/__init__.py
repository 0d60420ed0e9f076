"""Datasets, metrics and statistics for corpora that ask who, what and when of a text.

>>> import closeread
>>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
>>> round(closeread.score("mctaco", rows, config="sample").total.scores["f1"].value, 3)
0.613

What is where the command line has a file may also be an object: a list of rows, a data frame, a dataset, clusters by
document.

Scores: `score`, `compare`, `table`, `validate`, `load_report`; `Report`, `Comparison`, `SystemsTable`, `Resampling`.
Counting in pieces: `count`, `merge`, `count_batch`; `Counts`.
Corpora: `corpora()`, `load_dataset`, `load_dataset_builder`, `show`, `stats`, `baseline`, `convert`, `cite`,
`schema`, `export`.
Metrics of evaluate: `metrics()`, `load_metric`, `install_modules`.
Annotators and errors: `agreement`, `adjudicate`, `errors()`.
Data: `articles`, `build`, `extract`, `perturb`, `phrases`.
Figures and papers: `plot`, `reproduce`, `Reproduction`.
Trained models: `train`, `predict`.
Leaderboards: `submit`, `list_submissions`, `download_submission`, `withdraw_submission`; `init_leaderboard`,
`judge_leaderboard`, `show_leaderboard`, `build_leaderboard`, `serve_leaderboard`, `verify_leaderboard`.
Publishing: `publish_dataset`, `publish_metric`, `publish_leaderboard`, `publish_codabench`.

What a user should know of files and predictions is a `CloseReadWarning`, where the command line has a note.

A file or an object that is wrong raises `InputError`, a name that does not exist `RequestError`, both of which are
`ValueError`s; a library that is not installed raises `MissingExtraError`.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from closeread._version import __version__
from closeread.hf import register

if TYPE_CHECKING:
    from closeread.corpus.citing import cite
    from closeread.corpus.reproduction import Reproduction
    from closeread.counts.comparison import Comparison
    from closeread.counts.counts import Counts
    from closeread.counts.estimates import Resampling
    from closeread.counts.report import Report
    from closeread.counts.systems import SystemsTable
    from closeread.exceptions import CloseReadWarning, InputError, MissingExtraError, RequestError
    from closeread.hf.load import load_dataset, load_dataset_builder
    from closeread.hf.modules import load_metric
    from closeread.operations.corpora import corpora, metrics, reproduce
    from closeread.operations.counting import count, count_batch, merge
    from closeread.operations.data import export, install_modules, schema, stats
    from closeread.operations.leaderboard import (
        build_leaderboard,
        download_submission,
        init_leaderboard,
        judge_leaderboard,
        list_submissions,
        serve_leaderboard,
        show_leaderboard,
        submit,
        verify_leaderboard,
        withdraw_submission,
    )
    from closeread.operations.plot import plot
    from closeread.operations.publishing import publish_codabench, publish_dataset, publish_leaderboard, publish_metric
    from closeread.operations.show import show
    from closeread.operations.tasks import (
        adjudicate,
        agreement,
        articles,
        baseline,
        build,
        convert,
        errors,
        extract,
        perturb,
        phrases,
        predict,
        train,
    )
    from closeread.operations.validate import validate
    from closeread.scoring import load_report, score
    from closeread.systems import compare, table

__all__ = [
    "CloseReadWarning",
    "Comparison",
    "Counts",
    "InputError",
    "MissingExtraError",
    "Report",
    "Reproduction",
    "RequestError",
    "Resampling",
    "SystemsTable",
    "__version__",
    "adjudicate",
    "agreement",
    "articles",
    "baseline",
    "build",
    "build_leaderboard",
    "cite",
    "compare",
    "convert",
    "corpora",
    "count",
    "count_batch",
    "download_submission",
    "errors",
    "export",
    "extract",
    "init_leaderboard",
    "install_modules",
    "judge_leaderboard",
    "list_submissions",
    "load_dataset",
    "load_dataset_builder",
    "load_metric",
    "load_report",
    "merge",
    "metrics",
    "perturb",
    "phrases",
    "plot",
    "predict",
    "publish_codabench",
    "publish_dataset",
    "publish_leaderboard",
    "publish_metric",
    "reproduce",
    "schema",
    "score",
    "serve_leaderboard",
    "show",
    "show_leaderboard",
    "stats",
    "submit",
    "table",
    "train",
    "validate",
    "verify_leaderboard",
    "withdraw_submission",
]

_HOMES = {
    "CloseReadWarning": "closeread.exceptions",
    "Comparison": "closeread.counts.comparison",
    "Counts": "closeread.counts.counts",
    "InputError": "closeread.exceptions",
    "MissingExtraError": "closeread.exceptions",
    "Report": "closeread.counts.report",
    "Reproduction": "closeread.corpus.reproduction",
    "RequestError": "closeread.exceptions",
    "Resampling": "closeread.counts.estimates",
    "SystemsTable": "closeread.counts.systems",
    "adjudicate": "closeread.operations.tasks",
    "agreement": "closeread.operations.tasks",
    "articles": "closeread.operations.tasks",
    "baseline": "closeread.operations.tasks",
    "build": "closeread.operations.tasks",
    "build_leaderboard": "closeread.operations.leaderboard",
    "cite": "closeread.corpus.citing",
    "compare": "closeread.systems",
    "convert": "closeread.operations.tasks",
    "corpora": "closeread.operations.corpora",
    "count": "closeread.operations.counting",
    "count_batch": "closeread.operations.counting",
    "download_submission": "closeread.operations.leaderboard",
    "errors": "closeread.operations.tasks",
    "export": "closeread.operations.data",
    "extract": "closeread.operations.tasks",
    "init_leaderboard": "closeread.operations.leaderboard",
    "install_modules": "closeread.operations.data",
    "judge_leaderboard": "closeread.operations.leaderboard",
    "list_submissions": "closeread.operations.leaderboard",
    "load_dataset": "closeread.hf.load",
    "load_dataset_builder": "closeread.hf.load",
    "load_metric": "closeread.hf.modules",
    "load_report": "closeread.scoring",
    "merge": "closeread.operations.counting",
    "metrics": "closeread.operations.corpora",
    "perturb": "closeread.operations.tasks",
    "phrases": "closeread.operations.tasks",
    "plot": "closeread.operations.plot",
    "predict": "closeread.operations.tasks",
    "publish_codabench": "closeread.operations.publishing",
    "publish_dataset": "closeread.operations.publishing",
    "publish_leaderboard": "closeread.operations.publishing",
    "publish_metric": "closeread.operations.publishing",
    "reproduce": "closeread.operations.corpora",
    "schema": "closeread.operations.data",
    "score": "closeread.scoring",
    "serve_leaderboard": "closeread.operations.leaderboard",
    "show": "closeread.operations.show",
    "show_leaderboard": "closeread.operations.leaderboard",
    "stats": "closeread.operations.data",
    "submit": "closeread.operations.leaderboard",
    "table": "closeread.systems",
    "train": "closeread.operations.tasks",
    "validate": "closeread.operations.validate",
    "verify_leaderboard": "closeread.operations.leaderboard",
    "withdraw_submission": "closeread.operations.leaderboard",
}


def __getattr__(name: str) -> Any:
    """Import what is public when it is first used, so that `import closeread` stays light."""
    if name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name]), name)
        return _check_arguments(found) if isinstance(found, FunctionType) else found
    raise AttributeError(f"module 'closeread' has no attribute '{name}'")


@cache
def _check_arguments(function: FunctionType) -> Any:
    """Return a public function as users call it: it checks its arguments, and pickles by its public name."""
    checked = importlib.import_module("closeread.argument_types").check_types(function)
    checked.__module__ = __name__
    return checked


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


register.install()
