"""What help says of the groups of operations."""

from __future__ import annotations

from typing import NamedTuple


class About(NamedTuple):
    """What help says of a group.

    Attributes:
        summary: one line, in the list of commands.
        help: all of it.
        hidden: whether it is left out of the list.
    """

    summary: str
    help: str
    hidden: bool = False


GROUPS = {
    "adjudicate": About(
        "Merge the labels of several annotators into gold.",
        """Merge the labels of several annotators into gold.

        \b
        Examples:
          closeread adjudicate mctaco anna.jsonl ben.jsonl cleo.jsonl -o kept.jsonl
          closeread adjudicate tne anna.jsonl ben.jsonl -o agreed.jsonl
          closeread adjudicate coref anna.conll ben.conll cleo.conll -o gold.conll
        """,
    ),
    "agreement": About(
        "Measure the agreement of annotators.",
        """Measure the agreement of annotators.

        \b
        Examples:
          closeread agreement wikipossessions anna.csv ben.csv
          closeread agreement tne anna.jsonl ben.jsonl
          closeread agreement timeline anna/ ben/ cem/
          closeread agreement coref anna.conll ben.conll cem.conll
        """,
    ),
    "articles": About(
        "Fetch the articles that a corpus annotates.",
        """Fetch the articles that a corpus annotates but does not contain.

        \b
        Example:
          closeread articles wikipossessions texts --as-of 2017-06-12
        """,
    ),
    "build": About(
        "Build gold, or documents to annotate.",
        """Build gold from annotations, or documents to annotate from plain texts.

        \b
        Examples:
          closeread build timeline events.jsonl -o timelines
          closeread build tne texts --spacy-model en_core_web_sm -o documents.jsonl
        """,
    ),
    "convert": About(
        "Convert a file to another format.",
        """Convert a file to another format.

        \b
        Examples:
          closeread convert coref key.conllu -o key.conll
          closeread convert tne mine.jsonl --to arrays -o for_the_leaderboard.jsonl
          closeread convert timeline TimeLines_Gold_Standard -o timelines.jsonl
        """,
    ),
    "errors": About(
        "Count and list the errors of a system, or of annotators.",
        """Count and list the errors of a system, or of annotators.

        \b
        Examples:
          closeread errors coref key.conll response.conll
          closeread errors chains gold.conll anna.conll ben.conll
          closeread errors tne predictions.jsonl --split test
          closeread errors mctaco predictions.jsonl --by category
        """,
    ),
    "extract": About(
        "Extract the documents of a corpus.",
        """Extract a corpus's documents from files as they are distributed.

        \b
        Examples:
          closeread extract marmara_coref fragments/ -o treebank
          closeread extract marmara_coref fragments/ -o treebank \\
            --split 77000112003.5
        """,
    ),
    "leaderboard": About(
        "Run a leaderboard.",
        """Run a leaderboard, in a folder or on the Hugging Face Hub.

        STORE is a folder, or a dataset on the Hub (hf://datasets/ORG/NAME). Systems are submitted with `closeread
        submit`.

        \b
        Example:
          closeread leaderboard init board --corpus mctaco --config sample
          closeread submit mctaco predictions.jsonl --config sample \\
            --system "My system" --to board
          closeread leaderboard judge board
          closeread leaderboard show board
          closeread leaderboard build board -o index.html
        """,
    ),
    "perturb": About(
        "Rewrite the records of a corpus.",
        """Rewrite the records of a corpus: normalize units, add candidate answers.

        \b
        Examples:
          closeread perturb mctaco units --config sample -o normal.jsonl
          closeread perturb mctaco candidates --config sample -o candidates.jsonl
        """,
    ),
    "perturb mctaco": About(
        "Normalize units, or add candidate answers.",
        """Apply the perturbations of Zhou et al. (2019) to McTaco.

        \b
        Example:
          closeread perturb mctaco units --config sample -o normal.jsonl
        """,
    ),
    "phrases": About(
        "Make a list of event phrases.",
        """Make a list of event phrases, from which `closeread perturb mctaco candidates` retrieves.

        \b
        Examples:
          closeread phrases text novel.txt --spacy-model en_core_web_sm -o events.txt
          closeread phrases propbank propbank-frames/frames -o events.txt
        """,
    ),
    "plot": About(
        "Draw a figure.",
        """Draw a figure.

        \b
        Examples:
          closeread plot possession "The Blue Kettle (painting)" --config sample \\
            -o kettle.png
          closeread plot prepositions --config sample -o prepositions.png
          closeread plot timeline "Mara Lindqvist" --config sample -o lindqvist.png
        """,
    ),
    "predict": About(
        "Predict with a trained model.",
        """Predict with a trained model.

        \b
        Example:
          closeread predict tne run --split test -o predictions.jsonl
        """,
    ),
    "publish": About(
        "Publish a corpus, a metric or a leaderboard on the Hugging Face Hub.",
        """Publish a corpus, a metric or a leaderboard on the Hugging Face Hub.

        Everything goes in one commit, so that nothing is published by halves, and publishing twice changes nothing. The
        token is read from HF_TOKEN, or is the one that `hf auth login` saved. For Codabench, a bundle is written to
        upload.

        \b
        Examples:
          closeread publish dataset tne my-org/tne --dry-run
          closeread publish metric coref_lea my-org/coref_lea
          closeread publish leaderboard my-board my-org/my-board
          closeread publish codabench mctaco my-task --config sample --zip
        """,
    ),
    "timeline": About(
        "Build timelines (alias of `closeread build timeline`).",
        """Build timelines (alias of `closeread build timeline`).

        \b
        Example:
          closeread build timeline events.jsonl -o timelines
        """,
        hidden=True,
    ),
    "train": About(
        "Train a model.",
        """Train a model of a corpus's paper.

        Needs torch and transformers: pip install 'closeread[neural]'.

        \b
        Example:
          closeread train tne --encoder SpanBERT/spanbert-base-cased -o run
        """,
    ),
}
"""The groups of operations, by the commands that lead to them."""
