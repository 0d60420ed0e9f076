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
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from closeread import limits
from closeread.exceptions import FormatError, Problem, ProblemList, quote
from closeread.files import creating_folder
from closeread.formats import Format, FormatFolder, SubmissionFolder
from closeread.formats.folders import find_hidden, find_unwritable, list_files, list_folders
from closeread.formats.text import describe_unsafe, read_lines
from closeread.records import Parsed, Record
from closeread.tasks.timeline.cat_xml import read_documents, read_each
from closeread.tasks.timeline.rules import describe_oddities, inspect_timeline, oddities_given
from closeread.tasks.timeline.timeline_mentions import (
    Oddity,
    Timelines,
    as_texts,
    locate_mention,
    stem_of_id,
    unite,
)

SUFFIX = ".txt"
LIST = "list_target_entities"  # the prefix of the name of a file that lists all entities

POSITION = re.compile("[0-9]{1,16}")
MAX_POSITION = 2**53 - 1
WHITE_SPACE = " \t\r\v\f"


class Timeline(NamedTuple):
    """A timeline as read from a file."""

    record: Record  # the timeline, without entries that can't be read
    lines: list[int]  # the line of every entry
    problems: list[Problem]  # errors
    notices: list[Problem]  # what of its form is ignored


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
        for name, timeline in self.timelines.items():
            oddities += _make_notices(find_odd(timeline.record), timeline.lines, name)
        records = [timeline.record for timeline in self.timelines.values()]
        notices = [*self.notices, *notices]
        return Parsed(records, list(self.timelines), self.problems, notices, oddities=oddities)


def read_files(files: Mapping[str, Path], split: str) -> Parsed:
    """Read the timelines of a split and look up their mentions in its documents."""
    del split
    documents, problems, oddities = read_documents(files)
    texts = as_texts(documents.values())
    lists = {
        name: path for name, path in files.items() if PurePosixPath(name).name.startswith(LIST)
    }
    released = _parse_files(
        {name: path for name, path in files.items() if name.endswith(SUFFIX) and name not in lists}
    )

    def find_odd(record: Record) -> Iterator[Oddity]:
        yield from inspect_timeline(record)
        for number, entry in enumerate(record["entries"]):
            located = [locate_mention(mention, number, texts) for mention in entry["mentions"]]
            entry["spans"] = [span for span, _ in located]
            yield from (oddity for _, oddity in located if oddity is not None and documents)

    known = {timeline.record["entity"] for timeline in released.timelines.values()}
    listed, wrong = read_each(lists, "", read_entities)
    for name, entities in listed.items():
        for entity, line in entities.items():
            if entity not in known:
                what = f"there is no timeline of the entity {quote(entity)}"
                oddities.append(Problem(what, line, name))
    notices = _note_empty(released)
    if not documents:
        notices.append(Problem("no documents found, so mentions are not looked up"))
    parsed = released.finish(find_odd, notices)
    return parsed._replace(
        records=Timelines(parsed.records, documents.values()),
        problems=problems + wrong + released.problems,
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
    released = _read_splits(path, splits) if any(splits) else _read_split(path)
    return released.finish(oddities_given(gold))


def _read_split(path: Path) -> TimelineFiles:
    files, problems, others = list_files(path, "timeline", SUFFIX)
    released = _parse_files(files)
    return released._replace(
        problems=problems + released.problems, notices=released.notices + others + find_hidden(path)
    )


def _read_splits(path: Path, splits: Sequence[str]) -> TimelineFiles:
    """Read the timelines of a folder with a folder for each split; their ids begin with the split."""
    folders, problems = list_folders(path, splits)
    timelines = TimelineFiles({}, problems, [])
    for split, folder in folders.items():
        try:
            in_split = _read_split(folder)
        except FormatError as error:
            in_split = TimelineFiles({}, list(error.problems), [])
        for of_split, of_all in (
            (in_split.problems, timelines.problems),
            (in_split.notices, timelines.notices),
        ):
            of_all += [
                problem._replace(file=split if problem.file is None else f"{split}/{problem.file}")
                for problem in of_split
            ]
        for name, timeline in in_split.timelines.items():
            record = {**timeline.record, "id": f"{split}/{timeline.record['id']}"}
            timelines.timelines[f"{split}/{name}"] = timeline._replace(record=record)
    return timelines


def read_records(path: Path, split: str) -> Parsed:
    """Read the timeline of a single file."""
    del split
    timeline = parse_timeline(stem_of_id(path.stem), read_lines(path))
    return Parsed([timeline.record], [1], timeline.problems)


def parse_timeline(name: str, lines: Sequence[str]) -> Timeline:
    """Parse the lines of a timeline."""
    entity = lines[0].strip(WHITE_SPACE)
    problems = ProblemList(Problem(what, 1) for what in _check_entity(lines[0]))
    entries: list[Record] = []
    places: list[int] = []
    odd: dict[str, array[int]] = defaultdict(lambda: array("I"))  # the lines
    for number, line in enumerate(islice(lines, 1, None), start=2):
        stripped = line.rstrip(WHITE_SPACE)
        if stripped != line or not stripped:
            odd["trailing white space ignored" if stripped else "blank line ignored"].append(number)
        if not stripped:
            continue
        cells = stripped.split("\t")
        wrong = [Problem(what, number) for what in _check_entry(cells)]
        problems += wrong
        if not wrong:
            entries.append({"position": int(cells[0]), "anchor": cells[1], "mentions": cells[2:]})
            places.append(number)
    oddities = (Oddity(what, number, what) for what, numbers in odd.items() for number in numbers)
    notices = _make_notices(oddities, range(len(lines) + 1))
    return Timeline({"id": name, "entity": entity, "entries": entries}, places, problems, notices)


def _check_entity(line: str) -> Iterator[str]:
    name = line.strip(WHITE_SPACE)
    if not name:
        yield "is blank (expected the name of the entity)"
    elif "\t" in name:
        yield f"is {quote(line)} (expected the name of the entity; entries start on the second line)"
    elif unsafe := describe_unsafe(name):
        yield f"the entity {unsafe}"


def _check_entry(cells: Sequence[str]) -> Iterator[str]:
    if len(cells) < 3:
        yield f"the number of columns is {len(cells)} (expected at least 3: position, anchor, mention, mention, …)"
    elif not POSITION.fullmatch(cells[0]) or int(cells[0]) > MAX_POSITION:
        yield f"the position is {quote(cells[0])} (expected a whole number from 0 to {MAX_POSITION})"
    yield from filter(None, map(describe_unsafe, cells))


def _parse_files(files: Mapping[str, Path]) -> TimelineFiles:
    """Parse the timelines of files, each timeline once."""
    released = TimelineFiles({}, ProblemList(), [])
    first: dict[str, str] = {}
    # Names without `&` come first, so that they are kept if two files are equal.
    for name in sorted(files, key=lambda name: ("&" in name, name)):
        try:
            timeline = parse_timeline(stem_of_id(PurePosixPath(name).stem), read_lines(files[name]))
        except FormatError as error:
            released.problems.extend(problem._replace(file=name) for problem in error.problems)
            continue
        released.problems.extend(problem._replace(file=name) for problem in timeline.problems)
        released.notices.extend(notice._replace(file=name) for notice in timeline.notices)
        if any(problem.line == 1 for problem in timeline.problems):
            continue  # without an entity
        twin = first.setdefault(timeline.record["id"], name)
        if twin == name:
            released.timelines[name] = timeline
        elif released.timelines[twin].record == timeline.record:
            released.notices.append(Problem(f"ignored, since it is identical to {twin}", 1, name))
        else:
            what = f"differs from {twin}, which has the same id (expected only one of them, or identical files)"
            released.problems.append(Problem(what, 1, name))
    return released


def _note_empty(released: TimelineFiles) -> list[Problem]:
    """Return notices about gold timelines without entries."""
    what = "has no entries, and is not scored"
    return [
        Problem(what, 1, name)
        for name, one in released.timelines.items()
        if not one.record["entries"]
    ]


def _make_notices(
    odd: Iterable[Oddity], lines: Sequence[int], name: str | None = None
) -> list[Problem]:
    """Return oddities as notices; those of a whole file refer to its first line."""
    return [Problem(what, line or 1, name) for line, what in describe_oddities(odd, lines)]


def read_entities(path: Path) -> dict[str, int]:
    """Read a list of entities, one per line, each with its line number; blank lines are ignored."""
    lines = enumerate(read_lines(path), start=1)
    return {line.strip(WHITE_SPACE): number for number, line in lines if line.strip(WHITE_SPACE)}


# Writing


def dump_timeline(record: Record) -> str:
    """Return a timeline as the text of a file, without spans."""
    lines = [record["entity"]]
    for entry in record["entries"]:
        cells = [str(entry["position"]), entry["anchor"], *entry["mentions"]]
        lines.append("\t".join(cells))
        if lines[-1].rstrip(WHITE_SPACE) != lines[-1] or any(map(describe_unsafe, cells)):
            raise ValueError(
                f"{quote(record['id'])}: this format can't represent the entry {quote(lines[-1])}"
            )
    entity = record["entity"]
    if any(_check_entity(entity)) or entity != entity.strip(WHITE_SPACE):
        raise ValueError(
            f"{quote(record['id'])}: this format can't represent the entity {quote(entity)}"
        )
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
    problems += _find_unwritable_ids(list(texts))
    if problems:
        raise FormatError(folder, problems)
    with creating_folder(folder) as made:
        for name, text in texts.items():
            file = made / f"{name}{SUFFIX}"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8", newline="")


def _find_unwritable_ids(ids: Sequence[str]) -> list[Problem]:
    """Yield the reasons why a folder of timelines with these ids can't be written and read again."""
    below: dict[str | None, list[str]] = {}
    for name in ids:
        split, slash, own = name.rpartition("/")
        below.setdefault(split if slash else None, []).append(own)
    problems = [] if ids else [Problem("there are no timelines (expected at least one)")]
    if None in below and len(below) > 1:
        named = (
            quote(next(name for name in ids if ("/" in name) is is_below))
            for is_below in (True, False)
        )
        problems.append(Problem(f"ids {' and '.join(named)}: all or none must begin with a split"))
    problems += find_unwritable([split for split in below if split is not None])
    for names in below.values():
        if len(names) > limits.MAX_FILES:
            problems.append(
                Problem(
                    f"there are {len(names):,} timelines (limit of a folder: {limits.MAX_FILES:,})"
                )
            )
        problems += find_unwritable(names, SUFFIX)
        other = ((name, stem_of_id(name)) for name in names if stem_of_id(name) != name)
        problems += [
            Problem(f"{quote(name)} would be read again as {quote(stem)}") for name, stem in other
        ]
    return problems


FORMAT = Format(read=read_records, folder=FormatFolder(read_files, read_folder), unite=unite)
SUBMISSION = SubmissionFolder(read_submission_folder, write_folder)
