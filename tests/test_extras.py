"""Every message about a missing library says how to install it, in the same words."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

from closeread.exceptions import MissingExtraError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {
    name: {re.split(r"[<>=\[]", one)[0] for one in listed}
    for name, listed in PROJECT["optional-dependencies"].items()
    if name not in ("test", "browser", "docs")
}
SOURCES = [
    path
    for folder in ("src", "loaders", "metrics")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


def find_calls():
    """Every place that raises the error: the file, the libraries given as literals, and the extra."""
    for path in SOURCES:
        text = path.read_text("utf-8")
        if "MissingExtraError(" not in text or (
            path.name == "errors.py" and path.parent.name == "closeread"
        ):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "MissingExtraError":
                libraries = [one.value for one in node.args[1:] if isinstance(one, ast.Constant)]
                extra = next((one.value.value for one in node.keywords if one.arg == "extra"), "")
                yield pytest.param(libraries, extra, id=f"{path.relative_to(ROOT)}:{node.lineno}")


@pytest.mark.parametrize(("libraries", "extra"), list(find_calls()))
def test_a_missing_library_of_an_extra_names_the_extra(libraries, extra):
    if extra:
        assert set(libraries) <= EXTRAS[extra]
    else:
        assert not any(set(libraries) & installed for installed in EXTRAS.values())


def test_the_message():
    assert str(MissingExtraError("drawing", "a", "b", extra="plot")) == (
        "drawing needs a and b: pip install 'closeread[plot]'"
    )
    assert str(MissingExtraError("a table", "pandas")) == "a table needs pandas: pip install pandas"


def test_extras_are_named_in_one_way():
    wrong = []
    for path in [*SOURCES, *(ROOT / "src").rglob("*.json")]:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
            named = re.findall(r"closeread\[([a-z]+)\]", line)
            told = re.findall(r"pip install \\?'closeread\[([a-z]+)\]\\?'", line)
            if named != told or not set(told) <= set(EXTRAS):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert wrong == []


@pytest.mark.gate
def test_leaderboards_in_folders_need_no_extra(monkeypatch, tmp_path, ran):
    # rich needs it, too
    core = {re.split("[<>=]", one)[0] for one in PROJECT["dependencies"]} | {"markdown-it-py"}
    for name in set().union(*EXTRAS.values()) - core:
        monkeypatch.setitem(
            sys.modules, {"scikit-learn": "sklearn"}.get(name, name.replace("-", "_")), None
        )
    ran("leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample")
    ran("leaderboard", "judge", "board", "--cache", tmp_path / "cache")
    assert "always-positive" in ran("leaderboard", "show", "board")
    ran("leaderboard", "build", "board", "-o", "page.html")
    assert "always-positive" in Path("page.html").read_text("utf-8")
