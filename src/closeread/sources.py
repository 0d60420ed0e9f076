"""Where a corpus's files are: named by the user, downloaded earlier, or downloaded now and checked.

Conventions: a file is looked for in `data_dir` alone when that is given; otherwise in the folder
``$CLOSEREAD_DATA/<corpus>``, then in the cache (``$CLOSEREAD_CACHE/<corpus>``, by default the user's cache
folder), and is at last downloaded into the cache.  The command line and the dataset builders use the same
cache.  Files from anywhere but `data_dir` must be the released ones, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from closeread.declarations import Corpus, SourceFile
from closeread.errors import ChecksumError, FormatError, Problem, UnavailableError

DATA_VARIABLE = "CLOSEREAD_DATA"
CACHE_VARIABLE = "CLOSEREAD_CACHE"


@dataclass(frozen=True)
class Located:
    """A file that was found.

    Attributes:
        path: where it is.
        sha256: the digest of what is there, in hex.
        released: whether that is the released file.
    """

    path: Path
    sha256: str
    released: bool


def locate(corpus: Corpus, file: SourceFile, data_dir: Path | None = None) -> Located:
    """Find a file of a corpus, downloading it if need be.

    Args:
        corpus: whose file it is.
        file: the file.
        data_dir: the only folder to look in; its files may differ from the released ones.

    Raises:
        UnavailableError: it is nowhere and can't be downloaded.
        ChecksumError: it should be the released file and is not.
        FormatError: it can't be read.
    """
    if file.url is None:
        return _checked(_bundled(corpus, file), file, "install closeread again")
    if data_dir is not None:
        path = data_dir / file.name
        if not path.exists():
            problem = Problem(f"has no file {file.name}, which {corpus.title} needs")
            raise UnavailableError(data_dir, [problem])
        digest = file_digest(path)
        return Located(path, digest, released=_difference(path, digest, file) is None)
    for folder in (data_folder(corpus.name), cache_folder(corpus.name)):
        if folder is not None and (folder / file.name).exists():
            remedy = "remove it to have it downloaded again, or name its folder with --data-dir to use it as it is"
            return _checked(folder / file.name, file, remedy)
    return _downloaded(corpus, file)


def data_folder(corpus: str) -> Path | None:
    """The corpus's folder below ``$CLOSEREAD_DATA``; None where the variable is not set."""
    root = os.environ.get(DATA_VARIABLE)
    return Path(root) / corpus if root else None


def cache_folder(corpus: str) -> Path:
    """The corpus's folder in the cache, which need not exist."""
    root = os.environ.get(CACHE_VARIABLE)
    if root:
        return Path(root) / corpus
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("closeread", appauthor=False)) / corpus


def file_digest(path: Path) -> str:
    """The sha256 of a file's bytes, in hex.

    Raises:
        FormatError: the file can't be read.
    """
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for its writer
            raise FormatError(path, [Problem("is no regular file; needed: one")])
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None


def git_blob(path: Path) -> str:
    """What git names a file's bytes by, in hex.

    Raises:
        FormatError: the file can't be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _difference(path: Path, digest: str, file: SourceFile) -> str | None:
    """What tells a file from the released one; None where it is that.

    Args:
        path: the file that was found.
        digest: its sha256.
        file: the released one.
    """
    if file.sha256 is not None:
        name, found, needed = "sha256", digest, file.sha256
    else:
        name, found, needed = "git object id", git_blob(path), str(file.git_blob)
    return None if found == needed else f"its {name} is {found}; needed: {needed}"


def _bundled(corpus: Corpus, file: SourceFile) -> Path:
    return Path(str(resources.files(f"closeread.loaders.{corpus.name}"))) / file.name


def _checked(path: Path, file: SourceFile, remedy: str) -> Located:
    digest = file_digest(path)
    difference = _difference(path, digest, file)
    if difference is not None:
        raise ChecksumError(path, [Problem(f"is not the released file: {difference} ({remedy})")])
    return Located(path, digest, released=True)


def _downloaded(corpus: Corpus, file: SourceFile) -> Located:
    path = cache_folder(corpus.name) / file.name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A folder of its own, since others may be downloading the same file into this cache right now.
        private = TemporaryDirectory(prefix=".partial-", dir=path.parent)
    except OSError as error:
        found = f"the cache can't be written to: {error.strerror}"
        raise UnavailableError(path.parent, [Problem(f"{found}; name another folder in {CACHE_VARIABLE}")]) from None
    with private as folder:
        got = _fetched(corpus, file, folder)
        digest = file_digest(got)
        difference = _difference(got, digest, file)
        if difference is not None:
            raise ChecksumError(file.url, [Problem(f"the download is not the released file: {difference}")])
        got.replace(path)
    return Located(path, digest, released=True)


def _fetched(corpus: Corpus, file: SourceFile, folder: str) -> Path:
    import pooch  # 70 ms to import, needed only here

    pooch.get_logger().setLevel("WARNING")
    try:
        # `known_hash=None`: the check is ours, so that a wrong file gets the same words wherever it comes from.
        got = pooch.retrieve(file.url, known_hash=None, fname="download", path=folder, progressbar=sys.stderr.isatty())
    except OSError as error:  # requests' exceptions are OSErrors
        places = f"not in {DATA_VARIABLE} or the cache, and {file.url} can't be had ({_reason(error)})"
        remedy = f"put {file.name} into a folder and name it with --data-dir, or try --config sample"
        raise UnavailableError(f"{corpus.name}/{file.name}", [Problem(f"{places}; {remedy}")]) from None
    return Path(got)


def _reason(error: OSError) -> str:
    response = getattr(error, "response", None)
    if response is None:
        return type(error).__name__
    response.close()  # pooch leaves that to the garbage collector
    return f"HTTP status {response.status_code}"
