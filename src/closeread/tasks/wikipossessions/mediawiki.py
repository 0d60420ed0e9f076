"""Requests to the API of a MediaWiki, one at a time, as Wikimedia asks programs to send them.

Source: https://www.mediawiki.org/wiki/API:Etiquette, https://www.mediawiki.org/wiki/Manual:Maxlag_parameter and
https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy.

Conventions: between two requests, at least `delay` seconds pass.  The server refuses requests if its replicas lag by
more than `MAX_LAG` seconds.  What may pass (a lag, a limit of rate, an error of the server, an answer that breaks off)
is tried again; what stays is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests
from requests.adapters import HTTPAdapter

from closeread._version import __version__
from closeread.corpus.downloads import DownloadError, open_session, read_wait, receive, try_again
from closeread.corpus.downloads import TooLargeError as TooMuchError
from closeread.exceptions import RequestError, quote, shorten
from closeread.wording import name_option

WIKIPEDIA = "https://en.wikipedia.org/w/api.php"
MAX_LAG = 5
MAX_BYTES = 2**24
"""More than any page of Wikipedia: their wikitext has at most 2 MiB."""

SECONDS = 300.0
"""How long an answer may take."""

TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 5.0, 300.0
"""Seconds: how long to wait before the second try, and for how long a server may ask to wait."""

EXPECTED_URL = "https://…/api.php"

CONTACT_STATUSES = frozenset({403, 429})
"""What Wikimedia answers to programs that don't introduce themselves as its policy asks."""

BUSY_CODES = frozenset({"maxlag", "ratelimited", "readonly"})
BUSY_PREFIX = "internal_api_error"


class NoWikiError(DownloadError):
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
        self._session = open_session()
        if parts.scheme == "http":  # the host that the user asks for, and no other
            self._session.mount(f"http://{parts.netloc}/", HTTPAdapter())

    @property
    def user_agent(self) -> str:
        """How this program introduces itself."""
        contact = f" ({self.contact})" if self.contact else ""
        return f"closeread/{__version__}{contact} {requests.utils.default_user_agent()}"

    def ask(self, **parameters: str) -> Mapping[str, Any]:
        """Send a request and return its answer.

        Raises:
            DownloadError: there is no answer, even after several tries.
            NoWikiError: the answer is not one of a MediaWiki.
            RefusedError: the wiki reports an error that another try would not change, or the answer is too large.
        """
        return try_again(lambda: self._ask_once(parameters), TRIES, FIRST_WAIT, LONGEST_WAIT)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _ask_once(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        if self._last is not None and (wait := self._last + self.delay - monotonic()) > 0:
            sleep(wait)
        self._last = monotonic()
        always = {"format": "json", "formatversion": "2", "maxlag": str(MAX_LAG)}
        # Wikimedia asks for compression.
        headers = {"User-Agent": self.user_agent, "Accept-Encoding": "gzip"}
        content = bytearray()
        try:
            received = receive(
                self._session,
                self.url,
                content.extend,
                MAX_BYTES,
                SECONDS,
                params={**always, **parameters},
                headers=headers,
            )
        except TooMuchError:
            raise TooLargeError(f"the answer has more than {MAX_BYTES:,} bytes") from None
        except DownloadError as error:
            expected = "" if error.may_pass else f"; expected {EXPECTED_URL}"
            what = f"answers with {error}" if error.status else f"the connection failed ({error}{expected})"
            if error.status in CONTACT_STATUSES and not self.contact:
                what += f"; Wikimedia refuses programs without a contact: pass yours with {name_option('contact')}"
            if error.may_pass or error.status == 403:
                raise DownloadError(what, may_pass=error.may_pass, wait=error.wait) from None
            raise NoWikiError(what) from None
        return _parse(bytes(content), read_wait(received))


def _parse(content: bytes, wait: float | None) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(content)
    except ValueError:
        raise DownloadError("answers with no complete JSON", may_pass=True) from None
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
        raise DownloadError(what, may_pass=True, wait=wait)
    raise RefusedError(what)
