"""One package a published scoring procedure, named as on the command line; `find` is the one walk over them.

A package offers what its task has, each in a module named by its role: `procedure` (which every task has), `baselines`,
`facts`, `reproduction`, and the formats that only this task reads.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, cast

from closeread.errors import RequestError

if TYPE_CHECKING:
    from closeread.counts.procedure import Procedure
    from closeread.formats import Format, SubmissionFormat


def procedure_names() -> list[str]:
    """The names of all procedures, sorted: the packages of this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def find(task: str, role: str) -> ModuleType | None:
    """The module of a task that plays a role; None where the task has none."""
    name = f"{__name__}.{task}.{role}"
    return importlib.import_module(name) if find_spec(name) else None


def find_format(task: str, name: str) -> Format:
    """The format of that name that gold is kept in: the task's own, or one of `closeread.formats`."""
    return cast("Format", _format_module(task, name).FORMAT)


def find_submission_format(task: str, name: str) -> SubmissionFormat:
    """The format of that name that systems send: the task's own, or one of `closeread.formats`."""
    return cast("SubmissionFormat", _format_module(task, name).SUBMISSION)


def _format_module(task: str, name: str) -> ModuleType:
    return find(task, name) or importlib.import_module(f"closeread.formats.{name}")


def load_procedure(name: str) -> Procedure:
    """The procedure with that name.

    Raises:
        RequestError: there is none.
    """
    if name not in procedure_names():
        raise RequestError(f"no procedure '{name}' (there are: {', '.join(procedure_names())})")
    procedure: Procedure = importlib.import_module(f"{__name__}.{name}.procedure").PROCEDURE
    return procedure
