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

MAX_PROBLEMS_SHOWN = 20
MAX_NAMES_SHOWN = 3

Aliases = Mapping[str, str]
"""Other common names, with the known names for which they stand."""

# the keys and the places of items, from 0, that lead to a value inside a record
FieldPath = tuple[str | int, ...]


class Problem(NamedTuple):
    """Something wrong with a file, or with a record.

    Attributes:
        message: what was found, and what was expected instead.
        line: the number of the line, from 1; None if the problem has no line.
        file: the name in the folder, or the absolute path of a file that belongs to it but is elsewhere.
        row: the number of the record, from 0, if it has neither a line nor a file.
        path: where in the record the problem is.
        about: the value there, in words.
        record: the name of the record in messages, such as `id 'x'`.
        times: how many problems of this kind it stands for.
    """

    message: str
    line: int | None = None
    file: str | None = None
    row: int | None = None
    path: FieldPath = ()
    about: str = ""
    record: str = ""
    times: int = 1

    @property
    def place(self) -> str:
        """Its place in the record, and the value there, as in `relations[3].anchor ('np7')`."""
        place = ""
        for step in self.path:
            place += f"[{step}]" if isinstance(step, int) else f".{step}"
        place = place.removeprefix(".")
        return f"{place} ({self.about})" if self.about else place

    @property
    def text(self) -> str:
        """The message, after the record and the place in it."""
        return ": ".join(filter(None, (self.record, self.place, self.message)))

    @property
    def kind(self) -> tuple[str, ...]:
        """The words and the field that equal problems of different records share."""
        return (self.message, *(step for step in self.path if isinstance(step, str)))

    @property
    def order(self) -> tuple[str, int]:
        """The key that sorts problems by place."""
        return self.file or "", self.line or 0

    def in_row(self) -> Problem:
        """The problem with the number of its row as the name of the record, for rows in memory."""
        record = f"row {self.row}"
        if self.record:
            record += f": {self.record}"
        return self._replace(record=record, row=None)

    def at(self, source: str) -> str:
        """The problem with the place where it is, as terminals can jump to it."""
        place = source
        if self.file is not None:
            place = os.path.join(source, escape_line(self.file))
        if self.line is not None:
            place += f":{self.line}"
        return f"{place}: {self.text}"


class ProblemList(list[Problem]):
    """A list that stays short: beyond `limits.MAX_PROBLEMS`, the first problem of each kind counts the others.

    So many kinds are distinguished.  Problems can only be added at the end.
    """

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        super().__init__()
        self._first_of_kind: dict[tuple[str, ...], int] = {}
        for problem in problems:
            self.append(problem)

    def append(self, problem: Problem) -> None:
        """Add a problem, or count it."""
        is_new_kind = problem.kind not in self._first_of_kind
        if is_new_kind and len(self._first_of_kind) >= limits.MAX_PROBLEMS:
            problem = problem._replace(
                message="another problem, not listed",
                path=(),
                about="",
                record="",
            )
        first = self._first_of_kind.setdefault(problem.kind, len(self))
        if len(self) < limits.MAX_PROBLEMS or first == len(self):
            super().append(problem)
        else:
            self[first] = self[first]._replace(times=self[first].times + problem.times)

    def add(self, message: str, line: int | None = None, *, file: str | None = None) -> None:
        """Add a problem with its place."""
        self.append(Problem(message, line, file))

    @property
    def total(self) -> int:
        """How many problems there are, those that are only counted included."""
        return sum(problem.times for problem in self)

    def raise_any(self, source: object) -> None:
        """Raise the problems, in the order of the file, if there are any."""
        if self:
            raise FormatError(source, sorted(self, key=lambda problem: problem.order))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Add problems one by one."""
        for problem in problems:
            self.append(problem)

    def __iadd__(self, problems: Iterable[Problem]) -> ProblemList:  # type: ignore[override,misc]
        self.extend(problems)
        return self


def describe_problems(source: str, problems: Iterable[Problem]) -> list[str]:
    """Return a line for each kind of problem: its first place, its words, and the number and places of repetitions."""
    problems_by_kind: dict[tuple[str, ...], list[Problem]] = {}
    for problem in problems:
        problems_by_kind.setdefault(problem.kind, []).append(problem)
    lines = []
    for first, *repetitions in problems_by_kind.values():
        text = first.at(source)
        n_times = first.times + sum(repetition.times for repetition in repetitions)
        if n_times > 1:
            text += f" ({n_times:,} times{_describe_other_places(first, repetitions)})"
        lines.append(text)
    return lines


def _describe_other_places(first: Problem, repetitions: Sequence[Problem]) -> str:
    """Say where a problem occurs again, such as "; also lines 3, 4, 5, …"; nothing if that is not known.

    Line numbers alone are enough if all are in the file of the first problem.
    """
    places: list[str] = []
    noun = ""
    in_one_file = all(repetition.file == first.file for repetition in repetitions)
    lines = dict.fromkeys(repetition.line for repetition in repetitions)
    if in_one_file and None not in lines:
        places = [f"{line}" for line in lines if line != first.line]
        noun = "line " if len(places) == 1 else "lines "
    if not places:
        names = dict.fromkeys(_name_place(repetition, first) for repetition in repetitions)
        places = list(filter(None, names))
        noun = ""
    return f"; also {noun}{_join_first(places)}" if places else ""


def _name_place(problem: Problem, first: Problem) -> str:
    """Name the place of a problem, as far as it differs from that of another; empty if it doesn't."""
    if problem.file != first.file or problem.line != first.line:
        line = "" if problem.line is None else f"{problem.line}"
        return ":".join(filter(None, (escape_line(problem.file or ""), line)))
    if problem.record != first.record:
        return problem.record
    return "" if problem.path == first.path else problem.place


def _join_first(names: Sequence[str]) -> str:
    text = ", ".join(names[:MAX_NAMES_SHOWN])
    return text if len(names) <= MAX_NAMES_SHOWN else f"{text}, …"


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
        self, owner: str, name: str, names: Iterable[str], aliases: Aliases | None = None
    ) -> None:
        self.owner = owner
        self.name = name
        self.known = list(names)
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
    """Add the keywords of a function to what is advised, inside the block, if an option that it passes on is unknown.

    Args:
        keywords: the keywords of the function, which messages name before those that the called one has.
        options: the options that a user gave and the function passes on; errors on others are raised as they are.
    """
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
        if len(lines) <= 1:
            return escape("".join(lines))
        n_problems = sum(problem.times for problem in self.problems)
        heading = f"{n_problems:,} problems"
        if source:
            heading = f"{source}: {heading}"
        if len(lines) < n_problems:
            heading += f" of {len(lines):,} kinds"
        if len(lines) > MAX_PROBLEMS_SHOWN:
            heading += f" (first {MAX_PROBLEMS_SHOWN} shown)"
        return escape("\n".join([f"{heading}:", *lines[:MAX_PROBLEMS_SHOWN]]))


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


def describe_excess(size: int, unit: str = "bytes") -> str | None:
    """Say that a file is too large; None if it is not."""
    if size <= limits.MAX_FILE_BYTES:
        return None
    return f"is too large: {size:,} {unit} (limit: {limits.MAX_FILE_BYTES:,})"


def blame_submission(error: InputError) -> SubmissionError:
    """Return an error of reading a system's output as such."""
    if isinstance(error, MissingFileError):
        return error
    return SubmissionError(error.source, error.problems)


Error = TypeVar("Error", bound=InputError)
Source = TypeVar("Source")
Content = TypeVar("Content")


def merge_errors(errors: Sequence[Error]) -> Error:
    """Return one error with the problems of several files or folders."""
    if len(errors) == 1:
        return errors[0]
    try:
        folder = os.path.commonpath([error.source for error in errors])
    except ValueError:  # absolute and relative paths, or several drives
        folder = ""
    problems = []
    for error in errors:
        path = Path(os.path.relpath(error.source, folder) if folder else error.source)
        for problem in error.problems:
            file = (path / (problem.file or "")).as_posix()
            problems.append(problem._replace(file=file))
    return type(errors[0])(folder, problems)


class CombinedError(InputError):
    """Bad input in several files, each with its own problems; equal errors are reported once."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple({str(error): error for error in errors}.values())
        problems: list[Problem] = []
        for error in self.errors:
            problems += error.problems
        super().__init__("", problems)

    def _message(self) -> str:
        return "\n".join(map(str, self.errors))


def raise_all(errors: Iterable[InputError]) -> None:
    """Raise all errors at once, as a `CombinedError` if there are several; do nothing if there are none."""
    errors = list(errors)
    if errors:
        raise errors[0] if len(errors) == 1 else CombinedError(errors)


def read_all(sources: Iterable[Source], read: Callable[[Source], Content]) -> list[Content]:
    """Read several files, or objects, and raise the problems of all of them at once."""
    contents = []
    errors = []
    for source in sources:
        try:
            contents.append(read(source))
        except InputError as error:
            errors.append(error)
    raise_all(errors)
    return contents


class MissingExtraError(ImportError):
    """A missing library that this package does not install by default, and the extra that installs it, if one does.

    >>> print(MissingExtraError("a figure", "matplotlib", extra="plot"))
    a figure needs matplotlib: pip install 'closeread[plot]'
    """

    def __init__(self, purpose: str, *libraries: str, extra: str = "") -> None:
        packages = f"'closeread[{extra}]'" if extra else " ".join(libraries)
        super().__init__(f"{purpose} needs {' and '.join(libraries)}: pip install {packages}")


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
    escaped = ""
    for character in text:
        is_safe = character.isprintable() or character == "\n"
        escaped += character if is_safe else repr(character)[1:-1]
    return escaped


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
    return _join_first([quote(name) for name in names[: MAX_NAMES_SHOWN + 1]])


def join_all(names: Iterable[str]) -> str:
    """Join all names as a sentence has them: "A", "A and B", or "A, B and C"."""
    *earlier, last = names
    return f"{', '.join(earlier)} and {last}" if earlier else last


# Options: `--missing empty` on the command line, `missing='empty'` in Python.

_is_command_line: ContextVar[bool] = ContextVar("is_command_line", default=False)
"""Code that finds a problem does not know its caller, and other threads and tasks may have other callers."""

_advised: ContextVar[Container[str] | None] = ContextVar("advised", default=None)
"""The options of the command, or the function, that was called; None for any."""

SWAPPED = " (or are key and response swapped? The key comes first)"
"""What follows if the response has all documents of the key, and more."""

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

# the most characters of an unknown name that are compared, which takes time that grows with their square
_MAX_COMPARED = 100
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
    noun: str, name: str, names: Sequence[str], aliases: Aliases | None = None
) -> str:
    """Return the message for an unknown name, with the most similar known one."""
    name = str(name)  # in Python it may be anything
    message = f"no such {noun}: '{escape_line(name)}'"
    if guess := suggest(name, names, aliases):
        message += f".{guess}"
    return f"{message} (choose from: {', '.join(names) or 'none'})"


def suggest(name: str, names: Sequence[str], aliases: Aliases | None = None) -> str:
    """Return a question whether a known name was meant, after a space; empty if none is similar.

    Several known names in one are to be separated as the command line, or Python, does it.

    >>> suggest("B-Cubed/F1", ["b3", "lea"], {"bcubed": "b3"})
    " Did you mean 'b3'?"
    >>> suggest("b3 lea", ["b3", "lea"])
    " Give a list: ['b3', 'lea']"
    """
    parts = re.split(r"[\s,;]+", name.strip()) if len(name) <= _MAX_COMPARED else []
    if len(parts) > 1 and all(part in names for part in parts):
        by_commas = f" Separate several by commas: {','.join(parts)}"
        return choose_words(by_commas, f" Give a list: {parts}")
    near = find_similar(name, names, aliases)
    return f" Did you mean '{near}'?" if near is not None else ""


def describe_choice(value: object, choices: Sequence[str]) -> str:
    """Return the message for a value that is none of those that may be chosen.

    >>> describe_choice("micr", ["micro", "documents"])
    "'micr' is not one of 'micro', 'documents'; did you mean 'micro'?"
    """
    text = str(value)
    return f"{quote(text)} is not one of {', '.join(map(repr, choices))}{suggest_choice(text, choices)}"


def suggest_choice(value: str, choices: Sequence[str]) -> str:
    """Return a question whether one of some values was meant, after a semicolon; empty if none is similar."""
    near = find_similar(value, choices, _YES_AND_NO)
    return "" if near is None else f"; did you mean {quote(near)}?"


def find_similar(name: str, names: Sequence[str], aliases: Aliases | None = None) -> str | None:
    """Return the known name that was probably meant, whatever its case and punctuation; None if there is none."""
    from difflib import get_close_matches
    from unicodedata import normalize

    def fold(text: str) -> str:
        letters = [letter for letter in normalize("NFKC", text).lower() if letter.isalnum()]
        return "".join(letters)

    name = name[:_MAX_COMPARED]
    meant = {alias: target for alias, target in (aliases or {}).items() if target in names}
    meant |= dict(zip(names, names, strict=True))
    folded = {fold(spelling): target for spelling, target in meant.items()}
    # with the score after it, and without
    spellings = (name, _SCORE.sub("", name))
    for spelling in spellings:
        if fold(spelling) in folded:
            return folded[fold(spelling)]
    for spelling in spellings:
        if similar := get_close_matches(spelling, meant, 1, SIMILAR):
            return meant[similar[0]]
    return None


def suggest_id(name: str, absent: Sequence[str], unknown: Sequence[str]) -> str:
    """Return a question whether an unknown id means one without a prediction; digits must be the same.

    >>> suggest_id("bn/CNN_1", ["bn/cnn_1", "bn/cnn_2"], ["bn/CNN_1"])
    "; did you mean 'bn/cnn_1'?"
    """
    # comparing takes long
    if len(unknown) > MAX_PROBLEMS_SHOWN or len(absent) > limits.MAX_PROBLEMS:
        return ""
    digits = _digits(name)
    similar = find_similar(name, [other for other in absent if _digits(other) == digits])
    return f"; did you mean {quote(similar)}?" if similar is not None else ""


def _digits(name: str) -> str:
    return re.sub(r"\D", "", name)
