// The data of a board, as `closeread.leaderboard.page` writes it.

/** Scores, counts and sizes of all rows, in the whole or in a slice. */
class Results {
  constructor({ scores, counts, n_units }) {
    this.scores = scores.map((columns) => ({ ...columns, undefined: new Set(columns.undefined) }));
    this.countNames = counts.map(([name]) => name);
    this.countColumns = counts.map(([, column]) => column);
    this.n_units = n_units;
  }

  /** The score of a row; null if it has none. */
  score(metric, row) {
    const columns = this.scores[metric];
    const [value, low, high] = ["value", "low", "high"].map((name) => columns[name][row]);
    const isUndefined = columns.undefined.has(row);
    if (value === null && !isUndefined) return null;
    return { value, low: high === null ? null : low, high: low === null ? null : high, undefined: isUndefined };
  }

  /** The counts of a row in the order of `countNames`; null if it has none. */
  counts(row) {
    const found = this.countColumns.map((column) => column[row]);
    return found.every((count) => count === null) ? null : found;
  }

  units(row) {
    return this.n_units[row];
  }
}

/** Read a board from its script element: everything but scores as rows. */
function readBoard(element) {
  const raw = JSON.parse(element.textContent);
  const rows = raw.columns.id.map((_, index) => {
    const row = Object.fromEntries(Object.entries(raw.columns).map(([name, values]) => [name, values[index]]));
    return { ...row, index, rankLow: row.rank_low, rankHigh: row.rank_high, day: (row.submitted ?? "").split("T")[0] };
  });
  return {
    ...raw,
    rows,
    ranked: rows.slice(0, raw.n_ranked),
    // Links from elsewhere have the whole id.
    byKey: new Map([...rows.map((row) => [row.id, row]), ...rows.map((row) => [row.key, row])]),
    byId: new Map(rows.map((row) => [row.id, row])),
    total: new Results(raw.total),
    slices: raw.slices.map(([field, values]) => ({
      field,
      values: values.map(([value, results]) => ({ value, results: new Results(results) })),
    })),
    metrics: raw.metrics.map(([name, title]) => ({ name, title })),
    // The headline first, as in the tables that Python writes.
    metricOrder: raw.metrics.map((_, i) => i).sort((a, b) => (b === raw.headline) - (a === raw.headline) || a - b),
  };
}

/** The paired test of two rows, of the first minus the second; null if it is not in the data. */
function findPair(board, first, second) {
  const { rows, values, low, high, p } = board.pairs;
  const [i, j] = [rows.indexOf(first.index), rows.indexOf(second.index)];
  if (i < 0 || j < 0 || i === j) return null;
  const [a, b] = [Math.min(i, j), Math.max(i, j)];
  const place = a * rows.length - (a * (a + 1)) / 2 + (b - a - 1);
  const between = (value) => (value === null ? null : i < j ? value : -value);
  const ends = [between(low[place]), between(high[place])];
  return {
    difference: values[i] === null || values[j] === null ? null : Math.round((values[i] - values[j]) * 10000),
    low: i < j ? ends[0] : ends[1],
    high: i < j ? ends[1] : ends[0],
    p: p[place],
  };
}
