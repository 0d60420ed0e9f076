"""The commands that the documentation shows for the articles, on a stand-in for Wikipedia and a rule-based pipeline."""

import shlex
from pathlib import Path

import pages
import pytest
from shared.possession_pipeline import write_pipeline

pytestmark = pytest.mark.gate

PAGE = Path(__file__).parents[2] / "docs" / "wikipossessions.md"


@pytest.mark.filterwarnings("ignore")  # warnings of spaCy itself
def test_the_commands_of_the_page(corpora, wiki, ran, tmp_path):
    wiki.make = "<p>{} was made in 1888, for the Louvre in Paris.</p><h2>See also</h2>".format
    model = write_pipeline(tmp_path / "rules", ORG=["Louvre"], GPE=["Paris"], DATE=["1888"])
    text = PAGE.read_text("utf-8")
    printed = {}
    for line in pages.find_commands(text, "Wikipedia"):
        command = [
            str(model) if word == "en_core_web_sm" else word for word in shlex.split(line)[1:]
        ]
        if command[0] == "prepare":
            command += ["--api", wiki.url, "--delay", "0"]
        printed[line] = ran(*command)
    assert len(printed) == 4
    for line in list(printed)[:3]:
        assert f"$ {line}\n{printed[line]}" in text
    *_, scores = printed.values()
    assert "Ordering" in scores
    assert len(list(Path("texts").glob("*.txt"))) == 90
