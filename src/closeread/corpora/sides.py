"""The sides of procedures that score corpora: gold of a corpus, and a submission that is joined with it by id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from closeread.corpora.gold import Gold, load_corpus, read_gold, read_own_gold, take_own_gold
from closeread.corpora.submissions import read_submission
from closeread.counts.sides import Inconsistency, Options, Place, System
from closeread.digests import unit_digests
from closeread.errors import Problem, RequestError
from closeread.records import Record, column

if TYPE_CHECKING:
    from closeread.counts.table import CountTable

Check = Callable[..., Iterable[Inconsistency]]
"""What no schema can say: from `gold` and `system`, aligned rows, and every option by name."""

Prepare = Callable[[Sequence[Record | None]], Sequence[Record | None]]


@dataclass(frozen=True)
class CorpusSides:
    """Gold of a corpus or of a file in its format; a system's rows, one for each gold record.

    Attributes:
        unit: the field of a gold record that names its unit; None where that is the corpus's key.
        check: what no schema can say of the two sides; None where it says all.
        prepare: turns a system's rows into what `check` and `Procedure.count` read; None where they read them as is.
    """

    unit: str | None = None
    check: Check | None = None
    prepare: Prepare | None = None

    @property
    def key_first(self) -> bool:
        """Whether gold is a file of the user's, the key."""
        return False

    def read_gold(self, place: Place, options: Options) -> Gold:
        """Read gold."""
        return read_corpus_gold(place)

    def wrap_gold(self, records: Sequence[Record], corpus: str | None) -> Gold:
        """Take gold from memory, checked before."""
        if corpus is None:
            raise RequestError("name the corpus that the gold records follow")
        return Gold(load_corpus(corpus), None, None, records, released=False)

    def read_system(self, gold: Gold, source: Path | Sequence[Record], options: Options) -> System:
        """Read a submission, and align it with gold by id."""

        def find(rows: Sequence[Record | None]) -> Iterator[Problem]:
            for one in self.validate(gold.records, rows, options):
                if one.side == "system":
                    yield one.problem

        missing = options.get("missing", "error")
        found = read_submission(source, gold.corpus, gold.records, missing, find, self.prepare)
        return System(found.rows, found.missing, found.notices)

    def validate(
        self, gold: Sequence[Record], system: Sequence[Record | None], options: Options
    ) -> Iterable[Inconsistency]:
        """What no schema can say of the two sides."""
        return () if self.check is None else self.check(gold=gold, system=system, **options)

    def names(self, gold: Gold) -> Sequence[str]:
        """The unit of each gold record."""
        names: Sequence[str] = column(gold.records, self.unit or gold.corpus.key)
        return names

    def digests(self, gold: Gold, options: Options) -> Mapping[str, bytes]:
        """The sha256 of each unit's gold, by the unit's name."""
        return unit_digests(gold.records, self.unit or gold.corpus.key, gold.corpus.not_in_digest)

    def remarks(self, gold: Gold, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """What a user should know once both sides are read."""
        return ()


def read_corpus_gold(place: Place) -> Gold:
    """The gold records of a corpus, or of the user's own file in its format.

    Raises:
        RequestError: no such corpus, config or split; an InputError where the files are at fault.
    """
    declaration = load_corpus(place.corpus or "")
    declared = declaration.configs.get(place.config or declaration.default_config)
    if declared is not None and declared.definition != "document":
        found = f"config {place.config} of {place.corpus} holds no gold to score against"
        raise RequestError(f"{found}; leave it out, or choose another")
    if place.gold is None:
        return read_gold(declaration, place.config, place.split, place.data_dir)
    if place.config is not None or place.data_dir is not None:
        raise RequestError("your own gold can't be combined with a config or a data folder")
    if isinstance(place.gold, Path):
        return read_own_gold(declaration, place.gold, place.split)
    return take_own_gold(declaration, place.gold)
