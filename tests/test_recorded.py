"""Commands and functions do what was recorded on samples; `tools/recording.py --check` compares released corpora."""

import pytest
import recording

HOW = "If this is on purpose: python tools/recording.py, and read the difference before you commit it."


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["samples", "random", "requests"])
def test_commands_and_functions_do_what_was_recorded(name):
    differences = recording.compare(recording.load(name), recording.record(name))
    assert not differences, "\n".join([*differences[:200], HOW])


def test_a_change_is_told():
    kept = {"1 cite mctaco": {"exit": 0, "out": ["a", "b"]}}
    found = {"1 cite mctaco": {"exit": 0, "out": ["a", "c"]}}
    assert recording.compare(kept, kept) == []
    changes = [
        line.strip()
        for line in recording.compare(kept, found)
        if line[0] in "+-" and "cite" not in line
    ]
    assert [change.replace(" ", "") for change in changes] == ['-"b"', '+"c"']


def test_recordings_are_small():
    assert sum(path.stat().st_size for path in recording.FOLDER.iterdir()) < 2_000_000


def test_no_text_of_a_corpus_is_kept():
    for result in recording.load("released").values():
        for name, kept in result.items():
            assert (
                name == "exit"
                or isinstance(kept, str | list)
                or set(kept) == {"digest", "lines", "numbers"}
            )
            if isinstance(kept, dict):
                assert set(kept["numbers"]) <= set("0123456789.+- ")
            else:
                assert (
                    kept in (0, 1, 2, "a picture")
                    or isinstance(kept, list)
                    or str(kept).isidentifier()
                )
