"""What the Hub's refusals, and the ways to fail before it answers, mean to the user."""

from __future__ import annotations

import re
from collections.abc import Mapping

from closeread.exceptions import RequestError, escape, shorten

LOGIN = "run `hf auth login`, or set HF_TOKEN"
NO_LOGIN = f"not logged in to the Hugging Face Hub: {LOGIN}"
WAIT = re.compile(r";\s*t=(\d+)")
"""The seconds until requests are allowed again, in the header RateLimit."""
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
"""Answers after which the same request may succeed."""


class ConflictError(RequestError):
    """A commit that is not on top of the commit that it was made for: somebody else was faster."""


class NoSuchRepositoryError(RequestError):
    """A repository that does not exist, or that the user may not see."""


class NoSuchFileError(RequestError):
    """A file that a repository does not have."""


class TooLargeError(RequestError):
    """A file that is larger than the limit."""


def read_status(error: BaseException) -> int | None:
    """Return the status of the Hub's answer; None if there was no answer."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def is_transient(error: BaseException) -> bool:
    """Tell whether the same request may succeed later: the Hub was busy, or could not be reached.

    A connection that breaks raises errors of the HTTP library, which differs between versions of the client, so that
    everything counts that is neither an answer nor a refusal of the client itself.
    """
    from huggingface_hub.errors import LocalTokenNotFoundError, OfflineModeIsEnabled

    status = read_status(error)
    if status is not None:
        return status in TRANSIENT
    if isinstance(error, OfflineModeIsEnabled | LocalTokenNotFoundError):
        return False
    return isinstance(error, OSError) or _is_of_http(error) or _is_no_json(error)


def read_wait(error: BaseException) -> float | None:
    """Return the seconds that the Hub asks to wait; None if it doesn't say."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    after = headers.get("Retry-After") or ""
    if after.strip().isdecimal():
        return float(after)
    if read_status(error) == 429 and (found := WAIT.search(headers.get("RateLimit") or "")):
        return float(found[1])
    return None


def check_login() -> None:
    """Refuse what only users may do without a token, which the Hub answers in several ways.

    Raises:
        RequestError: there is no token.
    """
    from huggingface_hub import get_token

    if get_token() is None:
        raise RequestError(NO_LOGIN)


def explain(error: Exception, where: str, *, path: str = "") -> RequestError:
    """Return an error that says what the user can do.

    Args:
        error: what the client raised.
        where: the repository in words, such as "dataset lab/rain"; empty if it is about none.
        path: the file that was asked for.
    """
    from huggingface_hub import get_token
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        LocalTokenNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    status = read_status(error)
    place = f"{where}: " if where else ""
    if isinstance(error, OfflineModeIsEnabled):
        return RequestError(f"{place}the Hugging Face Hub is out of reach while HF_HUB_OFFLINE is set (unset it)")
    if isinstance(error, LocalTokenNotFoundError):
        return RequestError(NO_LOGIN)
    if isinstance(error, GatedRepoError):
        return RequestError(f"{place}access must be requested on its page on the Hub")
    if isinstance(error, RepositoryNotFoundError) and (status != 401 or get_token() is None):
        who = f"you are {NO_LOGIN}" if status == 401 else "your account can't see it"
        return NoSuchRepositoryError(f"no such {where}, or it is private and {who}")
    if status == 401:
        found = NO_LOGIN if get_token() is None else f"the Hugging Face Hub does not accept your token: {LOGIN}"
        return RequestError(f"{place}{found}")
    if isinstance(error, RevisionNotFoundError):
        return RequestError(f"{place}no such revision")
    if isinstance(error, EntryNotFoundError):
        return NoSuchFileError(f"{place}no such file: {path}" if path else f"{place}no such file")
    if status is not None:
        return _explain_answer(error, status, place)
    if not is_transient(error):  # front matter that the client refuses, for example
        return RequestError(f"{place}{_shorten(str(error))}")
    return RequestError(f"{place}could not reach the Hugging Face Hub ({_shorten(str(error) or repr(error))})")


def _explain_answer(error: Exception, status: int, place: str) -> RequestError:
    """Explain a refusal by its status, with the Hub's own words."""
    words = _shorten(str(getattr(error, "server_message", None) or ""))
    told = f": {words}" if words else ""
    if status == 402:
        return RequestError(f"{place}the Hugging Face Hub asks for a paid plan{told}")
    if status == 403:
        return RequestError(f"{place}no permission; ask its owners, or use a token with write access{told}")
    if status == 412:
        return ConflictError(f"{place}somebody else has committed in the meantime; try again")
    if status == 429:
        wait = read_wait(error)
        when = "later" if wait is None else f"in {wait:.0f} seconds"
        return RequestError(f"{place}too many requests to the Hugging Face Hub; try again {when}")
    if status >= 500:
        return RequestError(f"{place}the Hugging Face Hub has a problem (status {status}); try again later{told}")
    return RequestError(f"{place}the Hugging Face Hub refused the request (status {status}){told}")


def _is_of_http(error: BaseException) -> bool:
    """Tell whether an error comes from the HTTP library of the client, whichever it is."""
    return any(base.__module__.split(".")[0].startswith("http") for base in type(error).__mro__)


def _is_no_json(error: BaseException) -> bool:
    """Tell whether an answer was not JSON: the page of a proxy that could not reach the Hub."""
    return isinstance(error, ValueError) and type(error).__name__ == "JSONDecodeError"


def _shorten(text: str) -> str:
    """Return a text of somebody else's as one short line."""
    return shorten(escape(" ".join(text.split())))
