"""Adjudication of coreference.  Modules that the command needs are imported where they are used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import options
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.tasks.coref.adjudication.annotators import AnnotatedDocument
    from closeread.tasks.coref.adjudication.forced import ForcedFile
    from closeread.tasks.coref.adjudication.results import AdjudicatedDocument, Settings
    from closeread.tasks.coref.columns import MentionTable

CONLL = ".conll"


@click.command(cls=options.WritingCommand, short_help="Find the chains that explain annotators' best.")
@options.files
@options.output
@click.option(
    "--objective",
    type=click.Choice(["v", "va", "u", "ua"]),
    default="v",
    show_default=True,
    help="Count against a solution the links that it leaves out, and for v and va also annotators without the links "
    "that it uses; for va and ua, allow links that no annotator has.",
)
@click.option(
    "--incompatible",
    type=click.Choice(["overlap", "containment"]),
    default="overlap",
    show_default=True,
    help="Never put mentions into one chain that overlap, or only those that contain each other.",
)
@click.option(
    "--empty-annotators",
    type=click.Choice(["count", "ignore"]),
    default="count",
    show_default=True,
    help="Count or ignore annotators who have no links in a document.",
)
@click.option(
    "--solver",
    type=click.Choice(["clingo", "milp"]),
    default="clingo",
    show_default=True,
    help="Use Answer Set Programming (clingo, an extra) or integer programming (milp, SciPy); the result is the same.",
)
@click.option(
    "--time-limit",
    type=options.NumberRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop after so many seconds, all documents together, with the best chains found.",
)
@click.option("--forced", type=options.FILE, metavar="FILE", help="Keep what cells with '=' in FILE decide.")
@click.option(
    "--worksheet",
    type=options.WRITTEN,
    metavar="FILE",
    help="Write annotators and result side by side to FILE, to edit and give back with --forced.",
)
@click.option("--report", type=options.WRITTEN, metavar="FILE", help="Write the cost of every link to FILE, as JSON.")
def adjudicate(
    files: tuple[Path, ...],
    output: Path,
    objective: str,
    incompatible: str,
    empty_annotators: str,
    solver: str,
    time_limit: float | None,
    forced: Path | None,
    worksheet: Path | None,
    report: Path | None,
) -> None:
    """Find the chains that explain several annotators' best (Schüller, 2018).

    FILES are the annotators', in any format that `closeread score coref` reads; a folder is one annotator.  Documents
    are matched by name, and an annotator may lack some.  The suffix of the output file decides its format.  Of equally
    good solutions, the one with the most links is chosen, then the one with the earliest.

    In the last column of a CoNLL file for --forced, '=-' says that no mention begins or ends on a token, and '=' with
    mentions, such as '=(1' or '=(2)', that exactly these do.  Other cells are ignored.

    \b
    Examples:
      closeread adjudicate coref anna.conll ben.conll cleo.conll -o gold.conll
      closeread adjudicate coref annotators/*.conll -o gold.conll \\
        --objective va --report report.json
      closeread adjudicate coref *.conll -o ../gold.conll \\
        --worksheet ../edited.conll
      closeread adjudicate coref *.conll -o ../gold.conll \\
        --forced ../edited.conll
    """
    from closeread.exceptions import escape_line
    from closeread.files import text_suffix, write_texts
    from closeread.formats.json_files import dump_json
    from closeread.tasks.coref.adjudication.report import join_results, make_report, summarize
    from closeread.tasks.coref.adjudication.results import Settings
    from closeread.tasks.coref.adjudication.worksheet import dump_worksheet
    from closeread.tasks.coref.sides import dump_documents

    settings = Settings(objective, incompatible, empty_annotators)
    documents = _read_annotators(files)
    decided = _read_forced(forced, documents, incompatible)
    results = _adjudicate(documents, settings, solver, time_limit, decided)
    texts = {}
    if worksheet is not None:
        by_name = {} if decided is None else decided.documents
        texts[worksheet] = dump_worksheet(results, [str(path) for path in files], by_name)
    if report is not None:
        texts[report] = dump_json(make_report(results, settings, solver))
    joined = join_results(results)
    texts[output] = _dump_conll(joined, output) if text_suffix(output) == CONLL else dump_documents(joined, output)
    write_texts(texts)
    click.echo(escape_line(f"{output}: {summarize(results)}"))


def _dump_conll(documents: MentionTable, output: Path) -> str:
    """Return documents as CoNLL, with the columns and sentences of the annotators' files.

    Raises:
        RequestError: the format can't express them.
    """
    from closeread.exceptions import RequestError
    from closeread.tasks.coref.conll_frames import dump_in_frames

    try:
        return dump_in_frames(documents)
    except ValueError as error:
        raise RequestError(f"cannot write {output}: {error}") from None


def _read_annotators(files: tuple[Path, ...]) -> list[AnnotatedDocument]:
    """Read the annotators' files, and print their notices and what the result lacks.

    Raises:
        RequestError: a file is given twice.
        InputError: some files are invalid, or differ from others; the problems of all of them at once.
    """
    from closeread.cli.annotators import name_files
    from closeread.counts.annotators import find_repeated_paths
    from closeread.exceptions import RequestError, pluralize
    from closeread.tasks.coref.adjudication.annotators import count_singletons, join_annotators
    from closeread.tasks.coref.annotators import list_notices, read_annotators

    names = [str(path) for path in files]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise RequestError(f"{repeated[0]} is given twice (expected one file for each annotator)")
    annotators = name_files(files)
    read = read_annotators(annotators)
    tell([*list_notices(read), *find_repeated_paths(annotators)])
    tables = {file.name: file.table for file in read}
    if any(table.head is not None and len(table.head) for table in tables.values()):
        tell(["heads of mentions are left out of the result."])
    if any(table.relations is not None for table in tables.values()):
        tell(["relations other than identity are left out of the result."])
    if n_alone := sum(count_singletons(table) for table in tables.values()):
        tell([f"{pluralize(n_alone, 'chain')} of one mention ignored."])
    return join_annotators(tables)


def _read_forced(path: Path | None, documents: list[AnnotatedDocument], incompatible: str) -> ForcedFile | None:
    """Read a file of decisions, if there is one, and print its notices."""
    if path is None:
        return None
    from closeread.tasks.coref.adjudication.forced import read_forced

    found = read_forced(path)
    found.check(documents, incompatible)
    tell(found.notices)
    return found


def _adjudicate(
    documents: list[AnnotatedDocument],
    settings: Settings,
    solver: str,
    time_limit: float | None,
    forced: ForcedFile | None,
) -> list[AdjudicatedDocument]:
    """Adjudicate all documents; a note tells which of the results may not be optimal.

    Raises:
        MissingExtraError: clingo is to be used and is not installed.
    """
    from closeread.exceptions import join_names, pluralize
    from closeread.tasks.coref.adjudication.forced import NOTHING_FORCED
    from closeread.tasks.coref.adjudication.results import adjudicate
    from closeread.tasks.coref.adjudication.solving import Deadline

    if solver == "clingo":
        from closeread.tasks.coref.adjudication.asp import load_clingo

        open_session = load_clingo()
    else:
        from closeread.tasks.coref.adjudication.milp import MilpSession as open_session  # noqa: N813
    by_name = {} if forced is None else forced.documents
    deadline = Deadline(time_limit)
    results = []
    for document in documents:
        decided = by_name.get(document.name, NOTHING_FORCED)
        results.append(adjudicate(document, settings, open_session, deadline, decided))
    if unproved := [result.document.name for result in results if not result.is_optimal]:
        what = f"{pluralize(len(unproved), 'document')} not solved in time: {join_names(unproved)}"
        tell([f"{what}; the best chains found are written, and better ones may exist."])
    return results


COMMANDS: Commands = {"adjudicate": {"coref": adjudicate}}
