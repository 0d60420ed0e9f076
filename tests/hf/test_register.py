"""Bare names: whichever library is imported first, in any working directory, and when a library has changed."""

import os
import subprocess
import sys
import types
import warnings

import pages
import pytest

from closeread.hf import register

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1", "PYTHONWARNINGS": "error::UserWarning"}


def python(code, folder, **environment):
    """What a fresh Python says on both channels when it runs the code in a folder."""
    places = {"HF_HOME": str(folder.parent / "hf-home"), "HOME": str(folder.parent), "PYTHONPATH": str(pages.HIDDEN)}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **OFFLINE, **places, **environment},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def cwd(tmp_path):
    """An empty working directory."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


USE = (
    "print(len(datasets.load_dataset('mctaco', 'sample', split='test')), evaluate.load('mctaco').name, "
    "datasets.get_dataset_config_names('mctaco'))"
)


@pytest.mark.parametrize(
    "imports",
    [
        "import closeread, datasets, evaluate",
        "import datasets, evaluate, closeread",
        "import datasets, closeread, evaluate",
        "import evaluate, closeread; import datasets",
        "from datasets import load_dataset; import datasets, evaluate, closeread",
    ],
)
def test_any_order_of_imports(imports, cwd):
    done = python(f"{imports}; {USE}", cwd)
    assert (done.stdout, done.stderr) == ("103 mctaco ['default', 'flat', 'sample', 'sample_flat']\n", "")


def test_functions_taken_before_us(cwd):
    code = "from datasets import load_dataset; from evaluate import load; import closeread\n"
    code += "print(len(load_dataset('mctaco', 'sample', split='test')), load('mctaco').name)"
    assert python(code, cwd).stdout == "103 mctaco\n"


def test_a_working_directory_full_of_files(cwd):
    for number in range(20_000):
        (cwd / f"{number}.csv").touch()
    done = python(f"import closeread, datasets, evaluate; {USE}", cwd)
    assert (done.stdout, done.stderr) == ("103 mctaco ['default', 'flat', 'sample', 'sample_flat']\n", "")


def test_a_folder_of_the_same_name(cwd):
    (cwd / "mctaco").mkdir()
    (cwd / "mctaco" / "train.csv").write_text("a,b\n1,2\n")
    code = "import closeread, datasets\n"
    code += "print(len(datasets.load_dataset('mctaco', 'sample', split='test')), datasets.load_dataset('./mctaco'))"
    done = python(code, cwd, PYTHONWARNINGS="default::UserWarning")
    assert done.stdout.startswith("103 DatasetDict")
    assert "'mctaco' loads closeread's corpus; write './mctaco' to load the folder of that name" in done.stderr


def test_names_that_others_use(cwd):
    code = "import closeread, evaluate\n"
    code += "for name in ('coref_bcub', 'coref_muc_f1', 'corefs'):\n"
    code += "    try: evaluate.load(name)\n"
    code += "    except FileNotFoundError as error: print(getattr(error, '__notes__', None))"
    assert python(code, cwd).stdout.splitlines() == [
        "[\"Did you mean 'coref_b3'?\"]",
        "[\"Did you mean 'coref_muc'?\"]",
        "None",
    ]


def test_import_brings_in_neither_library(cwd):
    code = "import closeread, sys; print([name for name in ('datasets', 'evaluate', 'numpy') if name in sys.modules])"
    assert python(code, cwd).stdout == "[]\n"


def test_without_evaluate(cwd):
    code = "import sys; sys.modules['evaluate'] = None; import closeread, datasets\n"
    code += "print(len(datasets.load_dataset('mctaco', 'sample', split='test')))"
    assert python(code, cwd).stdout == "103\n"


def test_spawned_workers_need_no_registration(cwd):
    code = "import closeread, datasets, multiprocess\n"
    code += "if __name__ == '__main__':\n"
    code += "    multiprocess.set_start_method('spawn')\n"
    code += "    rows = datasets.load_dataset('mctaco', 'sample', split='test', num_proc=2)\n"
    code += "    print(len(rows))"
    (cwd.parent / "spawned.py").write_text(code)
    done = python("import runpy; runpy.run_path('../spawned.py', run_name='__main__')", cwd)
    assert done.stdout == "103\n", done.stderr


def test_a_library_that_lost_the_function(monkeypatch):
    module = types.ModuleType("datasets.load")
    with pytest.warns(UserWarning, match="datasets.load has no dataset_module_factory"):
        register._wrap(module)
    assert not hasattr(module, "dataset_module_factory")


def test_installing_twice_changes_nothing():
    import datasets.load

    before = (len(sys.meta_path), datasets.load.dataset_module_factory)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register.install()
    assert (len(sys.meta_path), datasets.load.dataset_module_factory) == before


def test_a_loader_that_fails_still_fails(cwd):
    (cwd / "datasets").mkdir()
    (cwd / "datasets" / "__init__.py").write_text("from datasets import load\n")
    (cwd / "datasets" / "load.py").write_text("raise RuntimeError('broken')\n")
    done = python("import sys; sys.path.insert(0, ''); import closeread, datasets", cwd)
    assert "RuntimeError: broken" in done.stderr


def test_a_library_without_a_load_module(cwd):
    (cwd / "datasets").mkdir()
    (cwd / "datasets" / "__init__.py").write_text("from datasets import load\n")
    done = python("import sys; sys.path.insert(0, ''); import closeread, datasets", cwd)
    assert "ImportError" in done.stderr


def test_a_second_copy_of_us(cwd):
    code = "import importlib, sys, closeread; from closeread.hf import register\n"
    code += "importlib.reload(register); register.install()\n"
    code += "for name in [n for n in sys.modules if n.startswith('closeread')]: del sys.modules[name]\n"
    code += f"import closeread, datasets, evaluate; {USE}"
    done = python(code, cwd)
    assert (done.stdout, done.stderr) == ("103 mctaco ['default', 'flat', 'sample', 'sample_flat']\n", "")


def test_a_lost_function_where_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register._wrap(types.ModuleType("datasets.load"))
