"""The page of a leaderboard in a real browser: Debian's Chromium, without a network."""

import csv
import io
import json
from contextlib import contextmanager

import pytest
from shared.chromium import NEEDS_CHROMIUM, Listener, launching
from shared.leaderboards import AUTHORS, CATEGORIES, make_hostile_index, make_index

from closeread.leaderboard.page import render_page

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = [pytest.mark.extended, NEEDS_CHROMIUM]


@pytest.fixture(scope="module")
def browser():
    with launching() as browser:
        yield browser


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    pages = {
        "board": make_index(12),
        "hostile": make_hostile_index(),
        "large": make_index(1000),
        "empty": make_index(0),
    }
    for name, index in pages.items():
        (folder / f"{name}.html").write_text(render_page(index), "utf-8")
    return folder, pages


@pytest.fixture
def open_page(browser, files):
    """Opens a page; the test fails if the page says anything on the console or asks for any other file."""
    folder, _ = files
    listener = Listener(browser)

    def call(name="board", address="", **settings):
        return listener.open(f"file://{folder}/{name}.html{address}", **settings)

    yield call
    listener.end(f"file://{folder}/")


@pytest.fixture
def board(files):
    return files[1]["board"]["boards"][0]


def names(page):
    """The names in the ranking, in order."""
    cells = page.get_by_role("region", name="Ranking of McTaco, test").get_by_role("rowheader")
    return [text.split("\n")[0].strip() for text in cells.locator("a").all_inner_texts()]


def header(page, name):
    return page.get_by_role("region", name="Ranking of").get_by_role("columnheader", name=name)


def key_of(board, name):
    row = next(row for row in board["rows"] if row["system"] == name)
    return row["id"][:10] if row["kind"] == "system" else row["id"].replace(":", "-")


def test_on_a_phone_scores_stand_apart_from_intervals_and_hidden_columns_are_announced(open_page):
    page = open_page(viewport={"width": 420, "height": 900})
    hint = page.get_by_text("There are more columns: scroll the table to the right.")
    assert hint.is_visible()
    table = page.get_by_role("region", name="Ranking of McTaco, test")
    cell = table.locator("td.score", has_text="–").first
    value, interval = (cell.locator(part).bounding_box() for part in (".value", "small"))
    assert interval["y"] >= value["y"] + value["height"] - 4
    score, low = cell.inner_text().split()
    assert "–" not in score
    assert "–" in low
    page.set_viewport_size({"width": 2000, "height": 900})
    hint.wait_for(state="hidden")


def test_sorting_by_keyboard(open_page, board):
    page = open_page()
    assert not page.get_by_text("need JavaScript").is_visible()
    expected = [row["system"] for row in board["rows"]]
    assert names(page) == expected
    assert header(page, "F1").get_attribute("aria-sort") == "descending"
    line = page.get_by_role("cell", name="Above: not distinguishable from the best")
    assert line.is_visible()
    button = header(page, "System").get_by_role("button")
    for _ in range(30):
        page.keyboard.press("Tab")
        if button.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("Enter")
    assert names(page) == sorted(expected, key=str.lower)
    assert header(page, "System").get_attribute("aria-sort") == "ascending"
    assert header(page, "F1").get_attribute("aria-sort") is None
    assert not line.is_visible()
    page.keyboard.press("Space")
    assert names(page) == sorted(expected, key=str.lower, reverse=True)
    assert (
        page.get_by_role("status").inner_text()
        == "14 of 14 rows shown, sorted by System, descending"
    )
    header(page, "Exact match").get_by_role("button").press("Enter")
    scored = sorted(
        board["rows"], key=lambda row: -row["scores"].get("exact_match", {"value": -1})["value"]
    )
    assert names(page)[:14] == [row["system"] for row in scored][:14]
    header(page, "F1").get_by_role("button").press("Enter")
    assert names(page) == expected


def test_the_skip_link_leads_to_the_content(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_filtering(open_page, board):
    page = open_page()
    page.get_by_label("Find").fill("almanac")
    assert names(page) == ["Almanac-7B, five-shot", "Almanac-7B, zero-shot"]
    assert page.get_by_role("status").inner_text().startswith("2 of 14 rows shown")
    page.get_by_label("Find").fill("no such system")
    assert names(page) == []
    assert page.get_by_text("No row matches the filter.").is_visible()
    page.get_by_label("Find").fill("")
    page.get_by_label("systems", exact=True).uncheck()
    assert set(names(page)) == {"always-positive", "random"}
    page.get_by_label("baselines").uncheck()
    assert names(page) == []
    page.get_by_label("baselines").check()
    page.get_by_label("systems", exact=True).check()
    page.get_by_label("Author").select_option(AUTHORS[1])
    assert names(page) == [
        row["system"] for row in board["rows"] if row.get("author") == AUTHORS[1]
    ]


def test_the_line_is_where_python_draws_it(open_page):
    rows = "table => [...table.tBodies[0].rows].findIndex((row) => row.className === 'line')"
    places = [
        open_page(java_script_enabled=enabled).get_by_role("table").first.evaluate(rows)
        for enabled in (True, False)
    ]
    assert places[0] == places[1] > 0


def test_scores_by_slice(open_page, board):
    page = open_page()
    page.get_by_label("Scores").first.select_option("by category")
    heads = (
        page.get_by_role("region", name="Ranking of").get_by_role("columnheader").all_inner_texts()
    )
    assert [head.strip() for head in heads][2:7] == CATEGORIES
    page.get_by_label("Metric").select_option("Exact match")
    header(page, "Frequency").get_by_role("button").click()

    def frequency(row):
        return row["slices"]["category"]["Frequency"]["scores"]["exact_match"]["value"]

    best = max((row for row in board["rows"] if row.get("slices")), key=frequency)
    assert names(page)[0] == best["system"]
    assert page.get_by_text(f"{100 * frequency(best):.2f}").first.is_visible()


def test_the_view_of_a_system(open_page, board):
    page = open_page()
    page.get_by_role("region", name="Ranking of").get_by_role(
        "link", name="Patience (large)", exact=True
    ).click()
    title = page.get_by_role("heading", name="Patience (large)")
    assert title.evaluate("element => element === document.activeElement")
    assert page.title() == "Patience (large) · McTaco, test · Careful reading, autumn 2026"
    text = page.get_by_role("main").inner_text()
    row = next(row for row in board["rows"] if row["system"] == "Patience (large)")
    for shown in (
        row["id"],
        row["signature"],
        row["reproduce"],
        row["record"],
        "2026-11-02 09:30:00 UTC",
        "772.43",
    ):
        assert shown in text
    paper = page.get_by_role("link", name="https://example.org/papers/patience")
    assert (paper.get_attribute("rel"), paper.get_attribute("target")) == (
        "nofollow noopener",
        "_blank",
    )
    model = page.get_by_role("link", name="meridian/patience-large")
    assert model.get_attribute("href") == "https://huggingface.co/meridian/patience-large"
    page.go_back()
    assert page.get_by_role("heading", name="Ranking", exact=True).is_visible()
    assert not title.is_visible()


def test_comparing_two_systems(open_page, board):
    page = open_page(address="#mctaco-test:compare")
    first, second = "Sundial", "Patience (base)"
    page.get_by_label("First system").select_option(first)
    page.get_by_label("Second system").select_option(second)
    values = {row["system"]: row["scores"]["f1"]["value"] for row in board["rows"]}
    difference = values[first] - values[second]
    # As the generator makes them: half a width of 0.03, and a p-value of 0.5 − 10 · difference, at least 0.00005.
    shown = page.get_by_role("main").inner_text()
    assert "The difference is significant: Sundial has the higher F1." in shown
    assert f"+{100 * difference:.2f}" in shown
    assert f"+{100 * (difference - 0.03):.2f} to +{100 * (difference + 0.03):.2f}" in shown
    assert "<0.0001" in shown
    page.get_by_label("First system").select_option(second)
    assert "Choose two different systems." in page.get_by_role("main").inner_text()
    page.get_by_label("Second system").select_option(first)
    shown = page.get_by_role("main").inner_text()
    assert f"−{100 * (difference + 0.03):.2f} to −{100 * (difference - 0.03):.2f}" in shown
    assert page.url.endswith(f":compare:{key_of(board, second)}:{key_of(board, first)}")
    page.get_by_label("First system").select_option("Tortoise")
    assert (
        "is not significant: these data do not show which of the two is better."
        in page.get_by_role("main").inner_text()
    )


def test_a_pair_that_is_not_tested_names_the_command(open_page, files):
    board = files[1]["large"]["boards"][0]
    one, two = [row for row in board["rows"][500:510] if row["kind"] == "system"][:2]
    page = open_page("large", f"#mctaco-test:compare:{one['id'][:10]}:{two['id'][:10]}")
    paths = [row["reproduce"].split(" ")[3] for row in (one, two)]
    shown = page.get_by_role("main").inner_text()
    assert "is not part of this page, which has those of the 100 best" in shown
    assert f"closeread compare mctaco {paths[0]} {paths[1]} --split test" in shown
    # Numbers of large boards are packed; these are shown as Python formats them.
    for row in (one, two):
        assert f"{100 * row['scores']['f1']['value']:.2f}" in shown


@contextmanager
def downloading(page, name):
    with page.expect_download() as found:
        page.get_by_role("button", name=name).click()
    yield found.value.path().read_text("utf-8")


def test_downloads_are_what_is_shown(open_page, board):
    page = open_page()
    page.get_by_label("Find").fill("patience")
    header(page, "System").get_by_role("button").click()
    rows = {row["system"]: row for row in board["rows"]}
    expected = ["Patience (base)", "Patience (large)", "Patience (large) #11"]
    with downloading(page, "CSV") as text:
        found = list(csv.DictReader(io.StringIO(text)))
    assert [row["system"] for row in found] == expected
    f1 = rows[expected[0]]["scores"]["f1"]
    assert (found[0]["f1"], found[0]["f1/low"]) == tuple(
        f"{round(f1[name], 4):g}" for name in ("value", "low")
    )
    with downloading(page, "JSON") as text:
        data = json.loads(text)
    assert [row["system"] for row in data["rows"]] == expected
    assert data["signature"] == board["signature"]
    with downloading(page, "Markdown") as text:
        lines = text.splitlines()
    assert lines[0] == "| Rank | System | F1 | Exact match | Author | Submitted | Flags |"
    assert lines[4].split("|")[2] == " `Patience (large) #11` "
    with downloading(page, "LaTeX") as text:
        assert r"Patience (large) \#11 & " in text
    assert len(lines) == 2 + 3


def test_hostile_texts_run_nothing(open_page, files):
    board = files[1]["hostile"]["boards"][0]
    page = open_page("hostile")
    for row in board["rows"][:22]:
        if row["kind"] == "system":
            page.evaluate("key => { location.hash = `#mctaco-test:system:${key}` }", row["id"][:10])
            page.get_by_role("heading", name="How to reproduce").wait_for()
    links = page.get_by_role("link").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    assert all(link.startswith(("#", "https://")) for link in links)
    page.goto(page.url.partition("#")[0])
    with downloading(page, "CSV") as text:
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    with downloading(page, "LaTeX") as text:
        assert "\\input{secret}" not in text


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("light", 1280), ("dark", 1280), ("light", 360)],
    ids=["light", "dark", "narrow"],
)
def test_rules_of_accessibility(open_page, board, scheme, width):
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    key = key_of(board, "Patience (large)")
    for address in ("", f":system:{key}", f":compare:{key}", ":history", ":part", ":about"):
        page.evaluate("address => { location.hash = `#mctaco-test${address}` }", address)
        page.wait_for_timeout(30)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert {"color-contrast", "label", "button-name"} & {
            rule["id"] for rule in found.response["passes"]
        }
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def test_a_record_is_drawn_where_it_belongs(browser, tmp_path):
    index = make_index(3)
    steps = ((1, 0.5), (2, 0.6), (5, 0.7))
    index["boards"][0]["history"] = [
        {"date": f"2026-11-{day:02}T00:00:00Z", "id": "x", "value": value} for day, value in steps
    ]
    (tmp_path / "page.html").write_text(render_page(index), "utf-8")
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/page.html#mctaco-test:history")
    name = "Line chart: the best F1 rose from 50.00 on 2026-11-01 to 70.00 on 2026-11-05."
    chart = page.get_by_role("img", name=name)
    assert chart.is_visible()
    read = "circles => circles.map(circle => ['cx', 'cy'].map(name => +circle.getAttribute(name)))"
    (x1, y1), (x2, y2), (x3, y3) = chart.locator("circle").evaluate_all(read)
    assert (x2 - x1) * 3 == pytest.approx(x3 - x2)  # one day, then three
    assert y1 - y2 == pytest.approx(y2 - y3)  # ten points each, upwards
    assert y1 > y2
    texts = "texts => Object.fromEntries(texts.map(text => [text.textContent, +text.getAttribute('y') - 4]))"
    heights = chart.locator("text").evaluate_all(texts)
    assert (heights["50"], heights["70"]) == (pytest.approx(y1), pytest.approx(y3))
    page.close()


def test_without_script_everything_but_the_choices_is_there(open_page, board):
    page = open_page(java_script_enabled=False)
    cells = (
        page.get_by_role("region", name="Ranking of McTaco, test")
        .get_by_role("rowheader")
        .all_inner_texts()
    )
    assert len(cells) == len(board["rows"])
    assert page.get_by_text("need JavaScript").is_visible()
    assert page.get_by_role("heading", name="How to cite", exact=True).is_visible()
    assert not page.get_by_label("Find").is_visible()


def test_an_empty_board(open_page):
    page = open_page("empty")
    assert page.get_by_text("No submissions yet.").first.is_visible()
    page.get_by_role("link", name="Compare").click()
    page.get_by_text("There are not two systems to compare yet.").wait_for()
