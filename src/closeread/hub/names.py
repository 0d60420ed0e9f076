"""Repositories and paths on the Hub, and what may be one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from closeread.exceptions import SHOWN, RequestError, quote

Kind = Literal["model", "dataset", "space"]

HUB = "https://huggingface.co"
NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
PATH = re.compile(r"[A-Za-z0-9._/-]+")
MAX_NAME = 96
"""Characters that the Hub allows in the name of a repository, with that of its owner."""


@dataclass(frozen=True)
class Repository:
    """A repository on the Hub.

    Attributes:
        id: ORG/NAME.
        kind: model, dataset or space.

    Raises:
        RequestError: the id is not of that form.
    """

    id: str
    kind: Kind

    def __post_init__(self) -> None:
        owner, _, name = self.id.partition("/")
        parts_are_names = NAME.fullmatch(owner) and NAME.fullmatch(name)
        if not parts_are_names or "--" in self.id or ".." in self.id or len(self.id) > MAX_NAME:
            raise RequestError(f"{quote(self.id)} is not the name of a repository (expected ORG/NAME)")

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def url(self) -> str:
        """The address of its page."""
        prefix = "" if self.kind == "model" else f"{self.kind}s/"
        return f"{os.environ.get('HF_ENDPOINT', HUB).rstrip('/')}/{prefix}{self.id}"


def check_paths(paths: Iterable[str]) -> None:
    """Refuse paths that are not made of letters, digits, `.`, `_` and `-`, or that leave the repository.

    Raises:
        RequestError: some paths are not allowed; it names them.
    """
    bad = [path for path in paths if not _is_path(path)]
    if bad:
        shown = ", ".join(map(quote, bad[:SHOWN])) + (", …" if len(bad) > SHOWN else "")
        raise RequestError(f"not allowed as a path on the Hub: {shown} (expected letters, digits, '.', '_', '-', '/')")


def _is_path(path: str) -> bool:
    return bool(PATH.fullmatch(path)) and not {"", ".", "..", ".git"} & set(path.split("/"))
