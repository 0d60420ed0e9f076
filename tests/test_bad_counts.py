"""`compare` of count files, and of files that only look like them."""

from dataclasses import replace
from pathlib import Path

import pytest
from shared.bad_input import ROWS, SAMPLE, lines, put, refuses

from closeread.counts.counts import Counts


@pytest.fixture
def kept(run, here):
    put("system", lines(*ROWS))
    assert (
        run("score", "mctaco", "system", *SAMPLE, "--no-ci", "--counts", "kept.counts").exit_code
        == 0
    )
    return "kept.counts"


@pytest.mark.extended
def test_a_changed_byte(run, kept):
    """Wherever it is: the file is refused, or nothing that is scored has changed."""
    data = Path(kept).read_bytes()
    put("other.counts", data)
    before = run("compare", "mctaco", kept, "other.counts", "--resamples", "2").stdout
    for place in range(4, len(data), 41):
        put("other.counts", data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        result = run("compare", "mctaco", kept, "other.counts", "--resamples", "2")
        if result.exit_code == 0:
            assert result.stdout == before
        else:
            assert result.stderr.startswith("Error: ")


def test_blocks_that_are_others(run, kept):
    counted = Counts.load(kept)
    blocks = counted.table.blocks[::-1].copy()
    replace(counted, table=replace(counted.table, blocks=blocks)).save("other.counts")
    message = "the two results have different counts, or group the units into different blocks"
    refuses(run("compare", "mctaco", kept, "other.counts"), message, code=2)
