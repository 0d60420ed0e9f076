// The history: the best score over time, as a line chart above its table.

const CHART = { width: 640, height: 200, left: 44, right: 626, top: 12, bottom: 26 };
const MAX_CHART_LINES = 4; // of the scale, besides its ends
// The distances between lines of the scale, in percent; scores above 1 take 20, 40, …
const CHART_STEPS = [1, 2, 5, 10, 20];

function makeShape(tag, attributes, ...children) {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  shape.append(...children);
  return shape;
}

/** The ends of the scale for scores in percent, and the distance between its lines. */
function chooseScale(scores) {
  const [lowest, highest] = [Math.min(...scores), Math.max(...scores)];
  const span = highest - lowest;
  const step = CHART_STEPS.find((distance) => span <= MAX_CHART_LINES * distance) ?? Math.ceil(span / 100) * CHART_STEPS.at(-1);
  const low = Math.max(Math.floor(lowest / step - 0.5) * step, 0);
  const high = Math.ceil(highest / step + 0.5) * step;
  return [low, Math.max(highest <= 100 ? Math.min(high, 100) : high, low + step), step];
}

/** Draw the chart of a board into its section. */
function drawHistory(board, section) {
  const place = section.querySelector(".view.history .chart");
  if (!place) return; // no submissions yet
  const scores = board.history.map(({ value }) => 100 * value);
  const times = board.history.map(({ date }) => Date.parse(date));
  const days = board.history.map(({ date }) => date.split("T")[0]);
  const [low, high, step] = chooseScale(scores);
  const { width, height, left, right, top, bottom } = CHART;
  const duration = times.at(-1) - times[0] || 1;
  const findX = (time) => left + 8 + ((time - times[0]) / duration) * (right - left - 16);
  const findY = (score) => top + ((high - score) / (high - low)) * (height - bottom - top);
  const points = scores.map((score, i) => [findX(times[i]), findY(score)]);
  const shapes = [];
  for (let tick = low; tick <= high; tick += step) {
    shapes.push(makeShape("path", { class: "rule", d: `M${left} ${findY(tick)}H${right}` }));
    shapes.push(makeShape("text", { x: left - 8, y: findY(tick) + 4, "text-anchor": "end" }, `${tick}`));
  }
  const line = points.map(([x, y], i) => (i ? `H${x}V${y}` : `M${x} ${y}`)).join("");
  shapes.push(makeShape("path", { class: "steps", d: `${line}H${right}` }));
  shapes.push(...points.map(([x, y]) => makeShape("circle", { cx: x, cy: y, r: 4 })));
  shapes.push(makeShape("text", { x: points[0][0], y: height - 6 }, days[0]));
  if (days[0] !== days.at(-1)) shapes.push(makeShape("text", { x: points.at(-1)[0], y: height - 6, "text-anchor": "end" }, days.at(-1)));
  const [first, last] = [scores[0], scores.at(-1)].map((score) => score.toFixed(2));
  const course = scores.length > 1 ? `rose from ${first} on ${days[0]} to ${last} on ${days.at(-1)}` : `is ${last}, since ${days[0]}`;
  const label = `Line chart: the best ${board.metrics[board.headline].title} ${course}. The table below lists every step.`;
  place.replaceChildren(makeShape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...shapes));
}
