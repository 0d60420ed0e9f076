"""What is fuzzed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """Something that reads files.

    Attributes:
        files: the content of valid files by their paths in a folder.
        changed: the paths of those that are changed.
        call: reads them; takes the folder and an empty one to write to.  What it returns is compared as text.
    """

    files: dict[str, bytes]
    changed: tuple[str, ...]
    call: Callable[[Path, Path], object]
