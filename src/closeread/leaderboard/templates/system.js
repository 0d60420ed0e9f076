// The view of one system: who, when, all scores, slices, counts, and how to reproduce them.

function describeRank(board, row) {
  if (row.group === "other") return "none: its scores have another signature";
  if (row.group === "superseded") {
    const flag = row.flags.find((one) => one.flag === "late" || one.flag === "disqualified");
    return flag ? `none: ${flag.flag}` : "none: another submission of its author counts";
  }
  if (row.rankLow === null) return "none";
  const best = row.isBest ? ", not distinguishable from the best" : "";
  return `${formatRank(row)}${best}`;
}

const FLAG_SENTENCES = {
  perfect: () => "The predictions are equal to the gold.",
  unverified: () => "No model, paper or code is linked by which others could verify the system.",
  late: () => "It was submitted after the end.",
  disqualified: (board, { reason }) => `The organisers have disqualified it: ${reason}`,
  duplicate: (board, { of }) => {
    const other = board.byId.get(of);
    return ["The predictions are the same as those of ", other ? linkSystem(board, other) : of, "."];
  },
};

function listFacts(board, row) {
  const model = typeof row.model === "string" ? makeLink(`https://huggingface.co/${row.model}`, row.model) : row.model?.[0];
  const facts = [
    ["Rank", describeRank(board, row)],
    ["Author", row.author],
    ["Submitted", row.submitted?.replace("T", " ").replace("Z", " UTC")],
    ["Submission", row.source && makeLink(row.source)],
    ["Model", model],
    ["Paper", row.paper && makeLink(row.paper)],
    ["Code", row.code && makeLink(row.code)],
    ["Mentions", row.mentions && makeLink(row.mentions, "in the texts, beside those of the key")],
    ["Flags", row.flags.length ? row.flags.map((flag) => make("p", {}, ...[FLAG_SENTENCES[flag.flag]?.(board, flag) ?? flag.flag].flat())) : null],
    ["Id", row.kind === "system" ? make("code", {}, row.id) : null],
    ["Signature", row.signature && make("code", {}, row.signature)],
    ["Scored by", row.closeread && `closeread ${row.closeread}`],
    ["Record", row.record && (Array.isArray(row.record) ? make("code", {}, row.record[0]) : makeLink(row.record))],
  ];
  return make("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function makeTable(caption, header, rows, look = null) {
  const cell = (content, i) => make(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, content ?? "");
  return make(
    "table",
    { class: look },
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, make("tr", {}, header.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map(cell)))),
  );
}

function scoresOf(board, row) {
  const scored = board.metricOrder.map((m) => [m, board.total.score(m, row.index)]).filter(([, score]) => score !== null);
  const scale = findWholeScale(scored.map(([, score]) => score));
  const rows = scored.map(([m, score]) => [
    board.metrics[m].title,
    make("span", { class: "value" }, formatScore(score)),
    formatInterval(score),
    score.value === null ? "" : makeBar(score, scale),
  ]);
  const level = Number((100 * board.confidence).toPrecision(6));
  return makeRegion("Scores", makeTable("Scores", ["Score", "× 100", `${level}% interval`, `0–${scale[1] / 100}`], rows));
}

function slicesOf(board, row) {
  return board.slices.flatMap(({ field, values }) => {
    const shown = values.filter(({ results }) => board.metricOrder.some((m) => results.score(m, row.index) !== null));
    if (!shown.length) return [];
    const metrics = board.metricOrder.map((m) => board.metrics[m].title);
    const rows = shown.map(({ value, results }) => [
      value,
      formatCount(results.units(row.index)),
      ...board.metricOrder.map((m) => make("span", {}, ...drawScore(results.score(m, row.index)))),
    ]);
    const label = `Scores by ${field}`;
    return [make("h4", {}, label), makeRegion(label, makeTable(label, [field, `${board.unit}s`, ...metrics], rows))];
  });
}

function countsOf(board, row) {
  const groups = [["all", board.total], ...board.slices.flatMap(({ values }) => values.map(({ value, results }) => [value, results]))];
  const counted = groups.map(([name, results]) => [name, results, results.counts(row.index)]).filter(([, , counts]) => counts);
  if (!counted.length) return [];
  const names = [...new Set(counted.flatMap(([, results]) => results.countNames))];
  const rows = counted.map(([name, results, counts]) => [
    name,
    ...names.map((count) => formatCount(counts[results.countNames.indexOf(count)] ?? null)),
  ]);
  return [make("h4", {}, "Counts"), makeRegion("Counts", makeTable("Counts", ["part", ...names], rows, "counts"))];
}

const showCommand = (label, command) => make("pre", { tabindex: "0", role: "region", "aria-label": label }, make("code", {}, command));

/** Draw the view into its section; return its title. */
function drawSystem(board, section, row) {
  const id = `${board.key}:system-title`;
  const compared = row.group === "ranked" && board.ranked.length > 1;
  const command = row.reproduce ? [make("h4", {}, "How to reproduce"), showCommand("Command", row.reproduce)] : [];
  const description = row.description ? make("p", { class: "description" }, isolate(row.description)) : null;
  section.replaceChildren(...[
    make("p", { class: "back" }, make("a", { href: `#${board.key}:ranking` }, "← Ranking")),
    make("h3", { id, tabindex: "-1" }, isolate(row.system), " ", makeTag(row)),
    description,
    listFacts(board, row),
    compared ? make("p", {}, make("a", { href: `#${board.key}:compare:${row.key}` }, "Compare with another system")) : null,
    make("h4", {}, "Scores"),
    scoresOf(board, row),
    ...slicesOf(board, row),
    ...countsOf(board, row),
    ...command,
  ].filter(Boolean));
  return row.system;
}
