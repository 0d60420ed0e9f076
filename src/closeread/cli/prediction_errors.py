"""What commands share that break down the errors of predictions for a corpus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from closeread.cli import completion, options, printing
from closeread.cli.notes import tell
from closeread.cli.procedure_group import given_options, read_place
from closeread.cli.repetition import split_names


def error_options(
    *, fields: str, default_fields: str, limit: str, default_limit: int
) -> Callable[[options.F], options.F]:
    """Return the options of such a command.

    Args:
        fields: the names of the fields that errors may be broken down by.
        default_fields: which of them are the default, for the help.
        limit: the help of `--limit`.
        default_limit: its default.
    """
    by = f"Break down the scores by this field; separate several by commas. Choose from: {fields}."
    return options.together(
        options.gold_options,
        click.option(
            "--by",
            multiple=True,
            callback=split_names,
            shell_complete=completion.complete_list(fields.split(", ")),
            metavar="FIELD",
            help=f"{by}  [default: {default_fields}]",
        ),
        click.option("--limit", type=click.IntRange(min=0), default=default_limit, show_default=True, help=limit),
        click.option("--no-ci", is_flag=True, help="Skip confidence intervals."),
        options.resampling_options,
        options.max_bytes,
        options.style_options,
    )


def print_errors(task: str, predictions: Path, values: dict[str, Any]) -> None:
    """Analyse the errors of predictions as their task does, and print them.

    Args:
        task: the name of the procedure.
        predictions: the file.
        values: the command's parameters.

    Raises:
        RequestError: an option does not exist; an InputError if something is missing or invalid.
    """
    from closeread.api.error_analysis import analyse_predictions
    from closeread.counts.estimates import Resampling
    from closeread.tasks import find, load_procedure

    n_resamples = 0 if values["no_ci"] else values["resamples"]
    chosen = {
        **given_options(load_procedure(task), values),
        "limit": values["limit"],
        "resampling": Resampling(n_resamples, values["confidence"], values["seed"]),
        **({"by": values["by"]} if values["by"] else {}),
    }
    count = vars(find(task, "error_kinds"))["ERRORS"][task]
    found, notices = analyse_predictions(task, count, predictions, read_place(values), chosen)
    tell(notices)
    printing.show_result(values["style"], found)
