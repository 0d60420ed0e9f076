"""Find a corpus's files: given by the user, downloaded earlier, or downloaded now and verified.

Conventions: if the user gives a folder, files are looked up only there; otherwise in ``$CLOSEREAD_DATA/<corpus>``, then
in the cache (``$CLOSEREAD_CACHE/<corpus>``, by default the user's cache folder), and finally they are downloaded into
the cache.  The command line and the dataset builders share the cache.  Files from anywhere but the user's folder must
be the released ones, byte for byte.  Folders that every user gets from their owners (`UserFolders`) are neither
downloaded nor verified.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from zipfile import ZipFile

from closeread.corpus.declaration import (
    UNVERIFIED,
    Corpus,
    OwnFiles,
    Source,
    SourceFile,
    SourceFolder,
    UserFolder,
    UserFolders,
)
from closeread.corpus.downloads import (
    UNDECLARED_SIZE,
    DownloadError,
    DownloadLimitError,
    download,
)
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
from closeread.files import (
    creating_folder,
    make_folders,
    package_folder,
    replacing,
    write_text,
)
from closeread.formats.text import wording_zip_errors
from closeread.records import NO_FILES, UserFiles

DATA_VARIABLE = "CLOSEREAD_DATA"
CACHE_VARIABLE = "CLOSEREAD_CACHE"

MAX_UNPACKED_BYTES = 2**33
"""The most bytes of the files of an archive: several times what any declared corpus has."""

MAX_UNVERIFIED_BYTES = 2**29
"""The most bytes of a download whose digest is not declared: four times the archive of CorefUD 1.4."""


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


def locate(corpus: Corpus, source: Source, files: UserFiles = NO_FILES) -> LocatedFiles:
    """Find a file of a corpus, or the files of a folder, and download those that are missing.

    A user's own folder is the only one to search, and its files may differ from the released ones.  A file that can
    neither be found nor downloaded is an UnavailableError, one that differs from the released file a ChecksumError.
    """
    if isinstance(source, UserFolders):
        return _locate_user_folders(source, find_places(corpus, source, files), corpus.name)
    if isinstance(source, OwnFiles):
        return _locate_own_files(corpus, source, files)
    if files.data_dir is not None and source.url is not None:
        return _locate_in_folder(corpus, source, files.data_dir)
    located = _locate_released(corpus, source.files)
    if isinstance(source, SourceFile):
        return located[0]
    paths = {}
    digests = {}
    for file, released in zip(source.files, located, strict=True):
        paths[file.name.removeprefix(f"{source.name}/")] = released.path
        digests[file.name] = released.sha256
    depth = next(iter(paths)).count("/")
    folder = located[0].path.parents[depth]
    return LocatedFiles(folder, _combine_digests(digests), released=True, files=paths)


def is_in(folder: Path | None, source: Source) -> bool:
    """Tell whether a folder of a corpus's files contains a source: a file, or files of a folder.

    Folders that users get from their owners count as present, so that reading them reports missing ones.
    """
    if isinstance(source, UserFolders):
        return True
    if isinstance(source, OwnFiles):
        return folder is not None and bool(_list_own_files(folder, source)[1])
    return folder is not None and bool(_match_files(folder, [source.expected]))


def files_in(files: UserFiles, source: Source) -> dict[str, Path]:
    """List the files of a source in a user's folders, by their path below the corpus's folder, sorted."""
    folder = files.data_dir
    if isinstance(source, OwnFiles):
        return {} if folder is None else _list_own_files(folder, source)[1]
    if not isinstance(source, UserFolders):
        return {} if folder is None else _match_files(folder, source.paths)
    paths = {}
    for user_folder, place in _place_folders(source, files):
        if place is not None:
            for name, path in _match_files(place, user_folder.patterns).items():
                paths[f"{user_folder.name}/{name}"] = path
    if folder is not None and paths:
        paths |= _match_files(folder, source.patterns)
    return paths


def find_places(corpus: Corpus, source: UserFolders, files: UserFiles) -> UserFiles:
    """Return where to look for a user's folders: below ``$CLOSEREAD_DATA`` for those whose place is not given."""
    all_given = all(folder.name in files.folders for folder in source.folders)
    if files.data_dir is not None or all_given:
        return files
    return replace(files, data_dir=data_folder(corpus.name))


def _match_files(folder: Path, patterns: Iterable[str]) -> dict[str, Path]:
    """Find the files below a folder that match a pattern; hidden files belong to other programs."""
    paths: set[Path] = set()
    for pattern in patterns:
        paths.update(path for path in folder.glob(pattern) if not path.name.startswith("."))
    return {path.relative_to(folder).as_posix(): path for path in sorted(paths)}


def _match_first(folder: Path, patterns: Iterable[str]) -> dict[str, Path]:
    """Find the files below a folder that match the first pattern that any matches."""
    for pattern in patterns:
        paths = _match_files(folder, [f"**/{pattern}"])
        if paths:
            return paths
    return {}


def _list_own_files(folder: Path, source: OwnFiles) -> tuple[Path, dict[str, Path]]:
    """List the files of a source in a folder, or in an archive there, and return where they are, too."""
    archives = [folder] if folder.suffix == ".zip" else []
    paths = {} if archives else _match_first(folder, source.patterns)
    if not paths:
        archives = archives or list(_match_files(folder, ["*.zip"]).values())
    for archive in archives:
        folder = _open_archive(archive)
        paths = _match_first(folder, source.patterns)
        if paths:
            break
    for pattern in source.extras if paths else ():
        paths |= _match_files(folder, [f"**/{pattern}"])
    return folder, paths


def _open_archive(archive: Path) -> Path:
    """Return a folder with the content of an archive, which is unpacked once."""
    folder = cache_folder("unpacked") / file_digest(archive)
    if not folder.is_dir():
        make_folders(folder.parent)
        with creating_folder(folder) as draft:
            _unpack(archive, draft)
    return folder


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive, and the archives in it, which are not looked into for more."""
    _extract(archive, archive, folder)
    for inner in sorted(folder.rglob("*.zip")):
        _extract(inner, archive, inner.with_suffix(""))
        inner.unlink()


def _extract(path: Path, archive: Path, folder: Path) -> None:
    """Extract an archive, which is the user's or in it; errors name the user's."""
    name = None if path == archive else path.name
    with wording_zip_errors(archive, name), ZipFile(path) as opened:
        n_bytes = sum(entry.file_size for entry in opened.infolist())
        if n_bytes > MAX_UNPACKED_BYTES:
            limit = f"limit: {MAX_UNPACKED_BYTES:,} bytes"
            problem = f"has {n_bytes:,} bytes when unpacked ({limit})"
            raise FormatError(archive, [Problem(problem, file=name)])
        opened.extractall(folder)


def _locate_own_files(corpus: Corpus, source: OwnFiles, files: UserFiles) -> LocatedFiles:
    """Find files that the user has or downloads; an UnavailableError says how to get them."""
    folder = files.data_dir or data_folder(corpus.name)
    if folder is None and source.downloads:
        accepts = files.options.get(UNVERIFIED.name) == "accept"
        located = _locate_released(corpus, source.downloads, accepts=accepts)
        folder = located[0].path
        if folder.suffix != ".zip":
            folder = folder.parents[source.downloads[0].name.count("/")]
    paths: dict[str, Path] = {}
    if folder is not None and folder.exists():
        folder, paths = _list_own_files(folder, source)
    if folder is None or not paths:
        where = advise("; pass its folder with {data_dir}")
        lacking = f"has no file {' or '.join(source.patterns)} (required by {corpus.title}){where}"
        hints = [Problem(line) for line in source.instructions]
        raise UnavailableError(folder or corpus.name, [Problem(lacking), *hints])
    digests = {name: file_digest(path) for name, path in paths.items()}
    return LocatedFiles(folder, _combine_digests(digests), released=None, files=paths)


def _place_folders(source: UserFolders, files: UserFiles) -> list[tuple[UserFolder, Path | None]]:
    """Return where each folder is expected; None for an optional folder, or one whose place was not given."""
    places = []
    for folder in source.folders:
        default = None if files.data_dir is None else files.data_dir / folder.name
        places.append((folder, files.folders.get(folder.name, default)))
    return places


def _locate_user_folders(source: UserFolders, files: UserFiles, corpus: str) -> LocatedFiles:
    """Find a user's folders; an UnavailableError names the missing ones and says how to get them."""
    paths = files_in(files, source)
    places = _place_folders(source, files)
    missing = []
    for folder, place in places:
        is_optional = folder.name in files.folders and place is None
        if not is_optional and not _is_satisfied(folder, paths):
            missing.append((folder, place))
    if missing:
        problems = _describe_missing(missing, source, files)
        raise UnavailableError(files.data_dir or corpus, problems)
    digests = {name: file_digest(path) for name, path in paths.items()}
    first = next(place for _, place in places if place is not None)
    digest = _combine_digests(digests)
    return LocatedFiles(files.data_dir or first, digest, released=None, files=paths)


def _is_satisfied(folder: UserFolder, names: Iterable[str]) -> bool:
    """Tell whether files of a folder are among the names, or one with which it is not needed."""
    for name in names:
        is_inside = name.startswith(f"{folder.name}/")
        if is_inside or any(fnmatchcase(name, pattern) for pattern in folder.not_needed_with):
            return True
    return False


def _describe_missing(
    missing: Sequence[tuple[UserFolder, Path | None]], source: UserFolders, files: UserFiles
) -> list[Problem]:
    """Return a problem for each missing folder, the last with what the user can do."""
    sentences = []
    for folder, place in missing:
        where = "was not given"
        if place is not None:
            where = f"is not in {place} (expected files {' or '.join(folder.patterns)})"
        sentences.append(f"{folder.content} {where}; {folder.how_to_get}")
    options = " and ".join(f"{{{folder.name}}}" for folder, _ in missing)
    noun = "the folders" if len(missing) > 1 else "its folder"
    ways = [
        advise(f"pass {noun} with {options}"),
        advise(f"a folder that contains {source.expected} with {{data_dir}}"),
    ]
    # Who does without a folder reads no config.
    if None not in files.folders.values():
        ways.append(_advise_sample())
    advice = ", or ".join(filter(None, ways))
    if advice:
        sentences[-1] += f"; {advice}"
    return list(map(Problem, sentences))


def _advise_sample() -> str:
    """Advise the config that comes with the package; nothing where a config can't be chosen."""
    if not can_advise("config"):
        return ""
    return choose_words("try --config sample", "try the config 'sample'")


def _locate_in_folder(
    corpus: Corpus, source: SourceFile | SourceFolder, data_dir: Path
) -> LocatedFiles:
    """Find a file, or the files of a folder, in a folder of the user's own."""
    if not is_in(data_dir, source):
        message = f"contains no file {source.expected} (required by {corpus.title})"
        raise UnavailableError(data_dir, [Problem(message)])
    if isinstance(source, SourceFile):
        path = data_dir / source.name
        digest = file_digest(path)
        return LocatedFiles(path, digest, released=_find_difference(path, digest, source) is None)
    folder = data_dir / source.name
    paths = _match_files(folder, source.patterns)
    digests = {source.path(name): file_digest(path) for name, path in paths.items()}
    is_released = digests == {file.name: file.sha256 for file in source.files}
    return LocatedFiles(folder, _combine_digests(digests), is_released, paths)


def _locate_released(
    corpus: Corpus, files: Sequence[SourceFile], *, accepts: bool = False
) -> list[LocatedFiles]:
    """Find released files, and download those that are missing; `accepts` keeps those without a declared digest."""
    located: dict[SourceFile, LocatedFiles] = {}
    errors: list[ChecksumError] = []
    missing: list[SourceFile] = []
    for file in files:
        path = _find_released(corpus, file)
        if path is None:
            missing.append(file)
            continue
        digest = file_digest(path)
        difference = _find_difference(path, digest, file)
        if difference is None:
            located[file] = LocatedFiles(path, digest, released=True)
        else:
            errors.append(_report_difference(path, file, difference))
    if errors:
        raise merge_errors(errors)
    for number, file in enumerate(missing, start=1):
        try:
            located[file] = _download(corpus, file, accepts=accepts)
        except DownloadError as error:
            problems = [Problem(_describe_failure(corpus, file, error), None, file.name)]
            # The other files are not tried: each may take half a minute to fail.
            problems += [Problem("is also missing", None, other.name) for other in missing[number:]]
            raise UnavailableError(corpus.name, problems) from None
    return [located[file] for file in files]


def _describe_failure(corpus: Corpus, file: SourceFile, error: DownloadError) -> str:
    """Say why a file can't be downloaded, and what the user can do."""
    folder = advise("a folder and pass that folder with {data_dir}")
    ways = [f"put {file.name} into {folder or f'${DATA_VARIABLE}/{corpus.name}'}", _advise_sample()]
    advice = ", or ".join(filter(None, ways))
    cause = f"{file.url} can't be downloaded ({error})"
    return f"not found in {DATA_VARIABLE} or the cache, and {cause}; {advice}"


def _combine_digests(digests: Mapping[str, str]) -> str:
    listing = "".join(f"{name}\0{digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()


def _find_released(corpus: Corpus, file: SourceFile) -> Path | None:
    """Return the path of a released file on this machine; None if it is not there."""
    if file.url is None:
        return package_folder(corpus.folder) / file.name
    folder = data_folder(corpus.name)
    if folder is not None and (folder / file.name).exists():
        return folder / file.name
    path = cache_folder(corpus.name) / file.name
    return path if path.exists() else None


def _report_difference(path: Path, file: SourceFile, difference: str) -> ChecksumError:
    """Return the error for a file that differs from the released one, with what the user can do."""
    remedy = "reinstall closeread"
    if file.url is not None:
        using = advise(", or pass its folder with {data_dir} to use it as it is")
        remedy = f"delete it to download it again{using}"
    return ChecksumError(path, [Problem(f"is not the released file: {difference}; {remedy}")])


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
    name = "sha256"
    expected = file.sha256
    if expected is None and file.git_blob is not None:
        name = "git object id"
        digest = git_blob(path)
        expected = file.git_blob
    elif expected is None:
        record = _name_record(path)
        # Until it is downloaded there is nothing to compare with.
        expected = record.read_text("utf-8").split()[0] if record.is_file() else digest
    return None if digest == expected else f"its {name} is {digest} (expected {expected})"


def _name_record(path: Path) -> Path:
    """Return the file with the digest of a download that was accepted without a declared one."""
    return path.with_name(f"{path.name}.sha256")


def _accept_unverified(file: SourceFile, draft: Path, digest: str, *, accepts: bool) -> None:
    """Ask whether to keep a download whose digest is not declared; an UnavailableError says how to answer yes."""
    size = f"{draft.stat().st_size:,} bytes, SHA-256 {digest}"
    found = f"closeread could not verify {file.name} when it was released: {size}"
    if accepts:
        return
    if sys.stdin is not None and sys.stdin.isatty():
        print(f"{found}; keep it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    advice = advise("; keep it with {unverified=accept}")
    raise UnavailableError(file.url, [Problem(f"was not kept: {found}{advice}")])


def _download(corpus: Corpus, file: SourceFile, *, accepts: bool) -> LocatedFiles:
    """Download a file into the cache."""
    path = cache_folder(corpus.name) / file.name
    wrong_content = "the downloaded file is not the released file"
    try:
        make_folders(path.parent)
        with replacing(path) as draft:
            with draft.open("wb") as partial:
                limit = MAX_UNVERIFIED_BYTES if file.is_unverified else UNDECLARED_SIZE
                download(str(file.url), partial, file.size, limit)
            digest = file_digest(draft)
            difference = _find_difference(draft, digest, file)
            if difference is not None:
                raise ChecksumError(file.url, [Problem(f"{wrong_content}: {difference}")])
            if file.is_unverified:
                _accept_unverified(file, draft, digest, accepts=accepts)
                write_text(_name_record(path), f"{digest}  {path.name}\n")
    except DownloadLimitError as error:
        raise ChecksumError(file.url, [Problem(f"{wrong_content}: {error}")]) from None
    except OSError as error:
        message = f"{error.strerror}; set {CACHE_VARIABLE} to another folder"
        raise UnavailableError(path, [Problem(message)]) from None
    return LocatedFiles(path, digest, released=True)
