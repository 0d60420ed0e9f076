"""A leaderboard on the Hugging Face Hub: a dataset that is copied into a folder, judged there and pushed in one commit.

Submissions are pull requests on the dataset.  The author is the user who opened the pull request, as the Hub knows it.
The judge reads a pull request at a fixed commit and commits the very bytes that it has verified; pull requests are
never merged, so that what is changed while it is judged can't slip in.  Everything is named after its content, so what
a crash leaves undone is done by the next run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from msgspec import UNSET

from closeread.exceptions import RequestError, join_names, name_option, pluralize
from closeread.files import package_folder
from closeread.hub.client import (
    Hub,
    NoSuchFileError,
    PullRequestDetails,
    Repository,
    TooLargeError,
)
from closeread.leaderboard.declaration import FILE, Leaderboard
from closeread.leaderboard.names import HUB, read_now
from closeread.leaderboard.results import (
    INDEX,
    Arrival,
    DigestError,
    Receipt,
    Results,
    check_digest,
    read_arrival,
)
from closeread.leaderboard.store import KINDS, FolderStore, order_arrivals
from closeread.leaderboard.submission import About, is_predictions_path

CARD = "README.md"
MAX_REQUESTS_PER_AUTHOR = 20
"""The most pull requests of an author in one run of the judge, so that nobody can delay those of others."""

# also in git's header of a renamed file
SUBMITTED_PATH = re.compile(r'(?:^|["\s])(?:[ab]/)?(?:submissions|withdrawals|choices)/')
DESCRIPTION_PATH = re.compile(
    r"(submissions|withdrawals|choices)/(.+)/([0-9a-f]{2})/(\3[0-9a-f]{62})\.json"
)


class HubCopy(FolderStore):
    """A copy, in a folder, of the leaderboard at `hf://datasets/ORG/NAME`."""

    ADVICE = "restore these files from the history of the dataset"

    def __init__(self, place: str, folder: Path) -> None:
        super().__init__(folder)
        self._dataset = Repository(place.removeprefix(HUB).strip("/"), "dataset")
        self.place = f"{HUB}{self._dataset.id}"
        self._hub = Hub()
        self._head = self._hub.head(self._dataset)  # the commit that is copied
        self._has_results = False
        self._requests: dict[int, PullRequestDetails] = {}  # those that were listed
        self._changed: dict[str, bytes] = {}  # what is to be pushed
        self._pull([FILE, INDEX, CARD])

    def _pull(self, patterns: Sequence[str]) -> None:
        if self._head is not None:
            self._hub.download(self._dataset, self._head, patterns, self._folder)

    def push(self, message: str) -> None:
        """Commit what was written here; if somebody else has committed since it was copied, that is a ConflictError."""
        if not self._changed:
            return
        if self._head is None:
            self._hub.create(self._dataset)
            self._head = self._hub.head(self._dataset)
        commit = self._hub.commit(self._dataset, self._changed, message=message, parent=self._head)
        self._head = commit.sha
        self._changed = {}

    def write_leaderboard(self, leaderboard: Leaderboard) -> None:
        """Change the declaration, and write a card if the dataset has none."""
        super().write_leaderboard(leaderboard)
        if not (self._folder / CARD).exists():
            template = package_folder("closeread.leaderboard") / "templates" / "dataset.md"
            text = template.read_text("utf-8")
            card = text.format(title=leaderboard.title, place=self.place)
            self.write({CARD: card.encode()})

    def name_author(self, name: str | None) -> str:
        """Return the user who is logged in."""
        if name is not None:
            raise RequestError(
                f"{name_option('author')} is for a leaderboard in a folder; "
                "on the Hub, the author is your account"
            )
        return self._hub.user

    def sign(self, author: str | None) -> dict[str, str]:
        """Return nothing, since a pull request has an author and a time; naming another author is an error."""
        self.name_author(author)
        return {}

    def find_sent(self, description: About) -> About:
        """Return the description: what was sent before is found by its content, unless it no longer stands."""
        entry = self.read_results(self.read_leaderboard()).entries.get(description.id)
        if entry is None or entry.status == "accepted":
            return description
        return msgspec.structs.replace(description, submitted=read_now())

    def send(self, files: Mapping[str, bytes], title: str, description: str) -> Receipt:
        """Open a pull request with the files, unless they are there, or in an open pull request of the user."""
        commit = self._hub.commit(
            self._dataset, files, message=title, description=description, pull_request=True
        )
        if commit.pull_request_url is None:
            return Receipt(self.link(list(files)[-1]), is_new=False)
        return Receipt(commit.pull_request_url, is_new=commit.changed)

    def list_arrivals(self, leaderboard: Leaderboard, results: Results) -> Sequence[Arrival]:
        """List open pull requests, the first few of every author, in the order in which they are judged.

        What several pull requests hold is listed once.
        """
        arrivals: dict[tuple[str, str, int], Arrival] = {}
        n_requests: Counter[str] = Counter()
        for listed in self._hub.pull_requests(self._dataset):
            n_requests[listed.author] += 1
            if n_requests[listed.author] > MAX_REQUESTS_PER_AUTHOR or not leaderboard.boards:
                continue
            details = self._hub.read_pull_request(self._dataset, listed.num)
            request = read_request(details.paths, list(leaderboard.boards))
            if request is not None:
                self._requests[listed.num] = details
                arrival = replace(
                    request,
                    author=listed.author,
                    # The date of a commit is its author's, who may claim to be of another day.
                    submitted=min(details.updated, read_now()),
                    source=listed.url,
                    number=listed.num,
                    system=listed.title,
                )
                unnamed = 0 if arrival.submission else listed.num
                arrivals.setdefault((arrival.submission, arrival.kind, unnamed), arrival)
        return sorted(arrivals.values(), key=order_arrivals)

    def fetch(self, arrival: Arrival, limit: int) -> Arrival:
        """Read and verify the files of a new submission, as they were when it was listed."""
        if arrival.kind != "submissions" or arrival.problems:
            return arrival
        read = partial(self._read_at, self._requests[arrival.number].head)
        # Any other error is not the submitter's.
        fetched = read_arrival(arrival, read, limit, (NoSuchFileError, TooLargeError, DigestError))
        if fetched.problems:
            return fetched
        if fetched.read_about().author is UNSET:
            return fetched
        problem = "the description names an author; on the Hub, that is the account"
        return replace(fetched, problems=(problem,))

    def read_predictions(self, path: str, limit: int) -> bytes:
        """Return predictions, or another file of a submission, verified by their digest."""
        return self._read_at(self._head or "main", path, limit)

    def _read_at(self, revision: str, path: str, limit: int) -> bytes:
        content = self._hub.read(self._dataset, path, revision, limit)
        check_digest(path, content)
        return content

    def read_results(self, leaderboard: Leaderboard) -> Results:
        """Read all entries and records."""
        if not self._has_results:
            self._pull(["entries/*", "results/*"])
            self._has_results = True
        return super().read_results(leaderboard)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, which are to be pushed."""
        super().write(files)
        self._changed.update(files)

    def answer(self, arrival: Arrival, text: str) -> None:
        """Comment on the pull request, once for every state of it, and close it, unless it has changed since."""
        judged = self._requests[arrival.number]
        mark = f"Judged at commit `{judged.head[:12]}`."
        now = self._hub.read_pull_request(self._dataset, arrival.number)
        answers = [text for author, text in now.comments if author == self._hub.user]
        if not any(mark in answer for answer in answers):
            self._hub.comment(self._dataset, arrival.number, f"{text}\n\n{mark}")
        if now.head == judged.head:
            self._hub.close(self._dataset, arrival.number)

    def link(self, path: str) -> str:
        """Return the address of a file's page."""
        return f"{self._dataset.url}/blob/main/{path}"


def read_request(paths: Sequence[str], boards: Collection[str]) -> Arrival | None:
    """Read the request of a pull request from the paths that it adds, changes or deletes; without its author and time.

    Anybody can open a pull request and put anything into it.  Only names that closeread makes count: a submission is
    one description named after its digest, and the predictions beside it; a withdrawal is one file named after a
    submission.  An invalid request is assigned to any board, so that it is answered; one that is not about submissions
    is left to the organisers (None).
    """
    if not any(SUBMITTED_PATH.search(path) for path in paths):
        return None
    matches = [DESCRIPTION_PATH.fullmatch(path) for path in paths]
    descriptions = [match for match in matches if match is not None and match[2] in boards]
    kind = KINDS[0]
    if descriptions:
        kind = next(kind for kind in KINDS if kind == descriptions[0][1])
        board = descriptions[0][2]
    else:
        board = _guess_board(paths, boards)
    predictions = [path for path in paths if is_predictions_path(path, board)]
    expected = [match[0] for match in descriptions] + predictions
    others = [path for path in paths if path not in expected]
    problems = []
    if len(descriptions) != 1:
        problems.append(
            f"the pull request has {pluralize(len(descriptions), 'file')} of submissions, withdrawals and choices "
            f"named after digests, for boards of this leaderboard (expected 1; boards: {', '.join(boards)})"
        )
    if len(predictions) > (1 if kind == "submissions" else 0):
        number = pluralize(len(predictions), "file")
        problems.append(f"the pull request has {number} of predictions")
    if others:
        number = pluralize(len(others), "other file")
        problems.append(f"the pull request touches {number}: {join_names(others)}")
    if problems:
        problems.append("send submissions with closeread leaderboard submit")
        return Arrival(board, "", kind, "", "", problems=tuple(problems))
    return Arrival(board, descriptions[0][4], kind, "", "")


def _guess_board(paths: Sequence[str], boards: Collection[str]) -> str:
    """Return the board that a path names, or any."""
    for board in boards:
        if any(f"/{board}/" in path for path in paths):
            return board
    return next(iter(boards))
