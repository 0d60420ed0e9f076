"""Evaluate language models in the harnesses that people use for them.

\b
Example:
  lm-eval run --model hf --model_args pretrained=gpt2 \\
    --tasks closeread_mctaco --include_path "$(closeread llm lm-eval-tasks)"
"""

from __future__ import annotations

from closeread.files import package_folder
from closeread.parameters import Operations


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


OPERATIONS: Operations = {"llm": {"lm-eval-tasks": list_lm_eval_tasks}}
