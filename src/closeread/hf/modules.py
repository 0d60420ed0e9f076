"""Load our evaluate modules by name, and install them for processes that never import closeread."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import pkgutil
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from closeread._version import __version__
from closeread.corpus.names import corpus_names, find_task
from closeread.exceptions import RequestError
from closeread.files import creating_folder, make_folders, write_text
from closeread.packages import package_folder
from closeread.suggestions import describe_unknown, suggest
from closeread.tasks import load_procedure, procedure_names

if TYPE_CHECKING:
    import evaluate


def module_names() -> list[str]:
    """List the names of our evaluate modules, sorted: the folders of `closeread.evaluate_modules`."""
    package = importlib.import_module("closeread.evaluate_modules")
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg)


def load_metric(name: str, **arguments: str | float | bool | None) -> evaluate.Metric:
    """Load one of our evaluate modules by name, without patching `evaluate`.

    Args:
        name: such as "coref_lea"; or the name of a procedure or a corpus, such as "timeline".
        **arguments: what `evaluate.load` passes on, such as `experiment_id`.

    Raises:
        RequestError: there is no such module or argument, or the procedure has several.
    """
    name = find_module(name)
    module = importlib.import_module(f"closeread.evaluate_modules.{name}.{name}")
    from evaluate import Metric

    for argument in arguments:
        if argument not in (known := list(inspect.signature(Metric).parameters)[:-1]):
            raise RequestError(describe_unknown("argument of load_metric", argument, known))
    return getattr(module, class_name(name))(**arguments)


def find_module(name: str) -> str:
    """Return the name of one of our evaluate modules.

    Args:
        name: its own name, or that of a procedure or a corpus that is scored by only one module, or by one that has the
            name of the procedure.

    Raises:
        RequestError: there is no such module, or there are several to choose from.

    >>> find_module("timeline"), find_module("wikipossessions")
    ('timeline_awareness', 'possession')
    """
    if name in module_names():
        return name
    if name not in (*procedure_names(), *corpus_names()):
        raise RequestError(describe_unknown("metric", name, module_names(), _list_aliases(name)))
    procedure, _ = find_task(name)
    modules = load_procedure(procedure).modules
    if procedure in modules:
        return procedure
    if len(modules) != 1:
        choices = f"choose from: {', '.join(modules or module_names())}"
        raise RequestError(f"procedure {procedure} has {'several modules' if modules else 'no module'} ({choices})")
    return modules[0]


def describe_module(name: str) -> str:
    """Return what the class of a module says of itself, without importing evaluate, which takes seconds."""
    from closeread.hf.coreference import MODULES, describe

    if name in MODULES:
        return describe(name)
    tree = ast.parse((package_folder(f"closeread.evaluate_modules.{name}") / f"{name}.py").read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return next(text for node in classes if (text := ast.get_docstring(node)))


def suggest_module(name: str) -> str:
    """Ask whether one of our modules was meant, as `exceptions.suggest` does; empty unless the name begins like one.

    >>> suggest_module("coref_bcub")
    " Did you mean 'coref_b3'?"
    """
    return suggest(name, module_names(), _list_aliases(name)) if _find_owners(name) else ""


def _find_owners(name: str) -> list[str]:
    """List the procedures whose name a module's name begins with."""
    return [procedure for procedure in procedure_names() if name.startswith(f"{procedure}_")]


def _list_aliases(name: str) -> dict[str, str]:
    """Map what others may call our modules to their names, for the procedures whose name this one begins with."""
    return {
        f"{owner}_{alias}": f"{owner}_{metric}"
        for owner in _find_owners(name)
        for alias, metric in load_procedure(owner).aliases.items()
    }


def install_modules() -> list[Path]:
    """Write a one-line module for each of our modules into evaluate's cache, and return the files.

    `evaluate.load("mctaco")` finds it there if the Hub has no module of that name.  The line imports the installed
    closeread, so that upgrading closeread upgrades the module.

    Raises:
        OSError: the cache is not writable.
    """
    from evaluate.loading import init_dynamic_modules

    root = Path(init_dynamic_modules()) / "metrics"
    # evaluate looks for folders with names of 64 characters, and takes the one with the newest file.
    version = hashlib.sha256(f"closeread {__version__}".encode()).hexdigest()
    written = []
    for name in module_names():
        folder = root / f"evaluate-metric--{name}" / version
        make_folders(folder.parent)
        for package in (root, folder.parent):
            if not (mark := package / "__init__.py").exists():
                write_text(mark, "")
        path = folder / f"{name}.py"
        line = f"from closeread.evaluate_modules.{name}.{name} import {class_name(name)}  # noqa: F401\n"
        if folder.exists():
            write_text(path, line)
        else:  # evaluate refuses a folder without the module
            with creating_folder(folder) as partial:
                write_text(partial / "__init__.py", "")
                write_text(partial / path.name, line)
        written.append(path)
        for other in folder.parent.glob(f"*/{name}.py"):  # written by another version of closeread
            if other.parent != folder and other.read_text("utf-8") == line:
                rmtree(other.parent)
    return written


def class_name(name: str) -> str:
    """Return the class name of a module: `CorefLea` for `coref_lea`.

    >>> class_name("coref_lea")
    'CorefLea'
    """
    return "".join(part.capitalize() for part in name.split("_"))
