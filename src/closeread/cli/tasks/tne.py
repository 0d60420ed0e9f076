"""Subcommands for TNE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.notes import tell
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand, short_help="Keep common links and list the others to decide.")
@click.argument("annotators", type=options.FILE, nargs=-1, required=True)
@click.option("--conflicts", type=options.WRITTEN, metavar="FILE", help="Write the conflicts to be decided to FILE.")
@click.option("--decisions", type=options.FILE, metavar="FILE", help="Read the decided conflicts from FILE.")
@options.output
def adjudicate(annotators: tuple[Path, ...], conflicts: Path | None, decisions: Path | None, output: Path) -> None:
    """Keep the links that all annotators have, and list the others for a person to decide (Elazar et al., 2022).

    Annotators' files are in the corpus's format, JSON Lines or Parquet, with the same clusters.  A conflict is an
    anchor and a cluster whose links differ between annotators.  It is a line of JSON with their words, every
    annotator's prepositions (A, B and so on, in the order of the files), and "decision": null.  Replace null by the
    list of all prepositions that hold, or by [] for no link.

    With --decisions, every conflict has to be decided, unless --conflicts is given too: it then gets the open ones.

    \b
    Examples:
      closeread adjudicate tne anna.jsonl ben.jsonl --conflicts conflicts.jsonl \\
        -o agreed.jsonl
      closeread adjudicate tne anna.jsonl ben.jsonl --decisions conflicts.jsonl \\
        -o gold.jsonl
    """
    from closeread.cli.writing import write_with
    from closeread.corpus.gold import dump_gold, read_file
    from closeread.corpus.names import load_corpus
    from closeread.exceptions import pluralize, read_all
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.tne import adjudication
    from closeread.tasks.tne.tne_jsonl import UNSAFE

    corpus = load_corpus("tne")
    documents = read_all(annotators, lambda path: read_file(corpus, path, corpus.default_split))
    found = adjudication.consolidation(documents, [str(path) for path in annotators])
    may_stay_open = conflicts is not None
    decided = {} if decisions is None else adjudication.read_decisions(found, decisions, may_stay_open=may_stay_open)
    gold = adjudication.consolidated(found, decided)
    rows = adjudication.conflicts(found, decided)
    write_with(output, dump_gold(corpus, output, gold), conflicts, dump_json_lines(rows, UNSAFE))
    links = sum(len(record["np_relations"]) for record in gold)
    size = f"{pluralize(len(gold), 'document')}, {pluralize(links, 'link')}"
    state = f"{pluralize(len(decided), 'conflict')} decided, {len(rows):,} open"
    click.echo(escape_line(f"{output}: {size}; {state}" + (f" (in {conflicts})" if conflicts is not None else "")))


@click.command(cls=options.WritingCommand, short_help="Build unlabelled documents from plain texts.")
@click.argument("texts", metavar="FILE...", type=options.FILE, nargs=-1, required=True)
@click.option("--spacy-model", metavar="NAME", required=True, help="Use this spaCy pipeline, installed or in a folder.")
@click.option(
    "--separator",
    type=click.Choice(["line", "blank-line"]),
    default="line",
    show_default=True,
    help="What separates title, subtitles and paragraphs: line ends, or blank lines.",
)
@click.option(
    "--subtitles",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of subtitles after the title.",
)
@click.option(
    "--paragraphs",
    type=click.IntRange(1),
    metavar="N",
    help="Keep only the first N paragraphs (in the paper: 3).  [default: all]",
)
@click.option(
    "--min-phrases",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Leave out texts with fewer noun phrases (in the paper: 25).",
)
@click.option(
    "--max-phrases",
    type=click.IntRange(0, 100_000),
    default=100_000,
    metavar="N",
    help="Leave out texts with more noun phrases (in the paper: 50).  [default: no limit]",
)
@options.output
def build(
    texts: tuple[Path, ...],
    spacy_model: str,
    separator: str,
    subtitles: int,
    paragraphs: int | None,
    min_phrases: int,
    max_phrases: int,
    output: Path,
) -> None:
    """Build unlabelled documents from plain texts (Elazar et al., 2022, sections 4 and 5.1).

    Each FILE is a text: a title, a subtitle, and paragraphs; blank lines between them don't matter.  A folder stands
    for the .txt files in it.  A document has the name of its file as its id, and is laid out as in the corpus.  Noun
    phrases are the base noun phrases that spaCy finds, without pronouns; each is a cluster of its own.  Documents are
    written as JSON Lines.

    Needs spaCy (pip install 'closeread[spacy]') and a pipeline with a tagger and a parser, such as that of the paper:
    `python -m spacy download en_core_web_sm` installs it.

    \b
    Examples:
      closeread build tne ferry.txt bridge.txt --spacy-model en_core_web_sm \\
        -o documents.jsonl
      closeread build tne texts --spacy-model en_core_web_sm --paragraphs 3 \\
        --min-phrases 25 --max-phrases 50 -o documents.jsonl
      closeread build tne book.txt --spacy-model en_core_web_sm \\
        --separator blank-line --subtitles 0 -o book.jsonl
    """
    from closeread.corpus.gold import find_gold_writer
    from closeread.corpus.names import load_corpus
    from closeread.corpus.pipelines import load_pipeline
    from closeread.exceptions import pluralize, read_all
    from closeread.files import write_lines
    from closeread.tasks.tne.building import Builder, Filter
    from closeread.tasks.tne.plain_texts import TextReader, list_texts
    from closeread.tasks.tne.tne_jsonl import dump_lines

    find_gold_writer(load_corpus("tne"), output)  # or what takes long would be refused at its end
    chosen = Filter(paragraphs, min_phrases, max_phrases)
    read = read_all(list_texts(texts), TextReader(separator, subtitles).read)
    builder = Builder(load_pipeline(spacy_model, "building documents"), spacy_model, chosen)
    records = builder.build(read, lambda found: printing.track(found, "Finding noun phrases", len(read)))
    write_lines(output, dump_lines(records))
    tell(builder.notices())
    size = f"{pluralize(builder.n_documents, 'document')}, {pluralize(builder.n_phrases, 'noun phrase')}"
    click.echo(escape_line(f"{output}: {size}"))


@click.command(cls=options.WritingCommand, short_help="Convert predictions, or make gold of them.")
@click.argument("predictions", type=options.FILE)
@click.option(
    "--to",
    "form",
    type=click.Choice(["arrays", "jsonl", "gold"]),
    help="Convert to the leaderboard's arrays, to JSON Lines of links, or to gold documents with these links.  "
    "Required, unless links are spread: then JSON Lines by default.",
)
@click.option(
    "--close",
    is_flag=True,
    help="Spread links over clusters: link each anchor to all members of its complement's cluster.",
)
@click.option(
    "--clusters",
    type=options.FILE,
    metavar="FILE",
    help="Take clusters from this file, JSON Lines with id and coref, instead of gold.  Used by --close and --to gold.",
)
@options.gold_options
@options.output
def convert(
    predictions: Path, form: str | None, close: bool, clusters: Path | None, output: Path, **places: Any
) -> None:
    """Convert predictions for TNE between JSON Lines and the leaderboard's arrays, spread links, or make gold of them.

    The file is validated as by `closeread validate`.  An array holds one preposition for each pair of noun phrases and
    no fallbacks; a note says how many of them are lost.

    In gold, an anchor that is linked to a noun phrase is linked to all others of its cluster by the same preposition;
    --close adds the missing links.  Clusters are those of gold, unless --clusters is given.

    \b
    Examples:
      closeread convert tne mine.jsonl --to arrays --config unlabeled \\
        -o for_the_leaderboard.jsonl
      closeread convert tne arrays.jsonl --to jsonl --config sample \\
        -o links.jsonl
      closeread convert tne mine.jsonl --close --clusters chains.jsonl \\
        -o closed.jsonl
      closeread convert tne anna.jsonl --gold documents.jsonl --close --to gold \\
        -o gold.jsonl
    """
    from closeread.cli.annotators import name_files
    from closeread.tasks.tne import conversions

    if form is None and not close:
        raise click.UsageError("Missing option '--to' or '--close'.")
    if clusters is not None and not close and form != "gold":
        raise click.UsageError("--clusters has no effect without --close or --to gold.")
    place, given = options.take_place("tne", **places), name_files([predictions])[0]
    converted = conversions.convert(given, output, place, form=form, close=close, clusters=clusters)
    tell(converted.notices)
    click.echo(escape_line(f"{output}: {converted.summary}"))


@click.command(cls=options.WritingCommand, short_help="Draw a confusion matrix of prepositions.")
@click.argument("predictions", type=options.FILE)
@options.gold_options
@click.option(
    "--labels",
    type=click.IntRange(1, 24),
    default=10,
    show_default=True,
    help="Show this many prepositions, the most frequent in gold.",
)
@click.option(
    "--unlinked",
    type=click.Choice(["shown", "hidden"]),
    default="shown",
    show_default=True,
    help="Show or hide the row and the column of pairs that only one side links.",
)
@options.output
def plot_confusion(predictions: Path, labels: int, unlinked: str, output: Path, **places: Any) -> None:
    """Draw a confusion matrix of prepositions as .png, .svg or .pdf (Elazar et al., 2021, Figure 5).

    Cells count pairs of noun phrases; colours are base 2 logarithms.  If gold has several prepositions for a pair, the
    predicted one is taken if it is among them, and the last one otherwise.

    \b
    Examples:
      closeread plot confusion mine.jsonl -o confusion.png
      closeread plot confusion mine.jsonl --split validation --unlinked hidden \\
        -o confusion.svg
    """
    from closeread.cli.annotators import name_files
    from closeread.cli.pictures import draw
    from closeread.tasks.tne.figures import draw_confusion

    place, system = options.take_place("tne", **places), name_files([predictions])
    draw(output, lambda: draw_confusion(place, system, labels=labels, unlinked=unlinked))


@click.command(cls=options.WritingCommand, short_help="Draw how frequent each preposition is.")
@options.config
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Draw this split; may be repeated.")
@click.option(
    "--other",
    type=click.FloatRange(0, 100),
    default=4,
    show_default=True,
    metavar="PERCENT",
    help="Unite prepositions with less than this percentage of the links in every split.",
)
@options.gold
@options.data_dir
@options.output
def plot_prepositions(splits: tuple[str, ...], other: float, output: Path, **places: Any) -> None:
    """Draw how frequent each preposition is among the links of TNE, as .png, .svg or .pdf
    (Elazar et al., 2021, Figure 4).

    Rare prepositions are united as Other, as in the paper; --other 0 draws all of them.

    \b
    Examples:
      closeread plot prepositions --split test -o prepositions.png
      closeread plot prepositions --split validation --split test --split ood \\
        --other 0 -o prepositions.svg
    """
    from closeread.cli.pictures import draw
    from closeread.tasks.tne.figures import draw_prepositions

    place = options.take_place("tne", **places)
    draw(output, lambda: draw_prepositions(place, splits=splits, other=other))


COMMANDS: Commands = {
    "adjudicate": {"tne": adjudicate},
    "build": {"tne": build},
    "convert": {"tne": convert},
    "plot": {"confusion": plot_confusion, "prepositions": plot_prepositions},
}
