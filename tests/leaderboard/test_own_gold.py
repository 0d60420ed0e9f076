"""Boards on an organiser's own gold, which is private: nothing about single units leaves the judge."""

import gzip
import json
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.boards import make_store, read_tree, run_judge, send, write_rows
from shared.conll_documents import as_ontonotes
from shared.entry_points import sample_gold, system_rows

from closeread.exceptions import InputError, RequestError, SubmissionError
from closeread.leaderboard.declaration import Limits, make_board
from closeread.leaderboard.page import list_commands
from closeread.leaderboard.submission import (
    check_predictions,
    make_submission,
    pack_folder,
    unpacked,
    write_predictions,
)

KEY = """#begin document (one); part 000
one 0 0 She (1)
one 0 1 saw -
one 0 2 Mia (2)
one 0 3 her (1)

#end document
#begin document (two); part 000
two 0 0 He (5)
two 0 1 left (5)

#end document
"""
RESPONSE = as_ontonotes(KEY.replace("one 0 2 Mia (2)", "one 0 2 Mia (1)"))


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key.conll"
    path.write_text(KEY, "utf-8")
    return path


@pytest.fixture
def response(tmp_path):
    path = tmp_path / "response.conll"
    path.write_text(RESPONSE, "utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    """The response as a folder of two files."""
    folder = tmp_path / "responses"
    folder.mkdir()
    one, _, two = RESPONSE.partition("#begin document (two)")
    (folder / "one.conll").write_text(one, "utf-8")
    (folder / "two.conll").write_text(f"#begin document (two){two}", "utf-8")
    return folder


@pytest.mark.usefixtures("workers")
def test_coreference_is_judged_against_a_key(tmp_path, key, response, ran):
    board = make_board("coref", gold=key)
    assert (board.name, board.private, board.headline) == ("coref/test", True, "conll/f1")
    store = make_store(tmp_path / "board", board)
    name = send(store, response, "Mine")
    run_judge(store, tmp_path, {"coref/test": key})
    (row,) = store.read_index()["boards"][0]["rows"]
    assert row["id"] == name
    scores = json.loads(ran("score", "coref", key, response, "--json"))["scores"]
    assert {n: round(s["value"], 4) for n, s in scores.items()} == {
        n: s["value"] for n, s in row["scores"].items()
    }
    assert row["counts"] is None


def test_the_gold_must_be_given_and_be_the_one(tmp_path, key, response):
    store = make_store(tmp_path / "board", make_board("coref", gold=key))
    with pytest.raises(RequestError, match="give it with gold="):
        run_judge(store, tmp_path)
    with pytest.raises(RequestError, match="no such board"):
        run_judge(store, tmp_path, {"coref/other": key})
    with pytest.raises(RequestError, match="not the gold that coref/test was made for"):
        run_judge(store, tmp_path, {"coref/test": response})


def test_submitters_without_the_gold_check_form_and_documents(tmp_path, key, response):
    board = make_board("coref", gold=key, options={"missing": "error"})
    assert "with its organisers" in check_predictions(board, None, response)[0][0]
    response.write_text(
        RESPONSE.split("#begin document (two)")[0].replace("(one)", "(three)"), "utf-8"
    )
    with pytest.raises(SubmissionError) as caught:
        check_predictions(board, None, response)
    assert len(caught.value.problems) == 2


def test_rows_are_checked_by_their_ids_without_the_gold(tmp_path):
    rows = [
        {
            "sentence": "Ana ran.",
            "question": "How long?",
            "answer": a,
            "label": "yes",
            "category": "Event Duration",
        }
        for a in ("an hour", "a year")
    ]
    numbered = [
        {"id": f"mine-{n:05}", "question_id": "mine-q0000", "sentence_id": "mine-s0000", **row}
        for n, row in enumerate(rows)
    ]
    board = make_board("mctaco", gold=write_rows(tmp_path / "gold.jsonl", numbered))
    assert board.ids == ("mine-00000", "mine-00001")
    right = write_rows(
        tmp_path / "right.jsonl", [{"id": name, "label": "no"} for name in board.ids]
    )
    assert check_predictions(board, None, right)
    wrong = write_rows(tmp_path / "wrong.jsonl", [{"id": "other", "label": "no"}])
    with pytest.raises(SubmissionError, match="2 problems"):
        check_predictions(board, None, wrong)


def test_small_slices_of_private_gold_are_not_published(tmp_path):
    fields = {"sentence": "Ana ran.", "question": "How long?", "label": "yes"}
    rows = [
        {
            "id": f"mine-{n:05}",
            "question_id": f"mine-q{n:04}",
            "sentence_id": f"mine-s{n:04}",
            **fields,
            "answer": f"{n} hours",
            # 3, 12 and 20 questions: the score of the 3 would follow from those of all and of the two others.
            "category": "Frequency" if n < 3 else "Event Duration" if n < 15 else "Typical Time",
        }
        for n in range(35)
    ]
    gold = write_rows(tmp_path / "gold.jsonl", rows)
    board = make_board("mctaco", gold=gold)
    store = make_store(tmp_path / "board", board)
    send(
        store,
        write_rows(tmp_path / "p.jsonl", [{"id": r["id"], "label": "yes"} for r in rows]),
        "Yes",
    )
    run_judge(store, tmp_path, {board.name: gold})
    row = next(row for row in store.read_index()["boards"][0]["rows"] if row["kind"] == "system")
    assert list(row["slices"]["category"]) == ["Typical Time"]


def test_what_was_submitted_is_downloaded_as_it_was(
    tmp_path, key, response, folder, ran, monkeypatch
):
    store = make_store(tmp_path / "board", make_board("coref", gold=key, private=False))
    names = {"file": send(store, response, "File"), "folder": send(store, folder, "Folder")}
    run_judge(store, tmp_path, {"coref/test": key})
    ran("leaderboard", "download", store.place, names["file"][:12], "-o", "copy.conll")
    assert (tmp_path / "copy.conll").read_text("utf-8") == RESPONSE
    ran("leaderboard", "download", store.place, names["folder"], "-o", "copy")
    assert read_tree(tmp_path / "copy") == read_tree(folder)
    (row,) = [
        row for row in store.read_index()["boards"][0]["rows"] if row["id"] == names["folder"]
    ]
    download, score = row["reproduce"].split(" && ")
    assert download == f"closeread leaderboard download . {names['folder'][:12]} -o predictions"
    monkeypatch.chdir(store.place)
    ran(*download.split()[1:])
    assert (
        json.loads(ran(*score.replace("GOLD", str(key)).split()[1:], "--json"))["scores"]
        == row["scores"]
    )


def test_a_folder_of_too_many_files_is_refused(key, folder, monkeypatch):
    monkeypatch.setattr("closeread.limits.MAX_FILES", 1)
    with pytest.raises(InputError, match=r"contains more than 1 files"):
        make_submission(make_board("coref", gold=key), folder, system="Many")


def test_the_lines_inside_a_folder_count(key, folder):
    board = make_board("coref", gold=key, limits=Limits(rows=5))
    submission = make_submission(board, folder, system="Long")
    with (
        pytest.raises(SubmissionError, match=r"has 13 lines \(limit: 5\)"),
        unpacked(submission.predictions, submission.about.predictions, board.limits),
    ):
        pass


def test_boards_do_not_skip_broken_files(tmp_path, key, folder, run, ran):
    arguments = [
        "leaderboard",
        "init",
        str(tmp_path / "b"),
        "--procedure",
        "coref",
        "--gold",
        str(key),
    ]
    done = run(*arguments, "--option", "skip_invalid=true")
    assert done.stderr == (
        "Error: a board can't use --option skip_invalid=true: it must refuse broken submissions, "
        "not skip their files\n"
    )
    (folder / "two.conll").write_text("#begin document (two)\nHe\t(5\n#end document\n", "utf-8")
    board = make_board("coref", gold=key)
    with pytest.raises(SubmissionError, match=r"never closes$"):
        check_predictions(board, board.open_scorer(key), folder)


def test_boards_refuse_parquet(tmp_path, key):
    row = {"id": "one", "sentences": [{"tokens": [{"text": "Ida"}]}], "coref_chains": [[[0, 0, 0]]]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "x.parquet")
    data = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "plain.conll").write_bytes(data)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "x.parquet").write_bytes(data)
    board = make_board("coref", gold=key)
    for name in ("x.parquet", "plain.conll", "more"):
        with pytest.raises(SubmissionError, match="is a Parquet file, which no board reads"):
            make_submission(board, tmp_path / name, system="Binary")
    names = ("x.parquet", ""), ("dev/X.Parquet.gz", ""), ("a.conll", "PAR1 ")
    packed = [json.dumps({"name": name, "text": text}).encode() for name, text in names]
    stored = [(data, "a.conll"), (gzip.compress(data), "a.txt.gz")]
    for found, path in [*stored, *((row, "a.files.jsonl") for row in packed)]:
        with (
            pytest.raises(SubmissionError, match="is a Parquet file, which no board reads"),
            unpacked(found, path, board.limits),
        ):
            pass


def test_subfolders_are_packed(tmp_path):
    folder = tmp_path / "responses"
    (folder / "dev").mkdir(parents=True)
    (folder / "dev" / "a.txt").write_text("é\r\n\t", "utf-8", newline="")
    (folder / "b.txt").write_text("", "utf-8")
    write_predictions(tmp_path / "again", pack_folder(folder, 1000), "x.files.jsonl")
    assert read_tree(tmp_path / "again") == read_tree(folder)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "a/b"], "a: is both a file and a folder"),
        (["../a"], "1: name is not a plain name of a file"),
        (["a//b"], "1: name is not a plain name of a file"),
        (["/".join("a" * 11)], "1: name is not a plain name of a file"),
    ],
)
def test_hostile_names_in_a_packed_folder_are_refused(tmp_path, names, expected):
    data = "".join(json.dumps({"name": name, "text": ""}) + "\n" for name in names).encode()
    with pytest.raises(SubmissionError, match=expected):
        write_predictions(tmp_path / "out", data, "x.files.jsonl")
    assert not (tmp_path / "out").exists()


def test_the_page_of_own_gold_of_a_corpus_shows_a_command_that_works(tmp_path, monkeypatch, ran):
    monkeypatch.chdir(tmp_path)
    gold = [{**row, "id": f"own-{row['id']}"} for row in sample_gold("mctaco")]
    rows = [{**row, "id": f"own-{row['id']}"} for row in system_rows("mctaco")]
    write_rows(tmp_path / "gold.jsonl", gold)
    write_rows(tmp_path / "PREDICTIONS", rows)
    ran("leaderboard", "init", "board", "--corpus", "mctaco", "--gold", "gold.jsonl")
    ran("leaderboard", "judge", "board", "--gold", "gold.jsonl")
    (board,) = json.loads(ran("leaderboard", "show", "board", "--json"))["boards"]
    assert board["title"] == "McTaco"  # there is no split
    install, check, submit = list_commands(board, "board")
    assert install == "pip install closeread"
    assert ran(*shlex.split(check)[1:]).startswith("PREDICTIONS: valid")
    assert "submitted to mctaco/test" in ran(*shlex.split(submit)[1:])
