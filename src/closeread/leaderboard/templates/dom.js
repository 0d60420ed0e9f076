// Elements and numbers. Texts become text nodes, never markup.

/** Make an element; attributes that are null or false are left out, `on` holds listeners by event. */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return made;
}

/** Isolate a name, so that its direction does not change the sentence around it. */
const isolate = (name) => make("bdi", {}, name);

/** A link that Python has checked, or, in a list, a text that is none. */
function makeLink(target, text = null) {
  if (Array.isArray(target)) return document.createTextNode(target[0]);
  return make("a", { href: target, rel: "nofollow noopener", target: "_blank" }, text ?? target);
}

/** A table in a region of its own, which scrolls and can be focused. */
const makeRegion = (label, table) => make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, table);

const NOTHING = "–";
const percent = (hundredths) => (hundredths === null ? NOTHING : (hundredths / 100).toFixed(2));
const signed = (hundredths) =>
  hundredths === null ? NOTHING : `${hundredths < 0 ? "−" : "+"}${(Math.abs(hundredths) / 100).toFixed(2)}`;
const formatP = (p) => (p === null ? NOTHING : p === 0 ? "<0.0001" : (p / 10000).toFixed(4));
const ratio = (hundredths) => (hundredths === null ? null : Number((hundredths / 10000).toFixed(4)));
const pluralize = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

function formatCount(count) {
  if (count === null) return NOTHING;
  const digits = Number.isInteger(count) ? 0 : 2;
  return count.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const formatScore = (score) => (score === null ? "" : percent(score.value) + (score.undefined ? "*" : ""));
const formatInterval = (score) =>
  score === null || score.low === null ? "" : `${percent(score.low)}–${percent(score.high)}`;
const formatRank = (row) => (row.rankLow === null ? "" : row.rankLow === row.rankHigh ? `${row.rankLow}` : `${row.rankLow}–${row.rankHigh}`);
