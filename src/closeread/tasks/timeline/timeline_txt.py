"""Timelines as released by the organisers of TimeLine: a folder with one text file per entity.

Source: Minard et al. (2015), section 3, and the readme of the official scorer.

Conventions: the first line is the entity, every other line an entry: ``position TAB anchor TAB mention``, followed by
further coreferent mentions.  A file, and the timeline's id, is named after its entity, in lower case with `_` for
spaces.  Trailing white space and blank lines are dropped, as in the official scorer; everything else is kept, and
oddities are reported (`closeread.tasks.timeline.timeline_mentions`).  The release contains one timeline twice, as
`s&p_500.txt` and `s_and_p_500.txt`: `&` in a name is read as `_and_`, and one of two equal files is ignored.  Corpora
have timelines of the same entities: for several corpora together, a submission has a folder for each, and the ids of
timelines begin with it, such as `corpus_2/general_motors`.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.files import creating_folder
from closeread.formats import Format, FormatFolder, SubmissionFolder
from closeread.formats.folders import find_hidden, list_files, list_folders
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Parsed, ParsedFolder, Record
from closeread.tasks.timeline.cat_xml import read_documents
from closeread.tasks.timeline.gold import Timelines, unite
from closeread.tasks.timeline.rules import oddities_given
from closeread.tasks.timeline.timeline_mentions import (
    Oddity,
    Texts,
    as_texts,
    describe_oddities,
    find_unwritable_ids,
    inspect_timeline,
    locate_mention,
    stem_of_id,
)

SUFFIX = ".txt"
LIST = "list_target_entities"  # the prefix of the name of a file that lists all entities

POSITION = re.compile("[0-9]{1,16}")
SOUND = re.compile(r"[0-9]{1,15}(?:\t[^\x00-\x1f\x7f-\x9f\ud800-\udfff]*){2,}")
"""Matches valid lines: a fast path, since nearly all lines are valid."""

MAX_POSITION = 2**53 - 1
WHITE_SPACE = " \t\r\v\f"


class Timeline(NamedTuple):
    """A timeline as read from a file."""

    record: Record  # the timeline, without entries that can't be read
    lines: list[int]  # the line of every entry
    problems: list[Problem]  # errors
    notices: list[Problem]  # oddities of its form


class Found(NamedTuple):
    """The timelines of several files."""

    timelines: dict[str, Timeline]  # by file
    problems: list[Problem]  # errors, with their files
    notices: list[Problem]  # oddities of their form, with their files


def read_files(files: Mapping[str, Path], split: str) -> ParsedFolder:
    """Read the timelines of a split and look up their mentions in its documents."""
    del split
    documents, problems, notices = read_documents(files)
    texts = as_texts(documents.values())
    lists = {name: path for name, path in files.items() if PurePosixPath(name).name.startswith(LIST)}
    found = _parse_files({name: path for name, path in files.items() if name.endswith(SUFFIX) and name not in lists})
    notices += _note_empty(found.timelines)
    for name, timeline in found.timelines.items():
        odd = [*inspect_timeline(timeline.record), *_add_spans(timeline.record, texts)]
        notices += _make_notices(odd if documents else inspect_timeline(timeline.record), timeline.lines, name)
    if not documents:
        notices.append(Problem("no documents found, so mentions are not looked up"))
    records = [timeline.record for timeline in found.timelines.values()]
    for name, path in lists.items():
        list_problems, list_notices = _check_list(name, path, records)
        problems += list_problems
        notices += list_notices
    problems += found.problems
    gold = Timelines(records, documents.values())
    return ParsedFolder(gold, list(found.timelines), problems, found.notices + notices)


def read_folder(path: Path) -> ParsedFolder:
    """Read the timelines of a folder that contains nothing else; hidden files are ignored."""
    files, problems = list_files(path, "timeline", SUFFIX)
    found = _parse_files(files)
    notices = found.notices + _note_empty(found.timelines) + find_hidden(path)
    for name, timeline in found.timelines.items():
        notices += _make_notices(inspect_timeline(timeline.record), timeline.lines, name)
    records = [timeline.record for timeline in found.timelines.values()]
    return ParsedFolder(records, list(found.timelines), problems + found.problems, notices)


def read_submission_folder(path: Path, gold: Sequence[Record]) -> ParsedFolder:
    """Read the timelines of a submission, with notices that depend on gold.

    If gold has several splits, the submission has a folder for each.
    """
    splits = list(dict.fromkeys(record["id"].rpartition("/")[0] for record in gold))
    found = _read_splits(path, splits) if any(splits) else _read_split(path)
    notices = list(found.notices)
    find_odd = oddities_given(gold)
    for name, timeline in found.timelines.items():
        notices += _make_notices(find_odd(timeline.record), timeline.lines, name)
    records = [timeline.record for timeline in found.timelines.values()]
    return ParsedFolder(records, list(found.timelines), found.problems, notices)


def _read_split(path: Path) -> Found:
    files, problems = list_files(path, "timeline", SUFFIX)
    found = _parse_files(files)
    return found._replace(problems=problems + found.problems, notices=found.notices + find_hidden(path))


def _read_splits(path: Path, splits: Sequence[str]) -> Found:
    """Read the timelines of a folder with a folder for each split; their ids begin with the split."""
    folders, problems = list_folders(path, splits)
    found = Found({}, problems, [])
    for split, folder in folders.items():
        try:
            own = _read_split(folder)
        except FormatError as error:
            found.problems.extend(_add_folder(split, error.problems))
            continue
        found.problems.extend(_add_folder(split, own.problems))
        found.notices.extend(_add_folder(split, own.notices))
        for name, one in own.timelines.items():
            record = {**one.record, "id": f"{split}/{one.record['id']}"}
            found.timelines[f"{split}/{name}"] = one._replace(record=record)
    return found


def _add_folder(folder: str, problems: Iterable[Problem]) -> Iterator[Problem]:
    for problem in problems:
        yield problem._replace(file=folder if problem.file is None else f"{folder}/{problem.file}")


def read_records(path: Path, split: str) -> Parsed:
    """Read the timeline of a single file."""
    del split
    timeline = parse_timeline(stem_of_id(path.stem), read_lines(path))
    return Parsed([timeline.record], [1], timeline.problems)


def parse_timeline(name: str, lines: Sequence[str]) -> Timeline:
    """Parse the lines of a timeline."""
    others = iter(lines)  # a list of strings would take many times the size of short lines
    entity = next(others)
    problems = ProblemList(Problem(what, 1) for what in _check_entity(entity))
    entries: list[Record] = []
    places: list[int] = []
    odd: dict[str, array[int]] = defaultdict(lambda: array("I"))  # the lines
    for number, line in enumerate(others, start=2):
        stripped = line.rstrip(WHITE_SPACE)
        if stripped != line or not stripped:
            what = "trailing white space ignored" if stripped else "blank line ignored"
            odd[what].append(number)
        if not stripped:
            continue
        cells = stripped.split("\t")
        wrong = () if SOUND.fullmatch(stripped) else [Problem(what, number) for what in _check_entry(cells)]
        problems += wrong
        if not wrong:
            entries.append({"position": int(cells[0]), "anchor": cells[1], "mentions": cells[2:]})
            places.append(number)
    record = {"id": name, "entity": entity.strip(WHITE_SPACE), "entries": entries}
    oddities = (Oddity(what, number, what) for what, numbers in odd.items() for number in numbers)
    return Timeline(record, places, problems, _make_notices(oddities, range(len(lines) + 1)))


def _check_entity(line: str) -> Iterator[str]:
    name = line.strip(WHITE_SPACE)
    if not name:
        yield "is blank (expected the name of the entity)"
    elif "\t" in name:
        yield f"is {quote(line)} (expected the name of the entity; entries start on the second line)"
    elif unsafe := UNSAFE.search(name):
        yield f"the entity {quote(line)} contains the control character U+{ord(unsafe[0]):04X}"


def _check_entry(cells: Sequence[str]) -> Iterator[str]:
    if len(cells) < 3:
        yield f"the number of columns is {len(cells)} (expected at least 3: position, anchor, mention, mention, …)"
    elif not POSITION.fullmatch(cells[0]) or int(cells[0]) > MAX_POSITION:
        yield f"the position is {quote(cells[0])} (expected a whole number from 0 to {MAX_POSITION})"
    if not UNSAFE.search("".join(cells)):
        return
    for cell in cells:
        if unsafe := UNSAFE.search(cell):
            yield f"{quote(cell)} contains the control character U+{ord(unsafe[0]):04X}"


def _parse_files(files: Mapping[str, Path]) -> Found:
    """Parse the timelines of files, each timeline once."""
    found = Found({}, ProblemList(), [])
    first: dict[str, str] = {}
    # Names without `&` come first, so that they are kept if two files are equal.
    for name in sorted(files, key=lambda name: ("&" in name, name)):
        try:
            timeline = parse_timeline(stem_of_id(PurePosixPath(name).stem), read_lines(files[name]))
        except FormatError as error:
            found.problems.extend(problem._replace(file=name) for problem in error.problems)
            continue
        found.problems.extend(problem._replace(file=name) for problem in timeline.problems)
        found.notices.extend(notice._replace(file=name) for notice in timeline.notices)
        if any(problem.line == 1 for problem in timeline.problems):
            continue  # without an entity
        twin = first.setdefault(timeline.record["id"], name)
        if twin == name:
            found.timelines[name] = timeline
        elif found.timelines[twin].record == timeline.record:
            found.notices.append(Problem(f"ignored, since it is identical to {twin}", 1, name))
        else:
            what = f"differs from {twin}, which has the same id (expected only one of them, or identical files)"
            found.problems.append(Problem(what, 1, name))
    return found


def _note_empty(timelines: Mapping[str, Timeline]) -> list[Problem]:
    """Return notices about gold timelines without entries."""
    what = "has no entries, and is not scored"
    return [Problem(what, 1, name) for name, one in timelines.items() if not one.record["entries"]]


def _make_notices(odd: Iterable[Oddity], lines: Sequence[int], name: str | None = None) -> list[Problem]:
    """Return oddities as notices; those of a whole file refer to its first line."""
    return [Problem(what, line or 1, name) for line, what in describe_oddities(odd, lines)]


def _add_spans(record: Record, texts: Texts) -> Iterator[Oddity]:
    """Add the spans of their mentions to the entries of a timeline, and yield the oddities of mentions."""
    for number, entry in enumerate(record["entries"]):
        entry["spans"] = []
        for mention in entry["mentions"]:
            span, oddity = locate_mention(mention, texts)
            entry["spans"].append(span)
            if oddity is not None:
                yield oddity._replace(entry=number)


def read_entities(path: Path) -> dict[str, int]:
    """Read a list of entities, one per line, each with its line number; blank lines are ignored."""
    lines = enumerate(read_lines(path), start=1)
    return {line.strip(WHITE_SPACE): number for number, line in lines if line.strip(WHITE_SPACE)}


def _check_list(name: str, path: Path, records: Iterable[Record]) -> tuple[list[Problem], list[Problem]]:
    """Return the errors in a list of entities, and notices about entities without a timeline."""
    try:
        entities = read_entities(path)
    except FormatError as error:
        return [problem._replace(file=name) for problem in error.problems], []
    known = {record["entity"] for record in records}
    return [], [
        Problem(f"there is no timeline of the entity {quote(entity)}", line, name)
        for entity, line in entities.items()
        if entity not in known
    ]


def dump_timeline(record: Record) -> str:
    """Return a timeline as the text of a file, without spans."""
    lines = [record["entity"]]
    for entry in record["entries"]:
        cells = [str(entry["position"]), entry["anchor"], *entry["mentions"]]
        lines.append("\t".join(cells))
        if lines[-1].rstrip(WHITE_SPACE) != lines[-1] or any(map(UNSAFE.search, cells)):
            raise ValueError(f"{quote(record['id'])}: this format can't represent the entry {quote(lines[-1])}")
    entity = record["entity"]
    if any(_check_entity(entity)) or entity != entity.strip(WHITE_SPACE):
        raise ValueError(f"{quote(record['id'])}: this format can't represent the entity {quote(entity)}")
    # Readers drop one byte-order mark, so an entity that starts with one needs a second one in front.
    mark = "\ufeff" if entity.startswith("\ufeff") else ""
    return mark + "".join(line + "\n" for line in lines)


def write_folder(records: Iterable[Record], folder: Path) -> None:
    """Write timelines to a folder, one file each, below a folder for each split if ids begin with their splits.

    The folder appears with all its files or not at all.
    """
    texts: dict[str, str] = {}
    problems: list[Problem] = ProblemList()
    for record in records:
        if record["id"] in texts:
            problems.append(Problem(f"duplicate id {quote(record['id'])}"))
        texts[record["id"]] = ""
        try:
            texts[record["id"]] = dump_timeline(record)
        except ValueError as error:
            problems.append(Problem(str(error)))
    problems += find_unwritable_ids(list(texts), SUFFIX)
    if problems:
        raise FormatError(folder, problems)
    with creating_folder(folder) as made:
        for name, text in texts.items():
            file = made / f"{name}{SUFFIX}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8", newline="")


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder), unite=unite)
SUBMISSION = SubmissionFolder(read_submission_folder, write_folder)
