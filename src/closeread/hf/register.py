"""Bare names in `datasets` and `evaluate`: `load_dataset("mctaco")`, `evaluate.load("mctaco")`.

`import closeread` installs a finder on `sys.meta_path` and imports neither library.  When a library's loading module
is imported, before or after closeread, its function that turns a name into code is wrapped.  Importing closeread never
fails: if a library has no such function, only the bare names are unavailable, with one warning.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

MARK = "_closeread"


def install() -> None:
    """Wrap modules that are already imported, and watch for the others; installing twice changes nothing."""
    if not any(getattr(finder, MARK, False) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())
    for name in WATCHED:
        if name in sys.modules:
            _wrap(sys.modules[name])


def uninstall() -> None:
    """Watch for no more modules, for a process in which no user loads anything by its bare name."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not getattr(finder, MARK, False)]


class _Watcher:
    """A finder that delegates to the other finders, and wraps the modules that they find once these have run."""

    _closeread = True  # an attribute, since reloading the module makes a new class

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec that the other finders give for a watched module; None for any other module."""
        if fullname not in WATCHED:
            return None
        spec = None
        for finder in sys.meta_path:
            if not getattr(finder, MARK, False) and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path, target)
                if spec is not None:
                    break
        run = getattr(getattr(spec, "loader", None), "exec_module", None)
        if spec is None or run is None:
            return spec

        def exec_module(module: ModuleType) -> None:
            run(module)
            if module.__name__ == fullname:  # some loaders serve several modules
                _wrap(module)

        # On the instance, so that everything else about the loader stays as it is.
        spec.loader.exec_module = exec_module  # type: ignore[union-attr, method-assign]
        return spec


def _wrap(module: ModuleType) -> None:
    name, find, suggest = WATCHED[module.__name__]
    original = getattr(module, name, None)
    if getattr(original, MARK, False):
        return
    if not callable(original):
        from closeread.exceptions import CloseReadWarning

        # importing closeread must not fail where warnings are errors
        with contextlib.suppress(UserWarning):
            warnings.warn(
                f"{module.__name__} has no {name}, so bare names are not available: "
                "use closeread.load_dataset and closeread.load_metric",
                CloseReadWarning,
                stacklevel=2,
            )
        return

    @functools.wraps(original)
    def load_by_name(*arguments: Any, **options: Any) -> Any:
        path = arguments[0] if arguments else options.get("path")
        if not isinstance(path, str):
            return original(*arguments, **options)
        loader = find(path, options)
        if loader is not None:
            return loader
        try:
            return original(*arguments, **options)
        except Exception as error:
            question = suggest(path)
            if question:
                error.add_note(question.strip())
            raise

    setattr(load_by_name, MARK, True)
    setattr(module, name, load_by_name)


def _find_dataset(path: str, options: dict[str, Any]) -> Any:
    """Find the module of a corpus's builder; None for a name that is not ours."""
    from closeread.corpus.names import corpus_names, find_corpus

    name = _find_name(
        path, options, "corpus", corpus_names(), lambda alias: find_corpus(alias).name
    )
    if name is None:
        return None
    from datasets.load import DatasetModule

    from closeread.hf.builder import find_builder
    from closeread.hf.modules import digest_declaration

    # `datasets` looks for the builder in this module.
    module = find_builder(name).__module__
    return DatasetModule(module, digest_declaration(name), {"dataset_name": name})


def _find_metric(path: str, options: dict[str, Any]) -> Any:
    """Find the module of a metric; None for a name that is not ours."""
    from closeread.hf.modules import find_module, module_names

    applicable = {"revision": options.get("revision")}
    name = _find_name(path, applicable, "metric", module_names(), find_module)
    if name is None:
        return None
    from evaluate.loading import ImportableModule

    return ImportableModule(f"closeread.evaluate_modules.{name}.{name}", "0" * 64)


def _find_name(
    path: str,
    options: Mapping[str, Any],
    kind: str,
    names: Sequence[str],
    find: Callable[[str], str],
) -> str | None:
    """Return a known name, or the one for which a name stands; None if it is unknown, or a file has this name.

    For a known name, arguments that do not apply are rejected, and a folder of that name gives a warning.
    """
    from closeread.corpus.names import corpus_names
    from closeread.exceptions import RequestError
    from closeread.hf.modules import module_names, reject_inapplicable
    from closeread.tasks import procedure_names

    name = path
    if path not in names:
        aliases = [*procedure_names(), *corpus_names(), *module_names()]
        if path not in aliases or os.path.exists(path):
            return None
        try:
            name = find(path)
        except RequestError:
            return None
    reject_inapplicable(path, options)
    if os.path.isdir(path):
        from closeread.corpus.notices import warn

        warn(f"'{path}' loads closeread's {kind}; write './{path}' to load the folder of that name")
    return name


def _suggest_dataset(path: str) -> str:
    from closeread.corpus.names import corpus_names, list_scored
    from closeread.exceptions import suggest
    from closeread.tasks import procedure_names

    # with a slash, it is a dataset on the Hub, or a folder
    if "/" in path:
        return ""
    aliases = {}
    for procedure in procedure_names():
        corpora = list_scored(procedure)
        if len(corpora) == 1:
            aliases[procedure] = corpora[0]
    return suggest(path, corpus_names(), aliases)


def _suggest_metric(path: str) -> str:
    from closeread.hf.modules import suggest_module

    return suggest_module(path)


WATCHED: dict[str, tuple[str, Callable[[str, dict[str, Any]], Any], Callable[[str], str]]] = {
    "datasets.load": ("dataset_module_factory", _find_dataset, _suggest_dataset),
    "datasets.inspect": ("dataset_module_factory", _find_dataset, _suggest_dataset),
    "evaluate.loading": ("evaluation_module_factory", _find_metric, _suggest_metric),
}
"""By module: the function that turns a name into code, the one that finds ours, and the one that suggests a name."""
