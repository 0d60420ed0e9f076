"""Find a corpus's files: given by the user, downloaded earlier, or downloaded now and verified.

Conventions: if `data_dir` is given, files are looked up only there; otherwise in ``$CLOSEREAD_DATA/<corpus>``, then
in the cache (``$CLOSEREAD_CACHE/<corpus>``, by default the user's cache folder), and finally they are downloaded into
the cache.  The command line and the dataset builders share the cache.  Files from anywhere but `data_dir` must be the
released ones, byte for byte.  Folders that every user gets from their owners (`UserFolders`) are neither downloaded nor
verified.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from closeread.corpus.declaration import Corpus, Source, SourceFile, SourceFolder, UserFolder, UserFolders
from closeread.corpus.downloads import DownloadError, TooLargeError, download
from closeread.exceptions import ChecksumError, FormatError, Problem, UnavailableError, merge_errors
from closeread.files import make_folders, replacing
from closeread.packages import package_folder
from closeread.records import DataDir, UserFiles
from closeread.wording import choose_words, name_option

DATA_VARIABLE = "CLOSEREAD_DATA"
CACHE_VARIABLE = "CLOSEREAD_CACHE"


@dataclass(frozen=True)
class LocatedFiles:
    """A file, or all files of a folder, as found on this machine.

    Attributes:
        path: where it is; for a folder whose files are in several places, one of these.
        sha256: the digest of its content, in hex.
        released: whether this is the released file, or exactly the released files of the folder; None if no digest of
            these is known.
        files: the files of a folder by their path below it, sorted.
    """

    path: Path
    sha256: str
    released: bool | None
    files: Mapping[str, Path] = field(default_factory=dict)


def locate(corpus: Corpus, source: Source, data_dir: DataDir | None = None) -> LocatedFiles:
    """Find a file of a corpus, or the files of a folder, and download what is missing.

    Args:
        corpus: the corpus.
        source: the file, the folder, or the folders.
        data_dir: the only folder to search; its files may differ from the released ones.

    Raises:
        UnavailableError: a file can neither be found nor downloaded.
        ChecksumError: a file differs from the released one.
        FormatError: a file can't be read.
    """
    if isinstance(source, UserFolders):
        return _locate_user_folders(corpus, source, data_dir)
    data_dir = data_dir.data_dir if isinstance(data_dir, UserFiles) else data_dir
    if isinstance(source, SourceFile):
        return _locate_file(corpus, source, data_dir)
    if data_dir is None or source.url is None:
        return _locate_released_folder(corpus, source)
    return _locate_user_folder(corpus, source, data_dir)


def is_in(folder: DataDir, source: Source) -> bool:
    """Tell whether a folder of a corpus's files contains a source: a file, or files of a folder.

    Folders that users get from their owners count as being there, so that reading them tells what is missing.
    """
    if isinstance(source, UserFolders):
        return True
    if isinstance(folder, UserFiles):
        return folder.data_dir is not None and is_in(folder.data_dir, source)
    if isinstance(source, SourceFile):
        return (folder / source.name).exists()
    return bool(_match_files(folder / source.name, source.patterns[:1]))


def files_in(folder: DataDir, source: Source) -> dict[str, Path]:
    """List the files of a source in a folder of a corpus's files, by their path below that folder, sorted."""
    if isinstance(source, UserFolders):
        found = {
            f"{one.name}/{name}": path
            for one, place in _place_folders(source, folder)
            for name, path in (_match_files(place, one.patterns) if place is not None else {}).items()
        }
        data_dir = folder if isinstance(folder, Path) else folder.data_dir
        return found | (_match_files(data_dir, source.patterns) if data_dir is not None and found else {})
    if isinstance(folder, UserFiles):
        return {} if folder.data_dir is None else files_in(folder.data_dir, source)
    if isinstance(source, SourceFolder):
        found = _match_files(folder / source.name, source.patterns)
        return {source.path(name): path for name, path in found.items()}
    return {source.name: folder / source.name} if (folder / source.name).is_file() else {}


def files_at_hand(corpus: Corpus, source: Source, data_dir: DataDir | None) -> list[Path]:
    """List the files of a source on this machine, in all places where they are looked up, whatever they contain."""
    if source.url is None:
        return [
            _bundled_path(corpus, file) for file in (source.files if isinstance(source, SourceFolder) else [source])
        ]
    folders = [data_dir]
    if data_dir is None or (isinstance(data_dir, UserFiles) and data_dir.data_dir is None):
        folders += [data_folder(corpus.name), cache_folder(corpus.name)]
    return [path for folder in folders if folder is not None for path in files_in(folder, source).values()]


def _match_files(folder: Path, patterns: tuple[str, ...]) -> dict[str, Path]:
    """Find the files below a folder that match a pattern; hidden files belong to other programs."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if not path.name.startswith(".")}
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def find_places(corpus: Corpus, source: UserFolders, data_dir: DataDir | None) -> UserFiles:
    """Return where to look for a user's folders: below ``$CLOSEREAD_DATA`` for those whose place is not given."""
    files = data_dir if isinstance(data_dir, UserFiles) else UserFiles(data_dir)
    if files.data_dir is not None or all(one.name in files.folders for one in source.folders):
        return files
    return files._replace(data_dir=data_folder(corpus.name))


def _place_folders(source: UserFolders, data_dir: DataDir) -> list[tuple[UserFolder, Path | None]]:
    """Return where each folder is expected; None for one that the user can do without, or has given no place."""
    files = UserFiles(data_dir) if isinstance(data_dir, Path) else data_dir
    default = files.data_dir
    return [(one, files.folders.get(one.name, default and default / one.name)) for one in source.folders]


def _locate_user_folders(corpus: Corpus, source: UserFolders, data_dir: DataDir | None) -> LocatedFiles:
    """Find a user's folders.

    Raises:
        UnavailableError: some are missing; the message says what they are and how to get them.
    """
    files = find_places(corpus, source, data_dir)
    found = files_in(files, source)
    missing = [
        (one, place)
        for one, place in _place_folders(source, files)
        if not any(name.startswith(f"{one.name}/") for name in found)
        and not (one.name in files.folders and place is None)
        and not any(fnmatchcase(name, pattern) for name in found for pattern in one.not_needed_with)
    ]
    if missing:
        *others, last = (_describe_missing(one, place) for one, place in missing)
        advice = _advise(source, [one for one, _ in missing], takes_config=None not in files.folders.values())
        raise UnavailableError(files.data_dir or corpus.name, list(map(Problem, (*others, f"{last}; {advice}"))))
    digests = {name: file_digest(path) for name, path in found.items()}
    first = next(place for _, place in _place_folders(source, files) if place is not None)
    return LocatedFiles(files.data_dir or first, _combine_digests(digests), released=None, files=found)


def _describe_missing(folder: UserFolder, place: Path | None) -> str:
    where = "was not given" if place is None else f"is not in {place} (expected files {' or '.join(folder.patterns)})"
    return f"{folder.content} {where}; {folder.how_to_get}"


def _advise(source: UserFolders, missing: Sequence[UserFolder], *, takes_config: bool) -> str:
    """Say where missing folders are asked for.

    Args:
        source: all folders.
        missing: those that are missing.
        takes_config: whether the command reads a config; one that does without a folder reads these files alone.
    """
    names = " and ".join(name_option(one.name) for one in missing)
    each = f"pass {'the folders' if len(missing) > 1 else 'its folder'} with {names}"
    both = f"a folder that contains {source.expected} with {name_option('data_dir')}"
    return f"{each}, or {both}" + (f", or try {_name_sample()}" if takes_config else "")


def _name_sample() -> str:
    """Name the sample; the keyword for a config is `name` where a dataset is loaded, and `config` elsewhere."""
    return choose_words("--config sample", "the config 'sample'")


def _locate_user_folder(corpus: Corpus, source: SourceFolder, data_dir: Path) -> LocatedFiles:
    folder = data_dir / source.name
    files = _match_files(folder, source.patterns)
    if not is_in(data_dir, source):
        problem = Problem(f"contains no file {source.expected} (required by {corpus.title})")
        raise UnavailableError(data_dir, [problem])
    found = {source.path(name): file_digest(path) for name, path in files.items()}
    released = found == {file.name: file.sha256 for file in source.files}
    return LocatedFiles(folder, _combine_digests(found), released, files)


def _locate_released_folder(corpus: Corpus, source: SourceFolder) -> LocatedFiles:
    located: dict[str, LocatedFiles] = {}
    missing: list[SourceFile] = []
    wrong: list[ChecksumError] = []
    for file in source.files:
        try:
            found = _find_released(corpus, file)
        except ChecksumError as error:
            wrong.append(error)
        else:
            if found is None:
                missing.append(file)
            else:
                located[file.name] = found
    if wrong:
        raise merge_errors(wrong)
    for place, file in enumerate(missing):
        try:
            located[file.name] = _download(corpus, file)
        except DownloadError as error:
            # Don't try the other files: each may take half a minute to fail.
            problems = [Problem(_explain_unreachable(file, error), None, file.name)]
            problems += [Problem("is also missing", None, other.name) for other in missing[place + 1 :]]
            raise UnavailableError(corpus.name, problems) from None
    digests = {file.name: located[file.name].sha256 for file in source.files}
    files = {file.name: located[file.name].path for file in source.files}
    below = {name if source.name == "." else name.removeprefix(f"{source.name}/"): path for name, path in files.items()}
    first, path = next(iter(below.items()))
    return LocatedFiles(path.parents[first.count("/")], _combine_digests(digests), released=True, files=below)


def _combine_digests(digests: Mapping[str, str]) -> str:
    listing = "".join(f"{name}\0{digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()


def _locate_file(corpus: Corpus, file: SourceFile, data_dir: Path | None) -> LocatedFiles:
    if file.url is not None and data_dir is not None:
        path = data_dir / file.name
        if not path.exists():
            problem = Problem(f"contains no file {file.name} (required by {corpus.title})")
            raise UnavailableError(data_dir, [problem])
        digest = file_digest(path)
        return LocatedFiles(path, digest, released=_find_difference(path, digest, file) is None)
    try:
        return _find_released(corpus, file) or _download(corpus, file)
    except DownloadError as error:
        problem = Problem(_explain_unreachable(file, error))
        raise UnavailableError(f"{corpus.name}/{file.name}", [problem]) from None


def _find_released(corpus: Corpus, file: SourceFile) -> LocatedFiles | None:
    """Find a released file on this machine; None if it is not there."""
    if file.url is None:
        return _verify(_bundled_path(corpus, file), file, "reinstall closeread")
    for find in (data_folder, cache_folder):
        folder = find(corpus.name)
        if folder is not None and (folder / file.name).exists():
            option = name_option("data_dir")
            remedy = f"delete it to download it again, or pass its folder with {option} to use it as it is"
            return _verify(folder / file.name, file, remedy)
    return None


def data_folder(corpus: str) -> Path | None:
    """Return the corpus's folder below ``$CLOSEREAD_DATA``; None if the variable is not set."""
    root = os.environ.get(DATA_VARIABLE)
    return Path(root) / corpus if root else None


def cache_folder(corpus: str) -> Path:
    """Return the corpus's folder in the cache, which need not exist."""
    root = os.environ.get(CACHE_VARIABLE)
    if root:
        return Path(root) / corpus
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("closeread", appauthor=False)) / corpus


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hex.

    Raises:
        FormatError: the file can't be read.
    """
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for its writer
            raise FormatError(path, [Problem("is not a regular file")])
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None


def git_blob(path: Path) -> str:
    """Return the git object id of a file's bytes, in hex.

    Raises:
        FormatError: the file can't be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FormatError(path, [Problem(f"can't be read: {error.strerror}")]) from None
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _find_difference(path: Path, digest: str, file: SourceFile) -> str | None:
    """Describe how a file differs from the released one; None if it does not.

    Args:
        path: the file that was found.
        digest: its sha256.
        file: the released file.
    """
    if file.sha256 is not None:
        name, found, expected = "sha256", digest, file.sha256
    else:
        name, found, expected = "git object id", git_blob(path), str(file.git_blob)
    return None if found == expected else f"its {name} is {found} (expected {expected})"


def _bundled_path(corpus: Corpus, file: SourceFile) -> Path:
    return package_folder(f"closeread.loaders.{corpus.name}") / file.name


def _verify(path: Path, file: SourceFile, remedy: str) -> LocatedFiles:
    digest = file_digest(path)
    difference = _find_difference(path, digest, file)
    if difference is not None:
        raise ChecksumError(path, [Problem(f"is not the released file: {difference}; {remedy}")])
    return LocatedFiles(path, digest, released=True)


def _download(corpus: Corpus, file: SourceFile) -> LocatedFiles:
    """Download a file into the cache.

    Raises:
        DownloadError: it can't be had.
        UnavailableError: the cache can't be written.
        ChecksumError: what is sent is not the released file.
    """
    path = cache_folder(corpus.name) / file.name
    try:
        make_folders(path.parent)
        with replacing(path) as draft:
            with draft.open("wb") as partial:
                download(str(file.url), partial, file.size)
            digest = file_digest(draft)
            if difference := _find_difference(draft, digest, file):
                raise _make_checksum_error(file, difference)
    except TooLargeError as error:
        raise _make_checksum_error(file, str(error)) from None
    except OSError as error:
        raise UnavailableError(path, [Problem(f"{error.strerror}; set {CACHE_VARIABLE} to another folder")]) from None
    return LocatedFiles(path, digest, released=True)


def _make_checksum_error(file: SourceFile, difference: str) -> ChecksumError:
    return ChecksumError(file.url, [Problem(f"the downloaded file is not the released file: {difference}")])


def _explain_unreachable(file: SourceFile, error: DownloadError) -> str:
    found = f"not found in {DATA_VARIABLE} or the cache, and {file.url} can't be downloaded ({error})"
    advice = f"put {file.name} into a folder and pass that folder with {name_option('data_dir')}"
    return f"{found}; {advice}, or try {_name_sample()}"
