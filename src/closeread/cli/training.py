"""Options and output that the commands of trained models share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from closeread.cli import options
from closeread.cli.notes import is_quiet, tell

if TYPE_CHECKING:
    from closeread.corpus.gold import Gold
    from closeread.neural.training import Progress, Setting

F = TypeVar("F", bound=Callable[..., object])

FOLDER = click.Path(path_type=Path, file_okay=False)
_RATE = options.NumberRange(min=0, min_open=True, max=1)

device = click.option(
    "--device", metavar="NAME", help="Use this device, such as 'cuda:0'.  [default: the first GPU, or the CPU]"
)
precision = click.option(
    "--precision",
    type=click.Choice(["auto", "float32", "bfloat16"]),
    default="auto",
    show_default=True,
    help="Precision of matrix products; auto is bfloat16 on GPUs that have it, float32 elsewhere.",
)
folder = click.option(
    "-o", "--output", "run", type=FOLDER, metavar="RUN", required=True, help="Write the trained model to this folder."
)
resume = click.option("--resume", is_flag=True, help="Continue the run in the folder from its last checkpoint.")
run = click.argument("run", type=FOLDER)


def setting_options(items: str, **defaults: float) -> Callable[[F], F]:
    """Return the options of how to train.

    Args:
        items: what is learnt from, in the plural.
        **defaults: of a task, by the names of `closeread.neural.training.Setting`.
    """
    declared = (
        ("epochs", click.IntRange(1), "Train for at most N epochs."),
        ("patience", click.IntRange(1), "Stop after N epochs without a better score."),
        ("batch_size", click.IntRange(1), f"Train on batches of N {items}."),
        ("accumulate", click.IntRange(1), "Accumulate the gradients of N batches for each step."),
        ("learning_rate", _RATE, "Peak learning rate of a pretrained encoder."),
        ("head_learning_rate", _RATE, "Peak learning rate of all other layers."),
    )
    made = [
        click.option(
            f"--{name.replace('_', '-')}",
            type=kind,
            default=defaults[name],
            show_default=True,
            metavar="N" if isinstance(kind, click.IntRange) else "X",
            help=text,
        )
        for name, kind, text in declared
    ]
    return options.together(*made, options.seed, precision, device)


def make_setting(device: str | None, precision: str, **values: Any) -> Setting:
    """Return how to train, from the values of `setting_options`.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        RequestError: there is no such device.
    """
    from closeread.neural.devices import check_libraries, choose_device, choose_precision

    check_libraries("a trained model")
    from closeread.neural.training import Setting

    chosen = choose_device(device)
    return Setting(device=chosen, precision=choose_precision(precision, chosen), **values)


def read_golds(corpus: str, places: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Gold | None]:
    """Read what models learn from and are scored on, as `closeread.corpus.models.place_golds` returns it.

    Raises:
        RequestError: there is no such config or split; an InputError if the files are missing or invalid.
    """
    from closeread.corpus.gold import read_corpus_gold

    golds = {
        role: None if place is None else read_corpus_gold(options.take_place(corpus, **place))
        for role, place in places.items()
    }
    notices = (notice for gold in golds.values() if gold is not None for notice in gold.notices)
    tell(list(dict.fromkeys(notices)))
    return golds


@contextmanager
def showing_progress() -> Iterator[Progress | None]:
    """Yield what shows progress on standard error, if it is a terminal, unless asked for quiet; None elsewhere."""
    if not sys.stderr.isatty() or is_quiet():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                for shown in tasks.values():
                    bars.remove_task(shown)
                tasks.clear()
                tasks[what] = bars.add_task(what.capitalize(), total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show


def tell_result(run: Path) -> None:
    """Print how a run went."""
    from closeread.corpus.training_curves import SHOWN
    from closeread.exceptions import escape_line
    from closeread.neural.run_files import read_run

    found = read_run(run)
    best = found["best"]
    scores = ", ".join(
        f"{name} {100 * value:.1f}" for name, value in best.items() if name in SHOWN and value is not None
    )
    click.echo(escape_line(f"{run}: best epoch {best['epoch']} of {len(found['epochs'])}, {scores}"))
