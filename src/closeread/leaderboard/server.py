"""A leaderboard on this machine: its page, with a form to submit by.

For one user or a class room behind a proxy of its own: it listens to 127.0.0.1, and the author of what is submitted is
the user who runs it.  Predictions are validated and scored by the judge's workers, in processes of limited time and
memory.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any

from closeread.errors import InputError, MissingExtraError, Problem, RequestError, SubmissionError
from closeread.leaderboard.answers import describe_submission
from closeread.leaderboard.count_cache import CountCache
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.judge import Judged, judge
from closeread.leaderboard.page import render_page
from closeread.leaderboard.store import Store
from closeread.leaderboard.submission import Submission, make_submission
from closeread.leaderboard.worker import Job, Worker

try:
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.datastructures import FormData, UploadFile
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, RedirectResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError as error:
    raise MissingExtraError("closeread leaderboard serve", "closeread[serve]") from error

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ["127.0.0.1", "localhost"]
COOKIE = "closeread"
FIELDS = ("system", "model", "paper", "code", "description")
OVERHEAD = 100_000
"""How many bytes a form may have besides the predictions."""

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class BodyLimit:
    """Refuse requests with a large body while it is read, before anything is parsed.

    Args:
        app: the application.
        limit: the largest number of bytes.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count the bytes of its body."""
        size = 0

        async def count() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._limit:
                raise HTTPException(413, f"The form has more than {self._limit:,} bytes, the limit of this board.")
            return message

        await self._app(scope, count if scope["type"] == "http" else receive, send)


@dataclass
class Served:
    """A store that is served.

    Attributes:
        store: the store.
        golds: the organiser's own gold by board.
        cache: where counts are kept.
        n_workers: the number of processes that score.
        secret: what the tokens of forms are made from.
        workers: a worker for each board in use, for validation.
        lock: held while something is validated or judged.
    """

    store: Store
    golds: Mapping[str, Path]
    cache: CountCache
    n_workers: int
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    workers: dict[str, Worker] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def judge(self) -> Judged:
        """Judge what has arrived, and rebuild the index."""
        with self.lock:
            return judge(self.store, self.golds, n_workers=self.n_workers, cache=self.cache)

    def validate(self, board: Board, submission: Submission) -> None:
        """Validate predictions as the judge will.

        Raises:
            SubmissionError: they are invalid; all problems at once.
        """
        with self.lock:
            if board.name not in self.workers:
                self.workers[board.name] = Worker(board, self.golds.get(board.name))
            about = submission.about
            outcome = self.workers[board.name].score(Job(about.id, about.predictions, submission.predictions))
            if outcome.error is not None:
                self.workers.pop(board.name).close()
        problems = outcome.problems or ((outcome.error,) if outcome.error else ())
        if problems:
            raise SubmissionError("predictions", [Problem(what) for what in problems])

    def sign(self, session: str) -> str:
        """Return the token of the forms of a session."""
        return hmac.digest(self.secret, session.encode(), "sha256").hex()

    def close(self) -> None:
        """End the workers."""
        for worker in self.workers.values():
            worker.close()


def make_app(served: Served) -> Starlette:
    """Return the application that serves a store.

    Args:
        served: the store, with what is needed to judge.

    Raises:
        RequestError: gold is missing, or is not that of the board.
    """
    served.judge()
    limit = max(board.limits.bytes for board in served.store.read_leaderboard().boards.values()) + OVERHEAD

    async def show(request: Request) -> Response:
        accepted = request.query_params.get("submitted")
        message = None if accepted is None else "Submitted and judged: see the ranking."
        return await run_in_threadpool(_render, served, request, {"message": message} if message else {})

    async def submit(request: Request) -> Response:
        async with request.form(max_files=1, max_fields=20, max_part_size=OVERHEAD) as form:
            _check_token(served, request, form)
            values = {name: str(form.get(name) or "").strip() for name in (*FIELDS, "board")}
            upload = form.get("predictions")
            data = await upload.read() if isinstance(upload, UploadFile) else b""
            file = str(upload.filename or "") if isinstance(upload, UploadFile) else ""
            check_only = form.get("do") == "check"
        return await run_in_threadpool(_submit, served, request, values, data, file, check_only)

    return Starlette(
        routes=[Route("/", show, methods=["GET"]), Route("/submit", submit, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS), Middleware(BodyLimit, limit=limit)],
    )


def _check_token(served: Served, request: Request, form: FormData) -> None:
    """Check that a form comes from a page of ours.

    Raises:
        HTTPException: it does not.
    """
    session = request.cookies.get(COOKIE, "")
    origin = request.headers.get("origin")
    foreign = origin is not None and origin != f"http://{request.headers.get('host')}"
    if foreign or not hmac.compare_digest(str(form.get("token")).encode(), served.sign(session).encode()):
        raise HTTPException(403, "This form is not from this page, or is too old; load the page again.")


def _submit(
    served: Served, request: Request, values: dict[str, str], data: bytes, file: str, check_only: bool
) -> Response:
    """Validate a form and, if it is not only to be checked, submit and judge it."""
    problems: list[str] = []
    try:
        board = served.store.read_leaderboard().find(values["board"])
        submission = _read_submission(board, values, data, file)
        served.validate(board, submission)
    except InputError as error:
        problems = [problem.message for problem in error.problems]
    except RequestError as error:
        problems = [str(error)]
    if problems:
        return _render(served, request, {"values": values, "problems": problems}, 422)
    if check_only:
        return _render(served, request, {"values": values, "message": "These predictions are valid."})
    served.store.send(submission.files, *describe_submission(board, submission.about))
    judged = served.judge()
    if judged.waiting and not judged.accepted:
        waits = "Submitted. It waits for tomorrow, because the daily limit is reached."
        return _render(served, request, {"message": waits})
    return RedirectResponse(f"/?submitted={submission.about.id}", 303)


def _read_submission(board: Board, values: Mapping[str, str], data: bytes, file: str) -> Submission:
    """Make a submission from a form.

    Raises:
        SubmissionError: it is invalid; all problems at once.
    """
    with TemporaryDirectory(prefix="closeread-") as scratch:
        suffix = "".join(Path(file).suffixes[-2:]) if file.endswith(".gz") else Path(file).suffix
        path = Path(scratch) / f"predictions{suffix if suffix.isascii() and '/' not in suffix else ''}"
        path.write_bytes(data)
        about = {name: values[name] or None for name in FIELDS if name != "system"}
        return make_submission(board, path, system=values["system"], **about)


def _render(served: Served, request: Request, form: Mapping[str, Any], status: int = 200) -> Response:
    """Return the page with its form, and the cookie of the session."""
    session = request.cookies.get(COOKIE) or secrets.token_hex(16)
    page = render_page(served.store.read_index(), form={"action": "/submit", "token": served.sign(session), **form})
    response = HTMLResponse(page, status, HEADERS)
    response.set_cookie(COOKIE, session, httponly=True, samesite="strict")
    return response


def serve(served: Served, port: int) -> None:
    """Serve a store on 127.0.0.1 until the process is interrupted."""
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise MissingExtraError("closeread leaderboard serve", "closeread[serve]") from error
    try:
        uvicorn.run(make_app(served), host="127.0.0.1", port=port, log_level="warning", server_header=False)
    finally:
        served.close()
