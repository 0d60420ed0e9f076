"""`closeread leaderboard show` and `closeread leaderboard build`."""

import json

import pytest
from click.testing import CliRunner
from shared.leaderboards import make_index, wrap

from closeread.cli import main
from closeread.exceptions import RequestError
from closeread.leaderboard import store
from closeread.leaderboard.page import render_page


@pytest.fixture
def index(monkeypatch):
    """The index that every store has."""
    found = make_index(12)
    second = make_index(2, seed=7)["boards"][0]
    found["boards"].append({**second, "name": "mctaco-sample/test", "title": "McTaco sample, test"})

    class Store:
        def read_index(self):
            return found

    monkeypatch.setattr(store, "open_store", lambda place: Store())
    return found


def call(command, *arguments):
    result = CliRunner().invoke(main, ["leaderboard", command, *arguments], catch_exceptions=False)
    if result.exit_code == 2:
        raise RequestError(result.stderr)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_json_is_the_index(index):
    assert json.loads(call("show", "board", "--json")) == index


def test_one_board(index):
    found = json.loads(call("show", "board", "--json", "--board", "mctaco-sample/test"))
    assert found == wrap(index["boards"][1])
    text = call("show", "board", "--board", "mctaco-sample/test")
    assert text.startswith("McTaco sample, test\n")
    assert "McTaco, test" not in text


@pytest.mark.parametrize("style", ["table", "markdown", "latex", "csv"])
def test_every_format_has_every_system(index, style):
    text = call("show", "board", "--format", style)
    for board in index["boards"]:
        assert all(row["system"].replace("#", r"\#" if style == "latex" else "#") in text for row in board["rows"])


def test_one_system_by_name_and_by_id(index):
    row = next(row for row in index["boards"][0]["rows"] if row["system"] == "Sundial")
    by_name = call("show", "board", "--system", "Sundial")
    assert by_name == call("show", "board", "--system", row["id"]) == call("show", "board", "--system", row["id"][:8])
    assert row["id"] in by_name
    assert "system_yes" in by_name
    found = json.loads(call("show", "board", "--system", "Sundial", "--json"))
    assert [one["name"] for one in found["boards"]] == ["mctaco/test"]
    assert found["boards"][0]["rows"] == [row]
    assert found["boards"][0]["others"] == []


def test_a_system_that_is_not_ranked(index):
    assert "Patience (draft)" in call("show", "board", "--system", "Patience (draft)")
    assert "Patience (early)" in call("show", "board", "--system", "Patience (early)")


def test_what_is_not_there(index):
    with pytest.raises(RequestError, match=r"no such board: 'mctaco/tests'\. Did you mean 'mctaco/test'\?"):
        call("show", "board", "--board", "mctaco/tests")
    with pytest.raises(RequestError, match=r"no such system: 'Sundail'\. Did you mean 'Sundial'\?"):
        call("show", "board", "--board", "mctaco/test", "--system", "Sundail")
    for row in index["boards"][0]["rows"][:3]:
        row["id"] = "abcdef" + row["id"]
    with pytest.raises(RequestError, match="'abcdef' is the beginning of 3 ids; give more of it"):
        call("show", "board", "--system", "abcdef")


def test_build_writes_the_page(index, tmp_path):
    output = tmp_path / "index.html"
    text = call("build", "board", "-o", str(output))
    page = render_page(index)
    assert output.read_text("utf-8") == page
    assert text == f"{output}: {len(page.encode()):,} bytes\n"
