"""A leaderboard on this machine: its page, with a form for submissions.

It listens to 127.0.0.1, for the user who runs it: that is the author of what is submitted, whoever else can open pages
of this machine.  A browser lets any site send forms to 127.0.0.1, and a site whose name leads there (DNS rebinding)
read the answers; so only our own names are served, forms of other origins are refused, and no page of ours is shown
inside of others.  Predictions are validated and scored in a sandbox; one a board is kept, so that an answer does not
wait for gold to be read.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from html import escape
from http import HTTPStatus
from pathlib import Path
from socket import create_server
from threading import Lock
from types import FrameType
from typing import Any

import uvicorn
from python_multipart.exceptions import FormParserError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from closeread.exceptions import RequestError, pluralize
from closeread.files import package_folder, read_at_most
from closeread.leaderboard.declaration import Board, digest, store_path
from closeread.leaderboard.index import find_row
from closeread.leaderboard.judge import judge
from closeread.leaderboard.page import format_rank, format_value, render_page
from closeread.leaderboard.results import CountCache
from closeread.leaderboard.sandbox import Sandbox
from closeread.leaderboard.scoring import Job, Outcome, open_sandbox, score_in
from closeread.leaderboard.store import Store
from closeread.leaderboard.submission import (
    DIGEST,
    About,
    Submission,
    describe_submission,
    find_suffix,
)

HOSTS = ("127.0.0.1", "localhost")
HEADERS = {
    "Cache-Control": "no-store",
    # the page itself declares what it may load
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of every answer, those about errors included."""
FIELDS = {
    "system": "Name of the system",
    "model": "Model on the Hub",
    "paper": "Paper",
    "code": "Code",
    "description": "Description",
}
"""The fields about a system, with their labels in the form."""

OVERHEAD = 100_000  # how many bytes a form may have besides the predictions
# how many seconds the server waits for answers that are not complete when it is stopped
PATIENCE = 3
# how many seconds an answer waits for its submission to be judged before it says that this is not
# done yet
SOON = 5
WAITING = "Submitted, but not judged yet:"
ELSEWHERE = "the reason is printed where this page is served."
# the place on the page with the outcome of a form; browsers go there even without a script
ANSWER = "#answer"


class ScoringError(Exception):
    """Predictions that could not be scored, through no fault of theirs."""


class Service:
    """A store whose submissions are judged as they come: together if they wait for one another.

    `report` is called with the outcome of every submission, as the judge calls `progress`.
    """

    def __init__(
        self,
        store: Store,
        golds: Mapping[str, Path],
        cache: CountCache,
        report: Callable[[str, str], None],
    ) -> None:
        self.store, self.report = store, report
        self._golds, self._cache = golds, cache
        self._workers: dict[str, tuple[Board, Sandbox]] = {}
        self._waiting: dict[str, str] = {}
        self._is_closed = False
        self._lock = Lock()

    def catch_up(self, n_workers: int) -> None:
        """Judge the submissions that arrived earlier, with several workers."""
        done = judge(
            self.store, self._golds, n_workers=n_workers, cache=self._cache, progress=self.report
        )
        for notice in done.notices:
            self.report("note", notice)

    def submit(self, board: Board, submission: Submission) -> None:
        """Save predictions, which then wait for `judge`."""
        self.store.send(submission.files, *describe_submission(board, submission.about))
        self._waiting[submission.about.id] = board.name

    def judge(self, submission: str) -> None:
        """Judge everything that waits, unless the submission was judged meanwhile; one thread at a time."""
        if submission not in self._waiting:
            return
        together = list(self._waiting)
        try:
            judge(
                self.store,
                self._golds,
                n_workers=1,
                cache=self._cache,
                progress=self.report,
                score=lambda board, gold, jobs: (self.score(board, job) for job in jobs),
            )
        except (ScoringError, OSError) as error:
            self.report("errors", str(error))
        finally:
            for one in together:
                del self._waiting[one]

    def describe(self, submission: str) -> dict[str, Any]:
        """Return the outcome of a submission, as the form shows it; empty if there is no such submission."""
        board, row = find_row(self.store.read_index(), submission)
        if row:
            title = next(
                one["title"] for one in board["metrics"] if one["name"] == board["headline"]
            )
            score = f"{title} {format_value(row['scores'].get(board['headline']))}"
            told = {
                "id": submission,
                "system": row["system"],
                "score": score,
                "rank": format_rank(row["rank"]),
            }
            return {"board": board["name"], "accepted": told}
        if (waits_for := self._waiting.get(submission)) is not None:
            why = f"{pluralize(len(self._waiting), 'submission')} waiting for the judge. Reload this page in a while."
            return {"board": waits_for, "message": f"{WAITING} {why}"}
        leaderboard = self.store.read_leaderboard()
        results = self.store.read_results(leaderboard)
        if (entry := results.entries.get(submission)) is not None:
            if entry.status == "withdrawn":
                return {
                    "board": entry.board,
                    "message": "This was submitted before, and withdrawn.",
                }
            return {"board": entry.board, "problems": list(entry.problems)}
        for arrival in self.store.list_arrivals(leaderboard, results):
            if arrival.submission == submission:
                per_day = leaderboard.find(arrival.board).limits.per_day
                key = arrival.author, datetime.now(UTC).date().isoformat()
                same = [
                    one.status for one in results.entries.values() if (one.author, one.day) == key
                ]
                why = f"scoring failed; {ELSEWHERE}"
                if len(same) - same.count("refused") >= per_day:
                    limit = pluralize(per_day, "submission")
                    why = f"the limit is {limit} per day, so it waits for tomorrow (UTC)."
                return {"board": arrival.board, "message": f"{WAITING} {why}"}
        return {}

    def close(self) -> None:
        """End the workers and their current jobs."""
        self._is_closed = True
        for _, worker in tuple(self._workers.values()):
            worker.close()

    def score(self, board: Board, job: Job) -> Outcome:
        """Score a job by the worker of the board: a new one if the board was changed, or the last one failed."""
        with self._lock:
            known, worker = self._workers.pop(board.name, (None, None))
            if worker is None or known != board:
                if worker is not None:
                    worker.close()
                worker = open_sandbox(board, self._golds.get(board.name))
            self._workers[board.name] = board, worker
            # perhaps meanwhile, by another thread, which has not seen this worker
            if self._is_closed:
                worker.close()
                raise ScoringError("the server is stopped")
            outcome = score_in(worker, board, job)
            if outcome.error is not None:
                self._workers.pop(board.name, None)
                worker.close()
            return outcome


def make_app(service: Service) -> Starlette:
    """Return the application that serves a store."""
    limit = max(board.limits.bytes for board in service.store.read_leaderboard().boards.values())
    # Forms wait here, not in threads, which others need to see the page.
    turn, judging = asyncio.Lock(), asyncio.Lock()
    tasks: set[asyncio.Task[None]] = set()

    def render(form: Mapping[str, Any]) -> Response:
        about = {"action": f"/submit{ANSWER}", "fields": FIELDS, "limit": limit}
        return HTMLResponse(
            render_page(
                service.store.read_index(), form={**about, **form}, address=service.store.place
            )
        )

    def show(request: Request) -> Response:
        submitted = request.query_params.get("submitted", "")
        return render(service.describe(submitted) if DIGEST.fullmatch(submitted) else {})

    async def judge_soon(submission: str) -> None:
        async with judging:
            await run_in_threadpool(service.judge, submission)

    async def submit(request: Request) -> Response:
        _check_form(request, limit + OVERHEAD)
        async with request.form(max_files=1, max_fields=10, max_part_size=OVERHEAD) as form, turn:
            found = await run_in_threadpool(_settle, service, form)
        if not isinstance(found, str):
            return await run_in_threadpool(render, found)
        judged = asyncio.create_task(judge_soon(found))
        tasks.add(judged)  # which has to be kept somewhere
        judged.add_done_callback(tasks.discard)
        await asyncio.wait([judged], timeout=SOON)
        return RedirectResponse(f"/?submitted={found}{ANSWER}", 303)

    app = Starlette(
        routes=[Route("/", show, methods=["GET"]), Route("/submit", submit, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)],
        exception_handlers=dict.fromkeys((HTTPException, FormParserError, Exception), _tell_error),
    )
    app.router.redirect_slashes = False
    return app


def _check_form(request: Request, limit: int) -> None:
    """Refuse a form that does not come from our page, as far as the browser tells, or is too large to be read."""
    headers = request.headers
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin not in (None, f"http://{headers.get('host')}") or site not in (None, "same-origin"):
        raise HTTPException(403, "This form was sent by another site.")
    if not re.fullmatch(
        r"multipart/form-data; *boundary=[^;]+", headers.get("content-type", ""), re.IGNORECASE
    ):
        raise HTTPException(415, "This is not a form as this page sends it.")
    size = headers.get("content-length", "")
    # The server holds senders to the size that they declare, unless they also send chunks.
    is_declared = size.isdecimal() and "transfer-encoding" not in headers
    if not is_declared or int(size) > limit:
        what = f"A form may have at most {limit:,} bytes here, and has to declare them."
        # Instead of waiting for the rest.
        raise HTTPException(413 if is_declared else 411, what, {"Connection": "close"})


def _tell_error(request: Request, error: Exception) -> Response:
    """Return a page with one sentence, without details of errors on this machine."""
    status, sentence = (
        500,
        "Something went wrong here; the details are printed where this page is served.",
    )
    if isinstance(error, HTTPException):
        status, sentence = error.status_code, error.detail
        if sentence == HTTPStatus(status).phrase:
            sentence = {
                404: "There is no such page.",
                405: "This page can't be used that way.",
            }.get(status, sentence)
    elif isinstance(error, FormParserError):  # which older versions of Starlette do not handle
        status, sentence = 400, "This form was cut off on its way."
    page = (package_folder("closeread.leaderboard") / "templates" / "error.html").read_text("utf-8")
    text = page.format(title=HTTPStatus(status).phrase, sentence=escape(sentence))
    return HTMLResponse(text, status, getattr(error, "headers", None))


def _settle(service: Service, form: FormData) -> str | dict[str, Any]:
    """Validate a form, and submit it unless it is only checked; return its id, or the values to show in the form."""
    texts = {name: form.get(name) for name in (*FIELDS, "board")}
    values = {name: text.strip() if isinstance(text, str) else "" for name, text in texts.items()}
    values["description"] = _join_lines(values["description"])
    again: dict[str, Any] = {"values": values, "is_open": True}
    try:
        board = service.store.read_leaderboard().find(values["board"])
    except RequestError as error:
        return {**again, "problems": [str(error)]}
    again["board"] = board.name
    file, data = "", b""
    if isinstance(upload := form.get("predictions"), UploadFile):
        file, data = upload.filename or "", read_at_most(upload.file, board.limits.bytes)
    given = {name: values[name] for name in FIELDS if values[name] or name == "system"}
    about = About(
        board.name, store_path("submissions", board.name, digest(data), find_suffix(file)), **given
    )
    found = about.find_problems(board.name)
    again["invalid"] = [str(problem.path[0]) for problem in found]
    problems = [
        f"{FIELDS.get(name, name)}: {one.what}"
        for name, one in zip(again["invalid"], found, strict=True)
    ]
    try:
        if not file and not data:
            problems.append("Predictions: no file is chosen")
        elif len(data) > (limit := board.limits.bytes):
            problems.append(
                f"Predictions: the file is larger than {limit:,} bytes, the limit of this board"
            )
        else:
            outcome = service.score(board, Job(about.id, about.predictions, data))
            if outcome.error is not None:
                raise ScoringError(outcome.error)  # noqa: TRY301
            problems += outcome.problems
        if problems:
            return {**again, "problems": problems, "file": file}
        if form.get("do") == "check":
            return {
                **again,
                "message": f"The predictions in {file} are valid. Nothing was submitted.",
            }
        service.submit(board, Submission(about, data))
    except (ScoringError, OSError) as error:
        service.report("errors", f"{about.id[:12]}: {error}")
        failed = f"Scoring failed; {ELSEWHERE}"
        if isinstance(error, OSError):
            failed = f"This can't be saved: {error.strerror or 'the reason is not known'}."
        return {**again, "problems": [failed]}
    return about.id


def _join_lines(text: str) -> str:
    """Return a description as one line, whatever lines it was typed in."""
    return re.sub(r"(?<! ) *+\r?\n\s*+", " ", text)


def serve(service: Service, port: int, n_workers: int, announce: Callable[[int], None]) -> None:
    """Serve a store on 127.0.0.1 until the process is interrupted; `announce` takes the port when there are answers."""

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            service.close()  # so that everybody who waits for a score gets an answer
            super().handle_exit(sig, frame)

    try:
        listener = create_server(("127.0.0.1", port))
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise RequestError(
            f"port {port} can't be used: {reason} (--port 0 takes one that is free)"
        ) from None
    with listener:
        service.catch_up(n_workers)
        config = uvicorn.Config(
            make_app(service),
            log_level="warning",
            server_header=False,
            headers=list(HEADERS.items()),
            timeout_graceful_shutdown=PATIENCE,
        )
        server = Server(config)
        announce(listener.getsockname()[1])
        try:
            server.run([listener])
        except (KeyboardInterrupt, SystemExit):
            if not server.should_exit:
                raise
            # It was stopped as it is meant to be; uvicorn raises the signal once more when all is done.
        finally:
            service.close()
