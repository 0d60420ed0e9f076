"""Columns of values as compact JSON, which `templates/data.js` unpacks.

A column is one of

* ``[VALUE, …]``;
* ``{"all": VALUE}``, the same for every row;
* ``{"of": [VALUE, …], "at": COLUMN}``, few values that are often repeated;
* ``{"before": TEXT, "after": TEXT, "each": [TEXT, …]}``, texts with a common beginning and end;
* ``{"from": NUMBER, "scale": NUMBER, "width": N, "digits": TEXT}``, numbers times `scale`, minus `from`, plus 1, in
  N digits to base 64 each; 0 is null;
* ``{"digests": COLUMN}``, texts with SHA-256 digests in base 64: ``~DIGEST`` stands for ``HEX``, and ``^DIGEST`` for a
  path ``HE/HEX`` that begins with the first two digits.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

Column = list[Any] | dict[str, Any]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MANY = 50
"""From this length on, numbers are packed; below, the data stay readable."""

FEW = 4
"""Values are listed once if on average this many rows share each."""

DIGEST = re.compile(r"(?:\b([0-9a-f]{2})/(?=\1))?\b[0-9a-f]{64}\b")
PACKED = re.compile(r"[~^][A-Za-z0-9_-]{43}")


def pack_column(values: Sequence[Any]) -> Column:
    """Return a column in the shortest of its forms but the last.

    >>> pack_column([7, 7, 7]), pack_column([1, 2])
    ({'all': 7}, [1, 2])
    >>> pack_column(["run 1.json", None, "run 2.json"])
    {'before': 'run ', 'after': '.json', 'each': ['1', None, '2']}
    """
    distinct = {json.dumps(value): value for value in values}
    if not values:
        return []
    if len(distinct) == 1:
        return {"all": values[0]}
    if _are(values, (int, float)):
        return pack_numbers(values) if len(values) >= MANY else list(values)
    if len(distinct) * FEW <= len(values):
        places = {text: place for place, text in enumerate(distinct)}
        return {"of": list(distinct.values()), "at": pack_column([places[json.dumps(value)] for value in values])}
    if _are(values, str):
        texts = [value for value in values if value is not None]
        before = _find_common_start(texts)
        after = _find_common_start([text[len(before) :][::-1] for text in texts])[::-1]
        if before or after:
            return {"before": before, "after": after, "each": [_strip(text, before, after) for text in values]}
    return list(values)


def _find_common_start(texts: Sequence[str]) -> str:
    """Return the characters that all texts begin with."""
    first, last = min(texts), max(texts)  # if these two agree, so do all between
    length = next((i for i, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:length]


def _are(values: Sequence[Any], types: type | tuple[type, ...]) -> bool:
    """Return whether there are values of these types only, apart from nulls."""
    return any(value is not None for value in values) and all(
        value is None or (isinstance(value, types) and not isinstance(value, bool)) for value in values
    )


def _strip(text: str | None, before: str, after: str) -> str | None:
    return None if text is None else text[len(before) : len(text) - len(after)]


def pack_numbers(values: Sequence[float | None]) -> Column:
    """Return numbers of at most two decimals as digits to base 64.

    >>> pack_numbers([10, None, 11])
    {'from': 10, 'scale': 1, 'width': 1, 'digits': 'BAC'}
    """
    scale = 1 if all(value is None or value == int(value) for value in values) else 100
    numbers = [None if value is None else round(value * scale) for value in values]
    start = min(number for number in numbers if number is not None)
    codes = [0 if number is None else number - start + 1 for number in numbers]
    width = 1
    while 64**width <= max(codes):
        width += 1
    shifts = range(6 * (width - 1), -1, -6)
    digits = "".join(ALPHABET[code >> shift & 63] for code in codes for shift in shifts)
    return {"from": start, "scale": scale, "width": width, "digits": digits}


def pack_digests(texts: Sequence[str | None]) -> Column:
    """Return a column of texts that contain digests; as it is if a text looks like a packed one."""
    if any(text and PACKED.search(text) for text in texts):
        return pack_column(texts)
    return {"digests": pack_column([text and DIGEST.sub(_shorten, text) for text in texts])}


def _shorten(found: re.Match[str]) -> str:
    packed = base64.urlsafe_b64encode(bytes.fromhex(found[0][-64:])).decode().rstrip("=")
    return f"{'~' if found[1] is None else '^'}{packed}"
