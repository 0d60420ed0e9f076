"""What a user can do, each thing once: the functions of `closeread`, from which its commands are derived."""

from __future__ import annotations

TASKS = "tasks"

COMMANDS = {
    "adjudicate": (TASKS, "Merge the labels of several annotators into gold."),
    "agreement": (TASKS, "Measure the agreement of annotators."),
    "baseline": (TASKS, "Write the predictions of a baseline."),
    "compare": ("compare", "Compare systems by paired tests."),
    "convert": (TASKS, "Convert a file to another format."),
    "errors": (TASKS, "Count and list the errors of a system, or of annotators."),
    "export": ("data", "Export a corpus as a dataset repository."),
    "info": (
        "information",
        "Describe a corpus: its files and fields, figures, schema, what to cite.",
    ),
    "install-modules": ("data", "Install the evaluate modules into the modules cache."),
    "leaderboard": ("leaderboard", "Submit to a leaderboard, or run one."),
    "list": ("data", "List corpora, scoring procedures and evaluate modules."),
    "llm": ("llm", "Evaluate language models in the harnesses that people use for them."),
    "merge": ("counting", "Merge the counts of shards."),
    "plot": (TASKS, "Draw a figure."),
    "predict": (TASKS, "Predict with a trained model."),
    "prepare": (TASKS, "Prepare files of a corpus: texts, gold, documents, candidate answers."),
    "publish": (
        "publishing",
        "Publish a corpus, a metric or a leaderboard on the Hugging Face Hub.",
    ),
    "score": ("score", "Score a file of predictions."),
    "show": ("data", "Show a record of a corpus."),
    "submit": ("submitting", "Submit predictions to a leaderboard."),
    "table": ("compare", "Print a table of many systems, with tests against the best."),
    "train": (TASKS, "Train a model."),
    "validate": ("score", "Validate files of predictions."),
    "view": ("view", "Show a key and what systems make of it, in a page."),
}
"""The module of this folder that has the operation of a command, or those of its subcommands by procedure; `tasks` if
the tasks have its subcommands.  And what the list of commands says of it, so that this imports nothing."""

TOPICS = {
    "Score systems": "score compare table view validate errors plot llm",
    "Look at corpora": "list info show",
    "Make predictions": "baseline train predict",
    "Annotate": "prepare convert agreement adjudicate",
    "Share results": "leaderboard publish export",
}
"""The commands by what users do, in the order in which help lists them."""

GROUPS = {
    "leaderboard": ("submitting", "leaderboard"),
    "llm": ("llm",),
    "publish": ("publishing",),
}
"""The modules of this folder that have all operations of a group, in the order in which help lists them.

The last one describes the group."""

HIDDEN = ("install-modules", "merge", "submit")
"""Commands that work and are not listed; `submit` is the former name of `leaderboard submit`."""
