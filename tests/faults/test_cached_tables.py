"""Cached tables that are damaged in every way, built by many processes at once, and of files that change meanwhile."""

import os
import shutil
from pathlib import Path

import datasets
import pytest
from shared.file_events import finish, kill_everywhere, start
from shared.file_sizes import small_files

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import ChecksumError, CloseReadWarning, FormatError, UnavailableError
from closeread.hf import builder as building
from closeread.hf import reading_code, sealed_tables
from closeread.tasks.mctaco.mctaco_tsv import dump_records


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


def load(**options):
    return list(closeread.load_dataset("mctaco", "sample", split="test", **options))


@pytest.fixture(scope="module")
def rows():
    return list(read_gold(load_corpus("mctaco"), "sample").records)


@pytest.fixture
def table(rows):
    """The folder of a cached table."""
    assert load() == rows
    return Path(closeread.load_dataset_builder("mctaco", "sample").cache_dir)


@pytest.fixture
def unseen(monkeypatch):
    """Warnings are shown again though they have been shown."""
    monkeypatch.setattr("closeread.corpus.notices._shown", set())


NAMES = ("LICENSE", "closeread.json", "dataset_info.json", "mctaco-test.arrow")
TABLE = NAMES[3]


def cut(place):
    return lambda content: content[: int(len(content) * place)]


def flip(place):
    def change(content):
        changed = bytearray(content)
        changed[int((len(content) - 1) * place)] ^= 4
        return bytes(changed)

    return change


DAMAGE = {
    **{f"cut at {place}": cut(place) for place in (0, 0.01, 0.5, 0.999)},
    **{f"flipped at {place}": flip(place) for place in (0, 0.02, 0.3, 0.5, 0.7, 0.9, 0.99, 1)},
    "longer": lambda content: content + b"\0",
    "twice": lambda content: content * 2,
    "other": lambda content: b"{}",
    "nested": lambda content: b"[" * 100_000,
}


@pytest.mark.gate
@pytest.mark.parametrize("name", NAMES)
def test_damage_is_repaired(table, rows, monkeypatch, name):
    path = table / name
    assert sorted(one.name for one in table.iterdir()) == sorted(NAMES)
    for change in DAMAGE.values():
        content = path.read_bytes()
        assert change(content) != content
        path.write_bytes(change(content))
        monkeypatch.setattr("closeread.corpus.notices._shown", set())
        with pytest.warns(CloseReadWarning, match="a cached table was damaged and is built again: "):
            assert load() == rows
        assert sealed_tables.find_damage(table, up_to=2**30) is None
        assert load() == rows  # without a warning, which would be an error
    for make in (lambda: None, path.mkdir, lambda: path.symlink_to("nowhere")):
        path.unlink()
        make()
        monkeypatch.setattr("closeread.corpus.notices._shown", set())
        with pytest.warns(CloseReadWarning, match=f"is built again: {name} is missing|{sealed_tables.SEAL} is missing"):
            assert load() == rows


def test_what_is_said(table, unseen):
    path = table / TABLE
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(CloseReadWarning) as caught:
        load()
    size = path.stat().st_size
    why = f"{TABLE} has {size - 1:,} bytes (expected {size:,})"
    assert str(caught[0].message) == f"{table}: a cached table was damaged and is built again: {why}"
    assert caught[0].filename == __file__


def test_bare_names_notice_it_too(table, rows, unseen):
    path = table / TABLE
    path.write_bytes(flip(0.5)(path.read_bytes()))
    with pytest.warns(CloseReadWarning, match="has changed: its sha256 is "):
        assert list(datasets.load_dataset("mctaco", "sample", split="test")) == rows


def rot(path):
    """Flip a bit as a disk does: the time of change stays."""
    status = path.stat()
    path.write_bytes(flip(0.5)(path.read_bytes()))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_large_tables_are_digested_if_they_changed_or_are_asked_to_be(table, rows, monkeypatch, unseen):
    for name in ("CHEAP", "SMALL"):
        monkeypatch.setattr(building, name, 0)
        monkeypatch.setitem(building.CHECKED, datasets.VerificationMode.BASIC_CHECKS, 0)
    path = table / TABLE
    rot(path)
    closeread.load_dataset("mctaco", "sample")  # not noticed
    with pytest.warns(CloseReadWarning, match="is built again: mctaco-test.arrow has changed"):
        assert load(verification_mode="all_checks") == rows
    rot(path)
    path.touch()
    monkeypatch.setattr("closeread.corpus.notices._shown", set())
    with pytest.warns(CloseReadWarning, match="is built again: mctaco-test.arrow has changed"):
        assert load() == rows


def test_a_table_that_was_never_prepared_here(table, monkeypatch):
    monkeypatch.setattr(building, "SMALL", 0)  # or a builder of so small a table would notice at once
    path = table / TABLE
    rot(path)
    found = r"mctaco-test\.arrow has changed: its sha256 .*; call download_and_prepare\(\) to build it again"
    with pytest.raises(FormatError, match=found):
        closeread.load_dataset_builder("mctaco", "sample").as_dataset()


def test_damage_that_can_not_be_repaired(table, monkeypatch):
    (table / NAMES[2]).unlink()

    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(UnavailableError) as caught:
        load()
    why = "is damaged (dataset_info.json is missing) and can't be deleted: Permission denied; delete this folder"
    assert str(caught.value) == f"{table}: {why}"


def test_what_users_add_is_left_alone(table, rows):
    first = closeread.load_dataset("mctaco", "sample", split="test")
    first.map(lambda row: {"n": len(row["answer"])})
    assert len(list(table.iterdir())) > len(NAMES)
    assert load() == rows


@pytest.mark.extended
def test_killed_at_every_change(rows, tmp_path):
    place = tmp_path / "hf"

    def check():
        assert load() == rows
        assert not list(place.glob("**/*.incomplete"))
        assert sorted(path.name for path in place.glob("mctaco/**/*") if path.suffix != ".lock" and path.is_file()) == (
            sorted(NAMES)
        )

    assert kill_everywhere(load, lambda: shutil.rmtree(place, ignore_errors=True), check) > 8


def test_leftovers_don_t_get_into_the_table(rows):
    folder = Path(closeread.load_dataset_builder("mctaco", "sample").cache_dir)
    left = sealed_tables.unfinished(folder)
    (left / "folder").mkdir(parents=True)
    (left / "cache-0.arrow").write_bytes(b"half")
    assert load() == rows
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
    assert not left.exists()


@pytest.mark.extended
def test_twenty_processes_build_one_table_and_seven_are_killed(rows):
    def action():
        assert load() == rows

    children = [start(action, kill_at=3 * number if number < 7 else None) for number in range(20)]
    ended = [finish(child) for child in children]
    assert all(ended[7:])
    assert not ended[0]
    assert load() == rows


def test_a_full_disk(tmp_path):
    def action():
        with small_files(2**11), pytest.raises(sealed_tables.UnwritableCacheError) as caught:
            load()
        first = str(caught.value).splitlines()[0]
        assert first.endswith(
            ": the cache of tables is not writable: File too large; pass another folder as cache_dir= or set "
            "HF_DATASETS_CACHE"
        ), first

    assert finish(start(action))
    assert [path for path in (tmp_path / "hf").glob("mctaco/**/*") if path.suffix in (".arrow", ".json")] == []


def test_a_cache_that_can_not_be_written(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(sealed_tables.UnwritableCacheError) as caught:
        load(cache_dir=tmp_path / "file")
    assert str(caught.value).startswith(f"{tmp_path / 'file'}: the cache of tables is not writable: ")


@pytest.fixture
def own_file(tmp_path, rows):
    """A file of a user's own, with a test split."""
    path = tmp_path / "own" / "test_9442.tsv"
    path.parent.mkdir()
    path.write_text(dump_records(rows[:20]), "utf-8")
    return path


def spoil(path):
    path.write_text(path.read_text("utf-8").replace("three hours", "three hoarse", 1), "utf-8")


def answer(path):
    return closeread.load_dataset("mctaco", split="test", data_dir=path.parent)[0]["answer"]


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_a_file_that_changes_between_key_and_reading(own_file):
    builder = closeread.load_dataset_builder("mctaco", data_dir=own_file.parent)
    spoil(own_file)
    with pytest.raises(FormatError) as caught:
        builder.download_and_prepare()
    assert str(caught.value) == f"{own_file.parent}: changed while it was read; load it again"
    assert not Path(builder.cache_dir).exists()
    assert answer(own_file) == "three hoarse"


@pytest.mark.filterwarnings("ignore:.*is not the released file")
def test_a_file_that_changes_while_it_is_read(own_file, monkeypatch):
    def change_after(*arguments):
        spoil(own_file)
        return read_gold(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(building, "read_gold", change_after)
        with pytest.raises(FormatError, match="changed while it was read; load it again"):
            answer(own_file)
    assert answer(own_file) == "three hoarse"


def test_a_released_file_that_changes_while_it_is_read(corpora, tmp_path, monkeypatch):
    place = tmp_path / "data" / "mctaco"
    shutil.copytree(corpora / "mctaco", place, copy_function=shutil.copyfile)
    monkeypatch.setenv("CLOSEREAD_DATA", str(place.parent))
    monkeypatch.setattr(building, "read_gold", lambda *arguments: spoil_all(place) or read_gold(*arguments[:2], "test"))
    monkeypatch.setattr("closeread.corpus.gold.locate", building.locate)
    with pytest.raises(ChecksumError, match="is not the released file"):
        closeread.load_dataset("mctaco")
    assert list((tmp_path / "hf").glob("**/*.arrow")) == []


def spoil_all(place):
    for path in place.glob("*.tsv"):
        path.write_bytes(path.read_bytes().replace(b"year", b"YEAR", 1))


def test_code_that_changed_since_it_was_imported_shares_no_table(rows, monkeypatch, unseen):
    usual = closeread.load_dataset_builder("mctaco", "sample").cache_dir
    monkeypatch.setattr(reading_code, "IMPORTED_NS", 0)
    with pytest.warns(
        CloseReadWarning, match="has changed since closeread was imported; restart Python, or the tables"
    ):
        first = closeread.load_dataset_builder("mctaco", "sample").cache_dir
    second = closeread.load_dataset_builder("mctaco", "sample").cache_dir
    assert len({usual, first, second}) == 3
    assert load() == rows
