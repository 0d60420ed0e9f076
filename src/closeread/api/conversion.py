"""Convert files and objects to other formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.api.agreement import check_arguments, take_annotator
from closeread.argument_types import check_types
from closeread.corpus.conversions import Conversion
from closeread.corpus.names import choose_equivalent
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.counts.procedure import OptionValue
from closeread.exceptions import RequestError
from closeread.scoring import find_procedure, make_place
from closeread.suggestions import describe_unknown
from closeread.tasks import find_all

OWNER = "closeread.tasks."


def convert(
    kind: str,
    source: FileOrRows,
    to: str | Path | None = None,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: OptionValue | None,
) -> Sequence[dict[str, object]]:
    """Convert a file or objects to another format, as `closeread convert` does, and return the records.

    >>> import closeread
    >>> closeread.convert("coref", {"letter": [[[0, 0], [1, 1]]]})[0]
    {'document': 'letter', 'clusters': [[[0, 0], [1, 1]]]}

    Args:
        kind: the name of the corpus or its procedure, such as "coref", "tne" or "timeline"; of Marmara's files
            "marmara_coref", "given" for all its mentions, and "equalities" for annotators' files.
        source: a file, a folder or objects, as for `closeread.score`; of Marmara a file or a folder.
        to: the file or folder to write, in the format of its suffix; None to write nothing.
        gold, config, split, data_dir: gold, where the conversion needs it ("tne"); of Marmara only `data_dir`.
        **options: `side="response"` for "coref"; `form`, `close` and `clusters` for "tne"; `form` is the `--to` of
            the command line; `treebank` for "marmara_coref" and "given", `given` for "equalities".

    Returns:
        The records; none if a document of annotation is converted.

    Raises:
        RequestError: a name does not exist, or the format can't hold the records; an InputError if the source is
            invalid.
    """
    found: dict[str, tuple[str, Conversion]] = {}
    for module in find_all("conversions"):
        task = module.__name__.removeprefix(OWNER).partition(".")[0]
        found |= {name: (task, one) for name, one in module.CONVERSIONS.items()}
    name = choose_equivalent(kind, found)
    if name is None:
        raise RequestError(describe_unknown("kind of conversion", kind, sorted(found)))
    task, conversion = found[name]
    chosen: dict[str, object] = dict(options)
    if conversion.corpus is None:
        if any(one is not None for one in (gold, config, split)):
            raise RequestError(f"convert {name} needs no gold")
        chosen |= {} if data_dir is None else {"data_dir": data_dir}
    check_arguments(f"convert {name}", conversion.convert, chosen)
    given = take_annotator("source", source, find_procedure(task)[0].by_name)
    output = None if to is None else Path(to)
    if conversion.corpus is None:
        converted = check_types(conversion.convert)(given, output, **chosen)
    else:
        place, _ = make_place(conversion.corpus, gold, config, split, data_dir)
        converted = check_types(conversion.convert)(given, output, place._replace(corpus=conversion.corpus), **chosen)
    warn_all(converted.notices)
    return converted.records
