"""A wheel of closeread, made from the installed package.

Build tools would need the sources, which whoever publishes a bundle need not have.  Its metadata list the libraries
that scoring needs, which are fewer than those of the whole package.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from zipfile import ZipFile

from closeread._version import __version__
from closeread.leaderboard.codabench.archive import write_member
from closeread.packages import package_folder

LIBRARIES = ("jsonschema", "jsonschema-rs", "numpy", "orjson", "scipy")
"""The libraries that scoring imports."""

ELSEWHERE = ("cards", "evaluate_modules", "loaders", "schemas")
"""Subpackages that are not below the folder of the package when it is installed from a checkout."""

NAME = f"closeread-{__version__}-py3-none-any.whl"


def scoring_requirements() -> list[str]:
    """Return what scoring needs, and what that needs, in the versions that are installed, such as "numpy==2.3.1"."""
    found: dict[str, str] = {}
    left = list(LIBRARIES)
    while left:
        name = re.split("[^A-Za-z0-9._-]", left.pop(), maxsplit=1)[0].lower().replace("_", "-")
        with suppress(PackageNotFoundError):  # needed by another version of Python only
            if name not in found:
                found[name] = f"{name}=={version(name)}"
                left += [one for one in requires(name) or () if "extra ==" not in one]
    return sorted(found.values())


def make_wheel() -> bytes:
    """Return the bytes of a wheel of the installed package."""
    folder = f"closeread-{__version__}.dist-info"
    files = {name: path.read_bytes() for name, path in sorted(_iterate_files())}
    metadata = ["Metadata-Version: 2.1", "Name: closeread", f"Version: {__version__}"]
    metadata += [f"Requires-Dist: {one}" for one in scoring_requirements()]
    files[f"{folder}/METADATA"] = "".join(f"{line}\n" for line in metadata).encode()
    files[f"{folder}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: closeread\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{folder}/RECORD"] = "".join([*record, f"{folder}/RECORD,,\n"]).encode()
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            write_member(archive, name, data)
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    """Return a sha256 as wheels write it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _iterate_files() -> Iterator[tuple[str, Path]]:
    """Yield the package's files by their path in the wheel."""
    root = package_folder("closeread")
    places = {"closeread": root, **{f"closeread/{name}": package_folder(f"closeread.{name}") for name in ELSEWHERE}}
    found: dict[str, Path] = {}
    for place, folder in places.items():
        for path in _walk(folder):
            found.setdefault(f"{place}/{path.relative_to(folder).as_posix()}", path)
    yield from found.items()


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, but for caches and compiled code."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "__pycache__" or path.suffix in (".pyc", ".pyo"):
            continue
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path
