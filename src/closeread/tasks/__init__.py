"""One package for each task, named as its scoring procedure on the command line.

The modules of a package are found by their role: `procedure` (which every task that is scored has), `baselines`,
`rules`, `records` (statistics, views and flat rows), `agreement`, `operations`, and the formats that only this task
reads, which may be in a package `formats`.  A corpus with much of its own, such as `marmara`, has a package without a
procedure.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, cast

from closeread.exceptions import RequestError, describe_unknown

if TYPE_CHECKING:
    from closeread.counts.procedure import Procedure
    from closeread.formats import Format, SubmissionFormat


def task_names() -> list[str]:
    """Return the names of all tasks, sorted: the packages of this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)


def procedure_names() -> list[str]:
    """Return the names of all procedures, sorted: the tasks that are scored."""
    folder = Path(__path__[0])
    return [task for task in task_names() if (folder / task / "procedure.py").is_file()]


@cache
def find(task: str, role: str) -> ModuleType | None:
    """Import the module with a role of a task; None if there is no such module."""
    name = f"{__name__}.{task}.{role}"
    return importlib.import_module(name) if find_spec(name) else None


def find_all(role: str) -> list[ModuleType]:
    """Import the modules with a role of all tasks."""
    modules = [find(task, role) for task in task_names()]
    return [module for module in modules if module is not None]


@cache
def find_format(task: str, name: str) -> Format:
    """Return a format of gold by name: the task's own, or one of `closeread.formats`."""
    return cast("Format", _import_format(task, name).FORMAT)


@cache
def find_submission_format(task: str, name: str) -> SubmissionFormat:
    """Return a format of submissions by name: the task's own, or one of `closeread.formats`."""
    return cast("SubmissionFormat", _import_format(task, name).SUBMISSION)


def _import_format(task: str, name: str) -> ModuleType:
    formats = find(task, "formats")
    if formats and find_spec(f"{formats.__name__}.{name}"):
        return importlib.import_module(f"{formats.__name__}.{name}")
    return find(task, name) or importlib.import_module(f"closeread.formats.{name}")


@cache
def load_procedure(name: str) -> Procedure:
    """Load a procedure by name.

    Raises:
        RequestError: there is no such procedure; the message suggests a similar name.
    """
    if name not in procedure_names():
        raise RequestError(describe_unknown("procedure", name, procedure_names()))
    procedure: Procedure = importlib.import_module(f"{__name__}.{name}.procedure").PROCEDURE
    return procedure


class Summary(NamedTuple):
    """What lists of procedures say of one.

    Attributes:
        title: the title of the procedure.
        key_first: whether gold is a key of the user, whatever its corpus.
    """

    title: str
    key_first: bool


# A copy of what the procedures declare, which import NumPy; a test compares both.
SUMMARIES = {
    "coref": Summary("coreference: mentions, MUC, B³, CEAF, BLANC, LEA and CoNLL F1", True),
    "mctaco": Summary("McTaco exact match and F1", False),
    "timeline": Summary("TimeLine: temporal awareness, events and anchors", False),
    "tlinks": Summary("temporal awareness over the links of TimeML files", True),
    "tne": Summary("TNE: links between noun phrases and their prepositions", False),
    "wikipossessions": Summary(
        "WikiPossessions: possessors, certainty, anchors, relations and ordering", False
    ),
}


def summarize(name: str) -> Summary:
    """Return the summary of a procedure, without loading it if it is one of the package."""
    if name in SUMMARIES:
        return SUMMARIES[name]
    procedure = load_procedure(name)
    return Summary(procedure.title, procedure.reader.key_first)
