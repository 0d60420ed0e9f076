"""Predict with a baseline."""

from __future__ import annotations

from pathlib import Path

from closeread.corpora.baselines import Baseline, load_baselines, load_own_baselines
from closeread.corpora.names import find_corpus
from closeread.corpora.notices import warn_all
from closeread.corpora.objects import FileOrRows
from closeread.corpora.sides import read_corpus_gold
from closeread.corpora.submissions import write_submission
from closeread.counts.options import OptionValue
from closeread.errors import RequestError, describe_unknown
from closeread.scoring import make_place

__all__ = ["baseline", "list_baselines"]


def baseline(
    corpus: str,
    name: str,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    **options: OptionValue,
) -> list[dict[str, object]]:
    """Predict with a baseline, and return its rows, which `closeread.score` takes.

    >>> import closeread
    >>> closeread.baseline("mctaco", "always-positive", config="sample")[0]
    {'id': 'test-00000', 'label': 'yes'}

    Args:
        corpus: the name of the corpus.
        name: the name of the baseline; `closeread.corpora()[corpus].baselines` lists them.
        gold, config, split, data_dir: what to predict, as for `closeread.score`.
        output: also write the rows to this file or folder, as `closeread baseline` does.
        **options: the baseline's options, such as `seed`; folders of the corpus and options of reading it.

    Raises:
        RequestError: there is no such corpus, baseline or option; an InputError if gold is missing or invalid.
    """
    declared = find_corpus(corpus)
    known = _load_all(declared.name)
    if name not in known:
        raise RequestError(describe_unknown(f"baseline of {declared.name}", name, list(known)))
    chosen = known[name]
    texts = {key: str(value) for key, value in options.items()}
    place, rest = make_place(declared.name, gold, config, split, data_dir, texts)
    chosen.resolve_options(rest)
    found = read_corpus_gold(place._replace(corpus=declared.name))
    warn_all(found.notices)
    rows = chosen.predict(found.records, **rest)
    if output is not None:
        write_submission(Path(output), rows, declared)
    return rows


def list_baselines(corpus: str) -> list[str]:
    """Return the names of the baselines of a corpus."""
    return list(_load_all(corpus))


def _load_all(corpus: str) -> dict[str, Baseline]:
    return {**load_baselines(corpus), **load_own_baselines(corpus)}
