"""The sides of procedures that score corpora: gold of a corpus, and a submission that is matched with it by id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from closeread import limits
from closeread.corpus.gold import Gold, read_gold, read_own_gold, take_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import Unite, read_submission
from closeread.counts.sides import Inconsistency, Options, Place, System
from closeread.exceptions import Problem, RequestError
from closeread.records import Record, column

if TYPE_CHECKING:
    from closeread.counts.table import CountTable

Check = Callable[..., Iterable[Inconsistency]]
"""Finds problems that the schema can't express; takes `gold` and `system`, aligned rows, and all options by name."""

Prepare = Callable[[Sequence[Record | None]], Sequence[Record | None]]


@dataclass(frozen=True)
class CorpusSides:
    """Gold of a corpus or of a file in its format, and a system's rows, one for each gold record.

    Attributes:
        unit: the field of a gold record with the name of its unit; None if that is the corpus's key.
        check: finds problems of both sides that the schema can't express; None if there are none.  It must cope with
            gold records that have nothing but the corpus's key, for `check_form`.
        prepare: converts a system's rows for `check` and `Procedure.count`; None if they take the rows as they are.
        unite: does the same for the rows of a large file, which are then parsed some at a time; None if they are not.
    """

    unit: str | None = None
    check: Check | None = None
    prepare: Prepare | None = None
    unite: Unite | None = None

    @property
    def key_first(self) -> bool:
        """False: gold belongs to a corpus or follows its format."""
        return False

    def read_gold(self, place: Place, options: Options) -> Gold:
        """Read gold."""
        return read_corpus_gold(place, store=True)

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> Gold:
        """Wrap gold records in memory that are already validated."""
        if corpus is None:
            raise RequestError("gold records in memory need the name of their corpus")
        return Gold(load_corpus(corpus), None, None, records, released=False)

    def pack(self, definition: str, rows: Sequence[object]) -> None:
        """Return None: rows are validated as they are."""

    def read_system(self, gold: Gold, source: Path | Sequence[Record], options: Options) -> System:
        """Read a submission, and align it with gold by id."""

        def find(rows: Sequence[Record | None]) -> Iterator[Problem]:
            for one in self.validate(gold.records, rows, options):
                if one.side == "system":
                    yield one.problem

        missing = options.get("missing", "error")
        found = read_submission(source, gold.corpus, gold.records, missing, find, self.prepare, self.unite)
        return System(found.rows, found.missing, found.notices)

    def check_form(self, corpus: str | None, names: Sequence[str], source: Path, options: Options) -> None:
        """Check a submission without gold, of which only the ids are known."""
        declaration = load_corpus(corpus or "")
        known = [{declaration.key: name} for name in names]
        self.read_system(Gold(declaration, None, None, known, released=False), source, options)

    def validate(
        self, gold: Sequence[Record], system: Sequence[Record | None], options: Options
    ) -> Iterable[Inconsistency]:
        """Find problems of both sides that the schema can't express."""
        return () if self.check is None else self.check(gold=gold, system=system, **options)

    def names(self, gold: Gold) -> Sequence[str]:
        """Return the unit of each gold record."""
        names: Sequence[str] = column(gold.records, self.unit or gold.corpus.key)
        return names

    def digests(self, gold: Gold, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of each unit's gold, by the unit's name."""
        return gold.digests(self.unit or gold.corpus.key)

    def remarks(self, gold: Gold, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """Return no notices."""
        return ()


def read_corpus_gold(place: Place, *, store: bool = False) -> Gold:
    """Read the gold records of a corpus, or of the user's own file in its format; `store` is as for `read_path`.

    Raises:
        RequestError: there is no such corpus, config or split; an InputError if the files are missing or invalid.
    """
    declaration = load_corpus(place.corpus or "")
    declared = declaration.configs.get(place.config or declaration.default_config)
    if declared is not None and declared.flattens:
        found = f"config {place.config} of {place.corpus} is for data frames, with a row for each annotation"
        raise RequestError(f"{found}; choose another config")
    if declared is not None and declared.definition != "document":
        found = f"config {place.config} of {place.corpus} has no gold annotation"
        raise RequestError(f"{found}; choose another config")
    if place.gold is None:
        with limits.keep_usual_limit():
            return read_gold(declaration, place.config, place.split, place.data_dir, store=store)
    if place.config is not None or place.data_dir is not None:
        raise RequestError("your own gold can't be combined with a config or a data folder")
    if isinstance(place.gold, Path):
        return read_own_gold(declaration, place.gold, place.split, store=store)
    if place.split is not None:  # of a file, it is a part of the ids that are generated
        raise RequestError("your own gold in memory can't be combined with a split")
    return take_own_gold(declaration, place.gold)
