"""Bundles for Codabench: a competition with its pages, its gold and its scoring program, ready for upload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from re import match

from closeread.corpus.baselines import load_baseline
from closeread.corpus.gold import read_corpus_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import write_submission
from closeread.counts.procedure import PathOption, Place
from closeread.exceptions import RequestError, join_names
from closeread.files import creating_folder, replacing, write_text
from closeread.formats.folders import walk_files
from closeread.formats.json_lines import dump_json_lines
from closeread.hidden_files import remove_leftovers
from closeread.leaderboard.canonical import WITH_LINE_ENDS
from closeread.leaderboard.codabench import pages
from closeread.leaderboard.codabench.archive import zip_folder
from closeread.leaderboard.codabench.logo import draw_logo
from closeread.leaderboard.codabench.settings import PAGES, Settings, make_competition
from closeread.leaderboard.codabench.wheel import NAME, make_wheel, scoring_requirements
from closeread.leaderboard.declaration import FILE, Board, Leaderboard, Limits, make_board
from closeread.leaderboard.submission import FILE_NAME
from closeread.packages import package_folder
from closeread.scoring import find_procedure

COMMAND = "python3 /app/program/score.py /app/input/ /app/output/"
"""The command of the scoring program, with the folders in which Codabench's worker puts program, input and output."""


def make_bundle(
    scored: str,
    place: Place,
    folder: Path,
    settings: Settings,
    *,
    options: Mapping[str, str] | None = None,
    archive: bool = False,
) -> list[Path]:
    """Write the bundle of a competition.

    The same arguments give the same bytes.

    Args:
        scored: the name of a corpus or a procedure.
        place: where gold is.
        folder: where to write; it must be empty or not exist.  It appears complete or not at all.
        settings: what the organiser decides.
        options: options of the procedure that differ from the defaults.
        archive: whether to write a zip file, too: beside the folder, named as it with `.zip`.

    Returns:
        The files, and the zip file.

    Raises:
        RequestError: something of the arguments does not exist or is not possible; an InputError if gold is missing or
            invalid; an OSError if the folder is not empty or can't be written.
    """
    named = folder if folder.name not in ("", "..") else folder.resolve()  # messages name paths as the user does
    zipped = named.with_name(f"{named.name}.zip")
    for target in (folder, zipped):
        remove_leftovers(target)
    if archive and zipped.exists():
        raise RequestError(f"{zipped} exists; delete it, or choose another folder")
    limits = Limits(per_day=settings.per_day)
    board = make_board(
        scored, place, options=options, private=True, title=settings.title, limits=limits, counting="best"
    )
    _refuse_paths(board)
    competition = make_competition(board, settings)
    with creating_folder(folder) as made:
        _write_gold(board, place, made / "reference_data")
        samples = _write_starting_kit(board, made / "starting_kit")
        requirements = _write_program(board, settings, made / "scoring_program")
        task = pages.Task(board, str(competition["title"]), samples, settings.docker_image, requirements)
        _write_texts(task, made)
        (made / "logo.png").write_bytes(draw_logo())
        write_text(made / "competition.yaml", _dump_yaml(competition))
        files = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
        if archive:
            with replacing(zipped) as partial:
                zip_folder(made, partial)
    return [*(folder / file for file in files), *([zipped] if archive else [])]


def describe_licence(scored: str, place: Place) -> list[str]:
    """Return what the licence of a corpus forbids to do with its bundle, in a sentence; nothing if that is nothing."""
    name = find_procedure(scored)[1]
    if name is None or place.gold is not None or place.config == "sample" or not load_corpus(name).redistribution:
        return []
    corpus = load_corpus(name)
    allowed = "the bundle may go to a server that keeps the gold to itself, and to nobody else"
    return [f"{corpus.title} may not be redistributed ({corpus.redistribution}): {allowed}."]


def _refuse_paths(board: Board) -> None:
    """Refuse options whose values are files, which the worker does not have.

    Raises:
        RequestError: such an option has a value.
    """
    paths = [one.name for one in board.procedure.options if isinstance(one, PathOption) and board.options[one.name]]
    if paths:
        raise RequestError(f"option {paths[0]} is a path, which is not available in a bundle")


def _write_gold(board: Board, place: Place, folder: Path) -> None:
    """Write the gold, and check that it is scored as it was before.

    A key is copied; gold in the format of a corpus becomes JSON Lines.

    Raises:
        RequestError: it is not the same gold any more.
    """
    folder.mkdir()
    if board.corpus is not None:
        at = place._replace(corpus=board.corpus, split=None if board.own_gold else place.split)
        gold = folder / "gold.jsonl"
        write_text(gold, dump_json_lines(read_corpus_gold(at).records, WITH_LINE_ENDS))
    else:
        key = Path(str(place.gold))
        gold = folder / (key.name if FILE_NAME.fullmatch(key.name) else "key")
        if key.is_dir():
            for name, path in walk_files(key)[0].items():
                copy = gold / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
        else:
            gold.write_bytes(key.read_bytes())
    board.open_scorer(gold)


def _write_starting_kit(board: Board, folder: Path) -> list[str]:
    """Write invented gold, and a baseline's predictions for it, if there are any; return the names of the files."""
    folder.mkdir()
    if board.corpus is None or "sample" not in load_corpus(board.corpus).configs:
        return []
    gold = read_corpus_gold(Place(board.corpus, "sample"))
    write_text(folder / pages.SAMPLE_GOLD, dump_json_lines(gold.records, WITH_LINE_ENDS))
    if not board.baselines:
        return [pages.SAMPLE_GOLD]
    rows = load_baseline(board.corpus, board.baselines[0]).predict(gold.records)
    write_submission(folder / pages.SAMPLE_PREDICTIONS, rows, gold.corpus)
    return [pages.SAMPLE_GOLD, pages.SAMPLE_PREDICTIONS]


def _write_program(board: Board, settings: Settings, folder: Path) -> list[str]:
    """Write the scoring program; return the libraries that it needs.

    Raises:
        RequestError: a wheel is not one, or several are closeread's.
    """
    folder.mkdir()
    own = [wheel for wheel in settings.wheels if match(r"closeread-[^/]*\.whl$", wheel.name)]
    other = [wheel.name for wheel in settings.wheels if wheel.suffix != ".whl"]
    if len(own) > 1 or other:
        found = f"is not a wheel: {join_names(other)}" if other else f"several wheels of closeread: {len(own)}"
        raise RequestError(f"--wheel: {found}")
    for wheel in settings.wheels:
        (folder / wheel.name).write_bytes(wheel.read_bytes())
    if not own:
        (folder / NAME).write_bytes(make_wheel())
    requirements = scoring_requirements()
    code = package_folder("closeread.leaderboard.codabench") / "score.py"
    (folder / "score.py").write_bytes(code.read_bytes())
    (folder / FILE).write_bytes(Leaderboard(board.title, {board.name: board}).to_bytes())
    write_text(folder / "metadata.yaml", f"command: {COMMAND}\n")
    write_text(folder / "requirements.txt", "".join(f"{one}\n" for one in requirements))
    write_text(folder / "Dockerfile", pages.dockerfile())
    return requirements


def _write_texts(task: pages.Task, folder: Path) -> None:
    """Write the pages, and the guides for organisers and participants."""
    (folder / "pages").mkdir()
    for name in PAGES:
        write_text(folder / "pages" / f"{name}.md", getattr(pages, name)(task))
    write_text(folder / "README.md", pages.readme(task))
    write_text(folder / "starting_kit" / "README.md", pages.starting_kit(task))


def _dump_yaml(value: object) -> str:
    """Return a value as YAML; dates are in quotation marks, since Codabench drops the time of those that are not."""
    import yaml

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000)
    return text
