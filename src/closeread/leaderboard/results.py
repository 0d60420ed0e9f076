"""Results: the files that the judge writes into the store.

A *record* holds the scores.  It is a pure function of the submission, the gold, the options and the version of
closeread: no clock, no host, no order of arrival, so that judging twice writes the same bytes.  An *entry* holds what
only the store knows: who submitted, and when.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from closeread._version import __version__
from closeread.arrays import Floats
from closeread.corpus import notices
from closeread.counts.report import Report
from closeread.exceptions import FormatError, Problem, RequestError, name_option, quote
from closeread.files import make_folders, replacing
from closeread.leaderboard.declaration import (
    FORMAT,
    SURROGATES,
    Board,
    digest,
    read_json,
    store_path,
    write_json,
)
from closeread.leaderboard.submission import MAX_ABOUT, About

SMALLEST_SLICE = 10
"""The smallest slice of private gold whose scores are published; a smaller one says too much about single units."""

DIGITS = 4  # the digits of scores on private gold
T = TypeVar("T")
HUB = "hf://datasets/"
INDEX = "board.json"  # the file of a store with everything that the page of the leaderboard shows
BASELINE = "baseline:"  # the prefix of a baseline's name in place of the id of a submission
# statuses of an entry; none is replaced by one before it
STATUSES = ("refused", "accepted", "withdrawn")
# the number of the format of kept counts, and of the order of blocks in them; others are not used
CACHE_FORMAT = 2

# the names of counts, (k,), and their sums in every block, (n_blocks, k)
Blocks = tuple[tuple[str, ...], Floats]


@dataclass(frozen=True)
class Entry:
    """The author, time and outcome of a submission."""

    submission: str  # the id of the submission
    board: str  # the name of the board
    author: str  # as the store knows it, not as the submitter says
    submitted: str  # the time, UTC, such as "2026-11-22T10:00:00Z"
    # the day against whose limit it counts; empty if it was withdrawn before it was judged
    day: str
    status: str  # "accepted", "refused" or "withdrawn"
    source: str | None = None  # where it was submitted; None in a folder
    about: Mapping[str, Any] | None = None  # the submitter's description; None if it can't be read
    problems: tuple[str, ...] = ()  # the reasons if it was refused
    chosen: str | None = None  # when its author chose it as the one that is ranked

    def to_bytes(self) -> bytes:
        """Return the bytes of its file."""
        return write_json({"format": FORMAT, **asdict(self)})

    @classmethod
    def from_bytes(cls, data: bytes, source: object) -> Entry:
        """Read an entry."""
        found = read_json(data, "entry", source)
        return cls(**{**found, "problems": tuple(found["problems"])})

    def describe(self) -> About:
        """Return the submitter's description."""
        if self.about is None:
            raise ValueError(f"submission {self.submission} has no description")
        return About(**self.about)

    @property
    def path(self) -> str:
        """The path of its file in the store."""
        return store_path("entries", self.board, self.submission)


@dataclass(frozen=True)
class Record:
    """The scores of a submission or a baseline."""

    subject: str  # the id of the submission, or "baseline:" and the name of the baseline
    board: str  # the name of the board
    signature: str  # equal signatures are comparable
    closeread: str  # the version that scored
    predictions: str  # the digest of the predictions regardless of their format, to find duplicates
    perfect: bool  # whether the headline score is 1
    # the scores as JSON, see `closeread.counts.report.Report.to_dict`
    report: Mapping[str, Any] = field(repr=False)

    def to_bytes(self) -> bytes:
        """Return the bytes of its file."""
        return write_json({"format": FORMAT, **asdict(self)})

    @classmethod
    def from_bytes(cls, data: bytes, source: object) -> Record:
        """Read a record."""
        record = cls(**read_json(data, "record", source))
        try:
            Report.from_json(record.report)
        except FormatError as error:
            problems = [
                problem._replace(path=("report", *problem.path)) for problem in error.problems
            ]
            raise FormatError(source, problems) from None
        return record

    def fits(self, board: Board) -> bool:
        """Return whether the record has the scores and settings of its board, which are not part of the signature."""
        drawing, report = board.resampling, self.report
        return (
            set(report["scores"]) == {metric.name for metric in board.procedure.metrics}
            and (report["n_resamples"], report["confidence"], report["seed"])
            == (drawing.n_resamples, drawing.confidence, drawing.seed)
            and bool(report["counts"]) != board.private
        )

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
    """A submission, or a request about one, that is not settled yet."""

    board: str  # the name of the board
    # the id of the submission; empty if that can't be told, so that it is answered without an entry
    submission: str
    kind: Literal["submissions", "withdrawals", "choices"]  # the folder of its file
    author: str  # who sent it, as the store knows it
    submitted: str  # when, UTC, such as "2026-11-22T10:00:00Z"
    source: str | None = None  # a link to it; None in a folder
    # its files by path; one that is too large is missing
    files: Mapping[str, bytes] = field(default_factory=dict)
    # of the files as such; if there are any, nothing else is checked
    problems: tuple[str, ...] = ()
    number: int = 0  # the number of the pull request; 0 in a folder
    # the name of the system, or the title of the pull request, for people; it is not checked
    system: str = ""
    is_dated: bool = True  # whether the time is its own, not that of a file, which copying changes

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
        data = read(path, MAX_ABOUT)
        predictions = About.from_bytes(data, arrival.board, path).predictions
        return replace(arrival, files={predictions: read(predictions, limit), path: data})
    except FormatError as error:
        return replace(arrival, problems=tuple(problem.text for problem in error.problems))
    except mistakes as error:
        return replace(arrival, problems=(str(error),))


def is_overruled(path: str, entry: bytes, stored: bytes) -> bool:
    """Return whether a stored entry stays although another judge has settled the submission differently."""
    new, old = Entry.from_bytes(entry, path), Entry.from_bytes(stored, path)
    is_other = old.status == new.status == "accepted" and new.source != old.source
    return is_other or STATUSES.index(old.status) > STATUSES.index(new.status)


class Receipt(NamedTuple):
    """The receipt that a submitter gets."""

    place: str  # where the submission is: a link, or a path
    is_new: bool  # whether it was not there before


class Results(NamedTuple):
    """The results of a store."""

    entries: Mapping[str, Entry]  # by the id of the submission
    records: Mapping[str, Record]  # by their id

    def find(self, start: str) -> Entry:
        """Return the entry of a submission by the first characters of its id."""
        return find_by_start(start, self.entries)


def find_by_start(start: str, submissions: Mapping[str, T]) -> T:
    """Return the submission whose id begins with these characters, from a mapping by id."""
    found = [submission for name, submission in submissions.items() if name.startswith(start)]
    if len(found) == 1:
        return found[0]
    wrong = "is the id of several submissions" if found else "is not the id of a submission"
    raise RequestError(
        f"{quote(start)} {wrong} (expected 64 hexadecimal digits, or the first of them)"
    )


def parse_index(data: bytes, source: object) -> dict[str, Any]:
    """Return the index from its bytes; `source` names the file for messages."""
    try:
        # all texts are made harmless where they are shown
        found = read_json(data, "index", source, SURROGATES)
        problems = [
            Problem(what, path=("boards", number))
            for number, board in enumerate(found["boards"])
            for what in _find_contradictions(board)
        ]
    except FormatError as error:
        problems = list(error.problems)
    if problems:
        raise FormatError(
            source, [*problems, Problem("closeread leaderboard judge writes it again")]
        )
    return dict(sorted({"format": FORMAT, **found}.items()))


def _find_contradictions(board: Mapping[str, Any]) -> Iterator[str]:
    """Yield the contradictions in a board of an index, with which it can't be shown."""
    if board["headline"] not in [metric["name"] for metric in board["metrics"]]:
        yield f"headline {quote(board['headline'])} is not one of the metrics"
    pairs, ids = board["pairs"], [row["id"] for row in board["rows"]]
    n_pairs = len(pairs["ids"]) * (len(pairs["ids"]) - 1) // 2
    if any(len(pairs[name]) != n_pairs for name in ("low", "high", "p")):
        yield f"pairs does not have {n_pairs:,} values each, for {len(pairs['ids'])} ids"
    for point in board["history"]:
        try:
            datetime.fromisoformat(point["date"])
        except ValueError as error:
            yield f"history: {quote(point['date'])} is not a time ({error})"
    if len(set(ids)) != len(ids):
        yield "rows has the same id twice"
    if not set(pairs["ids"]) <= set(ids):
        yield "pairs has ids without a row"


def read_results(place: str, files: Iterable[tuple[str, bytes]], advice: str) -> Results:
    """Read entries and records from paths in the store `place` and bytes; `advice` is about damaged files."""
    entries: dict[str, Entry] = {}
    records: dict[str, Record] = {}
    problems: list[Problem] = []
    for path, data in files:
        try:
            found = (
                Entry.from_bytes(data, path)
                if path.startswith("entries/")
                else Record.from_bytes(data, path)
            )
        except FormatError as error:
            problems += [problem._replace(file=path) for problem in error.problems]
            continue
        if found.path != path:
            problems.append(
                Problem(f"has the content of another file, {quote(found.path, 160)}", file=path)
            )
        elif isinstance(found, Entry):
            entries[found.submission] = found
        else:
            records[found.id] = found
    if problems:
        raise FormatError(place, [*problems, Problem(advice)])
    return Results(entries, records)


def make_record(board: Board, subject: str, report: Report, predictions: str) -> Record:
    """Make the record of a report; on private gold, without counts and small slices, which reveal single units."""

    def round_scores(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        return {
            name: {
                key: round(value, DIGITS) if isinstance(value, float) else value
                for key, value in score.items()
            }
            for name, score in scores.items()
        }

    found: dict[str, Any] = report.to_dict()
    if board.private:  # no counts, no small slices, and rounded scores
        slices = {
            name: {
                value: {**scores, "counts": {}, "scores": round_scores(scores["scores"])}
                for value, scores in _drop_small(values).items()
            }
            for name, values in found["slices"].items()
        }
        found |= {"counts": {}, "slices": slices, "scores": round_scores(found["scores"])}
    is_perfect = report.total.scores[board.headline].value == 1
    return Record(
        subject,
        board.name,
        report.provenance.signature,
        __version__,
        predictions,
        is_perfect,
        found,
    )


def _drop_small(slices: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the slices that are large enough.

    If those that are dropped have too few units together, the next smallest is dropped, too: otherwise their scores
    would follow from those of the whole and of the other slices.
    """
    kept, units = dict(slices), 0
    for value in sorted(slices, key=lambda value: (slices[value]["n_units"], value)):
        if slices[value]["n_units"] < SMALLEST_SLICE or 0 < units < SMALLEST_SLICE:
            units += kept.pop(value)["n_units"]
    return kept


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
        place = self._place(board, record)
        if place in self._unwritten:
            return self._unwritten[place]
        try:
            data = io.BytesIO(place.read_bytes())
            with np.load(data, allow_pickle=False) as arrays:
                number, names = int(arrays["format"]), tuple(arrays["names"].tolist())
                blocks = arrays["blocks"].astype(float)
        except Exception:  # NumPy raises errors of many kinds for damaged files
            return None
        is_ours = number == CACHE_FORMAT and blocks.shape == (board.n_blocks, len(names))
        return (names, blocks) if is_ours else None

    def write(self, board: Board, record: Record, counts: Blocks) -> None:
        """Keep the counts of a record; in memory if the folder can't be written."""
        place = self._place(board, record)
        try:
            make_folders(self._folder)
            with replacing(place) as partial, partial.open("wb") as file:
                np.savez(file, format=CACHE_FORMAT, names=np.array(counts[0]), blocks=counts[1])
        except OSError as error:
            self._unwritten[place] = counts
            notices.warn(
                f"{self._folder} {error.strerror}; the next run scores these submissions again, "
                f"unless {name_option('cache')} names another folder"
            )

    def _place(self, board: Board, record: Record) -> Path:
        metrics = [metric.name for metric in board.procedure.metrics]
        return self._folder / f"{digest(write_json([record.id, __version__, metrics]))}.npz"
