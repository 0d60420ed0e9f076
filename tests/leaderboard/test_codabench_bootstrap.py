"""The part of the scoring program that runs before closeread can be imported: it says what an image lacks."""

import ast
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from shared.codabench import (
    add_submission,
    lay_out,
    make_environment,
    requirements_of,
    run,
    zip_files,
)

from closeread.leaderboard.codabench import score
from closeread.leaderboard.codabench.bundle import LIBRARIES, BundleSettings, make_bundle

pytestmark = pytest.mark.extended

ADVICE = "The submission is not at fault. Organisers: build an image from the Dockerfile of the scoring program"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle") / "task"
    make_bundle("mctaco", folder, BundleSettings(), config="sample", archive=True)
    return folder.with_name("task.zip")


@pytest.fixture
def app(bundle, tmp_path):
    (tmp_path / "app").mkdir()
    lay_out(bundle, tmp_path / "app")
    add_submission(tmp_path / "app", zip_files(tmp_path / "submission.zip", {"p.txt": "yes\n"}))
    return tmp_path / "app"


@pytest.fixture
def called(tmp_path, capsys):
    """Calls the program on empty folders; returns the exit code and all that is said."""

    def call():
        code = score.main(["input", str(tmp_path)])
        said = capsys.readouterr().err
        assert ADVICE in said
        assert ADVICE in (tmp_path / "detailed_results.html").read_text("utf-8")
        return code, said

    return call


def test_an_image_without_libraries_and_pip_is_explained(app, tmp_path):
    done = run(app, make_environment(tmp_path / "venv", []))
    assert done.code == 1
    assert f"The image lacks attrs=={version('attrs')}, " in done.said
    assert f"numpy=={version('numpy')}, " in done.said
    assert "No module named pip" in done.said
    assert ADVICE in done.said
    assert [path.name for path in done.output.iterdir()] == ["detailed_results.html"]
    assert ADVICE in done.shown.removeprefix(done.said)


def test_an_old_python_is_explained(called, monkeypatch):
    monkeypatch.setattr(score, "PYTHON", (99, 1))
    found = "{}.{}".format(*sys.version_info)
    code, said = called()
    assert code == 1
    assert f"The image has Python {found} (expected 99.1 or newer)." in said


def test_an_old_python_can_read_the_program():
    ast.parse(Path(score.__file__).read_text("utf-8"), feature_version=(3, 7))


def test_a_program_without_its_package_is_explained(called, monkeypatch, tmp_path):
    monkeypatch.setattr(score, "__file__", str(tmp_path / "score.py"))
    code, said = called()
    assert code == 1
    assert "The scoring program has 0 packages of closeread (expected 1)." in said


def test_wrong_arguments_are_a_usage_error(capsys):
    assert score.main([]) == 2
    assert "usage: python3 score.py INPUT OUTPUT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (f"numpy=={version('numpy')}", True),
        ("numpy==2.0.0rc1", False),
        ("no-such-library==1", False),
    ],
)
def test_installed_libraries_are_recognised(requirement, expected):
    assert score.is_installed(requirement) == expected


def test_the_versions_that_the_bundle_was_made_with_are_complete(app, tmp_path):
    lines = (app / "program" / "requirements.txt").read_text().split()
    pinned = dict(line.split("==") for line in lines)
    needed = {name.lower().replace("_", "-") for name in requirements_of(LIBRARIES)}
    assert pinned.keys() >= needed > set(LIBRARIES)
    assert pinned == {name: version(name) for name in pinned}


def test_libraries_are_installed_from_wheels_without_a_network(tmp_path):
    metadata = "Metadata-Version: 2.1\nName: demo-library\nVersion: 1.0\n"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    place = "demo_library-1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "demo_library-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("demo_library.py", "ANSWER = 42\n")
        wheel.writestr(f"{place}/METADATA", metadata)
        wheel.writestr(f"{place}/WHEEL", tags)
        wheel.writestr(f"{place}/RECORD", "")
    target = tmp_path / "site"
    assert score.install_libraries(str(tmp_path), str(target), ["demo-library==1.0"]) == ""
    command = [sys.executable, "-c", "import demo_library; print(demo_library.ANSWER)"]
    done = subprocess.run(command, cwd=target, capture_output=True, text=True, check=True)
    assert done.stdout == "42\n"


def test_libraries_that_cannot_be_installed_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    found = score.install_libraries(
        str(tmp_path), str(tmp_path / "site"), ["no-such-library-of-ours==1"]
    )
    assert found.startswith(
        "The image lacks no-such-library-of-ours==1, and pip can't install what is missing:\n"
    )
    assert "No matching distribution found for no-such-library-of-ours==1" in found
