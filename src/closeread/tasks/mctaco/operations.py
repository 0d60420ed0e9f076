"""Operations on McTaco: commands, and functions in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from closeread.exceptions import (
    RequestError,
    describe_unknown,
    fill_options,
    name_option,
    pluralize,
)
from closeread.parameters import (
    Config,
    Count,
    DataDir,
    GoldSource,
    Intervals,
    Name,
    Number,
    Operations,
    Output,
    Param,
    Precision,
    Read,
    RunFolder,
    ScoredPredictions,
    Seed,
    Split,
    Times,
    TrainingFile,
    TrainingSettings,
    Write,
    Written,
    within,
)

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.counts.results import Result
    from closeread.records import Record

NO_EVENTS = "none"
"""In place of a category of events: no answers are events."""

Annotators = Annotated[Sequence[Path], Param(kind="read")]
UnitNormalization = Literal["off", "proper", "official"]
Field = Literal["category", "unit", "question_size", "gold_yes"]
Gold = Annotated[GoldSource, Param(corpus="mctaco")]


def learning_curve(runs: Annotated[Read, Param(metavar="RUNS")]) -> Drawing:
    """Draw scores by the size of the training data.

    RUNS is a folder that `closeread train mctaco --sizes` has written (Zhou et al., 2019, Figure 3).  The bars are
    standard errors over seeds.

    \b
    Example:
      closeread plot learning-curve curve -o curve.png
    """
    from closeread.tasks.mctaco.figures import draw_runs

    return draw_runs(runs)


def errors(
    predictions: Annotated[ScoredPredictions, Param(corpus="mctaco")],
    *,
    by: Annotated[Sequence[Field], Param(metavar="FIELD")] = get_args(Field),
    limit: Count = 5,
    intervals: Intervals = Intervals(),  # noqa: B008
) -> Result:
    """Break down the errors of labels.

    The questions with the most errors are listed.  A candidate is falsely yes if only the system labels it yes, and
    falsely no if only gold does. CSV has a row for each wrong candidate, with the value of every field.

    \b
    category       the category of the question, as in
                   `closeread score mctaco --by category`
    unit           the unit of time that an answer names, from second to
                   century; several or none. For a unit, exact match and F1
                   consider only the candidates that name it
    question_size  how many candidates the question has: 1 to 4, 5 to 8,
                   9 to 12, over 12
    gold_yes       the share of the question's candidates that gold labels yes:
                   none, up to 25%, up to 50%, up to 75%, over 75%, all

    \b
    Examples:
      closeread errors mctaco mine.jsonl
      closeread errors mctaco mine.txt --by category,unit --limit 20
      closeread errors mctaco mine.jsonl --split validation \\
        --format csv > wrong.csv

    Args:
        by: Break down the scores by this field; separate several by commas. Choose from: category, unit, question_size,
            gold_yes.  [default: all]
        limit: List at most this many questions in tables; JSON and CSV list all.
    """
    from closeread.tasks.mctaco.errors import report_errors

    return report_errors(predictions, by, intervals.make_resampling(), limit)


def adjudicate(
    annotators: Annotators,
    *,
    candidates: Read | None = None,
    dropped: Write | None = None,
    output: Output,
) -> Written:
    """Keep the candidates that all annotators label alike.

    A candidate is kept if all label it likely, or all unlikely (Zhou et al., 2019, step 4).  Each annotator's file is
    JSON Lines: {"id": ..., "label": "likely" | "unlikely" | "invalid"}.  The paper used four annotators.  With
    --candidates, a file written by `closeread prepare mctaco candidates`, the output is a gold file; otherwise it has
    only ids and labels.

    \b
    Example:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl dan.jsonl \\
        --candidates candidates.jsonl -o gold.jsonl

    Args:
        candidates: Take the full records from this file of candidates, so that the output is a gold file.
        dropped: Write the dropped candidates with their labels to FILE.
    """
    from closeread.corpus.gold import dump_gold
    from closeread.corpus.names import load_corpus
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.mctaco import annotation

    labels = annotation.read_labels(annotators)
    gold_labels = annotation.find_unanimous(labels)
    rows = annotation.gold_rows(gold_labels, candidates)
    dropped_rows = []
    for name, votes in labels.items():
        if name not in gold_labels:
            dropped_rows.append({"id": name, "labels": list(votes)})
    if candidates is None:
        text = dump_json_lines(rows)
    else:
        text = dump_gold(load_corpus("mctaco"), output, rows)
    annotation.write_decisions(output, text, dropped, dropped_rows)
    n_yes = list(gold_labels.values()).count("yes")
    n_no = len(rows) - n_yes
    summary = f"{len(rows):,} kept ({n_yes:,} yes, {n_no:,} no), {len(dropped_rows):,} dropped"
    if labels:
        agreement = annotation.measure_observed_agreement(labels)
        summary += f"; observed agreement {agreement:.3f}"
    return Written(output, summary, rows)


def adjudicate_questions(
    annotators: Annotators, *, place: Gold, dropped: Write | None = None, output: Output
) -> Written:
    """Keep the questions that all annotators accept.

    Each annotator's file is JSON Lines (Zhou et al., 2019, step 2): {"question_id": ..., "category": ...,
    "from_sentence": "no", "correct": "yes"}.  A question is accepted if the annotator gave it its category ("none" if
    it has none of the five), it is not answered by a word or phrase of the sentence, and it is grammatically and
    logically correct.  The paper used two annotators.  The output has the rows of these questions, as JSON Lines if its
    name ends in .jsonl, and otherwise in the released format.

    \b
    Example:
      closeread adjudicate mctaco-questions anna.jsonl ben.jsonl \\
        --gold questions.jsonl --dropped dropped.jsonl -o verified.jsonl

    Args:
        dropped: Write the dropped questions with the reasons to FILE.
    """
    from closeread.corpus.gold import dump_gold
    from closeread.corpus.predictions import read_noted_gold
    from closeread.tasks.mctaco import annotation

    gold = read_noted_gold(place)
    verifications = annotation.read_verifications(annotators)
    reasons_by_question = annotation.filter_questions(gold.records, verifications)
    rows = [record for record in gold.records if not reasons_by_question[record["question_id"]]]
    dropped_rows = []
    for question, reasons in reasons_by_question.items():
        if reasons:
            dropped_rows.append({"question_id": question, "reasons": reasons})
    text = dump_gold(gold.corpus, output, rows)
    annotation.write_decisions(output, text, dropped, dropped_rows)
    n_kept = pluralize(len(reasons_by_question) - len(dropped_rows), "question")
    summary = f"{n_kept} kept ({pluralize(len(rows), 'row')}), {len(dropped_rows):,} dropped"
    return Written(output, summary, rows)


def units(
    *, place: Gold, rule: Literal["proper", "official"] = "proper", output: Output
) -> Written:
    """Rewrite temporal expressions in their most proper unit.

    "30 months" becomes "2.5 years".  The output is JSON Lines if its name ends in .jsonl, otherwise the released
    format; --gold reads both.

    \b
    Examples:
      closeread prepare mctaco units --split validation -o normal.jsonl
      closeread prepare mctaco units --rule official -o normal.tsv

    Args:
        rule: How to choose the unit: the largest that gives at least 1, or as the authors' script does (at least 0.5,
            months of 30 days).
    """
    from closeread.corpus.gold import dump_gold
    from closeread.corpus.predictions import read_noted_gold
    from closeread.files import write_text
    from closeread.tasks.mctaco.perturbation.units import normalize_units

    gold = read_noted_gold(place)
    rows = []
    n_changed = 0
    for record in gold.records:
        answer = normalize_units(record["answer"], rule=rule)
        n_changed += answer != record["answer"]
        rows.append({**record, "answer": answer})
    write_text(output, dump_gold(gold.corpus, output, rows))
    return Written(output, f"{len(rows):,} rows, {n_changed:,} answers rewritten", rows)


def candidates(
    *,
    place: Gold,
    number_rule: Literal["both", "plus_one", "times_ten", "off"] = "both",
    changes: Annotated[int, within(1, 3)] = 1,
    units: Literal["table", "any"] = "table",
    events: Annotated[Sequence[str], Param(metavar="CATEGORY")] = (),
    fill_mask: Annotated[str | None, Param(metavar="MODEL")] = None,
    device: Name = None,
    phrases: Read | None = None,
    limit: Number = 20,
    seed: Seed = 0,
    output: Output,
) -> Written:
    """Add candidate answers to every question.

    Candidates are made by rules, then by masking words; for events, by retrieving phrases.  Each technique is used as
    long as a question has fewer than --limit candidates.  New candidates have no label: have them annotated, and merge
    the labels with `closeread adjudicate mctaco`.

    \b
    Examples:
      closeread prepare mctaco candidates --config sample -o candidates.jsonl
      closeread prepare mctaco candidates --changes 2 --units any \\
        --phrases events.txt -o candidates.jsonl
      closeread prepare mctaco candidates --events none --number-rule off \\
        -o candidates.jsonl
      closeread prepare mctaco candidates --fill-mask bert-base-uncased \\
        -o candidates.jsonl

    Args:
        number_rule: How the rules change numbers, 'once' and 'twice' included: to the next number, to ten times as
            many, both, or not at all.
        changes: Make up to this many changes by rules at once.
        units: Replace a unit by those of its set in the paper's table, or by any other.
        events: Treat answers to questions of this category as events: retrieve phrases for them, and use rules and
            masks for the others only.  Repeat it for several categories; 'none' uses everything for all answers.
            [default: Event Ordering]
        fill_mask: Mask words and fill them with this Hugging Face model (a name or a folder).
        device: Run the model on this device, such as 'cuda:0'.  [default: the first GPU if any]
        phrases: Retrieve phrases from this file, which has one per line.
        limit: Stop adding candidates to a question when it has this many.
    """
    from collections import Counter

    from closeread.corpus.predictions import read_noted_gold
    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.mctaco.perturbation import candidates as making

    categories = _choose_events(events)
    gold = read_noted_gold(place)
    techniques = [making.by_rules(number_rule=number_rule, changes=changes, units=units)]
    if phrases is not None:
        techniques.append(making.by_retrieval(making.read_index(phrases)))
    # A model is loaded after phrases are read, since it takes long, but its answers come before theirs.
    if fill_mask is not None:
        from closeread.neural.fill_mask import FillMask

        model = FillMask(fill_mask, device=device)
        techniques.insert(1, making.by_masking(model, mask_token=model.mask_token))
    _warn_of_events(gold.records, categories, has_phrases=phrases is not None)
    rows = making.expand(gold.records, techniques, events=categories, limit=limit, seed=seed)
    write_text(output, dump_json_lines(rows))
    n_by_technique = Counter(row["technique"] for row in rows)
    numbers = ", ".join(f"{n:,} {technique}" for technique, n in n_by_technique.items())
    return Written(output, f"{len(rows):,} rows ({numbers})", rows)


def _choose_events(events: Sequence[str]) -> Sequence[str]:
    """Return the categories whose answers are events, each once."""
    from closeread.tasks.mctaco.perturbation.candidates import EVENTS
    from closeread.tasks.mctaco.procedure import CATEGORIES

    choices = (*CATEGORIES, NO_EVENTS)
    for category in events:
        if category not in choices:
            raise RequestError(describe_unknown("category of events", category, choices))
    distinct = list(dict.fromkeys(events or EVENTS))
    if NO_EVENTS not in distinct:
        return distinct
    if len(distinct) > 1:
        raise RequestError(f"events: '{NO_EVENTS}' excludes other categories")
    return []


def _warn_of_events(
    records: Sequence[Record], categories: Sequence[str], *, has_phrases: bool
) -> None:
    """Warn if there are events without phrases, or phrases without events."""
    from closeread.corpus.notices import warn

    names = ", ".join(categories)
    questions = {record["question_id"] for record in records if record["category"] in categories}
    if questions and not has_phrases:
        advice = f"see {name_option('phrases')}, or use {name_option('events', NO_EVENTS)}"
        lack = f"{pluralize(len(questions), 'question')} of {names} will get no new candidates"
        warn(f"{lack}: their answers are events, for which phrases are retrieved ({advice}).")
    if categories and not questions and has_phrases:
        advice = f"see {name_option('events')}"
        warn(f"no phrases are retrieved: there is no question of {names} ({advice}).")


@dataclass(frozen=True)
class ClassifierSettings(TrainingSettings):
    """How to train a classifier of candidate answers.

    Attributes:
        batch_size: Train on batches of N candidate answers.
        validation_share: Choose the best epoch by the questions of this share of the sentences, which are not learnt
            from.  [default: 0.1]
        unit_normalization: Rewrite temporal expressions in answers in their most proper unit, as `closeread prepare
            mctaco units` does with this rule.
    """

    validation_share: Annotated[
        float | None, within(0, 1, above=True, below=True), Param(metavar="X")
    ] = None
    unit_normalization: UnitNormalization = "off"


def train(
    *,
    settings: ClassifierSettings = ClassifierSettings(
        epochs=3, patience=3, batch_size=32, learning_rate=2e-5, head_learning_rate=2e-5
    ),
    training: TrainingFile = None,
    split: Split = None,
    config: Config = None,
    data_dir: DataDir = None,
    validation: TrainingFile = None,
    test: TrainingFile = None,
    test_split: Split = None,
    seeds: Times | None = None,
    sizes: Annotated[Sequence[float], within(0, 100), Param(metavar="LIST")] = (),
    resume: bool = False,
    output: RunFolder,
) -> Result:
    """Train a classifier of candidate answers.

    Does the answer fit the sentence and the question (Zhou et al., 2019, section 4)?  The folder RUN contains the
    parameters of the best epoch, by F1 on validation questions; run.json with the settings, the versions and the scores
    of all epochs; and, during training, a checkpoint from which --resume continues.  With --seeds or --sizes, RUN
    contains such a folder for each model (seed-0, or size-10/seed-0), and run.json has the scores of all of them;
    --resume continues with the first that is not complete.

    \b
    Examples:
      closeread train mctaco --encoder bert-base-uncased -o run
      closeread train mctaco --encoder bert-base-uncased --seeds 3 \\
        --unit-normalization proper --test-split test -o runs
      closeread train mctaco --encoder bert-base-uncased --seeds 5 \\
        --sizes 0,10,25,50,100 --test-split test -o curve

    Args:
        training: Train on this file.
        split: Train on this split of the corpus.  [default: validation]
        validation: Choose the best epoch by the scores on this file instead.
        test: Score trained models on this file.
        test_split: Score trained models on this split of the corpus.
        seeds: Train N models with consecutive seeds, starting at --seed, each in a folder of its own.
        sizes: Train a model on each of these percentages of the questions, such as 0,10,50,100; 0 is an untrained
            model.
        resume: Continue the run in the folder from its last checkpoint.
        output: Write the trained model to this folder.
    """
    from closeread.neural.devices import choose_hardware

    # Before data are read, which takes longer.
    choose_hardware(settings.device, settings.precision)
    from closeread.corpus.predictions import read_golds
    from closeread.tasks.mctaco import models

    if len(set(sizes)) < len(sizes):
        raise RequestError("sizes: a percentage is given twice")
    if validation is not None and settings.validation_share is not None:
        raise RequestError(fill_options("{validation_share} and {validation} exclude each other"))
    sources = {
        "training": (training, split),
        "validation": (validation, None),
        "test": (test, test_split),
    }
    golds = read_golds("mctaco", {"training": "validation"}, sources, config, data_dir)
    if seeds is None and not sizes:
        trained = models.train(golds, output, settings, resume=resume)
        return models.TrainedRuns([trained], is_complete=True)
    numbers = range(settings.seed, settings.seed + (seeds or 1))
    return models.train_several(golds, output, settings, seeds=numbers, sizes=sizes, resume=resume)


def predict(
    run: Path,
    *,
    place: Gold,
    questions: Read | None = None,
    precision: Precision = "auto",
    device: Name = None,
    output: Output | None = None,
) -> Written:
    """Predict the labels of candidate answers.

    Labels are predicted with a trained model, in the format that `closeread score mctaco` reads: JSON Lines, or one
    label per line, as the official evaluator reads it, if the name of the output ends in .txt.

    \b
    Examples:
      closeread predict mctaco run --split test -o predictions.jsonl
      closeread predict mctaco runs/seed-1 --gold own.tsv -o labels.txt

    Args:
        questions: Predict the candidates of this file of JSON Lines; they need no labels.
    """
    from closeread.neural.devices import choose_hardware

    hardware = choose_hardware(device, precision)
    from closeread.corpus.gold import read_rows
    from closeread.corpus.predictions import check_place, read_noted_gold, write_predictions
    from closeread.tasks.mctaco import models

    with write_predictions("mctaco", output) as write:
        if questions is not None:
            check_place("questions", place)
            records: Sequence[Record] = read_rows(questions, "mctaco", "unlabeled")
        else:
            records = read_noted_gold(place).records
        rows = models.predict(records, run, hardware)
        write(rows)
    n_yes = sum(row["label"] == "yes" for row in rows)
    return Written(output, f"{pluralize(len(rows), 'candidate')}, {n_yes:,} yes", rows)


OPERATIONS: Operations = {
    "adjudicate": {"mctaco": adjudicate, "mctaco-questions": adjudicate_questions},
    "errors": {"mctaco": errors},
    "plot": {"learning-curve": learning_curve},
    "predict": {"mctaco": predict},
    "prepare mctaco": {"candidates": candidates, "units": units},
    "train": {"mctaco": train},
}
