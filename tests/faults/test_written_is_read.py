"""What is written can be read again, and says the same; what could not is refused before the first byte."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from shared.entry_points import sample_gold, system_rows
from shared.file_faults import read_tree
from shared.hostile_texts import TEXT

from closeread import limits
from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import read_submission, write_submission
from closeread.exceptions import FormatError, InputError
from closeread.tasks.mctaco.mctaco_tsv import dump_records as dump_tsv
from closeread.tasks.timeline.timeline_txt import write_folder
from closeread.tasks.wikipossessions.possession_csv import dump_records as dump_csv


def write(folder, act):
    """Write below a folder; return whether it was refused, after which nothing may be there."""
    before = read_tree(folder)
    try:
        act()
    except UnicodeError:  # it says nothing of the place
        raise
    except (ValueError, OSError):
        assert read_tree(folder) == before
        return False
    return True


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    """New paths."""
    folder = tmp_path_factory.mktemp("written")
    return (folder / str(number) for number in range(10**6))


@settings(max_examples=8)
@given(TEXT, TEXT, TEXT)
def test_formats_of_releases(numbered, one, two, three):
    row = {**sample_gold("mctaco")[0], "sentence": one, "question": two, "answer": three}
    record = sample_gold("wikipossessions")[0]
    possessions = [{**record["possessions"][0], "possessor": two, "anchor": three}]
    record = {**record, "article": one, "possessions": possessions}
    for name, dump, suffix, given_row in (
        ("mctaco", dump_tsv, ".tsv", row),
        ("wikipossessions", dump_csv, ".csv", record),
    ):
        corpus = load_corpus(name)
        try:
            read_own_gold(corpus, [given_row])
        except InputError:
            continue
        folder = next(numbered)
        folder.mkdir()
        path = folder / f"out{suffix}"
        if write(folder, lambda p=path, d=dump, r=given_row: p.write_bytes(d([r]).encode())):
            (read,) = read_own_gold(corpus, path).records
            for field in ("sentence", "question", "answer", "article"):
                assert read.get(field) == given_row.get(field)


@pytest.mark.parametrize("corpus", ["mctaco", "tne", "semeval2015_timeline", "wikipossessions"])
@pytest.mark.parametrize("suffix", [".jsonl", ".txt", ".csv", ""])
def test_submissions(here, corpus, suffix):
    rows, path = system_rows(corpus), Path(f"out{suffix}")
    if write(".", lambda: write_submission(path, rows, load_corpus(corpus))):
        assert read_submission(path, load_corpus(corpus), sample_gold(corpus)).missing == ()


def test_more_timelines_than_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 1000)
    records = [{"id": f"t{number}", "entity": "Ann", "entries": []} for number in range(1001)]
    with pytest.raises(ValueError, match=r"there are 1,001 timelines \(limit of a folder: 1,000\)"):
        write_folder(records, tmp_path / "out")
    assert os.listdir(tmp_path) == []
    write_folder(records[:1000], tmp_path / "out")


def test_all_names_that_can_not_be_written_at_once(tmp_path):
    names = ["s&p", "s_and_p", "Ann", "ann", "x" * 300, "..", "a\0b", "", "a\\b", "e\u0301", "\xe9"]
    with pytest.raises(FormatError) as caught:
        write_folder(
            [{"id": name, "entity": "Ann", "entries": []} for name in names], tmp_path / "out"
        )
    assert [line.partition("out: ")[2] for line in str(caught.value).splitlines()[1:]] == [
        "'ann' and 'Ann' can't both be names of files: they differ only in case or accents",
        f"'{'x' * 27} … {'x' * 27}' can't be the name of a file: it is too long: 304 bytes (limit: 255)",
        "'..' can't be the name of a file: it begins with a dot",
        "'a\\x00b' can't be the name of a file: it contains the control character U+0000",
        "'' can't be the name of a file: it is empty",
        "'a\\\\b' can't be the name of a file: it contains a slash",
        "'\xe9' and 'e\u0301' can't both be names of files: they differ only in case or accents",
        "'s&p' would be read again as 's_and_p'",
    ]
    assert os.listdir(tmp_path) == []
