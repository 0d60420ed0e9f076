"""Where the two sides of a score come from: gold and system, read, checked and aligned.

Every way to a score (a file on the command line, records in Python, an `evaluate` module, a submission to a board)
ends in the two objects that are described here, and what is done with them is in `closeread.scoring`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from closeread.records import Origin

if TYPE_CHECKING:
    from closeread.counts.table import CountTable
from closeread.errors import FieldPath, Problem

Options = Mapping[str, str]
"""Every option of a procedure with its value."""


class Place(NamedTuple):
    """Where gold is to be found.

    Attributes:
        corpus: the name of a corpus; None for gold that follows no corpus's declaration.
        config, split: the part of the corpus; None for the default.
        gold: the user's own gold instead: a file, a folder, or records.
        data_dir: a folder with the corpus's files.
    """

    corpus: str | None = None
    config: str | None = None
    split: str | None = None
    gold: Path | Sequence[Any] | None = None
    data_dir: Path | None = None


class Gold(Protocol):
    """Gold that is ready to be scored against."""

    @property
    def records(self) -> Sequence[Any]:
        """What `Procedure.count` takes as `gold`, an item for each unit or part of a unit."""
        ...

    @property
    def origin(self) -> Origin:
        """Where it came from."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What a user should know about it, one sentence each."""
        ...


@dataclass(frozen=True)
class System:
    """A system's output, checked and aligned with gold.

    Attributes:
        rows: what `Procedure.count` takes as `system`, an item for each of gold's; None where the system sent none.
        missing: the names of the gold records without a prediction.
        notices: what a user should know about it, one sentence each.
    """

    rows: Sequence[Any]
    missing: Sequence[str] = ()
    notices: Sequence[str] = ()


class Inconsistency(NamedTuple):
    """What no schema can say about one side.

    Attributes:
        side: "gold" or "system".
        row: the number of the record, from 0.
        what: what is wrong with it.
        path: where in the record; empty where it concerns the record as a whole.
        about: what stands there, in words.
    """

    side: str
    row: int
    what: str
    path: FieldPath = ()
    about: str = ""

    @property
    def problem(self) -> Problem:
        """The same without the side."""
        return Problem(self.what, row=self.row, path=self.path, about=self.about)


G = TypeVar("G")


class Sides(Protocol[G]):
    """How a procedure gets its two sides.

    Attributes:
        key_first: whether gold is a file of the user's, the key, that is named before the response; otherwise it is a
            part of a corpus, or a file in a corpus's format.
    """

    @property
    def key_first(self) -> bool:
        """Whether gold is a file of the user's, the key."""
        ...

    def read_gold(self, place: Place, options: Options) -> G:
        """Read gold.

        Raises:
            RequestError: the place does not exist; an InputError where the files are at fault.
        """
        ...

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> G:
        """Take gold from memory, checked before."""
        ...

    def read_system(self, gold: G, source: Path | Sequence[Any], options: Options) -> System:
        """Read what a system sent, a file, a folder or records, and align it with gold.

        Raises:
            SubmissionError: something is wrong with it; all problems at once.
        """
        ...

    def names(self, gold: G) -> Sequence[str]:
        """The name of each gold record's unit."""
        ...

    def remarks(self, gold: G, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """What a user should know beside scores, one sentence each, once both sides are read, or counted."""
        ...

    def validate(self, gold: Sequence[Any], system: Sequence[Any], options: Options) -> Iterable[Inconsistency]:
        """What no schema can say of the two sides."""
        ...

    def digests(self, gold: G, options: Options) -> Mapping[str, bytes]:
        """The sha256 of what is scored of each unit's gold, by the unit's name, whatever the unit came from."""
        ...
