"""Requests to servers: over https, of limited size, in limited time, and repeated where that may help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

from closeread.progress import report_progress

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

SECONDS = 600.0
"""How long a try may take."""

TRIES = 4

FIRST_WAIT = 1.0
"""How many seconds to wait before the second try."""

LONGEST_WAIT = 60.0
"""For how many seconds a server may ask to wait."""

UNDECLARED_SIZE = 2**26
"""The most bytes of a file whose size is not declared: forty times the largest of the others."""

CONNECT_SECONDS = 10
"""How long a connection may take to be made."""

READ_SECONDS = 60
"""How long nothing may arrive."""

MAX_REDIRECTS = 5
CHUNK_BYTES = 2**14

BUSY_STATUSES = frozenset({408, 429, *range(500, 600)})


class DownloadError(Exception):
    """A request failed; the message gives the reason.

    Attributes:
        may_pass: whether another try may succeed.
        wait: for how many seconds the server asks to wait before it; None if it does not say.
        status: the HTTP status; None if there is no answer.
    """

    def __init__(
        self,
        message: str,
        *,
        may_pass: bool = False,
        wait: float | None = None,
        status: int | None = None,
    ):
        super().__init__(message)
        self.may_pass = may_pass
        self.wait = wait
        self.status = status


class DownloadLimitError(Exception):
    """The server sends more than the limit, which the message gives."""


def open_session() -> requests.Session:
    """Return a session for https alone, after redirects, too, which `receive` follows."""
    import requests

    session = requests.Session()
    del session.adapters["http://"]
    # Otherwise requests reads the content of a redirect, however large.
    session.get_redirect_target = lambda resp: None  # type: ignore[method-assign]
    return session


def receive(
    session: requests.Session,
    url: str,
    write: Callable[[bytes], object],
    limit: int,
    seconds: float,
    **options: Any,
) -> Mapping[str, str]:
    """Send a GET request, pass on the content of its answer, decompressed, and return the headers.

    The content may have `limit` bytes, and take `seconds`, as looked at after each part that arrives; `options` are
    those of `requests`, such as `params` and `headers`.
    """
    import requests

    end = monotonic() + seconds
    options |= {"stream": True, "timeout": (CONNECT_SECONDS, READ_SECONDS)}
    try:
        for _ in range(MAX_REDIRECTS + 1):
            with session.get(url, **options) as response:
                if not response.is_redirect:
                    _check_status(response)
                    n_bytes = 0
                    for part in _read_parts(response):
                        if monotonic() > end:
                            message = f"no complete answer within {seconds:,.0f} seconds"
                            raise DownloadError(message, may_pass=True)
                        n_bytes += len(part)
                        if n_bytes > limit:
                            raise DownloadLimitError(f"it has more than {limit:,} bytes")
                        write(part)
                    return response.headers
                url = urljoin(url, response.headers["Location"])
                # The new address has the parameters already.
                options["params"] = None
        raise requests.TooManyRedirects
    except requests.exceptions.SSLError as error:
        raise DownloadError(_describe_distrust(error)) from None
    except (requests.RequestException, ValueError) as error:
        raise DownloadError(type(error).__name__, may_pass=_may_pass(error)) from None


def _check_status(response: requests.Response) -> None:
    """Check that a server has sent what it was asked for."""
    status = response.status_code
    if status != 200:
        raise DownloadError(
            f"HTTP status {status}",
            may_pass=status in BUSY_STATUSES,
            wait=read_wait(response.headers),
            status=status,
        )


def _may_pass(error: Exception) -> bool:
    """Tell whether another try may succeed after a connection broke; not if none could be made."""
    import requests
    from urllib3.exceptions import NewConnectionError

    reason = getattr(error.args[0] if error.args else None, "reason", None)
    is_broken = isinstance(error, (requests.ConnectionError, requests.Timeout))
    # Nobody listens, or there is no such machine, or no network.
    return is_broken and not isinstance(reason, NewConnectionError)


def _read_parts(response: requests.Response) -> Iterator[bytes]:
    """Yield the content of an answer as it arrives: a server that drips would fill whole parts slowly."""
    from urllib3.exceptions import HTTPError

    try:
        while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
            yield chunk
    except HTTPError:
        raise DownloadError("the answer breaks off", may_pass=True) from None


def try_again(send: Callable[[], T], tries: int, first_wait: float, longest_wait: float) -> T:
    """Call a function that receives something; retry after the time that the server asks for, or doubling times."""
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
                message = f"{error}, and the server asks to wait for {wait:,.0f} seconds"
                raise DownloadError(message, status=error.status) from None
            sleep(wait)
    raise AssertionError  # the last try returns or raises


def download(url: str, file: IO[bytes], size: int | None, most_bytes: int) -> None:
    """Download a file into an empty file; if its size is unknown, it may have `most_bytes`."""

    limit = most_bytes if size is None else size

    def write(part: bytes) -> None:
        file.write(part)
        if size is not None:
            report_progress(f"downloading {url.rpartition('/')[2]}, byte", file.tell(), size)

    def send() -> None:
        file.seek(0)
        file.truncate()
        receive(session, url, write, limit, SECONDS, headers={"Accept-Encoding": "identity"})

    with open_session() as session:
        try:
            try_again(send, TRIES, FIRST_WAIT, LONGEST_WAIT)
        except DownloadLimitError as error:
            meaning = "those of the released file"
            if size is None:
                meaning = "the limit for a file whose size is not declared"
            raise DownloadLimitError(f"{error}, {meaning}") from None


def read_wait(headers: Mapping[str, str]) -> float | None:
    """Return for how many seconds a server asks to wait, as a number or a date; None if it does not say."""
    from urllib3.exceptions import HTTPError
    from urllib3.util import Retry

    try:
        return max(0.0, float(Retry().parse_retry_after(headers["Retry-After"][:99])))
    except (KeyError, HTTPError, ValueError, OverflowError):
        return None


def _describe_distrust(error: BaseException) -> str:
    """Describe why no secure connection was made, such as a problem with the certificate."""
    from ssl import SSLCertVerificationError

    cause: Any = error
    while isinstance(cause, BaseException):
        if isinstance(cause, SSLCertVerificationError):
            advice = "REQUESTS_CA_BUNDLE names a file of others"
            return f"its certificate is not trusted: {cause.verify_message} ({advice})"
        cause = getattr(cause, "reason", None) or (cause.args[0] if cause.args else None)
    return f"no secure connection: {type(error).__name__}"
