"""Download a released file: over https, no more than it can have, in limited time, tried again where that may help.

Conventions: tried again is what may pass: a server that is busy (`BUSY_STATUSES`), a connection that breaks off or
times out.  Tries wait for the time that the server asks for, or for times that double.  What stays ends at the first
try: any other status, a redirect that is not safe, a machine that is not there.  All tries together may take
`SECONDS`, and `TRIES` times the size of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import requests

SECONDS = 600.0
"""How long a file may take, all tries together."""

TRIES = 4
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds: how long to wait before the second try, and for how long a server may ask to wait."""

UNDECLARED_SIZE = 2**26
"""The most bytes of a file whose size is not declared: 64 MiB, forty times the largest of the others."""

SPARE = 2**16
"""Bytes of an answer beyond those of the file, for its headers."""

BUSY_STATUSES = frozenset({408, 429, *range(500, 600)})


_is_hidden: ContextVar[bool] = ContextVar("is_hidden", default=False)


@contextmanager
def hide_progress() -> Iterator[None]:
    """Show no progress of downloads in the block."""
    token = _is_hidden.set(True)
    try:
        yield
    finally:
        _is_hidden.reset(token)


class UnreachableError(Exception):
    """A file can't be downloaded; the message gives the reason."""


class TooLargeError(Exception):
    """What is sent is larger than the released file; the message gives the limit."""


class BusyError(Exception):
    """A request may succeed if it is sent again.

    Args:
        what: the reason.
        wait: for how many seconds the server asks to wait; None if it does not say.
    """

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


@dataclass(frozen=True)
class Downloader:
    """Downloads files.

    Attributes:
        accepts_loopback: whether to ask servers on this machine, without encryption too; tests do.
        clock: returns the time in seconds.
        sleep: waits for so many seconds.
    """

    accepts_loopback: bool = False
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], None] = sleep

    def download(self, url: str, file: IO[bytes], size: int | None) -> None:
        """Download a file.

        Args:
            url: where it is.
            file: an empty file to write to.
            size: its bytes; None if they are not known.

        Raises:
            UnreachableError: it can't be had.
            TooLargeError: what is sent is larger.
            OSError: it can't be written.
        """
        from closeread.corpus import bounded_http as http

        limit = UNDECLARED_SIZE if size is None else size
        budget = http.Budget(self.clock)
        budget.grant(TRIES * (SPARE + limit), SECONDS)
        with http.open_session(budget) as session:
            try:
                for number in range(TRIES):
                    try:
                        return self._try_once(session, url, file, size, limit)
                    except BusyError as error:
                        self._wait(number, error, budget.seconds_left)
            except (http.OverspentError, http.RedirectError, http.EncodingError) as error:
                raise UnreachableError(str(error)) from None
            except http.TooLargeError:
                why = (
                    "the limit for a file whose size is not declared" if size is None else "those of the released file"
                )
                raise TooLargeError(f"it has more than {limit:,} bytes, {why}") from None

    def _wait(self, number: int, error: BusyError, seconds_left: float) -> None:
        """Wait before the next try.

        Raises:
            UnreachableError: there is none.
        """
        wait = FIRST_WAIT * 2**number if error.wait is None else error.wait
        if number == TRIES - 1:
            raise UnreachableError(f"{error}, {TRIES} tries") from None
        if wait > min(LONGEST_WAIT, seconds_left):
            raise UnreachableError(f"{error}, and the server asks to wait for {wait:,.0f} seconds") from None
        self.sleep(wait)

    def _try_once(self, session: requests.Session, url: str, file: IO[bytes], size: int | None, limit: int) -> None:
        from closeread.corpus.bounded_http import get, read_content

        file.seek(0)
        file.truncate()
        with _translate_errors(), get(session, url, accept=self._accepts) as response:
            _check_status(response)
            with _show_progress(read_content(response, limit), url, size) as shown:
                for part in shown:
                    _write(file, part)

    def _accepts(self, url: str) -> bool:
        from closeread.corpus.bounded_http import is_loopback, is_public

        return is_public(url) or (self.accepts_loopback and is_loopback(url))


class _WriteError(OSError):
    """A file can't be written; sets errors of the disk apart from those of the network, which are OSErrors too."""


def _write(file: IO[bytes], part: bytes) -> None:
    try:
        file.write(part)
    except OSError as error:
        raise _WriteError(error.errno, error.strerror) from error


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise what the libraries raise as errors of ours: those that another try may change, and the others."""
    import requests
    from urllib3.exceptions import HTTPError, NewConnectionError

    try:
        yield
    except _WriteError:
        raise
    except requests.exceptions.SSLError as error:
        raise UnreachableError(_describe_distrust(error)) from None
    except requests.ConnectionError as error:
        reason = getattr(error.args[0] if error.args else None, "reason", None)
        if isinstance(reason, NewConnectionError):  # nobody listens, or there is no such machine, or no network
            raise UnreachableError(type(error).__name__) from None
        raise BusyError(type(error).__name__) from None
    except (requests.Timeout, HTTPError) as error:
        raise BusyError(type(error).__name__) from None
    except (OSError, ValueError) as error:  # those of requests, and of addresses that it does not accept
        raise UnreachableError(type(error).__name__) from None


def _describe_distrust(error: BaseException) -> str:
    """Say why no secure connection was made: what is wrong with the certificate, if that is the reason."""
    from ssl import SSLCertVerificationError

    cause: Any = error
    while isinstance(cause, BaseException):
        if isinstance(cause, SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message} (REQUESTS_CA_BUNDLE names a file of others)"
        cause = getattr(cause, "reason", None) or (cause.args[0] if cause.args else None)
    return f"no secure connection: {type(error).__name__}"


def _check_status(response: requests.Response) -> None:
    status = response.status_code
    if status in BUSY_STATUSES:
        raise BusyError(f"HTTP status {status}", _find_wait(response.headers.get("Retry-After")))
    if status != 200:
        raise UnreachableError(f"HTTP status {status}")


def _find_wait(text: str | None) -> float | None:
    """Return for how many seconds a server asks to wait; None if it does not say."""
    from urllib3.exceptions import HTTPError
    from urllib3.util import Retry

    try:
        return None if text is None else max(0.0, float(Retry().parse_retry_after(text[:99])))
    except (HTTPError, ValueError, OverflowError):
        return None


@contextmanager
def _show_progress(parts: Iterator[bytes], url: str, size: int | None) -> Iterator[Iterator[bytes]]:
    """Show on a terminal how much has been downloaded, unless that is hidden."""
    if _is_hidden.get() or not sys.stderr.isatty():
        yield parts
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(url.rpartition("/")[2], total=size)

        def count() -> Iterator[bytes]:
            for part in parts:
                yield part
                progress.advance(task, len(part))

        yield count()
