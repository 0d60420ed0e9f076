"""A leaderboard on this machine: its page, with a form to submit by.

It listens to 127.0.0.1, for the user who runs it: that is the author of what is submitted, whoever else can open pages
of this machine.  Predictions are validated and scored in a process of limited time and memory.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import Callable, Mapping
from socket import create_server
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

from closeread.exceptions import Problem, RequestError
from closeread.files import read_at_most
from closeread.leaderboard.declaration import Board
from closeread.leaderboard.guards import (
    HOSTS,
    BodyLimit,
    SafeHeaders,
    check_origin,
    find_session,
    is_own_form,
    set_session,
    sign,
    tell_error,
)
from closeread.leaderboard.page import render_page
from closeread.leaderboard.service import ScoringError, Service
from closeread.leaderboard.submission import (
    DIGEST,
    About,
    Submission,
    find_suffix,
    predictions_path,
)

FIELDS = {
    "system": "Name of the system",
    "model": "Model on the Hub",
    "paper": "Paper",
    "code": "Code",
    "description": "Description",
}
"""What is asked about a system, with the words of the form."""

OVERHEAD = 100_000
"""How many bytes a form may have besides the predictions."""

PATIENCE = 3
"""How many seconds the server waits for answers that are not complete when it is stopped."""

SOON = 5
"""How many seconds an answer waits for its submission to be judged; after them, it tells that this is not done yet."""

OLD = "This page was loaded before the leaderboard was served anew, or in another window. Please submit again."
ANSWER = "#answer"
"""Where the page tells what became of a form; browsers go there, also without a script."""


def make_app(service: Service) -> SafeHeaders:
    """Return the application that serves a store.

    Args:
        service: the store, with what is needed to judge.
    """
    secret = secrets.token_bytes(32)
    limit = max(board.limits.bytes for board in service.store.read_leaderboard().boards.values()) + OVERHEAD
    # Forms wait here, not in threads, which others need to see the page.
    turn, judging = asyncio.Lock(), asyncio.Lock()
    tasks: set[asyncio.Task[None]] = set()

    def render(request: Request, form: Mapping[str, Any], status: int = 200) -> Response:
        session = find_session(request)
        about = {"action": f"/submit{ANSWER}", "token": sign(secret, session), "fields": FIELDS}
        page = render_page(service.store.read_index(), form={**about, "limit": limit - OVERHEAD, **form})
        response = HTMLResponse(page, status)
        set_session(response, session)
        return response

    def show(request: Request) -> Response:
        submitted = request.query_params.get("submitted", "")
        return render(request, service.describe(submitted) if DIGEST.fullmatch(submitted) else {})

    async def judge(submission: str) -> None:
        async with judging:
            await run_in_threadpool(service.judge, submission)

    async def submit(request: Request) -> Response:
        check_origin(request)
        async with request.form(max_files=1, max_fields=10, max_part_size=OVERHEAD) as form:
            if not is_own_form(secret, request, form):
                return await run_in_threadpool(render, request, {"values": _read_values(form), "problems": [OLD]}, 403)
            async with turn:
                found = await run_in_threadpool(_settle, service, form)
        if not isinstance(found, str):
            return await run_in_threadpool(render, request, found)
        judged = asyncio.create_task(judge(found))
        tasks.add(judged)  # which has to be kept somewhere
        judged.add_done_callback(tasks.discard)
        await asyncio.wait([judged], timeout=SOON)
        return RedirectResponse(f"/?submitted={found}{ANSWER}", 303)

    app = Starlette(
        routes=[Route("/", show, methods=["GET"]), Route("/submit", submit, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS), Middleware(BodyLimit, limit=limit)],
        exception_handlers=dict.fromkeys((HTTPException, FormParserError, Exception), tell_error),
    )
    app.router.redirect_slashes = False
    return SafeHeaders(app)


def _settle(service: Service, form: FormData) -> str | dict[str, Any]:
    """Validate a form and, unless it is only to be checked, submit it.

    Returns:
        The id of the submission, or what to tell in the form.
    """
    values = _read_values(form)
    again: dict[str, Any] = {"values": values, "is_open": True}
    try:
        board = service.store.read_leaderboard().find(values["board"])
    except RequestError as error:
        return {**again, "problems": [str(error)]}
    again["board"] = board.name
    upload = form.get("predictions")
    file = (upload.filename or "") if isinstance(upload, UploadFile) else ""
    data = read_at_most(upload.file, board.limits.bytes) if isinstance(upload, UploadFile) else b""
    given = {name: values[name] for name in FIELDS if values[name] or name == "system"}
    about = About(board.name, predictions_path(board.name, data, find_suffix(file)), **given)
    submission = Submission(about, data)
    found = about.find_problems(board.name)
    again["invalid"] = [str(problem.path[0]) for problem in found]
    problems = [_word(problem) for problem in found]
    try:
        problems += _find_problems(service, board, submission, file)
        if problems:
            return {**again, "problems": problems, "file": file}
        if form.get("do") == "check":
            return {**again, "message": f"The predictions in {file} are valid. Nothing was submitted."}
        service.submit(board, submission)
    except ScoringError as error:
        service.report("errors", f"{about.id[:12]}: {error}")
        return {**again, "problems": ["Scoring failed; the reason is printed where this page is served."]}
    except OSError as error:
        service.report("errors", f"{about.id[:12]}: {error}")
        return {**again, "problems": [f"This can't be saved: {error.strerror or 'the reason is not known'}."]}
    return about.id


def _find_problems(service: Service, board: Board, submission: Submission, file: str) -> tuple[str, ...]:
    """Return what is wrong with the file of predictions."""
    limit = board.limits.bytes
    if not file and not submission.predictions:
        return ("Predictions: no file is chosen",)
    if len(submission.predictions) > limit:
        return (f"Predictions: the file is larger than {limit:,} bytes, the limit of this board",)
    return service.find_problems(board, submission)


def _word(problem: Problem) -> str:
    """Return what is wrong with a field, by the words of the form."""
    return f"{FIELDS.get(str(problem.path[0]), problem.path[0])}: {problem.what}"


def _read_values(form: FormData) -> dict[str, str]:
    """Return the texts of a form; a description is one line, whatever lines it was typed in."""
    found = {name: form.get(name) for name in (*FIELDS, "board")}
    texts = {name: text.strip() if isinstance(text, str) else "" for name, text in found.items()}
    return {**texts, "description": re.sub(r"(?<! ) *+\r?\n\s*+", " ", texts["description"])}


class _Server(uvicorn.Server):
    """A server that does not wait for what is scored when it is stopped."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the workers, so that whoever waits for one is answered, and then the server."""
        self._service.close()
        super().handle_exit(sig, frame)


def serve(service: Service, port: int, n_workers: int, announce: Callable[[int], None]) -> None:
    """Serve a store on 127.0.0.1 until the process is interrupted.

    Args:
        service: the store, with what is needed to judge.
        port: the port; 0 for one that is free.
        n_workers: the number of processes that score what has arrived before.
        announce: called with the port, as soon as there are answers.

    Raises:
        RequestError: the port can't be used; gold is missing, or is not that of the board.
    """
    try:
        listener = create_server(("127.0.0.1", port))
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise RequestError(f"port {port} can't be used: {reason} (--port 0 takes one that is free)") from None
    with listener:
        service.catch_up(n_workers)
        config = uvicorn.Config(
            make_app(service),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=PATIENCE,
        )
        server = _Server(config, service)
        announce(listener.getsockname()[1])
        try:
            server.run([listener])
        except (KeyboardInterrupt, SystemExit):
            if not server.should_exit:
                raise
            # It was stopped as it is meant to be; uvicorn raises the signal once more when all is done.
        finally:
            service.close()
