"""Bare names: whichever library is imported first, in any working directory, and when a library has changed."""

import sys
import types
import warnings

import pytest

from closeread.hf import register

USE = (
    "print(len(datasets.load_dataset('mctaco', 'sample', split='test')), evaluate.load('mctaco').name, "
    "datasets.get_dataset_config_names('mctaco'))\n"
)
USED = "103 mctaco ['default', 'flat', 'sample', 'sample_flat']\n"

BEFORE_THEM = """
import closeread, sys
print([name for name in ('datasets', 'evaluate', 'numpy') if name in sys.modules])
import datasets
sys.modules['evaluate'] = None
print(len(datasets.load_dataset('mctaco', 'sample', split='test')))
del sys.modules['evaluate']
import evaluate
for name in ('coref_bcub', 'coref_muc_f1', 'lea', 'corefs'):
    try: evaluate.load(name)
    except FileNotFoundError as error: print(getattr(error, '__notes__', None))
print(datasets.load_dataset('./mctaco')['train'].column_names)
"""

AFTER_THEM = f"""
from datasets import load_dataset; from evaluate import load; import datasets, evaluate, closeread
print(len(load_dataset('mctaco', 'sample', split='test')), load('mctaco').name)
{USE}
import importlib, sys; from closeread.hf import register
importlib.reload(register); register.install()
for name in [n for n in sys.modules if n.startswith('closeread')]: del sys.modules[name]
import closeread
{USE}"""

BETWEEN_THEM = f"""
import datasets, closeread, evaluate, multiprocess
if __name__ == '__main__':
    {USE}
    multiprocess.set_start_method('spawn')
    rows = datasets.load_dataset('mctaco', 'sample', split='test', num_proc=2, download_mode='force_redownload')
    print(len(rows))
"""


@pytest.mark.gate
def test_imported_before_the_libraries_in_a_folder_full_of_files(python, tmp_path):
    """Neither library is imported by us, or needed; suggestions; and a folder that has the name of a corpus."""
    for number in range(500):
        (tmp_path / "cwd" / f"{number}.csv").touch()
    (tmp_path / "cwd" / "mctaco").mkdir()
    (tmp_path / "cwd" / "mctaco" / "train.csv").write_text("a,b\n1,2\n")
    # or it waits for the Hub
    more = {"PYTHONWARNINGS": "default::UserWarning", "HF_EVALUATE_OFFLINE": "1"}
    done = python(f"{BEFORE_THEM}{USE}", **more)
    assert done.stdout.splitlines() == [
        "[]",
        "103",
        "[\"Did you mean 'coref_b3'?\"]",
        "[\"Did you mean 'coref_muc'?\"]",
        "[\"Did you mean 'coref_lea'?\"]",
        "[\"Did you mean 'coref'?\"]",
        "['a', 'b']",
        USED.strip(),
    ], done.stderr
    assert (
        "'mctaco' loads closeread's corpus; write './mctaco' to load the folder of that name"
        in done.stderr
    )


@pytest.mark.gate
def test_imported_after_the_libraries(python):
    """Also functions that were taken before us, and a second copy of us."""
    done = python(AFTER_THEM)
    assert (done.stdout, done.stderr) == (f"103 mctaco\n{USED}{USED}", "")


@pytest.mark.gate
def test_imported_between_the_libraries(python, tmp_path):
    """Also workers that are spawned, which need no registration."""
    (tmp_path / "spawned.py").write_text(BETWEEN_THEM)
    done = python("import runpy; runpy.run_path('../spawned.py', run_name='__main__')")
    assert done.stdout == f"{USED}103\n", done.stderr


def test_a_library_that_lost_the_function():
    module = types.ModuleType("datasets.load")
    with pytest.warns(UserWarning, match="datasets.load has no dataset_module_factory"):
        register._wrap(module)
    assert not hasattr(module, "dataset_module_factory")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register._wrap(types.ModuleType("datasets.load"))  # importing closeread must not fail


def test_installing_twice_changes_nothing(datasets):
    before = (len(sys.meta_path), datasets.load.dataset_module_factory)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register.install()
    assert (len(sys.meta_path), datasets.load.dataset_module_factory) == before


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Makes a library whose module `load` is watched; its code is None if there is no such module."""

    def make(name, code):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("from . import load\n")
        if code is not None:
            (tmp_path / name / "load.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(register.WATCHED, f"{name}.load", register.WATCHED["datasets.load"])
        return name

    return make


def test_a_loader_that_fails_still_fails(library):
    with pytest.raises(RuntimeError, match="broken"):
        __import__(library("failing", "raise RuntimeError('broken')\n"))


def test_a_library_without_a_load_module(library):
    with pytest.raises(ImportError, match="cannot import name 'load'"):
        __import__(library("lacking", None))


def test_a_loader_that_is_wrapped(library):
    code = "def dataset_module_factory(path): return path\n"
    module = __import__(library("working", code))
    assert getattr(module.load.dataset_module_factory, register.MARK)
    assert module.load.dataset_module_factory("./other") == "./other"
