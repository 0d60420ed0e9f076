"""Zip archives with deterministic bytes: no time, no owner, and members in a fixed order.

With another version of zlib, the compressed bytes may differ.
"""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that an archive can store."""


def write_member(archive: ZipFile, name: str, data: bytes) -> None:
    """Add a file to an archive."""
    info = ZipInfo(name, EPOCH)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data, compresslevel=9)


def zip_folder(folder: Path, archive: Path) -> None:
    """Write the files of a folder and its subfolders to an archive, sorted by name."""
    with archive.open("wb") as file, ZipFile(file, "w") as opened:  # ZipFile itself would try a failed open again
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                write_member(opened, path.relative_to(folder).as_posix(), path.read_bytes())
