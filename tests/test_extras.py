"""Every message about a missing library says how to install it, in the same words."""

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


def test_the_message():
    assert str(MissingExtraError("drawing", "a", "b", extra="plot")) == (
        "drawing needs a and b: pip install 'closeread[plot]'"
    )
    assert str(MissingExtraError("a table", "pandas")) == "a table needs pandas: pip install pandas"


@pytest.mark.gate
def test_leaderboards_in_folders_need_no_extra(monkeypatch, tmp_path, ran):
    core = {re.split("[<>=]", one)[0] for one in PROJECT["dependencies"]}
    for name in set().union(*EXTRAS.values()) - core:
        monkeypatch.setitem(
            sys.modules, {"scikit-learn": "sklearn"}.get(name, name.replace("-", "_")), None
        )
    ran("leaderboard", "init", "board", "--corpus", "mctaco", "--config", "sample")
    ran("leaderboard", "judge", "board", "--cache", tmp_path / "cache")
    assert "always-positive" in ran("leaderboard", "show", "board")
    ran("leaderboard", "build", "board", "-o", "page.html")
    assert "always-positive" in Path("page.html").read_text("utf-8")
