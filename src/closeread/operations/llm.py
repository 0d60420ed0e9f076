"""Evaluate language models in the harnesses that people use for them.

\b
Example:
  lm-eval run --model hf --model_args pretrained=gpt2 \\
    --tasks closeread_mctaco --include_path "$(closeread llm lm-eval-tasks)"
  inspect eval closeread/mctaco --model openai/gpt-5 --log-dir logs
  closeread llm rows logs/LOG.eval -o predictions.jsonl
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

from closeread import parameters as arg
from closeread.exceptions import pluralize
from closeread.files import package_folder, write_texts
from closeread.parameters import Operations, Param, Written

Log = Annotated[str | Path, Param(kind="read", metavar="LOG")]
Output = Annotated[str | Path, arg.ToOutput]


def list_lm_eval_tasks() -> str:
    """Print the folder with tasks for lm-evaluation-harness.

    The harness finds the tasks there that --include_path names.  Its task closeread_mctaco reports exact match and F1
    over questions, as `closeread score mctaco` does; with --limit N, of the first N questions.

    \b
    Example:
      lm-eval run --model hf --model_args pretrained=gpt2 \\
        --tasks closeread_mctaco --include_path "$(closeread llm lm-eval-tasks)"

    Returns:
        The path of the folder.
    """
    return str(package_folder("closeread.llm") / "lm_eval")


def llm_rows(log: Log, *, output: Output) -> Written:
    """Write the predictions of a language model, from a log of inspect-ai.

    A question without a readable answer has no row, so score with `--missing empty`. If questions were asked in
    several epochs, each has a file of its own: predictions-1.jsonl, predictions-2.jsonl and so on.

    On the command line:
      closeread llm rows logs/LOG.eval
      closeread score mctaco predictions.jsonl --missing empty

    Args:
        log: a log that `inspect eval closeread/...` wrote.
        output: the file to write; with several epochs, part of the names of the files.

    Returns:
        The first file, and in a few words what was read; `records` are the rows of all epochs.

    >>> print(closeread.llm_rows("logs/LOG.eval", output="predictions.jsonl"))  # doctest: +SKIP
    """
    from closeread.formats.json_lines import dump_json_lines
    from closeread.llm.logs import read_log

    answers = read_log(log)
    path = Path(output)
    names = [path]
    files = ""
    if answers.epochs > 1:
        names = [path.with_stem(f"{path.stem}-{n}") for n in range(1, answers.epochs + 1)]
        files = f" in {pluralize(answers.epochs, 'file')}, one for each epoch"
    texts = map(dump_json_lines, answers.rows)
    write_texts(dict(zip(names, texts, strict=True)))
    records = list(chain.from_iterable(answers.rows))
    message = f"{pluralize(len(records), 'row')}{files}; {answers.answered:.0%} of answers read"
    if answers.corrected:
        number = pluralize(answers.corrected, "answer")
        message += f"; of {number} with several values, the last counts"
    return Written(names[0], message, records)


OPERATIONS: Operations = {"llm": {"lm-eval-tasks": list_lm_eval_tasks, "rows": llm_rows}}
