"""Bundles for Codabench: a competition with its pages, its gold and its scoring program, ready for upload."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from closeread.corpus.baselines import load_baseline
from closeread.corpus.gold import read_corpus_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.schema import fields, load_schema
from closeread.corpus.submissions import write_submission
from closeread.counts.procedure import GoldSpec, PathOption
from closeread.exceptions import RequestError, join_names, name_option, quote
from closeread.files import creating_folder, package_folder, replacing, write_text
from closeread.formats.folders import walk_files
from closeread.formats.json_lines import dump_json_lines
from closeread.leaderboard.codabench.program import accepts_folders, column_key
from closeread.leaderboard.declaration import FILE, Board, Leaderboard, Limits, make_board
from closeread.leaderboard.names import check_name
from closeread.leaderboard.store_files import WITH_LINE_ENDS
from closeread.leaderboard.submission import FILE_NAME
from closeread.scoring import find_procedure
from closeread.tables import Grid, Markup, draw

DOCKER_IMAGE = "codalab/codalab-legacy:py312"
"""The newest image of the platform.  It lacks some libraries, so they are installed at every submission."""

IMAGE = re.compile(r"[\w./:@-]+", re.ASCII)
DATE = "%Y-%m-%d %H:%M:%S"
START = "2026-01-01 00:00:00"
"""In the past, so that the competition is open at once, and fixed, so that the same command gives the same bytes."""

# the time limit for scoring a submission, the largest that the default queue of Codabench grants
SECONDS = 600
PAGES = ("overview", "evaluation", "terms", "data")
COMMAND = "python3 /app/program/score.py /app/input/ /app/output/"
"""The command of the scoring program, with the folders in which Codabench's worker puts program, input and output."""

SAMPLE_GOLD, SAMPLE_PREDICTIONS = "sample_gold.jsonl", "sample_predictions.jsonl"
# the libraries that scoring imports
LIBRARIES = ("jsonschema", "jsonschema-rs", "msgspec", "numpy", "orjson", "scipy")

ELSEWHERE = ("cards", "evaluate_modules", "loaders", "schemas")
"""Subpackages that are not below the folder of the package when it is installed from a checkout."""

PACKAGE = "closeread.zip"
"""The file of a scoring program with the installed package, unless a wheel of closeread is given."""

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that an archive can store


@dataclass(frozen=True)
class Settings:
    """What an organiser decides."""

    title: str | None = None  # the title of the competition; None for that of the board
    # the first and the last moment for submissions, `YYYY-MM-DD HH:MM:SS` in UTC
    start: str = START
    end: str | None = None
    per_day: int = Limits.per_day  # how many submissions a participant may make per day, and in all
    max_submissions: int = 100
    docker_image: str = DOCKER_IMAGE  # the image in which submissions are scored
    # wheels to add to the scoring program: closeread's own, or libraries
    wheels: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""

        def is_date(text: str) -> bool:
            try:
                return datetime.strptime(text, DATE).strftime(DATE) == text
            except ValueError:
                return False

        problems = (
            []
            if self.title is None
            else [one.message for one in check_name(self.title, "title", 250)]
        )
        for name, value in (("start", self.start), ("end", self.end)):
            if value is not None and not is_date(value):
                problems.append(
                    f"{name}: {quote(value)} is not a date (expected YYYY-MM-DD HH:MM:SS, UTC)"
                )
        if not IMAGE.fullmatch(self.docker_image):
            problems.append(f"docker_image: {quote(self.docker_image)} is not valid")
        if not problems and self.end is not None and self.end <= self.start:
            problems.append(f"end: {self.end} is not after the start, {self.start}")
        if problems:
            raise RequestError("\n".join(problems))


def make_competition(board: Board, settings: Settings) -> dict[str, Any]:
    """Return the content of `competition.yaml`."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(
        (_find_folder() / "pages" / "competition.yaml").read_text("utf-8")
    )
    (task,), (phase,), (leaderboard,) = (
        found[name] for name in ("tasks", "phases", "leaderboards")
    )
    about = f"Scored by closeread: {board.procedure.title}."
    found |= {
        "title": settings.title or board.title,
        "description": about,
        "docker_image": settings.docker_image,
    }
    found["pages"] = [{"title": name.title(), "file": f"pages/{name}.md"} for name in PAGES]
    task |= {"name": board.title, "description": about}
    phase |= {"start": settings.start, "end": settings.end}
    phase |= {
        "max_submissions_per_day": settings.per_day,
        "max_submissions": settings.max_submissions,
    }
    phase["execution_time_limit"] = SECONDS
    if settings.end is None:
        del phase["end"]
    # Codabench ranks by the first column.
    metrics = sorted(board.procedure.metrics, key=lambda metric: metric.name != board.headline)
    column = {"sorting": "desc", "precision": 2, "hidden": False}
    leaderboard["columns"] = [
        {"title": one.title, "key": column_key(one.name), "index": i, **column}
        for i, one in enumerate(metrics)
    ]
    return found


def make_bundle(
    scored: str,
    place: GoldSpec,
    folder: Path,
    settings: Settings,
    *,
    options: Mapping[str, str] | None = None,
    archive: bool,
) -> list[Path]:
    """Write the bundle of a competition, complete or not at all, and return its files; the same bytes every time.

    The folder must be empty or not exist; an `archive` is written beside it, named as it with `.zip`.
    """
    import yaml

    # messages name paths as the user does
    named = folder if folder.name not in ("", "..") else folder.resolve()
    zipped = named.with_name(f"{named.name}.zip")
    if archive and zipped.exists():
        raise RequestError(f"{zipped} exists; delete it, or choose another folder")
    limits = Limits(per_day=settings.per_day)
    board = make_board(
        scored,
        place,
        options=options,
        private=True,
        title=settings.title,
        limits=limits,
        counting="best",
    )
    for one in board.procedure.options:
        if isinstance(one, PathOption) and board.options[one.name]:
            raise RequestError(f"option {one.name} is a path, which is not available in a bundle")
    competition = make_competition(board, settings)
    with creating_folder(folder) as made:
        _write_gold(board, place, made / "reference_data")
        samples = _write_starting_kit(board, made / "starting_kit")
        requirements = list_requirements()
        _write_program(board, settings, requirements, made / "scoring_program")
        _write_texts(
            board, str(competition["title"]), samples, settings.docker_image, requirements, made
        )
        (made / "logo.png").write_bytes((_find_folder() / "logo.png").read_bytes())
        # Codabench drops the time of a date that is not in quotation marks.
        text = yaml.safe_dump(competition, sort_keys=False, allow_unicode=True, width=1000)
        write_text(made / "competition.yaml", text)
        files = {
            path.relative_to(made).as_posix(): path
            for path in sorted(made.rglob("*"))
            if path.is_file()
        }
        if archive:
            with replacing(zipped) as partial:
                partial.write_bytes(zip_files(files))
    return [*(folder / file for file in files), *([zipped] if archive else [])]


def describe_licence(scored: str, place: GoldSpec) -> list[str]:
    """Return a sentence on uses of a bundle that the licence of its corpus forbids; empty if it forbids none."""
    name = find_procedure(scored)[1]
    if (
        name is None
        or place.gold is not None
        or place.config == "sample"
        or not load_corpus(name).redistribution
    ):
        return []
    corpus = load_corpus(name)
    allowed = "the bundle may go to a server that keeps the gold to itself, and to nobody else"
    return [f"{corpus.title} may not be redistributed ({corpus.redistribution}): {allowed}."]


def _find_folder() -> Path:
    return package_folder("closeread.leaderboard.codabench")


def _write_gold(board: Board, place: GoldSpec, folder: Path) -> None:
    """Write the gold, a key as it is and that of a corpus as JSON Lines, and check that it is scored as before."""
    folder.mkdir()
    if board.corpus is not None:
        at = place._replace(corpus=board.corpus, split=None if board.own_gold else place.split)
        gold = folder / "gold.jsonl"
        write_text(gold, dump_json_lines(read_corpus_gold(at).records, WITH_LINE_ENDS))
    else:
        key = Path(str(place.gold))
        gold = folder / (key.name if FILE_NAME.fullmatch(key.name) else "key")
        for name, path in walk_files(key)[0].items() if key.is_dir() else [("", key)]:
            (gold / name).parent.mkdir(parents=True, exist_ok=True)
            (gold / name).write_bytes(path.read_bytes())
    board.open_scorer(gold)


def _write_starting_kit(board: Board, folder: Path) -> list[str]:
    """Write invented gold, and a baseline's predictions for it, if there are any; return the names of the files."""
    folder.mkdir()
    if board.corpus is None or "sample" not in load_corpus(board.corpus).configs:
        return []
    gold = read_corpus_gold(GoldSpec(board.corpus, "sample"))
    write_text(folder / SAMPLE_GOLD, dump_json_lines(gold.records, WITH_LINE_ENDS))
    if not board.baselines:
        return [SAMPLE_GOLD]
    rows = load_baseline(board.corpus, board.baselines[0]).predict(gold.records)
    write_submission(folder / SAMPLE_PREDICTIONS, rows, gold.corpus)
    return [SAMPLE_GOLD, SAMPLE_PREDICTIONS]


def _write_program(
    board: Board, settings: Settings, requirements: Sequence[str], folder: Path
) -> None:
    folder.mkdir()
    own = [wheel for wheel in settings.wheels if re.match(r"closeread-[^/]*\.whl$", wheel.name)]
    other = [wheel.name for wheel in settings.wheels if wheel.suffix != ".whl"]
    if len(own) > 1 or other:
        found = (
            f"is not a wheel: {join_names(other)}"
            if other
            else f"several wheels of closeread: {len(own)}"
        )
        raise RequestError(f"{name_option('wheel')}: {found}")
    for wheel in settings.wheels:
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    if not own:
        (folder / PACKAGE).write_bytes(_pack_package())
    (folder / "score.py").write_bytes((_find_folder() / "score.py").read_bytes())
    (folder / FILE).write_bytes(Leaderboard(board.title, {board.name: board}).to_bytes())
    write_text(folder / "metadata.yaml", f"command: {COMMAND}\n")
    write_text(folder / "requirements.txt", "".join(f"{one}\n" for one in requirements))


def _write_texts(
    board: Board,
    title: str,
    samples: Sequence[str],
    image: str,
    requirements: Sequence[str],
    folder: Path,
) -> None:
    """Write the pages, and the guides for organisers and participants, which organisers are expected to edit."""
    import jinja2

    procedure = board.procedure
    corpus = None if board.corpus is None else load_corpus(board.corpus)
    is_default = corpus is None or board.config == corpus.default_config

    def draw_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        return draw(Grid("", header, rows), "markdown")

    options = [
        [Markup(f"`{one.name}`"), Markup(f"`{board.options[one.name]}`"), Markup(one.help)]
        for one in procedure.options
        if board.options[one.name]
    ]
    described = [] if corpus is None else fields(load_schema(corpus.schema), "submission")
    of_submissions = [
        [Markup(f"`{one.name}`"), one.type, Markup(one.description)] for one in described
    ]
    config = "" if is_default else f" --config {board.config}"
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_find_folder() / "pages"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 (Markdown)
    )
    templates.globals |= {
        "board": board,
        "title": title,
        "corpus": corpus,
        "drawing": board.resampling,
        "headline": next(
            metric.title for metric in procedure.metrics if metric.name == board.headline
        ),
        "citation": procedure.citation or (corpus.citation if corpus else ""),
        "check": f"closeread validate {board.scored} predictions.jsonl{config} --split {board.split}",
        "files": f"one file of predictions{', or a folder of them' if accepts_folders(board) else ''}",
        "part": f'"{board.corpus}"' + ("" if is_default else f', "{board.config}"'),
        "scores": draw_table(
            ["score", "description"], [[one.title, one.description] for one in procedure.metrics]
        ),
        "options": draw_table(["option", "value", "description"], options) if options else "",
        "fields": draw_table(["field", "type", "description"], of_submissions),
        "samples": samples,
        "docker_image": image,
        "requirements": requirements,
    }
    (folder / "pages").mkdir()
    places = {f"{name}.md": f"pages/{name}.md" for name in PAGES}
    places |= {"readme.md": "README.md", "starting_kit.md": "starting_kit/README.md"}
    for name, place in {**places, "Dockerfile": "scoring_program/Dockerfile"}.items():
        write_text(folder / place, templates.get_template(name).render())


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
    root = package_folder("closeread")
    places = {
        **{f"closeread/{name}": package_folder(f"closeread.{name}") for name in ELSEWHERE},
        "closeread": root,
    }
    return zip_files(
        {
            f"{place}/{path.relative_to(folder).as_posix()}": path
            for place, folder in places.items()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
            and path.suffix not in (".pyc", ".pyo")
            and not any(
                part.startswith(".") or part == "__pycache__"
                for part in path.relative_to(folder).parts
            )
        }
    )


@cache
def list_requirements() -> tuple[str, ...]:
    """Return the libraries that scoring needs, directly or not, in installed versions, such as "numpy==2.3.1"."""
    found = {name: version(name) for name in LIBRARIES}
    left = list(LIBRARIES)
    while left:
        for one in requires(left.pop()) or ():
            name = re.split("[^A-Za-z0-9._-]", one, maxsplit=1)[0].lower().replace("_", "-")
            if "extra ==" not in one and name not in found:
                with suppress(PackageNotFoundError):  # needed by another version of Python only
                    found[name] = version(name)
                    left.append(name)
    return tuple(sorted(f"{name}=={number}" for name, number in found.items()))
