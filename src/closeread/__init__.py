"""Datasets, metrics and statistics for corpora that ask who, what and when of a text.

>>> import closeread
>>> rows = closeread.baseline("mctaco", "always-positive", config="sample")
>>> f"{float(closeread.score('mctaco', rows, config='sample')['f1']):.3f}"
'0.613'

What is where the command line has a file may also be an object: a list of rows, a data frame, a dataset, clusters by
document.

Scores: `score`, `compare`, `table`, `validate`, `load_report`; `Report`, `Comparison`, `SystemsTable`, `Resampling`.
Counting in pieces: `count`, `merge`, `count_batch`; `Counts`.
Corpora: `corpora()`, `load_dataset`, `load_dataset_builder`, `show`, `stats`, `baseline`, `convert`, `cite`,
`schema`, `export`.
Metrics of evaluate: `metrics()`, `load_metric`, `install_modules`.
Annotators and errors: `agreement`, `adjudicate`, `errors()`.
Files of a corpus: `prepare`.
Figures: `plot`; pages with a key and systems: `view`.
Trained models: `train`, `predict`. Language models: `llm_rows`.
Leaderboards: `submit`, `list_submissions`, `download_submission`, `withdraw_submission`, `choose_submission`;
`init_leaderboard`, `judge_leaderboard`, `show_leaderboard`, `build_leaderboard`; `extend_deadline`,
`disqualify_submissions`.
Publishing: `publish_dataset`, `publish_metric`, `publish_model`, `publish_leaderboard`, `publish_codabench`.

What a user should know of files and predictions is a `CloseReadWarning`, where the command line has a note.

A file or an object that is wrong raises `InputError`, a name that does not exist `RequestError`, both of which are
`ValueError`s; a library that is not installed raises `MissingExtraError`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from closeread._version import __version__
from closeread.hf import register

if TYPE_CHECKING:
    from closeread.corpus.citing import cite
    from closeread.counts.comparison import Comparison, SystemsTable
    from closeread.counts.counts import Counts
    from closeread.counts.estimates import Resampling
    from closeread.counts.report import Report
    from closeread.exceptions import CloseReadWarning, InputError, MissingExtraError, RequestError
    from closeread.hf.builder import load_dataset, load_dataset_builder
    from closeread.hf.modules import install_modules, load_metric
    from closeread.operations.compare import compare, table
    from closeread.operations.counting import count, count_batch, merge
    from closeread.operations.data import (
        corpora,
        export,
        metrics,
        schema,
        show,
        stats,
    )
    from closeread.operations.leaderboard import (
        build_leaderboard,
        choose_submission,
        disqualify_submissions,
        download_submission,
        extend_deadline,
        init_leaderboard,
        judge_leaderboard,
        list_submissions,
        show_leaderboard,
        withdraw_submission,
    )
    from closeread.operations.llm import llm_rows
    from closeread.operations.publishing import (
        publish_codabench,
        publish_dataset,
        publish_leaderboard,
        publish_metric,
        publish_model,
    )
    from closeread.operations.score import load_report, score, validate
    from closeread.operations.submitting import submit
    from closeread.operations.tasks import (
        adjudicate,
        agreement,
        baseline,
        convert,
        errors,
        plot,
        predict,
        prepare,
        train,
    )
    from closeread.operations.view import view

# fmt: off
__all__ = [
    "CloseReadWarning", "Comparison", "Counts", "InputError", "MissingExtraError", "Report",
    "RequestError", "Resampling", "SystemsTable", "__version__", "adjudicate", "agreement", "baseline",
    "build_leaderboard", "choose_submission", "cite", "compare", "convert", "corpora", "count",
    "count_batch", "disqualify_submissions", "download_submission", "errors", "export", "extend_deadline",
    "init_leaderboard", "install_modules", "judge_leaderboard", "list_submissions",
    "llm_rows", "load_dataset", "load_dataset_builder", "load_metric", "load_report", "merge", "metrics",
    "plot", "predict", "prepare", "publish_codabench", "publish_dataset", "publish_leaderboard", "publish_metric",
    "publish_model",
    "schema", "score", "show", "show_leaderboard", "stats", "submit", "table", "train", "validate",
    "view", "withdraw_submission",
]
# fmt: on

_NAMES = {
    "closeread.corpus.citing": "cite",
    "closeread.counts.comparison": "Comparison SystemsTable",
    "closeread.counts.counts": "Counts",
    "closeread.counts.estimates": "Resampling",
    "closeread.counts.report": "Report",
    "closeread.exceptions": "CloseReadWarning InputError MissingExtraError RequestError",
    "closeread.hf.builder": "load_dataset load_dataset_builder",
    "closeread.hf.modules": "install_modules load_metric",
    "closeread.operations.compare": "compare table",
    "closeread.operations.counting": "count count_batch merge",
    "closeread.operations.data": "corpora export metrics schema show stats",
    "closeread.operations.leaderboard": "build_leaderboard choose_submission disqualify_submissions "
    "download_submission extend_deadline init_leaderboard judge_leaderboard list_submissions "
    "show_leaderboard withdraw_submission",
    "closeread.operations.llm": "llm_rows",
    "closeread.operations.publishing": "publish_codabench publish_dataset publish_leaderboard publish_metric publish_model",
    "closeread.operations.score": "load_report score validate",
    "closeread.operations.submitting": "submit",
    "closeread.operations.tasks": "adjudicate agreement baseline convert errors plot predict prepare train",
    "closeread.operations.view": "view",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import closeread` stays light."""
    if name in _HOMES:
        public = getattr(import_module(_HOMES[name]), name)
        if isinstance(public, FunctionType):
            public = _make_public(public)
        globals()[name] = public
        return public
    message = f"module 'closeread' has no attribute '{name}'"
    # Libraries ask for names with underscores, and `from closeread import limits` asks here before it imports that.
    if name.startswith("_") or any(
        Path(__path__[0], file).exists() for file in (name, f"{name}.py")
    ):
        raise AttributeError(message)
    from closeread.exceptions import suggest

    guess = suggest(name, __all__)
    raise AttributeError(f"{message}{guess and '.'}{guess}")


@cache
def _make_public(function: FunctionType) -> Any:
    """Return a public function as users call it: it checks the ranges of numbers, and pickles by its public name."""
    signatures = import_module("closeread.signatures")
    checked = signatures.check_calls(function)
    checked.__module__ = __name__
    checked.__signature__ = signatures.write_signature(function)
    return checked


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


register.install()
