"""The changes that `make mutants` tries."""

import json
from pathlib import Path

from mutants import EQUIVALENT, list_changes

ROOT = Path(__file__).parents[1]
SOURCE = """'Text, 1.'
LIMIT: Literal[3] = 2
def find(values: list[int | None], n: int = 0) -> int:
    if not values and n <= 1:
        raise ValueError(f"{n + 1}" + "x")
    total = "é" + str(max(values))
    values.append(n - 1); n += n // 2
    return n is None, zip(values, strict=True)
"""
CHANGES = """
2 -> 3|2 -> 1|0 -> 1|0 -> -1|not values and n <= 1 -> not values or n <= 1|not values -> values|n <= 1 -> n < 1
1 -> 2|1 -> 0|max -> min|values.append(n - 1) -> pass|n - 1 -> n + 1|1 -> 2|1 -> 0|n += n // 2 -> pass
n += n // 2 -> n -= n // 2|n // 2 -> n * 2|2 -> 3|2 -> 1|n is None -> n is not None
"""


def test_every_change_is_found():
    found = [f"{one.old} -> {one.new}" for one in list_changes("x.py", SOURCE.encode())]
    assert sorted(found) == sorted(CHANGES.strip().replace("\n", "|").split("|"))


def test_what_is_known_to_make_no_difference_is_in_the_code():
    for one in json.loads((ROOT / EQUIVALENT).read_text("utf-8")):
        changes = list_changes(one["file"], (ROOT / one["file"]).read_bytes())
        assert (one["file"], one["line"], one["change"]) in [change.key for change in changes], one
        assert one["why"]
