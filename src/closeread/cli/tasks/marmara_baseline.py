"""Subcommands for the baseline of the Marmara corpus: its mentions, and its two ways to link them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, printing
from closeread.cli.notes import tell

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.corpus.gold import Gold
    from closeread.records import Record

CORPUS = "marmara_coref"

output = click.option(
    "-o",
    "--output",
    type=options.WRITTEN,
    required=True,
    metavar="FILE",
    help="Write to this file, in the format of its suffix: .jsonl or .conll.",
)
derived_modifiers = click.option(
    "--derived-modifiers",
    type=click.Choice(["exclude", "include"]),
    default="exclude",
    show_default=True,
    help="Include or exclude modifiers derived from verbs (participles), and their dependents, in noun phrases.",
)
only = click.option("--only", multiple=True, metavar="DOCUMENT", help="Predict only this document; may be repeated.")
learner_options = options.together(
    click.option(
        "--mentions",
        type=click.Choice(["gold", "predicted"]),
        default="gold",
        show_default=True,
        help="Link gold mentions, or those that `mentions` finds.",
    ),
    click.option(
        "--features",
        type=click.Choice(["T", "TF", "TP"]),
        default="T",
        show_default=True,
        help="Use features of the treebank (T), also word vectors (TF), or also 15 principal components of these (TP).",
    ),
    click.option(
        "--vectors",
        type=options.NAMED,
        metavar="FILE",
        help="Read word vectors from this file in word2vec's text format (.vec, .vec.gz); for TF and TP.",
    ),
    click.option(
        "--pronouns",
        type=options.NAMED,
        metavar="FILE",
        help="Read the lemmas that are pronouns from this file, one a line, instead of the usual 13.",
    ),
    derived_modifiers,
    options.seed,
    only,
    click.option(
        "--links",
        type=options.WRITTEN,
        metavar="FILE",
        help="Also write all candidate links to this file, as JSON Lines, with their features and scores.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Predict this many documents at a time; the result is the same.",
    ),
)


@click.command(cls=options.CorpusCommand, short_help="Detect mentions, each a chain of its own.")
@derived_modifiers
@only
@options.gold_options
@output
def mentions(output: Path, derived_modifiers: str, only: tuple[str, ...], **place: Any) -> None:
    """Detect mentions by rules, each a chain of its own; no coreference is needed.

    Mentions are noun phrases, pronouns, nouns whose lemma has a capital, and nouns with a capital that occur twice or
    more in the document.

    \b
    Examples:
      closeread baseline marmara_coref mentions --config sample -o mentions.conll
      closeread baseline marmara_coref mentions --treebank treebank \\
        -o mentions.jsonl
    """
    from closeread.files import write_text
    from closeread.tasks.coref.marmara.baseline import predict_mentions, select_documents

    dump = _find_format(output)
    records = _read_text(**place).records
    rows = predict_mentions(select_documents(records, only), derived_modifiers=derived_modifiers)
    write_text(output, dump(records, rows))
    _report(output, rows, "mention")


@click.command(cls=options.CorpusCommand, short_help="Link mentions by a support vector machine (classification).")
@learner_options
@options.gold_options
@output
def svc(**values: Any) -> None:
    """Link each mention with all earlier ones that a linear support vector classifier says are coreferent.

    Each document is predicted by a model that is trained on all other documents.

    \b
    Examples:
      closeread baseline marmara_coref svc --config sample -o svc.jsonl
      closeread baseline marmara_coref svc -o svc.conll --links links.jsonl
      closeread baseline marmara_coref svc --features TP \\
        --vectors wiki.tr.vec.gz -o svc.jsonl
    """
    _link("svc", **values)


@click.command(cls=options.CorpusCommand, short_help="Link mentions by a support vector machine (regression).")
@learner_options
@options.gold_options
@output
def svr(**values: Any) -> None:
    """Link each mention with the earlier one that linear support vector regression gives the best score, above 0.1.

    Each document is predicted by a model that is trained on all other documents.

    \b
    Examples:
      closeread baseline marmara_coref svr --config sample -o svr.jsonl
      closeread baseline marmara_coref svr --mentions predicted --jobs 2 \\
        -o svr.conll
      closeread baseline marmara_coref svr --only 00002213 -o svr.jsonl \\
        --links links.jsonl
    """
    _link("svr", **values)


def _link(
    learner: str,
    output: Path,
    links: Path | None,
    only: tuple[str, ...],
    jobs: int,
    pronouns: Path | None,
    mentions: str,
    features: str,
    vectors: Path | None,
    derived_modifiers: str,
    seed: int,
    **place: Any,
) -> None:
    """Predict with one of the learners, and write its chains and, if asked for, its candidate links."""
    from closeread.files import open_text, replacing
    from closeread.tasks.coref.marmara.baseline import Settings, predict
    from closeread.tasks.coref.marmara.baseline_files import writing_links
    from closeread.tasks.coref.marmara.mention_types import PRONOUNS, read_pronouns

    dump = _find_format(output)
    lemmas = PRONOUNS if pronouns is None else read_pronouns(pronouns)
    settings = Settings(learner, mentions, features, vectors, lemmas, derived_modifiers, seed)
    records = options.read_gold(CORPUS, **place).records
    tell(settings.notices)
    rows: list[Record] = []
    with replacing(output) as partial, writing_links(links) as write_links:
        for prediction in printing.track(
            predict(records, settings, only=only, jobs=jobs), "Predicting", len(set(only)) or len(records)
        ):
            rows.append(prediction.row)
            write_links(prediction)
        with open_text(partial, output) as file:
            file.write(dump(records, rows))
    _report(output, rows, "chain")


def _read_text(config: str | None, split: str | None, gold: Path | None, **files: Any) -> Gold:
    """Read the corpus, without coreference if there is none, and print its notices to standard error.

    Where there is coreference it is read, since it says which file of the treebank holds two documents.

    Raises:
        RequestError: there is no such config or split; an InputError if the files are missing or invalid.
    """
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.sources import data_folder
    from closeread.counts.procedure import Place
    from closeread.records import UserFiles

    given = options.take_files(files)
    own = given if isinstance(given, UserFiles) else UserFiles(given)
    folder = own.data_dir or data_folder(CORPUS)
    has_coreference = "coreference" in own.folders or (folder is not None and (folder / "coreference").is_dir())
    if config in (None, "default") and gold is None and not has_coreference:
        given = own._replace(folders={**own.folders, "coreference": None})
    found = read_corpus_gold(Place(CORPUS, config, split, gold, given))
    tell(found.notices)
    return found


def _find_format(path: Path) -> Callable[[Sequence[Record], Sequence[Record]], str]:
    """Return what makes the text of a file from the corpus's records and the predicted rows.

    Raises:
        RequestError: the suffix is none of ours.
    """
    from closeread.exceptions import RequestError
    from closeread.files import text_suffix
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.coref.marmara.baseline_files import dump_conll

    match text_suffix(path):
        case ".jsonl":
            return lambda records, rows: dump_json_lines(rows)
        case ".conll":
            return dump_conll
    raise RequestError(f"{path}: the suffix is '{path.suffix}' (expected .jsonl or .conll)")


def _report(path: Path, rows: Sequence[Record], noun: str) -> None:
    from closeread.exceptions import escape_line, pluralize

    n_clusters = sum(len(row["clusters"]) for row in rows)
    click.echo(escape_line(f"{path}: {pluralize(len(rows), 'document')}, {pluralize(n_clusters, noun)}"))


COMMANDS: Commands = {f"baseline {CORPUS}": {"mentions": mentions, "svc": svc, "svr": svr}}
