"""List, load and install the evaluate modules by name, and make those of coreference.

Nothing here imports `evaluate`, which takes seconds, before a module is loaded.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from closeread._version import __version__
from closeread.corpus.names import corpus_names, find_declaration, find_task, load_corpus
from closeread.exceptions import RequestError, describe_unknown, suggest
from closeread.files import creating_folder, make_folders, package_folder, write_text
from closeread.public_names import AnyModule
from closeread.tasks import load_procedure, procedure_names

if TYPE_CHECKING:
    import evaluate

COREFERENCE = """{summary}

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

COREFERENCE_MODULES = json.loads(Path(__file__).with_name("coref_modules.json").read_text("utf-8"))
"""For each module of coreference, what its docstring says beyond the common text; the examples are tested."""


INAPPLICABLE = {
    "revision": "install the version of closeread that you want",
    "data_files": "pass a folder with the corpus's files as data_dir=",
}
"""Arguments of `load_dataset` that do not apply, and what to do instead."""


@cache
def digest_declaration(corpus: str) -> str:
    """Return a digest, in hex, of a corpus's declaration with the digests of its files, and of its schema."""
    declaration = find_declaration(corpus)
    files = [declaration, *sorted(declaration.parent.glob("*.sha256"))]
    files.append(package_folder("closeread.schemas") / f"{load_corpus(corpus).schema}.json")
    content = b"\0".join(file.read_bytes() for file in files)
    return hashlib.sha256(content).hexdigest()


def reject_inapplicable(path: str, options: Mapping[str, Any]) -> None:
    """Reject arguments that do not apply to corpora and metrics of closeread, and say what to use instead."""
    for name, reason in INAPPLICABLE.items():
        if options.get(name) is not None:
            raise RequestError(
                f"{name}= does not apply to {path}, which ships with closeread: {reason}"
            )


def module_names() -> list[str]:
    """List the names of our evaluate modules, sorted: the folders of `closeread.evaluate_modules`."""
    package = importlib.import_module("closeread.evaluate_modules")
    return sorted(module.name for module in pkgutil.iter_modules(package.__path__) if module.ispkg)


def load_metric(name: AnyModule, **arguments: str | float | bool | None) -> evaluate.Metric:
    """Load one of our evaluate modules by name, without patching `evaluate`.

    Args:
        name: such as "coref_lea"; or the name of a procedure or a corpus, such as "timeline".
        **arguments: options of `compute`, as defaults; and what `evaluate.load` passes on, such as `experiment_id`.

    Returns:
        The module, whose `compute` takes predictions and references.

    >>> import closeread
    >>> clusters = [[[0, 0], [2, 2]], [[1, 1], [3, 3]]]
    >>> closeread.load_metric("coref_lea").compute(predictions=[clusters], references=[clusters])["lea/f1"]
    1.0

    Raises:
        RequestError: there is no such module or option, or the procedure has several.
    """
    name = find_module(name)
    module = importlib.import_module(f"closeread.evaluate_modules.{name}.{name}")
    return getattr(module, class_name(name))(**arguments)


def find_module(name: str) -> str:
    """Return the name of one of our modules, also by a procedure or corpus with one module, or one of its own name.

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
        n_modules = "several modules" if modules else "no module"
        choices = ", ".join(modules or module_names())
        raise RequestError(f"procedure {procedure} has {n_modules} (choose from: {choices})")
    return modules[0]


def describe_module(name: str) -> str:
    """Return the docstring of a module's class."""
    metric = name.removeprefix("coref_")
    if metric in COREFERENCE_MODULES:
        return COREFERENCE.format(name=name, **COREFERENCE_MODULES[metric])
    # The module is read, since importing it takes seconds.
    path = package_folder(f"closeread.evaluate_modules.{name}") / f"{name}.py"
    tree = ast.parse(path.read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    docstrings = map(ast.get_docstring, classes)
    return next(filter(None, docstrings))


def suggest_module(name: str) -> str:
    """Return a question whether one of our modules was meant; empty if none is similar.

    >>> suggest_module("coref_bcub"), suggest_module("lea")
    (" Did you mean 'coref_b3'?", " Did you mean 'coref_lea'?")
    """
    # with a slash, it is a module of somebody on the Hub, or a file
    return "" if "/" in name else suggest(name, module_names(), _list_aliases(name))


def _list_aliases(name: str) -> dict[str, str]:
    """Map other common names of our modules to their names: of metrics if this one begins with their procedure."""
    aliases = {module.removeprefix("coref_"): module for module in module_names()}
    for procedure in procedure_names():
        modules = load_procedure(procedure).modules
        if len(modules) == 1:
            aliases[procedure] = modules[0]
        if name.startswith(f"{procedure}_"):
            for alias, metric in load_procedure(procedure).aliases.items():
                aliases[f"{procedure}_{alias}"] = f"{procedure}_{metric}"
    return aliases


def install_modules() -> list[Path]:
    """Install the evaluate modules into the modules cache.

    Processes that do not import closeread find them there.

    On the command line:
      closeread install-modules
      python -c "import evaluate; print(evaluate.load('mctaco').name)"

    Returns:
        The files that were written.

    >>> len(closeread.install_modules()) == len(closeread.metrics())  # doctest: +SKIP
    True
    """
    from evaluate.loading import init_dynamic_modules

    root = Path(init_dynamic_modules()) / "metrics"
    # `evaluate.load("mctaco")` finds a module there if the Hub has none of that name.  Its line imports the installed
    # closeread, so that upgrading closeread upgrades the module.
    # evaluate looks for folders with names of 64 characters, and takes the one with the newest file.
    version = hashlib.sha256(f"closeread {__version__}".encode()).hexdigest()
    written = []
    for name in module_names():
        folder = root / f"evaluate-metric--{name}" / version
        make_folders(folder.parent)
        for package in (root, folder.parent):
            if not (package / "__init__.py").exists():
                write_text(package / "__init__.py", "")
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
