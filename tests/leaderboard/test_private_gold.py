"""Private boards of every procedure: nothing of the gold is in anything that is published."""

from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from shared.boards import NOON, make_store, read_tree, run_judge, send, write_rows
from shared.conll_documents import as_ontonotes
from shared.entry_points import sample_gold, system_rows, timeml

from closeread.exceptions import SubmissionError
from closeread.leaderboard.declaration import Limits, make_board
from closeread.leaderboard.names import write_time
from closeread.leaderboard.page import render_page
from closeread.leaderboard.scoring import UNFIT
from closeread.leaderboard.store_files import store_path
from closeread.leaderboard.submission import check_predictions, request_bytes

KEY = """#begin document (tea); part 000
tea 0 0 CANARY-Ada (1)
tea 0 1 poured -
tea 0 2 CANARY-herself (1)

#end document
"""
LINKS = timeml("ei1 BEFORE ei2", "ei2 INCLUDES ei3").replace('eid="e1">ran', 'eid="e1">CANARY-ran')


def write_text(path, text):
    """Write a file, in a folder of its own if need be."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def write_folder(folder, **files):
    """Write a folder of TimeML files."""
    for name, text in files.items():
        write_text(folder / f"{name}.tml", text)
    return folder


def responses(folder):
    """Coreference: right, of other words, longer than the key, with mentions beyond it, and broken."""
    other = KEY.replace("CANARY-Ada", "Eva").replace("CANARY-herself", "her")
    longer = other.replace("\n\n#end", "\ntea 0 3 again -\n\n#end")
    far = [{"document": "tea; part 000", "clusters": [[[0, 0], [2, 9]]]}]
    yield write_text(folder / "right.conll", KEY)
    yield write_text(folder / "words.conll", as_ontonotes(other))
    yield write_text(folder / "longer.conll", longer)
    yield write_rows(folder / "far.jsonl", far)
    yield write_text(folder / "broken.conll", other.replace("(1)", "(1"))


def links(folder):
    """TimeML: right, of another text, of other ids, of another document, and broken."""
    yield write_folder(folder / "right", a=LINKS)
    yield write_folder(folder / "text", a=LINKS.replace("CANARY-ran", "sat"))
    exchanged = {'ID="e1"': 'ID="e9"', 'ID="e2"': 'ID="e1"', 'ID="e9"': 'ID="e2"'}
    yield write_folder(
        folder / "ids", a=reduce(lambda text, pair: text.replace(*pair), exchanged.items(), LINKS)
    )
    yield write_folder(folder / "other", b=LINKS)
    yield write_folder(folder / "broken", a=LINKS.replace("</TEXT>", ""))


def rows(corpus, key, items):
    """Of a corpus: right, without half of the ids, of an unknown id, without the content, and broken."""

    def write(folder):
        right = system_rows(corpus)
        yield write_rows(folder / "right.jsonl", right)
        yield write_rows(folder / "half.jsonl", right[::2])
        yield write_rows(folder / "unknown.jsonl", [*right, {**right[0], key: "unknown"}])
        yield write_rows(
            folder / "wrong.jsonl", [{**row, items: [{"anchor": "nowhere"}]} for row in right]
        )
        yield write_text(folder / "broken.jsonl", "{\n")

    return write


class Case(NamedTuple):
    """A private board.

    Attributes:
        gold: writes the gold.
        canaries: texts that are in the gold and in nothing that is published.
        submissions: writes submissions; the first is right, and the last has no valid form.
        options: options of the procedure.
    """

    gold: Callable
    canaries: tuple[str, ...]
    submissions: Callable
    options: Mapping[str, str] = MappingProxyType({})


def write_sample(corpus):
    """Write the sample as somebody's own gold."""
    return lambda folder: write_rows(folder / "gold.jsonl", sample_gold(corpus))


def oracle(folder):
    """Possessions of which all names must be gold names, and of which one is not."""
    *most, broken = rows("wikipossessions", "article", "possessions")(folder)
    right = system_rows("wikipossessions")
    other = [
        {**row, "possessions": [{**one, "possessor": "Nobody"} for one in row["possessions"]]}
        for row in right
    ]
    yield from (*most, write_rows(folder / "oracle.jsonl", other), broken)


CASES = {
    "coref": Case(
        lambda folder: write_text(folder / "key.conll", KEY),
        ("CANARY",),
        responses,
        {"missing": "error"},
    ),
    "tlinks": Case(
        lambda folder: write_folder(folder / "key", a=LINKS),
        ("CANARY",),
        links,
        {"missing": "error"},
    ),
    "semeval2015_timeline": Case(
        write_sample("semeval2015_timeline"),
        ("101-2-called", "2014-03-03", "ordered"),
        rows("semeval2015_timeline", "id", "entries"),
    ),
    "tne": Case(write_sample("tne"), ("sandbank", "Gannet"), rows("tne", "id", "relations")),
    "wikipossessions": Case(
        write_sample("wikipossessions"),
        ("Brinkmann", "1641", "Coopers"),
        oracle,
        {"scenario": "oracle"},
    ),
}


@pytest.fixture(params=CASES)
def name(request):
    return request.param


@pytest.fixture
def case(name):
    return CASES[name]


@pytest.fixture
def gold(case, tmp_path):
    return case.gold(tmp_path)


@pytest.fixture
def board(name, case, gold):
    return make_board(name, gold=gold, options=case.options, limits=Limits(per_day=100))


def list_submissions(case, folder):
    (made := folder / "predictions").mkdir()
    return list(case.submissions(made))


def test_gold_is_in_nothing_that_is_published(case, board, gold, tmp_path, run):
    store = make_store(tmp_path / "board", board)
    paths = list_submissions(case, tmp_path)
    ids = [send(store, path, path.name) for path in paths]
    signature = {"author": store.name_author(None), "submitted": write_time(NOON)}
    request = request_bytes(ids[1], signature)
    store.send({store_path("withdrawals", board.name, ids[1]): request}, "", "")
    printed = [
        run("leaderboard", "judge", store.place, "--gold", gold, "--cache", tmp_path / "cache"),
        run("leaderboard", "status", store.place),
        run("leaderboard", "status", store.place, "--json"),
        run("leaderboard", "show", store.place, "--format", "csv"),
    ]
    published = {
        path: data
        for path, data in read_tree(store.place).items()
        if not path.startswith("submissions/")
    }
    published["index.html"] = render_page(store.read_index()).encode()
    published |= {f"output {number}": done.output.encode() for number, done in enumerate(printed)}
    assert all(done.exit_code == 0 for done in printed)
    assert {entry.status for entry in store.read_results(board_of(store)).entries.values()} >= {
        "accepted",
        "refused",
    }
    gold_text = b"".join(
        [gold.read_bytes()] if gold.is_file() else [path.read_bytes() for path in gold.iterdir()]
    )
    for canary in case.canaries:
        assert canary.encode() in gold_text
        assert not [path for path, data in published.items() if canary.encode() in data]


def board_of(store):
    return store.read_leaderboard()


def test_refusals_say_what_follows_without_gold_and_no_more(case, board, gold, tmp_path):
    store = make_store(tmp_path / "board", board)
    sent = {send(store, path, path.name): path for path in list_submissions(case, tmp_path)}
    run_judge(store, tmp_path, {board.name: gold})
    found = 0
    for name, entry in store.read_results(board_of(store)).entries.items():
        try:
            check_predictions(board, None, sent[name])
        except SubmissionError as error:
            known = [problem.at("predictions") for problem in error.problems]
            assert entry.status == "refused"
            assert list(entry.problems) == known
            found += 1
        else:
            assert entry.status == "accepted" or entry.problems == (f"predictions: {UNFIT}",)
    assert found


def test_right_predictions_pass_the_check_without_gold(case, board, tmp_path):
    right, *_, broken = list_submissions(case, tmp_path)
    assert check_predictions(board, None, right)[1] is None
    with pytest.raises(SubmissionError):
        check_predictions(board, None, broken)


def test_what_does_not_fit_the_gold_is_told_without_the_gold(tmp_path):
    """Of each kind of problem whose usual message quotes the gold, there is one here."""
    hidden = {"coref": ["words.conll", "longer.conll", "far.jsonl"], "tlinks": ["text", "ids"]}
    hidden["wikipossessions"] = ["oracle.jsonl"]
    for name, files in hidden.items():
        (folder := tmp_path / name).mkdir()
        case = CASES[name]
        gold = case.gold(folder)
        board = make_board(name, gold=gold, options=case.options)
        store = make_store(folder / "board", board)
        sent = {
            send(store, path, path.name, author=path.stem): path.name
            for path in list_submissions(case, folder)
        }
        run_judge(store, folder, {board.name: gold})
        entries = store.read_results(board_of(store)).entries
        unfit = {
            sent[one]
            for one, entry in entries.items()
            if entry.problems == (f"predictions: {UNFIT}",)
        }
        assert unfit == set(files)


def test_arrays_of_links_can_be_checked_without_the_documents(tmp_path):
    board = make_board("tne", gold=write_rows(tmp_path / "gold.jsonl", sample_gold("tne")))
    labels = {"predicted_prepositions": [0, 1, 0, 0]}  # of 2 noun phrases
    right = write_rows(tmp_path / "right.jsonl", [labels] * len(board.ids))
    assert check_predictions(board, None, right)
    uneven = {"predicted_prepositions": [0, 1, 0]}
    with pytest.raises(SubmissionError, match="3 labels"):
        check_predictions(
            board, None, write_rows(tmp_path / "wrong.jsonl", [uneven] * len(board.ids))
        )


def test_own_gold_that_is_public_can_be_submitted_to_without_it(tmp_path):
    key = write_text(tmp_path / "key.conll", KEY)
    board = make_board("coref", gold=key, private=False)
    assert not board.private
    assert check_predictions(board, None, Path(key))
