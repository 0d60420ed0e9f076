"""Every door through which a stranger's file comes to an organiser, and the same bombs through each of them.

Codabench's program runs in a container of the platform; `test_codabench_program` sends it what is bad.
"""

import gzip
import io
import json
import zipfile
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.boards import make_store, run_judge, sample_board, send, small_limits
from shared.extras import find_lacking
from shared.fake_hub import comments, fake_hub
from shared.hub_boards import BOARD, DATASET, STORE, closeread

from closeread.exceptions import InputError
from closeread.leaderboard.store_files import digest, write_json
from closeread.scoring import Scorer

MEBIBYTE = 2**20
READ = Scorer.read
LIMITS = small_limits(bytes=2 * MEBIBYTE, seconds=8, memory=400 * MEBIBYTE)


def make_parquet():
    """A few kilobytes that become ten million rows: a dictionary of one text."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000_000, pa.int32()), ["x" * 100])
    out = io.BytesIO()
    pq.write_table(pa.table({"id": column}), out, compression="zstd")
    return out.getvalue()


BOMBS = {
    "ten million rows.jsonl": make_parquet,
    "zeros.jsonl.gz": lambda: gzip.compress(b"\0" * 40 * MEBIBYTE),
    "nested.jsonl": lambda: b"[" * MEBIBYTE,
    "keys.jsonl": lambda: b"{" + b",".join(b'"%d":0' % n for n in range(120_000)) + b"}\n",
    "blanks.jsonl": lambda: b"\n" * MEBIBYTE,
}


@pytest.fixture(scope="module")
def bombs():
    """What explodes when it is read, by name."""
    return {name: make() for name, make in BOMBS.items()}


@pytest.fixture(autouse=True)
def _wall():
    """Nothing of a stranger is parsed in this process; workers are others."""
    with mock.patch.object(Scorer, "read", side_effect=AssertionError("read outside of the wall")):
        yield


def make_by_hand(path):
    """The files of a submission, written by somebody who does not use our commands."""
    data = path.read_bytes()
    suffix = "".join(Path(path.name.replace(" ", "")).suffixes)
    predictions = f"submissions/{BOARD}/{digest(data)[:2]}/{digest(data)}{suffix}"
    about = write_json(
        {"format": 1, "board": BOARD, "predictions": predictions, "system": "Bomb"}
        | {"model": None, "paper": None, "code": None, "description": ""}
    )
    described = f"submissions/{BOARD}/{digest(about)[:2]}/{digest(about)}.json"
    return {predictions: data, described: about}


def by_file(folder, run, path):
    """Files that somebody puts into the folder of the leaderboard, which the judge reads."""
    store = make_store(folder / "board", sample_board(limits=LIMITS))
    store.send(make_by_hand(path), "", "")
    judged = run_judge(store, folder)
    assert not judged.accepted
    return "\n".join(judged.refused)


def by_packed_folder(folder, ran, path):
    """A folder of files, packed by the participant."""
    store = make_store(folder / "board", sample_board(limits=LIMITS))
    inside = folder / "files"
    inside.mkdir()
    (inside / path.name).write_bytes(path.read_bytes())
    try:
        send(store, inside, "Bomb")
    except InputError as error:  # by what the participant runs
        return str(error)
    judged = run_judge(store, folder)
    assert not judged.accepted
    return "\n".join(judged.refused)


def by_submitting_for_a_team(folder, run, path, *options):
    """A file that a team mails to the organiser, who submits it, or only checks it."""
    store = make_store(folder / "board", sample_board(limits=LIMITS))
    submit = ["submit", "mctaco", path, "--system", "Bomb", "--author", "Eve", "--to", store.place]
    done = run(*submit, *options)
    assert done.exit_code == 1, done.stdout
    assert not Path(store.place, "submissions").exists()
    return done.stderr


def by_checking_for_a_team(folder, run, path):
    return by_submitting_for_a_team(folder, run, path, "--dry-run")


def by_log(folder, run, path):
    """A log of a language model, as an archive and as it is."""
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    store = make_store(folder / "board", sample_board(limits=LIMITS))
    archive = folder / "log.eval"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        for name in ("header.json", "samples/1_epoch_1.json"):
            members.writestr(name, path.read_bytes())
    plain = folder / "log.json"
    plain.write_bytes(path.read_bytes())
    said = ""
    for log in (archive, plain):
        submit = ["submit", "mctaco", "--log", log, "--system", "Bomb", "--author", "Eve"]
        done = run(*submit, "--to", store.place)
        assert done.exit_code == 1, done.stdout
        said += done.stderr
    return said


def by_pull_request(folder, run, path):
    """A pull request on the Hub, with whatever is in it."""
    if find_lacking("hub"):
        pytest.skip("the extra hub is not installed")
    with fake_hub(folder / "hub") as hub:
        hub.add_user("olga", orgs=["lab"])
        hub.add_user("eve")
        init = (
            f"leaderboard init {STORE} --corpus mctaco --config sample --max-bytes {2 * MEBIBYTE}"
        )
        closeread(hub, "olga", *init.split())
        declared = json.loads(hub.files(DATASET)["leaderboard.json"])
        declared["boards"][0]["limits"] |= {"seconds": LIMITS.seconds, "memory": LIMITS.memory}
        hub.commit(DATASET, "dataset", {"leaderboard.json": write_json(declared)})
        hub.open_pull_request(DATASET, "dataset", "eve", make_by_hand(path))
        judge = ["leaderboard", "judge", STORE, "--workers", "1", "--json"]
        judged = json.loads(closeread(hub, "olga", *judge))
        assert not judged["accepted"] + judged["errors"]
        return comments(hub.discussions(DATASET)[0])[-1][1]


DOORS = [
    by_file,
    by_packed_folder,
    by_submitting_for_a_team,
    by_checking_for_a_team,
    by_log,
    by_pull_request,
]


@pytest.mark.extended
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize("bomb", BOMBS)
def test_no_bomb_explodes_behind_any_door(tmp_path, run, bombs, bomb, door):
    path = tmp_path / bomb
    path.write_bytes(bombs[bomb])
    said = door(tmp_path, run, path)
    assert said
    assert "Traceback" not in said
    assert len(said) < 20_000


def test_a_bomb_is_refused_behind_the_door_of_the_organiser(tmp_path, run, bombs):
    """The first that every change of the wall meets."""
    path = tmp_path / "keys.jsonl"
    path.write_bytes(bombs["keys.jsonl"])
    assert by_submitting_for_a_team(tmp_path, run, path)


def test_what_a_team_hands_in_is_checked_as_ones_own_is(tmp_path, run):
    """The same problems in the same words, whoever submits."""
    store = make_store(tmp_path / "board", sample_board())
    (tmp_path / "draft.jsonl").write_text('{"id": "test-00000", "label": "maybe"}\n')
    submit = ["submit", "mctaco", tmp_path / "draft.jsonl", "--system", "S", "--to", store.place]
    with mock.patch.object(Scorer, "read", READ):
        own = run(*submit)
    handed_in = run(*submit, "--author", "Ann")
    assert own.exit_code == handed_in.exit_code == 1
    assert own.stderr == handed_in.stderr
    assert "'maybe' is not one of 'no', 'yes'" in own.stderr
