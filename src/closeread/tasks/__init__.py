"""One package a published scoring procedure, named as on the command line; `find` is the one walk over them.

A package offers what its task has, each in a module named by its role: `procedure` (which every task has), `baselines`,
`facts`, `reproduction`, and the formats that only this task reads.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from closeread.errors import RequestError

if TYPE_CHECKING:
    from closeread.counts.procedure import Procedure


def procedure_names() -> list[str]:
    """The names of all procedures, sorted: the packages of this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def find(task: str, role: str) -> ModuleType | None:
    """The module of a task that plays a role; None where the task has none."""
    name = f"{__name__}.{task}.{role}"
    return importlib.import_module(name) if find_spec(name) else None


def load_procedure(name: str) -> Procedure:
    """The procedure with that name.

    Raises:
        RequestError: there is none.
    """
    if name not in procedure_names():
        raise RequestError(f"no procedure '{name}' (there are: {', '.join(procedure_names())})")
    procedure: Procedure = importlib.import_module(f"{__name__}.{name}.procedure").PROCEDURE
    return procedure
