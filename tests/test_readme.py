"""The blocks of the README and of docs/ do what they say; nothing generated has drifted; links lead somewhere."""

import os
import re
import tomllib
from pathlib import Path

import documentation
import pages
import pictures
import pytest
import yaml
from shared.commands import list_commands

import closeread
from closeread.corpus.names import corpus_names, load_corpus

ROOT = Path(__file__).parent.parent
DATA = os.environ.get("CLOSEREAD_DATA")
README = ROOT / "README.md"
PAGES = pages.find_pages(ROOT)
CARDS = [*sorted((ROOT / "cards").glob("*.md")), *sorted((ROOT / "metrics").glob("*/README.md"))]
LINKED = [
    *PAGES,
    *CARDS,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "benchmarks").glob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


CFF = ROOT / "CITATION.cff"
PAPER = re.compile(r"^ *(doi|url) = ", re.MULTILINE)
"""A field of BibTeX that says where a paper is; an invented corpus has none."""


def name_of(path):
    return str(path.relative_to(ROOT))


def anchors(text):
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.gate
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_print_and_draw_what_the_page_shows(page, tmp_path, monkeypatch):
    if DATA:
        monkeypatch.setenv("CLOSEREAD_DATA", DATA)
    text = page.read_text("utf-8")
    assert pages.run_page(text, tmp_path) == text
    for picture, name in pages.find_drawn_pictures(page).items():
        assert pages.is_same_picture(picture, tmp_path / name)
    skipped = (
        0 if DATA else sum("corpora" in (block["needs"] or "") for block in pages.find_blocks(text))
    )
    if skipped:
        pytest.skip(f"CLOSEREAD_DATA is not set: {skipped} block(s) not run")


def test_every_picture_is_drawn_by_a_page_or_is_a_screenshot():
    shown = {picture for page in PAGES for picture in pages.find_pictures(page)}
    drawn = {picture for page in PAGES for picture in pages.find_drawn_pictures(page)}
    screenshots = {ROOT / "docs" / "images" / name for name in pictures.SCREENSHOTS}
    assert shown - screenshots == drawn
    assert drawn | screenshots == set((ROOT / "docs" / "images").iterdir())
    assert all(picture.stat().st_size < pictures.LIMIT for picture in screenshots)


@pytest.mark.gate
def test_output_that_has_drifted_is_replaced(tmp_path):
    page = "```console\n$ echo 1\n2\n```\nand\n```python\nprint(3)\n```\n```text\n4\n```\n"
    fresh = "```console\n$ echo 1\n1\n```\nand\n```python\nprint(3)\n```\n```text\n3\n```\n"
    assert pages.run_page(page, tmp_path) == fresh
    assert pages.run_page(fresh, tmp_path) == fresh


def test_every_block_is_of_a_kind_that_is_run():
    kinds = {
        page: [block["kind"] for block in pages.find_blocks(page.read_text("utf-8"))]
        for page in PAGES
    }
    assert {kind for found in kinds.values() for kind in found} <= {
        "sh",
        "console",
        "python",
        "text",
    }
    assert "sh" not in {kind for page, found in kinds.items() for kind in found if page != README}
    for found in kinds.values():
        before = [None, *found]
        assert all(before[i] == "python" for i, kind in enumerate(found) if kind == "text")


def test_the_commands_for_a_fresh_clone_are_those_of_the_gate():
    # They build an environment of their own, so the gate runs them, not this test.
    gate = (ROOT / ".ci" / "run").read_text("utf-8")
    (block,) = (
        block for block in pages.find_blocks(README.read_text("utf-8")) if block["kind"] == "sh"
    )
    commands = [line.split("#")[0].strip() for line in block["body"].splitlines()]
    assert commands == ["make score", ". .venv/bin/activate"]
    assert "`make test`" in README.read_text("utf-8")
    assert all(f"\n{command} " in gate for command in ("make score", "make test"))


def test_the_readme_is_short_and_links_to_every_page():
    text = README.read_text("utf-8")
    assert len(text.splitlines()) < 120
    # the pages of tasks, which the README's table has, too
    listed = (ROOT / "docs" / "corpora.md").read_text("utf-8")
    linked = {
        *re.findall(r"\]\((docs/[^)#]+)\)", text),
        *(f"docs/{one}" for one in re.findall(r"\]\(([^)#]+)\)", listed)),
    }
    assert {name_of(page) for page in PAGES[1:]} <= linked


def test_the_readme_begins_with_a_score():
    first = README.read_text("utf-8").splitlines()[:20]
    assert any(line.startswith("make score") for line in first)
    assert [line for line in first if line.startswith(("$ closeread score coref", "CoNLL"))]
    assert first[-1] == "```"


def test_the_first_page_names_every_extra_with_a_command_of_ours():
    text = (ROOT / "docs" / "start.md").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert sorted(rows) == sorted(
        set(project["optional-dependencies"]) - {"test", "browser", "docs"}
    )
    names = {" ".join(path) for path, _ in list_commands()}
    for row in rows.values():
        commands = [words.split(" --")[0] for words in re.findall(r"`([^`]+)`", row)]
        assert commands[0] in names


def test_the_citation_agrees_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load(CFF.read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == project["name"]
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
    assert citation["version"] == closeread.__version__
    assert citation["message"]
    assert citation["abstract"]
    cited = {str(paper.get("doi") or paper["url"]) for paper in citation["references"]}
    published = [name for name in corpus_names() if PAPER.search(load_corpus(name).citation)]
    assert published
    for name in published:
        citation_of_corpus = load_corpus(name).citation
        assert sum(source in citation_of_corpus for source in cited) == 1, (
            f"CITATION.cff: the references lack the paper of {name}, with its `doi` or `url`"
        )
    # The corpora of a family may have a paper in common.
    assert len(cited) == len({load_corpus(name).citation for name in published})


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_links_lead_somewhere(page):
    for link in LINK.finditer(page.read_text("utf-8")):
        target = page.parent / link["path"] if link["path"] else page
        assert target.exists(), link[0]
        assert not link["anchor"] or link["anchor"] in anchors(target.read_text("utf-8")), link[0]


@pytest.mark.parametrize("name", corpus_names())
def test_cards_have_not_drifted(name):
    text = (ROOT / "cards" / f"{name}.md").read_text("utf-8")
    assert documentation.fill_parts(text, documentation.card_parts(load_corpus(name))) == text


@pytest.mark.parametrize(
    "path", sorted((ROOT / "metrics").glob("*/README.md")), ids=lambda path: path.parent.name
)
def test_metric_cards_have_not_drifted(path):
    text = path.read_text("utf-8")
    assert documentation.fill_parts(text, documentation.metric_parts(path.parent.name)) == text


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_pages_have_not_drifted(page):
    text = page.read_text("utf-8")
    assert documentation.fill_parts(text, documentation.page_parts()) == text


@pytest.mark.parametrize(("name", "parts"), [
    ("README.md", documentation.benchmark_parts),
    ("neural.md", documentation.neural_parts),
])  # fmt: skip
def test_the_benchmarks_pages_have_not_drifted(name, parts):
    text = (ROOT / "benchmarks" / name).read_text("utf-8")
    assert documentation.fill_parts(text, parts(ROOT)) == text
