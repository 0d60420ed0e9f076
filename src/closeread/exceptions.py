"""Errors for bad input, one for each file with every problem found in it, and how messages are worded.

Conventions: a problem says what was found and what was expected; lines count from 1.  Messages have the form
``FILE:LINE: WHAT``, so that editors and terminals can jump to the line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from closeread import limits

SHOWN = 20
NAMED = 3

Aliases = Mapping[str, str]
"""Other common names, with the known names for which they stand."""

# the keys and the places of items, from 0, that lead to a value inside a record
FieldPath = tuple[str | int, ...]


class Problem(NamedTuple):
    """One thing that is wrong with a file, or with a record."""

    what: str  # was found and was expected
    line: int | None = None  # from 1
    # in the folder, or the absolute path of one that belongs to it but is elsewhere
    file: str | None = None
    row: int | None = None  # the number of the record, from 0, if it doesn't have a line or a file
    path: FieldPath = ()  # in the record
    about: str = ""  # the value there, in words
    record: str = ""  # the name of the record in messages, such as `id 'x'`
    times: int = 1  # how many problems of this kind it stands for

    @property
    def place(self) -> str:
        """Its place in the record, and the value there, as in `relations[3].anchor ('np7')`."""
        place = "".join(
            f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path
        ).removeprefix(".")
        return f"{place} ({self.about})" if self.about else place

    @property
    def message(self) -> str:
        """The problem in words, with the record and the place in it."""
        return ": ".join(filter(None, (self.record, self.place, self.what)))

    @property
    def kind(self) -> tuple[str, ...]:
        """The words and the field that equal problems of different records share."""
        return (self.what, *(step for step in self.path if isinstance(step, str)))

    @property
    def order(self) -> tuple[str, int]:
        """The key that sorts problems by place."""
        return self.file or "", self.line or 0

    def in_row(self) -> Problem:
        """The problem with the number of its row as the name of the record, for rows in memory."""
        record = ": ".join(filter(None, (f"row {self.row}", self.record)))
        return self._replace(record=record, row=None)

    def at(self, source: str) -> str:
        """The problem with the place where it is, as terminals can jump to it."""
        place = source if self.file is None else os.path.join(source, escape_line(self.file))
        return (
            f"{place}: {self.message}"
            if self.line is None
            else f"{place}:{self.line}: {self.message}"
        )


class ProblemList(list[Problem]):
    """A list that stays short: beyond `limits.MAX_PROBLEMS`, the first problem of each kind counts the others.

    So many kinds are distinguished.  Problems can only be added at the end.
    """

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        super().__init__()
        self._first: dict[tuple[str, ...], int] = {}  # the place of the first of each kind
        self.extend(problems)

    def append(self, problem: Problem) -> None:
        """Add a problem, or count it."""
        if problem.kind not in self._first and len(self._first) >= limits.MAX_PROBLEMS:
            problem = problem._replace(
                what="another problem, not listed", path=(), about="", record=""
            )
        first = self._first.setdefault(problem.kind, len(self))
        if first < len(self) >= limits.MAX_PROBLEMS:
            self[first] = self[first]._replace(times=self[first].times + problem.times)
        else:
            super().append(problem)

    def add(self, what: str, line: int | None = None, *, file: str | None = None) -> None:
        """Add a problem with its place."""
        self.append(Problem(what, line, file))

    @property
    def total(self) -> int:
        """How many problems there are, those that are only counted included."""
        return sum(problem.times for problem in self)

    def raise_any(self, path: Path) -> None:
        """Raise the problems, in the order of the file, if there are any."""
        if self:
            raise FormatError(path, sorted(self, key=lambda problem: problem.order))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add problems one by one."""
        for problem in problems:
            self.append(problem)

    def __iadd__(self, problems: Iterable[Problem]) -> ProblemList:  # type: ignore[override,misc]
        self.extend(problems)
        return self


def describe_problems(source: str, problems: Iterable[Problem]) -> list[str]:
    """Return a line for each kind of problem: its first place, its words, and the number and places of repetitions."""
    kinds: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(problem.kind, []).append(problem)
    lines = []
    for first, *others in kinds.values():
        total, repeated = first.times + sum(one.times for one in others), ""
        if total > 1:
            numbers = dict.fromkeys(one.line for one in others)
            if (
                {one.file for one in others} == {first.file}
                and None not in numbers
                and numbers.keys() != {first.line}
            ):
                also = [f"{number}" for number in numbers if number != first.line]
                noun = " line" if len(also) == 1 else " lines"
            else:
                also, noun = (
                    list(dict.fromkeys(filter(None, (_name_place(one, first) for one in others)))),
                    "",
                )
            repeated = f" ({total:,} times{f'; also{noun} {_join_first(also)}' if also else ''})"
        lines.append(first.at(source) + repeated)
    return lines


def _name_place(problem: Problem, first: Problem) -> str:
    """Name the place of a problem, as far as it differs from that of another; empty if it doesn't."""
    if problem.file != first.file or problem.line != first.line:
        line = "" if problem.line is None else f"{problem.line}"
        return ":".join(filter(None, (escape_line(problem.file or ""), line)))
    if problem.record != first.record:
        return problem.record
    return "" if problem.path == first.path else problem.place


def _join_first(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")


class CloseReadWarning(UserWarning):
    """A warning about files or results that are read anyway, such as files that differ from the released ones.

    >>> import warnings
    >>> warnings.simplefilter("ignore", CloseReadWarning)  # as `--quiet` does
    """

    def __init__(self, message: str) -> None:
        super().__init__(escape(message))


class RequestError(ValueError):
    """A request that can't be met: an unknown name, or results that can't be compared.

    >>> import closeread
    >>> try:
    ...     closeread.stats("mctacco")
    ... except closeread.RequestError as error:
    ...     print(error)
    no such corpus: 'mctacco'. Did you mean 'mctaco'? (choose from: ...)
    """

    def __init__(self, message: str) -> None:
        super().__init__(escape(message))


class UnknownOptionError(RequestError):
    """A keyword that does not exist.

    Attributes:
        owner: what has other keywords, in words.
        name: the keyword.
        known: the keywords that exist.
    """

    def __init__(
        self, owner: str, name: str, known: Iterable[str], aliases: Aliases | None = None
    ) -> None:
        self.owner = owner
        self.name = name
        self.known = list(known)
        self.aliases = aliases
        super().__init__(describe_unknown(f"option of {owner}", name, self.known, aliases))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.owner, self.name, self.known, self.aliases)


class UnknownKeyError(RequestError, KeyError):
    """A name for which a mapping has no entry."""

    # A KeyError would be worded as the key.
    __str__ = ValueError.__str__


@contextmanager
def offering(keywords: Sequence[str], options: Container[str]) -> Iterator[None]:
    """Name the keywords of a function first, inside the block, if an option that it passes on does not exist."""
    try:
        yield
    except UnknownOptionError as error:
        if error.name not in options:
            raise
        known = dict.fromkeys([*keywords, *error.known])
        aliases = {**KEYWORDS, **(error.aliases or {})}
        raise UnknownOptionError(error.owner, error.name, known, aliases) from None


class InputError(ValueError):
    """Bad input, with all its problems.

    Args:
        source: the file, or what the input came from; empty for several that have no folder in common.
        problems: everything that is wrong with it, in the order in which it is shown.

    >>> import closeread
    >>> try:
    ...     closeread.score("mctaco", [{"id": "test-00000", "label": "maybe"}], config="sample", missing="skip")
    ... except closeread.InputError as error:
    ...     print(error)
    predictions: row 0: id 'test-00000': label: 'maybe' is not one of 'no', 'yes'
    """

    def __init__(self, source: object, problems: Sequence[Problem]) -> None:
        self.source = str(source)
        self.problems = tuple(problems)
        super().__init__(self._message())

    def _message(self) -> str:
        source = escape_line(self.source)
        lines = describe_problems(source, self.problems)
        if len(lines) > 1:
            number = sum(problem.times for problem in self.problems)
            kinds = f" of {len(lines):,} kinds" * (len(lines) < number)
            most = f" (first {SHOWN} shown)" * (len(lines) > SHOWN)
            lines = [f"{source and f'{source}: '}{number:,} problems{kinds}{most}:", *lines[:SHOWN]]
        return escape("\n".join(lines))


class FormatError(InputError):
    """A corpus or gold file that breaks its format or schema."""


class SubmissionError(InputError):
    """A system's output that can't be scored."""


class MissingFileError(FormatError, SubmissionError, FileNotFoundError):
    """A file or a folder that does not exist, of gold or of a system's output."""

    # As an exception of the operating system, it would be worded by its error number.
    __str__ = ValueError.__str__


class ChecksumError(InputError):
    """A file that differs from the released one."""


class UnavailableError(InputError):
    """A corpus file that is neither on this machine nor available for download."""


def describe_unreadable(path: Path, error: OSError) -> FormatError:
    """Return the error for a file or a folder that the operating system does not let us read."""
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FormatError
    return kind(path, [Problem(f"can't be read: {error.strerror}")])


def blame_submission(error: InputError) -> SubmissionError:
    """Return an error of reading a system's output as such."""
    if isinstance(error, MissingFileError):
        return error
    return SubmissionError(error.source, error.problems)


E = TypeVar("E", bound=InputError)
Item = TypeVar("Item")
T = TypeVar("T")


def merge_errors(errors: Sequence[E]) -> E:
    """Return one error with the problems of several files or folders."""
    if len(errors) == 1:
        return errors[0]
    try:
        folder = os.path.commonpath([error.source for error in errors])
    except ValueError:  # absolute and relative paths, or several drives
        folder = ""
    places = [
        Path(os.path.relpath(error.source, folder) if folder else error.source) for error in errors
    ]
    below = [
        (place, problem)
        for place, error in zip(places, errors, strict=True)
        for problem in error.problems
    ]
    problems = [
        problem._replace(file=(path / (problem.file or "")).as_posix()) for path, problem in below
    ]
    return type(errors[0])(folder, problems)


class CombinedError(InputError):
    """Bad input in several files, each with its own problems; equal errors are reported once."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple({str(error): error for error in errors}.values())
        super().__init__("", [problem for error in self.errors for problem in error.problems])

    def _message(self) -> str:
        return "\n".join(map(str, self.errors))


def raise_all(errors: Iterable[InputError]) -> None:
    """Raise all errors at once, as a `CombinedError` if there are several; do nothing if there are none."""
    if found := tuple(errors):
        raise found[0] if len(found) == 1 else CombinedError(found)


def read_all(items: Iterable[Item], read: Callable[[Item], T]) -> list[T]:
    """Read several files, or objects, and raise the problems of all of them at once."""
    found, wrong = [], []
    for item in items:
        try:
            found.append(read(item))
        except InputError as error:
            wrong.append(error)
    raise_all(wrong)
    return found


class MissingExtraError(ImportError):
    """A missing library that this package does not install by default, and the extra that installs it, if one does.

    >>> print(MissingExtraError("a figure", "matplotlib", extra="plot"))
    a figure needs matplotlib: pip install 'closeread[plot]'
    """

    def __init__(self, purpose: str, *libraries: str, extra: str = "") -> None:
        what = f"'closeread[{extra}]'" if extra else " ".join(libraries)
        super().__init__(f"{purpose} needs {' and '.join(libraries)}: pip install {what}")


def quote(text: str, limit: int = 60) -> str:
    """Quote untrusted text for a message: escaped, and cut in the middle when long."""
    return shorten(repr(text), limit)


def quote_json(value: object, limit: int = 120) -> str:
    """Quote an untrusted JSON value for a message: strings as `quote` does, anything else as JSON."""
    if isinstance(value, str):
        return quote(value, limit)
    try:
        return shorten(escape(json.dumps(value, ensure_ascii=False, default=repr)), limit)
    except (TypeError, ValueError, RecursionError):  # not a JSON value after all
        return f"a {type(value).__name__}"


def escape(text: str) -> str:
    """Escape everything in untrusted text that a terminal might act on; keep line ends."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def escape_line(text: str) -> str:
    """Escape everything in untrusted text that a terminal might act on, and line ends: the result is one line."""
    return escape(text).replace("\n", r"\n")


def shorten(text: str, limit: int = 300) -> str:
    """Cut a text in the middle if it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = (limit - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


def pluralize(number: int, noun: str) -> str:
    """Format a count and its noun, whose plural ends in `s`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def join_names(names: Sequence[str]) -> str:
    """Join the first few names, quoted."""
    return _join_first([*map(quote, names[: NAMED + 1])])


# Options: `--missing empty` on the command line, `missing='empty'` in Python.

_is_command_line: ContextVar[bool] = ContextVar("is_command_line", default=False)
"""Code that finds a problem does not know its caller, and other threads and tasks may have other callers."""

_advised: ContextVar[Container[str] | None] = ContextVar("advised", default=None)
"""The options of the command, or the function, that was called; None for any."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?:=([^{}]+))?\}")


@contextmanager
def word_for_command_line() -> Iterator[None]:
    """Name options as the command line does, inside the block."""
    token = _is_command_line.set(True)
    try:
        yield
    finally:
        _is_command_line.reset(token)


def choose_words(command_line: str, python: str) -> str:
    """Return the words for who is calling."""
    return command_line if _is_command_line.get() else python


def name_option(name: str, *values: str) -> str:
    """Name an option by its keyword, or its values to choose from.

    >>> name_option("missing", "empty", "skip"), name_option("data_dir")
    ("missing='empty' or missing='skip'", 'data_dir=')
    >>> with word_for_command_line():
    ...     name_option("missing", "empty", "skip"), name_option("data_dir")
    ('--missing empty or --missing skip', '--data-dir')
    """
    flag = f"--{name.replace('_', '-')}"
    if not values:
        return choose_words(flag, f"{name}=")
    return " or ".join(choose_words(f"{flag} {value}", f"{name}='{value}'") for value in values)


def fill_options(text: str) -> str:
    """Name the options in a text that is stored as data.

    >>> fill_options("{gold} or {missing=empty,skip}")
    "gold= or missing='empty' or missing='skip'"
    """

    def name(match: re.Match[str]) -> str:
        values = match[2].split(",") if match[2] else []
        return name_option(match[1], *values)

    return _PLACEHOLDER.sub(name, text)


@contextmanager
def advising_only(options: Container[str]) -> Iterator[None]:
    """Advise no other options inside the block, unless what was called before has already said which it has."""
    before = _advised.get()
    token = _advised.set(options if before is None else before)
    try:
        yield
    finally:
        _advised.reset(token)


def can_advise(option: str) -> bool:
    """Return whether what was called has an option."""
    options = _advised.get()
    return options is None or option in options


def advise(text: str) -> str:
    """Return advice with its options named, as by `fill_options`; nothing if what was called lacks one of them.

    >>> with advising_only(["missing"]):
    ...     advise(", or use {missing=empty}"), advise("; {extra=skip} leaves it out")
    (", or use missing='empty'", '')
    """
    names = [match[1] for match in _PLACEHOLDER.finditer(text)]
    return fill_options(text) if all(map(can_advise, names)) else ""


# Unknown names: the similar one that was probably meant, also by aliases, which map other common names to known ones.

# how many characters of an unknown name are compared, which takes time that grows with their square
_COMPARED = 100
SIMILAR = 0.7
"""The least share of equal characters of similar names, with which nobody takes `litbank` for `tlinks`."""

_SCORE = re.compile(r"(?<![\W_])[\W_]++(f|f1|f_?score|p|r|precision|recall|score)$", re.IGNORECASE)
"""The score after the name of a metric, as in `muc_f1` and `ceafe/f`."""

KEYWORDS = {
    "key": "gold",
    "reference": "gold",
    "references": "gold",
    "response": "predictions",
    "system": "predictions",
}
"""Names in other libraries of keywords that many of our functions have."""

_YES_AND_NO = {"true": "yes", "yes": "true", "false": "no", "no": "false"}


def describe_unknown(
    what: str, name: str, known: Sequence[str], aliases: Aliases | None = None
) -> str:
    """Return the message for an unknown name, with the most similar known one."""
    name = str(name)  # in Python it may be anything
    guess = suggest(name, known, aliases)
    return f"no such {what}: '{escape_line(name)}'{guess and '.'}{guess} (choose from: {', '.join(known) or 'none'})"


def suggest(name: str, known: Sequence[str], aliases: Aliases | None = None) -> str:
    """Return a question whether a known name was meant, after a space; empty if none is similar.

    Several known names in one are to be separated as the command line, or Python, does it.

    >>> suggest("B-Cubed/F1", ["b3", "lea"], {"bcubed": "b3"})
    " Did you mean 'b3'?"
    >>> suggest("b3 lea", ["b3", "lea"])
    " Give a list: ['b3', 'lea']"
    """
    parts = re.split(r"[\s,;]+", name.strip()) if len(name) <= _COMPARED else []
    if len(parts) > 1 and all(part in known for part in parts):
        by_commas = f" Separate several by commas: {','.join(parts)}"
        return choose_words(by_commas, f" Give a list: {parts}")
    near = find_similar(name, known, aliases)
    return f" Did you mean '{near}'?" if near is not None else ""


def describe_choice(value: object, choices: Sequence[str]) -> str:
    """Return the message for a value that is none of those that may be chosen.

    >>> describe_choice("micr", ["micro", "macro"])
    "'micr' is not one of 'micro', 'macro'; did you mean 'micro'?"
    """
    text = str(value)
    return f"{quote(text)} is not one of {', '.join(map(repr, choices))}{suggest_choice(text, choices)}"


def suggest_choice(value: str, choices: Sequence[str]) -> str:
    """Return a question whether one of some values was meant, after a semicolon; empty if none is similar."""
    near = find_similar(value, choices, _YES_AND_NO)
    return "" if near is None else f"; did you mean {quote(near)}?"


def find_similar(name: str, known: Sequence[str], aliases: Aliases | None = None) -> str | None:
    """Return the known name that was probably meant, whatever its case and punctuation; None if there is none."""
    from difflib import get_close_matches
    from unicodedata import normalize

    def fold(name: str) -> str:
        return "".join(c for c in normalize("NFKC", name).lower() if c.isalnum())

    name = name[:_COMPARED]
    meant = {alias: target for alias, target in (aliases or {}).items() if target in known}
    meant |= {one: one for one in known}
    folded = {fold(one): target for one, target in meant.items()}
    stem = _SCORE.sub("", name)
    for text in (name, stem):
        if fold(text) in folded:
            return folded[fold(text)]
    close = get_close_matches(name, meant, 1, SIMILAR) or get_close_matches(stem, meant, 1, SIMILAR)
    return meant[close[0]] if close else None


def suggest_id(name: str, absent: Sequence[str], unknown: Sequence[str]) -> str:
    """Return a question whether an unknown id means one without a prediction; digits must be the same.

    >>> suggest_id("bn/CNN_1", ["bn/cnn_1", "bn/cnn_2"], ["bn/CNN_1"])
    "; did you mean 'bn/cnn_1'?"
    """
    if len(unknown) > SHOWN or len(absent) > limits.MAX_PROBLEMS:  # comparing takes long
        return ""
    digits = re.sub(r"\D", "", name)
    near = find_similar(name, [one for one in absent if re.sub(r"\D", "", one) == digits])
    return f"; did you mean {quote(near)}?" if near is not None else ""
