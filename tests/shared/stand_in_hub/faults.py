"""What goes wrong with a request, on demand."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

CUT = "cut"  # the connection ends before the request is looked at
CUT_AFTER = "cut after"  # the request takes effect, and its answer is lost
KILL = "kill"  # the client's process is killed before the request is looked at
KILL_AFTER = "kill after"  # the request takes effect, and the client's process is killed


@dataclass
class Fault:
    """A fault of the next requests that match.

    Args:
        path: a regular expression, found anywhere in the unquoted path with its query string.
        method: GET, HEAD, POST, PUT; None for any.
        answer: a status, or one of CUT, CUT_AFTER, KILL, KILL_AFTER; None answers as usual, for the hooks alone.
        times: how many matching requests are concerned.
        skip: how many matching requests come before these and pass unharmed.
        user: only requests of this user.
        headers: headers of the answer, such as Retry-After.
        error: what the answer says.
        before: called before the request is looked at; it may send requests of its own.
        after: called after the request took effect and before it is answered.
    """

    path: str
    method: str | None = None
    answer: int | str | None = None
    times: int = 1
    skip: int = 0
    user: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    error: str = "a fault on demand"
    before: Callable[[], None] | None = None
    after: Callable[[], None] | None = None

    def takes(self, method, path, user):
        """Tell whether the request is to fail, and count it."""
        if self.times < 1 or self.method not in (None, method) or self.user not in (None, user):
            return False
        if not re.search(self.path, path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True
