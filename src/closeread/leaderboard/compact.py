"""The data of a page: a board as columns, from which the page's script draws what needs a choice of the reader.

An index repeats the names of its fields in each row, and holds all digits.  Here a field is one column
(`closeread.leaderboard.packing`), scores are whole hundredths of a percent (6105 is shown as 61.05), and ends of
intervals are distances from the score.  A text that is no link stands in a list of its own where links are expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from closeread.leaderboard.cells import find_link, link_model
from closeread.leaderboard.packing import pack_column, pack_digests

KEY_LENGTH = 10
"""The digits of a submission's id that name it in the address of the page."""

DIGESTS = ("id", "record", "reproduce")
"""The fields that contain digests."""

TEXTS = ("kind", "system", "author", "submitted", "description", "source_text", "signature", "closeread")
LINKS = ("source", "paper", "code")
Row = Mapping[str, Any]


def make_slug(text: str) -> str:
    """Return a name for the address of a page: letters and digits, joined by hyphens.

    >>> make_slug("mctaco-sample/test")
    'mctaco-sample-test'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def make_keys(texts: Iterable[str]) -> list[str]:
    """Return a slug for each text; of those that are equal, the later ones get a number.

    >>> make_keys(["a/b", "a b", "c"])
    ['a-b', 'a-b-2', 'c']
    """
    keys: list[str] = []
    seen: set[str] = set()
    for text in texts:
        key = slug = make_slug(text)
        number = 1
        while key in seen:
            number += 1
            key = f"{slug}-{number}"
        seen.add(key)
        keys.append(key)
    return keys


def find_rows(board: Mapping[str, Any]) -> list[Row]:
    """Return all rows: those of the ranking, those that later or better ones supersede, and other signatures."""
    return [*board["rows"], *board["superseded"], *(row for other in board["others"] for row in other["rows"])]


def compact_board(board: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the data of a board.

    Args:
        board: a board of a clean index (`clean_index`).
        key: its name in the address of the page.
    """
    rows = find_rows(board)
    metrics = [metric["name"] for metric in board["metrics"]]
    ranks = [row["rank"] or {} for row in rows]
    n_others = len(rows) - len(board["rows"]) - len(board["superseded"])
    groups = ["ranked"] * len(board["rows"]) + ["superseded"] * len(board["superseded"]) + ["other"] * n_others
    names = [row["id"][:KEY_LENGTH] if row["kind"] == "system" else row["id"] for row in rows]
    keys = make_keys(names)
    columns: dict[str, list[Any]] = {
        "group": groups,
        "record_is_link": [int(find_link(row.get("record")) is not None) for row in rows],
        **{name: [row.get(name) for row in rows] for name in TEXTS},
        **{name: [_link_or_text(row.get(name)) for row in rows] for name in LINKS},
        "model": [_model_or_text(row.get("model")) for row in rows],
        "flags": [row.get("flags", []) for row in rows],
        **{f"rank_{name}": [rank.get(name) for rank in ranks] for name in ("low", "high")},
        "rank_best": [int(bool(rank.get("best"))) for rank in ranks],
    }
    return {
        "key": key,
        **{name: board[name] for name in ("name", "title", "procedure", "signature", "unit", "n_units")},
        **{name: board[name] for name in ("resampling_unit", "confidence")},
        "n_ranked": len(board["rows"]),
        "n": len(rows),
        "headline": metrics.index(board["headline"]),
        "metrics": [[metric["name"], metric["title"]] for metric in board["metrics"]],
        # Most keys are the beginnings of ids.
        "keys": {i: key for i, key in enumerate(keys) if key != rows[i]["id"][:KEY_LENGTH]},
        "columns": {
            **{name: pack_column(values) for name, values in columns.items()},
            **{name: pack_digests([row.get(name) for row in rows]) for name in DIGESTS},
        },
        "total": _pack_results(rows, metrics),
        "slices": [
            [field, [[value, _pack_results(_slice_rows(rows, field, value), metrics)] for value in values]]
            for field, values in board["slices"].items()
        ],
        "pairs": _pack_pairs(board),
    }


def _link_or_text(text: str | None) -> str | list[str] | None:
    return text if text is None or find_link(text) else [text]


def _model_or_text(name: str | None) -> str | list[str] | None:
    return name if name is None or link_model(name) else [name]


def _slice_rows(rows: Sequence[Row], field: str, value: str) -> list[Row]:
    """Return the results of a slice, one for each row; empty for rows without it."""
    return [((row.get("slices") or {}).get(field) or {}).get(value) or {} for row in rows]


def _pack_results(rows: Sequence[Row], metrics: Sequence[str]) -> dict[str, Any]:
    """Return scores, counts and sizes of all rows, in the whole or in a slice."""
    counts = list(dict.fromkeys(name for row in rows for name in row.get("counts") or ()))
    return {
        "n_units": pack_column([row.get("n_units") for row in rows]),
        "n_blocks": pack_column([row.get("n_blocks") for row in rows]),
        "scores": [_pack_scores([(row.get("scores") or {}).get(name) for row in rows]) for name in metrics],
        "counts": [[name, pack_column([_round_count(row, name) for row in rows])] for name in counts],
    }


def _round_count(row: Row, name: str) -> float | int | None:
    """Return a count as it is shown: with two decimals if it is not an integer."""
    value = (row.get("counts") or {}).get(name)
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 2)


def _pack_scores(scores: Sequence[Row | None]) -> dict[str, Any]:
    """Return a metric of all rows: scores, the distances to the ends of their intervals, and what is special."""
    found: list[Row] = [score or {} for score in scores]
    values = [_hundredths(score.get("value")) for score in found]
    lows = [_hundredths(score.get("low")) for score in found]
    highs = [_hundredths(score.get("high")) for score in found]
    packed = {
        "value": pack_column(values),
        "below": pack_column([_subtract(value, low) for value, low in zip(values, lows, strict=True)]),
        "above": pack_column([_subtract(high, value) for value, high in zip(values, highs, strict=True)]),
    }
    undefined = [i for i, score in enumerate(found) if score.get("undefined")]
    printed = {i: score["printed"] for i, score in enumerate(found) if score.get("printed") is not None}
    return packed | ({"undefined": undefined} if undefined else {}) | ({"printed": printed} if printed else {})


def _hundredths(value: float | None) -> int | None:
    """Return a ratio in hundredths of a percent, rounded as `percent` rounds."""
    return None if value is None else round(round(100 * value, 2) * 100)


def _subtract(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other


def _pack_pairs(board: Mapping[str, Any]) -> dict[str, Any]:
    """Return the paired tests, with the rows by number and differences in hundredths.

    Headline scores are kept with more digits than are shown, so that their differences are rounded once only.
    P-values are in units of 0.0001, of which 0 stands for less.
    """
    pairs = board["pairs"]
    numbers = {row["id"]: number for number, row in enumerate(board["rows"])}
    rows = [numbers[one] for one in pairs["ids"]]
    values = [board["rows"][i]["scores"][board["headline"]]["value"] for i in rows]
    return {
        "rows": rows,
        "values": [None if value is None else round(value, 9) for value in values],
        "n": len(pairs["p"]),
        "low": pack_column(list(map(_hundredths, pairs["low"]))),
        "high": pack_column(list(map(_hundredths, pairs["high"]))),
        "p": pack_column([None if p is None else 0 if p < 0.0001 else round(round(p, 4) * 10_000) for p in pairs["p"]]),
    }


def embed_json(value: Any) -> str:
    r"""Return JSON for a script element: no character in it can end the element or the line.

    >>> print(embed_json("</script>&"))
    "\u003c/script\u003e\u0026"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
