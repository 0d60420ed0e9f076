"""Operations on TNE: commands, and functions in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from closeread.exceptions import RequestError, choose_words, name_option, pluralize
from closeread.parameters import (
    Config,
    Count,
    DataDir,
    GoldSource,
    Intervals,
    Operations,
    Output,
    Param,
    Precision,
    Read,
    RunFolder,
    ScoredPredictions,
    Source,
    Sources,
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
    from closeread.tasks.tne.models import TrainedLinkModel

Gold = Annotated[GoldSource, Param(corpus="tne")]
Field = Literal[
    "distance", "direction", "sentence", "expressed", "mention", "preposition", "domain", "forum"
]


def confusion(
    predictions: Source,
    *,
    place: Gold,
    labels: Annotated[int, within(1, 24)] = 10,
    unlinked: Literal["shown", "hidden"] = "shown",
) -> Drawing:
    """Draw a confusion matrix of prepositions.

    Cells count pairs of noun phrases; colours are base 2 logarithms (Elazar et al., 2021, Figure 5).  If gold has
    several prepositions for a pair, the predicted one is taken if it is among them, and the last one otherwise.

    \b
    Examples:
      closeread plot confusion mine.jsonl -o confusion.png
      closeread plot confusion mine.jsonl --split validation --unlinked hidden \\
        -o confusion.svg

    Args:
        labels: Show this many prepositions, the most frequent in gold.
        unlinked: Show or hide the row and the column of pairs that only one side links.
    """
    from closeread.tasks.tne.figures import draw_confusion

    return draw_confusion(place, predictions, labels=labels, unlinked=unlinked)


def training_curves(
    runs: Annotated[Sequence[Path], Param(metavar="RUNS...")],
) -> Drawing:
    """Draw the loss and the scores of training runs by epoch.

    A dot marks the best epoch.  Each RUN is a folder that `closeread train` has written.  Scores are on validation data.

    \b
    Example:
      closeread plot training coupled decoupled -o curves.png
    """
    from closeread.neural.run_files import draw_training

    return draw_training(runs)


def agreement(
    annotators: Annotated[Sources, Param(metavar="FILES...")],
    *,
    by: Annotated[Sequence[Literal["domain", "forum"]], Param(metavar="[domain|forum]")] = (),
) -> Result:
    """Score the second annotator against the first.

    Links and clusters are scored.  Each file is an annotator.  With more than two, each is scored against all earlier
    ones, and F1 scores and accuracies are averaged over pairs.

    Files are in the corpus's format, JSON Lines or Parquet.  Links may also be given as a system's predictions, with
    the prepositions of unlinked pairs (fallback), which UPrep needs.  Clusters are compared without singletons.
    Layers of annotation that one of the files lacks are not compared.

    \b
    Examples:
      closeread agreement tne anna.jsonl ben.jsonl
      closeread agreement tne anna.jsonl ben.jsonl cem.jsonl --by domain
      closeread agreement tne anna.jsonl.gz ben.jsonl.gz --json

    Args:
        by: Also report scores for each domain, or each forum, of the documents.
    """
    from closeread.tasks.tne.agreement import compare_annotators

    return compare_annotators(annotators, by=by)


def errors(
    predictions: Annotated[ScoredPredictions, Param(corpus="tne")],
    *,
    by: Annotated[Sequence[Field], Param(metavar="FIELD")] = (
        *("distance", "direction", "sentence", "expressed", "mention", "preposition"),
    ),
    limit: Count = 10,
    intervals: Intervals = Intervals(),  # noqa: B008
) -> Result:
    """Break down the errors of links.

    Missing, spurious and confused links are listed.  Precision, recall and F1 are those of `closeread score tne --by
    FIELD`. A pair of noun phrases is missing if only gold links it, spurious if only the system does, and confused if
    both do by different prepositions. CSV has a row for each such pair, with the value of every field.

    \b
    distance    tokens from where the anchor begins to where the complement
                does, before or after it: 0 to 5, 6 to 10, 11 to 20, 21 to 50,
                51 to 100, over 100
    direction   the complement begins before the anchor, after it, or at the
                same token
    sentence    both begin in the same sentence or not; sentences end at the
                tokens . ! ? and at line ends
    expressed   explicit if the anchor, a preposition and the complement follow
                each other in the text, otherwise implicit
    mention     the complement is the only mention of its coreference cluster,
                the first, or a further one

    \b
    Examples:
      closeread errors tne mine.jsonl
      closeread errors tne mine.jsonl --by distance,mention --limit 20
      closeread errors tne mine.jsonl --split validation \\
        --format csv > pairs.csv

    Args:
        by: Break down the scores by this field; separate several by commas. Choose from: distance, direction, sentence,
            expressed, mention, preposition, domain, forum.  [default: all but domain and forum]
        limit: List at most this many confusions, triplets and documents; JSON lists all but triplets, CSV all pairs.
    """
    from closeread.counts.counts import make_report
    from closeread.tasks.tne.errors import analyse_links, make_error_report

    table = predictions.counted.table
    report = make_report(predictions.counted, by=by, resampling=intervals.make_resampling())
    analysis = analyse_links(predictions.gold.records, predictions.system.rows, table)
    return make_error_report(report, analysis, table, limit)


def convert(
    predictions: Source,
    *,
    form: Annotated[Literal["arrays", "jsonl", "gold"] | None, Param(flag="--to")] = None,
    close: bool = False,
    clusters: Read | None = None,
    place: Gold,
    output: Output | None = None,
) -> Written:
    """Convert predictions, or turn them into gold.

    Formats are JSON Lines and the leaderboard's arrays.  The file is validated as by `closeread validate`.  An array
    holds one preposition for each pair of noun phrases and no fallbacks; a note says how many of them are lost.

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

    Args:
        form: Convert to the leaderboard's arrays, to JSON Lines of links, or to gold documents with these links.
            Required to write a file, unless links are spread: then JSON Lines by default.
        close: Spread links over clusters: link each anchor to all members of its complement's cluster.
        clusters: Take clusters from this file, JSON Lines with id and coref, instead of gold.  Used by --close and --to
            gold.
    """
    from closeread.corpus.gold import dump_gold, read_corpus_gold, read_file
    from closeread.corpus.names import load_corpus
    from closeread.corpus.notices import warn_all
    from closeread.corpus.predictions import read_systems
    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.tne import closure, tne_arrays

    # In Python, which returns the records, links are written as JSON Lines by default.
    required = choose_words("--to or --close is needed to write a file", "")
    if required and form is None and not close:
        raise RequestError(required)
    if clusters is not None and not close and form != "gold":
        uses = f"{name_option('close')} or {choose_words('--to', 'form=')} gold"
        raise RequestError(f"{name_option('clusters')} has no effect without {uses}")
    gold = read_corpus_gold(place)
    corpus = load_corpus("tne")
    notices = list(gold.notices)
    documents: Sequence[Record] = gold.records
    if clusters is not None:
        clustered = read_file(corpus, clusters, corpus.default_split, "annotation")
        documents = closure.replace_clusters(documents, clustered, str(clusters))
    system = read_systems(gold, predictions.source, "error")
    rows = [row for row in system.rows if row is not None]
    n_given = sum(len(row["relations"]) for row in rows)
    if close:
        rows = closure.close_rows(rows, documents)
    n_added = sum(len(row["relations"]) for row in rows) - n_given
    records = rows
    if form == "arrays":
        text = tne_arrays.dump_submission(rows, documents)
        notices += tne_arrays.describe_losses(rows)
    elif form == "gold":
        records = closure.make_gold(rows, documents, predictions.name)
        text = "" if output is None else dump_gold(corpus, output, records)
    else:
        text = dump_json_lines(rows)
    if output is not None:
        write_text(output, text)
    warn_all(notices)
    size = pluralize(len(rows), "document")
    if close:
        size += f"; {pluralize(n_given, 'link')} given, {n_added:,} added"
    return Written(output, size, records)


def adjudicate(
    annotators: Annotated[Sequence[Path], Param(kind="read")],
    *,
    conflicts: Write | None = None,
    output: Output,
) -> Written:
    """Keep common links and list the others.

    Links that all annotators have are kept, and the others are listed for a person to decide (Elazar et al., 2022).
    Annotators' files are in the corpus's format, JSON Lines or Parquet, with the same clusters.  A conflict is an
    anchor and a cluster whose links differ between annotators: a line of JSON with their words and every annotator's
    prepositions (A, B and so on, in the order of the files).

    \b
    Example:
      closeread adjudicate tne anna.jsonl ben.jsonl --conflicts conflicts.jsonl \\
        -o agreed.jsonl

    Args:
        conflicts: Write the links that only some annotators have to FILE.
    """
    from closeread.corpus.gold import dump_gold, read_file
    from closeread.corpus.names import load_corpus
    from closeread.exceptions import read_all
    from closeread.files import write_texts
    from closeread.formats.json_lines import dump_json_lines
    from closeread.tasks.tne import consolidation
    from closeread.tasks.tne.tne_jsonl import UNSAFE

    corpus = load_corpus("tne")
    documents = read_all(annotators, lambda path: read_file(corpus, path, corpus.default_split))
    comparison = consolidation.compare_links(documents, [str(path) for path in annotators])
    gold = consolidation.keep_common_links(comparison)
    rows = consolidation.list_conflicts(comparison)
    texts = {output: dump_gold(corpus, output, gold)}
    if conflicts is not None:
        texts[conflicts] = dump_json_lines(rows, UNSAFE)
    write_texts(texts)
    links = sum(len(record["np_relations"]) for record in gold)
    size = f"{pluralize(len(gold), 'document')}, {pluralize(links, 'link')}"
    place = f" (in {conflicts})" if conflicts is not None else ""
    return Written(output, f"{size}; {pluralize(len(rows), 'conflict')}{place}", gold)


def build(
    texts: Annotated[Sequence[Path], Param(kind="read", metavar="FILE...")],
    *,
    spacy_model: Annotated[str, Param(metavar="NAME")],
    paragraphs: Times | None = None,
    output: Output,
) -> Written:
    """Build unlabelled documents from plain texts.

    Each FILE is a text (Elazar et al., 2022, sections 4 and 5.1): a title, a subtitle, and paragraphs, each on a line;
    blank lines don't matter.  A folder stands for the .txt files in it.  A document has the name of its file as its
    id, and is laid out as in the corpus.  Noun phrases are the base noun phrases that spaCy finds, without pronouns;
    each is a cluster of its own.  Documents are written as JSON Lines.

    Needs spaCy (pip install 'closeread[spacy]') and a pipeline with a tagger and a parser, such as that of the paper:
    `python -m spacy download en_core_web_sm` installs it.

    \b
    Examples:
      closeread prepare tne documents ferry.txt bridge.txt --spacy-model en_core_web_sm \\
        -o documents.jsonl
      closeread prepare tne documents texts --spacy-model en_core_web_sm --paragraphs 3 \\
        -o documents.jsonl

    Args:
        spacy_model: Use this spaCy pipeline, installed or in a folder.
        paragraphs: Keep only the first N paragraphs (in the paper: 3).  [default: all]
    """
    from closeread.corpus.gold import find_gold_writer
    from closeread.corpus.names import load_corpus
    from closeread.corpus.notices import warn_all
    from closeread.corpus.pipelines import load_pipeline
    from closeread.files import write_text
    from closeread.tasks.tne.building import build_documents, read_texts
    from closeread.tasks.tne.tne_jsonl import dump_records

    find_gold_writer(load_corpus("tne"), output)  # or what takes long would be refused at its end
    plain = read_texts(texts)
    pipeline = load_pipeline(spacy_model, "building documents")
    records, notices = build_documents(plain, pipeline, spacy_model, paragraphs)
    write_text(output, dump_records(records))
    warn_all(notices)
    n_phrases = sum(len(record["nps"]) for record in records)
    return Written(
        output, f"{pluralize(len(records), 'document')}, {pluralize(n_phrases, 'noun phrase')}"
    )


@dataclass(frozen=True)
class LinkModelSettings(TrainingSettings):
    """How to train a model of links between noun phrases.

    Attributes:
        encoder: Fine-tune this encoder: a name on the Hugging Face Hub, or a folder.  frozen:NAME keeps its weights
            fixed; static:FILE uses word vectors from a file.
        batch_size: Train on batches of N documents.
        encoder_dropout: Dropout inside an encoder that is fine-tuned.  [default: its own]
        variant: Predict links and their prepositions together, or first links, then prepositions.
    """

    variant: Literal["coupled", "decoupled"] = "coupled"


def train(
    *,
    settings: LinkModelSettings = LinkModelSettings(),
    config: Config = None,
    split: Split = None,
    training: TrainingFile = None,
    validation_split: Split = None,
    validation: TrainingFile = None,
    data_dir: DataDir = None,
    resume: bool = False,
    output: RunFolder,
) -> TrainedLinkModel:
    """Train a model of links between noun phrases.

    The model is that of Elazar et al. (2022), section 8.  The folder RUN contains the parameters of the best epoch, by
    F1 on the validation documents; run.json with the settings, the versions and the scores of all epochs; curves.svg,
    which plots them; and, during training, a checkpoint from which --resume continues.

    \b
    Examples:
      closeread train tne --encoder SpanBERT/spanbert-base-cased -o run
      closeread train tne --encoder frozen:SpanBERT/spanbert-base-cased -o frozen
      closeread train tne --variant decoupled --encoder static:vectors.txt \\
        -o static

    Args:
        split: Train on this split.  [default: train]
        training: Train on this file instead.
        validation_split: Choose the best epoch by the scores on this split.  [default: validation]
        validation: Choose the best epoch by the scores on this file instead.
        resume: Continue the run in the folder from its last checkpoint.
        output: Write the trained model to this folder.
    """
    from closeread.neural.devices import choose_hardware

    choose_hardware(settings.device, settings.precision)  # before data are read
    from closeread.corpus.predictions import read_golds
    from closeread.neural.run_files import write_curves
    from closeread.tasks.tne.models import TrainedLinkModel
    from closeread.tasks.tne.models import train as train_run

    splits = {"training": "train", "validation": "validation"}
    sources = {"training": (training, split), "validation": (validation, validation_split)}
    golds = read_golds("tne", splits, sources, config, data_dir)
    train_run(golds["training"], golds["validation"], output, settings, resume=resume)
    write_curves(output)
    return TrainedLinkModel.read(output)


def predict(
    run: Path,
    *,
    place: Gold,
    documents: Annotated[Source | None, Param(metavar="FILE")] = None,
    decoding: Literal["links", "printed"] = "links",
    fallbacks: Annotated[bool, Param(flag="--no-fallback")] = True,
    precision: Precision = "auto",
    device: Annotated[str | None, Param(metavar="NAME")] = None,
    output: Output | None = None,
) -> Written:
    """Predict the links between noun phrases.

    Links are predicted with a trained model, in the format that `closeread score tne` reads.  Unlinked pairs get a
    preposition, too, for UPrep; --no-fallback omits these, for a much smaller file.

    \b
    Examples:
      closeread predict tne run --split test -o predictions.jsonl
      closeread predict tne run --documents texts.jsonl --no-fallback \\
        -o links.jsonl

    Args:
        documents: Predict these documents; they need no links.
        decoding: Link the pairs that the model links, or all pairs, as the decoupled rows of the paper's Table 3 do.
        fallbacks: Leave out the prepositions of pairs that are not linked.
    """
    from closeread.neural.devices import choose_hardware

    hardware = choose_hardware(device, precision)
    from closeread.corpus.gold import read_corpus_gold
    from closeread.corpus.notices import warn_all
    from closeread.corpus.predictions import check_place, write_predictions
    from closeread.tasks.tne.models import predict as predict_rows

    if documents is not None:
        place = replace(check_place("documents", place), gold=documents.source)
    with write_predictions("tne", output) as write:
        gold = read_corpus_gold(place)
        warn_all(gold.notices)
        rows = predict_rows(gold, run, hardware, decoding=decoding, fallbacks=fallbacks)
        write(rows)
    links = sum(len(row["relations"]) for row in rows)
    return Written(output, f"{pluralize(len(rows), 'document')}, {pluralize(links, 'link')}", rows)


OPERATIONS: Operations = {
    "adjudicate": {"tne": adjudicate},
    "agreement": {"tne": agreement},
    "convert": {"tne": convert},
    "errors": {"tne": errors},
    "plot": {
        "confusion": confusion,
        "training": training_curves,
    },
    "predict": {"tne": predict},
    "prepare tne": {"documents": build},
    "train": {"tne": train},
}
