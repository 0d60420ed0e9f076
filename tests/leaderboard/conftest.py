"""What the tests of leaderboards share: scoring without processes of its own, where these are not what is tested."""

import pytest
from shared.boards import score_here


@pytest.fixture
def workers():
    """Score in worker processes, as outside of the tests."""


@pytest.fixture(autouse=True)
def scoring(request, monkeypatch):
    """Score in this process, unless the test asks for `workers`."""
    if "workers" not in request.fixturenames:
        monkeypatch.setattr("closeread.leaderboard.judge.score_all", score_here)
