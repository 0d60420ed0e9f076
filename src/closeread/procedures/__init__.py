"""One module a published scoring procedure, named as on the command line; each offers `PROCEDURE`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from closeread.errors import RequestError

if TYPE_CHECKING:
    from closeread.counts import Procedure


def procedure_names() -> list[str]:
    """The names of all procedures, sorted: the modules of this folder."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_procedure(name: str) -> Procedure:
    """The procedure with that name.

    Raises:
        RequestError: there is none.
    """
    if name not in procedure_names():
        raise RequestError(f"no procedure '{name}' (there are: {', '.join(procedure_names())})")
    procedure: Procedure = importlib.import_module(f"closeread.procedures.{name}").PROCEDURE
    return procedure
