"""Timelines as released by the organisers of TimeLine: a folder with one text file per entity.

Source: Minard et al. (2015), section 3, and the readme of the official scorer.

Conventions: the first line is the entity, every other line an entry: ``position TAB anchor TAB mention``, followed by
further coreferent mentions.  A file, and the timeline's id, is named after its entity, in lower case with `_` for
spaces.  Trailing white space and blank lines are dropped, as in the official scorer; everything else is kept, and
oddities are reported (`closeread.tasks.timeline.rules`).  The release contains one timeline twice, as
`s&p_500.txt` and `s_and_p_500.txt`: `&` in a name is read as `_and_`, and one of two equal files is ignored.  Corpora
have timelines of the same entities: for several corpora together, a submission has a folder for each, and the ids of
timelines begin with it, such as `corpus_2/general_motors`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread import limits
from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.files import creating_folder
from closeread.formats import Format, FormatFolder, SubmissionFolder
from closeread.formats.folders import find_unwritable, list_files, list_folders
from closeread.formats.text import describe_unsafe, read_lines
from closeread.records import Parsed, Record
from closeread.tasks.timeline.cat_xml import read_documents, read_each
from closeread.tasks.timeline.rules import describe_oddities, inspect_timeline, oddities_given
from closeread.tasks.timeline.timeline_mentions import (
    Oddity,
    Timelines,
    as_texts,
    locate_mention,
    merge_splits,
    stem_of_id,
)

SUFFIX = ".txt"
LIST_PREFIX = "list_target_entities"
"""How the name of a file that lists all entities begins."""

POSITION = re.compile("[0-9]{1,16}")
MAX_POSITION = 2**53 - 1
WHITE_SPACE = " \t\r\v\f"


class Timeline(NamedTuple):
    """A timeline as read from a file.

    Attributes:
        record: the timeline, without entries that can't be read.
        lines: the line of every entry.
        problems: errors.
        notices: what of its form is ignored.
    """

    record: Record
    lines: list[int]
    problems: list[Problem]
    notices: list[Problem]


class TimelineFiles(NamedTuple):
    """The timelines of several files, by file, their errors, and what of their form is ignored."""

    timelines: dict[str, Timeline]
    problems: list[Problem]
    notices: list[Problem]

    def finish(
        self, find_odd: Callable[[Record], Iterable[Oddity]], notices: Iterable[Problem] = ()
    ) -> Parsed:
        """Return the timelines as a parsed file, with further notices."""
        oddities = []
        for file, timeline in self.timelines.items():
            oddities += _make_notices(find_odd(timeline.record), timeline.lines, file)
        records = [timeline.record for timeline in self.timelines.values()]
        notices = [*self.notices, *notices]
        return Parsed(records, list(self.timelines), self.problems, notices, oddities=oddities)


def read_files(files: Mapping[str, Path], split: str) -> Parsed:
    """Read the timelines of a split and look up their mentions in its documents."""
    del split
    documents, problems, oddities = read_documents(files)
    texts = as_texts(documents.values())
    lists = {}
    timeline_files = {}
    for file, path in files.items():
        if PurePosixPath(file).name.startswith(LIST_PREFIX):
            lists[file] = path
        elif file.endswith(SUFFIX):
            timeline_files[file] = path
    released = _parse_files(timeline_files)

    def find_odd(record: Record) -> Iterator[Oddity]:
        yield from inspect_timeline(record)
        for number, entry in enumerate(record["entries"]):
            entry["spans"] = []
            for mention in entry["mentions"]:
                span, oddity = locate_mention(mention, number, texts)
                entry["spans"].append(span)
                if documents and oddity is not None:
                    yield oddity

    entities = {timeline.record["entity"] for timeline in released.timelines.values()}
    lines_of_lists, list_problems = read_each(lists, "", read_entities)
    for file, lines in lines_of_lists.items():
        for entity, line in lines.items():
            if entity not in entities:
                message = f"there is no timeline of the entity {quote(entity)}"
                oddities.append(Problem(message, line, file))
    notices = _note_empty(released)
    if not documents:
        notices.append(Problem("no documents found, so mentions are not looked up"))
    parsed = released.finish(find_odd, notices)
    return parsed._replace(
        records=Timelines(parsed.records, documents.values()),
        problems=problems + list_problems + released.problems,
        oddities=[*oddities, *parsed.oddities],
    )


def read_folder(path: Path) -> Parsed:
    """Read the timelines of a folder that contains nothing else; hidden files are ignored."""
    released = _read_split(path)
    return released.finish(inspect_timeline, _note_empty(released))


def read_submission_folder(path: Path, gold: Sequence[Record]) -> Parsed:
    """Read the timelines of a submission, with notices that depend on gold.

    If gold has several splits, the submission has a folder for each.
    """
    splits = list(dict.fromkeys(record["id"].rpartition("/")[0] for record in gold))
    submitted = _read_splits(path, splits) if any(splits) else _read_split(path)
    return submitted.finish(oddities_given(gold))


def _read_split(path: Path) -> TimelineFiles:
    files, problems, notices = list_files(path, "timeline", SUFFIX)
    timelines, file_problems, file_notices = _parse_files(files)
    notices = [*file_notices, *notices]
    return TimelineFiles(timelines, problems + file_problems, notices)


def _read_splits(path: Path, splits: Sequence[str]) -> TimelineFiles:
    """Read the timelines of a folder with a folder for each split; their ids begin with the split."""
    folders, problems = list_folders(path, splits)
    timelines = {}
    notices: list[Problem] = []
    for split, folder in folders.items():
        try:
            in_split = _read_split(folder)
        except FormatError as error:
            problems += _prefix_files(error.problems, split)
            continue
        problems += _prefix_files(in_split.problems, split)
        notices += _prefix_files(in_split.notices, split)
        for file, timeline in in_split.timelines.items():
            record = {**timeline.record, "id": f"{split}/{timeline.record['id']}"}
            timelines[f"{split}/{file}"] = timeline._replace(record=record)
    return TimelineFiles(timelines, problems, notices)


def _prefix_files(problems: Iterable[Problem], split: str) -> Iterator[Problem]:
    """Put the folder of a split before the files of problems; problems of the folder refer to it."""
    for problem in problems:
        file = split if problem.file is None else f"{split}/{problem.file}"
        yield problem._replace(file=file)


def read_records(path: Path, split: str) -> Parsed:
    """Read the timeline of a single file."""
    del split
    timeline = _read_timeline(path)
    return Parsed([timeline.record], [1], timeline.problems)


def _read_timeline(path: Path) -> Timeline:
    return parse_timeline(stem_of_id(path.stem), read_lines(path))


def parse_timeline(name: str, lines: Sequence[str]) -> Timeline:
    """Parse the lines of a timeline."""
    problems = ProblemList(Problem(message, 1) for message in _check_entity(lines[0]))
    entries: list[Record] = []
    entry_lines: list[int] = []
    for number, line in enumerate(islice(lines, 1, None), start=2):
        stripped = line.rstrip(WHITE_SPACE)
        if not stripped:
            continue
        cells = stripped.split("\t")
        messages = list(_check_entry(cells))
        for message in messages:
            problems.add(message, number)
        if not messages:
            position, anchor, *mentions = cells
            entries.append({"position": int(position), "anchor": anchor, "mentions": mentions})
            entry_lines.append(number)
    record = {"id": name, "entity": lines[0].strip(WHITE_SPACE), "entries": entries}
    notices = _make_notices(_find_white_space(lines), range(1, len(lines) + 1))
    return Timeline(record, entry_lines, problems, notices)


def _find_white_space(lines: Sequence[str]) -> Iterator[Oddity]:
    """Find the white space below the first line that is ignored."""
    for number, line in enumerate(islice(lines, 1, None), start=1):
        stripped = line.rstrip(WHITE_SPACE)
        if line and stripped == line:
            continue
        message = "trailing white space ignored" if stripped else "blank line ignored"
        yield Oddity(message, number, message)


def _check_entity(line: str) -> Iterator[str]:
    name = line.strip(WHITE_SPACE)
    reason = describe_unsafe(name)
    if not name:
        yield "is blank (expected the name of the entity)"
    elif "\t" in name:
        yield f"is {quote(line)} (expected the name of the entity; entries start on the second line)"
    elif reason:
        yield f"the entity {reason}"


def _check_entry(cells: Sequence[str]) -> Iterator[str]:
    if len(cells) < 3:
        yield f"the number of columns is {len(cells)} (expected at least 3: position, anchor, mention, mention, …)"
    elif not POSITION.fullmatch(cells[0]) or int(cells[0]) > MAX_POSITION:
        yield f"the position is {quote(cells[0])} (expected a whole number from 0 to {MAX_POSITION})"
    yield from filter(None, map(describe_unsafe, cells))


def _parse_files(files: Mapping[str, Path]) -> TimelineFiles:
    """Parse the timelines of files, each timeline once."""
    contents, problems = read_each(files, SUFFIX, _read_timeline)
    timelines: dict[str, Timeline] = {}
    notices: list[Problem] = []
    file_of_id: dict[str, str] = {}
    # Names without `&` come first, so that they are kept if two files are equal.
    for file in sorted(contents, key=lambda file: ("&" in file, file)):
        timeline = contents[file]
        problems += [problem._replace(file=file) for problem in timeline.problems]
        notices += [notice._replace(file=file) for notice in timeline.notices]
        if any(problem.line == 1 for problem in timeline.problems):
            # It has no entity.
            continue
        first_file = file_of_id.setdefault(timeline.record["id"], file)
        if first_file == file:
            timelines[file] = timeline
        elif timelines[first_file].record == timeline.record:
            notices.append(Problem(f"ignored, since it is identical to {first_file}", 1, file))
        else:
            expected = "expected only one of them, or identical files"
            message = f"differs from {first_file}, which has the same id ({expected})"
            problems.append(Problem(message, 1, file))
    return TimelineFiles(timelines, problems, notices)


def _note_empty(released: TimelineFiles) -> list[Problem]:
    """Return notices about gold timelines without entries."""
    return [
        Problem("has no entries, and is not scored", 1, file)
        for file, timeline in released.timelines.items()
        if not timeline.record["entries"]
    ]


def _make_notices(
    oddities: Iterable[Oddity], lines: Sequence[int], file: str | None = None
) -> list[Problem]:
    """Return oddities as notices; those of a whole file refer to its first line."""
    return [
        Problem(message, line or 1, file) for line, message in describe_oddities(oddities, lines)
    ]


def read_entities(path: Path) -> dict[str, int]:
    """Read a list of entities, one per line, each with its line number; blank lines are ignored."""
    entities = {}
    for number, line in enumerate(read_lines(path), start=1):
        entity = line.strip(WHITE_SPACE)
        if entity:
            entities[entity] = number
    return entities


# Writing


def dump_timeline(record: Record) -> str:
    """Return a timeline as the text of a file, without spans."""
    name = quote(record["id"])
    entity = record["entity"]
    lines = [entity]
    for entry in record["entries"]:
        cells = [str(entry["position"]), entry["anchor"], *entry["mentions"]]
        line = "\t".join(cells)
        if line.rstrip(WHITE_SPACE) != line or any(map(describe_unsafe, cells)):
            raise ValueError(f"{name}: this format can't represent the entry {quote(line)}")
        lines.append(line)
    if any(_check_entity(entity)) or entity != entity.strip(WHITE_SPACE):
        raise ValueError(f"{name}: this format can't represent the entity {quote(entity)}")
    # Readers drop one byte-order mark, so an entity that starts with one needs a second one in front.
    mark = "\ufeff" if entity.startswith("\ufeff") else ""
    return mark + "".join(f"{line}\n" for line in lines)


def write_folder(records: Iterable[Record], folder: Path) -> None:
    """Write timelines to a folder, one file each, below a folder for each split if ids begin with their splits.

    The folder appears with all its files or not at all.
    """
    texts: dict[str, str] = {}
    problems = ProblemList()
    for record in records:
        name = record["id"]
        if name in texts:
            problems.append(Problem(f"duplicate id {quote(name)}"))
        texts[name] = ""
        try:
            texts[name] = dump_timeline(record)
        except ValueError as error:
            problems.append(Problem(str(error)))
    problems += _find_unwritable_ids(list(texts))
    if problems:
        raise FormatError(folder, problems)
    with creating_folder(folder) as new_folder:
        for name, text in texts.items():
            file = new_folder / f"{name}{SUFFIX}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8", newline="")


def _find_unwritable_ids(ids: Sequence[str]) -> Iterator[Problem]:
    """Yield the reasons why a folder of timelines with these ids can't be written and read again."""
    if not ids:
        yield Problem("there are no timelines (expected at least one)")
    # the names of the files in each folder of a split, or in the folder itself
    names_by_split: dict[str, list[str]] = defaultdict(list)
    for name in ids:
        split, slash, stem = name.rpartition("/")
        names_by_split[split + slash].append(stem)
    yield from find_unwritable([split[:-1] for split in names_by_split if split])
    for names in names_by_split.values():
        if len(names) > limits.MAX_FILES:
            limit = limits.MAX_FILES
            yield Problem(f"there are {len(names):,} timelines (limit of a folder: {limit:,})")
        yield from find_unwritable(names, SUFFIX)
        for name in names:
            stem = stem_of_id(name)
            if stem != name:
                yield Problem(f"{quote(name)} would be read again as {quote(stem)}")


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder), unite=merge_splits)
SUBMISSION = SubmissionFolder(read_submission_folder, write_folder)
