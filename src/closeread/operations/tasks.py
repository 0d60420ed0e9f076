"""What tasks offer, each kind of operation by one function: annotators, errors, conversions, baselines and models.

Keywords that a function does not name are the options of its command; `gold`, `config`, `split` and `data_dir` are as
for `closeread.score`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.corpus.names import choose_equivalent, find_corpus
from closeread.exceptions import RequestError
from closeread.files import take_path
from closeread.operations.calling import call, check_group, find_operations
from closeread.parameters import Written, describe
from closeread.public_names import AnyCorpus
from closeread.records import FileOrRows, OptionValue

if TYPE_CHECKING:
    from closeread.corpus.figures import Drawing
    from closeread.counts.estimates import Resampling
    from closeread.counts.results import Result
    from closeread.drawing.pictures import Figure
else:
    Resampling = object  # its module imports NumPy; `call` checks it


def agreement(
    corpus: AnyCorpus, *annotators: FileOrRows, **options: str | Sequence[str] | int | FileOrRows
) -> Result:
    """Measure the agreement of annotators.

    On the command line:
      closeread agreement wikipossessions anna.csv ben.csv
      closeread agreement tne anna.jsonl ben.jsonl
      closeread agreement timeline anna/ ben/ cem/
      closeread agreement coref anna.conll ben.conll cem.conll

    Args:
        corpus: the name of a corpus or a procedure.
        *annotators: what each annotated: a file, a folder or objects, as for `closeread.score`.
        **options: such as `setting="partial"` for "wikipossessions", `by="domain"` for "tne" and `given` for "coref".

    Returns:
        The measures and their tables, which print themselves.

    >>> anna = {"letter": [[[0, 0], [1, 1], [2, 2]]]}
    >>> ben = {"letter": [[[0, 0], [1, 1]], [[2, 2]]]}
    >>> print(closeread.agreement("coref", anna, ben).to_dict()["iaa1"])
    0.0
    """
    agreed: Result = call("agreement", corpus, annotators, "measure of agreement", **options)
    return agreed


def adjudicate(
    kind: str, *annotators: str | Path, output: str | Path, **options: OptionValue
) -> Written:
    """Merge the labels of several annotators into gold.

    On the command line:
      closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl -o kept.jsonl
      closeread adjudicate tne anna.jsonl ben.jsonl -o agreed.jsonl
      closeread adjudicate coref anna.conll ben.conll cleo.conll -o gold.conll

    Args:
        kind: "coref", "tne", "mctaco", or "mctaco-questions".
        *annotators: their files, or for "coref" also folders.
        output: the file to write.
        **options: the options of the command, such as `conflicts` for "tne" and `objective` for "coref".

    Returns:
        The file, and in a few words what was merged; `records` are the rows.

    >>> row = '{"id": "test-00000", "label": "likely"}'
    >>> for name in ("anna.jsonl", "ben.jsonl"):
    ...     with open(name, "w") as file:
    ...         print(row, file=file)
    >>> print(closeread.adjudicate("mctaco", "anna.jsonl", "ben.jsonl", output="kept.jsonl"))
    kept.jsonl: 1 kept (1 yes, 0 no), 0 dropped; observed agreement 1.000
    """
    written: Written = call("adjudicate", kind, annotators, output=output, **options)
    return written


def prepare(
    corpus: AnyCorpus,
    what: str,
    *sources: str | Path,
    output: str | Path | None = None,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: OptionValue | Sequence[str] | None,
) -> Written:
    """Prepare files of a corpus: texts, gold, documents to annotate, candidate answers.

    On the command line:
      closeread prepare mctaco candidates --config sample -o candidates.jsonl
      closeread prepare wikipossessions articles texts --as-of 2017-06-12
      closeread prepare timeline gold events.jsonl -o timelines

    Args:
        corpus: the name of a corpus.
        what: "treebank", "mentions" or "chains" of "marmara_coref"; "candidates" or "units" of "mctaco";
            "gold" of "semeval2015_timeline"; "documents" of "tne"; "articles" of "wikipossessions".
        *sources: what it is made of: files or folders, such as annotated events or plain texts; of "articles" the
            folder to write.
        output: the file or the folder to write.
        gold, config, split, data_dir: what is rewritten, as for `closeread.score`, by "candidates", "units" and "articles".
        **options: the options of the command, such as `spacy_model` for "documents" and `as_of` for "articles".

    Returns:
        What was written, and in a few words what it has; `records` are its rows.

    >>> print(closeread.prepare("mctaco", "units", config="sample", output="normal.jsonl"))
    normal.jsonl: ... rows...
    """
    name = find_corpus(corpus).name
    check_group("prepare", name)
    written: Written = call(
        f"prepare {name}",
        what,
        sources,
        f"preparation of {name}",
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        output=output,
        **options,
    )
    return written


def plot(
    kind: str,
    *subjects: FileOrRows,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    **options: FileOrRows | float,
) -> Figure:
    """Draw a figure.

    On the command line:
      closeread plot possession "The Blue Kettle (painting)" --config sample \\
        -o kettle.png
      closeread plot stats tne --config sample -o prepositions.png
      closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png

    Args:
        kind: "possession" and "timeline" draw the article or the entity of that name; "scores" and "confusion" draw
            predictions; "link-support" and "mistakes" draw annotators beside gold, which comes first; "stats" draws the
            corpus of that name; "training" draws folders of training runs, "learning-curve" one of several.
        *subjects: a name, or files, folders or objects as for `closeread.score`.
        gold, config, split, data_dir: as for `closeread.score`.
        output: also write the figure to this file, in the format of its suffix.
        **options: such as `predictions` for "possession" and "timeline".

    Returns:
        The figure of Matplotlib, which shows itself in a notebook.

    >>> figure = closeread.plot("timeline", "Mara Lindqvist", config="sample", output="lindqvist.png")
    """
    drawing = draw(
        kind,
        subjects,
        take_path(output),
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        **options,
    )
    return drawing.figure


def draw(kind: str, subjects: Sequence[Any], output: Path | None, /, **keywords: Any) -> Drawing:
    """Draw a figure, and write it to a file if there is one to write."""
    from closeread.drawing.pictures import check_suffix, write_picture

    if output is not None:
        check_suffix(output)
    drawing: Drawing = call("plot", kind, subjects, "kind of figure", **keywords)
    if output is not None:
        write_picture(drawing.figure, output)
    return drawing


def convert(
    kind: str,
    source: FileOrRows,
    to: str | Path | None = None,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: OptionValue | None,
) -> Sequence[dict[str, object]]:
    """Convert a file to another format.

    On the command line:
      closeread convert coref key.conllu -o key.conll
      closeread convert tne mine.jsonl --to arrays -o for_the_leaderboard.jsonl
      closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl

    Args:
        kind: the name of the corpus or its procedure, such as "coref", "tne", "timeline" or "marmara_coref".
        source: a file, a folder or objects, as for `closeread.score`; of Marmara a file or a folder.
        to: the file or folder to write, in the format of its suffix; None to write nothing.
        gold, config, split, data_dir: gold, where the conversion needs it ("tne"); of Marmara only `data_dir`.
        **options: `side="response"` for "coref"; `form`, `close` and `clusters` for "tne"; `form` is the `--to` of
            the command line; `treebank` for "marmara_coref".

    Returns:
        The rows that were converted.

    >>> closeread.convert("coref", {"letter": [[[0, 0], [1, 1]]]})[0]
    {'document': 'letter', 'clusters': [[[0, 0], [1, 1]]]}
    """
    written: Written = call(
        "convert",
        kind,
        [source],
        "kind of conversion",
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        output=to,
        **options,
    )
    return written.records


def errors(
    kind: str,
    /,
    *predictions: FileOrRows,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    **options: str | float | bool | Sequence[str] | Resampling,
) -> Result:
    """Count and list the errors of a system, or of annotators.

    On the command line:
      closeread errors coref key.conll response.conll
      closeread errors chains gold.conll anna.conll ben.conll
      closeread errors tne predictions.jsonl --split test
      closeread errors mctaco predictions.jsonl --by category

    Args:
        kind: "coref", or another name of its corpus, for the entities and mentions of a system, "chains" for the chains
            of annotators or systems, "tne" for the links of a system, "mctaco" for its labels.
        *predictions: what a system predicts, as for `closeread.score`; for "chains", one or more annotators or systems.
        gold, config, split, data_dir: the gold, as for `closeread.score`; for "coref" and "chains" the key, which the
            command line has before the predictions.
        **options: `by`, `limit`, for "coref" `document`, `kinds` and `sort` ("errors", "score" or "name"), for "tne"
            and "mctaco" `ci`, `resamples`, `confidence` and `seed`, or all of these as `resampling`; the options of
            the procedure, and `preset`.

    Returns:
        The errors and their counts, in tables which print themselves.

    >>> key = {"letter": [[[0, 0], [1, 1], [2, 2]], [[4, 4], [5, 5]]]}
    >>> response = {"letter": [[[0, 0], [1, 1]], [[2, 2], [4, 4], [5, 5]]]}
    >>> closeread.errors("coref", response, gold=key).to_dict()["counts"]["split entity"]
    1
    """
    operations = find_operations("errors")
    analysis = choose_equivalent(kind, operations)
    if analysis is not None and gold is None and describe(operations[analysis])[0].name == "gold":
        raise RequestError(
            f"errors {analysis} needs gold: the key, as in errors({kind!r}, response, gold=key)"
        )
    analysed: Result = call(
        "errors",
        kind,
        predictions,
        "kind of error analysis",
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        **options,
    )
    return analysed


def baseline(
    corpus: AnyCorpus,
    name: str,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    **options: OptionValue | Sequence[str],
) -> list[dict[str, object]]:
    """Write the predictions of a baseline.

    The suffix of the output decides its format: JSON Lines (.jsonl), or the corpus's own text format.  Timelines are
    written to a folder, one file each, if the name has no suffix.

    On the command line:
      closeread baseline mctaco always-positive -o yes.jsonl
      closeread baseline mctaco random --seed 7 --split validation -o coin.txt
      closeread baseline tne surface --definition described -o surface.jsonl
      closeread baseline semeval2015_timeline creation-time --split corpus_2 \\
        -o predictions
      closeread baseline marmara_coref svr --mentions predicted -o chains.conll
      closeread baseline wikipossessions heuristics --spacy-model NAME \\
        -o out.jsonl

    Args:
        corpus: the name of a corpus or its procedure.
        name: the name of the baseline; `closeread.corpora()[corpus].baselines` lists them.
        gold, config, split, data_dir: what to predict for, as for `closeread.score`.
        output: also write the rows to this file or folder, as `closeread baseline` does.
        **options: such as `seed`, or `only` with one name or several.

    Returns:
        The rows, as `closeread.score` takes them.

    >>> closeread.baseline("mctaco", "always-positive", config="sample")[0]
    {'id': 'test-00000', 'label': 'yes'}
    """
    corpus_name = find_corpus(corpus).name
    check_group("baseline", corpus_name)
    written = call(
        f"baseline {corpus_name}",
        name,
        (),
        f"baseline of {corpus_name}",
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        output=output,
        **options,
    )
    return list(written.records)


def train(
    corpus: AnyCorpus,
    output: str | Path,
    *,
    encoder: str,
    training: FileOrRows | None = None,
    validation: FileOrRows | None = None,
    test: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    validation_split: str | None = None,
    test_split: str | None = None,
    data_dir: str | Path | None = None,
    resume: bool = False,
    device: str | None = None,
    precision: str = "auto",
    **options: str | float | Sequence[float] | None,
) -> Result:
    """Train a model of a corpus's paper.

    Needs torch, transformers and accelerate: pip install 'closeread[neural]'.

    On the command line:
      closeread train tne --encoder SpanBERT/spanbert-base-cased -o run

    Args:
        corpus: "tne" or "mctaco".
        output: the folder of the run, which `closeread.predict` reads.
        encoder: its name on the Hugging Face Hub, or its folder; for TNE also "frozen:NAME" and "static:FILE".
        training, validation, test: files or rows to learn from, to choose the best epoch by, and (McTaco) to score
            trained models on; None for splits of the corpus.
        config, data_dir: the config of the corpus, and a folder with its files.
        split, validation_split, test_split: the splits; None for those that `closeread train` has by default.
        resume: continue the run that is in the folder.
        device: such as "cuda:0"; None for the first GPU, or the CPU.
        precision: of matrix products: "float32", "bfloat16", or "auto".
        **options: `seed`, `epochs`, `patience`, `batch_size`, `learning_rate`, `head_learning_rate`, `encoder_dropout`;
            `report_to`; `variant` (TNE); `validation_share`, `unit_normalization`, `seeds`, `sizes` (McTaco).

    Returns:
        What was trained, with the scores of each epoch.

    >>> print(closeread.train("tne", "run", encoder="SpanBERT/spanbert-base-cased"))  # doctest: +SKIP
    """
    trained: Result = call(
        "train",
        corpus,
        (),
        "corpus with models",
        output=output,
        encoder=encoder,
        training=training,
        validation=validation,
        test=test,
        config=config,
        split=split,
        validation_split=validation_split,
        test_split=test_split,
        data_dir=data_dir,
        resume=resume,
        device=device,
        precision=precision,
        **options,
    )
    return trained


def predict(
    corpus: AnyCorpus,
    run: str | Path,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    device: str | None = None,
    precision: str = "auto",
    **options: str | float | bool | None,
) -> list[dict[str, object]]:
    """Predict with a trained model.

    On the command line:
      closeread predict tne run --split test -o predictions.jsonl

    Args:
        corpus: "tne" or "mctaco".
        run: the folder of the run.
        gold, config, split, data_dir: what to predict for, as for `closeread.score`.
        output: also write the rows to this file.
        device: such as "cuda:0"; None for the first GPU, or the CPU.
        precision: of matrix products: "float32", "bfloat16", or "auto".
        **options: `decoding`, `fallbacks` and `documents` (TNE); `questions` (McTaco).

    Returns:
        The rows, as `closeread.score` takes them.

    >>> rows = closeread.predict("tne", "run", split="test")  # doctest: +SKIP
    """
    written = call(
        "predict",
        corpus,
        (),
        "corpus with models",
        run=run,
        gold=gold,
        config=config,
        split=split,
        data_dir=data_dir,
        output=output,
        device=device,
        precision=precision,
        **options,
    )
    return list(written.records)
