"""Commands and functions do what was recorded: `tools/recording.py` says how, and records what changes on purpose."""

import pytest
import recording

HOW = "If this is on purpose: python tools/recording.py, and read the difference before you commit it."


@pytest.mark.timeout(1200)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["samples", "released"])
def test_commands_and_functions_do_what_was_recorded(name, request):
    if name == "released":
        request.getfixturevalue("corpora")
    differences = recording.compare(recording.load(name), recording.record(name))
    assert not differences, "\n".join([*differences[:200], HOW])


def test_recordings_are_small():
    assert sum(path.stat().st_size for path in recording.FOLDER.iterdir()) < 2_000_000


def test_no_text_of_a_corpus_is_kept():
    for result in recording.load("released").values():
        for name, kept in result.items():
            assert name == "exit" or isinstance(kept, str | list) or set(kept) == {"digest", "lines", "numbers"}
            if isinstance(kept, dict):
                assert set(kept["numbers"]) <= set("0123456789.+- ")
            else:
                assert kept in (0, 1, 2, "a picture") or isinstance(kept, list) or str(kept).isidentifier()
