// The data of a board, as `closeread.leaderboard.page` writes it.

/** The value of a name, which may be that of a method of all objects; undefined if there is none. */
const lookUp = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** Scores, counts and sizes of all rows, in the whole or in a slice. */
class Results {
  /** `find` returns the results of a row, or undefined if it has none. */
  constructor(rows, find, countNames) {
    this.results = rows.map((row) => find(row) ?? [[], [], null]);
    this.countNames = countNames;
  }

  /** The score of a row; null if it has none. */
  score(metric, row) {
    const [value, low, high, isUndefined] = this.results[row]?.[0][metric] ?? [null, null, null, 0];
    if (value === null && !isUndefined) return null;
    return { value, low: high === null ? null : low, high: low === null ? null : high, undefined: Boolean(isUndefined) };
  }

  /** The counts of a row in the order of `countNames`; null if it has none. */
  counts(row) {
    const counts = this.results[row][1];
    return counts.every((count) => count === null) ? null : counts;
  }

  units(row) {
    return this.results[row][2];
  }
}

/** Read a board from its script element. */
function readBoard(element) {
  const raw = JSON.parse(element.textContent);
  const { metrics } = raw;
  const headline = metrics.findIndex(({ name }) => name === raw.headline);
  const rows = raw.rows.map((row, index) => ({
    ...row,
    index,
    rankLow: row.rank?.low ?? null,
    rankHigh: row.rank?.high ?? null,
    isBest: Boolean(row.rank?.best),
    day: (row.submitted ?? "").split("T")[0],
  }));
  return {
    ...raw,
    rows,
    headline,
    ranked: rows.slice(0, raw.n_ranked),
    // Links from elsewhere have the whole id.
    byKey: new Map([...rows.map((row) => [row.id, row]), ...rows.map((row) => [row.key, row])]),
    byId: new Map(rows.map((row) => [row.id, row])),
    total: new Results(rows, (row) => row.total, raw.counts),
    slices: Object.entries(raw.slices).map(([field, values]) => ({
      field,
      values: values.map((value) => ({ value, results: new Results(rows, (row) => lookUp(lookUp(row.slices, field), value), raw.counts) })),
    })),
    // The headline first, as in the tables that Python writes.
    metricOrder: metrics.map((_, i) => i).sort((a, b) => (b === headline) - (a === headline) || a - b),
  };
}

/** A ratio in hundredths of a percent. */
const toHundredths = (ratio) => (ratio === null ? null : Math.round(10000 * ratio));

/** The paired test of two rows, of the first minus the second; null if it is not in the data. */
function findPair(board, first, second) {
  const { ids, values, low, high, p } = board.pairs;
  const [i, j] = [ids.indexOf(first.id), ids.indexOf(second.id)];
  if (i < 0 || j < 0 || i === j) return null;
  const [a, b] = [Math.min(i, j), Math.max(i, j)];
  const place = a * ids.length - (a * (a + 1)) / 2 + (b - a - 1);
  const between = (value) => (value === null ? null : toHundredths(i < j ? value : -value));
  const ends = [between(low[place]), between(high[place])];
  return {
    difference: values[i] === null || values[j] === null ? null : toHundredths(values[i] - values[j]),
    low: i < j ? ends[0] : ends[1],
    high: i < j ? ends[1] : ends[0],
    p: p[place] === null || p[place] >= 0.0001 ? toHundredths(p[place]) : 0,
  };
}
