"""Subcommands for trained models of TNE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, training
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands


@click.command(cls=options.WritingCommand, short_help="Train a model of links between noun phrases.")
@click.option(
    "--encoder",
    metavar="ENCODER",
    required=True,
    help="Fine-tune this encoder: a name on the Hugging Face Hub, or a folder.  frozen:NAME keeps its weights fixed; "
    "static:FILE uses word vectors from a file; static:corpus trains them on the training documents.",
)
@click.option(
    "--variant",
    type=click.Choice(["coupled", "decoupled"]),
    default="coupled",
    show_default=True,
    help="Predict links and their prepositions together, or first links, then prepositions.",
)
@options.config
@click.option("--split", metavar="NAME", help="Train on this split.  [default: train]")
@click.option("--training", "learnt", type=options.FILE, metavar="FILE", help="Train on this file instead.")
@click.option(
    "--validation-split",
    metavar="NAME",
    help="Choose the best epoch by the scores on this split.  [default: validation]",
)
@click.option(
    "--validation", type=options.FILE, metavar="FILE", help="Choose the best epoch by the scores on this file instead."
)
@options.data_dir
@training.setting_options(
    "documents", epochs=40, patience=10, batch_size=1, accumulate=1, learning_rate=1e-5, head_learning_rate=1e-3
)
@click.option(
    "--encoder-dropout",
    type=options.NumberRange(0, 1, max_open=True),
    metavar="X",
    help="Dropout inside an encoder that is fine-tuned.  [default: its own]",
)
@training.resume
@training.folder
def train(
    encoder: str,
    variant: str,
    config: str | None,
    split: str | None,
    learnt: Path | None,
    validation_split: str | None,
    validation: Path | None,
    data_dir: Path | None,
    encoder_dropout: float | None,
    resume: bool,
    run: Path,
    **setting: Any,
) -> None:
    """Train a model of links between noun phrases (Elazar et al., 2022, section 8).

    The folder RUN contains the parameters of the best epoch, by F1 on the validation documents; run.json with the
    settings, the versions and the scores of all epochs; curves.svg, which plots them; and, during training, a
    checkpoint from which --resume continues.

    \b
    Examples:
      closeread train tne --encoder SpanBERT/spanbert-base-cased -o run
      closeread train tne --encoder frozen:SpanBERT/spanbert-base-cased -o frozen
      closeread train tne --variant decoupled --encoder static:vectors.txt \\
        -o static
    """
    how = training.make_setting(**setting)
    from closeread.corpus.models import place_golds
    from closeread.tasks.tne.model_options import SPLITS
    from closeread.tasks.tne.models import train as train_model

    given = {"training": (learnt, split), "validation": (validation, validation_split), "test": (None, None)}
    golds = training.read_golds("tne", place_golds(SPLITS, given, config, data_dir))
    with training.showing_progress() as progress:
        train_model(
            golds,
            run,
            how,
            encoder=encoder,
            variant=variant,
            encoder_dropout=encoder_dropout,
            resume=resume,
            progress=progress,
        )
    training.tell_result(run)


@click.command(cls=options.WritingCommand, short_help="Predict the links between noun phrases.")
@training.run
@options.gold_options
@click.option("--documents", type=options.FILE, metavar="FILE", help="Predict these documents; they need no links.")
@click.option(
    "--decoding",
    type=click.Choice(["links", "printed"]),
    default="links",
    show_default=True,
    help="Link the pairs that the model links, or all pairs, as the decoupled rows of the paper's Table 3 do.",
)
@click.option("--no-fallback", is_flag=True, help="Leave out the prepositions of pairs that are not linked.")
@training.precision
@training.device
@options.output
def predict(
    run: Path,
    documents: Path | None,
    decoding: str,
    no_fallback: bool,
    precision: str,
    device: str | None,
    output: Path,
    **place: Any,
) -> None:
    """Predict the links between noun phrases with a trained model, in the format that `closeread score tne`
    reads.

    Unlinked pairs get a preposition, too, for UPrep; --no-fallback omits these, for a much smaller file.

    \b
    Examples:
      closeread predict tne run --split test -o predictions.jsonl
      closeread predict tne run --documents texts.jsonl --no-fallback \\
        -o links.jsonl
    """
    from closeread.neural.devices import check_libraries, choose_device, choose_precision

    check_libraries("a trained model")
    from closeread.corpus.names import load_corpus
    from closeread.corpus.submissions import check_submission_path, write_submission
    from closeread.exceptions import pluralize
    from closeread.tasks.tne.training import predict as predict_rows

    if documents is not None and any(place[name] is not None for name in ("config", "split", "gold")):
        raise click.UsageError("--documents and --config, --split or --gold exclude each other.")
    corpus = load_corpus("tne")
    check_submission_path(output, corpus)
    gold = options.read_gold("tne", **{**place, "gold": documents or place["gold"]})
    chosen = choose_device(device)
    with training.showing_progress() as progress:
        rows = predict_rows(
            gold,
            run,
            decoding=decoding,
            fallbacks=not no_fallback,
            device=chosen,
            precision=choose_precision(precision, chosen),
            progress=progress,
        )
    write_submission(output, rows, corpus)
    links = sum(len(row["relations"]) for row in rows)
    click.echo(escape_line(f"{output}: {pluralize(len(rows), 'document')}, {pluralize(links, 'link')}"))


COMMANDS: Commands = {"train": {"tne": train}, "predict": {"tne": predict}}
