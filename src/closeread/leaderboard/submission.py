"""A submission: predictions as a system wrote them, and what the submitter says about the system.

Both are files of a store whose names are the digests of their bytes; nothing that a submitter writes becomes part of a
path.  The digest of the description is the id of the submission.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from msgspec import UNSET, UnsetType

from closeread.exceptions import FormatError, Problem, SubmissionError, advising_only, quote
from closeread.files import creating_folder, read_at_most, replacing, scratch_folder
from closeread.formats.folders import walk_files
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.formats.parquet import PARQUET_MAGIC
from closeread.formats.text import decompress
from closeread.leaderboard.declaration import Board, Limits
from closeread.leaderboard.names import (
    check_link,
    check_model,
    check_name,
    escape_markdown,
    is_time,
)
from closeread.leaderboard.store_files import (
    WITH_LINE_ENDS,
    Digest,
    StoreFile,
    Time,
    digest,
    read_file,
    store_path,
)
from closeread.limits import MAX_FILES
from closeread.scoring import Scorer

SUFFIXES = (".jsonl", ".conll", ".conllu", ".conllua", ".csv", ".tsv", ".txt")
PACKED = ".files.jsonl"  # the suffix of a folder of files, packed into one file
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+ -]{0,120}")
# the path of a file in a packed folder
PACKED_NAME = re.compile(rf"{FILE_NAME.pattern}(/{FILE_NAME.pattern}){{0,9}}")
MISNAMED = "is not a plain name of a file (letters, digits and . _ - @ + in each part)"
MAX_ABOUT = 20_000  # the largest description of a submission, in bytes
FORM_ONLY = "The gold of this board is with its organisers: only form and ids were checked; the judge checks the rest."
PARQUET = "is a Parquet file, which no board reads (expected text, such as JSON Lines or CoNLL)"
NAME_LENGTH = 80
DESCRIPTION_LENGTH = 1000


class About(StoreFile, frozen=True):
    """What a submitter says about a system; all of it is untrusted.

    Attributes:
        board: the name of the board.
        predictions: the path of the predictions in the store.
        system: the name of the system.
        model: the id of the model on the Hub, if there is one.
        paper: a link, as `code`.
        description: a sentence or two.
        author: who submits; on the Hub, that is the account.
        submitted: when, UTC, such as "2026-11-22T10:00:00Z"; on the Hub, the pull request says it.
    """

    board: str
    predictions: str
    system: str
    model: str | None = None
    paper: str | None = None
    code: str | None = None
    description: str = ""
    author: str | UnsetType = UNSET
    submitted: str | UnsetType = UNSET

    @property
    def id(self) -> str:
        """The id of the submission."""
        return digest(self.to_bytes())

    @classmethod
    def from_bytes(cls, content: bytes, board: str, source: object) -> About:
        """Read a description strictly, which must be for a board; `source` names the file for messages."""
        if len(content) > MAX_ABOUT:
            size = f"has {len(content):,} bytes (limit: {MAX_ABOUT:,})"
            raise FormatError(source, [Problem(size)])
        about = read_file(cls, content, source)
        problems = about.find_problems(board)
        if about.to_bytes() != content:
            problems.append(
                Problem(
                    "is not written as closeread leaderboard submit writes it (sorted keys, no spaces)"
                )
            )
        if problems:
            raise FormatError(source, problems)
        return about

    def find_problems(self, board: str) -> list[Problem]:
        """Return what is wrong with the names and links, and with the path of the predictions."""
        problems = check_name(self.system, "system", NAME_LENGTH)
        if self.description:
            problems += check_name(self.description, "description", DESCRIPTION_LENGTH)
        if self.author is not UNSET:
            problems += check_name(self.author, "author", NAME_LENGTH)
        if self.submitted is not UNSET and not is_time(self.submitted):
            expected = "expected one such as 2026-11-22T10:00:00Z"
            message = f"{quote(self.submitted)} is not a time ({expected})"
            problems.append(Problem(message, path=("submitted",)))
        if self.model is not None:
            problems += check_model(self.model)
        for name, link in (("paper", self.paper), ("code", self.code)):
            if link is not None:
                problems += check_link(link, name)
        if self.board != board:
            message = f"{quote(self.board)} is not the board (expected {board})"
            problems.append(Problem(message, path=("board",)))
        if not is_predictions_path(self.predictions, board):
            message = f"{quote(self.predictions)} is not a file of predictions"
            problems.append(Problem(message, path=("predictions",)))
        return problems


@dataclass(frozen=True)
class Submission:
    """A submission, ready to be sent."""

    about: About
    predictions: bytes

    @property
    def path(self) -> str:
        """The path of the description in the store."""
        return store_path("submissions", self.about.board, self.about.id)

    @property
    def files(self) -> dict[str, bytes]:
        """The files by path; the description last, since it makes the submission complete."""
        return {self.about.predictions: self.predictions, self.path: self.about.to_bytes()}


class Request(StoreFile, frozen=True):
    """What the author of a submission asks for: to withdraw it, or to rank it.

    Only in a folder does it name its author and the time.
    """

    submission: Digest
    author: str | UnsetType = UNSET
    submitted: Time | UnsetType = UNSET


def request_bytes(submission: str, signature: Mapping[str, str]) -> bytes:
    """Return the bytes of a withdrawal or a choice, whose author and time are in the signature."""
    return Request(submission, **signature).to_bytes()


def is_predictions_path(path: str, board: str) -> bool:
    """Return whether a path is that of predictions in a board."""
    pattern = rf"submissions/{re.escape(board)}/([0-9a-f]{{2}})/\1[0-9a-f]{{62}}(\..+)"
    match = re.fullmatch(pattern, path)
    if match is None:
        return False
    suffix = match[2]
    return suffix == PACKED or suffix.removesuffix(".gz") in SUFFIXES


def make_submission(
    board: Board, predictions: Path, system: str, **details: str | None
) -> Submission:
    """Read predictions, a file or a folder of files, as bytes.

    The details are attributes of `About`, None if not given.
    """
    content, suffix = read_predictions(predictions, board.limits.bytes)
    path = store_path("submissions", board.name, digest(content), suffix)
    present = {name: detail for name, detail in details.items() if detail is not None}
    about = About(board.name, path, system, **present)
    problems = about.find_problems(board.name)
    if problems:
        raise SubmissionError("submission", problems)
    return Submission(about, content)


def read_predictions(path: Path, limit: int) -> tuple[bytes, str]:
    """Return the bytes of predictions, at most `limit`, and the suffix to store them with."""
    if path.is_dir():
        return pack_folder(path, limit), PACKED
    return read_limited(path, limit), find_suffix(path.name)


def find_suffix(name: str) -> str:
    """Return the suffix to store predictions with; `.jsonl` for JSON, `.txt` for what is unknown.

    >>> find_suffix("my predictions.jsonl"), find_suffix("a.conll.gz"), find_suffix("output.pred")
    ('.jsonl', '.conll.gz', '.txt')
    """
    lower = name.lower()
    plain = lower.removesuffix(".gz")
    suffix = Path(plain).suffix
    if suffix in (".json", ".ndjson"):
        suffix = ".jsonl"
    elif suffix not in SUFFIXES:
        suffix = ".txt"
    return suffix + lower[len(plain) :]


def is_parquet(name: str, data: bytes) -> bool:
    """Tell whether a file is Parquet by its name or its first bytes; a small one may take much memory to read."""
    return data.startswith(PARQUET_MAGIC) or name.lower().removesuffix(".gz").endswith(".parquet")


def read_limited(path: Path, limit: int) -> bytes:
    """Read a file of at most `limit` bytes."""
    if not path.is_file():
        raise SubmissionError(path, [Problem("is not a file or a folder")])
    with path.open("rb") as file:
        content = read_at_most(file, limit)
    if is_parquet(path.name, content):
        raise SubmissionError(path, [Problem(PARQUET)])
    if len(content) > limit:
        problem = Problem(f"is larger than {limit:,} bytes, the limit of this board")
        raise SubmissionError(path, [problem])
    return content


def pack_folder(folder: Path, limit: int) -> bytes:
    """Return the files of a folder and its subfolders as JSON Lines: name and text."""
    files, problems = walk_files(folder)
    if problems:
        raise SubmissionError(folder, problems)
    return pack_files(files, limit, folder)


def pack_files(files: Mapping[str, Path], limit: int, source: object) -> bytes:
    """Return files, by their path in the folder `source`, as JSON Lines of at most `limit` bytes: name and text."""
    problems = [Problem(MISNAMED, file=name) for name in files if not PACKED_NAME.fullmatch(name)]
    if sum(path.stat().st_size for path in files.values()) > limit:
        problems.append(Problem(f"holds more than {limit:,} bytes, the limit of this board"))
        raise SubmissionError(source, problems)
    rows = []
    for name, path in files.items():
        content = path.read_bytes()
        if is_parquet(name, content):
            problems.append(Problem(PARQUET, file=name))
        elif b"\0" in content:
            problems.append(Problem("is a binary file", file=name))
        else:
            try:
                rows.append({"name": name, "text": content.decode("utf-8")})
            except UnicodeDecodeError:
                problems.append(Problem("is not UTF-8", file=name))
    packed = dump_json_lines(rows, WITH_LINE_ENDS).encode()
    if len(packed) > limit and not problems:
        size = f"has {len(packed):,} bytes when packed as JSON (limit of this board: {limit:,})"
        problems.append(Problem(size))
    if problems:
        raise SubmissionError(source, problems)
    return packed


@contextmanager
def unpacked(content: bytes, path: str, limits: Limits) -> Iterator[Path]:
    """Write predictions, decompressed, to a temporary file, or a packed folder to a temporary folder, for the block.

    The suffix of their path in the store says what they are; `limits` is about what is decompressed.
    """
    try:
        content = decompress(Path("predictions"), content, limits.bytes)
    except FormatError as error:
        raise SubmissionError("predictions", error.problems) from None
    if is_parquet(path, content):
        raise SubmissionError("predictions", [Problem(PARQUET)])
    _check_lines(content.count(b"\n"), limits)
    with scratch_folder() as scratch:
        if path.endswith(PACKED):
            texts = _read_packed(content)
            _check_lines(sum(text.count("\n") for text in texts.values()), limits)
            predictions = scratch / "predictions"
            _write_texts(predictions, texts)
        else:
            suffix = path.rpartition("/")[2].partition(".")[2]
            predictions = scratch / f"predictions.{suffix.removesuffix('.gz')}"
            predictions.write_bytes(content)
        yield predictions


def _check_lines(n_lines: int, limits: Limits) -> None:
    if n_lines > limits.rows:
        problem = Problem(f"has {n_lines:,} lines (limit: {limits.rows:,})")
        raise SubmissionError("predictions", [problem])


def write_predictions(output: Path, content: bytes, path: str) -> None:
    """Write predictions to a file, or a packed folder to a new folder; the suffix of `path` says what they are."""
    if path.endswith(PACKED):
        with creating_folder(output) as folder:
            _write_texts(folder, _read_packed(content))
    else:
        with replacing(output) as partial:
            partial.write_bytes(content)


def _write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="")


def _read_packed(content: bytes) -> dict[str, str]:
    """Return the texts of a packed folder by the names of their files."""
    try:
        lines = content.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise SubmissionError("predictions", [Problem("is not UTF-8")]) from None
    if len(lines) > MAX_FILES:
        problem = Problem(f"holds {len(lines):,} files (limit: {MAX_FILES:,})")
        raise SubmissionError("predictions", [problem])
    # Line ends and tabs are what the texts of files consist of; nothing else is refused here that its reader accepts.
    parsed = parse_json_lines(lines, WITH_LINE_ENDS)
    problems = list(parsed.problems)
    texts: dict[str, str] = {}
    for row, line in zip(parsed.records, parsed.lines, strict=True):
        name = row.get("name")
        text = row.get("text")
        if set(row) != {"name", "text"} or not isinstance(name, str) or not isinstance(text, str):
            problems.append(Problem("is not a packed file (expected name and text)", line))
        elif not PACKED_NAME.fullmatch(name):
            problems.append(Problem(f"name {MISNAMED}", line))
        elif name in texts:
            problems.append(Problem("name occurs twice", line))
        elif is_parquet(name, text[: len(PARQUET_MAGIC)].encode("utf-8", "replace")):
            problems.append(Problem(PARQUET, file=name))
        else:
            texts[name] = text
    folders: set[str] = set()
    for name in texts:
        folders.update(map(str, PurePosixPath(name).parents))
    clashes = sorted(texts.keys() & folders)
    problems += [Problem("is both a file and a folder", file=name) for name in clashes]
    if problems:
        raise SubmissionError("predictions", problems)
    return texts


def check_predictions(
    board: Board, scorer: Scorer | None, predictions: Path
) -> tuple[tuple[str, ...], float | None]:
    """Check predictions before they are sent: as the judge will or, without a scorer, the form only.

    Returns:
        The warnings about them; and the headline score, 0 to 1, which is None without a scorer or if it is undefined.
    """
    # Submitters can't choose the options of a board.
    with advising_only(()):
        if scorer is None:
            board.check_form(predictions)
            return (FORM_ONLY,), None
        system = scorer.read(predictions)
    headline = [metric for metric in scorer.procedure.metrics if metric.name == board.headline]
    score = scorer.tabulate(system.rows).scores(headline)[board.headline]
    return (*scorer.gold.notices, *scorer.remarks(system)), score


def describe_submission(board: Board, about: About) -> tuple[str, str]:
    """Return title and text of a submission for those who read the store, in Markdown."""
    lines = [f"Submission `{about.id}` to {escape_markdown(board.title)}.", ""]
    if about.model:
        lines.append(f"- model: {escape_markdown(about.model)}")
    if about.paper:
        lines.append(f"- paper: {about.paper}")
    if about.code:
        lines.append(f"- code: {about.code}")
    if about.description:
        lines += ["", escape_markdown(about.description)]
    return f"Submit {about.system} to {board.name}", "\n".join(lines)
