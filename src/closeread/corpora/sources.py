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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from closeread.corpora.declaration import Corpus, Source, SourceFile, SourceFolder
from closeread.errors import ChecksumError, FormatError, Problem, UnavailableError

DATA_VARIABLE = "CLOSEREAD_DATA"
CACHE_VARIABLE = "CLOSEREAD_CACHE"


@dataclass(frozen=True)
class Located:
    """A file that was found, or all files of a folder.

    Attributes:
        path: where it is; of a folder whose files are in several places, one of them.
        sha256: the digest of what is there, in hex.
        released: whether that is the released file, or all of the released files and no others.
        files: of a folder, its files by their path below it, sorted.
    """

    path: Path
    sha256: str
    released: bool
    files: Mapping[str, Path] = field(default_factory=dict)


def locate(corpus: Corpus, source: Source, data_dir: Path | None = None) -> Located:
    """Find a file of a corpus, or the files of a folder, downloading what is missing.

    Args:
        corpus: whose file it is.
        source: the file or the folder.
        data_dir: the only folder to look in; its files may differ from the released ones.

    Raises:
        UnavailableError: something is nowhere and can't be downloaded.
        ChecksumError: something should be the released file and is not.
        FormatError: something can't be read.
    """
    if isinstance(source, SourceFile):
        return _located_file(corpus, source, data_dir)
    if data_dir is None or source.url is None:
        return _released_folder(corpus, source)
    return _own_folder(corpus, source, data_dir)


def is_in(folder: Path, source: Source) -> bool:
    """Whether a folder of a corpus's files has a file, or files of a folder."""
    if isinstance(source, SourceFile):
        return (folder / source.name).exists()
    return bool(_matching(folder / source.name, source.patterns[:1]))


def files_in(folder: Path, source: Source) -> dict[str, Path]:
    """The files that a folder of a corpus's files has of a file or a folder, by their path below it, sorted."""
    if isinstance(source, SourceFolder):
        found = _matching(folder / source.name, source.patterns)
        return {source.path(name): path for name, path in found.items()}
    return {source.name: folder / source.name} if (folder / source.name).is_file() else {}


def _matching(folder: Path, patterns: tuple[str, ...]) -> dict[str, Path]:
    """The files below a folder that fit a pattern; hidden ones are other programs' own."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if not path.name.startswith(".")}
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def _own_folder(corpus: Corpus, source: SourceFolder, data_dir: Path) -> Located:
    folder = data_dir / source.name
    files = _matching(folder, source.patterns)
    if not is_in(data_dir, source):
        problem = Problem(f"has no file {source.needed}, which {corpus.title} needs")
        raise UnavailableError(data_dir, [problem])
    found = {source.path(name): file_digest(path) for name, path in files.items()}
    released = found == {file.name: file.sha256 for file in source.files}
    return Located(folder, _digest_of_all(found), released, files)


def _released_folder(corpus: Corpus, source: SourceFolder) -> Located:
    located: dict[str, Located] = {}
    missing: list[SourceFile] = []
    wrong: list[ChecksumError] = []
    for file in source.files:
        try:
            found = _found(corpus, file)
        except ChecksumError as error:
            wrong.append(error)
        else:
            if found is None:
                missing.append(file)
            else:
                located[file.name] = found
    if wrong:
        raise _together(wrong)
    for place, file in enumerate(missing):
        try:
            located[file.name] = _downloaded(corpus, file)
        except _UnreachableError as error:
            # The others are not tried: each may take half a minute to fail.
            problems = [Problem(_unavailable(file, error), None, file.name)]
            problems += [Problem("is missing, too", None, other.name) for other in missing[place + 1 :]]
            raise UnavailableError(corpus.name, problems) from None
    digests = {file.name: located[file.name].sha256 for file in source.files}
    files = {file.name: located[file.name].path for file in source.files}
    below = {name if source.name == "." else name.removeprefix(f"{source.name}/"): path for name, path in files.items()}
    first, path = next(iter(below.items()))
    return Located(path.parents[first.count("/")], _digest_of_all(digests), released=True, files=below)


def _together(errors: Sequence[ChecksumError]) -> ChecksumError:
    if len(errors) == 1:
        return errors[0]
    folder = os.path.commonpath([error.source for error in errors])
    problems = [(os.path.relpath(error.source, folder), problem) for error in errors for problem in error.problems]
    return ChecksumError(folder, [Problem(problem.what, None, name) for name, problem in problems])


def _digest_of_all(digests: Mapping[str, str]) -> str:
    held = "".join(f"{name}\0{digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(held.encode("utf-8", "surrogateescape")).hexdigest()


def _located_file(corpus: Corpus, file: SourceFile, data_dir: Path | None) -> Located:
    if file.url is not None and data_dir is not None:
        path = data_dir / file.name
        if not path.exists():
            problem = Problem(f"has no file {file.name}, which {corpus.title} needs")
            raise UnavailableError(data_dir, [problem])
        digest = file_digest(path)
        return Located(path, digest, released=_difference(path, digest, file) is None)
    try:
        return _found(corpus, file) or _downloaded(corpus, file)
    except _UnreachableError as error:
        problem = Problem(_unavailable(file, error))
        raise UnavailableError(f"{corpus.name}/{file.name}", [problem]) from None


def _found(corpus: Corpus, file: SourceFile) -> Located | None:
    """A released file that is on this machine; None where it is not."""
    if file.url is None:
        return _checked(_bundled(corpus, file), file, "install closeread again")
    for folder in (data_folder(corpus.name), cache_folder(corpus.name)):
        if folder is not None and (folder / file.name).exists():
            remedy = "remove it to have it downloaded again, or name its folder with --data-dir to use it as it is"
            return _checked(folder / file.name, file, remedy)
    return None


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
        got = _fetched(file, folder)
        digest = file_digest(got)
        difference = _difference(got, digest, file)
        if difference is not None:
            raise ChecksumError(file.url, [Problem(f"the download is not the released file: {difference}")])
        got.replace(path)
    return Located(path, digest, released=True)


class _UnreachableError(Exception):
    """A file can't be downloaded; the message says why."""


def _fetched(file: SourceFile, folder: str) -> Path:
    import pooch  # 70 ms to import, needed only here

    pooch.get_logger().setLevel("WARNING")
    try:
        # `known_hash=None`: the check is ours, so that a wrong file gets the same words wherever it comes from.
        got = pooch.retrieve(file.url, known_hash=None, fname="download", path=folder, progressbar=sys.stderr.isatty())
    except OSError as error:  # requests' exceptions are OSErrors
        raise _UnreachableError(_reason(error)) from None
    return Path(got)


def _unavailable(file: SourceFile, error: _UnreachableError) -> str:
    places = f"not in {DATA_VARIABLE} or the cache, and {file.url} can't be had ({error})"
    return f"{places}; put {file.name} into a folder and name it with --data-dir, or try --config sample"


def _reason(error: OSError) -> str:
    response = getattr(error, "response", None)
    if response is None:
        return type(error).__name__
    response.close()  # pooch leaves that to the garbage collector
    return f"HTTP status {response.status_code}"
