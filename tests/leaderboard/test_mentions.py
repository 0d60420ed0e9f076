"""Pages with the mentions of submissions: linked by the page of a leaderboard, and as detailed results on Codabench."""

import json
import re

import pytest
from shared.boards import make_store, run_judge, send
from shared.codabench import add_submission, lay_out, run_here, zip_files
from shared.coreference import write_jsonl

import closeread
from closeread.leaderboard.codabench.bundle import BundleSettings, make_bundle
from closeread.leaderboard.declaration import make_board

KEY = {"letter": [[[0, 0], [2, 3]], [[5, 5], [7, 9]]]}
RIGHT = {"letter": [[[0, 0], [2, 3]], [[5, 5]]]}


def read_data(page):
    """What a page with mentions shows."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    )


def list_mentions(side):
    return sorted(tuple(mention[:2]) for mention in side["mentions"])


@pytest.fixture
def files(tmp_path):
    write_jsonl(tmp_path / "key.jsonl", KEY)
    write_jsonl(tmp_path / "response.jsonl", RIGHT)
    return tmp_path


def build(folder, *, private, gold=True):
    """Judge a submission, build the page; return the id of the submission."""
    key = folder / "key.jsonl"
    board = make_board("coref", gold=key, private=private)
    store = make_store(folder / "board", board)
    submission = send(store, folder / "response.jsonl", "Mine")
    run_judge(store, folder, {board.name: key})
    golds = [key] if gold else []
    closeread.build_leaderboard(folder / "board", output=folder / "site/index.html", gold=golds)
    return submission


def test_a_page_links_the_mentions_of_each_system(files):
    (files / "site").mkdir()
    submission = build(files, private=False)
    link = f"systems/{submission}.html"
    assert f'"mentions":"{link}"' in (files / "site/index.html").read_text()
    data = read_data((files / "site" / link).read_text())
    (document,) = data["documents"]
    assert [system["name"] for system in data["systems"]] == ["Mine"]
    assert list_mentions(document["key"]) == [(0, 0), (2, 3), (5, 5), (7, 9)]
    assert list_mentions(document["systems"][0]) == [(0, 0), (2, 3), (5, 5)]


@pytest.mark.parametrize(("private", "public"), [(True, 0), (False, 1)])
def test_a_space_has_the_pages_that_it_links(files, private, public, monkeypatch):
    (files / "site").mkdir()
    submission = build(files, private=private)
    published = {}

    def keep(plan, *arguments, **options):
        published.update(plan.files)

    monkeypatch.setattr("closeread.operations.publishing._publish", keep)
    closeread.publish_leaderboard(files / "board", "lab/board", gold=[files / "key.jsonl"])
    link = f"systems/{submission}.html"
    assert published["index.html"].decode().count(f'"mentions":"{link}"') == public
    assert sum(path.startswith("systems/") for path in published) == public
    if public:
        assert read_data(published[link].decode())["systems"][0]["name"] == "Mine"


@pytest.mark.parametrize(("private", "gold"), [(True, True), (False, False)])
def test_there_is_no_link_without_gold_that_may_be_shown(files, private, gold):
    (files / "site").mkdir()
    build(files, private=private, gold=gold)
    assert '"mentions":' not in (files / "site/index.html").read_text()
    assert [path.name for path in (files / "site").iterdir()] == ["index.html"]


def test_there_is_no_link_without_predictions(files):
    (files / "site").mkdir()
    build(files, private=False)
    (predictions,) = (files / "board/submissions").rglob("*.jsonl*")
    predictions.unlink()
    page = files / "site/index.html"
    closeread.build_leaderboard(files / "board", output=page, gold=[files / "key.jsonl"])
    assert '"mentions":' not in page.read_text()


CONLL = "#begin document (d); part 000\nd 0 0 {} (1)\nd 0 1 b {}\nd 0 2 c (1)\n\n#end document\n"
"""The second word is a mention of the key only."""


def run_program(folder, name, response, *, gold, public_gold=False):
    """Score a response by a bundle, and return the page of detailed results."""
    settings = BundleSettings(public_gold=public_gold)
    place = folder / "task"
    make_bundle("coref", place, settings, gold=folder / gold, archive=True)
    app = folder / "app"
    lay_out(folder / "task.zip", app)
    add_submission(app, zip_files(folder / "s.zip", {name: response}))
    done = run_here(app)
    assert done.code == 0, done.said
    return (done.output / "detailed_results.html").read_text()


def test_detailed_results_of_private_gold_have_nothing_of_the_key(tmp_path):
    (tmp_path / "key.conll").write_text(CONLL.format("a", "(2)"))
    data = read_data(run_program(tmp_path, "r.conll", CONLL.format("a", "-"), gold="key.conll"))
    (document,) = data["documents"]
    assert document["words"] == ["a", "b", "c"]
    assert document["key"] is None
    (system,) = document["systems"]
    assert list_mentions(system) == [(0, 0), (2, 2)]
    assert (system["aligned"], system["score"]) == ([-1], None)
    assert "counts" not in system
    # the key has a mention alone in its entity, the response has none
    assert not data["has_singletons"]
    assert data["systems"][0]["counts"]["missing mention"] == 1
    # MUC 1, B3 with recall 2/3 (F1 4/5), CEAFe with recall 1/2 (F1 2/3)
    values = {score["name"]: score["value"] for score in data["systems"][0]["scores"]}
    assert values[data["measure"]] == round((1 + 4 / 5 + 2 / 3) / 3, 4)


def test_detailed_results_of_private_gold_have_no_words_of_the_key(tmp_path):
    word = "CANARY"
    row = {"document": "letter", "tokens": [word] * 10, "clusters": KEY["letter"]}
    (tmp_path / "key.jsonl").write_text(json.dumps(row) + "\n")
    write_jsonl(tmp_path / "r.jsonl", RIGHT)
    response = (tmp_path / "r.jsonl").read_text()
    page = run_program(tmp_path, "r.jsonl", response, gold="key.jsonl")
    assert word in (tmp_path / "app/input/ref/key.jsonl").read_text()
    assert word not in page
    (document,) = read_data(page)["documents"]
    # without words, tokens up to the last mention of the response
    assert document["words"] == list(map(str, range(6)))


def test_detailed_results_of_public_gold_show_it(tmp_path):
    (tmp_path / "key.conll").write_text(CONLL.format("a", "(2)"))
    response = CONLL.format("a", "-")
    page = run_program(tmp_path, "r.conll", response, gold="key.conll", public_gold=True)
    (document,) = read_data(page)["documents"]
    assert list_mentions(document["key"]) == [(0, 0), (1, 1), (2, 2)]
    (system,) = document["systems"]
    assert (system["aligned"], system["counts"]["missing mention"]) == ([0], 1)
