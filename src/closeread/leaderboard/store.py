"""The folder of a leaderboard, where submissions arrive and results are kept; one on the Hub is copied into a folder.

The folder is its organiser's, who adds what participants send; so the author and the time of a submission are those in
its description, and a store may be copied and judged anywhere.  Every file is written completely or not at all, and the
description of a submission last; a judge that is killed leaves a store that the next judge completes.
"""

from __future__ import annotations

import fcntl
import getpass
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from closeread.exceptions import FormatError, RequestError
from closeread.files import make_folders, read_at_most, replacing
from closeread.leaderboard.declaration import FILE, Leaderboard
from closeread.leaderboard.index_file import parse_index
from closeread.leaderboard.names import read_now
from closeread.leaderboard.results import (
    INDEX,
    Arrival,
    Entry,
    Receipt,
    Results,
    check_digest,
    read_arrival,
    read_results,
)
from closeread.leaderboard.store_files import read_file, store_path
from closeread.leaderboard.submission import About, Request

# the folders of what arrives, in the order in which it is judged
KINDS: tuple[Literal["submissions", "withdrawals", "choices"], ...] = (
    "submissions",
    "withdrawals",
    "choices",
)
LOCK = ".judge.lock"


class FolderStore:
    """A leaderboard in a folder; every method may be repeated after a crash.

    Anything missing or forbidden is a RequestError, a damaged file a FormatError.
    """

    ADVICE = "restore these files, or delete them and run closeread leaderboard judge, which makes them again"
    """About damaged files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.place = str(folder)

    def read_leaderboard(self) -> Leaderboard:
        """Read the declaration, which must be there."""
        leaderboard = self.find_leaderboard()
        if leaderboard is None:
            missing = f"{self.place} is not a leaderboard: it has no {FILE}"
            raise RequestError(f"{missing}; create one with closeread leaderboard init")
        return leaderboard

    def find_leaderboard(self) -> Leaderboard | None:
        """Read the declaration; None if there is none."""
        path = self._folder / FILE
        if not path.is_file():
            return None
        return Leaderboard.from_bytes(path.read_bytes(), f"{self.place}/{FILE}")

    def write_leaderboard(self, leaderboard: Leaderboard) -> None:
        """Create the store, or change its declaration."""
        self.write({FILE: leaderboard.to_bytes()})

    def name_author(self, name: str | None) -> str:
        """Return the author of what the user sends: the name that was given or, without one, the user."""
        return getpass.getuser() if name is None else name

    def sign(self, author: str | None) -> dict[str, str]:
        """Return the author and the time of what is sent now, which its files name."""
        return {"author": self.name_author(author), "submitted": read_now()}

    def find_sent(self, description: About) -> About:
        """Return the description of the same submission, if it was sent at another time and still stands, or this one."""
        entries = self.read_results(self.read_leaderboard()).entries
        for submission, path in self._walk("submissions", description.board):
            withdrawal = self._folder / store_path("withdrawals", description.board, submission)
            entry = entries.get(submission)
            is_refused = entry is not None and entry.status == "refused"
            # What is wrong with the file of somebody else is told by the judge.
            with suppress(FormatError):
                sent = About.from_bytes(path.read_bytes(), description.board, path)
                is_same = (
                    msgspec.structs.replace(sent, submitted=description.submitted) == description
                )
                if is_same and not is_refused and not withdrawal.exists():
                    return sent
        return description

    def send(self, files: Mapping[str, bytes], title: str, description: str) -> Receipt:
        """Send the files of a submission or a withdrawal by their path in the store; the last one makes it complete."""
        name, content = list(files.items())[-1]
        path = self._folder / name
        is_new = not path.is_file() or path.read_bytes() != content
        self.write(files)
        return Receipt(str(path), is_new)

    def list_arrivals(self, leaderboard: Leaderboard, results: Results) -> Sequence[Arrival]:
        """List what is not judged yet, oldest first; files are read by `fetch`."""
        arrivals = []
        for board in leaderboard.boards:
            for kind in KINDS:
                for submission, path in self._walk(kind, board):
                    arrival = self._describe(board, submission, kind, path)
                    if not is_decided(arrival, results.entries.get(submission)):
                        arrivals.append(arrival)
        return sorted(arrivals, key=order_arrivals)

    def fetch(self, arrival: Arrival, limit: int) -> Arrival:
        """Return an arrival with its files, read and verified; a file of more than `limit` bytes is a problem."""
        if arrival.kind != "submissions":
            return arrival
        return read_arrival(arrival, self.read_predictions, limit, RequestError)

    def has_file(self, path: str) -> bool:
        """Return whether a file is in the folder."""
        return (self._folder / path).is_file()

    def read_predictions(self, path: str, limit: int) -> bytes:
        """Return predictions, or another file of a submission, of at most `limit` bytes, verified by their digest."""
        try:
            with (self._folder / path).open("rb") as file:
                content = read_at_most(file, limit)
        except OSError as error:
            # Its message has the path of the folder on this machine.
            raise RequestError(f"{path} can't be read: {error.strerror}") from None
        if len(content) > limit:
            raise RequestError(f"{path} is larger than {limit:,} bytes, the limit of this board")
        check_digest(path, content)
        return content

    def read_results(self, leaderboard: Leaderboard) -> Results:
        """Read all entries and records."""
        return read_results(self.place, self._read_result_files(leaderboard), self.ADVICE)

    def _read_result_files(self, leaderboard: Leaderboard) -> Iterator[tuple[str, bytes]]:
        for board in leaderboard.boards:
            for kind in ("entries", "results"):
                for _, path in self._walk(kind, board):
                    yield path.relative_to(self._folder).as_posix(), path.read_bytes()

    def answer(self, arrival: Arrival, text: str) -> None:
        """Tell the author what became of an arrival, once, and close it; `text` is Markdown.

        Here, answers are in the entries; a withdrawal or a choice that was refused is deleted.
        """
        if arrival.kind != "submissions" and arrival.problems and arrival.submission:
            (self._folder / arrival.path).unlink(missing_ok=True)

    def push(self, message: str) -> None:
        """Send what was written to the Hub, if this is a copy."""

    def read_index(self) -> dict[str, Any]:
        """Read the index, which the first run of the judge writes."""
        self.read_leaderboard()
        path = self._folder / INDEX
        if not path.is_file():
            raise RequestError(
                f"{self.place} has no results yet; run closeread leaderboard judge {self.place}"
            )
        return parse_index(path.read_bytes(), f"{self.place}/{INDEX}")

    def link(self, path: str) -> str:
        """Return where others find a file of the results: a link, or the path in the folder."""
        return path

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files in order, each completely or not at all, unless they are there with the same content."""
        for name, content in files.items():
            path = self._folder / name
            if path.is_file() and path.read_bytes() == content:
                continue
            make_folders(path.parent)
            with replacing(path) as partial:
                partial.write_bytes(content)

    def _describe(
        self,
        board: str,
        submission: str,
        kind: Literal["submissions", "withdrawals", "choices"],
        path: Path,
    ) -> Arrival:
        """Read who has sent a file, and when; what is not as closeread writes it is a problem."""
        name = path.relative_to(self._folder).as_posix()
        content: About | Request
        try:
            if kind == "submissions":
                content = About.from_bytes(path.read_bytes(), board, name)
            else:
                content = read_file(Request, path.read_bytes(), name)
        except FormatError as error:
            problems = tuple(problem.text for problem in error.problems)
            return Arrival(board, "", kind, "", "", name, problems=problems)
        if content.author is UNSET or content.submitted is UNSET:
            lacking = ("has no author or no time",)
            return Arrival(board, "", kind, "", "", name, problems=lacking)
        system = content.system if isinstance(content, About) else ""
        return Arrival(board, submission, kind, content.author, content.submitted, system=system)

    def _walk(self, kind: str, board: str) -> Iterator[tuple[str, Path]]:
        """Yield the files that are named after a digest, with that digest; others are none of ours."""
        for folder in sorted((self._folder / kind / board).glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.iterdir()):
                name = re.fullmatch(r"([0-9a-f]{64})\.json", path.name)
                if name and name[1].startswith(folder.name):
                    yield name[1], path

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let no other judge run on the folder; the system releases the lock if the process is killed."""
        with (self._folder / LOCK).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def is_decided(arrival: Arrival, entry: Entry | None) -> bool:
    """Return whether nothing remains to be done about a file, by the entry of its submission."""
    if entry is None:
        return False
    if arrival.kind == "choices":
        return entry.status != "accepted" or entry.chosen == arrival.submitted
    return arrival.kind == "submissions" or entry.status != "accepted"


def order_arrivals(arrival: Arrival) -> tuple[int, str, str]:
    """Return what arrivals are sorted by: submissions before what is asked about them, then by time."""
    return KINDS.index(arrival.kind), arrival.submitted, arrival.submission
