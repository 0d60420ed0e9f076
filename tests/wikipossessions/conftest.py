"""Fixtures for the articles of WikiPossessions."""

import pytest
from shared.possession_records import HEADER
from shared.stand_in_wiki import serving_wiki


@pytest.fixture
def waits(monkeypatch):
    """The seconds that requests waited for; none of them pass."""
    found = []
    for module in ("corpus.downloads", "tasks.wikipossessions.articles"):
        monkeypatch.setattr(f"closeread.{module}.sleep", found.append)
    return found


@pytest.fixture
def wiki(no_proxy, waits):
    """A stand-in for Wikipedia, for which nobody waits."""
    with serving_wiki() as wiki:
        yield wiki


@pytest.fixture
def fetch(run, here, wiki):
    """Fetches the articles of these titles, from an invented corpus, into `texts`; returns the finished command."""

    def call(*titles, arguments=(), day="2017-06-12"):
        rows = [f"{title}#PER#Ann#PC#1#1888#Dur#C" for title in titles]
        (here / "corpus").mkdir(exist_ok=True)
        (here / "corpus" / "annotations.csv").write_text("\n".join((HEADER, *rows)) + "\n", "utf-8")
        command = [
            "prepare",
            "wikipossessions",
            "articles",
            "texts",
            "--as-of",
            day,
            "--gold",
            "corpus/annotations.csv",
        ]
        usual = {"--delay": "0", "--api": wiki.url}
        defaults = [
            part for option in usual.items() if option[0] not in arguments for part in option
        ]
        return run(*command, *defaults, *arguments)

    return call
