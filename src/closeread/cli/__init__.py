"""The command line: parses arguments, calls functions, prints results and sets exit codes.

Commands are derived from the functions of `closeread.operations`.  Exit codes: 0 for success, 1
for invalid input, 2 for wrong usage, 3 for a system that is worse (`compare --fail-if-worse`).
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

import click

from closeread import __version__
from closeread.cli.groups import Group
from closeread.cli.printing import prepare_streams, tell
from closeread.corpus.notices import telling
from closeread.exceptions import (
    InputError,
    MissingExtraError,
    RequestError,
    escape,
    escape_line,
    word_for_command_line,
)
from closeread.operations import COMMANDS, TOPICS

WORDS = "closeread.words"
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What a full disk says, or a closed stream; other files than standard output have a name."""

UNLOADED = ("failed to map segment", "annot allocate memory")
"""What the loader of Linux says of a library for which there is not enough memory."""

COLLECTIONS_PER_FULL_ONE = 1_000
"""After how many collections of younger objects all are looked through: the mentions of a corpus, which all stay."""

OBJECTS_PER_COLLECTION = 50_000
"""How many new objects Python looks through at once for cycles: importing modules and reading records make many, none
of them to be collected, and looking for some after every 700 takes a twentieth of the time of a score."""

# Threads of NumPy's linear algebra wait for work in a loop, on all cores, for longer than most commands take.  They are
# to sleep after 2 ** 4 cycles.  NumPy, which reads this, is imported later.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")


class LazyGroup(Group):
    """The commands; each is imported when it is used."""

    noun = "command"

    def main(self, *arguments: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run `closeread`; its streams may have any encoding, and results for a closed or full one are an error."""
        prepare_streams()
        gc.set_threshold(OBJECTS_PER_COLLECTION, 10, COLLECTIONS_PER_FULL_ONE)
        try:
            return super().main(*arguments, standalone_mode=standalone_mode, **options)  # type: ignore[call-overload]
        # what the operating system refused; click ends at once if nobody reads
        except OSError as error:
            if not standalone_mode:
                raise
            where = f"{error.filename}: " if error.filename else ""
            if not where and error.errno in UNWRITABLE:
                where = "standard output: can't be written: "
                # Python flushes it when it ends, and would complain once more
                with suppress(OSError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            click.ClickException(escape_line(f"{where}{error.strerror or error}")).show()
            sys.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from closeread.cli.commands import make_command

        return make_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by topic; this imports none of them."""
        width = max(map(len, COMMANDS))
        for topic, names in TOPICS.items():
            with formatter.section(topic):
                formatter.write_dl(
                    [(f"{name:{width}}", COMMANDS[name][1]) for name in names.split()]
                )
        formatter.write_paragraph()
        formatter.write("`closeread help COMMAND` explains a command.\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, in which `help COMMAND` is `COMMAND --help`, and remember its words."""
        args = [*args[1:], "--help"] if args[:1] == ["help"] else args
        ctx.meta[WORDS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; bad input and bad requests exit with a message and a code instead of a traceback."""
        if threading.current_thread() is threading.main_thread():  # signals are handled there only
            signal.signal(signal.SIGTERM, exit_by)  # so that partly written files are removed
        try:
            with word_for_command_line(), telling(tell):
                return super().invoke(ctx)
        except click.ClickException as error:  # click's own messages quote words as they were typed
            vars(error)["message"] = keep_on_line(error.message, ctx.meta[WORDS])
            raise
        except (InputError, MissingExtraError) as error:
            raise click.ClickException(keep_on_line(escape(str(error)), ctx.meta[WORDS])) from error
        except RequestError as error:
            raise click.UsageError(keep_on_line(escape(str(error)), ctx.meta[WORDS])) from error
        except (MemoryError, ImportError) as error:
            if isinstance(error, ImportError) and not any(
                reason in str(error) for reason in UNLOADED
            ):
                raise
            raise click.ClickException("there is not enough memory for this") from error
        except RecursionError as error:
            raise click.ClickException("something is nested too deeply") from error


def keep_on_line(message: str, words: Sequence[str]) -> str:
    """Escape line ends and escape sequences of words in a message that quotes some of them."""
    for word in sorted(words, key=len, reverse=True):
        if not word.isprintable():
            for quoted in (word, escape(word)):
                message = message.replace(quoted, escape_line(word))
    return message


def exit_by(number: int, frame: FrameType | None) -> NoReturn:
    """Turn a signal into an exception."""
    raise SystemExit(128 + number)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="closeread")
def main() -> None:
    """Score systems on close reading: who did what, and when.

    \b
    Try it offline on the sample that comes with the package:
      closeread baseline mctaco always-positive --config sample -o yes.jsonl
      closeread score mctaco yes.jsonl --config sample
    """
