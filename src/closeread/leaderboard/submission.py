"""A submission: predictions as a system wrote them, and what the submitter says about the system.

Both are files of a store whose names are the digests of their bytes; nothing that a submitter writes becomes part of a
path.  The digest of the description is the id of the submission.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from closeread.corpus.submissions import drop_advice
from closeread.exceptions import FormatError, Problem, RequestError, SubmissionError, quote
from closeread.files import creating_folder, read_at_most, replacing
from closeread.formats.folders import walk_files
from closeread.formats.gzipped import MAGIC, decompress
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.leaderboard.canonical import WITH_LINE_ENDS, check_structure, digest, read_json, write_json
from closeread.leaderboard.declaration import Board, Limits
from closeread.leaderboard.names import check_link, check_model, check_name, escape_markdown
from closeread.limits import MAX_FILES, keep_files_below

FORMAT = 1
SUFFIXES = (".jsonl", ".conll", ".conllu", ".conllua", ".csv", ".tsv", ".txt", ".json", ".gz")
PACKED = ".files.jsonl"
"""The suffix of a folder of files, packed into one file."""

FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+ -]{0,120}")
PACKED_NAME = re.compile(rf"{FILE_NAME.pattern}(/{FILE_NAME.pattern}){{0,9}}")
"""The path of a file in a packed folder."""

MISNAMED = "is not a plain name of a file (letters, digits and . _ - @ + in each part)"
DIGEST = re.compile("[0-9a-f]{64}")
MAX_ABOUT = 20_000
"""The largest description of a submission, in bytes."""

FORM_ONLY = "The gold of this board is private: only the form and the ids were checked; the judge checks the rest."
NAME_LENGTH = 80
DESCRIPTION_LENGTH = 1000


@dataclass(frozen=True)
class About:
    """What a submitter says about a system; all of it is untrusted.

    Attributes:
        board: the board.
        predictions: the path of the predictions in the store.
        system: the name of the system.
        model: the id of the model on the Hub, if there is one.
        paper, code: links.
        description: a sentence or two.
        author: who submits, in a folder, to which the organiser adds what others send; None for the owner of the file.
    """

    board: str
    predictions: str
    system: str
    model: str | None = None
    paper: str | None = None
    code: str | None = None
    description: str = ""
    author: str | None = None

    def to_json(self) -> dict[str, str | None]:
        """Return the description as JSON; without the author if none is named."""
        return {name: value for name, value in asdict(self).items() if name != "author" or value is not None}

    def to_bytes(self) -> bytes:
        """Return the bytes of the description, whose digest is the id of the submission."""
        return write_json({"format": FORMAT, **self.to_json()})

    @property
    def id(self) -> str:
        """The id of the submission."""
        return digest(self.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes, board: str, source: object) -> About:
        """Read a description strictly.

        Args:
            data: the bytes.
            board: the board that it must be for.
            source: the name of the file, for messages.
        """
        if len(data) > MAX_ABOUT:
            raise FormatError(source, [Problem(f"has {len(data):,} bytes (limit: {MAX_ABOUT:,})")])
        found = read_json(data, source)
        check_structure(found, "submission", source)
        del found["format"]
        about = cls(**found)
        problems = about.find_problems(board)
        if about.to_bytes() != data:
            problems.append(Problem("is not written as closeread submit writes it (sorted keys, no spaces)"))
        if problems:
            raise FormatError(source, problems)
        return about

    def find_problems(self, board: str) -> list[Problem]:
        """Return what is wrong with the names and links, and with the path of the predictions."""
        problems = check_name(self.system, "system", NAME_LENGTH)
        if self.description:
            problems += check_name(self.description, "description", DESCRIPTION_LENGTH)
        if self.author is not None:
            problems += check_name(self.author, "author", NAME_LENGTH)
        if self.model is not None:
            problems += check_model(self.model)
        for name in ("paper", "code"):
            link = getattr(self, name)
            problems += [] if link is None else check_link(link, name)
        if self.board != board:
            problems.append(Problem(f"{quote(self.board)} is not the board (expected {board})", path=("board",)))
        if not is_predictions_path(self.predictions, board):
            problems.append(Problem(f"{quote(self.predictions)} is not a file of predictions", path=("predictions",)))
        return problems


@dataclass(frozen=True)
class Submission:
    """A submission, ready to be sent."""

    about: About  # what the submitter says
    predictions: bytes  # the bytes of the predictions

    @property
    def path(self) -> str:
        """The path of the description in the store."""
        return about_path(self.about.board, self.about.id)

    @property
    def files(self) -> dict[str, bytes]:
        """The files by path; the description last, since it makes the submission complete."""
        return {self.about.predictions: self.predictions, self.path: self.about.to_bytes()}


def about_path(board: str, submission: str) -> str:
    """Return the path of a description in the store."""
    return f"submissions/{board}/{submission[:2]}/{submission}.json"


def predictions_path(board: str, data: bytes, suffix: str) -> str:
    """Return the path of predictions in the store."""
    name = digest(data)
    return f"submissions/{board}/{name[:2]}/{name}{suffix}"


def is_predictions_path(path: str, board: str) -> bool:
    """Return whether a path is that of predictions in a board."""
    folder, _, file = path.rpartition("/")
    name, dot, suffix = file.partition(".")
    known = {*SUFFIXES, PACKED, *(f"{suffix}.gz" for suffix in SUFFIXES)} - {".json"}
    return (
        DIGEST.fullmatch(name) is not None and folder == f"submissions/{board}/{name[:2]}" and f"{dot}{suffix}" in known
    )


def check_predictions_path(path: str) -> None:
    """Check that a path is that of predictions in some board."""
    if not is_predictions_path(path, "/".join(path.split("/")[1:3])):
        raise RequestError(f"{path} is not a file of predictions")


def make_submission(board: Board, predictions: Path, **about: str | None) -> Submission:
    """Read predictions as bytes, and describe the system.

    Args:
        board: the board.
        predictions: a file, or a folder of files.
        **about: `system`, and the other attributes of `About`; None for those that are not given.
    """
    if predictions.is_dir():
        data, suffix = pack_folder(predictions, board.limits.bytes), PACKED
    else:
        data, suffix = read_limited(predictions, board.limits.bytes), find_suffix(predictions.name)
    given = {name: value for name, value in about.items() if value is not None}
    found = About(board.name, predictions_path(board.name, data, suffix), **given)
    if problems := found.find_problems(board.name):
        raise SubmissionError("submission", problems)
    return Submission(found, data)


def find_suffix(name: str) -> str:
    """Return the suffix to store predictions with; `.jsonl` for JSON, `.txt` for what is unknown.

    >>> find_suffix("my predictions.jsonl"), find_suffix("a.conll.gz"), find_suffix("output.pred")
    ('.jsonl', '.conll.gz', '.txt')
    """
    lower = name.lower()
    packed = ".gz" if lower.endswith(".gz") else ""
    suffix = Path(lower.removesuffix(packed)).suffix if packed else Path(lower).suffix
    suffix = ".jsonl" if suffix in (".json", ".ndjson") else suffix
    return (suffix if suffix in SUFFIXES else ".txt") + packed


def read_limited(path: Path, limit: int) -> bytes:
    """Read a file of at most `limit` bytes."""
    if not path.is_file():
        raise SubmissionError(path, [Problem("is not a file or a folder")])
    with path.open("rb") as file:
        data = read_at_most(file, limit)
    if len(data) > limit:
        raise SubmissionError(path, [Problem(f"is larger than {limit:,} bytes, the limit of this board")])
    return data


def pack_folder(folder: Path, limit: int) -> bytes:
    """Return the files of a folder and its subfolders as JSON Lines: name and text."""
    try:
        files, problems = walk_files(folder)
    except FormatError as error:
        raise SubmissionError(folder, error.problems) from None
    if problems:
        raise SubmissionError(folder, problems)
    return pack_files(files, limit, folder)


def pack_files(files: Mapping[str, Path], limit: int, source: object) -> bytes:
    """Return files as JSON Lines: name and text.

    Args:
        files: regular files by their path in the folder that they come from.
        limit: how many bytes they may have together.
        source: the folder, for messages.
    """
    rows: list[dict[str, Any]] = []
    problems = [Problem(MISNAMED, file=name) for name in files if not PACKED_NAME.fullmatch(name)]
    if sum(path.stat().st_size for path in files.values()) > limit:
        raise SubmissionError(source, [*problems, Problem(f"holds more than {limit:,} bytes, the limit of this board")])
    for name, path in files.items():
        found = path.read_bytes()
        if b"\0" in found:
            problems.append(Problem("is a binary file", file=name))
            continue
        try:
            rows.append({"name": name, "text": found.decode("utf-8")})
        except UnicodeDecodeError:
            problems.append(Problem("is not UTF-8", file=name))
    data = dump_json_lines(rows, WITH_LINE_ENDS).encode()
    if len(data) > limit and not problems:
        problems.append(Problem(f"has {len(data):,} bytes when packed as JSON (limit of this board: {limit:,})"))
    if problems:
        raise SubmissionError(source, problems)
    return data


def _describe_many(number: int) -> str:
    return f"holds {number:,} files (limit: {MAX_FILES:,})"


@contextmanager
def unpacked(data: bytes, path: str, limits: Limits) -> Iterator[Path]:
    """Write predictions, decompressed, to a temporary file, or a packed folder to a temporary folder, for the block.

    Args:
        data: the bytes.
        path: their path in the store, whose suffix says what they are.
        limits: how many bytes and lines they may have, decompressed.
    """
    data = _decompress(data, limits.bytes)
    _check_lines(data.count(b"\n"), limits.rows)
    with TemporaryDirectory(prefix="closeread-") as scratch:
        if not path.endswith(PACKED):
            file = Path(scratch) / ("predictions." + path.rpartition("/")[2].partition(".")[2].removesuffix(".gz"))
            file.write_bytes(data)
            yield file
            return
        folder = Path(scratch) / "predictions"
        folder.mkdir()
        files = _read_packed(data)
        _check_lines(sum(text.count("\n") for _, text in files), limits.rows)
        _write_packed(folder, files)
        yield folder


def _check_lines(number: int, limit: int) -> None:
    if number > limit:
        raise SubmissionError("predictions", [Problem(f"has {number:,} lines (limit: {limit:,})")])


def _decompress(data: bytes, limit: int) -> bytes:
    """Decompress predictions that are gzipped: readers would do so, too, but up to a limit of their own."""
    try:
        with keep_files_below(limit):
            plain = decompress(Path("predictions"), data)
    except FormatError as error:
        raise SubmissionError("predictions", error.problems) from None
    if plain is not data and plain.startswith(MAGIC):
        raise SubmissionError("predictions", [Problem("is gzipped twice (expected once at most)")])
    return plain


def write_predictions(output: Path, data: bytes, path: str) -> None:
    """Write predictions to a file, or a packed folder to a new folder.

    Args:
        output: the file or folder.
        data: the bytes.
        path: their path in the store, whose suffix says what they are.
    """
    if not path.endswith(PACKED):
        with replacing(output) as partial:
            partial.write_bytes(data)
        return
    with creating_folder(output) as folder:
        _write_packed(folder, _read_packed(data))


def _write_packed(folder: Path, files: Iterable[tuple[str, str]]) -> None:
    for name, text in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="")


def _read_packed(data: bytes) -> list[tuple[str, str]]:
    try:
        lines = data.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise SubmissionError("predictions", [Problem("is not UTF-8")]) from None
    if len(lines) > MAX_FILES:
        raise SubmissionError("predictions", [Problem(_describe_many(len(lines)))])
    # Line ends and tabs are what the texts of files consist of; nothing else is refused here that its reader accepts.
    parsed = parse_json_lines(lines, WITH_LINE_ENDS)
    problems = list(parsed.problems)
    names: set[str] = set()
    for row, line in zip(parsed.records, parsed.lines, strict=True):
        name, text = row.get("name"), row.get("text")
        if set(row) != {"name", "text"} or not isinstance(name, str) or not isinstance(text, str):
            problems.append(Problem("is not a packed file (expected name and text)", line))
        elif not PACKED_NAME.fullmatch(name):
            problems.append(Problem(f"name {MISNAMED}", line))
        elif name in names:
            problems.append(Problem("name occurs twice", line))
        else:
            names.add(name)
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    problems += [Problem("is both a file and a folder", file=name) for name in sorted(names & folders)]
    if problems:
        raise SubmissionError("predictions", problems)
    return [(row["name"], row["text"]) for row in parsed.records]


class Checked(NamedTuple):
    """Predictions that passed the check."""

    notices: tuple[str, ...]  # notices about them, one sentence each
    value: float | None  # the headline score, between 0 and 1; None if gold is not at hand, or the score is undefined


def check_predictions(board: Board, predictions: Path, gold: Path | None) -> Checked:
    """Check predictions before they are sent: as the judge will or, without gold, as far as possible.

    Args:
        board: the board.
        predictions: a file or a folder.
        gold: the organiser's own gold; None if it is not at hand.
    """
    try:
        if board.own_gold and gold is None:
            check_form(board, predictions)
            return Checked((FORM_ONLY,), None)
        scorer = board.open_scorer(gold)
        system = scorer.read(predictions)
    except SubmissionError as error:
        raise SubmissionError(error.source, drop_advice(error.problems)) from None
    headline = [metric for metric in scorer.procedure.metrics if metric.name == board.headline]
    value = scorer.tabulate(system.rows).scores(headline)[board.headline]
    return Checked((*scorer.gold.notices, *scorer.remarks(system)), value)


def check_form(board: Board, predictions: Path) -> None:
    """Check what can be checked without gold: the form of the file, and the ids."""
    board.procedure.sides.check_form(board.corpus, board.ids, predictions, board.options)


def describe_submission(board: Board, about: About) -> tuple[str, str]:
    """Return title and text of a submission for those who read the store, in Markdown."""
    links = [f"- {name}: {link}" for name, link in (("paper", about.paper), ("code", about.code)) if link]
    model = [f"- model: {escape_markdown(about.model)}"] if about.model else []
    lines = [f"Submission `{about.id}` to {escape_markdown(board.title)}.", "", *model, *links]
    if about.description:
        lines += ["", escape_markdown(about.description)]
    return f"Submit {about.system} to {board.name}", "\n".join(lines)


def withdrawal_path(board: str, submission: str) -> str:
    """Return the path of a withdrawal in the store."""
    return f"withdrawals/{board}/{submission[:2]}/{submission}.json"


def withdrawal_bytes(submission: str, author: str | None = None) -> bytes:
    """Return the bytes of a withdrawal; only in a folder does it name its author."""
    return write_json({"format": FORMAT, "submission": submission, **({} if author is None else {"author": author})})
