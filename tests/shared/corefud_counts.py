"""The counts of a response as CorefUD's scorer has them: (found of response, response, found of key, key)."""

from closeread.tasks.coref.key_response import align, read_side
from closeread.tasks.coref.metrics.scores import TITLES
from closeread.tasks.coref.procedure import PROCEDURE

METRICS = (*TITLES, "mor", "zeros")
NUMERATORS = ("found_of_response", "found_of_key")
MATCHING = {"exact": "exact", "head": "head", "partial-corefud": "partial"}


def read_pair(key, response):
    """Read two files."""
    options = PROCEDURE.resolve_options({"duplicates": "first"})
    gold = read_side(key, options)
    return gold, align(gold, response, options)


def count_pair(gold, system, **options):
    """Count a response, summed over documents, by the names of the metrics and of BLANC's two kinds of links."""
    table = tabulate_pair(gold, system, **options)
    sums = dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))
    counts = {
        name: _list_counts(sums, name)
        for name in METRICS
        if name not in ("mentions", "blanc", "conll")
    }
    for kind in ("coreference", "other"):
        common, of_key, of_response = (
            sums[f"blanc_luo2014/{kind}_{side}"] for side in ("common", "key", "response")
        )
        counts[kind] = [common, of_response, common, of_key]
    return counts


def score_pair(gold, system, **options):
    """Score a response; 0/0 is 0."""
    return tabulate_pair(gold, system, **options).scores(PROCEDURE.with_metrics(METRICS).metrics)


def tabulate_pair(gold, system, **options):
    """Count every document."""
    fixed = {"metrics": METRICS, "blanc_edge": "luo2014", "duplicates": "first"}
    return PROCEDURE.count(gold=gold, system=system, **fixed, **options)


def _list_counts(sums, name):
    response, key = (
        sums.get(f"{name}/{numerator}", sums.get(f"{name}/common")) for numerator in NUMERATORS
    )
    return [response, sums[f"{name}/response"], key, sums[f"{name}/key"]]
