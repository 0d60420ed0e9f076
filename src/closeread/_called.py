"""What `closeread` hands out: functions that check their arguments, and modules that are also functions.

`closeread.errors` is such a module, since its name is also a noun of the command line.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

FUNCTIONS = {
    "closeread.corpora": "closeread.api.catalog",
    "closeread.errors": "closeread.api.error_analysis",
    "closeread.metrics": "closeread.api.catalog",
}
"""The modules that can be called, and where the functions of the same names are."""


class CalledModule(ModuleType):
    """A module that can be called: the function of its name is imported then."""

    def __call__(self, *arguments: object, **options: object) -> object:
        """Call the function."""
        home = importlib.import_module(FUNCTIONS[self.__name__])
        return check_public(getattr(home, self.__name__.rpartition(".")[2]))(*arguments, **options)


def make_callable(name: str) -> None:
    """Make a module, which is being imported, one that can be called."""
    sys.modules[name].__class__ = CalledModule


@cache
def check_public(found: Any) -> Any:
    """Return a public function as users call it: it checks its arguments, and pickles by its public name."""
    if not isinstance(found, FunctionType):
        return found
    function = importlib.import_module("closeread.argument_types").check_types(found)
    function.__module__ = "closeread"
    return function
