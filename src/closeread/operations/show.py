"""Show records as a reader would want them."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from closeread.corpus.declaration import Corpus
from closeread.corpus.names import find_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.corpus.showing import Part, draw_parts, load_view, read_records, select_records
from closeread.counts.procedure import GoldSpec, OptionValue
from closeread.operations.places import take_place
from closeread.scoring import open_scorer
from closeread.tables import draw_html
from closeread.tasks import load_procedure


@dataclass(frozen=True)
class Page:
    """Records, laid out for reading.

    Attributes:
        records: the gold records that are shown.
        predictions: what a system has for each of them, None where it has nothing; None without a system.
    """

    records: Sequence[dict[str, object]]
    predictions: Sequence[dict[str, object] | None] | None = None
    _parts: tuple[Part, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """The page as the command line prints it."""
        return draw_parts(self._parts)

    def _repr_html_(self) -> str:
        """The page as Jupyter shows it."""
        return "".join(
            f'<p style="white-space: pre-wrap">{html.escape(part)}</p>' if isinstance(part, str) else draw_html(part)
            for part in self._parts
        )


def show(
    corpus: str,
    record_id: str | None = None,
    *,
    predictions: FileOrRows | None = None,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: OptionValue,
) -> Page:
    """Show a record of a corpus as a reader would want it, as `closeread show` does.

    >>> import closeread
    >>> closeread.show("mctaco", config="sample").records[0]["id"]
    'test-00000'

    Args:
        corpus: its name.
        record_id: the id of a record; None for the first.
        predictions: what a system has for it, to be shown beside it: a file, a folder or objects, as for
            `closeread.score`; other records may lack predictions.
        gold, config, split, data_dir: where the record is, as for `closeread.score`; any config.
        **options: folders of the corpus and options of reading it, such as `treebank`.

    Raises:
        RequestError: there is no such corpus or record (the message suggests a similar id); an InputError if something
            is missing or invalid.
    """
    declared = find_corpus(corpus)
    place = take_place(declared, gold, config, split, data_dir, options)
    found = read_records(declared, place)
    warn_all(found.notices)
    view = load_view(declared, found.config)
    _, shown = select_records(declared, view, found.records, record_id)
    records = [found.records[number] for number in shown]
    if predictions is None:
        return Page(records, None, tuple(view.draw(records, None)))
    system, notices = read_predictions(declared, place, predictions)
    warn_all(notices)
    beside = [system[number] for number in shown]
    return Page(records, beside, tuple(view.draw(records, beside)))


def read_predictions(
    corpus: Corpus, place: GoldSpec, predictions: FileOrRows
) -> tuple[Sequence[dict[str, object] | None], Sequence[str]]:
    """Read the predictions for all gold records, in their order, None for those without; and the notices about them.

    Args:
        corpus: the declaration of the corpus.
        place: where its gold is.
        predictions: a file, a folder or objects.

    Raises:
        RequestError: there is no such config or split; an InputError if a file is missing or invalid.
    """
    known = {option.name: option for option in load_procedure(corpus.procedure).options}
    absent = {"missing": "empty"} if "missing" in known and "empty" in known["missing"].choices else {}
    scorer = open_scorer(corpus.name, place, absent)
    system = scorer.read_source(predictions)
    missing = set(system.missing)
    keys = (record[corpus.key] for record in scorer.gold.records)
    rows = [None if key in missing else row for key, row in zip(keys, system.rows, strict=True)]
    return rows, system.notices
