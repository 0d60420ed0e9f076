"""Requests to servers: over https, no more than is expected, in limited time, and again where that may help."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

SECONDS = 600.0
"""How long a try may take."""

TRIES = 4
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds: how long to wait before the second try, and for how long a server may ask to wait."""

UNDECLARED_SIZE = 2**26
"""The most bytes of a file whose size is not declared: forty times the largest of the others."""

CONNECT_SECONDS, READ_SECONDS = 10, 60
"""How long a connection may take to be made, and how long nothing may arrive."""

MOST_REDIRECTS = 5
CHUNK = 2**14

BUSY_STATUSES = frozenset({408, 429, *range(500, 600)})

_is_hidden: ContextVar[bool] = ContextVar("is_hidden", default=False)


class DownloadError(Exception):
    """What was asked for can't be had; the message gives the reason.

    Attributes:
        may_pass: whether another try may succeed.
        wait: for how many seconds the server asks to wait before it; None if it does not say.
        status: the HTTP status; None if there is no answer.
    """

    def __init__(self, what: str, *, may_pass: bool = False, wait: float | None = None, status: int | None = None):
        super().__init__(what)
        self.may_pass, self.wait, self.status = may_pass, wait, status


class TooLargeError(Exception):
    """More is sent than may be; the message gives the limit."""


def open_session() -> requests.Session:
    """Return a session for https alone, after redirects, too."""
    import requests

    session = requests.Session()
    session.max_redirects = MOST_REDIRECTS
    del session.adapters["http://"]
    return session


def receive(
    session: requests.Session, url: str, write: Callable[[bytes], object], limit: int, seconds: float, **options: Any
) -> Mapping[str, str]:
    """Send a GET request, pass on the content of its answer, and return the headers.

    Args:
        session: the session.
        url: the address.
        write: is called with each part of the content, decompressed.
        limit: how many bytes the content may have.
        seconds: how long all of it may take, as looked at after each part of 16 KiB.
        **options: what `requests` takes, such as `params` and `headers`.

    Raises:
        DownloadError: there is no complete answer.
        TooLargeError: it has more bytes.
    """
    import requests
    from urllib3.exceptions import NewConnectionError

    until, left = monotonic() + seconds, limit
    try:
        with session.get(url, stream=True, timeout=(CONNECT_SECONDS, READ_SECONDS), **options) as response:
            status = response.status_code
            if status != 200:
                wait = read_wait(response.headers)
                raise DownloadError(f"HTTP status {status}", may_pass=status in BUSY_STATUSES, wait=wait, status=status)
            for part in response.iter_content(CHUNK):
                if monotonic() > until:
                    raise DownloadError(f"no complete answer within {seconds:,.0f} seconds", may_pass=True)
                left -= len(part)
                if left < 0:
                    raise TooLargeError(f"it has more than {limit:,} bytes")
                write(part)
            return response.headers
    except requests.exceptions.SSLError as error:
        raise DownloadError(_describe_distrust(error)) from None
    except (requests.RequestException, ValueError) as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        broken = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)
        # Without a connection, nobody listens, or there is no such machine, or no network.
        may_pass = isinstance(error, broken) and not isinstance(reason, NewConnectionError)
        raise DownloadError(type(error).__name__, may_pass=may_pass) from None


def try_again(send: Callable[[], T], tries: int, first_wait: float, longest_wait: float) -> T:
    """Call a function that receives something, again after the time that the server asks for, or times that double.

    Raises:
        DownloadError: no try succeeds.
    """
    for number in range(tries):
        try:
            return send()
        except DownloadError as error:
            wait = first_wait * 2**number if error.wait is None else error.wait
            if not error.may_pass:
                raise
            if number == tries - 1:
                raise DownloadError(f"{error}, {tries} tries", status=error.status) from None
            if wait > longest_wait:
                what = f"{error}, and the server asks to wait for {wait:,.0f} seconds"
                raise DownloadError(what, status=error.status) from None
            sleep(wait)
    raise AssertionError  # the last try returns or raises


def download(url: str, file: IO[bytes], size: int | None) -> None:
    """Download a file into an empty one.

    Args:
        url: where it is.
        file: what to write to.
        size: its bytes; None if they are not known.

    Raises:
        DownloadError: it can't be had.
        TooLargeError: what is sent is larger.
        OSError: it can't be written.
    """
    limit = UNDECLARED_SIZE if size is None else size
    with open_session() as session, _show_progress(url, file, size) as write:

        def send() -> None:
            file.seek(0)
            file.truncate()
            receive(session, url, write, limit, SECONDS, headers={"Accept-Encoding": "identity"})

        try:
            try_again(send, TRIES, FIRST_WAIT, LONGEST_WAIT)
        except TooLargeError as error:
            which = "the limit for a file whose size is not declared" if size is None else "those of the released file"
            raise TooLargeError(f"{error}, {which}") from None


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Return for how many seconds a server asks to wait, as a number or a date; None if it does not say."""
    from urllib3.exceptions import HTTPError
    from urllib3.util import Retry

    try:
        return max(0.0, float(Retry().parse_retry_after(headers["Retry-After"][:99])))
    except (KeyError, HTTPError, ValueError, OverflowError):
        return None


def _describe_distrust(error: BaseException) -> str:
    """Say why no secure connection was made: what is wrong with the certificate, if that is the reason."""
    from ssl import SSLCertVerificationError

    cause: Any = error
    while isinstance(cause, BaseException):
        if isinstance(cause, SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message} (REQUESTS_CA_BUNDLE names a file of others)"
        cause = getattr(cause, "reason", None) or (cause.args[0] if cause.args else None)
    return f"no secure connection: {type(error).__name__}"


@contextmanager
def hide_progress() -> Iterator[None]:
    """Show no progress of downloads in the block."""
    token = _is_hidden.set(True)
    try:
        yield
    finally:
        _is_hidden.reset(token)


@contextmanager
def _show_progress(url: str, file: IO[bytes], size: int | None) -> Iterator[Callable[[bytes], object]]:
    """Yield what writes to a file, and shows on a terminal how much it has written, unless that is hidden."""
    if _is_hidden.get() or not sys.stderr.isatty():
        yield file.write
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(url.rpartition("/")[2], total=size)

        def write(part: bytes) -> None:
            file.write(part)
            progress.update(task, completed=file.tell())

        yield write
