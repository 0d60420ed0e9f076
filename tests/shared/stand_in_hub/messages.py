"""Requests and their answers."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    target: str  # as sent: quoted, with its query string
    headers: object
    body: bytes
    user: str | None

    @cached_property
    def path(self):
        return urlsplit(self.target).path

    @cached_property
    def lists(self):
        return parse_qs(urlsplit(self.target).query)

    @cached_property
    def query(self):
        return {name: values[-1] for name, values in self.lists.items()}

    @cached_property
    def form(self):
        return parse_qs(self.body.decode())

    @cached_property
    def json(self):
        return json.loads(self.body or b"null")

    @property
    def place(self):
        """Where it goes, to be read by people."""
        return unquote(self.target)


@dataclass(frozen=True)
class Reply:
    content: bytes = b""
    status: int = 200
    headers: dict = field(default_factory=dict)
    length: int | None = None  # of a content that is not sent, in answer to HEAD


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status, message, code=None, **headers):
        super().__init__(message)
        shown = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        shown |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.reply = reply_json({"error": message}, status, shown)


def reply_json(value, status=200, headers=None, content_type="application/json"):
    return Reply(json.dumps(value).encode(), status, {"Content-Type": content_type} | (headers or {}))
