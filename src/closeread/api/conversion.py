"""Convert files and objects to other formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.api.agreement import check_arguments, take_annotator
from closeread.corpora.conversions import Conversion
from closeread.corpora.objects import FileOrRows
from closeread.errors import RequestError, describe_unknown
from closeread.hf.notices import warn
from closeread.records import Record
from closeread.scoring import find_procedure, make_place
from closeread.tasks import find_all

__all__ = ["convert"]


def convert(
    kind: str,
    source: FileOrRows,
    to: str | Path | None = None,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: str | bool | Path | None,
) -> Sequence[Record]:
    """Convert a file or objects to another format, as `closeread convert` does, and return the records.

    >>> import closeread
    >>> closeread.convert("coref", {"letter": [[[0, 0], [1, 1]]]})[0]
    {'document': 'letter', 'clusters': [[[0, 0], [1, 1]]]}

    Args:
        kind: the name of the corpus or its procedure, such as "coref", "tne" or "timeline".
        source: a file, a folder or objects, as for `closeread.score`.
        to: the file or folder to write, in the format of its suffix; None to write nothing.
        gold, config, split, data_dir: gold, where the conversion needs it ("tne").
        **options: `side="response"` for "coref"; `form`, `close` and `clusters` for "tne"; `form` is the `--to` of
            the command line.

    Returns:
        The records; none if a document of annotation is converted.

    Raises:
        RequestError: a name does not exist, or the format can't hold the records; an InputError if the source is
            invalid.
    """
    found: dict[str, Conversion] = {
        name: one for module in find_all("conversions") for name, one in module.CONVERSIONS.items()
    }
    name = kind if kind in found else find_procedure(kind)[0].name
    if name not in found:
        raise RequestError(describe_unknown("kind of conversion", kind, sorted(found)))
    conversion, by_name = found[name], find_procedure(name)[0].by_name
    check_arguments(f"convert {name}", conversion.convert, options)
    given = take_annotator("source", source, by_name)
    output = None if to is None else Path(to)
    if conversion.corpus is not None:
        place, _ = make_place(conversion.corpus, gold, config, split, data_dir)
        converted = conversion.convert(given, output, place._replace(corpus=conversion.corpus), **options)
    elif any(one is not None for one in (gold, config, split, data_dir)):
        raise RequestError(f"convert {name} needs no gold")
    else:
        converted = conversion.convert(given, output, **options)
    for notice in converted.notices:
        warn(notice)
    return converted.records
