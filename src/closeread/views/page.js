"use strict";

// The key's mentions above a text, the response's below.  A *lane* is a system; the lane ALL shows all.  A *thread* has
// a colour and can be followed: an entity of the key, or one of a system that is aligned with none of the key.  Texts
// are untrusted: they become text nodes or attributes only.

const DATA = JSON.parse(document.getElementById("data").textContent);
const NAMES = DATA.systems.map((system) => system.name);
const ALL = NAMES.length;
const KEY = -1;
const HAS_KEY = DATA.documents.some((doc) => doc.key);
const ERRORS = { wrong: "wrong entity", missing: "missing mention", spurious: "spurious mention" };

// By the number of entities of the other side that an entity shares mentions with: none, one, several.
const KINDS_OF_KEY = ["missing entity", "", "split entity"];
const KINDS_OF_SYSTEM = ["spurious entity", "", "merged entities"];

const COLOURS = [...Array(14).keys()];
const WORDS_BETWEEN = 100;
const WORDS_AT_ONCE = 250;

const state = { number: 0, lane: ALL > 2 ? ALL : 0, kind: "", singletons: !DATA.has_singletons, thread: null, error: null };

const find = (id) => document.getElementById(id);
const TEXT = find("text");
const findAll = (selector) => document.querySelectorAll(selector);
const count = (number) => number.toLocaleString("en");
const percent = (score) => (100 * score).toFixed(2);
const pluralize = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
const byPlace = (one, other) => one.start - other.start || one.end - other.end;
const by = (weigh) => (one, other) => weigh(one) - weigh(other);
const bySize = by((thread) => -thread.size);
const byLength = by(({ start, end }) => end - start);

/** Functions become listeners, "--" begins a property of the style. */
function make(tag, attributes, ...children) {
  const space = ["svg", "path"].includes(tag) ? "2000/svg" : "1999/xhtml";
  const element = document.createElementNS(`http://www.w3.org/${space}`, tag);
  element.append(...children.flat());
  return set(element, attributes);
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value);
  }
  return element;
}

const press = (button, isPressed) => set(button, { "aria-pressed": isPressed });
const nameThread = (thread) => [make("span", { class: "swatch", "--hue": thread.colour }), make("bdi", {}, thread.name)];

// Documents

const current = () => prepare(DATA.documents[state.number]);
const shownLanes = () => (state.lane === ALL ? [...NAMES.keys()] : [state.lane]);
const mentionsOf = (doc) => [doc.key, ...doc.systems].flatMap(({ mentions }) => mentions);

function prepare(doc) {
  if (doc.threads) return doc;
  doc.threads = [];
  doc.glued = new Set(doc.glued);
  doc.empty = new Set(doc.empty);
  doc.key ||= { entities: [], mentions: [] };
  [doc.key, ...doc.systems].forEach((side, index) => readSide(doc, side, index - 1));
  const places = new Map(doc.key.mentions.map((mention) => [mention.parts.join(), mention]));
  if (HAS_KEY) doc.systems.forEach((system, lane) => judge(doc, system, lane, places));
  for (const mention of mentionsOf(doc)) {
    const original = mention.original || mention;
    mention.isSingle = [original, ...original.partners].every((member) => !member || member.entity.size === 1);
  }
  doc.sentences = doc.sentences.map((first, index, starts) => {
    return { first, end: starts[index + 1] ?? doc.words.length, number: index + 1, mentions: [] };
  });
  doc.sentenceOf = doc.sentences.flatMap((sentence) => Array(sentence.end - sentence.first).fill(sentence));
  for (const mention of mentionsOf(doc)) {
    const sentences = new Set(doc.sentenceOf.slice(mention.start, mention.end + 1));
    for (const sentence of sentences) sentence.mentions.push(mention);
  }
  return doc;
}

function readSide(doc, side, lane) {
  side.entities.forEach((entity, index) => {
    const aligned = lane === KEY ? undefined : doc.key.entities[side.aligned[index]];
    Object.assign(entity, { lane, index, thread: aligned || entity, mentions: [], colour: "var(--grey)" });
    if (!aligned) entity.number = doc.threads.push(entity) - 1;
  });
  side.mentions = side.mentions.map(([start, end, number, parts = [[start, end]]], index) => {
    const entity = side.entities[number];
    const mention = { start, end, parts, lane, index, entity, thread: entity.thread, partners: [], verdict: "unjudged" };
    entity.mentions.push(mention);
    return mention;
  });
  for (const { mentions } of side.entities) mentions.sort(byPlace);
  // What a system splits off is grey: it has no entity of the key.
  if (lane === KEY || !HAS_KEY) chooseColours(side.entities.filter(({ mentions }) => mentions.length));
}

/** As on maps, neighbours differ; the largest come first. */
function chooseColours(threads) {
  const owners = COLOURS.map(() => []);
  for (const thread of threads.sort(bySize)) {
    const from = thread.mentions[0].start - WORDS_BETWEEN;
    const to = thread.mentions.at(-1).end + WORDS_BETWEEN;
    const colour = COLOURS.find((other) => owners[other].every((owner) => owner.to < from || to < owner.from));
    if (colour === undefined) continue;
    owners[colour].push({ from, to });
    thread.colour = `var(--c${colour})`;
  }
}

/** A mention of the key has a partner in each lane, which has it as its original. */
function judge(doc, system, lane, places) {
  for (const mention of system.mentions) {
    const original = system.matched ? doc.key.mentions[system.matched[mention.index]] : places.get(mention.parts.join());
    mention.verdict = "spurious";
    if (!original) continue;
    mention.verdict = mention.thread === original.thread ? "right" : "wrong";
    mention.original = original;
    original.partners[lane] = mention;
  }
}

function verdictIn(mention, lane) {
  const response = mention.lane === KEY ? mention.partners[lane] : mention;
  return response ? response.verdict : "missing";
}

/** A singleton that the other side has in a larger entity is an error, so it is shown. */
const isShown = (mention) => state.singletons || !mention.isSingle;

// Errors

/** A system with its errors, each with all its kinds, and the kinds of all entities. */
function judgeErrors(doc, lane) {
  const system = doc.systems[lane];
  if (system.errors) return system;
  const others = new Map([...doc.key.entities, ...system.entities].map((entity) => [entity, new Set()]));
  for (const { entity, original } of system.mentions) {
    if (!original) continue;
    others.get(entity).add(original.entity);
    others.get(original.entity).add(entity);
  }
  system.kinds = new Map();
  for (const [entity, partners] of others) {
    const kinds = entity.lane === KEY ? KINDS_OF_KEY : KINDS_OF_SYSTEM;
    system.kinds.set(entity, kinds[Math.min(partners.size, 2)]);
  }
  const mentions = doc.key.mentions.concat(system.mentions.filter(({ original }) => !original));
  system.errors = mentions.filter((mention) => verdictIn(mention, lane) !== "right").map((mention) => {
    const name = ERRORS[verdictIn(mention, lane)];
    const response = mention.partners[lane];
    const kinds = [name, system.kinds.get(mention.entity), response && system.kinds.get(response.entity)];
    return { mention, lane, name, kinds: new Set(kinds) };
  });
  return system;
}

/** A mention of the key is one error, whoever makes it. */
function listErrors(doc, kind = state.kind) {
  const errors = new Map();
  for (const lane of HAS_KEY ? shownLanes() : []) {
    for (const error of judgeErrors(doc, lane).errors) {
      const { mention, kinds } = error;
      if ((!kind || kinds.has(kind)) && isShown(mention) && !errors.has(mention)) errors.set(mention, error);
    }
  }
  return [...errors.values()].sort((one, other) => byPlace(one.mention, other.mention));
}

const sumUp = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Where all mentions are shown, Python has counted. */
function countMentions(doc, lane) {
  if (state.singletons) return sumUp(Object.values(ERRORS).map((kind) => doc.systems[lane].counts[kind]));
  return judgeErrors(prepare(doc), lane).errors.filter(({ mention }) => isShown(mention)).length;
}

function countErrors(doc, lane, kind) {
  const { errors, kinds } = judgeErrors(doc, lane);
  const ofMentions = errors.filter(({ name, mention }) => name === kind && isShown(mention));
  const ofEntities = [...kinds].filter(([{ size }, name]) => name === kind && (state.singletons || size > 1));
  return count(ofMentions.length + ofEntities.length);
}

// Words for people

function textOf(doc, start, end) {
  const blank = (word) => (word === end || doc.glued.has(word) ? "" : " ");
  return doc.words.slice(start, end + 1).map((text, index) => text + blank(start + index)).join("");
}

const textOfMention = (doc, mention) => mention.parts.map(([start, end]) => textOf(doc, start, end)).join(" … ");

/** What a bar says in its tip and to screen readers. */
function describe(doc, mention) {
  const text = `“${textOfMention(doc, mention)}”`;
  if (mention.lane !== KEY) return `${NAMES[mention.lane]}: ${text} ${sayVerdict(mention)}`;
  const verdicts = shownLanes().map((lane) => `${NAMES[lane]}: ${sayVerdict(mention.partners[lane])}`);
  return `key: ${text}, ${mention.thread.name}; ${verdicts.join("; ")}`;
}

const ENDINGS = { right: ", right", wrong: ", wrong entity", spurious: ", not a mention of the key", unjudged: "" };

function sayVerdict(response) {
  if (!response) return "missing";
  const isApart = response.verdict === "wrong" && response.thread.lane !== KEY;
  return `${isApart ? "apart, " : ""}with ${response.thread.name}${ENDINGS[response.verdict]}`;
}

/** A, B, …, Z, A1, B1, … */
const letterOf = ({ number }) => String.fromCharCode(65 + (number % 26)) + (Math.floor(number / 26) || "");

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "∅": "$\\emptyset$", "[": "{[}", "]": "{]}", "\n": " " };
const escapeLatex = (text) => text.replace(/[\\{}$&#%_^~∅[\]\n]/g, (sign) => LATEX[sign] || `\\${sign}`);

function quoteError(doc, error, isLatex) {
  const { first, end, number, mentions } = doc.sentenceOf[error.mention.start];
  const escape = isLatex ? escapeLatex : String;
  const shown = mentions.filter((mention) => isShown(mention) && [KEY, error.lane].includes(mention.lane));
  const brackets = new Map();
  for (const { parts, lane, thread } of shown) {
    const letter = letterOf(thread);
    const mark = (lane === KEY ? "^" : "_") + (isLatex ? `{\\mathrm{${letter}}}` : letter);
    for (const [from, to] of parts) {
      const marks = brackets.get(`${from} ${to}`)?.marks || "";
      brackets.set(`${from} ${to}`, { from, to, marks: marks + mark });
    }
  }
  const inwards = [...brackets.values()].sort(by(({ from }) => -from));
  let text = "";
  for (let word = first; word < end; word++) {
    text += escape("[").repeat(inwards.filter(({ from }) => from === word).length) + escape(doc.words[word]);
    for (const { marks } of inwards.filter(({ to }) => to === word)) text += isLatex ? `]$${marks}$` : `]${marks}`;
    if (!doc.glued.has(word) && word + 1 < end) text += " ";
  }
  const threads = [...new Set(shown.map(({ thread }) => thread))];
  const letters = threads.map((thread) => `${letterOf(thread)} ${thread.name}`).join("; ");
  const title = `${doc.name}, sentence ${number}: ${error.name}`;
  const legend = `Superscripts: key; subscripts: ${NAMES[error.lane]}. ${letters}`;
  if (!isLatex) return [title, text, describe(doc, error.mention), legend, location.hash].join("\n");
  return ["\\begin{quote}", text, `\\par\\footnotesize ${escape(`${title}. ${legend}`)}`, "\\end{quote}"].join("\n");
}

/** A frame, such as a notebook's, may copy only what is selected. */
function copy(isLatex) {
  const field = find("quotation");
  field.value = quoteError(current(), state.error, isLatex);
  field.hidden = false;
  field.select();
  document.execCommand("copy");
  say("Copied.");
}

const write = (id, text) => (find(id).textContent = text);
const say = (text) => write("status", text);

// The text

const observer = new IntersectionObserver(
  (entries) => entries.forEach(({ isIntersecting, target }) => isIntersecting && drawSentence(target)),
  { rootMargin: "100% 0px" },
);

/** Bars are drawn when they come into sight, since a book has ten thousand. */
function drawText(doc) {
  observer.disconnect();
  TEXT.dir = doc.direction;
  for (const sentence of doc.sentences) {
    sentence.element = make("p", {}, textOf(doc, sentence.first, sentence.end - 1));
    sentence.element.sentence = sentence;
    // Nothing flickers.
    if (sentence.first < WORDS_AT_ONCE) drawSentence(sentence.element);
    observer.observe(sentence.element);
  }
  TEXT.replaceChildren(...doc.sentences.map(({ element }) => element));
}

function redraw() {
  const focused = document.activeElement.mention;
  for (const element of findAll(".drawn")) {
    element.classList.remove("drawn");
    drawSentence(element);
  }
  if (focused) focusBar(focused);
}

function drawSentence(element) {
  if (element.classList.contains("drawn")) return;
  element.classList.add("drawn");
  const { sentence } = element;
  const { bars, names, nAbove, nBelow } = layOut(sentence);
  const number = make("span", { class: "number" }, String(sentence.number));
  element.replaceChildren(number, ...names, make("span", { class: "line" }, drawWords(current(), sentence, bars)));
  set(element, { "--up": nAbove, "--down": nBelow });
  if (state.thread || state.error) markBars(element);
}

/** Levels count from the words: up for the key, down for systems. */
function layOut(sentence) {
  const shown = sentence.mentions.filter(isShown).sort(byLength);
  const stackLane = (lane, base) => stack(shown.filter((mention) => mention.lane === lane), sentence, base);
  const { bars, height } = stackLane(KEY, 0);
  const names = [];
  let base = 0;
  let nBelow = 0;
  NAMES.forEach((name, lane) => {
    const below = stackLane(lane, base);
    if (shownLanes().includes(lane)) bars.push(...below.bars);
    // When systems swap, no word moves.
    nBelow = Math.max(nBelow, base + below.height);
    if (state.lane !== ALL || !shown.length) return;
    names.push(make("span", { class: "lane", "--base": base }, name.length < 5 ? name : String(lane + 1)));
    base += Math.max(below.height, 1) + 0.4;
    nBelow = base;
  });
  return { bars, names, nAbove: height, nBelow };
}

/** Overlapping mentions, the shortest first, have different levels. */
function stack(mentions, { first, end }, base) {
  const levels = [];
  const bars = mentions.map((mention) => {
    const from = Math.max(mention.start, first) - first;
    const to = Math.min(mention.end + 1, end) - first;
    let level = 0;
    while (levels[level] && levels[level].subarray(from, to).includes(1)) level += 1;
    levels[level] ||= new Uint8Array(end - first);
    levels[level].fill(1, from, to);
    return { mention, level: base + level };
  });
  return { bars, height: levels.length };
}

/** Words carry their pieces of bars; without any, they are plain text. */
function drawWords(doc, sentence, bars) {
  const pieces = new Map();
  for (const bar of bars) cutBar(doc, sentence, bar, pieces);
  const nodes = [];
  for (let word = sentence.first; word < sentence.end; word++) {
    const blank = doc.glued.has(word) || word + 1 === sentence.end ? "" : " ";
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

/** A bar has a piece a word, so that it wraps; the first speaks for all. */
function cutBar(doc, { first, end }, { mention, level }, pieces) {
  const isMissing = mention.lane === KEY && shownLanes().every((lane) => !mention.partners[lane]);
  const side = mention.lane === KEY ? "above" : "below";
  const last = Math.min(mention.end, end - 1);
  for (let word = Math.max(mention.start, first); word <= last; word++) {
    const part = mention.parts.find(([from, to]) => from <= word && word <= to);
    const isEnd = part && part[1] === word;
    const names = ["bar", side, isMissing ? "missing" : mention.verdict];
    if (isEnd) names.push("last");
    if (!part) names.push("gap");
    else if (part[0] === word) names.push("first");
    const piece = make("i", { class: names.join(" "), "--hue": mention.thread.colour, "--level": level });
    if (word === mention.start) labelBar(doc, piece, mention);
    piece.mention = mention;
    if (!pieces.has(word)) pieces.set(word, { ending: [], passing: [] });
    pieces.get(word)[isEnd || word === last ? "ending" : "passing"].push(piece);
  }
}

/** Tab stops once at an error; arrow keys reach all bars. */
function labelBar(doc, piece, mention) {
  const isError = shownLanes().some((lane) => verdictIn(mention, lane) in ERRORS);
  piece.classList.add("start");
  set(piece, {
    role: "button",
    tabindex: isError && mention.verdict !== "wrong" ? "0" : "-1",
    "aria-label": describe(doc, mention),
    "data-id": `${mention.lane}.${mention.index}`,
    "data-letter": letterOf(mention.thread),
  });
}

function focusBar(mention) {
  document.querySelector(`[data-id="${mention.lane}.${mention.index}"]`)?.focus({ preventScroll: true });
}

function moveFocus(mention, isForward) {
  const doc = current();
  const lanes = [KEY, ...shownLanes()];
  const line = mentionsOf(doc).filter((other) => lanes.includes(other.lane) && isShown(other)).sort(byPlace);
  const target = line[line.indexOf(mention) + (isForward ? 1 : -1)];
  if (!target) return;
  showWord(doc, target.start);
  focusBar(target);
}

function showWord(doc, word) {
  const { element } = doc.sentenceOf[word];
  drawSentence(element);
  const place = element.querySelector(`[data-word="${word}"]`) || element;
  const { top, bottom } = place.getBoundingClientRect();
  if (top < 110 || bottom > innerHeight * 0.6) place.scrollIntoView({ block: "center" });
}

function markBars(root) {
  const { thread, error } = state;
  TEXT.classList.toggle("dim", thread !== null);
  for (const bar of root.querySelectorAll(".bar")) {
    const { mention } = bar;
    bar.classList.toggle("on", mention.thread === thread || mention.original?.thread === thread);
    bar.classList.toggle("current", mention === error?.mention);
  }
}

// What stands around the text

function drawHead() {
  write("comparison", sayComparison("In all documents,", DATA.comparison));
  const has = { keyed: HAS_KEY, private: !HAS_KEY, compared: ALL > 1, single: DATA.has_singletons };
  for (const name in has) findAll(`.${name}`).forEach((element) => (element.hidden = !has[name]));
  for (const button of find("lanes").children) set(button, { click: () => chooseLane(Number(button.value)) });
  for (const chip of find("chips").children) set(chip, { click: () => chooseKind(chip.value) });
}

function sayComparison(start, comparison) {
  if (!comparison) return "";
  const { repaired, added, shared } = comparison;
  return `${start} ${NAMES[1]} repairs ${count(repaired)} of ${NAMES[0]}’s errors, adds ${count(added)} and shares ${count(shared)}.`;
}

const scoreOf = (doc, lane) => doc.systems[lane].score ?? 2;
const ORDERS = {
  place: () => 0,
  score: (doc) => scoreOf(doc, state.lane % ALL),
  difference: (doc) => scoreOf(doc, 0) - scoreOf(doc, 1),
  errors: (doc) => -sumUp(shownLanes().map((lane) => countMentions(doc, lane))),
};

function drawDocuments() {
  const weights = DATA.documents.map(ORDERS[find("order").value]);
  const numbers = [...weights.keys()].sort(by((number) => weights[number]));
  write("number", pluralize(numbers.length, "document"));
  find("documents").replaceChildren(...numbers.map(drawDocument));
}

/** Scores are points on a line; the first system's is open. */
function drawDocument(number) {
  const doc = DATA.documents[number];
  const scores = doc.systems.map(({ score }) => score).filter((score) => score !== null);
  const figures = [scores.map(percent).join(" / ")];
  if (HAS_KEY) figures.push(`errors: ${doc.systems.map((_, lane) => count(countMentions(doc, lane))).join(" / ")}`);
  const choose = () => {
    openDocument(number);
    writeAddress(doc.name);
  };
  const button = make(
    "button",
    { value: number, title: doc.name, "aria-current": number === state.number, click: choose },
    make("bdi", { class: "title" }, doc.name),
    make("span", { class: "scale" }, scores.map((score) => make("i", { "--score": score }))),
    make("span", { class: "figures" }, figures.join("\n")),
  );
  return make("li", {}, button);
}

function drawLifelines() {
  const doc = current();
  const isOfSide = ({ lane }) => (HAS_KEY ? lane === KEY : shownLanes().includes(lane));
  const threads = doc.threads.filter((thread) => isOfSide(thread) && (thread.size > 1 || state.singletons));
  find("lifelines").replaceChildren(...threads.sort(bySize).map((thread) => drawLifeline(doc, thread)));
}

function drawLifeline(doc, thread) {
  const lanes = HAS_KEY ? shownLanes() : [];
  const height = 11 + 8 * lanes.length;
  const paths = new Map();
  const draw = (colour, word, top) => {
    const x = Math.round((990 * word) / doc.words.length);
    paths.set(colour, `${paths.get(colour) || ""}M${x} ${top}h10v6h-10z`);
  };
  for (const { start, partners } of thread.mentions) {
    draw(thread.colour, start, 2);
    lanes.forEach((lane, row) => draw(partners[lane]?.thread.colour || "missing", start, 11 + 8 * row));
  }
  const axis = make("path", { class: "axis", d: "M0 9.5h1000" });
  const lines = [...paths].map(([colour, d]) => make("path", { class: colour, "--hue": colour, d }));
  const box = { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", "--height": `${height}px` };
  const button = make(
    "button",
    { class: `lifeline ${doc.direction}`, title: thread.name, click: () => chooseThread(thread) },
    make("span", { class: "title" }, nameThread(thread)),
    make("svg", box, axis, lines),
    make("span", { class: "size" }, count(thread.size)),
  );
  return Object.assign(button, { thread });
}

function drawCard() {
  const doc = current();
  const { error, thread } = state;
  find("error").hidden = !error;
  find("entity").hidden = !thread;
  find("quotation").hidden = true;
  if (error) {
    const [title, text] = find("error").children;
    title.replaceChildren(nameThread(error.mention.thread)[0], `“${textOfMention(doc, error.mention)}”: ${error.name}`);
    text.textContent = describe(doc, error.mention);
  }
  if (!thread) return;
  find("entity").children[0].replaceChildren(...nameThread(thread));
  const lanes = thread.lane === KEY ? shownLanes() : [thread.lane];
  find("fates").replaceChildren(...lanes.map((lane) => sayFate(thread, lane)));
}

/** "A: of 16 mentions 12 with Nora, right; 1 missing" */
function sayFate(thread, lane) {
  const fates = new Map();
  for (const { partners, original } of HAS_KEY ? thread.mentions : []) {
    const fate = thread.lane === KEY ? sayVerdict(partners[lane]) : original ? `of ${original.thread.name}` : "spurious";
    fates.set(fate, (fates.get(fate) || 0) + 1);
  }
  const numbers = [...fates].map(([fate, number]) => `${count(number)} ${fate}`).join("; ");
  return make("p", {}, `${NAMES[lane]}: of ${pluralize(thread.mentions.length, "mention")} ${numbers}`);
}

// What readers do

function openDocument(number) {
  Object.assign(state, { number, thread: null, error: null });
  const doc = current();
  write("name", doc.name);
  write("summary", sayComparison("Here,", doc.comparison));
  drawText(doc);
  update();
  for (const button of findAll("#documents button")) set(button, { "aria-current": Number(button.value) === number });
  if (TEXT.getBoundingClientRect().top < 0) find("name").scrollIntoView();
}

function update() {
  const doc = current();
  [...find("lanes").children].forEach((button, lane) => press(button, lane === state.lane));
  for (const chip of find("chips").children) {
    press(chip, chip.value === state.kind);
    chip.firstChild.textContent = shownLanes().map((lane) => countErrors(doc, lane, chip.value)).join(" / ");
  }
  press(find("singletons"), state.singletons);
  write("below", shownLanes().map((lane) => NAMES[lane]).join(", then "));
  drawLifelines();
  follow(state.thread);
}

function chooseLane(lane) {
  if (lane > ALL || (ALL === 1 && lane)) return;
  state.lane = lane;
  if (!HAS_KEY) state.thread = null;
  if (state.error) state.error = findError(state.error.mention.start);
  redraw();
  update();
  if (find("order").value !== "place") drawDocuments();
  say(NAMES[lane] || "all systems");
}

function chooseKind(kind) {
  state.kind = state.kind === kind ? "" : kind;
  state.error = null;
  update();
  if (state.kind) step(1);
}

function chooseThread(thread) {
  if (state.thread === thread) return follow(null);
  showWord(current(), thread.mentions[0].start);
  follow(thread);
}

function follow(thread) {
  state.thread = thread;
  for (const button of find("lifelines").children) press(button, button.thread === thread);
  drawCard();
  markBars(TEXT);
}

/** Behind the last error of a document is the next document. */
function step(direction) {
  const total = DATA.documents.length;
  let { number } = state;
  let errors = listErrors(current());
  let index = errors.findIndex(({ mention }) => mention === state.error?.mention) + direction;
  if (index < -1) index = errors.length - 1;
  for (let distance = 0; !errors[index] && distance < total; distance++) {
    number = (number + direction + total) % total;
    errors = listErrors(prepare(DATA.documents[number]));
    index = direction > 0 ? 0 : errors.length - 1;
  }
  if (number !== state.number) openDocument(number);
  if (errors[index]) showError(errors[index]);
}

function showError(error) {
  const doc = current();
  state.error = error;
  showWord(doc, error.mention.start);
  writeAddress(doc.name, NAMES[error.lane], error.mention.start);
  follow(null);
  focusBar(error.mention);
  hideTip();
  say(`${error.name}, ${describe(doc, error.mention)}`);
}

const findError = (word) => listErrors(current(), "").find(({ mention }) => mention.start === word) || null;

function writeAddress(...parts) {
  try {
    history.replaceState(null, "", `#${parts.map(encodeURIComponent).join("/")}`);
  } catch {
    // A notebook's frame has no address.
  }
}

/** #document/system/word: an error by its first word, from 0. */
function readAddress() {
  const [name, system, word] = location.hash.slice(1).split("/");
  const number = DATA.documents.findIndex((doc) => encodeURIComponent(doc.name) === name);
  if (number < 0) return;
  if (number !== state.number) openDocument(number);
  const lane = NAMES.findIndex((other) => encodeURIComponent(other) === system);
  if (lane >= 0 && !shownLanes().includes(lane)) chooseLane(lane);
  const error = findError(Number(word));
  if (error) showError(error);
}

/** Of a bar its own, of a word all, the innermost first. */
function mentionsAt(element) {
  if (element.mention) return [element.mention];
  const word = element.closest(".word");
  if (!word) return [];
  const outer = word.parentElement.closest(".word") || word;
  return [...outer.querySelectorAll(".bar:not(.gap)")].map(({ mention }) => mention).sort(byLength);
}

function showTip({ target, pointerType }) {
  const mentions = mentionsAt(target);
  if (!mentions.length || pointerType === "touch") return;
  const doc = current();
  find("tip").replaceChildren(...mentions.map((mention) => make("p", {}, nameThread(mention.thread)[0], describe(doc, mention))));
}

const hideTip = () => find("tip").replaceChildren();

/** Chosen again, a word follows the next entity outwards. */
function choose(element) {
  const threads = [...new Set(mentionsAt(element).map(({ thread }) => thread))];
  state.error = null;
  follow(threads[threads.indexOf(state.thread) + 1] ?? null);
}

const ACTIONS = {
  next: () => step(1),
  previous: () => step(-1),
  letters: () => press(find("letters"), TEXT.classList.toggle("letters")),
  singletons: () => {
    state.singletons = !state.singletons;
    redraw();
    update();
    drawDocuments();
  },
  text: () => copy(false),
  latex: () => copy(true),
  leave: () => {
    state.error = null;
    hideTip();
    follow(null);
  },
};
const KEYS = { j: "next", k: "previous", l: "letters", L: "letters", Escape: "leave" };

function pressKey(event) {
  const { key, target } = event;
  const { mention } = target;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea")) return;
  if (mention && [" ", "Enter"].includes(key)) {
    event.preventDefault();
    choose(target);
  } else if (mention && ["ArrowLeft", "ArrowRight"].includes(key)) {
    event.preventDefault();
    moveFocus(mention, (key === "ArrowRight") === (current().direction !== "rtl"));
  } else if (KEYS[key]) ACTIONS[KEYS[key]]();
  else if (/^[1-9]$/.test(key)) chooseLane(key - 1);
}

for (const button of findAll("[data-do]")) set(button, { click: ACTIONS[button.dataset.do] });
set(find("order"), { change: drawDocuments });
set(TEXT, { click: ({ target }) => choose(target), pointerover: showTip, focusin: showTip, pointerout: hideTip, focusout: hideTip });
set(window, { hashchange: readAddress, keydown: pressKey, beforeprint: () => findAll("#text p").forEach(drawSentence) });

if (DATA.documents.length) {
  drawHead();
  openDocument(0);
  readAddress();
  // It judges all documents; the text comes first.
  setTimeout(drawDocuments);
}
