"""A store on the Hugging Face Hub: submissions are pull requests on a dataset, results are files of another.

The author is the user who opened the pull request, as the Hub knows it.  The judge reads a pull request at a fixed
commit and commits the very bytes that it has verified; pull requests are never merged, so that what is changed while it
is judged can't slip in.  Everything is named after its content and safe to repeat.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from closeread.exceptions import RequestError, join_names, name_option, pluralize
from closeread.files import package_folder
from closeread.hub.client import (
    ConflictError,
    Hub,
    NoSuchFileError,
    NoSuchRepositoryError,
    PullRequestDetails,
    Repository,
    TooLargeError,
)
from closeread.leaderboard.declaration import FILE, Leaderboard
from closeread.leaderboard.results import (
    HUB,
    INDEX,
    Arrival,
    DigestError,
    Receipt,
    Results,
    check_digest,
    is_overruled,
    parse_index,
    read_arrival,
    read_results,
)
from closeread.leaderboard.submission import About, is_predictions_path

CARD = "README.md"
OF_AUTHOR = 20
"""The most pull requests of an author in one run of the judge, so that nobody can delay those of others."""
CONFLICTS = 20  # how often a commit is retried while others commit
DAMAGED = "restore these files from the history of the dataset"

# also in git's header of a renamed file
OURS = re.compile(r'(?:^|["\s])(?:[ab]/)?(?:submissions|withdrawals)/')
NAMED = re.compile(r"(submissions|withdrawals)/(.+)/([0-9a-f]{2})/(\3[0-9a-f]{62})\.json")
RESULT = re.compile(r"(entries|results)/(.+)/([0-9a-f]{2})/(\3[0-9a-f]{62})\.json")


class HubStore:
    """A store on the Hub, at `hf://datasets/ORG/NAME`."""

    def __init__(self, place: str) -> None:
        self._submissions = Repository(place.removeprefix(HUB).strip("/"), "dataset")
        self.place = f"{HUB}{self._submissions.id}"
        self._hub = Hub()
        self._declared: tuple[str, Leaderboard] | None = None
        self._requests: dict[int, PullRequestDetails] = {}  # those that were listed
        self._kept: dict[str, bytes] = {}

    def find_leaderboard(self) -> Leaderboard | None:
        """Read the declaration; None if there is none."""
        if (head := self._hub.head(self._submissions)) is None:
            return None
        try:
            data = self._hub.read(self._submissions, FILE, head)
        except NoSuchFileError:
            return None
        self._declared = head, Leaderboard.from_bytes(data, f"{self.place}/{FILE}")
        return self._declared[1]

    def read_leaderboard(self) -> Leaderboard:
        """Read the declaration."""
        if (found := self.find_leaderboard()) is None:
            raise RequestError(
                f"{self.place} is not a leaderboard; create one with closeread leaderboard init"
            )
        return found

    def write_leaderboard(self, leaderboard: Leaderboard) -> None:
        """Create the datasets, or change the declaration, unless somebody else has changed it since it was read."""
        self._hub.create(self._submissions)
        head = self._declared[0] if self._declared else self._hub.head(self._submissions)
        results = self._find_results(leaderboard)

        def make_card(repository: Repository, template: str) -> dict[str, bytes]:
            if CARD in self._hub.list_files(repository):
                return {}
            text = (package_folder("closeread.leaderboard") / "templates" / template).read_text(
                "utf-8"
            )
            return {
                CARD: text.format(
                    title=leaderboard.title, place=self.place, results=results.url
                ).encode()
            }

        if results == self._submissions:
            cards = make_card(results, "results.md")
        else:
            cards = make_card(self._submissions, "submissions.md")
            self._hub.create(results)
            if card := make_card(results, "results.md"):
                self._hub.commit(results, card, message="Add a card")
        files = {FILE: leaderboard.to_bytes(), **cards}
        made = self._hub.commit(
            self._submissions, files, message="Declare the leaderboard", parent=head
        )
        self._declared = made.sha, leaderboard

    def name_author(self, name: str | None) -> str:
        """Return the user who is logged in."""
        if name is not None:
            on_hub = "on the Hub, the author is your account"
            raise RequestError(
                f"{name_option('author')} is for a leaderboard in a folder; {on_hub}"
            )
        return self._hub.user

    def sign(self, author: str | None) -> dict[str, str]:
        """Return nothing, since a pull request has an author and a time; naming another author is an error."""
        self.name_author(author)
        return {}

    def find_sent(self, about: About) -> About:
        """Return the description: what was sent before is found by its content."""
        return about

    def send(self, files: Mapping[str, bytes], title: str, description: str) -> Receipt:
        """Open a pull request with the files, unless they are there, or in an open pull request of the user."""
        made = self._hub.commit(
            self._submissions, files, message=title, description=description, pull_request=True
        )
        if made.pull_request_url is None:
            return Receipt(f"{self._submissions.url}/blob/main/{list(files)[-1]}", is_new=False)
        return Receipt(made.pull_request_url, is_new=made.changed)

    def list_arrivals(self, leaderboard: Leaderboard, results: Results) -> Sequence[Arrival]:
        """List open pull requests, oldest first, the first few of every author; withdrawals come last.

        A submission or a withdrawal that several pull requests hold is listed once.
        """
        arrivals: dict[tuple[str, bool, int], Arrival] = {}
        seen: Counter[str] = Counter()
        for one in self._hub.pull_requests(self._submissions):
            seen[one.author] += 1
            if seen[one.author] > OF_AUTHOR or not leaderboard.boards:
                continue
            found = self._hub.read_pull_request(self._submissions, one.num)
            request = read_request(found.paths, list(leaderboard.boards))
            if request is not None:
                self._requests[one.num] = found
                arrival = replace(
                    request,
                    author=one.author,
                    submitted=found.updated,
                    source=one.url,
                    number=one.num,
                )
                unnamed = 0 if arrival.submission else one.num
                arrivals.setdefault((arrival.submission, arrival.withdrawal, unnamed), arrival)
        return sorted(
            arrivals.values(), key=lambda one: (one.withdrawal, one.submitted, one.number)
        )

    def fetch(self, arrival: Arrival, limit: int) -> Arrival:
        """Read and verify the files of a new submission, as they were when it was listed."""
        if arrival.withdrawal or arrival.problems:
            return arrival
        read = partial(self.read_predictions, revision=self._requests[arrival.number].head)
        # Any other error is not the submitter's.
        found = read_arrival(arrival, read, limit, (NoSuchFileError, TooLargeError, DigestError))
        if found.problems:
            return found
        about = found.read_about()
        if about.author is None and about.submitted is None:
            return found
        named = (
            "the description names an author or a time; on the Hub, these are the pull request's"
        )
        return replace(found, problems=(named,))

    def read_predictions(self, path: str, limit: int, revision: str = "main") -> bytes:
        """Return predictions, or another file of a submission, verified by their digest."""
        data = self._hub.read(self._submissions, path, revision, limit)
        check_digest(path, data)
        return data

    def read_results(self, leaderboard: Leaderboard) -> Results:
        """Read all entries and records, of one commit."""
        return self._read_results_at(leaderboard, self._hub.head(self._find_results(leaderboard)))

    def write_results(self, arrival: Arrival | None, files: Mapping[str, bytes]) -> None:
        """Commit the verified files of an arrival, then records and entries, unless another judge has settled it."""
        if arrival is not None and arrival.files:
            title = f"Accept submission {arrival.submission[:12]} of {arrival.author}"
            self._hub.commit(
                self._submissions, arrival.files, message=title, description=arrival.source or ""
            )
        results = self._find_results()

        def select_new(head: str | None) -> dict[str, bytes]:
            selected = dict(files)
            for path in files:
                if head is not None and path.startswith("entries/"):
                    with suppress(NoSuchFileError):
                        if is_overruled(path, files[path], self._hub.read(results, path, head)):
                            del selected[path]
            return selected

        self._commit_on_top(results, select_new, "Add results")

    def update_index(self, make: Callable[[Results], Mapping[str, bytes]]) -> None:
        """Commit the files derived from all results on top of the commit from which these were read."""
        leaderboard = self.read_leaderboard()
        results = self._find_results(leaderboard)

        def make_files(head: str | None) -> Mapping[str, bytes]:
            if head is None:
                raise RequestError(f"no such {results}; create it with closeread leaderboard init")
            return make(self._read_results_at(leaderboard, head))

        self._commit_on_top(results, make_files, "Update the index")

    def answer(self, arrival: Arrival, text: str) -> None:
        """Comment on the pull request, once for every state of it, and close it, unless it has changed since."""
        judged = self._requests[arrival.number]
        mark = f"Judged at commit `{judged.head[:12]}`."
        now = self._hub.read_pull_request(self._submissions, arrival.number)
        if not any(author == self._hub.user and mark in said for author, said in now.comments):
            self._hub.comment(self._submissions, arrival.number, f"{text}\n\n{mark}")
        if now.head == judged.head:
            self._hub.close(self._submissions, arrival.number)

    def read_index(self) -> dict[str, Any]:
        """Read the index."""
        try:
            results = self._find_results()
            return parse_index(self._hub.read(results, INDEX), f"{results.url}/{INDEX}")
        except (NoSuchFileError, NoSuchRepositoryError):
            found = f"{self.place} has no results yet"
            raise RequestError(f"{found}; run closeread leaderboard judge {self.place}") from None

    def link(self, path: str) -> str:
        """Return the address of a file's page."""
        return f"{self._find_results().url}/blob/main/{path}"

    def _find_results(self, leaderboard: Leaderboard | None = None) -> Repository:
        found = leaderboard or (self._declared[1] if self._declared else self.read_leaderboard())
        return self._submissions if found.results is None else Repository(found.results, "dataset")

    def _commit_on_top(
        self,
        repository: Repository,
        make: Callable[[str | None], Mapping[str, bytes]],
        message: str,
    ) -> None:
        """Commit the files made for a head on top of it, and make them again while other judges are faster."""
        for _ in range(CONFLICTS):
            head = self._hub.head(repository)
            files = make(head)
            try:
                if files:
                    self._hub.commit(repository, files, message=message, parent=head)
            except ConflictError:
                time.sleep(random.uniform(0, 1))  # noqa: S311
            else:
                return
        raise ConflictError(f"{repository}: others commit all the time; try again later")

    def _read_results_at(self, leaderboard: Leaderboard, head: str | None) -> Results:
        if head is None:
            return Results({}, {})
        repository = self._find_results(leaderboard)

        def is_wanted(path: str) -> bool:
            return (match := RESULT.fullmatch(path)) is not None and match[2] in leaderboard.boards

        files = self._hub.read_files(repository, head, is_wanted, self._kept)
        return read_results(repository.url, files.items(), DAMAGED)


def read_request(paths: Sequence[str], boards: Collection[str]) -> Arrival | None:
    """Read the request of a pull request from the paths that it adds, changes or deletes; without its author and time.

    Anybody can open a pull request and put anything into it.  Only names that closeread makes count: a submission is
    one description named after its digest, and the predictions beside it; a withdrawal is one file named after a
    submission.  An invalid request is assigned to any board, so that it is answered; one that is not about submissions
    is left to the organisers (None).
    """
    if not any(OURS.search(path) for path in paths):
        return None
    found = [match for path in paths if (match := NAMED.fullmatch(path)) and match[2] in boards]
    board = (
        found[0][2]
        if found
        else next((b for b in boards if any(f"/{b}/" in path for path in paths)), None)
    )
    board = board or next(iter(boards))
    predictions = [path for path in paths if is_predictions_path(path, board)]
    others = [
        path
        for path in paths
        if path not in predictions and path not in [match[0] for match in found]
    ]
    is_withdrawal = bool(found) and found[0][1] == "withdrawals"
    problems = []
    if len(found) != 1:
        problems.append(
            f"the pull request has {pluralize(len(found), 'description')} of submissions and withdrawals named after "
            f"their digests, for boards of this leaderboard (expected 1; boards: {', '.join(boards)})"
        )
    if len(predictions) > (0 if is_withdrawal else 1):
        problems.append(
            f"the pull request has {pluralize(len(predictions), 'file')} of predictions"
        )
    if others:
        problems.append(
            f"the pull request touches {pluralize(len(others), 'other file')}: {join_names(others)}"
        )
    if problems:
        return Arrival(
            board, "", False, "", "", problems=(*problems, "send submissions with closeread submit")
        )
    return Arrival(board, found[0][4], is_withdrawal, "", "")
