"""The wheel and the editable install, each in a fresh environment."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from shared.package_copy import MAPPED

ROOT = Path(__file__).parent.parent
LOOK = """
import importlib, json, sys
import closeread
places = {"closeread": closeread.__file__}
for name in sys.argv[1:]:
    places[name] = importlib.import_module("closeread." + name).__file__
places["declaration"] = importlib.import_module("closeread.loaders.mctaco.declaration").__file__
print(json.dumps(places))
"""
FILES_WITHOUT_A_URL = """
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.sources import locate
for corpus in map(load_corpus, corpus_names()):
    for file in [file for config in corpus.configs.values() for file in config.splits.values()]:
        if file.url is None:
            locate(corpus, file)
            print(corpus.name, file.name)
"""


@pytest.fixture
def environment(tmp_path):
    """A virtual environment with everything that is installed here but closeread itself."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    target = Path(
        subprocess.run(
            [python, "-c", asked], check=True, capture_output=True, text=True
        ).stdout.strip()
    )
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "closeread" not in entry.name:
            (target / entry.name).symlink_to(entry)
    return python


def tracked():
    """What git knows of the checkout, or would."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("no git checkout")
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def copied(folder):
    """What a fresh clone holds, so that building leaves no trace here."""
    for name in tracked():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    return folder


def built(source, kind, folder):
    """The names in a freshly built wheel or sdist, and the file."""
    call = f"import setuptools.build_meta as b; print(b.build_{kind}({str(folder)!r}))"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", call], cwd=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    path = folder / done.stdout.split()[-1]
    if kind == "wheel":
        with zipfile.ZipFile(path) as archive:
            return {name for name in archive.namelist() if ".dist-info/" not in name}, path
    with tarfile.open(path) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}, path


def installed(python, *arguments):
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run([*command, *arguments], check=True, capture_output=True)
    look = subprocess.run(
        [python, "-c", LOOK, *MAPPED.values()],
        cwd="/",
        check=True,
        capture_output=True,
        text=True,
        env={},
    )
    return look.stdout


@pytest.mark.gate
@pytest.mark.parametrize("editable", [False, True], ids=["wheel", "editable"])
def test_install(environment, tmp_path, editable):
    source = copied(tmp_path / "clone")
    places = installed(environment, *(["--editable"] if editable else []), str(source))
    assert (str(source) in places) == editable
    found = subprocess.run(
        [environment, "-c", FILES_WITHOUT_A_URL], cwd="/", capture_output=True, text=True, env={}
    )
    assert "mctaco sample.tsv\n" in found.stdout
    assert found.returncode == 0, found.stderr
    closeread = environment.parent / "closeread"
    made = tmp_path / "yes.jsonl"
    for command in (
        ["baseline", "mctaco", "always-positive", "--config", "sample", "-o", made],
        ["score", "mctaco", made, "--config", "sample"],
    ):
        done = subprocess.run(
            [closeread, *command], cwd=tmp_path, capture_output=True, text=True, env={"PATH": ""}
        )
        assert done.returncode == 0, done.stderr
    assert "Exact match" in done.stdout


@pytest.mark.extended
def test_a_new_corpus_needs_no_edit_of_the_packaging(environment, tmp_path):
    source = copied(tmp_path / "clone")
    new = source / "loaders" / "invented"
    new.mkdir()
    (new / "__init__.py").write_text('"""An invented corpus."""\n')
    (new / "declaration.py").write_text('"""Its declaration."""\n')
    places = installed(environment, str(source))
    assert places
    found = subprocess.run(
        [environment, "-c", "import closeread.corpus.names as c; print(c.corpus_names())"],
        cwd="/", check=True, capture_output=True, text=True, env={},
    )  # fmt: skip
    assert "invented" in found.stdout


@pytest.mark.gate
def test_the_wheel_holds_what_lies_beside_the_code(tmp_path):
    names, _ = built(copied(tmp_path / "clone"), "wheel", tmp_path / "out")
    split = (name.partition("/") for name in tracked())
    wanted = {f"closeread/{MAPPED[top]}/{rest}" for top, _, rest in split if top in MAPPED}
    wanted |= {n.removeprefix("src/") for n in tracked() if n.startswith("src/")}
    assert names == wanted


@pytest.mark.extended
def test_a_sample_in_any_format_is_packaged(tmp_path):
    source = copied(tmp_path / "clone")
    samples = {
        f"loaders/mctaco/{name}"
        for name in ("sample.jsonl", "sample.conll", "sample/a.xml", "sample/b/c.txt")
    }
    traces = {"loaders/mctaco/__pycache__/old.cpython-311.pyc", "loaders/mctaco/.sample.tsv.swp"}
    for name in samples | traces:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("invented\n")
    names, _ = built(source, "wheel", tmp_path / "out")
    assert {name for name in samples | traces if f"closeread/{name}" in names} == samples


@pytest.mark.extended
def test_the_sdist_builds_the_same_wheel_and_holds_the_tests(tmp_path):
    source = copied(tmp_path / "clone")
    names, path = built(source, "sdist", tmp_path / "out")
    left_out = {n for n in tracked() if n not in names} - {".gitignore"}
    assert left_out == set()
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert (
        built(unpacked, "wheel", tmp_path / "again")[0]
        == built(source, "wheel", tmp_path / "out")[0]
    )


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_two_builds_are_equal(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    source = copied(tmp_path / "clone")
    first, second = (
        built(source, kind, tmp_path / name)[1].read_bytes() for name in ("first", "second")
    )
    assert first == second


@pytest.mark.extended
def test_a_module_that_is_gone_is_not_built_again(tmp_path):
    source = copied(tmp_path / "clone")
    before, _ = built(source, "wheel", tmp_path / "before")
    (source / "src" / "closeread" / "operations" / "counting.py").unlink()
    shutil.rmtree(source / "metrics" / "mctaco")
    after, _ = built(source, "wheel", tmp_path / "after")
    gone = {name for name in before if name.startswith("closeread/evaluate_modules/mctaco/")}
    assert before - after == gone | {"closeread/operations/counting.py"}


@pytest.mark.extended
@pytest.mark.skipif(not shutil.which("make"), reason="no make")
@pytest.mark.parametrize("has", ["nothing", "another file"])
def test_make_score_falls_back_only_where_the_corpus_is_out_of_reach(tmp_path, has):
    # The installed closeread in place of one that make would install, and a network that leads nowhere.
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    for name, target in (
        ("closeread", Path(sys.executable).with_name("closeread")),
        ("pip", shutil.which("true")),
    ):
        (programs / name).symlink_to(target)
    (programs / "python").symlink_to(sys.executable)
    if has == "another file":
        (tmp_path / "mctaco").mkdir()
        for name in ("dev_3783.tsv", "test_9442.tsv"):
            (tmp_path / "mctaco" / name).write_text("no corpus\n")
    nowhere = dict.fromkeys(("https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    env = {**os.environ, **nowhere, "CLOSEREAD_DATA": str(tmp_path), "MAKEFLAGS": ""}
    command = ["make", "score", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode == 0) == (has == "nothing")
    assert (
        ("Note: McTaco's files are not here" in done.stdout)
        == ("Exact match" in done.stdout)
        == (has == "nothing")
    )
    assert ("is not the released file" in done.stdout) == (has == "another file")


def floors_of(requirements):
    return {re.sub(r"[,;].*", "", requirement).replace(">=", "==") for requirement in requirements}


def test_the_floors_of_the_gate_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    ours = {f"closeread[{name}]": name for name in ("baseline", "perturb", "plot")}
    asked = [wanted for r in extras["test"] for wanted in (extras[ours[r]] if r in ours else [r])]
    for name, wanted in {
        "floors.txt": [*project["dependencies"], *asked],
        "floors-hub.txt": extras["hub"],
    }.items():
        lines = (ROOT / ".ci" / name).read_text("utf-8").splitlines()
        assert {line for line in lines if not line.startswith("#")} == floors_of(wanted)
