"""Our evaluate modules by name, and how processes that never import us get them."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from closeread._version import __version__
from closeread.errors import RequestError, describe_unknown
from closeread.files import write_text

if TYPE_CHECKING:
    from closeread.hf.metric import EvaluateModule


def module_names() -> list[str]:
    """The names of our evaluate modules, sorted: the folders of `closeread.metrics`."""
    import closeread.metrics

    return sorted(module.name for module in pkgutil.iter_modules(closeread.metrics.__path__) if module.ispkg)


def load_metric(name: str, **arguments: Any) -> EvaluateModule:
    """One of our evaluate modules, by name and without patching `evaluate`.

    Args:
        name: such as "mctaco".
        **arguments: what `evaluate.load` would pass on, such as `experiment_id`.

    Raises:
        RequestError: there is no such module.
    """
    if name not in module_names():
        raise RequestError(describe_unknown("metric", name, module_names()))
    module = importlib.import_module(f"closeread.metrics.{name}.{name}")
    loaded: EvaluateModule = getattr(module, class_name(name))(**arguments)
    return loaded


def install_modules() -> list[Path]:
    """Write a one-line module for each of ours into evaluate's cache, and return the files.

    `evaluate.load("mctaco")` finds it there when no module of that name is to be had on the Hub.  The line imports
    the installed closeread, so that an upgrade of closeread is an upgrade of the module.

    Raises:
        OSError: the cache can't be written to.
    """
    from evaluate.loading import init_dynamic_modules

    root = Path(init_dynamic_modules()) / "metrics"
    # evaluate takes folders with names of 64 characters, and of several the one whose file is the newest.
    version = hashlib.sha256(f"closeread {__version__}".encode()).hexdigest()
    written = []
    for name in module_names():
        folder = root / f"evaluate-metric--{name}" / version
        folder.mkdir(parents=True, exist_ok=True)
        for package in (root, folder.parent, folder):
            (package / "__init__.py").touch()
        path = folder / f"{name}.py"
        line = f"from closeread.metrics.{name}.{name} import {class_name(name)}  # noqa: F401\n"
        write_text(path, line)
        written.append(path)
        for other in folder.parent.glob(f"*/{name}.py"):  # what another version of ours wrote
            if other.parent != folder and other.read_text("utf-8") == line:
                rmtree(other.parent)
    return written


def class_name(name: str) -> str:
    """The class of a module: `coref_lea` is `CorefLea`.

    >>> class_name("coref_lea")
    'CorefLea'
    """
    return "".join(part.capitalize() for part in name.split("_"))
