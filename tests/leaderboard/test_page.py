"""The page of a leaderboard, without a browser: complete without script, and harmless whatever submitters write."""

import base64
import hashlib
import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.balanced_html import Page
from shared.leaderboards import (
    HOSTILE,
    make_board,
    make_hostile_index,
    make_index,
    make_row,
    wrap,
)

from closeread.leaderboard.page import (
    clean_index,
    make_data,
    make_keys,
    render_page,
)
from closeread.views.page import dump_data


def make_three(rng):
    """Two systems and a row of a paper."""
    first = make_row(rng, "Tortoise", 0.5)
    first["scores"] = {
        "f1": {"value": 0.61049, "low": 0.55, "high": 0.66125, "undefined": False},
        "exact_match": {"value": 0.0, "low": None, "high": None, "undefined": True},
    }
    return [
        first,
        make_row(rng, "Hare", 0.3, kind="baseline"),
        make_row(rng, "Ledger", 0.549, rank=None),
    ]


@pytest.fixture
def rng():
    import random

    return random.Random(3)


def test_the_table_is_complete_without_script(rng):
    page = Page(render_page(wrap(make_board(make_three(rng)))))
    cells = [[cell.strip() for cell in row] for row in page.rows]
    assert cells[0][1:] == ["Rank", "System", "F1", "Exact match", "Author", "Submitted", "Flags"]
    # 0.61049 is 61.05 rounded, 0.66125 is 66.12 or 66.13 in binary: 66.12; a 0/0 has a star.
    assert cells[1] == [
        "system best",
        "1",
        "Tortoise",
        "61.05 55.00–66.12",
        "0.00*",
        "ada",
        "2026-11-02",
        "",
    ]
    assert cells[2][1] == "Above: not distinguishable from the best"
    assert cells[3][1:3] == ["2", "Ledger"]
    assert cells[4][:3] == ["baseline", "3", "Hare baseline"]


@pytest.mark.parametrize("n", [0, 1, 12])
def test_every_row_is_in_the_page(n):
    index = make_index(n)
    page = Page(render_page(index))
    board = index["boards"][0]
    drawn = [
        row
        for row in page.rows
        if row[0].split(" ")[0] in ("", "system", "baseline") and len(row) > 5
    ]
    heads = [row for row in drawn if row[1] in ("Rank", "System")]
    shown = (
        len(board["rows"])
        + len(board["superseded"])
        + sum(len(other["rows"]) for other in board["others"])
    )
    assert len(drawn) - len(heads) == shown
    assert ("No submissions yet." in page.text("p")) == (n == 0)


def test_there_is_no_line_if_nothing_is_below_it(rng):
    rows = [make_row(rng, "A", 0.5), make_row(rng, "B", 0.49)]
    assert "Above: not" not in "".join(
        text for tag, text in Page(render_page(wrap(make_board(rows)))).texts if tag != "script"
    )


def test_the_line_is_under_the_first_group_of_the_best(rng):
    board = make_board(
        [make_row(rng, "P", 0.7, rank=None), *(make_row(rng, name, 0.6) for name in "ABCD")]
    )
    for row, best in zip(board["rows"][1:], (True, True, False, True), strict=True):
        row["rank"] = {"low": 1, "high": 4, "best": best}
    names = [row[1] if len(row) == 2 else row[2] for row in Page(render_page(wrap(board))).rows]
    assert [name.split()[0] for name in names[1:7]] == ["P", "A", "B", "Above:", "C", "D"]


def test_the_policy_allows_this_style_and_this_script_only():
    text = render_page(make_index(3))
    page = Page(text)
    (policy,) = [one["content"] for one in page.find("meta") if one.get("http-equiv")]
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    for name, content in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert allowed.pop(name) == f"'sha256-{digest}'"
    assert allowed == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}


def test_nothing_is_loaded_and_no_attribute_runs():
    for index in (make_index(12), make_hostile_index()):
        for tag, attributes in Page(render_page(index)).elements:
            assert tag not in ("link", "img", "iframe", "object", "embed", "base", "audio", "video")
            assert (
                not {name for name in attributes if name.startswith("on")}
                | {"style", "src"} & attributes.keys()
            )
            if "href" in attributes and not attributes["href"].startswith("#"):
                assert attributes["href"].startswith("https://")
                assert (attributes["rel"], attributes["target"]) == ("nofollow noopener", "_blank")


def test_hostile_texts_stay_texts():
    plain, hostile = Page(render_page(make_index(12))), Page(render_page(make_hostile_index()))
    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in plain.elements}
    assert len(hostile.find("script")) == len(plain.find("script")) == 2
    shown = "".join(text for tag, text in hostile.texts)
    assert all(c.isprintable() or c == "\n" for c in shown if unicodedata.category(c) != "Zs")
    names = "".join(text for tag, text in hostile.texts if tag == "th")
    for text in (
        "<img src=x onerror=alert(1)>",
        r"\u202egnp.tset\u2066",
        r"\x1b[31mred\x00\x07\x9b",
        r"\ud800",
    ):
        assert text in names
    assert "x" * 200 not in names


def test_links_that_are_none_are_marked_in_the_data():
    board = clean_index(make_hostile_index())["boards"][0]
    # Of the links of the generator, none is one, so that each stands in a list; and no hostile text names a model.
    for row in make_data(board, "key")["rows"]:
        for name in ("paper", "model", "record"):
            assert row[name] is None or isinstance(row[name], list)


@given(st.recursive(st.text() | st.sampled_from(HOSTILE), st.lists, max_leaves=5))
def test_no_text_ends_the_element_of_the_data(value):
    text = dump_data(clean_index(value))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == clean_index(value)


def test_scores_of_the_data_are_those_of_the_table(rng):
    rows = make_three(rng)
    board = clean_index(make_board(rows))
    data = make_data(board, "key")
    names = [metric["name"] for metric in data["metrics"]]
    scores = dict(zip(names, data["rows"][0]["total"][0], strict=True))
    assert scores == {"f1": [6105, 5500, 6612, 0], "exact_match": [0, None, None, 1]}


def test_boards_and_rows_have_addresses_of_their_own():
    board = make_index(3)["boards"][0]
    same = {**board, "name": "mctaco-test"}
    page = Page(render_page(wrap(board, same)))
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {"mctaco-test", "mctaco-test-2"} <= set(ids)
    assert make_keys(["a b", "A/B", "a-b-2", "a-b", "…"]) == [
        "a-b",
        "a-b-2",
        "a-b-2-2",
        "a-b-3",
        "x",
    ]


def test_how_to_take_part_is_told():
    commands = Page(render_page(make_index(3), address="hf://datasets/org/board")).text("code")
    assert "closeread leaderboard submit mctaco PREDICTIONS" in commands
    assert "--to hf://datasets/org/board" in commands
    assert "--to board\n" in Page(render_page(make_index(3), address="shared/tasks/board")).text(
        "code"
    )


def test_a_page_of_a_thousand_systems_is_below_two_megabytes():
    assert len(render_page(make_index(1000)).encode()) < 2_000_000


def test_a_board_without_results_says_so():
    board = make_board([])
    board |= {"n_units": None, "n_blocks": None, "slices": {}}
    page = Page(render_page(wrap(board)))
    assert page.text("p").count("No submissions yet.") == 2  # in the ranking and in the history
    assert "This leaderboard has no boards yet." in Page(render_page(wrap())).text("p")
