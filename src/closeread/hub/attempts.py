"""Requests that are repeated while the Hub is busy or out of reach."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from closeread.exceptions import RequestError
from closeread.hub.errors import explain, is_transient, read_status, read_wait

ATTEMPTS = 5
PATIENCE = 60.0
"""Seconds after which nothing is tried again; the client itself repeats some requests for 23 seconds."""
LONGEST = 300.0
"""Seconds that are waited if the Hub asks to, which counts requests by five minutes; if more, the user is told."""

T = TypeVar("T")


class Attempts:
    """Counts how often a request was tried, and waits before the next time."""

    def __init__(self) -> None:
        self._failures = 0
        self._start = time.monotonic()

    def wait(self, error: Exception) -> bool:
        """Wait before the next attempt: as long as the Hub asks to, or twice as long each time, with jitter.

        Returns:
            Whether there is to be another attempt.
        """
        self._failures += 1
        asked = read_wait(error)
        if self._failures >= ATTEMPTS or (asked or 0.0) > LONGEST:
            return False
        if asked is None and time.monotonic() - self._start > PATIENCE:
            return False
        usual = 0.5 * 2**self._failures * random.uniform(0.5, 1.0)  # noqa: S311
        time.sleep(usual if asked is None else asked + random.uniform(0.0, 0.5))  # noqa: S311
        return True


def ask(call: Callable[[], T], where: str, *, path: str = "") -> T:
    """Send a request that does no harm when it is repeated.

    Args:
        call: the request.
        where: the repository, in words.
        path: the file that it is about.

    Raises:
        RequestError: it failed.
    """
    attempts = Attempts()
    while True:
        try:
            return call()
        except RequestError:
            raise
        except Exception as error:
            if not is_transient(error) or not attempts.wait(error):
                raise explain(error, where, path=path) from error


def send_once(prepare: Callable[[bool], tuple[bool, Callable[[], T]]], where: str, *, fixed: bool = False) -> T:
    """Send a request that must take effect once, although the answer may be lost.

    Args:
        prepare: looks at the repository, and returns whether nothing is left to be done, and how to finish; its
            argument is whether the request was sent before, with an outcome that is unknown.
        where: the repository, in words.
        fixed: whether the request names the commit that it is made for, so that a conflict can't be cured by
            sending it again.

    Raises:
        RequestError: it failed.
    """
    attempts = Attempts()
    last: Exception | None = None
    while True:
        again = last is None or ((not fixed or is_transient(last)) and attempts.wait(last))
        arrived, finish = prepare(last is not None)
        if last is not None and not again and not arrived:
            raise explain(last, where) from last
        try:
            return finish()
        except RequestError:
            raise
        except Exception as error:
            if not is_transient(error) and read_status(error) != 412:
                raise explain(error, where) from error
            last = error
