"""A leaderboard that is served, in a real browser: users submit and look."""

import pytest
from shared.boards import make_store, sample_answers, sample_board, small_limits, write_rows
from shared.chromium import NEEDS_CHROMIUM, Listener, launching
from shared.served_boards import serving

pytest.importorskip("starlette", reason="the extra closeread[serve] is not installed")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = [pytest.mark.extended, NEEDS_CHROMIUM]

CAT = "Cat’s list (7B), five-shot"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def store(folder):
    limits = small_limits(bytes=200_000, per_day=50)
    return make_store(
        folder / "board", sample_board("tne"), sample_board(limits=limits), title="Close reading"
    )


@pytest.fixture(scope="module")
def served(store, folder):
    with serving(store, folder, "--workers", 1) as served:
        yield served


@pytest.fixture(scope="module")
def browser():
    with launching() as browser:
        yield browser


@pytest.fixture
def visit(browser, served):
    """Opens the page as a new user; the test fails if it says anything on the console or asks any other host."""
    listener = Listener(browser)
    yield lambda address="", **settings: listener.open(served.url + address, **settings)
    listener.end(served.url)


@pytest.fixture(scope="module")
def files(folder):
    """Predictions by the number of right ones, and a file with three things wrong."""
    found = {
        right: write_rows(folder / f"{right}.jsonl", sample_answers(right=right))
        for right in (100, 60, 20)
    }
    found["wrong"] = folder / "wrong.jsonl"
    found["wrong"].write_text('{"id": "nowhere", "label": "yes"}\n{"id": NaN}\n', "utf-8")
    return found


def fill(page, file, system, board="McTaco sample, test", **texts):
    page.get_by_text("Submit predictions").click()
    page.get_by_role("combobox", name="Board").select_option(board)
    page.get_by_label("Predictions").set_input_files(file)
    page.get_by_label("Name of the system").fill(system)
    for name, text in texts.items():
        page.get_by_role("textbox", name=name).fill(text)


def press(page, name="Submit"):
    page.get_by_role("button", name=name, exact=True).click()


def is_focused(locator):
    return locator.evaluate("element => element === document.activeElement")


def names(page):
    """The names in the ranking, in order."""
    cells = page.get_by_role("region", name="Ranking of McTaco sample, test").get_by_role(
        "rowheader"
    )
    return [text.split("\n")[0].strip() for text in cells.locator("a").all_inner_texts()]


def find_row(store, system):
    (_, board) = store.read_index()["boards"]
    return next(row for row in board["rows"] if row["system"] == system)


@pytest.fixture(scope="module")
def submitted(browser, served, files):
    """What another user submitted."""
    listener = Listener(browser)
    page = listener.open(served.url)
    fill(page, files[20], CAT, Code="https://example.org/code")
    press(page)
    page.get_by_text("Submitted and judged").wait_for()
    listener.end(served.url)


def test_what_is_submitted_becomes_a_row(visit, files, store):
    page = visit()
    fill(page, files[60], "Dot", Paper="https://example.org/dot", Description="By hand.\nSlowly.")
    press(page)
    answer = page.get_by_role("status").filter(has_text="Submitted and judged")
    row = find_row(store, "Dot")
    value = f"{100 * row['scores']['f1']['value']:.2f}"
    assert answer.inner_text().startswith(f"Submitted and judged: Dot has F1 {value} and rank ")
    assert is_focused(answer)
    # it is the second board
    assert page.get_by_role("heading", name="McTaco sample, test", exact=True).is_visible()
    assert not page.get_by_role("heading", name="TNE sample, test", exact=True).is_visible()
    assert "Dot" in names(page)
    answer.get_by_role("link", name="Dot").click()
    assert is_focused(page.get_by_role("heading", name="Dot"))
    shown = page.get_by_role("main").inner_text()
    assert "By hand. Slowly." in shown
    assert row["id"] in shown
    page.reload()
    assert len(names(page)) == len(set(names(page)))


def test_all_problems_are_told_at_once_and_nothing_typed_is_lost(visit, files):
    page = visit()
    fill(page, files["wrong"], "Two  spaces", Paper="http://example.org", Description="A sentence.")
    press(page)
    alert = page.get_by_role("alert")
    assert is_focused(alert)
    told = alert.get_by_role("listitem").all_inner_texts()
    assert [text.partition(": ")[0] for text in told] == [
        "Name of the system",
        "Paper",
        "predictions",
        "predictions:1",
        "predictions:2",
    ]
    assert "the last one was wrong.jsonl" in alert.inner_text()
    for name, text in (("Name of the system", "Two  spaces"), ("Description", "A sentence.")):
        assert page.get_by_label(name).input_value() == text
    assert page.get_by_role("combobox", name="Board").input_value() == "mctaco-sample/test"
    # The next key goes on from the problems to the form.
    page.keyboard.press("Tab")
    assert is_focused(page.get_by_text("Submit predictions"))
    page.get_by_label("Name of the system").fill("Corrected")
    page.get_by_role("textbox", name="Paper").fill("")
    page.get_by_label("Predictions").set_input_files(files[20])
    press(page, "Check without submitting")
    assert page.get_by_text(
        "The predictions in 20.jsonl are valid. Nothing was submitted."
    ).is_visible()
    assert page.get_by_label("Name of the system").input_value() == "Corrected"
    assert "Corrected" not in names(page)


def test_looking_around_keeps_what_was_typed(visit, files, submitted):
    page = visit("#mctaco-sample-test")
    fill(page, files[20], "Half typed", Description="Not yet")
    page.get_by_role("link", name=CAT, exact=True).click()
    page.get_by_role("link", name="Compare with another system").click()
    page.get_by_role("link", name="History").last.click()
    page.go_back()
    assert page.get_by_label("Name of the system").input_value() == "Half typed"
    assert page.get_by_label("Predictions").evaluate("input => input.files[0].name") == "20.jsonl"


def test_a_large_file_is_refused_before_it_is_sent(visit, folder):
    page = visit()
    large = folder / "large.jsonl"
    large.write_bytes(b" " * 60_000_000)
    fill(page, large, "Large")
    press(page)
    message = page.get_by_label("Predictions").evaluate("input => input.validationMessage")
    assert message == "This file is larger than 50,000,000 bytes."
    assert page.get_by_label("Name of the system").input_value() == "Large"


def test_the_form_needs_no_script(visit, files):
    page = visit(java_script_enabled=False)
    fill(page, files["wrong"], "By hand")
    press(page)
    assert page.get_by_role("alert").get_by_role("listitem").count() == 3
    assert page.get_by_label("Name of the system").input_value() == "By hand"
    page.get_by_label("Predictions").set_input_files(files[20])
    press(page)
    assert page.get_by_text("Submitted and judged: By hand has F1").is_visible()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("light", 1280), ("dark", 1280), ("light", 360)],
    ids=["light", "dark", "narrow"],
)
def test_rules_of_accessibility(visit, files, submitted, scheme, width):
    page = visit(color_scheme=scheme, viewport={"width": width, "height": 800})
    fill(page, files["wrong"], "Two  spaces")
    press(page)
    page.get_by_role("alert").wait_for()
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert {"color-contrast", "label", "button-name"} & {
        rule["id"] for rule in found.response["passes"]
    }
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
