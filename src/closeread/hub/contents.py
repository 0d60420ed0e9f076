"""Contents to upload, and whether the Hub has them already."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from huggingface_hub.hf_api import RepoFile

Content = bytes | Path
"""The content of a file, or the file that has it."""


def to_upload(data: Content) -> bytes | str:
    """Return a content as the client takes it."""
    return data if isinstance(data, bytes) else str(data)


def is_same(entry: RepoFile | None, data: Content) -> bool:
    """Tell whether the Hub has a file with this content.

    Large files are listed with their digest, others with git's name for their content.
    """
    size = len(data) if isinstance(data, bytes) else data.stat().st_size
    if entry is None or entry.size != size:
        return False
    with BytesIO(data) if isinstance(data, bytes) else data.open("rb") as file:
        if entry.lfs is not None:
            return hashlib.file_digest(file, "sha256").hexdigest() == entry.lfs.sha256
        named = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
        while block := file.read(2**20):
            named.update(block)
    return named.hexdigest() == entry.blob_id
