"""Static Spaces: front matter that the Hub takes, and pages that run nothing and ask no other host."""

import ast
import re

import pytest
import yaml
from markdown_it import MarkdownIt

from closeread.exceptions import FormatError, RequestError
from closeread.files import package_folder
from closeread.hf.modules import class_name, module_names
from closeread.hub.cards import check_card, join_card
from closeread.hub.spaces import draw_page, leaderboard_files, metric_files

COLORS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def make_metric(name, repository=None):
    folder = package_folder(f"closeread.evaluate_modules.{name}")
    card, requirements = (
        (folder / "README.md").read_text("utf-8"),
        (folder / "requirements.txt").read_bytes(),
    )
    return metric_files(name, class_name(name), card, requirements, repository or f"lab/{name}")


def front_matter(readme):
    return yaml.safe_load(readme.decode().split("---\n")[1])


@pytest.mark.parametrize("name", module_names())
def test_the_space_of_a_metric(name):
    files = make_metric(name)
    assert sorted(files) == sorted(["README.md", "index.html", f"{name}.py", "requirements.txt"])
    front = front_matter(files["README.md"])
    assert {"evaluate", "metric"} <= set(front["tags"])
    assert (front["sdk"], front["app_file"]) == ("static", "index.html")
    assert {front["colorFrom"], front["colorTo"]} <= COLORS
    assert len(front["short_description"]) <= 60
    assert f'evaluate.load("lab/{name}")' in files["README.md"].decode()
    assert files["requirements.txt"] == b"closeread\n"


def test_the_module_has_one_import_a_line():
    # evaluate reads it line by line: `import a, b` is the import of a library named "a,".
    source = make_metric("coref_lea", "lab/my-lea")["my-lea.py"].decode()
    imports = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [len(node.names) for node in imports] == [1]
    assert "from closeread.evaluate_modules.coref_lea.coref_lea import CorefLea" in source


@pytest.mark.parametrize("name", ["my.lea", "-lea", "läa"])
def test_names_that_evaluate_can_not_import(name):
    with pytest.raises(RequestError, match=r"evaluate\.load can't import 'lab/"):
        make_metric("coref_lea", f"lab/{name}")


@pytest.mark.parametrize("name", module_names())
def test_the_page_of_a_metric_is_self_contained(name):
    page = make_metric(name)["index.html"].decode()
    assert "<script" not in page
    assert not re.search(r"<(img|iframe|object|link|form|base)\b|\son\w+=|url\(|@import", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count("<h1>") == 1
    assert f'evaluate.load("lab/{name}")' in page
    for link in re.findall(r"<a [^>]*>", page):
        assert re.fullmatch(
            r'<a href="https?://[^"]+" target="_blank" rel="noopener nofollow">', link
        )


def test_hostile_texts_stay_texts():
    title = "</title><script>alert(1)</script>"
    page = draw_page(title, '"><script>', "lab/x").decode()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'content="&quot;&gt;&lt;script&gt;"' in page


def test_front_matter_of_a_space_that_the_hub_would_refuse():
    good = front_matter(make_metric("mctaco")["README.md"])
    for change in (
        {"sdk": "gradio"},
        {"colorFrom": "orange"},
        {"short_description": "x" * 61},
        {"tags": ["Metric!"]},
        {"datasets": ["no-namespace"]},
        {"hf_oauth": True},
    ):
        with pytest.raises(FormatError, match=r"^README\.md: "):
            check_card(join_card(good | change, "# Title"), "space_card")


def board(**more):
    found = {
        "title": "McTaco, test",
        "corpus": "mctaco",
        "gold": "public",
        "signature": "mctaco|version:1",
    }
    return found | {"rows": [{"kind": "system"}, {"kind": "baseline"}, {"kind": "system"}]} | more


def make_leaderboard(title, *boards, **more):
    index = {"format": 1, "title": title, "boards": list(boards)}
    return leaderboard_files(index, board=b"{}\n", page=b"<!doctype html>", table=b"a,b\n", **more)


def test_the_space_of_a_leaderboard():
    files = make_leaderboard("Rain", board(), languages=["en", "xx"], dataset="lab/rain")
    assert sorted(files) == ["README.md", "board.csv", "board.json", "index.html"]
    assert front_matter(files["README.md"]) == {
        "title": "Rain",
        "emoji": "🏆",
        "colorFrom": "yellow",
        "colorTo": "gray",
        "sdk": "static",
        "app_file": "index.html",
        "short_description": "Scores with intervals, by closeread",
        "datasets": ["lab/rain"],
        "tags": [
            "leaderboard",
            "submission:semiautomatic",
            "test:public",
            "judge:auto",
            "modality:text",
            "language:english",
        ],
    }
    text = files["README.md"].decode()
    assert "- McTaco, test: 2 systems. Signature: `mctaco|version:1`" in text
    assert "<https://huggingface.co/datasets/lab/rain>" in text


@pytest.mark.parametrize(
    ("gold", "tag"),
    [(["private"], "test:private"), (["public", "private"], "test:mix"), ([], "test:public")],
)
def test_tags_say_how_public_the_gold_is(gold, tag):
    files = make_leaderboard("Rain", *(board(gold=one) for one in gold))
    assert [one for one in front_matter(files["README.md"])["tags"] if one.startswith("test:")] == [
        tag
    ]


def test_a_hostile_title_stays_text():
    title = (
        "Rain\n---\nsdk: docker\n# [x](javascript:alert(1)) \u202egnp.exe <script> `code` {{ x }} "
        + "long " * 50
    )
    text = make_leaderboard(title, board(title="a\n\n<b>*x*"))["README.md"].decode()
    front = front_matter(text.encode())
    assert front["sdk"] == "static"
    assert len(front["title"]) <= 100
    assert "\u202e" not in text
    body = text.split("---\n", 2)[2]
    page = MarkdownIt().enable("table").render(body)
    assert not re.search(r"<(b|em|script)\b", page)
    assert "javascript" not in "".join(re.findall(r"<a [^>]*>", page))
    assert page.count("<h1>") == 1
