"""Requests to the API of a MediaWiki, one at a time, as Wikimedia asks programs to send them.

Source: https://www.mediawiki.org/wiki/API:Etiquette, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy.

Conventions: between two requests, at least `delay` seconds pass.  The server refuses requests if its replicas lag by
more than `MAX_LAG` seconds.  What may pass (a lag, a limit of rate, an error of the server, an answer that breaks off)
is tried again after the time that the server asks for, or after times that double; what stays is an error.
No more than `MAX_BYTES` of an answer are read, for no longer than `SECONDS`, and redirects don't leave https.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests
from urllib3.exceptions import HTTPError

from closeread._version import __version__
from closeread.corpus.bounded_http import (
    Budget,
    EncodingError,
    OverspentError,
    RedirectError,
    get,
    is_public,
    open_session,
    read_content,
)
from closeread.corpus.bounded_http import TooLargeError as TooMuchError
from closeread.corpus.downloads import BusyError
from closeread.exceptions import RequestError, quote, shorten
from closeread.wording import name_option

WIKIPEDIA = "https://en.wikipedia.org/w/api.php"
MAX_LAG = 5
MAX_BYTES = 2**24
"""More than any page of Wikipedia: their wikitext has at most 2 MiB."""

SPARE = 2**17
"""Bytes of an answer beyond those of its content."""

SECONDS = 300.0
"""How long an answer may take."""

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0
"""Seconds: how long to wait before the second try, and for how long a server may ask to wait."""

EXPECTED_URL = "https://…/api.php"

BUSY_STATUSES = frozenset({408, 429, *range(500, 600)})
CONTACT_STATUSES = frozenset({403, 429})
"""What Wikimedia answers to programs that don't introduce themselves as its policy asks."""

BUSY_CODES = frozenset({"maxlag", "ratelimited", "readonly"})
BUSY_PREFIX = "internal_api_error"


class UnreachableError(Exception):
    """The wiki can't be reached; the message gives the reason."""


class NoWikiError(UnreachableError):
    """What answers is no MediaWiki."""

    def __init__(self, what: str = "answers with JSON that no MediaWiki sends") -> None:
        super().__init__(what)


class RefusedError(Exception):
    """The wiki refuses a request that it understood; the message gives the reason."""


class TooLargeError(RefusedError):
    """An answer is larger than `MAX_BYTES`."""


@dataclass
class Wiki:
    """A MediaWiki.

    Attributes:
        url: the address of its API.
        delay: the least number of seconds between two requests.
        contact: an address of the user, for the servers' operators; may be empty.

    Raises:
        RequestError: the address is not one, or the contact is not printable ASCII, as headers are.
    """

    url: str = WIKIPEDIA
    delay: float = 1.0
    contact: str = ""
    _budget: Budget = field(default_factory=Budget, init=False, repr=False)
    _session: requests.Session = field(init=False, repr=False)
    _last: float | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_address = False
        if not is_address:
            raise RequestError(f"the address of the API is {quote(self.url)} (expected {EXPECTED_URL})")
        if not (self.contact.isascii() and self.contact.isprintable()):
            raise RequestError(f"the contact is {quote(self.contact)} (expected printable ASCII)")
        self._session = open_session(self._budget)

    @property
    def user_agent(self) -> str:
        """How this program introduces itself."""
        contact = f" ({self.contact})" if self.contact else ""
        return f"closeread/{__version__}{contact} {requests.utils.default_user_agent()}"

    def ask(self, **parameters: str) -> Mapping[str, Any]:
        """Send a request and return its answer.

        Raises:
            UnreachableError: there is no answer, even after several tries.
            NoWikiError: the answer is not one of a MediaWiki.
            RefusedError: the wiki reports an error that another try would not change, or the answer is too large.
        """
        for number in range(TRIES):
            self._wait_for_turn()
            try:
                return self._ask_once(parameters)
            except BusyError as error:
                wait = FIRST_WAIT * 2**number if error.wait is None else error.wait
                if number == TRIES - 1:
                    raise UnreachableError(f"{error} ({TRIES} tries)") from None
                if wait > LONGEST_WAIT:
                    raise UnreachableError(f"{error}, and asks to wait for {wait:,.0f} seconds") from None
                sleep(wait)
        raise AssertionError  # the last try returns or raises

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _wait_for_turn(self) -> None:
        if self._last is not None and (wait := self._last + self.delay - monotonic()) > 0:
            sleep(wait)
        self._last = monotonic()

    def _ask_once(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        always = {"format": "json", "formatversion": "2", "maxlag": str(MAX_LAG)}
        # Wikimedia asks for compression.
        headers = {"User-Agent": self.user_agent, "Accept-Encoding": "gzip"}
        self._budget.grant(MAX_BYTES + SPARE, SECONDS)
        try:
            with get(
                self._session, self.url, accept=self._accepts, params={**always, **parameters}, headers=headers
            ) as response:
                self._check_status(response)
                content, wait = _read(response), _find_wait(response)
        except (EncodingError, RedirectError) as error:
            raise NoWikiError(f"can't be read: {error}") from None
        except OverspentError as error:
            raise UnreachableError(str(error)) from None
        except ValueError:  # of requests, or of urllib3 for hosts that it does not accept
            raise NoWikiError(f"is not the address of an API, or leads to none (expected {EXPECTED_URL})") from None
        except (requests.RequestException, HTTPError) as error:
            raise BusyError(f"the connection failed ({type(error).__name__})") from None
        return _parse(content, wait)

    def _accepts(self, url: str) -> bool:
        """Tell whether an address may be asked: the user's own, whatever it is, and the web."""
        own, asked = urlsplit(self.url), urlsplit(url)
        return is_public(url) or (asked.hostname == own.hostname and asked.scheme in (own.scheme, "https"))

    def _check_status(self, response: requests.Response) -> None:
        status = response.status_code
        what = f"answers with HTTP status {status}"
        if status in CONTACT_STATUSES and not self.contact:
            what += f"; Wikimedia refuses programs without a contact: pass yours with {name_option('contact')}"
        if status in BUSY_STATUSES:
            raise BusyError(what, _find_wait(response))
        if status != 200:
            raise UnreachableError(what) if status == 403 else NoWikiError(what)


def _read(response: requests.Response) -> bytes:
    try:
        return b"".join(read_content(response, MAX_BYTES))
    except TooMuchError:
        raise TooLargeError(f"the answer has more than {MAX_BYTES:,} bytes") from None


def _find_wait(response: requests.Response) -> float | None:
    """Return for how many seconds the server asks to wait: `Retry-After` is a number or a date."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):  # not a date, or one without a time zone
        return None


def _parse(content: bytes, wait: float | None) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(content)
    except ValueError:
        raise BusyError("answers with no complete JSON") from None
    if not isinstance(answer, dict):
        raise NoWikiError
    error = answer.get("error")
    if error is None:
        return answer
    if not isinstance(error, dict):
        raise NoWikiError
    code, info = (str(error.get(name, "")) for name in ("code", "info"))
    what = f"answers with the error {quote(code)}: {shorten(' '.join(info.split()))}"
    if code in BUSY_CODES or code.startswith(BUSY_PREFIX):
        raise BusyError(what, wait)
    raise RefusedError(what)
