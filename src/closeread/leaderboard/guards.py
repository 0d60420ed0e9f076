"""What keeps a server on this machine from strangers: pages of other sites, large requests, and what an answer tells.

A browser lets any site send forms to 127.0.0.1, and a site whose name leads there (DNS rebinding) read the answers.  So
only our own names are served, forms need a token that only our own page has, and no page of ours is shown inside of
others.
"""

from __future__ import annotations

import hmac
import re
import secrets
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING

from python_multipart.exceptions import FormParserError
from starlette.datastructures import FormData, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
COOKIE = "closeread"
SESSION = re.compile("[0-9a-f]{32}")

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the page itself declares what it may load
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

NO_FORM = "This is not a form as this page sends it."
FAILED = "Something went wrong here; the details are printed where this page is served."


class SafeHeaders:
    """Add headers to every response, those of errors included.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, add)


class BodyLimit:
    """Refuse requests with a large body before it is read, or while it is if its length is not declared.

    Args:
        app: the application.
        limit: the largest number of bytes.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app, self._limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count the bytes of its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        size = int(declared) if declared.isdecimal() else 0
        received = 0

        async def count() -> Message:
            nonlocal received
            message = await receive() if size <= self._limit else {}
            received += len(message.get("body", b""))
            if max(size, received) > self._limit:
                what = f"A form may have at most {self._limit:,} bytes here."
                raise HTTPException(413, what, {"Connection": "close"})  # instead of waiting for the rest
            return message

        await self._app(scope, count, send)


def find_session(request: Request) -> str:
    """Return the session of a browser; a new one if it has none that we made."""
    session = request.cookies.get(COOKIE, "")
    return session if SESSION.fullmatch(session) else secrets.token_hex(16)


def set_session(response: Response, session: str) -> None:
    """Let the browser keep its session, out of the reach of scripts and other sites."""
    response.set_cookie(COOKIE, session, httponly=True, samesite="strict")


def sign(secret: bytes, session: str) -> str:
    """Return the token of the forms of a session."""
    return hmac.digest(secret, session.encode(), "sha256").hex()


def is_own_form(secret: bytes, request: Request, form: FormData) -> bool:
    """Return whether a form has the token of its session."""
    token = form.get("token")
    expected = sign(secret, request.cookies.get(COOKIE, ""))
    return isinstance(token, str) and hmac.compare_digest(token.encode("utf-8", "replace"), expected.encode())


def check_origin(request: Request) -> None:
    """Check that a form comes from a page of this server, as far as the browser tells.

    Raises:
        HTTPException: it does not, or is no form.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if origin not in (None, f"http://{request.headers.get('host')}") or site not in (None, "same-origin"):
        raise HTTPException(403, "This form was sent by another site.")
    kind = request.headers.get("content-type", "")
    if not re.fullmatch(r"multipart/form-data; *boundary=[^;]+", kind, re.IGNORECASE):
        raise HTTPException(415, NO_FORM)


def tell_error(request: Request, error: Exception) -> Response:
    """Return a page with one sentence; of what went wrong here, none of the details."""
    status, sentence = 500, FAILED
    if isinstance(error, HTTPException):
        status, sentence = error.status_code, error.detail
        if sentence == HTTPStatus(status).phrase:
            sentence = {404: "There is no such page.", 405: "This page can't be used that way."}.get(status, sentence)
    elif isinstance(error, FormParserError):  # which older versions of Starlette do not handle
        status, sentence = 400, "This form was cut off on its way."
    title = HTTPStatus(status).phrase
    text = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<h1>{title}</h1>\n<p>{escape(sentence)}</p>\n'
        '<p><a href="/">To the leaderboard</a></p>\n'
    )
    return HTMLResponse(text, status, getattr(error, "headers", None))
