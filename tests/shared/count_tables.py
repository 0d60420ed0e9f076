"""Sums and scores of count tables, by name."""


def sum_counts(table):
    return dict(zip(table.names, table.values.sum(axis=0).tolist(), strict=True))


def score_table(table, procedure):
    totals = table.values.sum(axis=0)
    return {metric.name: float(metric.score(totals, table.names)) for metric in procedure.metrics}
