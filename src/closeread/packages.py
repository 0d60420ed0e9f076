"""Where the files are that come with the package."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def package_folder(name: str) -> Path:
    """Return the folder of one of our packages, by its dotted name.

    Our packages are never in a zip file, and `importlib.resources`, which could read those, takes 7 ms to import.
    """
    return Path(str(import_module(name).__file__)).parent
