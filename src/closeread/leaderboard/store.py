"""Stores: where submissions arrive and results are kept, a folder or a dataset on the Hub, behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from closeread.exceptions import FormatError, Problem, RequestError, quote
from closeread.leaderboard.canonical import SURROGATES, read_json
from closeread.leaderboard.declaration import Leaderboard
from closeread.leaderboard.results import Results
from closeread.leaderboard.structure import check_structure

HUB = "hf://datasets/"
INDEX = "board.json"
"""The file of a store with everything that the page of the leaderboard shows."""


@dataclass(frozen=True)
class Arrival:
    """A submission or a withdrawal that nobody has settled yet.

    Attributes:
        board: the name of the board.
        submission: the id of the submission; empty if that can't be told, so that it is answered without an entry.
        withdrawal: whether the author withdraws it.
        author: who sent it, as the store knows it.
        submitted: when, UTC, such as "2026-11-22T10:00:00Z".
        source: a link to it; None in a folder.
        files: its files by path, as bytes; a file that is too large is missing.
        problems: what is wrong with the files as such; if there are any, they are all that is settled.
        number: the number of the pull request; 0 in a folder.
    """

    board: str
    submission: str
    withdrawal: bool
    author: str
    submitted: str
    source: str | None
    files: Mapping[str, bytes]
    problems: tuple[str, ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Receipt:
    """What a submitter gets.

    Attributes:
        place: where the submission is: a link, or a path.
        is_new: whether it was not there before.
    """

    place: str
    is_new: bool


class Store(Protocol):
    """Where submissions arrive and results are kept.

    Every method may be repeated after a crash or an error: what was written is not written again, and nothing is
    written by halves.
    """

    @property
    def place(self) -> str:
        """The folder as the user gave it, or `hf://datasets/ORG/NAME`."""
        ...

    def read_leaderboard(self) -> Leaderboard:
        """Read the declaration.

        Raises:
            RequestError: there is no leaderboard here.
        """
        ...

    def find_leaderboard(self) -> Leaderboard | None:
        """Read the declaration; None if there is none."""
        ...

    def write_leaderboard(self, leaderboard: Leaderboard) -> None:
        """Create the store, or change its declaration."""
        ...

    def name_author(self, name: str | None) -> str:
        """Return the author of what the user sends: the name that was given or, without one, the user.

        Raises:
            RequestError: a name was given, but the store knows the user.
        """
        ...

    def send(self, files: Mapping[str, bytes], title: str, description: str) -> Receipt:
        """Send the files of a submission or a withdrawal, by their path in the store.

        Args:
            files: the files; the last one makes the submission complete.
            title, description: what to say about it, in Markdown.
        """
        ...

    def list_arrivals(self, leaderboard: Leaderboard, results: Results) -> Sequence[Arrival]:
        """List what is not settled yet, oldest first; files are read by `fetch`."""
        ...

    def fetch(self, arrival: Arrival, limit: int) -> Arrival:
        """Return an arrival with its files, read and verified; a file of more than `limit` bytes is a problem."""
        ...

    def read_predictions(self, path: str, limit: int) -> bytes:
        """Return predictions that were accepted before.

        Raises:
            RequestError: they are missing, larger than `limit`, or do not have the digest that they are named after.
        """
        ...

    def read_results(self, leaderboard: Leaderboard) -> Results:
        """Read all entries and records."""
        ...

    def write_results(self, arrival: Arrival | None, files: Mapping[str, bytes]) -> None:
        """Write entries and records, all or none; of an arrival, accept its files first if they are not in place."""
        ...

    def answer(self, arrival: Arrival, text: str) -> None:
        """Tell the author what became of an arrival, once, and close it; `text` is Markdown."""
        ...

    def update_index(self, make: Callable[[Results], Mapping[str, bytes]]) -> None:
        """Write what is derived from all results, so that the last writer has seen all of them.

        Args:
            make: returns the files by path.
        """
        ...

    def read_index(self) -> dict[str, Any]:
        """Read the index.

        Raises:
            RequestError: nothing has been judged yet.
        """
        ...

    def link(self, path: str) -> str:
        """Return where others find a file of the results: a link, or the path in the store."""
        ...


def open_store(place: str) -> Store:
    """Open a store.

    Args:
        place: a folder, or `hf://datasets/ORG/NAME`.

    Raises:
        RequestError: the place can't be a store; a MissingExtraError if it is on the Hub and the extra is missing.
    """
    if place.startswith(HUB):
        from closeread.leaderboard.hub_store import HubStore

        return HubStore(place)
    if "://" in place:
        raise RequestError(f"{place} is not a store (expected a folder, or {HUB}ORG/NAME)")
    from closeread.leaderboard.folder_store import FolderStore

    return FolderStore(Path(place))


def parse_index(data: bytes, source: object) -> dict[str, Any]:
    """Return the index from its bytes.

    Args:
        data: the bytes.
        source: the name of the file, for messages.

    Raises:
        FormatError: they are not an index.
    """
    try:
        return _check_index(data, source)
    except FormatError as error:
        raise FormatError(source, [*error.problems, Problem("closeread leaderboard judge writes it again")]) from None


def _check_index(data: bytes, source: object) -> dict[str, Any]:
    """Return the index from its bytes.

    Raises:
        FormatError: they are not an index.
    """
    found = read_json(data, source, SURROGATES)  # all texts are made harmless where they are shown
    check_structure(found, "index", source)
    problems = [
        Problem(what, path=("boards", number))
        for number, board in enumerate(found["boards"])
        for what in _find_contradictions(board)
    ]
    if problems:
        raise FormatError(source, problems)
    return found


def _find_contradictions(board: Mapping[str, Any]) -> Iterator[str]:
    """Find what contradicts itself in a board of an index."""
    if board["headline"] not in [metric["name"] for metric in board["metrics"]]:
        yield f"headline {quote(board['headline'])} is not one of the metrics"
    pairs = board["pairs"]
    n_pairs = len(pairs["ids"]) * (len(pairs["ids"]) - 1) // 2
    if any(len(pairs[name]) != n_pairs for name in ("low", "high", "p")):
        yield f"pairs has not {n_pairs:,} values each, for {len(pairs['ids'])} ids"
    for point in board["history"]:
        try:
            datetime.fromisoformat(point["date"])
        except ValueError as error:
            yield f"history: {quote(point['date'])} is not a time ({error})"
    ids = [row["id"] for row in board["rows"]]
    if len(set(ids)) != len(ids):
        yield "rows has the same id twice"
    if not set(pairs["ids"]) <= set(ids):
        yield "pairs has ids without a row"
    for field, values in board["slices"].items():
        absent = [
            row for row in board["rows"] if row.get("slices") and set(row["slices"].get(field, ())) != set(values)
        ]
        if absent:
            yield f"slices: {quote(field)} has other values in row {quote(absent[0]['id'])}"
