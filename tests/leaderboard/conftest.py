"""What the tests of leaderboards share: scoring without processes of its own, where these are not what is tested."""

import pytest
from shared.boards import judge_here, make_store, sample_board, score_here, send_answers


@pytest.fixture
def workers():
    """Score in worker processes, as outside of the tests."""


@pytest.fixture(autouse=True)
def scoring(request, monkeypatch):
    """Score in this process, unless the test asks for `workers`."""
    if "workers" not in request.fixturenames:
        monkeypatch.setattr("closeread.leaderboard.judge.score_all", score_here)


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    """A folder with a judged store, `board`, of two systems, and with their counts; to be copied."""
    folder = tmp_path_factory.mktemp("judged")
    store = make_store(folder / "board", sample_board())
    for right in (30, 70):
        send_answers(store, folder, f"System {right}", right=right)
    judge_here(store, folder / "counts")
    return folder
