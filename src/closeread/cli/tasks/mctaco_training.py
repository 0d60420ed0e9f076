"""Subcommands for trained models of McTaco."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from closeread.cli import options, training
from closeread.cli.notes import tell
from closeread.exceptions import escape_line

if TYPE_CHECKING:
    from closeread.cli.task_group import Commands
    from closeread.records import Record


def _read_sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, ...]:
    """Return the percentages of a list that is separated by commas."""
    sizes = []
    for text in [] if value is None else value.split(","):
        try:
            size = float(text)
        except ValueError:
            size = -1.0
        if not 0 <= size <= 100:
            raise click.BadParameter(f"{text!r} is not a percentage (expected numbers from 0 to 100).", ctx, param)
        sizes.append(size)
    if len(set(sizes)) < len(sizes):
        raise click.BadParameter("a percentage is given twice.", ctx, param)
    return tuple(sizes)


@click.command(cls=options.WritingCommand, short_help="Train a classifier of candidate answers.")
@click.option(
    "--encoder",
    metavar="ENCODER",
    required=True,
    help="Fine-tune this encoder: a name on the Hugging Face Hub, or a folder.",
)
@click.option("--training", "learnt", type=options.FILE, metavar="FILE", help="Train on this file.")
@click.option("--split", metavar="NAME", help="Train on this split of the corpus.  [default: validation]")
@options.config
@options.data_dir
@click.option(
    "--held-out",
    type=options.NumberRange(0, 1, min_open=True, max_open=True),
    metavar="X",
    help="Hold out this share of the sentences, and choose the best epoch by their questions.  [default: 0.1]",
)
@click.option(
    "--validation", type=options.FILE, metavar="FILE", help="Choose the best epoch by the scores on this file instead."
)
@click.option("--test", type=options.FILE, metavar="FILE", help="Score trained models on this file.")
@click.option("--test-split", metavar="NAME", help="Score trained models on this split of the corpus.")
@click.option(
    "--unit-normalization",
    type=click.Choice(["off", "proper", "official"]),
    default="off",
    show_default=True,
    help="Rewrite temporal expressions in answers in their most proper unit, as `closeread perturb mctaco units` does "
    "with this rule.",
)
@training.setting_options(
    "candidates", epochs=3, patience=3, batch_size=32, accumulate=1, learning_rate=2e-5, head_learning_rate=2e-5
)
@click.option(
    "--encoder-dropout",
    type=options.NumberRange(0, 1, max_open=True),
    metavar="X",
    help="Dropout inside the encoder.  [default: its own]",
)
@click.option(
    "--seeds",
    type=click.IntRange(1),
    metavar="N",
    help="Train N models with consecutive seeds, starting at --seed, each in a folder of its own.",
)
@click.option(
    "--sizes",
    callback=_read_sizes,
    metavar="LIST",
    help="Train a model on each of these percentages of the questions, such as 0,10,50,100; 0 is an untrained model.",
)
@training.resume
@options.style_options
@training.folder
def train(
    encoder: str,
    held_out: float | None,
    unit_normalization: str,
    encoder_dropout: float | None,
    seeds: int | None,
    sizes: tuple[float, ...],
    resume: bool,
    style: Any,
    run: Path,
    **values: Any,
) -> None:
    """Train a classifier of candidate answers: does the answer fit the sentence and the question?
    (Zhou et al., 2019, section 4)

    The folder RUN contains the parameters of the best epoch, by F1 on held-out questions; run.json with the settings,
    the versions and the scores of all epochs; and, during training, a checkpoint from which --resume continues.  With
    --seeds or --sizes, RUN contains such a folder for each model (seed-0, or size-10/seed-0), and run.json has the
    scores of all of them; --resume continues with the first that is not complete.

    \b
    Examples:
      closeread train mctaco --encoder bert-base-uncased -o run
      closeread train mctaco --encoder bert-base-uncased --seeds 3 \\
        --unit-normalization proper --test-split test -o runs
      closeread train mctaco --encoder bert-base-uncased --seeds 5 \\
        --sizes 0,10,25,50,100 --test-split test -o curve
    """
    own, splits, place = (
        {name: values.pop(name) for name in names}
        for names in (("learnt", "validation", "test"), ("split", "test_split"), ("config", "data_dir"))
    )
    how = training.make_setting(**values)
    from closeread.cli.printing import show_result
    from closeread.corpus.models import place_golds
    from closeread.tasks.mctaco.model_options import SPLITS
    from closeread.tasks.mctaco.models import train as train_model

    given = {
        "training": (own["learnt"], splits["split"]),
        "validation": (own["validation"], None),
        "test": (own["test"], splits["test_split"]),
    }
    golds = training.read_golds("mctaco", place_golds(SPLITS, given, **place))
    with training.showing_progress() as progress:
        found = train_model(
            golds,
            run,
            how,
            encoder=encoder,
            held_out=held_out,
            unit_normalization=unit_normalization,
            encoder_dropout=encoder_dropout,
            seeds=seeds,
            sizes=sizes,
            resume=resume,
            progress=progress,
            tell=lambda sentence: tell([sentence]),
        )
    show_result(style, found)


@click.command(cls=options.WritingCommand, short_help="Predict the labels of candidate answers.")
@click.argument("run", type=training.FOLDER, required=False)
@options.gold_options
@click.option(
    "--questions",
    type=options.FILE,
    metavar="FILE",
    help="Predict the candidates of this file of JSON Lines; they need no labels.",
)
@click.option(
    "--run-seed", type=click.IntRange(min=0), metavar="N", help="If RUN holds several runs, use the one with this seed."
)
@click.option(
    "--zero-shot",
    metavar="MODEL",
    help="Label answers by their likelihood under this masked or causal language model (a name on the Hugging Face "
    "Hub, or a folder), instead of with a trained model.",
)
@click.option(
    "--threshold",
    type=options.NumberRange(max=0),
    metavar="X",
    help="With --zero-shot: label an answer yes if its mean log-likelihood exceeds X.  [default: the mean of the "
    "question's answers]",
)
@click.option(
    "--tune-on",
    metavar="SPLIT",
    help="With --zero-shot: choose the threshold with the best F1 on this split of the corpus.",
)
@click.option(
    "--unit-normalization",
    type=click.Choice(["off", "proper", "official"]),
    help="With --zero-shot: as for `closeread train mctaco`.  [default: off]",
)
@training.precision
@training.device
@options.output
def predict(
    run: Path | None,
    questions: Path | None,
    run_seed: int | None,
    zero_shot: str | None,
    precision: str,
    device: str | None,
    output: Path,
    **values: Any,
) -> None:
    """Predict the labels of candidate answers with a trained model, in the format that `closeread score mctaco`
    reads.

    With --zero-shot, no training is needed: an answer is labelled yes if a language model finds it more likely, after
    the sentence and the question, than the question's answers are on average.  The likelihood is the mean
    log-probability of the tokens of the answer; a masked model gives it with each of them masked in turn (Salazar et
    al., 2020).

    The output is JSON Lines, or one label a line, as the official evaluator reads it, if its name ends in .txt.

    \b
    Examples:
      closeread predict mctaco run --split test -o predictions.jsonl
      closeread predict mctaco runs --run-seed 1 --gold own.tsv -o labels.txt
      closeread predict mctaco --zero-shot gpt2 --tune-on validation \\
        -o predictions.jsonl
    """
    _check_request(run, zero_shot, run_seed, values)
    from closeread.neural.devices import check_libraries, choose_device, choose_precision

    check_libraries("a trained model")
    from closeread.corpus.names import load_corpus
    from closeread.corpus.submissions import check_submission_path, write_submission
    from closeread.exceptions import pluralize

    corpus = load_corpus("mctaco")
    check_submission_path(output, corpus)
    place = {name: values.pop(name) for name in ("config", "split", "gold", "data_dir")}
    records = _read_candidates(questions, place)
    chosen = choose_device(device)
    with training.showing_progress() as progress:
        how: dict[str, Any] = {
            "device": chosen,
            "precision": choose_precision(precision, chosen),
            "progress": progress,
            "tell": lambda sentence: tell([sentence]),
        }
        if zero_shot is None:
            from closeread.tasks.mctaco.trained_runs import find_run
            from closeread.tasks.mctaco.training import predict as predict_rows

            rows = predict_rows(records, find_run(Path(run or ""), run_seed), **how)
        else:
            rows = _predict_untrained(records, zero_shot, place, how, **values)
    write_submission(output, rows, corpus)
    yes = sum(row["label"] == "yes" for row in rows)
    click.echo(escape_line(f"{output}: {pluralize(len(rows), 'candidate')}, {yes:,} yes"))


def _check_request(run: Path | None, zero_shot: str | None, run_seed: int | None, values: dict[str, Any]) -> None:
    """Check that there is one model, and that its options are.

    Raises:
        UsageError: they are not.
    """
    if (run is None) == (zero_shot is None):
        raise click.UsageError("Give either RUN or --zero-shot MODEL.")
    if zero_shot is not None and run_seed is not None:
        raise click.UsageError("--run-seed can't be used with --zero-shot.")
    if values["threshold"] is not None and values["tune_on"] is not None:
        raise click.UsageError("--threshold and --tune-on exclude each other.")
    for name in ("threshold", "tune_on", "unit_normalization"):
        if zero_shot is None and values[name] is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --zero-shot.")


def _read_candidates(questions: Path | None, place: dict[str, Any]) -> Sequence[Record]:
    """Read the candidates to label.

    Raises:
        UsageError: they are in two places.
    """
    if questions is None:
        return options.read_gold("mctaco", **place).records
    if any(place[name] is not None for name in ("config", "split", "gold")):
        raise click.UsageError("--questions and --config, --split or --gold exclude each other.")
    from closeread.corpus.gold import read_rows

    return read_rows(questions, "mctaco", "unlabelled")


def _predict_untrained(
    records: Sequence[Record],
    name: str,
    place: dict[str, Any],
    how: dict[str, Any],
    *,
    threshold: float | None,
    tune_on: str | None,
    unit_normalization: str | None,
) -> list[Record]:
    """Label candidates by their likelihood."""
    from closeread.neural.likelihoods import LikelihoodModel
    from closeread.tasks.mctaco.zero_shot import choose_threshold, label_candidates, score_candidates

    shared = {**how, "unit_normalization": unit_normalization or "off"}
    tuned = None if tune_on is None else options.read_gold("mctaco", **{**place, "gold": None, "split": tune_on})
    model = LikelihoodModel.load(name, how["device"])
    if tuned is not None:
        threshold, f1 = choose_threshold(tuned.records, score_candidates(tuned.records, model, **shared))
        click.echo(f"threshold {threshold:.4f}: F1 {100 * f1:.1f} on {tune_on}")
    return label_candidates(records, score_candidates(records, model, **shared), threshold)


@click.command(cls=options.WritingCommand, short_help="Draw scores by the size of the training data.")
@click.argument("runs", type=options.FILE)
@options.output
def learning_curve(runs: Path, output: Path) -> None:
    """Draw the scores of trained models by the size of their training data, as .png, .svg or .pdf
    (Zhou et al., 2019, Figure 3).

    RUNS is a folder that `closeread train mctaco --sizes` has written.  The bars are standard errors over seeds.

    \b
    Example:
      closeread plot learning-curve curve -o curve.png
    """
    from closeread.cli.pictures import draw
    from closeread.tasks.mctaco.figures import draw_runs

    draw(output, lambda: draw_runs([runs]))


COMMANDS: Commands = {
    "train": {"mctaco": train},
    "predict": {"mctaco": predict},
    "plot": {"learning-curve": learning_curve},
}
