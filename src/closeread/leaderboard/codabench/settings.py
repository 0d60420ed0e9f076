"""What an organiser decides about a competition, and the file `competition.yaml` that says so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from closeread.exceptions import RequestError, quote
from closeread.leaderboard.codabench.program import column_key
from closeread.leaderboard.declaration import Board, Limits
from closeread.leaderboard.names import check_name
from closeread.packages import package_folder

DOCKER_IMAGE = "codalab/codalab-legacy:py312"
"""The newest image of the platform.  It lacks some libraries, so they are installed at every submission."""

DATE = "%Y-%m-%d %H:%M:%S"
START = "2026-01-01 00:00:00"
"""The default start: a date in the past, so that the competition is open at once, and that is not today's, so that the
same command gives the same bytes."""

SECONDS = 600
"""The time limit for scoring a submission, the largest that the default queue of Codabench grants."""

SCHEMA = "codabench.schema.json"
PAGES = ("overview", "evaluation", "terms", "data")


@dataclass(frozen=True)
class Settings:
    """What an organiser decides.

    Attributes:
        title: the title of the competition; None for that of the board.
        start, end: the first and the last moment for submissions, `YYYY-MM-DD HH:MM:SS` in UTC; no end if None.
        per_day: how many submissions a participant may make per day.
        max_submissions: how many submissions a participant may make in all.
        docker_image: the image in which submissions are scored.
        wheels: wheels to add to the scoring program: closeread's own, or libraries.
    """

    title: str | None = None
    start: str = START
    end: str | None = None
    per_day: int = Limits.per_day
    max_submissions: int = 100
    docker_image: str = DOCKER_IMAGE
    wheels: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            RequestError: the title or a date is not valid; all problems at once.
        """
        problems = [] if self.title is None else [one.message for one in check_name(self.title, "title", 250)]
        for name, value in (("start", self.start), ("end", self.end)):
            if value is not None and not _is_date(value):
                problems.append(f"{name}: {quote(value)} is not a date (expected YYYY-MM-DD HH:MM:SS, UTC)")
        if not problems and self.end is not None and self.end <= self.start:
            problems.append(f"end: {self.end} is not after the start, {self.start}")
        if problems:
            raise RequestError("\n".join(problems))


def _is_date(text: str) -> bool:
    """Return whether a text is a date and a time in the form that Codabench documents, with all its zeros."""
    try:
        return datetime.strptime(text, DATE).strftime(DATE) == text
    except ValueError:
        return False


def make_competition(board: Board, settings: Settings) -> dict[str, Any]:
    """Return the content of `competition.yaml`.

    Raises:
        RequestError: Codabench would reject it, because the name of a score is too long; all problems at once.
    """
    found = {
        "version": 2,
        "title": settings.title or board.title,
        "description": f"Scored by closeread: {board.procedure.title}.",
        "image": "logo.png",
        "terms": "pages/terms.md",
        "registration_auto_approve": False,
        "docker_image": settings.docker_image,
        "make_programs_available": True,
        "make_input_data_available": False,
        "enable_detailed_results": True,
        "show_detailed_results_in_submission_panel": True,
        "show_detailed_results_in_leaderboard": True,
        "pages": [{"title": name.title(), "file": f"pages/{name}.md"} for name in PAGES],
        "tasks": [
            {
                "index": 0,
                "name": board.title,
                "description": f"Scored by closeread: {board.procedure.title}.",
                "scoring_program": "scoring_program",
                "reference_data": "reference_data",
            }
        ],
        "phases": [_make_phase(settings)],
        "leaderboards": [_make_leaderboard(board)],
    }
    _check(found)
    return found


def _make_phase(settings: Settings) -> dict[str, Any]:
    return {
        "index": 0,
        "name": "Evaluation",
        "description": "Submit predictions.",
        "start": settings.start,
        **({} if settings.end is None else {"end": settings.end}),
        "max_submissions_per_day": settings.per_day,
        "max_submissions": settings.max_submissions,
        "execution_time_limit": SECONDS,
        "accepts_only_result_submissions": True,
        "starting_kit": "starting_kit",
        "tasks": [0],
    }


def _make_leaderboard(board: Board) -> dict[str, Any]:
    """Return the leaderboard: a column for every score, the headline first, since Codabench ranks by the first."""
    metrics = sorted(board.procedure.metrics, key=lambda metric: metric.name != board.headline)
    columns = [
        {
            "title": one.title,
            "key": column_key(one.name),
            "index": i,
            "sorting": "desc",
            "precision": 2,
            "hidden": False,
        }
        for i, one in enumerate(metrics)
    ]
    return {"title": "Results", "key": "results", "submission_rule": "Force_Best", "hidden": False, "columns": columns}


def _check(competition: dict[str, Any]) -> None:
    """Check a competition by the schema.

    Raises:
        RequestError: it breaks the schema.
    """
    import jsonschema

    schema = json.loads((package_folder("closeread.leaderboard") / SCHEMA).read_text("utf-8"))
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(competition), key=lambda one: one.json_path)
    if errors:
        found = "\n".join(f"{one.json_path.removeprefix('$.')}: {one.message}" for one in errors)
        raise RequestError(f"Codabench would reject the competition:\n{found}")
