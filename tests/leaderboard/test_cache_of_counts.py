"""The cache of counts only saves time: without it, or with a damaged one, the judge writes the same."""

import msgspec
import pytest
from shared.boards import judge_here, make_store, read_tree, sample_board, send_answers

import closeread

DAMAGED = {
    "empty": b"",
    "text": b"counts",
    "a list": msgspec.msgpack.encode([["a"], b""]),
    "no data": msgspec.msgpack.encode({"names": ["a"]}),
    "a number for names": msgspec.msgpack.encode({"names": 1, "data": bytes(80)}),
    "no names": msgspec.msgpack.encode({"names": [], "data": bytes(80)}),
    "a part of a number": msgspec.msgpack.encode({"names": ["a"], "data": bytes(81)}),
    "too few blocks": msgspec.msgpack.encode({"names": ["a"], "data": bytes(8)}),
    "text for data": msgspec.msgpack.encode({"names": ["a"], "data": "\n" * 80}),
}


@pytest.fixture
def judged(tmp_path):
    store = make_store(tmp_path / "board", sample_board())
    send_answers(store, tmp_path, "Half", right=50)
    judge_here(store, tmp_path / "counts")
    return store


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_counts_are_counted_again(judged, tmp_path, case):
    before = read_tree(judged.place)
    places = list((tmp_path / "counts").glob("*.counts"))
    whole = [place.read_bytes() for place in places]
    assert places
    for place in places:
        place.write_bytes(DAMAGED[case])
    done = judge_here(judged, tmp_path / "counts")
    assert not done.errors
    assert read_tree(judged.place) == before
    assert [place.read_bytes() for place in places] == whole


def test_a_cache_that_can_not_be_written_is_one_note(tmp_path, run, monkeypatch):
    store = make_store(tmp_path / "board", sample_board())
    send_answers(store, tmp_path, "Half", right=50)
    send_answers(store, tmp_path, "More", right=60)
    monkeypatch.setenv("HOME", "/proc")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    done = run("leaderboard", "judge", store.place, "--workers", "1")
    assert "2 accepted" in done.stdout
    (note,) = done.stderr.splitlines()
    assert note.startswith("note: /proc/.cache/closeread/leaderboard can't be written: ")
    assert "unless --cache names another folder" in note
    done = run(
        "leaderboard", "judge", store.place, "--workers", "1", "--cache", tmp_path / "counts"
    )
    assert not done.stderr


def test_in_python_the_note_is_a_warning(tmp_path):
    store = make_store(tmp_path / "board", sample_board())
    send_answers(store, tmp_path, "Half", right=50)
    (tmp_path / "file").write_bytes(b"")
    with pytest.warns(closeread.CloseReadWarning, match="unless cache= names") as warned:
        done = judge_here(store, tmp_path / "file" / "counts")
    assert len(done.accepted) == len(warned) == 1
    judge_here(store, tmp_path / "counts")
    assert list((tmp_path / "counts").glob("*.counts"))
