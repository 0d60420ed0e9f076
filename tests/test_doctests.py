"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import closeread

MODULES = sorted(module.name for module in pkgutil.walk_packages(closeread.__path__, "closeread."))
EXTRAS = ("python_multipart", "safetensors", "starlette", "torch", "transformers", "uvicorn")
"""Libraries of extras that a module may import as a whole."""


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{error.name} is not installed")
    assert module.__doc__, "every module says what it is for"
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
