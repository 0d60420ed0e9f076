"""Bare names in `datasets` and `evaluate`: `load_dataset("mctaco")`, `evaluate.load("mctaco")`.

`import closeread` installs a finder on `sys.meta_path` and imports neither library.  When a library's loading module
is imported, before or after us, the function in it that turns a name into code is wrapped, so that the names of our
corpora and modules mean ours.  Nothing here raises: where a library has no such function, only the bare names are
off, with one warning.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.machinery
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

MARK = "_closeread"


def install() -> None:
    """Wrap what is imported already, and watch for the rest; doing it twice changes nothing."""
    if not any(getattr(finder, MARK, False) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())
    for name in WATCHED:
        if name in sys.modules:
            _wrap(sys.modules[name])


class _Watcher(MetaPathFinder):
    """Finds nothing itself: has the others find, and wraps what they found once it has run."""

    _closeread = True  # by name, since a reloaded module has another class

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec that the other finders give for a watched module; None for any other."""
        if fullname not in WATCHED:
            return None
        for finder in sys.meta_path:
            if getattr(finder, MARK, False) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                _run_then_wrap(spec, fullname)
                return spec
        return None


def _run_then_wrap(spec: importlib.machinery.ModuleSpec, fullname: str) -> None:
    run = getattr(spec.loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: ModuleType) -> None:
        run(module)
        if module.__name__ == fullname:  # some loaders serve several modules
            _wrap(module)

    # On the instance: everything else that the loader can do stays as it is.
    spec.loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]


def _wrap(module: ModuleType) -> None:
    name, ours = WATCHED[module.__name__]
    original = getattr(module, name, None)
    if getattr(original, MARK, False):
        return
    if not callable(original):
        with contextlib.suppress(UserWarning):  # where warnings are errors, importing us must still not fail
            warnings.warn(
                f"{module.__name__} has no {name}: use closeread.load_dataset and closeread.load_metric, "
                "bare names are not available",
                stacklevel=2,
            )
        return

    @functools.wraps(original)
    def named(*arguments: Any, **options: Any) -> Any:
        path = arguments[0] if arguments else options.get("path")
        mine = ours(path, options) if isinstance(path, str) else None
        return original(*arguments, **options) if mine is None else mine

    setattr(named, MARK, True)
    setattr(module, name, named)


def _dataset(path: str, options: dict[str, Any]) -> Any:
    """The module of a corpus's builder, or None for a name that is not ours.

    Raises:
        RequestError: an argument has no meaning for our corpora.
    """
    from closeread.corpora.gold import corpus_names

    if path not in corpus_names():
        return None
    refuse_without_meaning(path, options)
    _tell_of_folder(path, "corpus")
    from datasets.load import DatasetModule

    from closeread.hf.reading_code import code_digest

    return DatasetModule(f"closeread.loaders.{path}.{path}", code_digest(path), {"dataset_name": path})


def _metric(path: str, options: dict[str, Any]) -> Any:
    """The module of a metric, or None for a name that is not ours.

    Raises:
        RequestError: an argument has no meaning for our modules.
    """
    from closeread.hf.modules import module_names

    if path not in module_names():
        return None
    refuse_without_meaning(path, {"revision": options.get("revision")})
    _tell_of_folder(path, "metric")
    from evaluate.loading import ImportableModule

    return ImportableModule(f"closeread.metrics.{path}.{path}", "0" * 64)


def refuse_without_meaning(path: str, options: Mapping[str, Any]) -> None:
    """Refuse arguments that have no meaning for what comes with us.

    Raises:
        RequestError: one of them is given; the message names what to use instead.
    """
    from closeread.errors import RequestError

    for name, reason in NO_MEANING.items():
        if options.get(name) is not None:
            raise RequestError(f"{path} comes with closeread, and {name}= has no meaning for it: {reason}")


def _tell_of_folder(path: str, what: str) -> None:
    if os.path.isdir(path):
        from closeread.hf.notices import warn

        warn(f"'{path}' is closeread's {what}; write './{path}' for the folder of that name")


NO_MEANING = {
    "revision": "install the closeread version that you want",
    "data_files": "name a folder with the corpus's files in data_dir=",
}

WATCHED: dict[str, tuple[str, Callable[[str, dict[str, Any]], Any]]] = {
    "datasets.load": ("dataset_module_factory", _dataset),
    "datasets.inspect": ("dataset_module_factory", _dataset),
    "evaluate.loading": ("evaluation_module_factory", _metric),
}
