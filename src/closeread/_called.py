"""Modules that are also functions, such as `closeread.errors`, whose name is a noun of the command line, too."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

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
        return getattr(home, self.__name__.rpartition(".")[2])(*arguments, **options)


def make_callable(name: str) -> None:
    """Make a module, which is being imported, one that can be called."""
    sys.modules[name].__class__ = CalledModule
