"""`closeread timeline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options

if TYPE_CHECKING:
    from closeread.corpora.declaration import Corpus
    from closeread.records import Record


@click.group()
def command() -> None:
    """Make timelines.

    \b
    Example:
      closeread timeline build events.jsonl -o timelines
    """


@command.command(cls=options.WritingCommand)
@click.argument("events", type=options.FILE)
@click.option(
    "--documents", type=options.FILE, metavar="DIR", help="Folder of documents in CAT, in which mentions are looked up."
)
@options.output
def build(events: Path, documents: Path | None, output: Path) -> None:
    """Make timelines of annotated events: in the order of their anchors, those without a date at position 0.

    Events are JSON Lines: {"entity": "Ann", "mention": "7-2-flew", "anchor": "2007-03-19", "coreference": "flight"}.
    Instead of its name, a mention may be given as the numbers of its tokens, from 0: "document": "7", "tokens": [4, 5].
    Mentions of an entity that corefer have the same name of the event; without a name each is one of its own.  The
    anchor may be null.  Given a folder of timelines instead, their positions are made anew.

    Events of one date share a position; one whose day or month is not known (2007-03-XX, 2007-XX-XX) comes before the
    others of its month or year.  Timelines are written into a folder, a file each, or as JSON Lines (.jsonl).

    \b
    Examples:
      closeread timeline build events.jsonl -o timelines
      closeread build timeline events.jsonl --documents corpus_trackB_CAT -o timelines.jsonl
    """
    from closeread.corpora.gold import load_corpus, read_own_gold
    from closeread.corpora.submissions import write_submission
    from closeread.errors import escape, pluralize, quote
    from closeread.tasks.timeline.building import build_timelines, reordered
    from closeread.tasks.timeline.gold import Timelines
    from closeread.tasks.timeline.rules import find_odd_rows

    corpus = load_corpus("semeval2015_timeline")
    texts = {} if documents is None else _documents(documents, corpus)
    if events.is_dir():
        timelines = [reordered(timeline) for timeline in read_own_gold(corpus, events).records]
    else:
        timelines = build_timelines(_events(events, corpus, texts), texts)
    write_submission(output, timelines, corpus)
    odd = find_odd_rows(timelines, Timelines((), texts.values()))
    options.tell(f"timeline {quote(timelines[index]['id'])}: {what}" for index, what in odd)
    entries = sum(len(timeline["entries"]) for timeline in timelines)
    told = f"{pluralize(len(timelines), 'timeline')} of {entries:,} {'entry' if entries == 1 else 'entries'}"
    click.echo(escape(f"{output}: {told}"))


def _documents(folder: Path, corpus: Corpus) -> Mapping[str, Record]:
    """The documents of a folder, by id."""
    from closeread.corpora.judging import judge
    from closeread.corpora.schema import load_schema
    from closeread.tasks.timeline.cat_xml import read_folder

    records = judge(folder, read_folder(folder), load_schema(corpus.name), "text", "id")
    return {record["id"]: record for record in records}


def _events(path: Path, corpus: Corpus, documents: Mapping[str, Record]) -> Sequence[Record]:
    """The annotated events of a file, or one error with everything that is wrong with them."""
    from closeread.corpora.schema import RowValidator, load_schema
    from closeread.errors import FormatError
    from closeread.formats.json_lines import read_json_lines
    from closeread.tasks.timeline.building import inconsistencies

    parsed = read_json_lines(path)
    rejected = RowValidator(load_schema(corpus.name), "event").problems(parsed.records, range(len(parsed.records)))
    unsound = {problem.line for problem in rejected}
    sound = [None if index in unsound else event for index, event in enumerate(parsed.records)]
    problems = parsed.problems + [parsed.problem(problem.line or 0, problem.what) for problem in rejected]
    problems += [parsed.problem(index, what) for index, what in inconsistencies(sound, documents, parsed.lines)]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return parsed.records
