"""The two sides of a score, gold and system: read, validated and aligned.

All input to scoring (a file on the command line, records in Python, an `evaluate` module, a submission to a
leaderboard) becomes the two objects that are defined here; `closeread.scoring` scores them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from closeread.exceptions import FieldPath, Problem
from closeread.records import DataDir, Origin

if TYPE_CHECKING:
    from closeread.counts.table import CountTable

Options = Mapping[str, str]
"""All options of a procedure with their values."""


class Place(NamedTuple):
    """Where to find gold.

    Attributes:
        corpus: the name of a corpus; None for gold that belongs to no corpus.
        config, split: the part of the corpus; None for the default.
        gold: the user's own gold, instead of a part of the corpus: a file, a folder, or records.
        data_dir: a folder with the corpus's files, or several places; None to look in the usual places.
    """

    corpus: str | None = None
    config: str | None = None
    split: str | None = None
    gold: Path | Sequence[Any] | None = None
    data_dir: DataDir | None = None


class Gold(Protocol):
    """Gold, ready for scoring."""

    @property
    def records(self) -> Sequence[Any]:
        """The argument `gold` of `Procedure.count`, with an item for each unit or part of a unit."""
        ...

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Notices about it for the user, one sentence each."""
        ...


@dataclass(frozen=True)
class System:
    """A system's output, validated and aligned with gold.

    Attributes:
        rows: the argument `system` of `Procedure.count`, with an item for each gold record; None for those without a
            prediction.
        missing: the names of the gold records without a prediction.
        notices: notices about it for the user, one sentence each.
    """

    rows: Sequence[Any]
    missing: Sequence[str] = ()
    notices: Sequence[str] = ()


class Inconsistency(NamedTuple):
    """A problem of one side that the schema can't express.

    Attributes:
        side: "gold" or "system".
        row: the number of the record, from 0.
        what: what is wrong with it.
        path: the place in the record; empty if it concerns the record as a whole.
        about: a description of the value at that place.
    """

    side: str
    row: int
    what: str
    path: FieldPath = ()
    about: str = ""

    @property
    def problem(self) -> Problem:
        """The problem without its side."""
        return Problem(self.what, row=self.row, path=self.path, about=self.about)


G = TypeVar("G")


class Sides(Protocol[G]):
    """How a procedure reads its two sides.

    Attributes:
        key_first: whether gold is a file given by the user, the key, which comes before the response; otherwise it is
            part of a corpus, or a file in a corpus's format.
    """

    @property
    def key_first(self) -> bool:
        """Whether gold is a file given by the user, the key."""
        ...

    def read_gold(self, place: Place, options: Options) -> G:
        """Read gold.

        Raises:
            RequestError: the place does not exist; an InputError if the files are missing or invalid.
        """
        ...

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> G:
        """Wrap gold records in memory that are already validated."""
        ...

    def pack(self, definition: str, rows: Sequence[Any]) -> Sequence[Any] | None:
        """Return rows in memory as the procedure takes them fastest, if they are valid for sure.

        Args:
            definition: the definition of the schema that the rows must follow.
            rows: JSON values, valid or not.

        Returns:
            None if there is no faster way, or if something may be wrong with the rows: then they are validated.
        """
        ...

    def read_system(self, gold: G, source: Path | Sequence[Any], options: Options) -> System:
        """Read a system's output (a file, a folder or records) and align it with gold.

        Raises:
            SubmissionError: it is invalid; all problems at once.
        """
        ...

    def check_form(self, corpus: str | None, names: Sequence[str], source: Path, options: Options) -> None:
        """Check a system's output as far as that is possible without gold, of which only the names are known.

        Args:
            corpus: the name of the corpus; None if gold belongs to none.
            names: the ids that predictions need, in the order of the gold; the names of documents of a key.
            source: the system's output, a file or a folder.
            options: all options with their values.

        Raises:
            SubmissionError: it is invalid; all problems at once, none of which depends on gold.
            RequestError: it lacks something that the options need.
        """
        ...

    def names(self, gold: G) -> Sequence[str]:
        """Return the name of each gold record's unit."""
        ...

    def remarks(self, gold: G, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """Return notices about both sides for the user, one sentence each; `table` has the counts, if available."""
        ...

    def validate(self, gold: Sequence[Any], system: Sequence[Any], options: Options) -> Iterable[Inconsistency]:
        """Find problems of both sides that the schema can't express."""
        ...

    def digests(self, gold: G, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of the scored part of each unit's gold, by the unit's name; the source does not matter."""
        ...
