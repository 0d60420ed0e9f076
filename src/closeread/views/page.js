"use strict";

// A text with the key's mentions above its words and the response's below.  A *lane* is a system that is shown; the
// lane ALL shows all of them.  A *thread* is what has a colour and can be followed: an entity of the key, or one of a
// system that is aligned with none of the key.  All texts are untrusted: they become text nodes or attributes only.

const DATA = JSON.parse(document.getElementById("data").textContent);
const NAMES = DATA.systems.map((system) => system.name);
const ALL = NAMES.length;
const VERDICTS = { wrong: "wrong entity", missing: "missing mention", spurious: "spurious mention" };

// The largest entities have a colour each; others share the remaining ones if so many words are between them.
const OWN_COLOURS = 6;
const COLOURS = 14;
const WORDS_BETWEEN = 60;

// Longer sentences are several paragraphs, so that a text without sentences is drawn in parts too.
const MAX_WORDS = 300;
const MAX_LIFELINES = 14;
const MAX_LISTED = 60;

const state = { number: 0, lane: ALL > 2 ? ALL : 0, kind: "", singletons: !DATA.has_singletons, thread: null, error: null };

const find = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en");
const percent = (score) => (score === null || score === undefined ? "–" : (100 * score).toFixed(2));
const pluralize = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const byPlace = (one, other) => one.start - other.start || one.end - other.end;
const lengthOf = (mention) => mention.end - mention.start;

function make(tag, attributes, ...children) {
  return setAttributes(document.createElement(tag), attributes, ...children);
}

function makeSvg(tag, attributes, ...children) {
  return setAttributes(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, ...children);
}

/** Functions become listeners, names that begin with "--" properties of the style. */
function setAttributes(element, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children.flat());
  return element;
}

const makeSwatch = (thread) => make("span", { class: "swatch", "--hue": thread.colour });

// Documents: verdicts, threads, colours, paragraphs

const current = () => prepare(DATA.documents[state.number]);
const shownLanes = () => (state.lane === ALL ? [...NAMES.keys()] : [state.lane]);

function prepare(doc) {
  if (doc.threads) return doc;
  doc.glued = new Set(doc.glued);
  doc.empty = new Set(doc.empty);
  doc.keyMentions = doc.key ? readMentions(doc.key, -1) : [];
  doc.lanes = doc.systems.map(readMentions);
  if (doc.key) doc.systems.forEach((system, lane) => judge(doc, system, lane));
  doc.threads = [];
  if (doc.key) addThreads(doc, doc.key, doc.keyMentions, -1);
  doc.systems.forEach((system, lane) => addThreads(doc, system, doc.lanes[lane], lane));
  addParagraphs(doc);
  return doc;
}

/** Partners of a mention of the key are what each system has in its place; of one of a system, what the key has. */
function readMentions(side, lane) {
  return side.mentions.map(([start, end, entity, parts = [[start, end]]], index) => {
    const { size } = side.entities[entity];
    return { start, end, entity, parts, lane, index, size, partners: [null], verdict: "plain" };
  });
}

function judge(doc, system, lane) {
  const indexes = new Map(doc.keyMentions.map((mention) => [mention.parts.join(), mention.index]));
  for (const mention of doc.keyMentions) mention.partners[lane] = null;
  for (const mention of doc.lanes[lane]) {
    const index = system.matched ? system.matched[mention.index] : indexes.get(mention.parts.join());
    const partner = doc.keyMentions[index];
    mention.verdict = "spurious";
    if (!partner) continue;
    mention.verdict = system.aligned[mention.entity] === partner.entity ? "right" : "wrong";
    mention.partners[0] = partner;
    partner.partners[lane] = mention;
  }
}

/** What a system makes of a mention of the key, or what one of its own is. */
function verdictIn(mention, lane) {
  if (mention.lane >= 0) return mention.verdict;
  return mention.partners[lane] ? mention.partners[lane].verdict : "missing";
}

function addThreads(doc, side, mentions, lane) {
  const added = [];
  const numbers = side.entities.map(({ name, size }, index) => {
    if (doc.key && lane >= 0 && side.aligned[index] >= 0) return side.aligned[index];
    const number = doc.threads.length;
    const thread = { name, size, lane, number, mentions: [], colour: "var(--grey)" };
    doc.threads.push(thread);
    added.push(thread);
    return number;
  });
  for (const mention of mentions) {
    mention.thread = doc.threads[numbers[mention.entity]];
    if (mention.thread.lane === lane) mention.thread.mentions.push(mention);
  }
  for (const thread of added) thread.mentions.sort(byPlace);
  // What a system splits off stays grey: no entity of the key is there whose colour it could have.
  if (lane < 0 || !doc.key) chooseColours(added.filter((thread) => thread.mentions.length));
}

/** As on maps, threads that come near each other differ. */
function chooseColours(threads) {
  const owners = Array.from({ length: COLOURS }, () => []);
  threads.sort((one, other) => other.size - one.size || one.number - other.number);
  threads.forEach((thread, rank) => {
    const from = thread.mentions[0].start - WORDS_BETWEEN;
    const to = thread.mentions.at(-1).end + WORDS_BETWEEN;
    const isFree = (colour) => owners[colour].every((owner) => owner.to < from || to < owner.from);
    const shared = [...owners.keys()].slice(OWN_COLOURS).filter(isFree);
    shared.sort((one, other) => owners[one].length - owners[other].length);
    const colour = rank < OWN_COLOURS ? rank : shared[0];
    if (colour === undefined) return;
    owners[colour].push({ from, to });
    thread.colour = `var(--c${colour})`;
  });
}

function addParagraphs(doc) {
  doc.paragraphs = [];
  doc.sentences.forEach((start, index) => {
    const end = doc.sentences[index + 1] ?? doc.words.length;
    for (let first = start; first < end; first += MAX_WORDS) {
      const paragraph = { first, end: Math.min(first + MAX_WORDS, end), sentence: index + 1, mentions: [] };
      doc.paragraphs.push(paragraph);
    }
  });
  for (const mention of [...doc.keyMentions, ...doc.lanes.flat()]) {
    let index = findParagraph(doc, mention.start);
    for (; index < doc.paragraphs.length && doc.paragraphs[index].first <= mention.end; index++) {
      doc.paragraphs[index].mentions.push(mention);
    }
  }
}

/** The number of a word's paragraph, by halving. */
function findParagraph(doc, word) {
  let low = 0;
  let high = doc.paragraphs.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (doc.paragraphs[middle].first <= word) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A singleton is shown if the other side has its mention in a larger entity: there the score sees an error. */
function isShown(mention) {
  if (state.singletons || mention.size > 1) return true;
  if (mention.lane >= 0) return mention.partners[0] !== null && isShown(mention.partners[0]);
  return mention.partners.some((partner) => partner && partner.size > 1);
}

// Errors

/** The errors of a system with all kinds that each is part of, and its entities that have errors, by kind. */
function findErrors(doc, lane) {
  const system = doc.systems[lane];
  if (system.errors) return system.errors;
  const parts = doc.key.entities.map(() => new Set());
  const sources = system.entities.map(() => new Set());
  for (const { partners, entity } of doc.lanes[lane]) {
    if (!partners[0]) continue;
    parts[partners[0].entity].add(entity);
    sources[entity].add(partners[0].entity);
  }
  const select = (side, sets, test) => side.entities.filter((_, index) => test(sets[index].size));
  const isSeveral = (size) => size > 1;
  const isNone = (size) => size === 0;
  const entities = {
    "split entity": select(doc.key, parts, isSeveral),
    "merged entities": select(system, sources, isSeveral),
    "missing entity": select(doc.key, parts, isNone),
    "spurious entity": select(system, sources, isNone),
  };
  const errors = [];
  for (const mention of [...doc.keyMentions, ...doc.lanes[lane]]) {
    const verdict = verdictIn(mention, lane);
    if (verdict === "right" || (mention.lane >= 0 && verdict !== "spurious")) continue;
    const response = mention.lane < 0 ? mention.partners[lane] : mention;
    const members = [mention.lane < 0 && doc.key.entities[mention.entity], response && system.entities[response.entity]];
    const kinds = Object.keys(entities).filter((kind) => entities[kind].some((entity) => members.includes(entity)));
    errors.push({ mention, lane, kind: VERDICTS[verdict], kinds });
  }
  system.errors = { errors, entities };
  return system.errors;
}

/** The errors shown, in the order of the text; a mention of the key is one error, whoever makes it. */
function listErrors(doc, kind = state.kind) {
  const seen = new Set();
  const listed = [];
  for (const lane of doc.key ? shownLanes() : []) {
    for (const error of findErrors(doc, lane).errors) {
      const isOfKind = !kind || error.kind === kind || error.kinds.includes(kind);
      if (!isOfKind || seen.has(error.mention) || !isShown(error.mention)) continue;
      seen.add(error.mention);
      listed.push(error);
    }
  }
  return listed.sort((one, other) => byPlace(one.mention, other.mention));
}

function countErrors(doc, kind) {
  let total = 0;
  for (const lane of shownLanes()) {
    const { errors, entities } = findErrors(doc, lane);
    if (entities[kind]) total += entities[kind].filter(({ size }) => state.singletons || size > 1).length;
    else total += errors.filter((error) => error.kind === kind && isShown(error.mention)).length;
  }
  return total;
}

/** All errors in mentions of the systems shown, as Python has counted them. */
function countAll(doc) {
  const counts = shownLanes().map((lane) => doc.systems[lane].counts || {});
  return counts.flatMap((ofKind) => Object.values(VERDICTS).map((kind) => ofKind[kind] || 0)).reduce((a, b) => a + b, 0);
}

// Words for people

function textOf(doc, start, end) {
  let text = "";
  for (let word = Math.max(start, 0); word <= Math.min(end, doc.words.length - 1); word++) {
    text += doc.words[word];
    if (word < end && !doc.glued.has(word)) text += " ";
  }
  return text;
}

const textOfMention = (doc, mention) => mention.parts.map(([start, end]) => textOf(doc, start, end)).join(" … ");
const sentenceOf = (doc, word) => doc.paragraphs[findParagraph(doc, word)].sentence;

/** What a bar says to those who point at it, and to those who can't see it. */
function describe(doc, mention) {
  const text = `“${textOfMention(doc, mention)}”`;
  if (mention.lane >= 0) return `${NAMES[mention.lane]}: ${text} ${sayVerdict(mention)}`;
  const verdicts = shownLanes().map((lane) => `${NAMES[lane]}: ${sayVerdict(mention.partners[lane])}`);
  return `key: ${text}, ${mention.thread.name}; ${verdicts.join("; ")}`;
}

function sayVerdict(response) {
  if (!response) return "missing";
  const ends = { right: ", right", wrong: ", wrong entity", spurious: ", not a mention of the key", plain: "" };
  const isApart = response.verdict === "wrong" && response.thread.lane >= 0;
  return `${isApart ? "apart, " : ""}with ${response.thread.name}${ends[response.verdict]}`;
}

/** A, B, …, Z, AA, AB, … */
function letterOf({ number }) {
  const last = String.fromCharCode(65 + (number % 26));
  return number < 26 ? last : letterOf({ number: Math.floor(number / 26) - 1 }) + last;
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "∅": "$\\emptyset$", "\n": " " };
const BRACED = { "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", '"': "\\textquotedbl{}", "[": "{[}", "]": "{]}" };
const escapeLatex = (text) =>
  text.replace(/[\\{}$&#%_^~∅<>|"[\]\n]/g, (sign) => LATEX[sign] || BRACED[sign] || `\\${sign}`);

/** The sentence of an error with its mentions in brackets: superscripts are entities of the key, subscripts others. */
function quoteError(doc, { mention, lane, kind }, isLatex) {
  const sentence = sentenceOf(doc, mention.start);
  const paragraphs = doc.paragraphs.filter((paragraph) => paragraph.sentence === sentence);
  const escape = isLatex ? escapeLatex : (text) => text;
  const threads = new Set();
  const pairs = new Map();
  for (const other of new Set(paragraphs.flatMap(({ mentions }) => mentions))) {
    if ((other.lane >= 0 && other.lane !== lane) || !isShown(other)) continue;
    threads.add(other.thread);
    for (const [from, to] of other.parts) {
      const pair = pairs.get(`${from}-${to}`) || { from, to };
      pair[other.lane < 0 ? "key" : "response"] = letterOf(other.thread);
      pairs.set(`${from}-${to}`, pair);
    }
  }
  const closing = [...pairs.values()].sort((one, other) => other.from - one.from);
  const close = (sign, letter) => (letter ? sign + (isLatex ? `{\\mathrm{${letter}}}` : letter) : "");
  let text = "";
  for (let word = paragraphs[0].first; word < paragraphs.at(-1).end; word++) {
    text += (isLatex ? "{[}" : "[").repeat(closing.filter(({ from }) => from === word).length) + escape(doc.words[word]);
    for (const { to, key, response } of closing) {
      const marks = close("^", key) + close("_", response);
      if (to === word) text += isLatex ? `]$${marks}$` : `]${marks}`;
    }
    if (!doc.glued.has(word)) text += " ";
  }
  const title = escape(`${doc.name}, sentence ${sentence}: ${kind}`);
  const letters = [...threads].map((thread) => `${letterOf(thread)} ${escape(thread.name)}`).join("; ");
  const note = isLatex ? "Superscripts are entities of the key, subscripts of" : "^ entities of the key, _ of";
  const legend = `${note} ${escape(NAMES[lane])}: ${letters}`;
  if (isLatex) return ["\\begin{quote}", text.trim(), `\\par\\footnotesize ${title}. ${legend}`, "\\end{quote}\n"].join("\n");
  return [title, text.trim(), describe(doc, mention), legend, `#${addressOf(doc, state.error)}`].join("\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A frame, such as a notebook's, may not write to the clipboard; it may copy what is selected.
    const field = make("textarea", {});
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say("Copied.");
}

function say(text) {
  find("status").textContent = text;
}

// The text

const mentionOf = new WeakMap();
const observer = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => drawParagraph(entry.target)),
  { rootMargin: "100% 0px" },
);

/** Write the words of a document.  Bars are drawn when they come into sight, since a book has ten thousand. */
function drawText() {
  const doc = current();
  observer.disconnect();
  find("text").dir = doc.direction;
  const elements = doc.paragraphs.map((paragraph) => {
    paragraph.element = make("p", {}, textOf(doc, paragraph.first, paragraph.end - 1));
    paragraph.element.paragraph = paragraph;
    return paragraph.element;
  });
  find("text").replaceChildren(...elements);
  // What is in sight is drawn at once, so that nothing flickers.
  elements.slice(0, 12).forEach(drawParagraph);
  elements.forEach((element) => observer.observe(element));
}

/** Draw what is drawn again.  What the reader looks at stays where it is. */
function redraw() {
  const focused = mentionOf.get(document.activeElement);
  const drawn = [...document.querySelectorAll(".drawn")];
  const anchor = drawn.find((element) => element.getBoundingClientRect().bottom > 90);
  const top = anchor && anchor.getBoundingClientRect().top;
  for (const element of drawn) {
    element.classList.remove("drawn");
    drawParagraph(element);
  }
  if (anchor && scrollY > 0) scrollBy(0, anchor.getBoundingClientRect().top - top);
  if (focused) focusBar(focused);
}

function drawParagraph(element) {
  if (element.classList.contains("drawn")) return;
  element.classList.add("drawn");
  const doc = current();
  const { paragraph } = element;
  const { bars, names, nAbove, nBelow } = layOut(paragraph);
  const number = make("span", { class: "number" }, String(paragraph.sentence));
  element.replaceChildren(number, ...names, make("span", { class: "line" }, drawWords(doc, paragraph, bars)));
  setAttributes(element, { "--up": nAbove, "--down": nBelow });
  markBars(element);
}

/** Give the mentions of a paragraph levels: the key's from the words upwards, those of systems downwards. */
function layOut(paragraph) {
  const shown = paragraph.mentions.filter(isShown);
  const { bars, height } = stack(shown.filter(({ lane }) => lane < 0), paragraph, 0);
  const names = [];
  let base = 0;
  let nBelow = 0;
  NAMES.forEach((name, lane) => {
    const below = stack(shown.filter((mention) => mention.lane === lane), paragraph, base);
    if (shownLanes().includes(lane)) bars.push(...below.bars);
    // Systems that swap in place have the same room, so that no word moves.
    nBelow = Math.max(nBelow, base + below.height);
    if (state.lane !== ALL || !shown.length) return;
    names.push(make("span", { class: "lane", "--base": base }, name.length < 5 ? name : String(lane + 1)));
    base += Math.max(below.height, 1) + 0.4;
    nBelow = base;
  });
  return { bars, names, nAbove: height, nBelow };
}

/** Put shorter mentions nearer to the words, and no two that overlap on one level. */
function stack(mentions, { first, end }, base) {
  const levels = [];
  const bars = [];
  for (const mention of mentions.sort((one, other) => lengthOf(one) - lengthOf(other) || one.start - other.start)) {
    const from = Math.max(mention.start, first) - first;
    const to = Math.min(mention.end + 1, end) - first;
    let level = 0;
    while (levels[level] && levels[level].subarray(from, to).includes(1)) level += 1;
    levels[level] = levels[level] || new Uint8Array(end - first);
    levels[level].fill(1, from, to);
    bars.push({ mention, level: base + level });
  }
  return { bars, height: levels.length };
}

/** Words without a mention are plain text; others are elements that carry their pieces of bars. */
function drawWords(doc, paragraph, bars) {
  const pieces = new Map();
  for (const bar of bars) cutBar(doc, paragraph, bar, pieces);
  const nodes = [];
  for (let word = paragraph.first; word < paragraph.end; word++) {
    const blank = doc.glued.has(word) || word + 1 === paragraph.end ? "" : " ";
    const { ending = [], passing = [] } = pieces.get(word) || {};
    const name = doc.empty.has(word) ? "word empty" : "word";
    let node = doc.words[word];
    if (ending.length || name !== "word") node = make("span", { class: name, "data-word": word }, node, ending);
    // A bar that goes on covers the blank after the word too.
    if (passing.length) nodes.push(make("span", { class: "word", "data-word": word }, node, blank, passing));
    else nodes.push(node, blank);
  }
  return nodes;
}

/** Cut a bar into pieces, one a word, so that it wraps with the line.  The first speaks for all. */
function cutBar(doc, { first, end }, { mention, level }, pieces) {
  const isMissing = mention.lane < 0 && shownLanes().every((lane) => !mention.partners[lane]);
  const kind = mention.lane < 0 ? `above ${isMissing ? "missing" : ""}` : `below ${mention.verdict}`;
  const last = Math.min(mention.end, end - 1);
  for (let word = Math.max(mention.start, first); word <= last; word++) {
    const part = mention.parts.find(([from, to]) => from <= word && word <= to);
    const isEnd = part && part[1] === word;
    let name = `bar ${kind}${isEnd ? " last" : ""}`;
    if (!part) name += " gap";
    else if (part[0] === word) name += " first";
    const piece = make("i", { class: name, "--hue": mention.thread.colour, "--level": level });
    if (word === mention.start) labelBar(doc, piece, mention);
    mentionOf.set(piece, mention);
    if (!pieces.has(word)) pieces.set(word, { ending: [], passing: [] });
    pieces.get(word)[isEnd || word === last ? "ending" : "passing"].push(piece);
  }
}

/** Tab stops once at an error, at the key's bar if there is one; arrow keys reach all bars. */
function labelBar(doc, piece, mention) {
  const isError = shownLanes().some((lane) => !["right", "plain"].includes(verdictIn(mention, lane)));
  piece.classList.add("start");
  setAttributes(piece, {
    role: "button",
    tabindex: isError && mention.verdict !== "wrong" ? "0" : "-1",
    "aria-label": describe(doc, mention),
    "data-id": `${mention.lane}.${mention.index}`,
    "data-letter": letterOf(mention.thread),
  });
}

function focusBar(mention) {
  const bar = document.querySelector(`[data-id="${mention.lane}.${mention.index}"]`);
  if (bar) bar.focus({ preventScroll: true });
}

/** Along the line to the next mention of the same side, up and down to what the other sides have. */
function moveFocus(key, mention) {
  const doc = current();
  let line;
  let isForward = key === "ArrowDown";
  if (isForward || key === "ArrowUp") {
    const original = mention.lane < 0 ? mention : mention.partners[0];
    if (!original) return;
    line = [original, ...shownLanes().map((lane) => original.partners[lane])].filter(Boolean);
  } else {
    const side = mention.lane < 0 ? doc.keyMentions : doc.lanes[mention.lane];
    line = side.filter(isShown).sort(byPlace);
    isForward = (key === "ArrowRight") === (doc.direction !== "rtl");
  }
  const target = line[line.indexOf(mention) + (isForward ? 1 : -1)];
  if (!target) return;
  showWord(doc, target.start);
  focusBar(target);
}

function showWord(doc, word) {
  const { element } = doc.paragraphs[findParagraph(doc, word)];
  drawParagraph(element);
  const place = element.querySelector(`[data-word="${word}"]`) || element;
  const { top, bottom } = place.getBoundingClientRect();
  if (top < 110 || bottom > innerHeight * 0.6) place.scrollIntoView({ block: "center" });
}

/** Let the thread that is followed stand out, and mark the error that is looked at. */
function markBars(root) {
  const isFollowed = (mention) => mention && mention.thread === state.thread;
  const parts = state.error ? state.error.mention.parts : [];
  find("text").classList.toggle("dim", state.thread !== null);
  for (const bar of root.querySelectorAll(".bar")) {
    const mention = mentionOf.get(bar);
    bar.classList.toggle("on", Boolean(isFollowed(mention) || (mention.lane >= 0 && isFollowed(mention.partners[0]))));
  }
  for (const word of root.querySelectorAll(".word")) {
    const number = Number(word.dataset.word);
    word.classList.toggle("on", state.thread !== null && word.querySelector(".on") !== null);
    word.classList.toggle("current", parts.some(([start, end]) => start <= number && number <= end));
  }
}

// What stands around the text

function drawHead() {
  const number = (value) => make("b", {}, value);
  for (const system of DATA.systems) {
    const score = system.scores.find(({ name }) => name === DATA.measure) || system.scores[0];
    if (!score) continue;
    const interval = score.low === null ? "" : ` (${percent(score.low)}–${percent(score.high)})`;
    find("scores").append(make("span", {}, make("bdi", {}, system.name), ` ${score.name} `, number(percent(score.value)), interval));
  }
  find("comparison").append(...sayComparison(DATA.comparison, "In all documents, "));
  const rows = [["", ...DATA.systems[0].scores.map(({ name }) => name)]];
  for (const { name, scores } of DATA.systems) rows.push([name, ...scores.map(({ value }) => percent(value))]);
  find("table").append(...rows.map((cells) => make("tr", {}, cells.map((cell) => make("td", {}, cell)))));
  find("signature").textContent = DATA.signature;
  // What needs a key or two systems is there only with these.
  const has = { keyed: current().key, private: !current().key, compared: ALL > 1 };
  for (const [name, isThere] of Object.entries(has)) {
    for (const element of document.querySelectorAll(`.${name}`)) element.hidden = !isThere;
  }
  for (const lane of ALL > 1 ? [...NAMES.keys(), ALL] : []) {
    const name = NAMES[lane] || (ALL === 2 ? "both" : "all");
    find("lanes").append(make("button", { title: lane + 1, click: () => chooseLane(lane) }, name));
  }
  for (const { id, name, explanation } of current().key ? DATA.kinds : []) {
    find("chips").append(make("button", { class: "chip", title: explanation, click: () => chooseKind(id) }, make("b", {}), ` ${name}`));
  }
  document.querySelector("[data-do=singletons]").hidden = !DATA.has_singletons;
}

function sayComparison(comparison, start) {
  if (!comparison) return [];
  const number = (value) => make("b", {}, count(value));
  const [first, second] = NAMES.map((name) => make("bdi", {}, name));
  const { repaired, added, shared } = comparison;
  return [start, second, " repairs ", number(repaired), " of ", first, "’s errors, adds ", number(added), " and shares ", number(shared), "."];
}

const scoreOf = (doc, lane) => doc.systems[lane].score ?? 2;
const ORDERS = {
  place: () => 0,
  score: (doc) => scoreOf(doc, state.lane % ALL),
  difference: (doc) => scoreOf(doc, 0) - scoreOf(doc, 1),
  errors: (doc) => -countAll(doc),
};

function drawDocuments() {
  const weights = DATA.documents.map(ORDERS[find("order").value]);
  const numbers = [...weights.keys()].sort((one, other) => weights[one] - weights[other]);
  find("number").textContent = pluralize(numbers.length, "document");
  find("documents").replaceChildren(...numbers.map(drawDocument));
}

/** Scores are circles on a line from 0 to 100: the first of several systems is open. */
function drawDocument(number) {
  const doc = DATA.documents[number];
  const title = make("bdi", { class: "title", title: doc.name }, doc.name.replaceAll("_", " "));
  const button = make("button", { click: () => openDocument(number), "aria-current": number === state.number }, title);
  const scores = doc.systems.map(({ score }) => score).filter((score) => typeof score === "number");
  if (scores.length) {
    const places = scores.map((score) => 4 + 172 * score);
    const line = (name, x1, x2) => makeSvg("line", { class: name, x1, x2, y1: 6.5, y2: 6.5 });
    const circles = places.map((cx, index) => makeSvg("circle", { class: index || !places[1] ? "" : "open", cx, cy: 6.5, r: 3.6 }));
    const lines = [line("axis", 4, 176), line("span", Math.min(...places), Math.max(...places))];
    button.append(makeSvg("svg", { viewBox: "0 0 180 13", "aria-hidden": true }, lines, circles));
  }
  const figures = [...scores.map(percent), ...(doc.key ? [pluralize(countAll(doc), "error")] : [])];
  button.append(make("span", { class: "figures" }, figures.join(" · ")));
  return make("li", {}, button);
}

function drawLifelines() {
  const doc = current();
  const threads = doc.threads.filter((thread) => {
    const isOfSide = doc.key ? thread.lane < 0 : shownLanes().includes(thread.lane);
    return isOfSide && (thread.size > 1 || state.singletons);
  });
  threads.sort((one, other) => other.size - one.size || one.number - other.number);
  const listed = threads.slice(0, state.isLong ? threads.length : MAX_LIFELINES);
  find("lifelines").replaceChildren(...listed.map((thread) => drawLifeline(doc, thread)));
  find("more").hidden = listed.length === threads.length;
}

function drawLifeline(doc, thread) {
  const lanes = doc.key ? shownLanes() : [];
  const height = 11 + 8 * lanes.length;
  const paths = new Map();
  const draw = (name, word, top) => {
    const x = Math.round((990 * word) / doc.words.length);
    paths.set(name, `${paths.get(name) || ""}M${x} ${top}h10v6h-10z`);
  };
  for (const mention of thread.mentions) {
    draw(thread.colour, mention.start, 2);
    lanes.forEach((lane, row) => {
      const partner = mention.partners[lane];
      draw(partner ? partner.thread.colour : "missing", mention.start, 11 + 8 * row);
    });
  }
  const picture = makeSvg("svg", { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", "aria-hidden": true, "--height": `${height}px` });
  picture.append(makeSvg("path", { class: "axis", d: "M0 9.5h1000" }));
  for (const [name, d] of paths) picture.append(makeSvg("path", { class: name === "missing" ? name : "", "--hue": name, d }));
  const isFollowed = state.thread === thread;
  return make(
    "button",
    { class: `lifeline ${doc.direction}`, title: thread.name, "aria-pressed": isFollowed, click: () => follow(isFollowed ? null : thread) },
    make("span", { class: "title" }, makeSwatch(thread), make("bdi", {}, thread.name)),
    picture,
    make("span", { class: "size" }, count(thread.size)),
  );
}

function drawCard() {
  const doc = current();
  const { error, thread } = state;
  find("error").hidden = !error;
  find("entity").hidden = !thread;
  if (error) {
    const [title, text] = find("error").children;
    title.replaceChildren(makeSwatch(error.mention.thread), `“${textOfMention(doc, error.mention)}”: ${error.kind}`);
    text.textContent = describe(doc, error.mention);
  }
  if (!thread) return;
  find("entity").children[0].replaceChildren(makeSwatch(thread), make("bdi", {}, thread.name));
  const lanes = thread.lane < 0 ? shownLanes() : [thread.lane];
  find("fates").replaceChildren(...lanes.map((lane) => sayFate(doc, thread, lane)));
  listMentions(MAX_LISTED);
}

/** "A: of 16 mentions 12 together, 3 with Ines, 1 missing"; of an entity of a system, whose mentions it has. */
function sayFate(doc, thread, lane) {
  const fates = new Map();
  for (const { partners } of thread.mentions) {
    const partner = partners[thread.lane < 0 ? lane : 0];
    const name = partner ? partner.thread : null;
    fates.set(name, (fates.get(name) || 0) + 1);
  }
  const sentence = make("p", {}, make("bdi", {}, NAMES[lane]), `: of ${pluralize(thread.mentions.length, "mention")}`);
  for (const [other, number] of doc.key ? fates : []) {
    sentence.append(fates.keys().next().value === other ? " " : ", ", make("b", {}, count(number)));
    if (other === thread) sentence.append(" together");
    else if (other) sentence.append(thread.lane < 0 && other.lane >= 0 ? " apart, as " : " with ", makeSwatch(other), make("bdi", {}, other.name));
    else sentence.append(thread.lane < 0 ? " missing" : " spurious");
  }
  return sentence;
}

function listMentions(most) {
  const doc = current();
  const { mentions } = state.thread;
  find("mentions").replaceChildren(...mentions.slice(0, most).map((mention) => listMention(doc, mention)));
  find("rest").hidden = mentions.length <= most;
}

function listMention(doc, mention) {
  const { start, end } = mention;
  const lanes = mention.lane < 0 ? shownLanes() : [mention.lane];
  const verdicts = lanes.map((lane) => verdictIn(mention, lane));
  const context = (first, last) => make("span", { class: "context" }, textOf(doc, first, last));
  const text = make("span", { dir: doc.direction }, context(start - 3, start - 1), " ", make("b", {}, textOfMention(doc, mention)), " ", context(end + 1, end + 3));
  const signs = { right: "✓", plain: "" };
  const verdict = make("small", { class: verdicts.some((name) => VERDICTS[name]) ? "bad" : "" }, verdicts.map((name) => signs[name] ?? name).join(" "));
  return make("li", {}, make("button", { click: () => showWord(doc, start) }, make("small", {}, sentenceOf(doc, start)), text, verdict));
}

// What readers do

function openDocument(number) {
  Object.assign(state, { number, thread: null, error: null, isLong: false });
  const doc = current();
  find("name").textContent = doc.name.replaceAll("_", " ");
  find("summary").replaceChildren(...sayComparison(doc.comparison, "Here, "));
  drawText();
  update();
  drawDocuments();
  if (find("text").getBoundingClientRect().top < 0) find("name").scrollIntoView();
}

/** Draw what depends on the systems, the kind, the singletons and what is followed. */
function update() {
  const doc = current();
  [...find("lanes").children].forEach((button, lane) => button.setAttribute("aria-pressed", lane === state.lane));
  [...find("chips").children].forEach((chip, index) => {
    const { id } = DATA.kinds[index];
    chip.setAttribute("aria-pressed", id === state.kind);
    chip.firstChild.textContent = count(countErrors(doc, id));
  });
  document.querySelector("[data-do=singletons]").setAttribute("aria-pressed", state.singletons);
  find("below").textContent = shownLanes().map((lane) => NAMES[lane]).join(", then ");
  follow(state.thread);
}

function chooseLane(lane) {
  if (lane > ALL || (ALL === 1 && lane)) return;
  state.lane = lane;
  if (!current().key) state.thread = null;
  if (state.error) state.error = listErrors(current(), "").find(({ mention }) => mention === state.error.mention) || null;
  redraw();
  update();
  drawDocuments();
  say(NAMES[lane] || "all systems");
}

function chooseKind(kind) {
  state.kind = state.kind === kind ? "" : kind;
  state.error = null;
  update();
  if (state.kind) step(1);
}

function follow(thread) {
  state.thread = thread;
  drawLifelines();
  drawCard();
  markBars(find("text"));
}

/** Go to the next error or the one before; behind the last one of a document is the next document. */
function step(direction) {
  const errors = listErrors(current());
  const index = state.error ? errors.findIndex(({ mention }) => mention === state.error.mention) : -1;
  let next = index + direction;
  if (index < 0) next = direction > 0 ? 0 : errors.length - 1;
  if (errors[next]) {
    showError(errors[next]);
    return;
  }
  const total = DATA.documents.length;
  for (let distance = 1; distance <= total; distance++) {
    const number = (state.number + direction * distance + distance * total) % total;
    const others = listErrors(prepare(DATA.documents[number]));
    if (!others.length) continue;
    if (number !== state.number) openDocument(number);
    showError(others.at(direction > 0 ? 0 : -1));
    return;
  }
}

function showError(error) {
  const doc = current();
  state.error = error;
  showWord(doc, error.mention.start);
  follow(null);
  focusBar(error.mention);
  hideTip();
  say(`${error.kind}, ${describe(doc, error.mention)}`);
  try {
    history.replaceState(null, "", `#${addressOf(doc, error)}`);
  } catch {
    // A frame in a notebook has no address that could change.
  }
}

/** Document, system, and the first word of the mention, from 0. */
function addressOf(doc, { mention, lane }) {
  const names = [doc.name, NAMES[lane]].map(encodeURIComponent);
  return `${names[0]}.${names[1].replaceAll(".", "%2E")}.${mention.start}`;
}

function readAddress() {
  const address = location.hash.slice(1);
  const [, name = address, system, word] = /^(.*)\.([^.]*)\.(\d+)$/.exec(address) || [];
  const findDocument = (text) => DATA.documents.findIndex((doc) => encodeURIComponent(doc.name) === text);
  const number = Math.max(findDocument(address), findDocument(name));
  if (number < 0) return;
  if (number !== state.number) openDocument(number);
  const lane = NAMES.findIndex((text) => encodeURIComponent(text).replaceAll(".", "%2E") === system);
  if (lane < 0) return;
  if (!shownLanes().includes(lane)) chooseLane(lane);
  const error = listErrors(current(), "").find(({ mention }) => mention.start === Number(word));
  if (error) showError(error);
}

/** The mentions at an element: of a bar its own, of a word all that it carries, the innermost first. */
function mentionsAt(element) {
  const bar = element.closest(".bar");
  if (bar) return [mentionOf.get(bar)];
  let word = element.closest(".word");
  if (!word) return [];
  word = word.parentElement.closest(".word") || word;
  const mentions = [...word.querySelectorAll(".bar:not(.gap)")].map((piece) => mentionOf.get(piece));
  return mentions.sort((one, other) => lengthOf(one) - lengthOf(other) || one.lane - other.lane);
}

function showTip({ target, pointerType }) {
  const mentions = mentionsAt(target);
  if (!mentions.length || (pointerType && pointerType !== "mouse")) return;
  const tip = find("tip");
  tip.replaceChildren(...mentions.map((mention) => make("p", {}, makeSwatch(mention.thread), describe(current(), mention))));
  tip.hidden = false;
  const box = target.getBoundingClientRect();
  const isLow = box.bottom + tip.offsetHeight + 24 > innerHeight;
  tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${isLow ? box.top - tip.offsetHeight - 14 : box.bottom + 24}px`;
}

function hideTip() {
  find("tip").hidden = true;
}

/** Follow the entity of the innermost mention; when chosen again, of the next one outwards. */
function choose(element) {
  const threads = [...new Set(mentionsAt(element).map(({ thread }) => thread))];
  state.error = null;
  follow(threads[threads.indexOf(state.thread) + 1] ?? null);
}

const ACTIONS = {
  next: () => step(1),
  previous: () => step(-1),
  letters: () => {
    const isOn = find("text").classList.toggle("letters");
    document.querySelector("[data-do=letters]").setAttribute("aria-pressed", isOn);
  },
  singletons: () => {
    state.singletons = !state.singletons;
    redraw();
    update();
  },
  more: () => {
    state.isLong = true;
    drawLifelines();
  },
  mentions: () => listMentions(Infinity),
  text: () => copy(quoteError(current(), state.error, false)),
  latex: () => copy(quoteError(current(), state.error, true)),
  address: () => copy(`${location.href.split("#")[0]}#${addressOf(current(), state.error)}`),
  follow: () => follow(state.error.mention.thread),
  leave: () => {
    state.error = null;
    hideTip();
    follow(null);
  },
};
const KEYS = { j: "next", k: "previous", l: "letters", L: "letters", Escape: "leave" };

for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", ACTIONS[button.dataset.do]);
for (const link of document.querySelectorAll("[data-skip]")) {
  link.addEventListener("click", (event) => {
    // The address is that of an error.
    event.preventDefault();
    find(link.dataset.skip).focus();
  });
}
find("order").addEventListener("change", drawDocuments);
find("text").addEventListener("click", (event) => choose(event.target));
for (const event of ["pointerover", "focusin"]) find("text").addEventListener(event, showTip);
for (const event of ["pointerout", "focusout"]) find("text").addEventListener(event, hideTip);
addEventListener("scroll", hideTip, { passive: true });
addEventListener("hashchange", readAddress);

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select")) return;
  const mention = mentionOf.get(target);
  const isChoice = key === "Enter" || key === " ";
  if (mention && (isChoice || key.startsWith("Arrow"))) {
    event.preventDefault();
    if (isChoice) choose(target);
    else moveFocus(key, mention);
  } else if (KEYS[key]) ACTIONS[KEYS[key]]();
  else if (/^[1-9]$/.test(key)) chooseLane(Number(key) - 1);
});

// On paper there is one system, and all of the text.
let laneOnScreen = state.lane;
addEventListener("beforeprint", () => {
  laneOnScreen = state.lane;
  chooseLane(state.lane % ALL);
  document.querySelectorAll("#text p").forEach(drawParagraph);
});
addEventListener("afterprint", () => chooseLane(laneOnScreen));

if (DATA.documents.length) {
  drawHead();
  openDocument(0);
  readAddress();
}
