"""The examples in docstrings run."""

import doctest
import importlib
from pathlib import Path

import pytest

import closeread

EXTRAS = ("python_multipart", "safetensors", "starlette", "torch", "transformers", "uvicorn")
"""Libraries of extras that a module may import as a whole."""


def list_modules():
    """The modules that have examples; the others need not be imported."""
    source = Path(closeread.__file__).parent
    paths = [path.relative_to(source) for path in source.glob("**/*.py") if ">>> " in path.read_text("utf-8")]
    # What is a link in a checkout, glob does not follow.
    for folder in (source / "loaders", source / "evaluate_modules"):
        paths += [path.relative_to(source) for path in folder.glob("**/*.py") if ">>> " in path.read_text("utf-8")]
    names = {".".join(path.with_suffix("").parts).removesuffix("__init__").rstrip(".") for path in paths}
    return sorted(f"closeread.{name}".rstrip(".") for name in names)


def run_examples(names):
    told, tried = [], 0
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for name in names:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name in EXTRAS:
                continue
            raise
        for examples in doctest.DocTestFinder().find(module):
            tried += runner.run(examples, out=told.append).attempted
    assert tried
    assert not told, "".join(told)


def test_examples_run():
    run_examples(name for name in list_modules() if not name.startswith("closeread.neural"))


@pytest.mark.gate
def test_examples_that_need_torch_run():
    pytest.importorskip("torch")
    run_examples(name for name in list_modules() if name.startswith("closeread.neural"))
