"""Bundles for Codabench: a competition with its pages, its gold and its scoring program, ready for upload."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from closeread.corpus.baselines import load_baseline
from closeread.corpus.gold import read_corpus_gold, read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import fields, load_schema
from closeread.corpus.submissions import write_submission
from closeread.counts.procedure import PathOption
from closeread.exceptions import RequestError, join_names, name_option, quote
from closeread.files import creating_folder, package_folder, replacing, write_text
from closeread.formats.json_lines import dump_json_lines
from closeread.leaderboard.codabench.program import accepts_folders, column_key
from closeread.leaderboard.declaration import (
    FILE,
    RESAMPLING,
    Board,
    Leaderboard,
    Limits,
    make_board,
)
from closeread.leaderboard.names import check_name, is_time
from closeread.leaderboard.store_files import WITH_LINE_ENDS
from closeread.leaderboard.submission import FILE_NAME
from closeread.scoring import find_gold, find_procedure
from closeread.tables import escape_markdown

FOLDER = Path(__file__).parent
DOCKER_IMAGE = "codalab/codalab-legacy:py312"
"""The newest image of the platform.  It lacks some libraries, so they are installed at every submission."""

MAX_SECONDS = 600
"""The time for scoring a submission: the largest that the default queue of the platform grants."""

IMAGE = re.compile(r"[\w./:@-]+", re.ASCII)
DATE = "%Y-%m-%d %H:%M:%S"
START = "2026-01-01 00:00:00"
"""In the past, so that the competition is open at once, and fixed, so that the same command gives the same bytes."""

SAMPLE_GOLD = "sample_gold.jsonl"
SAMPLE_PREDICTIONS = "sample_predictions.jsonl"
# the libraries that scoring imports
LIBRARIES = ("jsonschema", "jsonschema-rs", "msgspec", "numpy", "orjson", "scipy")

INSTALLED_BESIDE = ("cards", "evaluate_modules", "loaders", "schemas")
"""Subpackages that are not below the folder of the package when it is installed from a checkout."""

PACKAGE = "closeread.zip"
"""The file of a scoring program with the installed package, unless a wheel of closeread is given."""

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that an archive can store


@dataclass(frozen=True)
class BundleSettings:
    """What an organiser decides.

    Attributes:
        title: the title of the competition; None for that of the board.
        start: the first moment for submissions, `YYYY-MM-DD HH:MM:SS` in UTC.
        end: the last one.
        per_day: how many submissions a participant may make per day.
        max_submissions: how many in all.
        docker_image: the image in which submissions are scored.
        wheels: wheels to add to the scoring program: closeread's own, or libraries.
        public_gold: whether participants may see the gold.
    """

    title: str | None = None
    start: str = START
    end: str | None = None
    per_day: int = Limits().per_day
    max_submissions: int = 100
    docker_image: str = DOCKER_IMAGE
    wheels: tuple[Path, ...] = ()
    public_gold: bool = False

    def __post_init__(self) -> None:
        """Check the values."""
        problems = []
        if self.title is not None:
            problems += [problem.text for problem in check_name(self.title, "title", 250)]
        for name, date in (("start", self.start), ("end", self.end)):
            if date is not None and not is_time(date, DATE):
                expected = "expected YYYY-MM-DD HH:MM:SS, UTC"
                problems.append(f"{name}: {quote(date)} is not a date ({expected})")
        if not IMAGE.fullmatch(self.docker_image):
            problems.append(f"docker_image: {quote(self.docker_image)} is not valid")
        if not problems and self.end is not None and self.end <= self.start:
            problems.append(f"end: {self.end} is not after the start, {self.start}")
        if problems:
            raise RequestError("\n".join(problems))


def make_bundle(
    scored: str,
    folder: Path,
    settings: BundleSettings,
    *,
    gold: Path | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    options: Mapping[str, str] | None = None,
    archive: bool,
) -> list[Path]:
    """Write the bundle of a competition, complete or not at all, and return its files; the same bytes every time.

    The folder must be empty or not exist; an `archive` is written beside it, named as it with `.zip`.
    """
    zipped = Path(f"{folder}.zip")
    if archive and zipped.exists():
        raise RequestError(f"{zipped} exists; delete it, or choose another folder")
    limits = Limits(per_day=settings.per_day)
    board = make_board(
        scored,
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        options=options,
        private=not settings.public_gold,
        title=settings.title,
        limits=limits,
        counting="best",
    )
    for option in board.procedure.options:
        if isinstance(option, PathOption) and board.options[option.name]:
            raise RequestError(
                f"option {option.name} is a path, which is not available in a bundle"
            )
    with creating_folder(folder) as bundle:
        _write_gold(board, gold, data_dir, bundle / "reference_data")
        samples = _write_starting_kit(board, bundle / "starting_kit")
        _write_program(board, settings, bundle / "scoring_program")
        _write_texts(board, settings, samples, bundle)
        (bundle / "logo.png").write_bytes((FOLDER / "logo.png").read_bytes())
        files = {}
        for path in sorted(bundle.rglob("*")):
            if path.is_file():
                files[path.relative_to(bundle).as_posix()] = path
        if archive:
            with replacing(zipped) as partial:
                partial.write_bytes(zip_files(files))
    written = [folder / file for file in files]
    return [*written, zipped] if archive else written


def describe_licence(scored: str, gold: object, config: str | None) -> list[str]:
    """Return a sentence on uses of a bundle that the licence of its corpus forbids; empty if it forbids none."""
    name = find_procedure(scored)[1]
    if name is None or gold is not None or config == "sample":
        return []
    corpus = load_corpus(name)
    if not corpus.redistribution:
        return []
    allowed = "the bundle may go to a server that keeps the gold to itself, and to nobody else"
    return [f"{corpus.title} may not be redistributed ({corpus.redistribution}): {allowed}."]


def _write_gold(
    board: Board, own_gold: Path | None, data_dir: str | Path | None, folder: Path
) -> None:
    """Write the gold, a key as it is and that of a corpus as JSON Lines, and check that it is scored as before."""
    folder.mkdir()
    if board.corpus is not None:
        source, _ = find_gold(
            board.corpus, gold=own_gold, config=board.config, split=board.split, data_dir=data_dir
        )
        gold = read_corpus_gold(source)
        path = folder / "gold.jsonl"
        write_text(path, dump_json_lines(gold.records, WITH_LINE_ENDS))
    else:
        key = Path(str(own_gold))
        path = folder / (key.name if FILE_NAME.fullmatch(key.name) else "key")
        if key.is_dir():
            shutil.copytree(key, path, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copyfile(key, path)
    board.open_scorer(path)


def _write_starting_kit(board: Board, folder: Path) -> list[str]:
    """Write invented gold, and a baseline's predictions for it, if there are any; return the names of the files."""
    folder.mkdir()
    if board.corpus is None or "sample" not in load_corpus(board.corpus).configs:
        return []
    gold = read_gold(load_corpus(board.corpus), "sample")
    write_text(folder / SAMPLE_GOLD, dump_json_lines(gold.records, WITH_LINE_ENDS))
    if not board.baselines:
        return [SAMPLE_GOLD]
    rows = load_baseline(board.corpus, board.baselines[0]).predict(gold.records)
    write_submission(folder / SAMPLE_PREDICTIONS, rows, gold.corpus)
    return [SAMPLE_GOLD, SAMPLE_PREDICTIONS]


def _write_program(board: Board, settings: BundleSettings, folder: Path) -> None:
    folder.mkdir()
    others = [wheel.name for wheel in settings.wheels if wheel.suffix != ".whl"]
    if others:
        raise RequestError(f"{name_option('wheel')}: is not a wheel: {join_names(others)}")
    packages = [wheel for wheel in settings.wheels if wheel.name.startswith("closeread-")]
    if len(packages) > 1:
        number = len(packages)
        raise RequestError(f"{name_option('wheel')}: several wheels of closeread: {number}")
    for wheel in settings.wheels:
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    if not packages:
        (folder / PACKAGE).write_bytes(_pack_package())
    (folder / "score.py").write_bytes((FOLDER / "score.py").read_bytes())
    (folder / FILE).write_bytes(Leaderboard(board.title, {board.name: board}).to_bytes())


def _write_texts(
    board: Board, settings: BundleSettings, samples: Sequence[str], folder: Path
) -> None:
    """Write what is made of templates: the pages, the competition, and the guides for organisers and participants."""
    import jinja2

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 (Markdown and YAML)
    )
    templates.filters["cell"] = escape_markdown
    templates.filters["key"] = column_key
    # YAML reads what JSON writes, but not the escapes of both halves of a character.
    templates.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    corpus = None if board.corpus is None else load_corpus(board.corpus)
    is_default = corpus is None or board.config == corpus.default_config
    context = {
        "board": board,
        "resampling": RESAMPLING,
        "title": settings.title or board.title,
        "settings": settings,
        "corpus": corpus,
        "config": None if is_default else board.config,
        "fields": fields(load_schema(corpus.schema), "submission") if corpus else [],
        "metrics": sorted(
            board.procedure.metrics, key=lambda metric: metric.name != board.headline
        ),
        "takes_folders": accepts_folders(board),
        "samples": samples,
        "requirements": list_requirements(),
        "max_seconds": MAX_SECONDS,
    }
    for name in templates.list_templates():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        write_text(path, templates.get_template(name).render(context))


def zip_files(files: Mapping[str, Path]) -> bytes:
    """Return an archive of files by their names in it, with deterministic bytes: no times, no owners, sorted.

    With another version of zlib, the compressed bytes may differ.
    """
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, path in sorted(files.items()):
            info = ZipInfo(name, EPOCH)
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes(), compresslevel=9)
    return buffer.getvalue()


@cache
def _pack_package() -> bytes:
    """Return the installed package as an archive: once a process, whose bundles are all of the same state of it."""
    files = {}
    for name in ("closeread", *(f"closeread.{name}" for name in INSTALLED_BESIDE)):
        folder = package_folder(name)
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            is_hidden = any(part.startswith(".") for part in inside.parts)
            is_bytecode = path.suffix in (".pyc", ".pyo") or "__pycache__" in inside.parts
            if path.is_file() and not is_hidden and not is_bytecode:
                files[f"{name.replace('.', '/')}/{inside.as_posix()}"] = path
    return zip_files(files)


@cache
def list_requirements() -> tuple[str, ...]:
    """Return the libraries that scoring needs, directly or not, in installed versions, such as "numpy==2.3.1"."""
    versions = {name: version(name) for name in LIBRARIES}
    waiting = list(LIBRARIES)
    while waiting:
        for requirement in requires(waiting.pop()) or ():
            name = re.split("[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
            name = name.lower().replace("_", "-")
            if "extra ==" not in requirement and name not in versions:
                with suppress(PackageNotFoundError):  # needed by another version of Python only
                    versions[name] = version(name)
                    waiting.append(name)
    return tuple(sorted(f"{name}=={number}" for name, number in versions.items()))
