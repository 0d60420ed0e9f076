"""Timelines as the organisers of TimeLine released them: a text file an entity, all in one folder.

Source: Minard et al. (2015), section 3, and the readme of the organisers' tool.

Conventions: the first line is the entity, every other one an entry: ``position TAB anchor TAB mention``, and more
mentions where they corefer.  A file is named after its entity, in lower case and with `_` for blanks, and so is the
timeline's id.  White space at the end of a line and blank lines are dropped, as in the organisers' tool; everything
else stays as it is written, and what is odd about it is told (`closeread.tasks.timeline.timeline_mentions`).  The
release has one timeline twice, as `s&p_500.txt` and `s_and_p_500.txt`: names with `&` are read as those with `_and_`,
and one of two equal files is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread.errors import FormatError, Problem, quote
from closeread.files import write_text
from closeread.formats import Format, FormatFolder, SubmissionFolder
from closeread.formats.folders import list_files
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed, ParsedFolder, Record
from closeread.tasks.timeline.cat_xml import read_documents
from closeread.tasks.timeline.gold import Timelines
from closeread.tasks.timeline.rules import oddities_given
from closeread.tasks.timeline.timeline_mentions import Oddity, Texts, as_texts, oddities, resolved, stem_of_id, told

SUFFIX = ".txt"
LIST = "list_target_entities"
"""What the name of a file with the names of all entities begins with."""

POSITION = re.compile("[0-9]{1,16}")
SOUND = re.compile(r"[0-9]{1,15}(?:\t[^\x00-\x1f\x7f-\x9f\ud800-\udfff]*){2,}")
"""A line with which nothing is wrong, as nearly all are: the quick way to see it."""

MAX_POSITION = 2**53 - 1
WHITE_SPACE = " \t\r\v\f"


class Timeline(NamedTuple):
    """A timeline as it was read.

    Attributes:
        record: the timeline, as far as it could be read.
        lines: the line of every entry.
        problems: what could not be read.
        notices: what is odd about how it is written.
    """

    record: Record
    lines: list[int]
    problems: list[Problem]
    notices: list[Problem]


class Found(NamedTuple):
    """The timelines of several files.

    Attributes:
        timelines: by file.
        problems: what could not be read, with its file.
        notices: what is odd about how they are written, with its file.
    """

    timelines: dict[str, Timeline]
    problems: list[Problem]
    notices: list[Problem]


def read_files(files: Mapping[str, Path], split: str) -> ParsedFolder:
    """The timelines of a split, their mentions looked up in its documents.

    Args:
        files: by their path below their folder, text files of timelines, XML files of documents, and a list of the
            entities, where there is one.
        split: of no use here, since timelines are named after their files.
    """
    del split
    documents, problems, notices = read_documents(files)
    texts = as_texts(documents.values())
    lists = {name: path for name, path in files.items() if PurePosixPath(name).name.startswith(LIST)}
    found = _timelines({name: path for name, path in files.items() if name.endswith(SUFFIX) and name not in lists})
    notices += _empty(found.timelines)
    for name, timeline in found.timelines.items():
        odd = [*oddities(timeline.record), *_resolve(timeline.record, texts)]
        notices += _told(odd if documents else oddities(timeline.record), timeline.lines, name)
    if not documents:
        notices.append(Problem("there are no documents, in which mentions could be found"))
    records = [timeline.record for timeline in found.timelines.values()]
    for name, path in lists.items():
        list_problems, list_notices = _against_list(name, path, records)
        problems += list_problems
        notices += list_notices
    problems += found.problems
    gold = Timelines(records, documents.values())
    return ParsedFolder(gold, list(found.timelines), problems, found.notices + notices)


def read_folder(path: Path) -> ParsedFolder:
    """The timelines of a folder that holds nothing else; hidden files are other programs' own.

    Raises:
        FormatError: there is none, or the folder can't be read.
    """
    files, problems = list_files(path, "timeline", SUFFIX)
    found = _timelines(files)
    notices = found.notices + _empty(found.timelines)
    for name, timeline in found.timelines.items():
        notices += _told(oddities(timeline.record), timeline.lines, name)
    records = [timeline.record for timeline in found.timelines.values()]
    return ParsedFolder(records, list(found.timelines), problems + found.problems, notices)


def read_submission_folder(path: Path, gold: Sequence[Record]) -> ParsedFolder:
    """The timelines that a system sends, and what is odd about them given the gold ones.

    Raises:
        FormatError: there is none, or the folder can't be read.
    """
    files, problems = list_files(path, "timeline", SUFFIX)
    found = _timelines(files)
    notices = list(found.notices)
    find_odd = oddities_given(gold)
    for name, timeline in found.timelines.items():
        notices += _told(find_odd(timeline.record), timeline.lines, name)
    records = [timeline.record for timeline in found.timelines.values()]
    return ParsedFolder(records, list(found.timelines), problems + found.problems, notices)


def read_records(path: Path, split: str) -> Parsed:
    """The timeline of a single file.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    del split
    timeline = parse_timeline(stem_of_id(path.stem), read_lines(path))
    return Parsed([timeline.record], [1], timeline.problems)


def parse_timeline(name: str, lines: Sequence[str]) -> Timeline:
    """The timeline of a file's lines, all that can't be read, and what is odd about how it is written.

    Args:
        name: the timeline's id.
        lines: the lines.
    """
    entity, *others = lines
    problems = [Problem(what, 1) for what in _wrong_with_entity(entity)]
    entries: list[Record] = []
    places: list[int] = []
    odd: list[Oddity] = []
    for number, line in enumerate(others, start=2):
        stripped = line.rstrip(WHITE_SPACE)
        if stripped != line or not stripped:
            what = "ends in white space, which is dropped" if stripped else "is blank"
            odd.append(Oddity(what, number, what))
        if not stripped:
            continue
        cells = stripped.split("\t")
        wrong = () if SOUND.fullmatch(stripped) else [Problem(what, number) for what in _wrong_with_entry(cells)]
        problems += wrong
        if not wrong:
            entries.append({"position": int(cells[0]), "anchor": cells[1], "mentions": cells[2:]})
            places.append(number)
    record = {"id": name, "entity": entity.strip(WHITE_SPACE), "entries": entries}
    return Timeline(record, places, problems, _told(odd, range(len(lines) + 1)))


def _wrong_with_entity(line: str) -> Iterator[str]:
    name = line.strip(WHITE_SPACE)
    if not name:
        yield "is blank; needed: the name of the entity"
    elif "\t" in name:
        yield f"is {quote(line)}; needed: the name of the entity, and entries from the second line on"
    elif unsafe := UNSAFE.search(name):
        yield f"the entity {quote(line)} holds the control character U+{ord(unsafe[0]):04X}"


def _wrong_with_entry(cells: Sequence[str]) -> Iterator[str]:
    if len(cells) < 3:
        yield f"the number of columns is {len(cells)}; needed: 3 or more (position, anchor, mention, mention, …)"
    elif not POSITION.fullmatch(cells[0]) or int(cells[0]) > MAX_POSITION:
        yield f"the position is {quote(cells[0])}; needed: a whole number from 0 to {MAX_POSITION}"
    if not UNSAFE.search("".join(cells)):
        return
    for cell in cells:
        if unsafe := UNSAFE.search(cell):
            yield f"{quote(cell)} holds the control character U+{ord(unsafe[0]):04X}"


def _timelines(files: Mapping[str, Path]) -> Found:
    """The timelines of files, each once."""
    found = Found({}, [], [])
    first: dict[str, str] = {}
    # Names without `&` come first, since of two equal files that one is kept.
    for name in sorted(files, key=lambda name: ("&" in name, name)):
        try:
            timeline = parse_timeline(stem_of_id(PurePosixPath(name).stem), read_lines(files[name]))
        except FormatError as error:
            found.problems.extend(problem._replace(file=name) for problem in error.problems)
            continue
        found.problems.extend(problem._replace(file=name) for problem in timeline.problems)
        found.notices.extend(notice._replace(file=name) for notice in timeline.notices)
        if any(problem.line == 1 for problem in timeline.problems):
            continue  # of no entity
        twin = first.setdefault(timeline.record["id"], name)
        if twin == name:
            found.timelines[name] = timeline
        elif found.timelines[twin].record == timeline.record:
            found.notices.append(Problem(f"is the same timeline as {twin}, under whose name it is kept", 1, name))
        else:
            needed = "needed: one of the two, or the same in both"
            found.problems.append(Problem(f"is not the timeline of {twin}, which is the same name; {needed}", 1, name))
    return found


def _empty(timelines: Mapping[str, Timeline]) -> list[Problem]:
    """The gold timelines without an entry, as notices."""
    what = "has no entry after the entity, and is not scored"
    return [Problem(what, 1, name) for name, one in timelines.items() if not one.record["entries"]]


def _told(odd: Iterable[Oddity], lines: Sequence[int], name: str | None = None) -> list[Problem]:
    """Oddities as notices; one of a file as a whole is told of its first line."""
    return [Problem(what, line or 1, name) for line, what in told(odd, lines)]


def _resolve(record: Record, texts: Texts) -> Iterator[Oddity]:
    """Give the entries of a timeline the spans of their mentions; yields what is odd about these."""
    for number, entry in enumerate(record["entries"]):
        entry["spans"] = []
        for mention in entry["mentions"]:
            span, oddity = resolved(mention, texts)
            entry["spans"].append(span)
            if oddity is not None:
                yield oddity._replace(entry=number)


def read_entities(path: Path) -> dict[str, int]:
    """The names in a list of entities, one a line, each with its line; blank lines are dropped.

    Raises:
        FormatError: the file can't be read as text (see `closeread.formats.text`).
    """
    lines = enumerate(read_lines(path), start=1)
    return {line.strip(WHITE_SPACE): number for number, line in lines if line.strip(WHITE_SPACE)}


def _against_list(name: str, path: Path, records: Iterable[Record]) -> tuple[list[Problem], list[Problem]]:
    """What can't be read of a list of entities, and those of it of which there is no timeline."""
    try:
        entities = read_entities(path)
    except FormatError as error:
        return [problem._replace(file=name) for problem in error.problems], []
    known = {record["entity"] for record in records}
    return [], [
        Problem(f"no timeline is about an entity of the name {quote(entity)}", line, name)
        for entity, line in entities.items()
        if entity not in known
    ]


def dump_timeline(record: Record) -> str:
    """The timeline as the text of a file; spans are dropped.

    Raises:
        ValueError: the format can't express it: a text holds a tab, a line end or another control character, or white
            space at an end where it would be dropped.
    """
    lines = [record["entity"]]
    for entry in record["entries"]:
        cells = [str(entry["position"]), entry["anchor"], *entry["mentions"]]
        lines.append("\t".join(cells))
        if lines[-1].rstrip(WHITE_SPACE) != lines[-1] or any(map(UNSAFE.search, cells)):
            raise ValueError(f"{quote(record['id'])}: this format can't express the entry {quote(lines[-1])}")
    entity = record["entity"]
    if any(_wrong_with_entity(entity)) or entity != entity.strip(WHITE_SPACE):
        raise ValueError(f"{quote(record['id'])}: this format can't express the entity {quote(entity)}")
    # Readers drop one byte-order mark: an entity of its own that begins with one needs another in front.
    mark = "\ufeff" if entity.startswith("\ufeff") else ""
    return mark + "".join(line + "\n" for line in lines)


def write_folder(records: Iterable[Record], folder: Path) -> None:
    """Write timelines into a folder, a file each.

    Raises:
        OSError: the folder can't be written to.
        ValueError: the format can't express a timeline, or its id is no name of a file.
    """
    texts = {record["id"]: dump_timeline(record) for record in records}
    for name in texts:
        if not name or name != PurePosixPath(name).name or name[0] == "." or "\\" in name or UNSAFE.search(name):
            raise ValueError(f"id {quote(name)} is no name of a file")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(folder / f"{name}{SUFFIX}", text)


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder))
SUBMISSION = SubmissionFolder(read_submission_folder, write_folder)
