// The columns of the ranking: title, content of cells, sort key, and downloaded value.

const KINDS = { system: "system", baseline: "baseline" };
const FLAGS = { perfect: "equal to the gold" };
const NAME_LIMIT = 120;
const TEXT_LIMIT = 60;
const isMinor = (metric) => /\/(precision|recall)$/.test(metric.name);

const shorten = (text, limit = NAME_LIMIT) => (text.length > limit ? `${text.slice(0, limit - 1)}…` : text);
const nameFlags = (row) => row.flags.map(({ flag }) => FLAGS[flag] ?? flag).join(", ");
const addressOf = (board, row) => `#${board.key}:system:${row.key}`;
const linkSystem = (board, row) => make("a", { href: addressOf(board, row) }, isolate(shorten(row.system)));

/** What a row is if it is no system. */
function makeTag(row) {
  if (row.kind === "system") return null;
  return make("i", {}, KINDS[row.kind] ?? row.kind);
}

/** The scale that intervals are drawn on: the multiples of five around everything in the column. */
function findScale(scores) {
  const ends = scores.filter((score) => score?.value != null).flatMap(({ value, low, high }) => [low ?? value, high ?? value]);
  if (!ends.length) return [0, 10000];
  const from = Math.floor(Math.min(...ends) / 500) * 500;
  return [from, Math.max(Math.ceil(Math.max(...ends) / 500) * 500, from + 500)];
}

/** The scale from 0 to 100, or further if scores exceed it, as CEAF of repeated mentions can. */
const findWholeScale = (scores) => [0, Math.max(10000, findScale(scores)[1])];

/** A score on its scale, with its interval: for the eye only, as the numbers stand beside it. */
function makeBar(score, [from, to]) {
  const bar = make("span", { class: "bar", "aria-hidden": "true" });
  const place = (value) => `${(100 * (value - from)) / (to - from)}%`;
  if (score.low !== null) {
    const range = make("span", { class: "range" });
    range.style.left = place(score.low);
    range.style.width = `${(100 * (score.high - score.low)) / (to - from)}%`;
    bar.append(range);
  }
  const dot = make("span", { class: "dot" });
  dot.style.left = place(score.value);
  bar.append(dot);
  return bar;
}

function drawScore(score, scale = null) {
  if (score === null) return [];
  const interval = formatInterval(score);
  return [
    make("span", { class: "value" }, formatScore(score)),
    " ", // for readers who copy a row, or have no style
    interval || scale ? make("small", { class: scale ? "scaled" : null }, interval) : null,
    scale && score.value !== null ? makeBar(score, scale) : null,
  ];
}

const textColumn = (name, title, field) => ({
  name,
  title,
  kind: "text",
  sortValue: (row) => (row[field] ? row[field].toLowerCase() : null),
  draw: (row) => [shorten(row[field] ?? "", TEXT_LIMIT)],
  text: (row) => row[field] ?? "",
});

function scoreColumn(name, title, getScore, scale) {
  return {
    name,
    title,
    kind: "score",
    descends: true,
    score: getScore,
    sortValue: (row) => getScore(row)?.value ?? null,
    draw: (row) => drawScore(getScore(row), scale),
    text: (row) => {
      const score = getScore(row);
      const interval = formatInterval(score);
      return formatScore(score) + (interval && ` (${interval})`);
    },
  };
}

/** The columns for a choice of scores: all units, or the values of a field (for one metric). */
function makeColumns(board, { field, metric, minor }) {
  const rank = {
    name: "rank",
    title: "Rank",
    kind: "rank",
    sortValue: (row) => (row.rankLow === null ? null : row.rankLow * 1e6 + row.rankHigh),
    draw: (row) => [formatRank(row), row.isBest ? make("span", { class: "unseen" }, " not distinguishable from the best") : null],
    text: formatRank,
  };
  const system = {
    ...textColumn("system", "System", "system"),
    kind: "name",
    draw: (row) => [linkSystem(board, row), " ", makeTag(row)],
  };
  const flags = { ...textColumn("flags", "Flags", "flags"), sortValue: (row) => nameFlags(row) || null, draw: (row) => [nameFlags(row)], text: nameFlags };
  return [
    rank,
    system,
    ...(field === null ? totalColumns(board, minor) : sliceColumns(board, board.slices[field], metric)),
    textColumn("author", "Author", "author"),
    { ...textColumn("submitted", "Submitted", "submitted"), kind: "day", descends: true, draw: (row) => [row.day], text: (row) => row.day },
    flags,
  ];
}

function totalColumns(board, minor) {
  const shown = board.metricOrder.filter((m) => minor || m === board.headline || !isMinor(board.metrics[m]));
  return shown.map((m) => {
    const getScore = (row) => board.total.score(m, row.index);
    const scale = m === board.headline ? findScale(board.ranked.map(getScore)) : null;
    return { ...scoreColumn(board.metrics[m].name, board.metrics[m].title, getScore, scale), isHeadline: m === board.headline };
  });
}

function sliceColumns(board, slice, metric) {
  const m = board.metrics.findIndex(({ name }) => name === metric);
  return slice.values.map(({ value, results }) =>
    scoreColumn(`${slice.field}=${value}/${metric}`, value, (row) => results.score(m, row.index), null));
}
