"""The site is built without a warning, loads nothing from elsewhere, and has a page for all that it should have."""

import re
import subprocess
import sys
from pathlib import Path

import build_site
import pytest
from shared.commands import list_commands

import closeread
from closeread.hf.modules import module_names

ROOT = Path(__file__).parents[1]
LOADED = re.compile(
    r"<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)=\"(?:https?:)?//|@import|url\((?:https?:)?//"
)


def build(folder, *options):
    pytest.importorskip("sphinx")
    command = [sys.executable, ROOT / "tools" / "build_site.py", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert options or done.stdout + done.stderr == ""  # kernels say that they run
    return folder / "html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(tmp_path_factory.mktemp("site"))


@pytest.mark.gate
def test_no_page_loads_anything_from_elsewhere(site):
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 150
    assert [path.name for path in pages if LOADED.search(path.read_text("utf-8"))] == []


def test_what_pages_would_load_from_elsewhere_is_noticed():
    assert LOADED.search('<link rel="stylesheet" href="https://example.org/a.css">')
    assert LOADED.search('<script async src="//example.org/a.js">')
    assert not LOADED.search('<a href="https://example.org/">')


def test_the_gallery_has_the_pages_that_are_linked(tmp_path):
    build_site.write_gallery(tmp_path / "gallery")
    links = re.findall(r'href="([^"]+)"', (ROOT / "docs" / "view.md").read_text("utf-8"))
    assert sorted(links) == sorted(
        f"gallery/{path.name}" for path in (tmp_path / "gallery").iterdir()
    )


@pytest.mark.gate
def test_every_command_function_and_metric_has_a_page(site):
    commands = {path.stem for path in (site / "reference" / "commands").glob("*.html")}
    hidden = {path for path, command in list_commands() if command.hidden}
    assert {
        "-".join(path)
        for path, _ in list_commands()
        if path not in hidden and path[:1] not in hidden
    } <= commands
    functions = "".join(
        path.read_text("utf-8") for path in (site / "reference" / "python").glob("*.html")
    )
    assert [
        name
        for name in closeread.__all__
        if name[0] != "_" and f'id="{name.lower()}"' not in functions
    ] == []
    assert {path.stem for path in (site / "metrics").glob("*.html")} == set(module_names())


@pytest.mark.gate
@pytest.mark.parametrize(
    ("page", "usage"),
    [
        ("mctaco", "Train a model"),
        ("wikipossessions", "Compare annotators"),
        ("tne", "Look at the errors"),
        ("timeline", "Draw a timeline"),
        ("marmara", "Run the baseline"),
    ],
)
def test_the_page_of_a_corpus_is_its_card_and_how_to_use_it(site, page, usage):
    text = (site / f"{page}.html").read_text("utf-8")
    headings = re.findall(r"<h2>(.*?)<a", text)
    assert headings[:2] == ["How to get it", "What a record holds"]
    assert headings.index("How it is scored") < headings.index(usage)
    assert headings[-1] == "Citation"
    assert headings.count("Citation") == text.count("<h1>") == 1
    assert "describes the corpus." not in text


@pytest.mark.gate
def test_pages_on_the_project_stand_together(site):
    home = (site / "index.html").read_text("utf-8")
    captions = dict(
        re.findall(r'class="caption-text">([^<]+)</span></p>\s*<ul>(.*?)</ul>', home, re.DOTALL)
    )
    titles = ["Limits", "Benchmarks", "Trained models", "Architecture", "Contributing", "Changelog"]
    assert re.findall(r">([^<]+)</a>", captions["Project"]) == titles


@pytest.mark.gate
def test_home_begins_as_the_readme_does(site):
    home = (site / "index.html").read_text("utf-8")
    for text in (
        "install closeread into .venv",
        "closeread score coref",
        "82.68",
        "Possession timeline",
        "<img",
    ):
        assert text in home
    assert home.index("82.68") < home.index("organise a shared task")
    assert "shows how to install closeread" not in home


@pytest.mark.gate
def test_words_are_found_without_a_server(site):
    assert "syllabus" not in (site / "searchindex.js").read_text("utf-8")
    assert "procedur" in (site / "searchindex.js").read_text("utf-8")


@pytest.mark.extended
@pytest.mark.timeout(2000)
def test_notebooks_run(tmp_path):
    html = build(tmp_path, "--notebooks")
    for page in (ROOT / "docs" / "notebooks").glob("*.md"):
        built = (html / "notebooks" / f"{page.stem}.html").read_text("utf-8")
        assert 'class="cell_output' in built
        n_plots = page.read_text("utf-8").count("closeread.plot(")
        assert built.count("<img") >= n_plots, f"{page.name} has {n_plots} plots"
