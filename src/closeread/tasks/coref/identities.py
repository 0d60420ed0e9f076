"""What is true of the counts of coreference, whatever the key and the response.

Conventions: as in `metrics`.  Each document counts a mention of several entities once for `mentions`, and once for each
entity for the other metrics (`duplicates` "reference", `matching` "minimum"); a set of split antecedents is a mention
of its entity, but none for `mentions`.

CEAF of the reference scorer and of coval finds the mentions of a key entity in a response entity, however few these
are: if mentions repeat, it can find more than the response has.  So can CorefUD's lookups of zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

from closeread.counts.identities import (
    AtMost,
    Equal,
    Identities,
    Identity,
    Pairs,
    PartsOf,
    When,
    Whole,
    mean_identities,
    mean_limits,
)
from closeread.counts.metrics import UNITS, Metric
from closeread.tasks.coref.kernels.blanc import LINKS
from closeread.tasks.coref.kernels.entity_metrics import BOTH_SIDES
from closeread.tasks.coref.kernels.per_mention import METRICS as OF_MENTIONS
from closeread.tasks.coref.mention_metrics import SELECTED
from closeread.tasks.coref.metrics import BLANC

SIDES = ("key", "response")
MAPPED = ("ceafm", "ceafe")
"""The metrics that map entities one to one."""

ENTITY_METRICS = ("muc", "b3", "ceafm", "ceafe", "lea")


def list_identities(metrics: tuple[Metric, ...]) -> Identities:
    """List what is true of the counts.

    Args:
        metrics: all metrics, as means over documents if they are averaged.
    """
    loose = [metric for metric in metrics if metric.name.partition("/")[0] in (*MAPPED, "conll")]
    strict = [metric for metric in metrics if metric not in loose]
    means = (*mean_identities(metrics), *mean_limits(strict), Equal(UNITS, "1"), _unless_repeated(mean_limits(loose)))
    return (
        When("average", ("micro",), (*_list_sums(), *_list_parts())),
        When("average", ("macro",), means),
    )


def _unless_repeated(identities: Identities) -> When:
    """Return identities that are not true of repeated mentions, and of zeros that are looked up."""
    looked_up = When("zeros", ("linear", "dependent", "exclude"), identities)
    return When(
        "duplicates", ("error", "first"), (When("matching", ("exact", "head", "partial", "craft"), (looked_up,)),)
    )


def _list_sums() -> Iterator[Identity | When]:
    """Yield what is true of the sums of every document."""
    for name in ("mentions", *SELECTED):
        yield Whole(tuple(f"{name}/{side}" for side in BOTH_SIDES))
        yield from (AtMost(f"{name}/common", f"{name}/{side}") for side in SIDES)
    for name in ENTITY_METRICS:
        for side in SIDES:
            yield Whole((f"{name}/{side}",))
            yield AtMost(f"{name}/found_of_{side}", f"{name}/{side}")
    yield When("split_antecedents", ("ignore",), (Whole(("muc/common",)), Whole(("ceafm/common",))))
    yield AtMost("muc/common", "muc/key")
    yield When("zeros", ("linear", "dependent", "exclude"), (AtMost("muc/common", "muc/response"),))
    yield from _list_mapped()
    yield When("split_antecedents", ("ignore", "score"), tuple(_list_sizes()))
    yield When("split_antecedents", ("ignore",), (_unless_repeated(_equal_to_mentions()),))
    for edge, prefix in BLANC.items():
        yield When("blanc_edge", (edge,), tuple(_list_links(prefix)))


def _list_mapped() -> Iterator[Identity | When]:
    """Yield the limits of what is found under the best mapping of entities."""
    yield AtMost("ceafm/common", "ceafm/key")
    # The similarity of two entities is less than 2 even if mentions repeat.
    yield from (AtMost("ceafe/common", f"2 ceafe/{side}") for side in SIDES)
    yield _unless_repeated(tuple(AtMost(f"{name}/common", f"{name}/{side}") for name in MAPPED for side in SIDES))


def _list_sizes() -> Iterator[Identity]:
    """Yield how the sizes of entities are related: an entity of n mentions has n - 1 links."""
    for side in SIDES:
        yield AtMost(f"mentions/{side}", f"b3/{side}")
        yield from (Equal(f"{name}/{side}", f"b3/{side}") for name in ("ceafm", "lea"))
        yield Equal(f"muc/{side} + ceafe/{side}", f"b3/{side}")


def _equal_to_mentions() -> Identities:
    """Return that entities have all mentions, each once."""
    sizes = [Equal(f"{name}/{side}", f"mentions/{side}") for name in ("b3", "ceafm", "lea") for side in SIDES]
    limits = [AtMost(f"{name}/{side}", f"mentions/{side}") for name in ("muc", "ceafe") for side in SIDES]
    return (*sizes, *limits)


def _list_links(prefix: str) -> Iterator[Identity | When]:
    """Yield what is true of BLANC's links."""
    yield Whole(tuple(f"{prefix}/{link}" for link in LINKS))
    for kind in ("coreference", "other"):
        yield from (AtMost(f"{prefix}/{kind}_common", f"{prefix}/{kind}_{side}") for side in SIDES)
    links = f"{prefix}/coreference_{{0}} + {prefix}/other_{{0}}"
    pairs = (*(Pairs(links.format(side), f"mentions/{side}") for side in SIDES),)
    common = Pairs(links.format("common"), "mentions/common", every=False)
    yield _unless_repeated((*pairs, common))


def _list_parts() -> Iterator[Identity | PartsOf | When]:
    """Yield what is true of parts of documents, whose precision and recall have numerators of their own."""
    for name in OF_MENTIONS:
        for side in SIDES:
            yield AtMost(f"{name}/found_of_{side}", f"{name}/{side}")
            yield PartsOf(f"{name}/found_of_{side}", f"{name}/common")
    yield Whole(tuple(f"mentions/found_of_{side}" for side in SIDES))
    yield When("split_antecedents", ("ignore",), (Whole(tuple(f"muc/found_of_{side}" for side in SIDES)),))
