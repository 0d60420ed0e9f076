"""Files of one JSON value, such as stored results: read strictly, written whole."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from closeread.exceptions import FormatError, Problem
from closeread.files import write_text
from closeread.formats.text import BYTE_ORDER_MARK, read_bytes
from closeread.records import SMALL, is_dense

SURROGATE = re.compile("[\ud800-\udfff]")


def write_json(path: Path, value: object) -> None:
    """Write a JSON value as the command line prints it, completely or not at all.

    Raises:
        OSError: the file can't be written.
    """
    write_text(path, dump_json(value, indent=2))


def dump_json(value: object, indent: int | None = None) -> str:
    r"""Return a JSON value as text that ends a line; what UTF-8 lacks, as in some names of files, is escaped.

    Raises:
        ValueError: it contains NaN or infinity.

    >>> dump_json(["é", "\udcff"])
    '["é", "\\udcff"]\n'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def read_json(path: Path) -> object:
    """Read a file of JSON, which may be gzipped, without NaN, duplicate keys, and keys that are not Unicode.

    Raises:
        FormatError: the file can't be read (`closeread.formats.text.read_bytes`), or is not JSON.
    """
    data = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    try:
        return json.loads(
            _check_density(data.decode()),
            object_pairs_hook=_make_object,
            parse_constant=_reject_constant,
            parse_float=_parse_finite,
        )
    except UnicodeDecodeError as error:
        raise FormatError(path, [Problem(f"is not UTF-8 (byte {error.start})")]) from None
    except RecursionError:
        raise FormatError(path, [Problem("is nested too deeply")]) from None
    except json.JSONDecodeError as error:
        raise FormatError(path, [Problem(f"is not JSON: {error.msg}", error.lineno)]) from None
    except ValueError as error:  # refused by a hook, or an integer with more digits than Python converts
        raise FormatError(path, [Problem(f"is not JSON: {error}")]) from None


def _check_density(text: str) -> str:
    """Return a text of JSON that does not take many times its size in memory."""
    if len(text) > SMALL and is_dense(text):
        with suppress(json.JSONDecodeError):
            json.loads(text[:SMALL])  # which says if it is nested too deeply
        raise ValueError("too many objects and lists for its size")
    return text


def _make_object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        times = Counter(name for name, _ in pairs)
        twice = next(name for name in made if times[name] > 1)
        raise ValueError(f"key {twice!r} occurs twice in an object")
    if unpaired := next(filter(SURROGATE.search, made), None):
        raise ValueError(f"key {unpaired!r} contains half of a surrogate pair, which is not a character")
    return made


def _parse_finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _reject_constant(text)


def _reject_constant(text: str) -> float:
    raise ValueError(f"{text} is not a finite number")
