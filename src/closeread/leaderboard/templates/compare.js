// The comparison of two systems.

/** The command that compares the predictions of two rows, made of the commands that reproduce each. */
function compareCommand(board, first, second) {
  // What comes before the last command fetches or makes the predictions.
  const steps = [first, second].map((row) => (row.reproduce ?? "").split(" && "));
  const [one, two] = steps.map((parts) => parts.at(-1).match(/(?:[^\s']|'[^']*')+/g) ?? []);
  const differing = one.map((_, i) => i).filter((i) => one[i] !== two[i]);
  const known = `${one[0]} ${one[1]}` === "closeread score" && one.length === two.length && differing.length === 1;
  if (!known) return `closeread compare ${board.procedure} FIRST SECOND`;
  const [i] = differing;
  const command = ["closeread", "compare", ...one.slice(2, i), one[i], two[i], ...one.slice(i + 1)].join(" ");
  return [...new Set(steps.flatMap((parts) => parts.slice(0, -1))), command].join(" && ");
}

function describePair(board, first, second) {
  const { title } = board.metrics[board.headline];
  const pair = findPair(board, first, second);
  if (pair === null || pair.difference === null) {
    const listed = board.pairs.ids.length;
    return [
      make("p", { class: "verdict" }, `The paired test of these two is not part of this page, which has those of the ${listed} best. This command computes it from their predictions:`),
      showCommand("Command", compareCommand(board, first, second)),
    ];
  }
  const level = 10000 - Math.round(10000 * board.confidence);
  const isSignificant = pair.p !== null && pair.p < level;
  const better = pair.difference > 0 ? first : second;
  const verdict = isSignificant
    ? ["The difference is significant: ", isolate(better.system), ` has the higher ${title}.`]
    : [`The difference in ${title} is not significant: these data do not show which of the two is better.`];
  const interval = pair.low === null ? NOTHING : `${signed(pair.low)} to ${signed(pair.high)}`;
  const label = `Difference in ${title}, first minus second`;
  const numbers = make("dl", { class: "pair" },
    ...[[label, signed(pair.difference)], ["Interval", interval], ["p", formatP(pair.p)]].map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  return [
    make("p", { class: "verdict" }, ...verdict),
    numbers,
    make("p", { class: "key" }, "Paired tests: the interval by the bootstrap, p (two-sided) by randomization, for this pair alone: not corrected for multiple comparisons. Rank intervals compare all pairs at once, so two systems that differ here may share ranks."),
  ];
}

function scoresSideBySide(board, first, second) {
  const draw = (results, m) => {
    const scores = [first, second].map((row) => results.score(m, row.index));
    const scale = findWholeScale(scores);
    return scores.map((score) => make("span", {}, ...drawScore(score, scale)));
  };
  const names = [first, second].map((row) => shorten(row.system));
  const totals = board.metricOrder.map((m) => [board.metrics[m].title, ...draw(board.total, m)]);
  const parts = board.slices.flatMap(({ field, values }) => {
    const label = `${board.metrics[board.headline].title} by ${field}`;
    const rows = values.map(({ value, results }) => [value, ...draw(results, board.headline)]);
    return [make("h4", {}, label), makeRegion(label, makeTable(label, [field, ...names], rows))];
  });
  return [make("h4", {}, "Scores"), makeRegion("Scores", makeTable("Scores", ["Score", ...names], totals)), ...parts];
}

/** Draw the view into its section; return its title. */
function drawComparison(board, section, firstKey, secondKey) {
  const rows = board.ranked;
  const id = `${board.key}:compare-title`;
  const heading = make("h3", { id, tabindex: "-1" }, "Compare two systems");
  if (rows.length < 2) {
    section.replaceChildren(heading, make("p", { class: "notice" }, "There are not two systems to compare yet."));
    return "Compare two systems";
  }
  const find = (key) => rows.find((row) => row.key === key);
  const first = find(firstKey) ?? rows.find((row) => row.key !== secondKey);
  const second = find(secondKey) ?? rows.find((row) => row !== first);
  const result = make("div", { class: "result", "aria-live": "polite" });
  const choose = (label, chosen) => {
    const options = rows.map((row) => make("option", { value: row.key, selected: row === chosen }, shorten(row.system)));
    const select = make("select", { on: { change: () => update() } }, ...options);
    return [make("label", {}, `${label} `, select), select];
  };
  const [firstLabel, firstSelect] = choose("First system", first);
  const [secondLabel, secondSelect] = choose("Second system", second);
  const fill = () => {
    const [one, two] = [firstSelect, secondSelect].map((select) => find(select.value));
    if (one === two) {
      result.replaceChildren(make("p", { class: "verdict" }, "Choose two different systems."));
      return;
    }
    result.replaceChildren(...describePair(board, one, two), ...scoresSideBySide(board, one, two));
  };
  const update = () => {
    // The address follows, so that it can be shared; the view stays as it is.
    history.replaceState(null, "", `#${board.key}:compare:${firstSelect.value}:${secondSelect.value}`);
    fill();
  };
  const form = make("form", { class: "filters", on: { submit: (event) => event.preventDefault() } }, firstLabel, secondLabel);
  section.replaceChildren(heading, form, result);
  fill();
  return "Compare two systems";
}
