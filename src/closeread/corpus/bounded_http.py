"""HTTP requests of which a server can take only so many bytes and so many seconds, and redirects that stay safe.

`requests` limits the time between two packets only, so that a server that sends a byte now and then is never done, and
what it decodes is not limited at all.  Here every read from the connection is counted, status line, headers and chunks
included, and no more is decoded than an answer may have.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPResponse
from ipaddress import ip_address
from math import inf
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ProtocolError

from closeread.exceptions import quote

CONNECT_SECONDS, READ_SECONDS = 10, 60
"""How long a connection may take to be made, and how long nothing may arrive."""

MOST_REDIRECTS = 5
CHUNK = 2**16


class OverspentError(Exception):
    """A server sends too much, or takes too long; the message says which."""


class TooLargeError(Exception):
    """The content of an answer is larger than it may be."""


class EncodingError(Exception):
    """The content of an answer is encoded as we did not ask for, or not as the answer says; the message says which."""


class RedirectError(Exception):
    """A server redirects to a place where we don't go; the message says where."""


@dataclass
class Budget:
    """What a server may still take.

    Attributes:
        clock: returns the time in seconds.
        n_bytes: how many more bytes may arrive.
        until: the time by `clock` after which nothing is read.
    """

    clock: Callable[[], float] = monotonic
    n_bytes: float = inf
    until: float = inf
    _granted: tuple[float, float] = field(default=(inf, inf), init=False, repr=False)

    def grant(self, n_bytes: float, seconds: float) -> None:
        """Start anew, with so many bytes and seconds."""
        self.n_bytes, self.until, self._granted = n_bytes, self.clock() + seconds, (n_bytes, seconds)

    @property
    def seconds_left(self) -> float:
        """How many seconds are left.

        Raises:
            OverspentError: none.
        """
        left = self.until - self.clock()
        if left <= 0:
            raise OverspentError(f"no complete answer within {self._granted[1]:,.0f} seconds")
        return left

    def take(self, n_bytes: int) -> None:
        """Count bytes that have arrived.

        Raises:
            OverspentError: they are too many.
        """
        self.n_bytes -= n_bytes
        if self.n_bytes < 0:
            raise OverspentError(f"the server sends more than {self._granted[0]:,.0f} bytes")


class _CountedReads(io.RawIOBase):
    """The reading end of a connection; each read is limited and counted."""

    def __init__(self, connection: Any, reads: io.RawIOBase, budget: Budget) -> None:
        self._connection, self._reads, self._budget = connection, reads, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(min(READ_SECONDS, self._budget.seconds_left))
        n_bytes = int(self._reads.readinto(buffer) or 0)
        self._budget.take(n_bytes)
        return n_bytes

    def close(self) -> None:
        self._reads.close()
        super().close()


class _CountedResponse(HTTPResponse):
    def __init__(self, budget: Budget, sock: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        reads: Any = self.fp.detach()
        self.fp = io.BufferedReader(_CountedReads(sock, reads, budget))


class _CountingAdapter(HTTPAdapter):
    """Makes connections whose answers are counted, directly and through proxies."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        self._count(self.poolmanager)

    def proxy_manager_for(self, proxy: Any, **options: Any) -> Any:
        is_new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options)
        if is_new:
            self._count(manager)
        return manager

    def close(self) -> None:
        """Close all connections; the library leaves those that it keeps to the garbage collector."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 (not a dictionary)
                manager.pools[key].close()
        super().close()

    def _count(self, manager: Any) -> None:
        response = staticmethod(partial(_CountedResponse, self._budget))
        manager.pool_classes_by_scheme = {
            scheme: type(pool.__name__, (pool,), {"ConnectionCls": _subclass(pool.ConnectionCls, response)})
            for scheme, pool in manager.pool_classes_by_scheme.items()
        }


def _subclass(connection: type, response: object) -> type:
    return type(connection.__name__, (connection,), {"response_class": response})


class _Session(requests.Session):
    """A session that leaves redirects to its user; the library reads what comes with them, and decodes it."""

    def resolve_redirects(self, *arguments: Any, **options: Any) -> Generator[requests.Response, None, None]:
        del arguments, options
        yield from ()


def open_session(budget: Budget) -> requests.Session:
    """Return a session all of whose answers are taken from a budget."""
    session = _Session()
    for prefix in ("https://", "http://"):
        session.mount(prefix, _CountingAdapter(budget))
    return session


@contextmanager
def get(session: requests.Session, url: str, *, accept: Callable[[str], bool], **options: Any) -> Iterator[Any]:
    """Send a GET request, follow its redirects, and yield the answer, whose content is not read yet.

    Args:
        session: the session.
        url: the address.
        accept: whether an address may be asked, the first and those of redirects.
        **options: what `requests` takes, such as `params` and `headers`.

    Raises:
        RedirectError: an address is not accepted, or there are more than `MOST_REDIRECTS` redirects.
        OverspentError: the server sends too much, or takes too long.
        requests.RequestException: there is no answer.
    """
    options["headers"] = {"Accept-Encoding": "identity", **options.get("headers", {})}
    if not accept(url):
        raise RedirectError(f"{quote(url)} is not accepted (expected https)")
    for _ in range(MOST_REDIRECTS + 1):
        timeout = (CONNECT_SECONDS, READ_SECONDS)
        with session.get(url, stream=True, allow_redirects=False, timeout=timeout, **options) as response:
            target = _find_target(session, response)
            if target is None:
                yield response
                return
        if not accept(target):
            raise RedirectError(
                f"it redirects to {quote(target)} (expected https, and no address of a private network)"
            )
        url, options = target, {**options, "params": None}  # a redirect is a whole address
    raise RedirectError(f"it redirects more than {MOST_REDIRECTS} times")


def read_content(response: requests.Response, limit: int) -> Iterator[bytes]:
    """Yield the content of an answer, decoded if it is compressed with gzip, as far as it may go.

    Args:
        response: the answer.
        limit: how many bytes its content may have.

    Raises:
        TooLargeError: it has more.
        EncodingError: it is encoded in another way, or not as it says.
        urllib3.exceptions.HTTPError: it breaks off.
    """
    encoding = response.headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        raise EncodingError(f"content encoding {quote(encoding)}")
    decoder = None if encoding == "identity" else zlib.decompressobj(16 + zlib.MAX_WBITS)
    length = response.headers.get("Content-Length", "")
    lacking = int(length[:18]) if length.isdecimal() and "Transfer-Encoding" not in response.headers else 0
    while part := response.raw.read(CHUNK, decode_content=False):
        lacking -= len(part)
        try:
            # A byte more than there may be is enough to know.
            content = part if decoder is None else decoder.decompress(part, limit + 1)
        except zlib.error:
            raise EncodingError("content that is not gzip, as the server says") from None
        limit -= len(content)
        if limit < 0:
            raise TooLargeError
        yield content
    if lacking > 0 or (decoder is not None and not decoder.eof):  # older libraries say nothing
        raise ProtocolError("content that breaks off")


def _find_target(session: requests.Session, response: requests.Response) -> str | None:
    """Return the address that an answer redirects to; None if it does not."""
    try:
        target = session.get_redirect_target(response)
        return None if target is None else urljoin(response.url, target)
    except ValueError:  # bytes that are no text, or no address
        raise RedirectError(f"it redirects to {quote(response.headers['Location'])} (expected an address)") from None


def is_public(url: str) -> bool:
    """Tell whether an address is one of the web: https, and not of this machine or of a private network.

    >>> [is_public(url) for url in ("https://example.org/a", "http://example.org/a", "https://10.0.0.1/", "file:///a")]
    [True, False, False, False]
    """
    parts = _split(url)
    if parts is None or parts.scheme != "https" or not parts.hostname or parts.hostname == "localhost":
        return False
    try:
        return ip_address(parts.hostname).is_global
    except ValueError:  # a name; that it is who answers is what its certificate is for
        return True


def is_loopback(url: str) -> bool:
    """Tell whether an address is one of this machine, by http or https."""
    parts = _split(url)
    return (
        parts is not None and parts.scheme in ("http", "https") and parts.hostname in ("localhost", "127.0.0.1", "::1")
    )


def _split(url: str) -> SplitResult | None:
    """Split an address; None if it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return None
