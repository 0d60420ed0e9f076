"""Options that several commands share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from closeread.errors import InputError, RequestError, escape, quote

if TYPE_CHECKING:
    from closeread.corpora.gold import Gold
    from closeread.counts.options import Option
    from closeread.counts.procedure import Procedure

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
FILE = click.Path(path_type=Path)


class WrittenFile(click.Path):
    """A file to write; `-` is none."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if str(value) == "-":
            self.fail("'-' is no file; name one.", param, ctx)
        return super().convert(value, param, ctx)


WRITTEN = WrittenFile()


class WritingCommand(click.Command):
    """A command that writes neither over what it reads nor two things to one file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments.

        Raises:
            RequestError: a file to write is one of the others.
        """
        rest = super().parse_args(ctx, args)
        read: list[Path] = []
        written: list[Path] = []
        for param in self.params:
            if isinstance(param.type, click.Path):
                given = ctx.params[param.name or ""]
                paths = given if isinstance(given, tuple) else (given,)
                (written if param.type is WRITTEN else read).extend(path for path in paths if path is not None)
        for number, output in enumerate(written):
            if any(_same(output, path) or _holds(path, output) for path in read):
                raise RequestError(f"{output} is read by this command; name another file to write")
            if any(_same(output, path) for path in written[:number]):
                raise RequestError(f"{output} is to be written twice; name two files")
        return rest


def _same(one: Path, other: Path) -> bool:
    if one.exists() and not one.is_file():  # such as /dev/null
        return False
    return realpath(one) == realpath(other) or (one.exists() and other.exists() and one.samefile(other))


def _holds(folder: Path, file: Path) -> bool:
    """Whether a file that is there already is below a folder, unless that is where the command runs."""
    inside = Path(realpath(folder))
    return file.is_file() and inside.is_dir() and inside in Path(realpath(file)).parents and not _is_below(inside)


def _is_below(folder: Path) -> bool:
    here = Path.cwd()
    return folder == here or folder in here.parents


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several decorators as one, the first listed shown first in the help."""
    return lambda function: reduce(lambda f, decorate: decorate(f), reversed(decorators), function)


data_dir = click.option(
    "--data-dir",
    type=FILE,
    metavar="DIR",
    help="Folder with the corpus's files, which may differ from the released.",
)
config = click.option("--config", metavar="NAME", help="Config of the corpus; 'sample' ships in the package.")
split = click.option("--split", metavar="NAME", help="Split of the corpus.")
gold = click.option(
    "--gold", type=FILE, metavar="FILE", help="Your own gold, in the corpus's format, .jsonl or .parquet."
)
gold_options = together(config, split, gold, data_dir)


output = click.option("-o", "--output", type=WRITTEN, required=True, metavar="FILE", help="File to write.")
seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all randomness.")

key = click.argument("key", type=FILE)
response = click.argument("response", type=FILE)


by = click.option("--by", multiple=True, metavar="FIELD", help="Score every value of this field apart, too.")


def metrics(procedure: Procedure) -> Callable[[F], F]:
    """The option that chooses among the metrics of a procedure; no option where it has one only."""
    families = tuple(dict.fromkeys(metric.name.partition("/")[0] for metric in procedure.metrics))

    def chosen(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
        names = families if value is None else tuple(name.strip() for name in value.split(","))
        for name in names:
            if name not in families:
                raise click.BadParameter(f"'{escape(name)}' is none of {', '.join(families)}.", ctx, param)
        return names

    if len(families) == 1:
        return lambda function: function
    shown = f"Metrics, separated by commas: {', '.join(families)}; all by default."
    return click.option("--metrics", callback=chosen, metavar="NAMES", help=shown)


resampling_options = together(
    click.option(
        "--resamples",
        type=click.IntRange(min=1),
        default=1000,
        show_default=True,
        help="Bootstrap resamples.",
    ),
    click.option(
        "--confidence",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help="Confidence of the intervals.",
    ),
    seed,
)


style_options = together(
    click.option(
        "--format",
        "style",
        type=click.Choice(["table", "json", "markdown", "latex", "csv"]),
        default="table",
        show_default=True,
        help="How to print the result.",
    ),
    click.option("--json", "style", flag_value="json", help="The same as --format json."),
)


def declared_options(declared: Sequence[Option]) -> list[click.Parameter]:
    """Return the flags of declared options; their values are None if not given, so that defaults stay in one place."""
    return [_make_flag(option) for option in declared]


def _make_flag(option: Option) -> click.Parameter:
    from closeread.corpora.baselines import PathOption

    def check(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None and not option.accepts(str(value)):
            raise click.BadParameter(f"{quote(str(value))} is not {option.accepted}.", ctx, param)
        return value

    is_path = isinstance(option, PathOption)
    name = option.name.rpartition("_")[2].upper()
    return click.Option(
        [f"--{option.name.replace('_', '-')}", option.name],
        type=click.Choice(option.choices) if option.choices else FILE if is_path else str,
        callback=check,
        metavar=None if option.choices else "DIR" if is_path else name,
        help=f"{option.help}  [default: {option.default}]" if option.default else option.help,
    )


def read_all(paths: Iterable[Path], read: Callable[[Path], T]) -> list[T]:
    """What several files hold, or everything that is wrong with any of them."""
    found, wrong = [], []
    for path in paths:
        try:
            found.append(read(path))
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise click.ClickException(escape("\n".join(dict.fromkeys(wrong))))
    return found


def tell_notices(gold: Gold) -> Gold:
    """The gold, once what a user should know about it is on standard error."""
    tell(gold.notices)
    return gold


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Say on standard error what is warned of in the block, in the words of `tell`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    tell(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))


def tell(notices: Iterable[str]) -> None:
    """Say on standard error what a user should know, once."""
    for notice in dict.fromkeys(notices):
        click.echo(f"note: {escape(notice)}", err=True)
