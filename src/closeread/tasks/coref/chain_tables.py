"""The mistakes in chains as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from closeread.arrays import ratio
from closeread.exceptions import pluralize
from closeread.tables import Grid, format_percent, percent
from closeread.tasks.coref.chain_errors import ChainErrors

FROM = 4
"""The number of mentions from which on chains are counted together in tables."""


def list_counts(found: ChainErrors) -> Iterator[list[object]]:
    """Yield the counts as rows: what is counted, the kind or the number of mentions, and the number of chains."""
    yield from (["kind", kind, n] for kind, n in found.count_kinds().items())
    yield from (["missing mentions", mentions, n] for mentions, n in found.count_missing().items())
    yield from (["foreign mentions", mentions, n] for mentions, n in found.count_foreign().items())


def make_grids(found: ChainErrors) -> Iterator[Grid]:
    """Yield the table of kinds, and that of missing and foreign mentions if there are any."""
    total, mistaken = len(found.kind), found.n_mistaken
    rows = [
        [
            kind,
            f"{n:,}",
            percent(float(ratio(n, total))) if total else format_percent(None),
            "" if kind == "exact" else percent(float(ratio(n, mistaken)) if mistaken else None),
        ]
        for kind, n in found.count_kinds().items()
    ]
    size = f"{pluralize(total, 'chain')} of two or more mentions, {pluralize(int(found.size.sum()), 'mention')}."
    yield Grid("", ["kind", "chains", "% of chains", "% of mistaken chains"], rows, [size])
    counts = {"missing": found.count_missing(), "mixed": found.count_foreign()}
    if any(counts.values()):
        header = ["chains by number of mentions", *(str(n) for n in range(1, FROM)), f"{FROM} or more"]
        named = {"missing": "missing, by mentions that they lack", "mixed": "mixed, by mentions of other chains"}
        yield Grid("", header, [[named[kind], *_group_counts(of)] for kind, of in counts.items()])


def _group_counts(counts: Mapping[str, int]) -> list[str]:
    """Format counts by number of mentions, those from `FROM` on together."""
    few = [counts.get(str(n), 0) for n in range(1, FROM)]
    return [f"{n:,}" for n in (*few, sum(counts.values()) - sum(few))]
