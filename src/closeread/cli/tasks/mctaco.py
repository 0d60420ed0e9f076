"""Subcommands for McTaco."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options
from closeread.cli.notes import QuietGroup, tell
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.records import Record
    from closeread.tasks.mctaco.perturbation.candidates import Technique
    from closeread.tasks.mctaco.perturbation.retrieval import PhraseIndex

NO_EVENTS = "none"
"""In place of a category of events: no answers are events."""


@click.command(cls=options.WritingCommand, short_help="Keep the candidates that all annotators label alike.")
@click.argument("annotators", type=options.FILE, nargs=-1, required=True)
@click.option(
    "--candidates",
    type=options.FILE,
    metavar="FILE",
    help="Take the full records from this file of candidates, so that the output is a gold file.",
)
@click.option(
    "--dropped", type=options.WRITTEN, metavar="FILE", help="Write the dropped candidates with their labels to FILE."
)
@options.output
def adjudicate(annotators: tuple[Path, ...], candidates: Path | None, dropped: Path | None, output: Path) -> None:
    """Keep the candidates that all annotators label likely, or all unlikely (Zhou et al., 2019, step 4).

    Each annotator's file is JSON Lines: {"id": ..., "label": "likely" | "unlikely" | "invalid"}.  The paper used
    four annotators.  With --candidates, a file written by `closeread perturb mctaco candidates`, the output is a gold
    file; otherwise it has only ids and labels.

    \b
    Example:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl dan.jsonl \\
        --candidates candidates.jsonl -o gold.jsonl
    """
    from closeread.cli.writing import write_with
    from closeread.corpus.gold import dump_gold
    from closeread.corpus.names import load_corpus
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.mctaco.adjudication import dropped_rows, gold_rows, read_labels, unanimous

    result = unanimous([read_labels(path) for path in annotators], [str(path) for path in annotators])
    rows = gold_rows(result, candidates)
    gold = dump_json_lines(rows) if candidates is None else dump_gold(load_corpus("mctaco"), output, rows)
    write_with(output, gold, dropped, dump_json_lines(dropped_rows(result)))
    yes = sum(label == "yes" for label in result.kept.values())
    agreement = "" if result.observed_agreement is None else f"; observed agreement {result.observed_agreement:.3f}"
    kept = f"{len(result.kept):,} kept ({yes:,} yes, {len(result.kept) - yes:,} no)"
    click.echo(escape_line(f"{output}: {kept}, {len(result.dropped):,} dropped{agreement}"))


@click.command(cls=options.WritingCommand, short_help="Keep the questions that all annotators accept.")
@click.argument("annotators", type=options.FILE, nargs=-1, required=True)
@options.gold_options
@click.option(
    "--dropped", type=options.WRITTEN, metavar="FILE", help="Write the dropped questions with the reasons to FILE."
)
@options.output
def verify(annotators: tuple[Path, ...], dropped: Path | None, output: Path, **places: Any) -> None:
    """Keep the questions that all annotators accept (Zhou et al., 2019, step 2).

    Each annotator's file is JSON Lines: {"question_id": ..., "category": ..., "from_sentence": "no", "correct": "yes"}.
    A question is accepted if its category is that of the annotator ("none" if it has none of the five), it is not
    answered by a word or phrase of the sentence, and it is grammatically and logically correct.  The paper used two
    annotators.  The output has the rows of these questions, as JSON Lines if its name ends in .jsonl, and otherwise
    in the released format.

    \b
    Example:
      closeread adjudicate mctaco-questions anna.jsonl ben.jsonl \\
        --gold questions.jsonl --dropped dropped.jsonl -o verified.jsonl
    """
    from closeread.cli.writing import write_with
    from closeread.corpus.gold import dump_gold
    from closeread.exceptions import pluralize, read_all
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.mctaco.question_filter import filter_questions, read_verifications

    gold = options.read_gold("mctaco", **places)
    files = _name_annotators(annotators)
    read = read_all(files.values(), read_verifications)
    result = filter_questions(gold.records, dict(zip(files, read, strict=True)))
    kept = set(result.kept)
    rows = [record for record in gold.records if record["question_id"] in kept]
    reasons = [{"question_id": question, "reasons": why} for question, why in result.dropped.items()]
    write_with(output, dump_gold(gold.corpus, output, rows), dropped, dump_json_lines(reasons))
    size = f"{pluralize(len(kept), 'question')} kept ({pluralize(len(rows), 'row')})"
    click.echo(escape_line(f"{output}: {size}, {len(result.dropped):,} dropped"))


def _name_annotators(paths: Sequence[Path]) -> dict[str, Path]:
    """Return files by their paths; a file that is given twice is two annotators."""
    return {f"{path}" if path not in paths[:n] else f"{path} ({n + 1})": path for n, path in enumerate(paths)}


@click.group(cls=QuietGroup, short_help="Normalize units, or add candidate answers.")
def perturb() -> None:
    """Apply the perturbations of Zhou et al. (2019) to McTaco.

    \b
    Example:
      closeread perturb mctaco units --config sample -o normal.jsonl
    """


@perturb.command(cls=options.WritingCommand, short_help="Rewrite temporal expressions in their most proper unit.")
@options.gold_options
@click.option(
    "--rule",
    type=click.Choice(["proper", "official"]),
    default="proper",
    show_default=True,
    help="How to choose the unit: the largest that gives at least 1, or as the authors' script does "
    "(at least 0.5, months of 30 days).",
)
@options.output
def units(rule: Any, output: Path, **places: Any) -> None:
    """Rewrite temporal expressions in their most proper unit: "30 months" becomes "2.5 years".

    The output is JSON Lines if its name ends in .jsonl, otherwise the released format; --gold reads both.

    \b
    Examples:
      closeread perturb mctaco units --split validation -o normal.jsonl
      closeread perturb mctaco units --rule official -o normal.tsv
    """
    from closeread.corpus.gold import dump_gold
    from closeread.files import write_text
    from closeread.tasks.mctaco.perturbation.units import normalize_units

    gold = options.read_gold("mctaco", **places)
    rows = [{**record, "answer": normalize_units(record["answer"], rule=rule)} for record in gold.records]
    changed = sum(row["answer"] != record["answer"] for row, record in zip(rows, gold.records, strict=True))
    write_text(output, dump_gold(gold.corpus, output, rows))
    click.echo(escape_line(f"{output}: {len(rows):,} rows, {changed:,} answers rewritten"))


def _check_events(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the categories of events; none for 'none'."""
    from closeread.exceptions import escape
    from closeread.suggestions import suggest
    from closeread.tasks.mctaco.categories import CATEGORIES
    from closeread.tasks.mctaco.perturbation.candidates import EVENTS

    for name in value:
        if name not in (*CATEGORIES, NO_EVENTS):
            known = ", ".join(map(repr, (*CATEGORIES, NO_EVENTS)))
            raise click.BadParameter(f"'{escape(name)}' is not one of {known}.{suggest(name, CATEGORIES)}", ctx, param)
    if NO_EVENTS in value:
        if len(set(value)) > 1:
            raise click.BadParameter(f"'{NO_EVENTS}' excludes other categories.", ctx, param)
        return ()
    return tuple(dict.fromkeys(value)) or EVENTS


@perturb.command(cls=options.WritingCommand, short_help="Add candidate answers to every question.")
@options.gold_options
@click.option(
    "--number-rule",
    type=click.Choice(["both", "plus_one", "times_ten", "off"]),
    default="both",
    show_default=True,
    help="How the rules change numbers, 'once' and 'twice' included: to the next number, to ten times as many, both, "
    "or not at all.",
)
@click.option(
    "--changes",
    type=click.IntRange(1, 3),
    default=1,
    show_default=True,
    help="Make up to this many changes by rules at once.",
)
@click.option(
    "--units",
    type=click.Choice(["table", "any"]),
    default="table",
    show_default=True,
    help="Replace a unit by those of its set in the paper's table, or by any other.",
)
@click.option(
    "--agreement",
    type=click.Choice(["adjust", "keep"]),
    default="adjust",
    show_default=True,
    help="How to treat the unit after a changed number, and 'a' or 'an' before a change: adjust them, or keep them.",
)
@click.option(
    "--events",
    metavar="CATEGORY",
    multiple=True,
    callback=_check_events,
    help="Treat answers to questions of this category as events: retrieve phrases for them, and use rules and masks "
    "for the others only.  Repeat it for several categories; 'none' uses everything for all answers.  "
    "[default: Event Ordering]",
)
@click.option(
    "--fill-mask", metavar="MODEL", help="Mask words and fill them with this Hugging Face model (a name or a folder)."
)
@click.option(
    "--device", metavar="NAME", help="Run the model on this device, such as 'cuda:0'.  [default: the first GPU if any]"
)
@click.option(
    "--phrases", type=options.FILE, metavar="FILE", help="Retrieve phrases from this file, which has one per line."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Stop adding candidates to a question when it has this many.",
)
@options.seed
@options.output
def candidates(
    number_rule: Any,
    changes: int,
    units: Any,
    agreement: Any,
    events: tuple[str, ...],
    fill_mask: str | None,
    device: str | None,
    phrases: Path | None,
    limit: int,
    seed: int,
    output: Path,
    **places: Any,
) -> None:
    """Add candidate answers to every question: by rules, then by masking words; for events, by retrieving phrases.

    Each technique is used as long as a question has fewer than --limit candidates.  New candidates have no label: have
    them annotated, and merge the labels with `closeread adjudicate mctaco`.  `closeread phrases` makes lists of
    phrases.

    \b
    Examples:
      closeread perturb mctaco candidates --config sample -o candidates.jsonl
      closeread perturb mctaco candidates --changes 2 --units any \\
        --phrases events.txt -o candidates.jsonl
      closeread perturb mctaco candidates --events none --number-rule off \\
        -o candidates.jsonl
      closeread perturb mctaco candidates --fill-mask bert-base-uncased \\
        -o candidates.jsonl
    """
    from collections import Counter

    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.mctaco.perturbation.candidates import by_rules, expand

    gold = options.read_gold("mctaco", **places)
    rules = by_rules(number_rule=number_rule, changes=changes, units=units, agreement=agreement)
    techniques = [rules, *_choose_techniques(fill_mask, device, phrases)]
    tell(_describe_events(gold.records, events, has_phrases=phrases is not None))
    rows = expand(gold.records, techniques, events=events, limit=limit, seed=seed)
    write_text(output, dump_json_lines(rows))
    made = Counter(row["technique"] for row in rows)
    counted = ", ".join(f"{number:,} {technique}" for technique, number in made.items())
    click.echo(escape_line(f"{output}: {len(rows):,} rows ({counted})"))


def _describe_events(records: Sequence[Record], events: Sequence[str], *, has_phrases: bool) -> Iterator[str]:
    """Say how many questions get no new candidates for lack of phrases, or that there are no events for the phrases."""
    from closeread.exceptions import pluralize

    count = len({record["question_id"] for record in records if record["category"] in events})
    if count and not has_phrases:
        yield (
            f"{pluralize(count, 'question')} of {', '.join(events)} will get no new candidates: their answers are "
            "events, for which phrases are retrieved (see --phrases, or use --events none)."
        )
    if events and not count and has_phrases:
        yield f"no phrases are retrieved: there is no question of {', '.join(events)} (see --events)."


def _choose_techniques(fill_mask: str | None, device: str | None, phrases: Path | None) -> Sequence[Technique]:
    """Return the techniques besides rules that the options ask for, in the order of their use."""
    from closeread.tasks.mctaco.perturbation.candidates import by_masking, by_retrieval

    # Phrases are read before a model is loaded, which takes long.
    retrieval = [] if phrases is None else [by_retrieval(_read_phrases(phrases))]
    if fill_mask is None:
        return retrieval
    from closeread.neural.fill_mask import FillMask

    model = FillMask(fill_mask, device=device)
    return [by_masking(model, mask_token=model.mask_token), *retrieval]


def _read_phrases(path: Path) -> PhraseIndex:
    from closeread.exceptions import FormatError, Problem, RequestError
    from closeread.formats.text import UNSAFE, read_lines
    from closeread.tasks.mctaco.perturbation.retrieval import PhraseIndex

    phrases = list(read_lines(path))
    problems = [
        Problem(f"contains the control character U+{ord(found[0]):04X}", number)
        for number, phrase in enumerate(phrases, start=1)
        if (found := UNSAFE.search(phrase))
    ]
    if problems:  # an answer with one could not be read again
        raise FormatError(path, problems)
    try:
        return PhraseIndex(phrases)
    except RequestError as error:
        raise FormatError(path, [Problem(str(error))]) from None


@click.command(cls=options.WritingCommand, short_help="Draw exact match on mctaco by category.")
@click.argument("predictions", type=options.FILE, nargs=-1, required=True)
@options.gold_options
@options.output
def categories(predictions: tuple[Path, ...], output: Path, **places: Any) -> None:
    """Draw exact match on mctaco by category, of systems beside a coin, as .png, .svg or .pdf
    (Zhou et al., 2019, Figure 2).

    Systems are called by the names of their files.

    \b
    Examples:
      closeread plot categories mine.jsonl -o categories.png
      closeread plot categories MCTACO/experiments/*/*.output.txt \\
        -o categories.svg
    """
    from closeread.cli.annotators import name_files
    from closeread.cli.pictures import draw
    from closeread.tasks.mctaco.figures import draw_systems

    place = options.take_place("mctaco", **places)
    draw(output, lambda: draw_systems(place, name_files(predictions)))


COMMANDS: Commands = {
    "adjudicate": {"mctaco": adjudicate, "mctaco-questions": verify},
    "perturb": {"mctaco": perturb},
    "plot": {"categories": categories},
}
