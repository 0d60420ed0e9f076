// The data of a board, as `closeread.leaderboard.compact` writes it.

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES = new Map([...ALPHABET].map((digit, value) => [digit, value]));

function unpackNumbers({ from, scale, width, digits }) {
  const numbers = [];
  for (let start = 0; start < digits.length; start += width) {
    let code = 0;
    for (let i = start; i < start + width; i += 1) code = code * 64 + VALUES.get(digits[i]);
    numbers.push(code === 0 ? null : (code - 1 + from) / scale);
  }
  return numbers;
}

const unpackDigests = (text) =>
  text?.replace(/([~^])([A-Za-z0-9_-]{43})/g, (_, mark, packed) => {
    const bytes = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const hex = [...bytes].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
    return mark === "^" ? `${hex.slice(0, 2)}/${hex}` : hex;
  }) ?? null;

/** A column as a list of n values; the forms are those of `closeread.leaderboard.packing`. */
function unpack(column, n) {
  if (Array.isArray(column)) return column;
  if ("all" in column) return Array(n).fill(column.all);
  if ("of" in column) return unpack(column.at, n).map((place) => column.of[place]);
  if ("digits" in column) return unpackNumbers(column);
  if ("digests" in column) return unpack(column.digests, n).map(unpackDigests);
  return column.each.map((text) => (text === null ? null : column.before + text + column.after));
}

/** Scores, counts and sizes of all rows, in the whole or in a slice; unpacked when they are first needed. */
class Results {
  constructor(packed, n) {
    this.packed = packed;
    this.n = n;
    this.scores = new Map();
    this.countNames = packed.counts.map(([name]) => name);
  }

  unpackMetric(metric) {
    const packed = this.packed.scores[metric];
    const [values, below, above] = ["value", "below", "above"].map((name) => unpack(packed[name], this.n));
    const undefinedRows = new Set(packed.undefined ?? []);
    return values.map((value, row) => {
      const printed = packed.printed?.[row] ?? null;
      if (value === null && printed === null && !undefinedRows.has(row)) return null;
      const ends = below[row] === null || above[row] === null ? [null, null] : [value - below[row], value + above[row]];
      return { value, low: ends[0], high: ends[1], undefined: undefinedRows.has(row), printed };
    });
  }

  /** The score of a row; null if it has none. */
  score(metric, row) {
    if (!this.scores.has(metric)) this.scores.set(metric, this.unpackMetric(metric));
    return this.scores.get(metric)[row];
  }

  /** The counts of a row in the order of `countNames`; null if it has none. */
  counts(row) {
    this.unpackedCounts ??= this.packed.counts.map(([, column]) => unpack(column, this.n));
    const found = this.unpackedCounts.map((column) => column[row]);
    return found.every((count) => count === null) ? null : found;
  }

  units(row) {
    this.unpackedUnits ??= unpack(this.packed.n_units, this.n);
    return this.unpackedUnits[row];
  }
}

/** Read a board from its script element: everything but scores as rows. */
function readBoard(element) {
  const raw = JSON.parse(element.textContent);
  const columns = Object.fromEntries(Object.entries(raw.columns).map(([name, column]) => [name, unpack(column, raw.n)]));
  const rows = columns.id.map((id, index) => {
    const row = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[index]]));
    const key = raw.keys[index] ?? id.slice(0, 10);
    return { ...row, index, key, rankLow: row.rank_low, rankHigh: row.rank_high, day: (row.submitted ?? "").split("T")[0] };
  });
  return {
    ...raw,
    rows,
    pairs: {
      ...raw.pairs,
      ...Object.fromEntries(["low", "high", "p"].map((name) => [name, unpack(raw.pairs[name], raw.pairs.n)])),
    },
    ranked: rows.slice(0, raw.n_ranked),
    // Links from elsewhere have the whole id.
    byKey: new Map([...rows.map((row) => [row.id, row]), ...rows.map((row) => [row.key, row])]),
    byId: new Map(rows.map((row) => [row.id, row])),
    total: new Results(raw.total, raw.n),
    slices: raw.slices.map(([field, values]) => ({
      field,
      values: values.map(([value, packed]) => ({ value, results: new Results(packed, raw.n) })),
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
