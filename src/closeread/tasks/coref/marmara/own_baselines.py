"""The corpus's own baselines for Python, with the options of the commands of the same names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.corpus.baselines import SEED, Baseline, names_option, output_option, path_option
from closeread.corpus.notices import warn
from closeread.counts.procedure import Option
from closeread.records import Record
from closeread.tasks.coref.marmara.baseline import (
    FEATURE_SETS,
    MENTIONS,
    Settings,
    predict,
    predict_mentions,
    select_documents,
)
from closeread.tasks.coref.marmara.baseline_files import dump_conll, writing_links
from closeread.tasks.coref.marmara.mention_types import PRONOUNS, read_pronouns


def detect(records: Sequence[Record], *, derived_modifiers: str, only: str) -> list[Record]:
    """Detect the mentions of documents, each in a chain of its own."""
    return predict_mentions(select_documents(records, ONLY.split(only)), derived_modifiers=derived_modifiers)


def link_by_classification(records: Sequence[Record], **options: str) -> list[Record]:
    """Link mentions by a support vector classifier."""
    return _link("svc", records, **options)


def link_by_regression(records: Sequence[Record], **options: str) -> list[Record]:
    """Link mentions by support vector regression."""
    return _link("svr", records, **options)


def _link(
    learner: str,
    records: Sequence[Record],
    *,
    mentions: str,
    features: str,
    vectors: str,
    pronouns: str,
    derived_modifiers: str,
    seed: str,
    only: str,
    links: str,
    jobs: str,
) -> list[Record]:
    lemmas = read_pronouns(Path(pronouns)) if pronouns else PRONOUNS
    file = Path(vectors) if vectors else None
    settings = Settings(learner, mentions, features, file, lemmas, derived_modifiers, int(seed))
    for notice in settings.notices:
        warn(notice)
    rows = []
    with writing_links(Path(links) if links else None) as write_links:
        for prediction in predict(records, settings, only=ONLY.split(only), jobs=int(jobs)):
            rows.append(prediction.row)
            write_links(prediction)
    return rows


MODIFIERS = Option(
    "derived_modifiers",
    ("exclude", "include"),
    "exclude",
    "Include or exclude modifiers derived from verbs (participles), and their dependents, in noun phrases.",
)
ONLY = names_option("only", "Predict only these documents.")
LEARNERS = (
    Option("mentions", MENTIONS, "gold", "Link gold mentions, or those that `mentions` finds."),
    Option("features", FEATURE_SETS, "T", "Use features of the treebank (T), also word vectors (TF), or also TP."),
    path_option("vectors", "Read word vectors from this file in word2vec's text format; for TF and TP."),
    path_option("pronouns", "Read the lemmas that are pronouns from this file, one a line, instead of the usual 13."),
    MODIFIERS,
    SEED,
    ONLY,
    output_option("links", "Also write all candidate links to this file, as JSON Lines, with features and scores."),
    Option("jobs", (), "1", "Predict this many documents at a time.", "[1-9][0-9]{0,3}", "a whole number from 1"),
)

CONLL = {".conll": dump_conll}

BASELINES = (
    Baseline("mentions", detect, "Detect mentions, each a chain of its own.", (MODIFIERS, ONLY), CONLL),
    Baseline(
        "svc", link_by_classification, "Link mentions by a support vector machine (classification).", LEARNERS, CONLL
    ),
    Baseline("svr", link_by_regression, "Link mentions by a support vector machine (regression).", LEARNERS, CONLL),
)
