"""Predict with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os.path import realpath
from pathlib import Path

from closeread.corpus.baselines import Baseline, NamesOption, OutputOption, load_baselines, load_own_baselines
from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import read_corpus_gold
from closeread.corpus.names import find_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.corpus.submissions import write_submission
from closeread.counts.procedure import OptionValue
from closeread.exceptions import RequestError
from closeread.files import text_suffix, write_text
from closeread.records import Record
from closeread.scoring import make_place
from closeread.suggestions import describe_unknown


def baseline(
    corpus: str,
    name: str,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    **options: OptionValue | Sequence[str],
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
        **options: the baseline's options, such as `seed`, or `only` with one name or several; folders of the corpus and
            options of reading it.

    Raises:
        RequestError: there is no such corpus, baseline or option; an InputError if gold is missing or invalid.
    """
    declared = find_corpus(corpus)
    known = _load_all(declared.name)
    if name not in known:
        raise RequestError(describe_unknown(f"baseline of {declared.name}", name, list(known)))
    chosen = known[name]
    place, rest = make_place(declared.name, gold, config, split, data_dir, _write_options(chosen, options))
    chosen.resolve_options(rest)
    if output is not None:
        _check_output(chosen, rest, Path(output))
    found = read_corpus_gold(place._replace(corpus=declared.name))
    warn_all(found.notices)
    rows = chosen.predict(found.records, **rest)
    if output is not None:
        _write(chosen, declared, Path(output), found.records, rows)
    return rows


def _write_options(baseline: Baseline, given: Mapping[str, object]) -> dict[str, str]:
    """Return options as text."""
    several = {option.name: option for option in baseline.options if isinstance(option, NamesOption)}
    return {
        name: several[name].join(value)
        if name in several and isinstance(value, Iterable) and not isinstance(value, str)
        else str(value)
        for name, value in given.items()
    }


def _check_output(baseline: Baseline, given: Mapping[str, object], output: Path) -> None:
    """Check that no option writes to the file of the rows, too.

    Raises:
        RequestError: one does.
    """
    others = [option.name for option in baseline.options if isinstance(option, OutputOption)]
    for name in others:
        if given.get(name) and realpath(str(given[name])) == realpath(output):
            raise RequestError(f"{output} is given for output and for {name}; choose two files")


def _write(baseline: Baseline, corpus: Corpus, path: Path, records: Sequence[Record], rows: Sequence[Record]) -> None:
    """Write rows in the format of the suffix.

    Raises:
        RequestError: no format has the suffix, or the format can't express the rows.
        OSError: the file can't be written.
    """
    dump = baseline.formats.get(text_suffix(path))
    if dump is None:
        write_submission(path, rows, corpus)
    else:
        write_text(path, dump(records, rows))


def list_baselines(corpus: str) -> list[str]:
    """Return the names of the baselines of a corpus."""
    return list(_load_all(corpus))


def _load_all(corpus: str) -> dict[str, Baseline]:
    return {**load_baselines(corpus), **load_own_baselines(corpus)}
