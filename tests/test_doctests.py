"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import closeread

MODULES = sorted(module.name for module in pkgutil.walk_packages(closeread.__path__, "closeread."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    assert module.__doc__, "every module says what it is for"
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
