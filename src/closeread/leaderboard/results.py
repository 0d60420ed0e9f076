"""Results: the files that the judge writes into the store.

A *record* holds the scores.  It is a pure function of the submission, the gold, the options and the version of
closeread: no clock, no host, no order of arrival, so that judging twice writes the same bytes.  An *entry* holds what
only the store knows: who submitted, and when.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

import msgspec
import numpy as np

from closeread._version import __version__
from closeread.corpus import notices
from closeread.counts.report import Report
from closeread.counts.report_file import read_report
from closeread.counts.table import CountTable
from closeread.exceptions import FormatError, Problem, RequestError, name_option, quote
from closeread.files import make_folders, replacing
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.store_files import (
    BoardName,
    Digest,
    StoreFile,
    Time,
    digest,
    read_file,
    store_path,
    write_json,
)
from closeread.leaderboard.submission import MAX_ABOUT, About

MIN_SLICE_UNITS = 10
"""The smallest slice of private gold whose scores are published; a smaller one says too much about single units."""

DIGITS = 4  # the digits of scores on private gold
T = TypeVar("T")
INDEX = "board.json"  # the file of a store with everything that the page of the leaderboard shows
BASELINE = "baseline:"  # the prefix of a baseline's name in place of the id of a submission
# the number of the format of kept counts, and of the order of blocks in them; others are not found
CACHE_FORMAT = 4


class Blocks(msgspec.Struct, frozen=True):
    """Counts in every block, which the cache keeps, and a sandbox sends, in MessagePack.

    Attributes:
        names: the names of the counts, (k,).
        data: their sums as the bytes of an array, (n, k).
        numbers: (n,) the number of the block of each row.
        groups: (n,) the group of each row, of which a block may have several; empty if scores are no means over groups.
    """

    names: tuple[str, ...]
    data: bytes
    numbers: tuple[int, ...]
    groups: tuple[str, ...]

    @classmethod
    def from_table(cls, table: CountTable) -> Self:
        """Sum the units of every block, in every group, in the order of the digests of their gold."""
        place = np.argsort(table.order_blocks())
        n_groups = max(1, len(table.group_names))
        parts, rows = np.unique(
            place[table.blocks] * n_groups + table.group_numbers, return_inverse=True
        )
        sums = replace(table, blocks=rows.astype(np.int64), groups=(), breakdowns={}).block_totals()
        numbers = tuple((parts // n_groups).tolist())
        groups: tuple[str, ...] = ()
        if table.groups:
            groups = tuple(table.group_names[number] for number in parts % n_groups)
        return cls(tuple(table.names), sums.tobytes(), numbers, groups)

    def to_table(self) -> CountTable:
        """Return the sums as a table, whose units are the rows."""
        units = [f"{number:09}" for number in range(len(self.numbers))]
        values = np.frombuffer(self.data).reshape(len(units), len(self.names))
        blocks = np.array(self.numbers, np.int64)
        return CountTable(units, blocks, self.names, values, groups=self.groups)


class Entry(StoreFile, frozen=True):
    """The author, time and outcome of a submission.

    Attributes:
        submission: the id of the submission.
        board: the name of the board.
        author: as the store knows it, not as the submitter says.
        submitted: when, UTC.
        status: the outcome.
        source: where it was submitted; None in a folder.
        about: the submitter's description; None if it was not read, as of what was not judged.
        problems: the reasons if it was refused.
        chosen: when its author chose it as the one that is ranked.
    """

    submission: Digest
    board: BoardName
    author: str
    submitted: Time
    status: Literal["refused", "accepted", "withdrawn"]
    source: str | None = None
    about: About | None = None
    problems: tuple[str, ...] = ()
    chosen: Time | None = None

    def describe(self) -> About:
        """Return the submitter's description."""
        if self.about is None:
            raise ValueError(f"submission {self.submission} has no description")
        return self.about

    @property
    def path(self) -> str:
        """The path of its file in the store."""
        return store_path("entries", self.board, self.submission)


class Record(StoreFile, frozen=True):
    """The scores of a submission or a baseline.

    Attributes:
        subject: the id of the submission, or "baseline:" and the name of the baseline.
        board: the name of the board.
        signature: equal signatures are comparable.
        closeread: the version that scored.
        predictions: the digest of the predictions regardless of their format, to find duplicates.
        perfect: whether the headline score is 1.
        report: the scores as JSON, see `closeread.counts.report.Report.to_dict`.
    """

    subject: str
    board: BoardName
    signature: str
    closeread: str
    predictions: str
    perfect: bool
    report: Mapping[str, Any]

    @classmethod
    def from_bytes(cls, content: bytes, source: object) -> Record:
        """Read a record, whose report must be one."""
        record = read_file(cls, content, source)
        read_report(record.report, source)
        return record

    def fits(self, board: Board) -> bool:
        """Return whether the record has the scores and settings of its board, which are not part of the signature."""
        names = {metric.name for metric in board.procedure.metrics}
        return set(self.report["scores"]) == names and bool(self.report["counts"]) != board.private

    @property
    def id(self) -> str:
        """The id of the record."""
        return record_id(self.subject, self.signature)

    @property
    def path(self) -> str:
        """The path of its file in the store."""
        return store_path("results", self.board, self.id)


def record_id(subject: str, signature: str) -> str:
    """Return the id of the record of a submission or baseline under a signature."""
    return digest(f"{subject}\n{signature}".encode())


def check_digest(path: str, data: bytes) -> None:
    """Check that a file has the digest that it is named after."""
    if digest(data) != path.rpartition("/")[2].partition(".")[0]:
        raise DigestError(f"{path} does not have the digest that it is named after")


class DigestError(RequestError):
    """A file whose content does not have the digest in its name."""


@dataclass(frozen=True)
class Arrival:
    """A submission, or a request about one, that is not judged yet.

    Attributes:
        board: the name of the board.
        submission: the id of the submission; empty if that can't be told, so that it is answered without an entry.
        kind: the folder of its file.
        author: who sent it, as the store knows it.
        submitted: when, UTC, such as "2026-11-22T10:00:00Z".
        source: a link to it; None in a folder.
        files: its files by path; one that is too large is missing.
        problems: those of the files as such; if there are any, nothing else is checked.
        number: the number of the pull request; 0 in a folder.
        system: the name of the system, or the title of the pull request, for people; it is not checked.
    """

    board: str
    submission: str
    kind: Literal["submissions", "withdrawals", "choices"]
    author: str
    submitted: str
    source: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    number: int = 0
    system: str = ""

    @property
    def path(self) -> str:
        """The path of its file in the store."""
        return store_path(self.kind, self.board, self.submission)

    def read_about(self) -> About:
        """Read the submitter's description from the files of a submission."""
        return About.from_bytes(self.files[self.path], self.board, self.path)


def read_arrival(
    arrival: Arrival,
    read: Callable[[str, int], bytes],
    limit: int,
    mistakes: type[Exception] | tuple[type[Exception], ...],
) -> Arrival:
    """Return a submission with its files, read by path and limit; errors caused by its author become problems."""
    path = arrival.path
    try:
        description = read(path, MAX_ABOUT)
        predictions = About.from_bytes(description, arrival.board, path).predictions
        files = {predictions: read(predictions, limit), path: description}
    except FormatError as error:
        return replace(arrival, problems=tuple(problem.text for problem in error.problems))
    except mistakes as error:
        return replace(arrival, problems=(str(error),))
    return replace(arrival, files=files)


class Receipt(NamedTuple):
    """The receipt that a submitter gets.

    Attributes:
        place: where the submission is: a link, or a path.
        is_new: whether it was not there before.
    """

    place: str
    is_new: bool


class Results(NamedTuple):
    """The results of a store.

    Attributes:
        entries: by the id of the submission.
        records: by their id.
    """

    entries: Mapping[str, Entry]
    records: Mapping[str, Record]


def find_by_start(start: str, submissions: Mapping[str, T]) -> T:
    """Return the submission whose id begins with these characters, from a mapping by id."""
    matches = [name for name in submissions if name.startswith(start)]
    if len(matches) == 1:
        return submissions[matches[0]]
    wrong = "is the id of several submissions" if matches else "is not the id of a submission"
    raise RequestError(
        f"{quote(start)} {wrong} (expected 64 hexadecimal digits, or the first of them)"
    )


def read_results(place: str, files: Iterable[tuple[str, bytes]], advice: str) -> Results:
    """Read entries and records from paths in the store `place` and bytes; `advice` is about damaged files."""
    entries: dict[str, Entry] = {}
    records: dict[str, Record] = {}
    problems: list[Problem] = []
    for path, content in files:
        try:
            if path.startswith("entries/"):
                entry = read_file(Entry, content, path)
                entries[entry.submission] = entry
            else:
                record = Record.from_bytes(content, path)
                records[record.id] = record
        except FormatError as error:
            problems += [problem._replace(file=path) for problem in error.problems]
    if problems:
        raise FormatError(place, [*problems, Problem(advice)])
    return Results(entries, records)


def make_record(board: Board, subject: str, report: Report, predictions: str) -> Record:
    """Make the record of a report; on private gold, without counts and small slices, which reveal single units."""
    published: dict[str, Any] = report.to_dict()
    if board.private:
        published["counts"] = {}
        published["scores"] = round_scores(published["scores"])
        published["slices"] = {
            field: _blur_slices(slices) for field, slices in published["slices"].items()
        }
        if report.groups:
            published["groups"] = _blur_slices(published["groups"])
    is_perfect = report.total.scores[board.headline].value == 1
    signature = report.provenance.signature
    return Record(subject, board.name, signature, __version__, predictions, is_perfect, published)


def round_scores(scores: Any) -> Any:
    """Return scores, in whatever JSON, with the digits that are published of private gold."""
    return json.loads(json.dumps(scores), parse_float=lambda digits: round(float(digits), DIGITS))


def _blur_slices(slices: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the slices that are large enough, with rounded scores and without counts.

    If those that are dropped have too few units together, the next smallest is dropped, too: otherwise their scores
    would follow from those of the whole and of the other slices.
    """
    n_dropped_units = 0
    blurred = {}
    for value in sorted(slices, key=lambda value: (slices[value]["n_units"], value)):
        part = slices[value]
        if part["n_units"] < MIN_SLICE_UNITS or 0 < n_dropped_units < MIN_SLICE_UNITS:
            n_dropped_units += part["n_units"]
        else:
            blurred[value] = {**part, "counts": {}, "scores": round_scores(part["scores"])}
    # in the order of the report
    return {value: blurred[value] for value in slices if value in blurred}


class CountCache:
    """A folder with the counts of judged systems by block, from which systems are compared.

    They show how well a system does on each part of the gold, so they are never in a store.
    """

    def __init__(self, folder: Path | None = None) -> None:
        if folder is None:  # the user's
            import platformdirs  # which a bundle for Codabench does not have

            folder = Path(platformdirs.user_cache_dir("closeread")) / "leaderboard"
        self._folder = folder
        self._unwritten: dict[Path, Blocks] = {}

    def read(self, board: Board, record: Record) -> Blocks | None:
        """Return the counts of a record; None if they are not here or damaged, so that they are counted again."""
        path = self._find_path(board, record)
        if path in self._unwritten:
            return self._unwritten[path]
        try:
            blocks = msgspec.msgpack.decode(path.read_bytes(), type=Blocks)
            return blocks if blocks.to_table().n_blocks == board.n_blocks else None
        except (OSError, ValueError, msgspec.MsgspecError):
            return None

    def write(self, board: Board, record: Record, blocks: Blocks) -> None:
        """Keep the counts of a record; in memory if the folder can't be written."""
        path = self._find_path(board, record)
        try:
            make_folders(self._folder)
            with replacing(path) as partial:
                partial.write_bytes(msgspec.msgpack.encode(blocks))
        except OSError as error:
            self._unwritten[path] = blocks
            notices.warn(
                f"{self._folder} {error.strerror}; the next run scores these submissions again, "
                f"unless {name_option('cache')} names another folder"
            )

    def _find_path(self, board: Board, record: Record) -> Path:
        metrics = [metric.name for metric in board.procedure.metrics]
        name = digest(write_json([CACHE_FORMAT, record.id, __version__, metrics]))
        return self._folder / f"{name}.counts"
