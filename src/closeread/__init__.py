"""Datasets, metrics and statistics for corpora that ask who, what and when of a text.

>>> import closeread
>>> closeread.score("mctaco", "predictions.jsonl", config="sample")  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from closeread._version import __version__
from closeread.hf import register

if TYPE_CHECKING:
    from closeread.corpora.citing import cite
    from closeread.counts.report import Report, Resampling
    from closeread.errors import CloseReadWarning
    from closeread.hf.load import load_dataset, load_dataset_builder
    from closeread.hf.modules import load_metric
    from closeread.scoring import compare, score

__all__ = [
    "CloseReadWarning",
    "Report",
    "Resampling",
    "__version__",
    "cite",
    "compare",
    "load_dataset",
    "load_dataset_builder",
    "load_metric",
    "score",
]

_HOMES = {
    "CloseReadWarning": "closeread.errors",
    "Report": "closeread.counts.report",
    "Resampling": "closeread.counts.report",
    "cite": "closeread.corpora.citing",
    "compare": "closeread.scoring",
    "load_dataset": "closeread.hf.load",
    "load_dataset_builder": "closeread.hf.load",
    "load_metric": "closeread.hf.modules",
    "score": "closeread.scoring",
}


def __getattr__(name: str) -> Any:
    """Import what is public when it is first used, so that `import closeread` stays light."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'closeread' has no attribute '{name}'")


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


register.install()
