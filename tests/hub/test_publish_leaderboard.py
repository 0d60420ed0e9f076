"""`closeread publish leaderboard`: the Space of a leaderboard."""

import csv
import io
import json

import pytest
import yaml
from shared.leaderboards import make_hostile_index, make_index

from closeread.leaderboard.declaration import Leaderboard
from closeread.leaderboard.store_files import write_json


@pytest.fixture
def publish(log_in, run, here, monkeypatch):
    """Publishes the folder `board` with an index; None if nothing has been judged yet."""
    monkeypatch.setenv("COLUMNS", "80")
    log_in("olga")

    def call(index, *arguments):
        folder = here / "board"
        folder.mkdir(exist_ok=True)
        (folder / "leaderboard.json").write_bytes(Leaderboard("Careful reading", {}).to_bytes())
        if index is not None:
            (folder / "board.json").write_bytes(write_json(index))
        return run("publish", "leaderboard", "board", "lab/board", *arguments)

    return call


def test_a_static_space_with_the_page_and_its_data(hub, publish):
    index = make_index(12)
    done = publish(index)
    assert done.exit_code == 0, done.stderr
    assert hub.repositories["space", "lab/board"].sdk == "static"
    files = hub.files("lab/board", "space")
    assert sorted(files) == ["README.md", "board.csv", "board.json", "index.html"]
    assert len(hub.commits("lab/board", "space")) == 2
    assert json.loads(files["board.json"]) == index
    systems = {row["system"] for row in csv.DictReader(io.StringIO(files["board.csv"].decode()))}
    assert {row["system"] for row in index["boards"][0]["rows"]} <= systems
    assert "title: Careful reading, autumn 2026" in files["README.md"].decode()
    assert "- language:english" in files["README.md"].decode()
    assert "- McTaco, test: 12 systems." in files["README.md"].decode()
    assert "<title>" in files["index.html"].decode()


def test_twice_changes_nothing_and_a_new_result_changes_what_shows_it(hub, publish):
    assert publish(make_index(12)).exit_code == 0
    [_, published] = hub.commits("lab/board", "space")
    assert "Nothing to publish" in publish(make_index(12)).stdout
    assert [commit.sha for commit in hub.commits("lab/board", "space")][1:] == [published.sha]
    planned = json.loads(publish(make_index(13), "--dry-run", "--json").stdout)
    assert {file["path"]: file["change"] for file in planned["files"]} == {
        "README.md": "changed",  # 13 systems
        "board.csv": "changed",
        "board.json": "changed",
        "index.html": "changed",
    }
    assert len(hub.commits("lab/board", "space")) == 2


def test_hostile_names_stay_out_of_the_card(hub, publish):
    # A store has no lone surrogates: its files are UTF-8.
    index = json.loads(json.dumps(make_hostile_index()).replace("\\ud800", "x"))
    done = publish(index)
    assert done.exit_code == 0, done.stderr
    card = hub.files("lab/board", "space")["README.md"].decode()
    front, body = card.split("---\n", 2)[1:]
    assert yaml.safe_load(front)["title"] == "</script><script>alert(1)</script>"
    assert "# \\</script\\>\\<script\\>alert(1)\\</script\\>" in body
    assert "onerror" not in body
    assert "HYPERLINK" not in body


def test_nothing_to_publish_yet(hub, publish):
    done = publish(None)
    assert done.exit_code == 2
    assert "board has no results yet; run closeread leaderboard judge board" in done.stderr
    assert hub.calls == []


def test_no_leaderboard(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("publish", "leaderboard", "nowhere", "lab/board")
    assert done.exit_code == 2
    assert "nowhere is not a leaderboard" in done.stderr
