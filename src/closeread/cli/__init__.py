"""The command line: parses arguments, calls functions, prints results and sets exit codes.

Every module of `closeread.cli.commands` is a command, which is imported when it is used.  Exit codes: 0 for success, 1
for invalid input, 2 for wrong usage.
"""

from __future__ import annotations

import importlib
import pkgutil
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click

from closeread import __version__
from closeread.cli.notes import QuietGroup
from closeread.errors import InputError, MissingExtraError, RequestError, escape, escape_line

WORDS = "closeread.words"

OUT_OF_MEMORY = "out of memory: this input needs more memory than there is; split it, or use a machine with more"
TOO_DEEP = "the input is nested too deeply to be processed"


class LazyGroup(QuietGroup):
    """A group whose commands are the modules of `closeread.cli.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, sorted."""
        import closeread.cli.commands

        modules = pkgutil.iter_modules(closeread.cli.commands.__path__)
        return sorted(module.name.replace("_", "-") for module in modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command; None if there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"closeread.cli.commands.{cmd_name.replace('-', '_')}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, and remember its words."""
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; bad input and bad requests exit with a message and a code instead of a traceback."""
        try:
            with exit_on_sigterm():
                return super().invoke(ctx)
        except click.ClickException as error:  # click's own messages quote words as they were typed
            error.message = keep_on_line(error.message, ctx.meta[WORDS])
            raise
        except (InputError, MissingExtraError) as error:
            raise click.ClickException(keep_on_line(escape(str(error)), ctx.meta[WORDS])) from error
        except RequestError as error:
            raise click.UsageError(keep_on_line(escape(str(error)), ctx.meta[WORDS])) from error
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(escape_line(f"{where}{error.strerror or error}")) from error
        except MemoryError:  # the error keeps what fills the memory
            raise click.ClickException(OUT_OF_MEMORY) from None
        except RecursionError:
            raise click.ClickException(TOO_DEEP) from None


def keep_on_line(message: str, words: Sequence[str]) -> str:
    """Escape line ends and escape sequences of words in a message that quotes some of them."""
    for word in sorted(words, key=len, reverse=True):
        if not word.isprintable():
            for shown in (word, escape(word)):
                message = message.replace(shown, escape_line(word))
    return message


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an exception inside the block, so that partly written files are removed."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # signals are handled there only
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="closeread")
def main() -> None:
    """Score systems on close reading: who did what, and when.

    \b
    Try it offline on the sample that comes with the package:
      closeread baseline mctaco always-positive --config sample -o yes.jsonl
      closeread score mctaco yes.jsonl --config sample
    """
