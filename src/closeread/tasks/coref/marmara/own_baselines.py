"""The corpus's own baselines for Python; the commands of the same names can also predict single documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from closeread.corpora.baselines import SEED, Baseline, path_option
from closeread.corpora.notices import warn
from closeread.counts.options import Option
from closeread.records import Record
from closeread.tasks.coref.marmara.baseline import FEATURE_SETS, MENTIONS, Settings, predict, predict_mentions
from closeread.tasks.coref.marmara.mention_types import PRONOUNS, read_pronouns


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
    jobs: str,
) -> list[Record]:
    lemmas = read_pronouns(Path(pronouns)) if pronouns else PRONOUNS
    file = Path(vectors) if vectors else None
    settings = Settings(learner, mentions, features, file, lemmas, derived_modifiers, int(seed))
    for notice in settings.notices:
        warn(notice)
    return [prediction.row for prediction in predict(records, settings, jobs=int(jobs))]


MODIFIERS = Option(
    "derived_modifiers",
    ("exclude", "include"),
    "exclude",
    "Include or exclude modifiers derived from verbs (participles), and their dependents, in noun phrases.",
)
LEARNERS = (
    Option("mentions", MENTIONS, "gold", "Link gold mentions, or those that `mentions` finds."),
    Option("features", FEATURE_SETS, "T", "Use features of the treebank (T), also word vectors (TF), or also TP."),
    path_option("vectors", "Read word vectors from this file in word2vec's text format; for TF and TP."),
    path_option("pronouns", "Read the lemmas that are pronouns from this file, one a line, instead of the usual 13."),
    MODIFIERS,
    SEED,
    Option("jobs", (), "1", "Predict this many documents at a time.", "[1-9][0-9]{0,3}", "a whole number from 1"),
)

BASELINES = (
    Baseline("mentions", predict_mentions, "Detect mentions, each a chain of its own.", (MODIFIERS,)),
    Baseline("svc", link_by_classification, "Link mentions by a support vector machine (classification).", LEARNERS),
    Baseline("svr", link_by_regression, "Link mentions by a support vector machine (regression).", LEARNERS),
)
