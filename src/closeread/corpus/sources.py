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

from closeread.corpus.declaration import (
    Corpus,
    Source,
    SourceFile,
    SourceFolder,
    UserFolder,
    UserFolders,
)
from closeread.corpus.downloads import DownloadError, TooLargeError, download
from closeread.exceptions import (
    ChecksumError,
    FormatError,
    Problem,
    UnavailableError,
    advise,
    can_advise,
    choose_words,
    describe_unreadable,
    merge_errors,
)
from closeread.files import make_folders, package_folder, replacing
from closeread.records import DataDir, UserFiles

DATA_VARIABLE = "CLOSEREAD_DATA"
CACHE_VARIABLE = "CLOSEREAD_CACHE"


@dataclass(frozen=True)
class LocatedFiles:
    """A file, or all files of a folder, as found on this machine."""

    path: Path  # where it is; for a folder whose files are in several places, one of these
    sha256: str  # the digest of its content, in hex
    # Whether this is the released file, or exactly the released files of the folder; None if no digest of these is
    # known.
    released: bool | None
    # the files of a folder by their path below it, sorted
    files: Mapping[str, Path] = field(default_factory=dict)


def locate(corpus: Corpus, source: Source, data_dir: DataDir | None = None) -> LocatedFiles:
    """Find a file of a corpus, or the files of a folder, and download those that are missing.

    With `data_dir`, that is the only folder to search, and its files may differ from the released ones.  A file that
    can neither be found nor downloaded is an UnavailableError, one that differs from the released file a ChecksumError.
    """
    if isinstance(source, UserFolders):
        return _locate_user_folders(source, find_places(corpus, source, data_dir), corpus.name)
    folder = _to_files(data_dir).data_dir
    if folder is not None and source.url is not None:
        return _locate_own(corpus, source, folder)
    if isinstance(source, SourceFile):
        return _locate_released(corpus, [source])[0]
    located = _locate_released(corpus, source.files)
    names = [
        file.name if source.name == "." else file.name.removeprefix(f"{source.name}/")
        for file in source.files
    ]
    below = {name: found.path for name, found in zip(names, located, strict=True)}
    digests = {file.name: found.sha256 for file, found in zip(source.files, located, strict=True)}
    first = located[0].path.parents[names[0].count("/")]
    return LocatedFiles(first, _combine_digests(digests), released=True, files=below)


def is_in(folder: DataDir, source: Source) -> bool:
    """Tell whether a folder of a corpus's files contains a source: a file, or files of a folder.

    Folders that users get from their owners count as present, so that reading them reports missing ones.
    """
    if isinstance(source, UserFolders):
        return True
    data_dir = _to_files(folder).data_dir
    return data_dir is not None and bool(_match_files(data_dir, (source.expected,)))


def files_in(folder: DataDir, source: Source) -> dict[str, Path]:
    """List the files of a source in a folder of a corpus's files, by their path below that folder, sorted."""
    data_dir = _to_files(folder).data_dir
    if isinstance(source, UserFolders):
        found = {
            f"{one.name}/{name}": path
            for one, place in _place_folders(source, _to_files(folder))
            if place is not None
            for name, path in _match_files(place, one.patterns).items()
        }
        return found | (
            _match_files(data_dir, source.patterns) if data_dir is not None and found else {}
        )
    patterns = source.patterns if isinstance(source, SourceFolder) else (source.name,)
    below = source.path if isinstance(source, SourceFolder) else str
    return {} if data_dir is None else _match_files(data_dir, tuple(map(below, patterns)))


def files_at_hand(corpus: Corpus, source: Source, data_dir: DataDir | None) -> list[Path]:
    """List the files of a source on this machine, in all places where they are looked up, whatever they contain."""
    if source.url is None:
        files = source.files if isinstance(source, SourceFolder) else [source]
        return [_bundled_path(corpus, file) for file in files]
    folders = [data_dir]
    if _to_files(data_dir).data_dir is None:
        folders += [data_folder(corpus.name), cache_folder(corpus.name)]
    return [
        path
        for folder in folders
        if folder is not None
        for path in files_in(folder, source).values()
    ]


def find_places(corpus: Corpus, source: UserFolders, data_dir: DataDir | None) -> UserFiles:
    """Return where to look for a user's folders: below ``$CLOSEREAD_DATA`` for those whose place is not given."""
    files = _to_files(data_dir)
    if files.data_dir is not None or all(one.name in files.folders for one in source.folders):
        return files
    return files._replace(data_dir=data_folder(corpus.name))


def _to_files(data_dir: DataDir | None) -> UserFiles:
    return data_dir if isinstance(data_dir, UserFiles) else UserFiles(data_dir)


def _match_files(folder: Path, patterns: tuple[str, ...]) -> dict[str, Path]:
    """Find the files below a folder that match a pattern; hidden files belong to other programs."""
    found = {
        path
        for pattern in patterns
        for path in folder.glob(pattern)
        if not path.name.startswith(".")
    }
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def _place_folders(source: UserFolders, files: UserFiles) -> list[tuple[UserFolder, Path | None]]:
    """Return where each folder is expected; None for an optional folder, or one whose place was not given."""
    default = files.data_dir
    return [
        (one, files.folders.get(one.name, default and default / one.name)) for one in source.folders
    ]


def _locate_user_folders(source: UserFolders, files: UserFiles, corpus: str) -> LocatedFiles:
    """Find a user's folders; an UnavailableError names the missing ones and says how to get them."""
    found, places = files_in(files, source), _place_folders(source, files)
    missing = [
        (one, place)
        for one, place in places
        if not any(name.startswith(f"{one.name}/") for name in found)
        and not (one.name in files.folders and place is None)
        and not any(fnmatchcase(name, pattern) for name in found for pattern in one.not_needed_with)
    ]
    if missing:
        described = []
        for one, place in missing:
            expected = f"(expected files {' or '.join(one.patterns)})"
            where = "was not given" if place is None else f"is not in {place} {expected}"
            described.append(f"{one.content} {where}; {one.how_to_get}")
        options = " and ".join(f"{{{folder.name}}}" for folder, _ in missing)
        each = "the folders" if len(missing) > 1 else "its folder"
        advised = [
            advise(f"pass {each} with {options}"),
            advise(f"a folder that contains {source.expected} with {{data_dir}}"),
        ]
        if None not in files.folders.values():  # what does without a folder reads no config
            advised.append(_advise_sample())
        advice = ", or ".join(filter(None, advised))
        described[-1] += f"; {advice}" if advice else ""
        raise UnavailableError(files.data_dir or corpus, list(map(Problem, described)))
    digests = {name: file_digest(path) for name, path in found.items()}
    first = next(place for _, place in places if place is not None)
    return LocatedFiles(
        files.data_dir or first, _combine_digests(digests), released=None, files=found
    )


def _advise_sample() -> str:
    """Advise the config that comes with the package; nothing where a config can't be chosen."""
    if not can_advise("config"):
        return ""
    return choose_words("try --config sample", "try the config 'sample'")


def _locate_own(corpus: Corpus, source: SourceFile | SourceFolder, data_dir: Path) -> LocatedFiles:
    """Find a file, or the files of a folder, in a folder of the user's own."""
    if not is_in(data_dir, source):
        problem = Problem(f"contains no file {source.expected} (required by {corpus.title})")
        raise UnavailableError(data_dir, [problem])
    if isinstance(source, SourceFile):
        path = data_dir / source.name
        digest = file_digest(path)
        return LocatedFiles(path, digest, released=_find_difference(path, digest, source) is None)
    folder = data_dir / source.name
    files = _match_files(folder, source.patterns)
    found = {source.path(name): file_digest(path) for name, path in files.items()}
    released = found == {file.name: file.sha256 for file in source.files}
    return LocatedFiles(folder, _combine_digests(found), released, files)


def _locate_released(corpus: Corpus, files: Sequence[SourceFile]) -> list[LocatedFiles]:
    """Find released files, and download those that are missing."""
    found: list[LocatedFiles | None] = []
    wrong: list[ChecksumError] = []
    for file in files:
        try:
            found.append(_find_released(corpus, file))
        except ChecksumError as error:
            wrong.append(error)
    if wrong:
        raise merge_errors(wrong)
    missing = [file for file, one in zip(files, found, strict=True) if one is None]
    for number, file in enumerate(missing):
        try:
            found[files.index(file)] = _download(corpus, file)
        except DownloadError as error:
            what = f"not found in {DATA_VARIABLE} or the cache, and {file.url} can't be downloaded ({error})"
            passing = advise("a folder and pass that folder with {data_dir}")
            advice = f"put {file.name} into {passing or f'${DATA_VARIABLE}/{corpus.name}'}"
            sample = _advise_sample()
            problems = [Problem(f"{what}; {advice}{sample and ', or '}{sample}", None, file.name)]
            # The other files are not tried: each may take half a minute to fail.
            problems += [
                Problem("is also missing", None, other.name) for other in missing[number + 1 :]
            ]
            raise UnavailableError(corpus.name, problems) from None
    return [one for one in found if one is not None]


def _combine_digests(digests: Mapping[str, str]) -> str:
    listing = "".join(f"{name}\0{digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()


def _find_released(corpus: Corpus, file: SourceFile) -> LocatedFiles | None:
    """Find a released file on this machine; None if it is not there, a ChecksumError if its content differs."""
    if file.url is None:
        places, remedy = [_bundled_path(corpus, file)], "reinstall closeread"
    else:
        folders = filter(None, (data_folder(corpus.name), cache_folder(corpus.name)))
        places = [folder / file.name for folder in folders if (folder / file.name).exists()]
        using = advise(", or pass its folder with {data_dir} to use it as it is")
        remedy = f"delete it to download it again{using}"
    if not places:
        return None
    digest = file_digest(places[0])
    if difference := _find_difference(places[0], digest, file):
        raise ChecksumError(
            places[0], [Problem(f"is not the released file: {difference}; {remedy}")]
        )
    return LocatedFiles(places[0], digest, released=True)


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
    """Return the sha256 of a file's bytes, in hex."""
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for its writer
            raise FormatError(path, [Problem("is not a regular file")])
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise describe_unreadable(path, error) from None


def git_blob(path: Path) -> str:
    """Return the git object id of a file's bytes, in hex."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _find_difference(path: Path, digest: str, file: SourceFile) -> str | None:
    """Describe how a file, whose sha256 is given, differs from the released one; None if it does not."""
    if file.sha256 is not None:
        name, found, expected = "sha256", digest, file.sha256
    else:
        name, found, expected = "git object id", git_blob(path), str(file.git_blob)
    return None if found == expected else f"its {name} is {found} (expected {expected})"


def _bundled_path(corpus: Corpus, file: SourceFile) -> Path:
    return package_folder(f"closeread.loaders.{corpus.name}") / file.name


def _download(corpus: Corpus, file: SourceFile) -> LocatedFiles:
    """Download a file into the cache."""
    path = cache_folder(corpus.name) / file.name
    wrong = "the downloaded file is not the released file"
    try:
        make_folders(path.parent)
        with replacing(path) as draft:
            with draft.open("wb") as partial:
                download(str(file.url), partial, file.size)
            digest = file_digest(draft)
            if difference := _find_difference(draft, digest, file):
                raise ChecksumError(file.url, [Problem(f"{wrong}: {difference}")])
    except TooLargeError as error:
        raise ChecksumError(file.url, [Problem(f"{wrong}: {error}")]) from None
    except OSError as error:
        raise UnavailableError(
            path, [Problem(f"{error.strerror}; set {CACHE_VARIABLE} to another folder")]
        ) from None
    return LocatedFiles(path, digest, released=True)
