"""The folder of a leaderboard, where submissions arrive and results are kept; one on the Hub is copied into a folder.

The folder is its organiser's, who adds what participants send; so the author and the time of a submission are those in
its description, and a store may be copied and judged anywhere.  If a description has none, the owner of the file is the
author, and the time is that of the last change of its inode (`ctime`), not that of modification, which anybody can set.
Every file is written completely or not at all, and the description of a submission last; a judge that is killed leaves
a store that the next judge completes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import orjson

from closeread.exceptions import FormatError, RequestError
from closeread.files import make_folders, read_at_most, replacing
from closeread.leaderboard.declaration import FILE, Leaderboard
from closeread.leaderboard.index_file import parse_index
from closeread.leaderboard.names import check_name, is_time, write_time
from closeread.leaderboard.results import (
    INDEX,
    Arrival,
    Entry,
    Receipt,
    Results,
    check_digest,
    is_overruled,
    read_arrival,
    read_results,
)
from closeread.leaderboard.store_files import read_file, store_path
from closeread.leaderboard.submission import MAX_ABOUT, NAME_LENGTH, About, Request

# the folders of what arrives, in the order in which it is judged
KINDS: tuple[Literal["submissions", "withdrawals", "choices"], ...] = (
    "submissions",
    "withdrawals",
    "choices",
)
INDEX_LOCK = ".index.lock"
RESULTS_LOCK = ".results.lock"
# what file systems without locks say, such as some that are mounted over a network
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)


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
        self._write({FILE: leaderboard.to_bytes()})

    def name_author(self, name: str | None) -> str:
        """Return the author of what the user sends: the name that was given or, without one, the user."""
        return _name_user(os.geteuid()) if name is None else name

    def sign(self, author: str | None) -> dict[str, str]:
        """Return the author and the time of what is sent now, which its files name."""
        return {"author": self.name_author(author), "submitted": write_time(datetime.now(UTC))}

    def find_sent(self, about: About) -> About:
        """Return the description of a submission that was sent before, at another time, and not withdrawn, or this one."""
        for submission, path in self._walk("submissions", about.board):
            withdrawal = self._folder / store_path("withdrawals", about.board, submission)
            # What is wrong with the file of somebody else is told by the judge.
            with suppress(OSError, RequestError, FormatError):
                sent = About.from_bytes(_read_regular(path, MAX_ABOUT), about.board, path)
                is_same = msgspec.structs.replace(sent, submitted=about.submitted) == about
                if is_same and not withdrawal.exists():
                    return sent
        return about

    def send(self, files: Mapping[str, bytes], title: str, description: str) -> Receipt:
        """Send the files of a submission or a withdrawal by their path in the store; the last one makes it complete."""
        name, content = list(files.items())[-1]
        path = self._folder / name
        is_new = not path.is_file() or path.read_bytes() != content
        self._write(files)
        return Receipt(str(path), is_new)

    def list_arrivals(self, leaderboard: Leaderboard, results: Results) -> Sequence[Arrival]:
        """List what is not judged yet, oldest first; files are read by `fetch`."""
        arrivals = []
        for board in leaderboard.boards:
            for kind in KINDS:
                for submission, path in self._walk(kind, board):
                    arrival = self._describe(Arrival(board, submission, kind, "", ""), path)
                    if not is_decided(arrival, results.entries.get(submission)):
                        arrivals.append(arrival)
        return sorted(arrivals, key=order_arrivals)

    def fetch(self, arrival: Arrival, limit: int) -> Arrival:
        """Return an arrival with its files, read and verified; a file of more than `limit` bytes is a problem."""
        if arrival.kind == "submissions":
            return read_arrival(arrival, self.read_predictions, limit, RequestError)
        path = arrival.path
        command = "withdraw" if arrival.kind == "withdrawals" else "choose"
        problem = f"{path} is not a file that closeread leaderboard {command} writes"
        # Its owner may have written the file for another purpose.
        try:
            request = read_file(Request, self._read(path, MAX_ABOUT), path)
        except RequestError as error:
            return replace(arrival, problems=(str(error),))
        except FormatError:
            return replace(arrival, problems=(problem,))
        if request.submission != arrival.submission:
            return replace(arrival, problems=(problem,))
        return arrival

    def read_predictions(self, path: str, limit: int) -> bytes:
        """Return predictions, or another file of a submission, of at most `limit` bytes, verified by their digest."""
        content = self._read(path, limit)
        check_digest(path, content)
        return content

    def _read(self, path: str, limit: int) -> bytes:
        try:
            return _read_regular(self._folder / path, limit)
        except OSError as error:
            # Its message has the path of the folder on this machine.
            reason = error.strerror or type(error).__name__
            raise RequestError(f"{path} can't be read: {reason}") from None

    def read_results(self, leaderboard: Leaderboard) -> Results:
        """Read all entries and records."""
        return read_results(self.place, self._read_result_files(leaderboard), self.ADVICE)

    def _read_result_files(self, leaderboard: Leaderboard) -> Iterator[tuple[str, bytes]]:
        for board in leaderboard.boards:
            for kind in ("entries", "results"):
                for _, path in self._walk(kind, board):
                    yield path.relative_to(self._folder).as_posix(), path.read_bytes()

    def write_results(self, arrival: Arrival | None, files: Mapping[str, bytes]) -> None:
        """Write records, then entries, which decide about a submission, unless another judge has decided otherwise.

        The files of an arrival are in the folder already.
        """
        # another one than that of the index, during which baselines are written
        with self._lock(RESULTS_LOCK):
            for path in sorted(files, key=lambda path: path.startswith("entries/")):
                stored = self._folder / path
                has_entry = path.startswith("entries/") and stored.is_file()
                if not (has_entry and is_overruled(path, files[path], stored.read_bytes())):
                    self._write({path: files[path]})

    def answer(self, arrival: Arrival, text: str) -> None:
        """Tell the author what became of an arrival, once, and close it; `text` is Markdown.

        Here, answers are in the entries; a withdrawal or a choice that was refused is deleted, unless there is another.
        """
        if arrival.kind != "submissions" and arrival.problems and arrival.submission:
            path = self._folder / arrival.path
            with suppress(FileNotFoundError):  # another judge was faster
                if self._describe(arrival, path) == replace(arrival, problems=()):
                    path.unlink()

    def push(self, message: str) -> None:
        """Send what was written to the Hub, if this is a copy."""

    def update_index(self, make: Callable[[Results], Mapping[str, bytes]]) -> None:
        """Write the files that `make` derives from all results, so that the last writer has seen all of them."""
        with self._lock(INDEX_LOCK):
            self._write(make(self.read_results(self.read_leaderboard())))

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

    def _write(self, files: Mapping[str, bytes]) -> None:
        """Write files, each completely or not at all, unless they are there with the same content."""
        for name, content in files.items():
            path = self._folder / name
            if path.is_file() and path.read_bytes() == content:
                continue
            make_folders(path.parent)
            with replacing(path) as partial:
                partial.write_bytes(content)

    def _describe(self, arrival: Arrival, path: Path) -> Arrival:
        """Return an arrival with the author and the time of its file, of the link itself if it is one."""
        status = path.lstat()
        author = _name_user(status.st_uid)
        submitted = write_time(datetime.fromtimestamp(self._read_time(status), UTC))
        # The time of a withdrawal decides nothing.
        is_dated = arrival.kind == "withdrawals"
        system = ""
        # What is wrong with the file is told when it is fetched.
        with suppress(OSError, ValueError, AttributeError):
            description = orjson.loads(_read_regular(path, MAX_ABOUT))
            name = description.get("author")
            if isinstance(name, str) and not check_name(name, "author", NAME_LENGTH):
                author = name
            system = str(description.get("system", ""))[:NAME_LENGTH]
            time = description.get("submitted")
            if is_time(time):
                submitted = time
                is_dated = True
        return replace(
            arrival,
            author=author,
            submitted=submitted,
            problems=(),
            is_dated=is_dated,
            system=system,
        )

    def _walk(self, kind: str, board: str) -> Iterator[tuple[str, Path]]:
        """Yield the files that are named after a digest, with that digest; others are none of ours."""
        for folder in sorted((self._folder / kind / board).glob("[0-9a-f][0-9a-f]")):
            # Strangers may have made folders of what arrives.
            if kind in KINDS and not _is_readable_folder(folder):
                continue
            for path in sorted(folder.iterdir()):
                name = re.fullmatch(r"([0-9a-f]{64})\.json", path.name)
                if name and name[1].startswith(folder.name):
                    yield name[1], path

    @staticmethod
    def _read_time(about: os.stat_result) -> float:
        """Return when a file has arrived, in seconds since 1970."""
        return about.st_ctime

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        """Hold a lock, which the system releases if the process is killed."""
        with (self._folder / name).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                raise RequestError(
                    f"{self.place} is on a file system without locks; put the store on a local disk"
                ) from error
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


def _name_user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _is_readable_folder(folder: Path) -> bool:
    return not folder.is_symlink() and folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)


def _read_regular(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes, never through a symbolic link."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise RequestError(f"{path.name} is a link, or not a regular file (expected a file)")
    with path.open("rb") as file:
        content = read_at_most(file, limit)
    if len(content) > limit:
        raise RequestError(f"{path.name} is larger than {limit:,} bytes, the limit of this board")
    return content
