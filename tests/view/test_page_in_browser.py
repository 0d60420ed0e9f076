"""The page of a key and its responses in a real browser: Debian's Chromium, without a network."""

import json
import re

import pytest
from shared.chromium import NEEDS_CHROMIUM, Listener, launching

from closeread.views.page import draw_page

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = [pytest.mark.extended, NEEDS_CHROMIUM]

KINDS = (
    "wrong entity",
    "missing mention",
    "spurious mention",
    "split entity",
    "merged entities",
    "missing entity",
    "spurious entity",
)
STORY = [
    "Nora",
    "met",
    "Lea",
    ".",
    "She",
    "gave",
    "her",
    "the",
    "old",
    "key",
    "of",
    "the",
    "tower",
    ",",
    "and",
    "∅",
    "left",
    "it",
    ".",
    "Nora",
    "and",
    "Lea",
    "took",
    "turns",
    "up",
    "there",
    ".",
]
# The verdicts of these systems are written down below, by hand.
KEY = {
    "Nora": [(0, 0), (4, 4), (15, 15), (19, 19)],
    "Lea": [(2, 2), (6, 6), (21, 21)],
    "the old key": [(7, 12), (17, 17)],
    "the tower": [(11, 12)],
}
A = {
    "Nora": [(0, 0), (4, 4), (6, 6), (19, 19)],
    "Lea": [(2, 2), (21, 21)],
    "it": [(17, 17), (13, 13)],
    "the tower": [(11, 12)],
}
ALIGNED_A = [0, 1, 2, 3]
VERDICTS_A = {
    (0, 0): "right",
    (4, 4): "right",
    (6, 6): "wrong",
    (19, 19): "right",
    (2, 2): "right",
    (21, 21): "right",
    (17, 17): "right",
    (13, 13): "spurious",
    (11, 12): "right",
}
MISSING_A = {(15, 15), (7, 12)}
B = {
    "Nora": [(0, 0), (15, 15)],
    "She": [(4, 4), (19, 19)],
    "Lea": [(2, 2), (6, 6), (21, 21)],
    "the old key": [(7, 12), (17, 17)],
}
ALIGNED_B = [0, -1, 1, 2]
MISSING_B = {(11, 12)}
COUNTS = {
    "A": {"wrong entity": 1, "missing mention": 2, "spurious mention": 1},
    "B": {"wrong entity": 2, "missing mention": 1},
}


def make_side(entities):
    """Return a side as the page has it."""
    mentions = []
    for number, places in enumerate(entities.values()):
        for start, end in places:
            mentions.append([start, end, number])
    names = [{"name": name, "size": len(places)} for name, places in entities.items()]
    return {"entities": names, "mentions": mentions}


def make_document(name="tower", words=STORY, direction="ltr", has_key=True, n_copies=1):
    """Return the story, or several copies of it one after the other, with its systems."""
    length = len(words)

    def repeat(entities):
        repeated = {}
        for entity, places in entities.items():
            repeated[entity] = []
            for copy in range(n_copies):
                for start, end in places:
                    repeated[entity].append((start + copy * length, end + copy * length))
        return repeated

    systems = []
    for system, entities, aligned in (("A", A, ALIGNED_A), ("B", B, ALIGNED_B)):
        side = make_side(repeat(entities))
        side |= {"name": system, "aligned": aligned if has_key else [-1] * len(entities)}
        side["score"] = 0.75 if has_key else None
        side["counts"] = dict.fromkeys(KINDS, 0) | COUNTS[system]
        systems.append(side)
    sentences = []
    for copy in range(n_copies):
        sentences += [copy * length, copy * length + 4, copy * length + 19]
    return {
        "name": name,
        "words": list(words) * n_copies,
        "glued": [2, 12, 17, 25],
        "empty": [15],
        "direction": direction,
        "sentences": sentences,
        "key": make_side(repeat(KEY)) if has_key else None,
        "systems": systems,
        "comparison": {"repaired": 3, "added": 3, "shared": 0} if has_key else None,
    }


def make_data(*documents, title="A and B", has_singletons=False):
    """Return the data of a page."""
    systems = []
    for name in ("A", "B"):
        scores = [{"name": "CoNLL F1", "value": 0.75, "low": 0.7, "high": 0.8}]
        systems.append({"name": name, "scores": scores, "counts": dict.fromkeys(KINDS, 1)})
    return {
        "title": title,
        "signature": "coref 1.0",
        "measure": "CoNLL F1",
        "has_singletons": has_singletons,
        "kinds": [{"id": kind, "name": kind, "explanation": kind} for kind in KINDS],
        "systems": systems,
        "comparison": documents[0]["comparison"],
        "documents": list(documents),
    }


HOSTILE = [f"<img src=x onerror=alert({number})>" for number in range(len(STORY))]
HEBREW = [
    "נורה",
    "פגשה",
    "את",
    "לאה",
    ".",
    "היא",
    "נתנה",
    "לה",
    "את",
    "המפתח",
    "הישן",
    "של",
    "המגדל",
    ",",
    "והלכה",
    "∅",
    "בלי",
    "לקחת",
    "אותו",
    ".",
    "נורה",
    "ולאה",
    "עלו",
    "Tower",
    "Bridge",
    "בתור",
    ".",
]


@pytest.fixture(scope="module")
def browser():
    with launching() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    hebrew = make_document("מגדל", HEBREW[: len(STORY)], "rtl")
    hostile = make_document("</script><b>", HOSTILE)
    for side in [hostile["key"], *hostile["systems"]]:
        for entity in side["entities"]:
            entity["name"] = "<script>alert(1)</script>"
    pages = {
        "story": make_data(make_document(), make_document("two.parts")),
        "singletons": make_data(make_document(), has_singletons=True),
        "hebrew": make_data(hebrew),
        "private": make_data(make_document(has_key=False)),
        "hostile": make_data(hostile, title="<img src=x onerror=alert(1)>"),
        "chapter": make_data(make_document(n_copies=100)),
        "long": make_data(make_document(n_copies=4000)),
    }
    for name, data in pages.items():
        (folder / f"{name}.html").write_text(draw_page(data), "utf-8")
    return folder


@pytest.fixture
def open_page(browser, folder):
    """Opens a page; the test fails if it says anything on the console or asks for any other file."""
    listener = Listener(browser)

    def call(name="story", address="", **settings):
        return listener.open(f"file://{folder}/{name}.html{address}", **settings)

    yield call
    listener.end(f"file://{folder}/")


def read_bars(page, side):
    """Return the class of each bar above or below the words by its words' numbers."""
    script = """side => {
        const bars = {};
        for (const piece of document.querySelectorAll(`#text .bar.${side}`)) {
            const id = piece.dataset.id;
            const word = Number(piece.closest('[data-word]').dataset.word);
            const names = [...piece.classList].filter((name) =>
                ['right', 'wrong', 'missing', 'spurious', 'unjudged'].includes(name));
            if (id) bars[id] = { start: word, end: word, kind: names.join(' ') };
        }
        return bars;
    }"""
    return page.evaluate(script, side)


def find_error(page):
    return page.evaluate("location.hash.slice(1)")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def chip(page, name):
    return page.get_by_role("button", name=re.compile(rf"^\d+ {name}"))


def test_bars_are_the_mentions_and_their_verdicts(open_page):
    page = open_page()
    below = read_bars(page, "below")
    data = json.loads(page.locator("#data").text_content())
    mentions = data["documents"][0]["systems"][0]["mentions"]
    assert len(below) == len(mentions)
    for index, (start, end, _) in enumerate(mentions):
        bar = below[f"0.{index}"]
        assert (bar["start"], bar["kind"]) == (start, VERDICTS_A[start, end])
    above = read_bars(page, "above")
    key_mentions = data["documents"][0]["key"]["mentions"]
    hollow = set()
    for index, (start, end, _) in enumerate(key_mentions):
        assert above[f"-1.{index}"]["start"] == start
        if above[f"-1.{index}"]["kind"] == "missing":
            hollow.add((start, end))
    assert hollow == MISSING_A


def test_a_wrong_mention_has_the_colour_of_the_entity_that_it_was_put_into(open_page):
    page = open_page()
    hue = "bar => bar.style.getPropertyValue('--hue')"
    nora = page.locator('.above[data-id="-1.0"]').evaluate(hue)
    lea = page.locator('.above[data-id="-1.4"]').evaluate(hue)
    put_into_nora = page.locator('.below[data-id="0.2"]').evaluate(hue)
    assert put_into_nora == nora != lea
    press(page, "2")
    split = page.locator('.below[data-id="1.2"]').evaluate(hue)
    assert "grey" in split


def test_chips_count_and_filter(open_page):
    page = open_page()
    # B splits Nora in two; A puts Lea's "her" among Nora's mentions.
    expected = {"wrong entity": 1, "missing mention": 2, "spurious mention": 1}
    expected |= {"split entity": 1, "merged entities": 1, "missing entity": 0, "spurious entity": 0}
    for kind, number in expected.items():
        assert chip(page, kind).inner_text() == f"{number} {kind}"
    chip(page, "spurious mention").click()
    assert find_error(page) == "tower/A/13"
    press(page, "j")
    assert find_error(page) == "two.parts/A/13"
    press(page, "2")
    assert chip(page, "split entity").inner_text() == "1 split entity"
    assert chip(page, "wrong entity").inner_text() == "2 wrong entity"


@pytest.mark.parametrize(("name", "figures"), [("story", "4 / 3"), ("singletons", "4 / 2")])
def test_the_list_counts_what_chips_count(open_page, name, figures):
    # B misses the tower, a singleton that A has too; of systems, no verdict hides another's.
    page = open_page(name)
    button = page.locator("#documents button").first
    assert button.locator(".figures").inner_text() == f"75.00 / 75.00\nerrors: {figures}"
    press(page, "3")
    kinds = ["wrong entity", "missing mention", "spurious mention"]
    texts = [page.locator(".chip", has_text=kind).inner_text() for kind in kinds]
    numbers = [
        text.removesuffix(kind).split(" / ") for text, kind in zip(texts, kinds, strict=True)
    ]
    totals = [sum(map(int, column)) for column in zip(*numbers, strict=True)]
    assert " / ".join(map(str, totals)) == figures


def test_an_opened_document_has_an_address(open_page):
    page = open_page()
    page.locator("#documents button").last.click()
    assert find_error(page) == "two.parts"
    page = open_page(address="#two.parts")
    assert page.get_by_role("heading", name="two.parts").is_visible()


def test_errors_have_addresses(open_page):
    page = open_page()
    walked = []
    for _ in range(5):
        press(page, "j")
        walked.append(find_error(page))
    assert walked == [*(f"tower/A/{word}" for word in (6, 7, 13, 15)), "two.parts/A/6"]
    press(page, "k")
    assert find_error(page) == "tower/A/15"
    page = open_page(address="#two.parts/B/4")
    assert page.get_by_role("heading", name="two.parts").is_visible()
    assert page.get_by_role("button", name="B", exact=True).get_attribute("aria-pressed") == "true"
    assert page.locator("#card").inner_text().startswith("“She”: wrong entity")


def test_systems_swap_in_place(open_page):
    page = open_page()
    places = (
        "() => [...document.querySelectorAll('#text p')].map(p => p.getBoundingClientRect().top)"
    )
    before = page.evaluate(places)
    press(page, "2")
    assert page.evaluate(places) == before
    bars = read_bars(page, "below")
    assert {identity.split(".")[0] for identity in bars} == {"1"}
    press(page, "3")
    bars = read_bars(page, "below")
    assert {identity.split(".")[0] for identity in bars} == {"0", "1"}
    assert page.get_by_text("B repairs 3 of A’s errors, adds 3 and shares 0.").count() == 2


def test_tab_stops_at_errors_and_arrows_walk_the_bars(open_page):
    page = open_page()
    page.locator("#text").focus()
    stops = []
    for _ in range(4):
        press(page, "Tab")
        stops.append(page.evaluate("document.activeElement.closest('[data-word]').dataset.word"))
    assert stops == ["6", "7", "13", "15"]
    label = "document.activeElement.getAttribute('aria-label')"
    page.locator('.bar[data-id="-1.5"]').focus()
    assert page.evaluate(label) == "key: “her”, Lea; A: with Nora, wrong entity"
    assert page.locator("#tip").inner_text() == page.evaluate(label)
    press(page, "ArrowRight")
    assert page.evaluate(label) == "A: “her” with Nora, wrong entity"
    press(page, "ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight")
    assert page.evaluate(label).startswith("key: “the old key of the tower”")
    press(page, "Enter")
    assert page.get_by_role("region", name="Entity").get_by_role("heading").inner_text() == (
        "the old key"
    )
    press(page, "Escape")
    assert not page.get_by_role("region", name="Entity").is_visible()


def test_following_an_entity(open_page):
    page = open_page()
    page.get_by_role("button", name="Nora").first.click()
    card = page.get_by_role("region", name="Entity")
    assert "A: of 4 mentions 3 with Nora, right; 1 missing" in card.inner_text()
    followed = page.locator(".word:has(> .on)").evaluate_all(
        "words => words.map(w => w.dataset.word)"
    )
    assert set(followed) == {"0", "4", "6", "15", "19"}  # A has "her" among them
    press(page, "2")
    assert "2 apart, with She, wrong entity" in card.inner_text()


def test_a_followed_entity_comes_into_sight(open_page):
    page = open_page("chapter")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.get_by_role("button", name="Lea").first.click()
    box = page.locator('[data-word="2"]').first.bounding_box()
    assert 0 < box["y"] < 720


def test_words_are_the_targets_of_fingers(browser, folder):
    context = browser.new_context(has_touch=True, viewport={"width": 420, "height": 800})
    page = context.new_page()
    page.goto(f"file://{folder}/story.html")
    word = page.locator('#text [data-word="11"]').first
    word.tap()
    assert page.locator("#entity h3").inner_text() == "the tower"
    word.tap()
    assert page.locator("#entity h3").inner_text() == "the old key"
    context.close()


def test_copying(open_page):
    page = open_page()
    copied = page.get_by_label("Quotation")
    press(page, "j")
    page.get_by_role("button", name="copy as text").click()
    lines = copied.input_value().splitlines()
    assert lines[0] == "tower, sentence 2: wrong entity"
    assert lines[1] == (
        "[She]^A_A gave [her]^B_A [the old key of [the tower]^D_D]^C[,]_C and [∅]^A left [it]^C_C."
    )
    assert lines[-1] == "#tower/A/6"
    page.get_by_role("button", name="as LaTeX example").click()
    latex = copied.input_value()
    # It is selected, so that it is copied.
    assert page.evaluate("getSelection().toString()") == latex
    assert r"{[}her]$^{\mathrm{B}}_{\mathrm{A}}$" in latex
    assert r"{[}$\emptyset$]$^{\mathrm{A}}$" in latex


def test_singletons_are_off_where_there_are_some(open_page):
    page = open_page("singletons")
    tower = page.get_by_role("button", name="key: “the tower”")
    assert tower.count() == 0
    page.get_by_role("button", name="singletons").click()
    assert tower.count() == 1


def test_letters(open_page):
    page = open_page()
    press(page, "L")
    letter = "bar => getComputedStyle(bar, '::before').content"
    assert page.locator('.bar[data-id="-1.4"]').evaluate(letter) == '"B"'
    assert page.locator('.bar[data-id="0.2"]').evaluate(letter) == '"A"'


def test_a_private_key_is_not_there(open_page):
    page = open_page("private")
    assert read_bars(page, "above") == {}
    assert {bar["kind"] for bar in read_bars(page, "below").values()} == {"unjudged"}
    assert page.get_by_text("the key of these documents is private").is_visible()
    page.get_by_role("button", name="Nora").first.click()
    assert "A: of 4 mentions" in page.locator("#card").inner_text()
    press(page, "j", "2", "3")


def test_hostile_text_stays_text(open_page):
    page = open_page("hostile")
    press(page, "j", "3", "j")
    assert page.locator("img").count() == 0
    assert HOSTILE[0] in page.locator("#text").inner_text()
    page.locator("#text .word").first.click()
    assert page.locator("#entity h3").first.inner_text() == "<script>alert(1)</script>"


def test_right_to_left(open_page):
    page = open_page("hebrew")
    first, second = (page.locator(f'#text [data-word="{word}"]').first for word in (4, 6))
    assert first.bounding_box()["x"] > second.bounding_box()["x"]
    # Latin words keep their order.
    text = page.locator("#text p").nth(2)
    rectangles = text.evaluate("""p => {
        const range = document.createRange();
        const walker = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
        const lefts = {};
        for (let text = walker.nextNode(); text; text = walker.nextNode())
            for (const name of ['Tower', 'Bridge']) {
                const at = text.data.indexOf(name);
                if (at < 0) continue;
                range.setStart(text, at);
                range.setEnd(text, at + name.length);
                lefts[name] = range.getBoundingClientRect().left;
            }
        return lefts;
    }""")
    assert rectangles["Tower"] < rectangles["Bridge"]
    page.locator('.bar[data-id="-1.0"]').focus()
    press(page, "ArrowLeft", "ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.id") == "-1.4"


def test_only_what_is_in_sight_is_drawn(open_page):
    page = open_page("long")
    drawn = (
        "document.querySelectorAll('.drawn').length / document.querySelectorAll('#text p').length"
    )
    assert page.evaluate("JSON.parse(data.textContent).documents[0].words.length") > 100_000
    assert page.evaluate(drawn) < 0.02
    page.evaluate("location.hash = '#tower/A/54006'")
    page.get_by_role("region", name="Error").wait_for()
    box = page.locator('[data-word="54006"]').bounding_box()
    assert 0 < box["y"] < 720
    assert page.evaluate(drawn) < 0.02


def test_paper_has_all_of_the_text(open_page):
    page = open_page("chapter")
    assert page.locator("#text p:not(.drawn)").count() > 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#text p:not(.drawn)").count() == 0
    assert not page.locator("#tools").is_visible()


@pytest.mark.parametrize("name", ["story", "hebrew", "private"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 760, 1440])
def test_rules_of_accessibility(open_page, name, scheme, width):
    settings = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    page = open_page(name, reduced_motion="reduce", **settings)
    for keys in ([], ["3", "j"], ["Escape", "L"]):
        press(page, *keys)
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert {"color-contrast", "button-name"} <= {
            rule["id"] for rule in found.response["passes"]
        }
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Nora").first.click()
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_the_policy_allows_nothing_inline(open_page):
    policy = open_page().locator("meta[http-equiv]").get_attribute("content")
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")
