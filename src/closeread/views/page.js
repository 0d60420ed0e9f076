"use strict";

// A text with the key's mentions above its words and the response's below.
//
// A *lane* is a system that is shown; the lane `ALL` shows every system.  A *thread* is what has a colour and can be
// followed: an entity of the key, or an entity of a system that is aligned with none of the key.  Every text of the
// data is untrusted: it only ever becomes a text node or an attribute.

const DATA = JSON.parse(document.getElementById("data").textContent);
const NAMES = DATA.systems.map((system) => system.name);
const ALL = NAMES.length;
const SVG = "http://www.w3.org/2000/svg";

/** Errors of a mention; the other kinds are those of entities. */
const KIND_OF_VERDICT = { wrong: "wrong entity", missing: "missing mention", spurious: "spurious mention" };

/** So many entities, the largest, have a colour to themselves; others share the remaining ones. */
const OWN_COLOURS = 6;
const COLOURS = 14;

/** Entities share a colour if at least so many words are between them. */
const WORDS_BETWEEN = 60;

/** Longer sentences are drawn as several paragraphs, so that a text without sentences is drawn in parts as well. */
const MAX_WORDS = 300;
const PARAGRAPHS_IN_CHUNK = 12;
const LIFELINES = 14;
const LISTED_MENTIONS = 60;
const WORDS_OF_CONTEXT = 3;

const state = {
  number: 0,
  lane: ALL > 2 ? ALL : 0,
  kind: "",
  singletons: !DATA.has_singletons,
  thread: null,
  error: null,
  order: "place",
  allLifelines: false,
};

// Elements

const find = (id) => document.getElementById(id);

/** Make an element: functions become listeners, names that begin with "--" properties of its style. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value !== null) element.setAttribute(name, value);
  }
}

const makeSwatch = (colour) => make("span", { class: "swatch", "--hue": colour });
const percent = (score) => (score === null || score === undefined ? "–" : (100 * score).toFixed(2));
const count = (number) => number.toLocaleString("en");
const pluralize = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

// What a document says: verdicts, threads and colours

/** Read a document once: judge its mentions, and find its threads and paragraphs. */
function prepare(doc) {
  if (doc.threads) return doc;
  doc.glued = new Set(doc.glued);
  doc.empty = new Set(doc.empty);
  doc.keyMentions = readMentions(doc.key, -1);
  doc.lanes = doc.systems.map((system, lane) => readMentions(system, lane));
  doc.systems.forEach((system, lane) => judge(doc, system, lane));
  findThreads(doc);
  doc.paragraphs = findParagraphs(doc);
  return doc;
}

function readMentions(side, lane) {
  if (side === null) return [];
  return side.mentions.map(([start, end, entity, parts], index) => ({
    start,
    end,
    entity,
    parts: parts || [[start, end]],
    lane,
    index,
    size: side.entities[entity].size,
    // of a mention of the key: what each system has in its place; of one of a system: what the key has
    partners: [],
    verdict: "plain",
    thread: -1,
  }));
}

/** Match the mentions of a system with those of the key, and compare their entities as they are aligned. */
function judge(doc, system, lane) {
  const indexes = new Map(doc.keyMentions.map((mention) => [mention.parts.join(), mention.index]));
  for (const mention of doc.keyMentions) mention.partners[lane] = null;
  for (const mention of doc.lanes[lane]) {
    const index = system.matched ? system.matched[mention.index] : indexes.get(mention.parts.join());
    const partner = doc.keyMentions[index] || null;
    mention.partners[0] = partner;
    if (doc.key === null) continue;
    if (partner === null) {
      mention.verdict = "spurious";
    } else {
      partner.partners[lane] = mention;
      mention.verdict = system.aligned[mention.entity] === partner.entity ? "right" : "wrong";
    }
  }
}

/** What a system makes of a mention of the key. */
function verdictIn(mention, lane) {
  const partner = mention.partners[lane];
  return partner ? partner.verdict : "missing";
}

function findThreads(doc) {
  doc.threads = [];
  const addThreads = (side, mentions, lane, aligned) => {
    const numbers = side.entities.map((entity, index) => {
      if (aligned && aligned[index] >= 0) return aligned[index];
      doc.threads.push({ name: entity.name, size: entity.size, lane, index, mentions: [], colour: "var(--grey)" });
      return doc.threads.length - 1;
    });
    for (const mention of mentions) {
      mention.thread = numbers[mention.entity];
      doc.threads[mention.thread].mentions.push(mention);
    }
  };
  if (doc.key) addThreads(doc.key, doc.keyMentions, -1, null);
  doc.systems.forEach((system, lane) => addThreads(system, doc.lanes[lane], lane, doc.key && system.aligned));
  doc.threads.forEach((thread, number) => {
    thread.number = number;
    thread.mentions.sort((one, other) => one.start - other.start || one.end - other.end);
  });
  // A split of the key's entities stays grey: it has no entity of the key whose colour it could have.
  const sides = doc.key ? [-1] : doc.systems.keys();
  for (const lane of sides) chooseColours(doc.threads.filter((thread) => thread.lane === lane));
}

/** Give the largest entities colours of their own, and others a shared one, as on maps: no neighbour has it. */
function chooseColours(threads) {
  const owners = Array.from({ length: COLOURS }, () => []);
  const bySize = threads.filter((thread) => thread.mentions.length > 0);
  bySize.sort((one, other) => other.size - one.size || one.number - other.number);
  bySize.forEach((thread, rank) => {
    const own = thread.mentions.filter((mention) => mention.lane === thread.lane);
    const places = own.length ? own : thread.mentions;
    thread.from = places[0].start - WORDS_BETWEEN;
    thread.to = places[places.length - 1].end + WORDS_BETWEEN;
    let choice = rank;
    if (rank >= OWN_COLOURS) {
      const isFree = (colour) => owners[colour].every((owner) => owner.to < thread.from || thread.to < owner.from);
      const free = [...owners.keys()].slice(OWN_COLOURS).filter(isFree);
      free.sort((one, other) => owners[one].length - owners[other].length || one - other);
      choice = free[0];
    }
    if (choice === undefined) return;
    owners[choice].push(thread);
    thread.colour = `var(--c${choice})`;
  });
}

/** A, B, …, Z, AA, AB, …: the letters of a thread. */
function letterOf(number) {
  const last = String.fromCharCode(65 + (number % 26));
  return number < 26 ? last : letterOf(Math.floor(number / 26) - 1) + last;
}

function findParagraphs(doc) {
  const paragraphs = [];
  const starts = doc.sentences.length ? doc.sentences : [0];
  starts.forEach((start, index) => {
    const end = index + 1 < starts.length ? starts[index + 1] : doc.words.length;
    for (let first = start; first < end; first += MAX_WORDS) {
      const last = Math.min(first + MAX_WORDS, end);
      paragraphs.push({ first, end: last, sentence: index + 1, isStart: first === start, mentions: [] });
    }
  });
  for (const mention of [...doc.keyMentions, ...doc.lanes.flat()]) {
    let index = findParagraph(paragraphs, mention.start);
    while (index < paragraphs.length && paragraphs[index].first <= mention.end) {
      paragraphs[index].mentions.push(mention);
      index += 1;
    }
  }
  return paragraphs;
}

/** The paragraph of a word, by halving. */
function findParagraph(paragraphs, word) {
  let low = 0;
  let high = paragraphs.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (paragraphs[middle].first <= word) low = middle;
    else high = middle - 1;
  }
  return low;
}

const current = () => prepare(DATA.documents[state.number]);
const shownLanes = () => (state.lane === ALL ? [...NAMES.keys()] : [state.lane]);

/** A singleton is shown where the other side has its mention in a larger entity: there the score sees an error. */
function isShown(mention) {
  if (state.singletons || mention.size > 1) return true;
  if (mention.lane >= 0) return mention.partners[0] !== null && isShown(mention.partners[0]);
  return mention.partners.some((partner) => partner !== null && partner.size > 1);
}

// Errors

/** The errors of the systems shown in the order of the text; a mention of the key is one error, whoever makes it. */
function listErrors(doc, kind = state.kind) {
  const errors = [];
  for (const mention of doc.keyMentions) {
    const lanes = shownLanes().filter((lane) => verdictIn(mention, lane) !== "right" && isOfKind(doc, mention, lane, kind));
    if (lanes.length && isShown(mention)) errors.push({ mention, lane: lanes[0] });
  }
  for (const lane of doc.key ? shownLanes() : []) {
    for (const mention of doc.lanes[lane]) {
      const isSpurious = mention.verdict === "spurious" && isOfKind(doc, mention, lane, kind);
      if (isSpurious && isShown(mention)) errors.push({ mention, lane });
    }
  }
  return errors.sort((one, other) => one.mention.start - other.mention.start || one.mention.end - other.mention.end);
}

/** Whether an error in a mention is of a kind, or is part of an error of that kind in an entity. */
function isOfKind(doc, mention, lane, kind) {
  if (!kind) return true;
  const verdict = mention.lane < 0 ? verdictIn(mention, lane) : mention.verdict;
  if (KIND_OF_VERDICT[verdict] === kind) return true;
  const response = mention.lane < 0 ? mention.partners[lane] : mention;
  const errors = findEntityErrors(doc, lane)[kind];
  if (!errors) return false;
  if (kind === "split entity" || kind === "missing entity") return mention.lane < 0 && errors.has(mention.entity);
  return response !== null && errors.has(response.entity);
}

/** The entities that a system splits, merges, misses or invents: those of the key, or of the system. */
function findEntityErrors(doc, lane) {
  const system = doc.systems[lane];
  if (system.errors) return system.errors;
  const parts = doc.key.entities.map(() => new Set());
  const sources = system.entities.map(() => new Set());
  for (const mention of doc.lanes[lane]) {
    const partner = mention.partners[0];
    if (partner === null) continue;
    parts[partner.entity].add(mention.entity);
    sources[mention.entity].add(partner.entity);
  }
  const where = (sets, test) => new Set([...sets.keys()].filter((number) => test(sets[number].size)));
  system.errors = {
    "split entity": where(parts, (size) => size > 1),
    "missing entity": where(parts, (size) => size === 0),
    "merged entities": where(sources, (size) => size > 1),
    "spurious entity": where(sources, (size) => size === 0),
  };
  return system.errors;
}

/** How many errors of a kind the systems shown make; without singletons, unless they are shown. */
function countErrors(doc, kind) {
  let total = 0;
  for (const lane of shownLanes()) {
    const ofEntities = findEntityErrors(doc, lane)[kind];
    if (ofEntities) {
      const isOfKey = kind === "split entity" || kind === "missing entity";
      const { entities } = isOfKey ? doc.key : doc.systems[lane];
      total += [...ofEntities].filter((number) => state.singletons || entities[number].size > 1).length;
      continue;
    }
    const mentions = kind === "spurious mention" ? doc.lanes[lane] : doc.keyMentions;
    for (const mention of mentions) {
      const verdict = mention.lane < 0 ? verdictIn(mention, lane) : mention.verdict;
      if (KIND_OF_VERDICT[verdict] === kind && isShown(mention)) total += 1;
    }
  }
  return total;
}

const countMentionErrors = (counts) =>
  Object.values(KIND_OF_VERDICT).reduce((total, kind) => total + ((counts || {})[kind] || 0), 0);

// Words for people

/** The words from one to another, with blanks as in the text. */
function textOf(doc, start, end) {
  let text = "";
  for (let word = start; word <= end; word++) {
    text += doc.words[word];
    if (word < end && !doc.glued.has(word)) text += " ";
  }
  return text;
}

const textOfMention = (doc, mention) => mention.parts.map(([start, end]) => textOf(doc, start, end)).join(" … ");

/** What a bar says to those who point at it, and to those who cannot see it. */
function describe(doc, mention) {
  const text = `“${textOfMention(doc, mention)}”`;
  const name = doc.threads[mention.thread].name;
  if (mention.lane < 0) {
    const verdicts = shownLanes().map((lane) => `${NAMES[lane]}: ${sayVerdict(doc, mention.partners[lane])}`);
    return `key: ${text}, ${name}; ${verdicts.join("; ")}`;
  }
  const side = `${NAMES[mention.lane]}: ${text}`;
  if (mention.verdict === "plain") return `${side}, ${name}`;
  if (mention.verdict === "spurious") return `${side} with ${name}; not a mention of the key`;
  return `${side}, ${sayVerdict(doc, mention)}`;
}

function sayVerdict(doc, response) {
  if (response === null) return "missing";
  const { name } = doc.threads[response.thread];
  if (response.verdict === "right") return `with ${name}, right`;
  if (response.thread < doc.key.entities.length) return `with ${name}, wrong entity`;
  return `apart from its entity, with ${name}, wrong entity`;
}

const nameError = ({ mention, lane }) =>
  KIND_OF_VERDICT[mention.lane < 0 ? verdictIn(mention, lane) : mention.verdict];

const sentenceOf = (doc, word) => doc.paragraphs[findParagraph(doc.paragraphs, word)].sentence;

/** A sentence with its mentions in brackets, of which `open` and `close` make the marks. */
function bracket(doc, sentence, lane, escape, open, close) {
  const paragraphs = doc.paragraphs.filter((paragraph) => paragraph.sentence === sentence);
  const first = paragraphs[0].first;
  const end = paragraphs[paragraphs.length - 1].end;
  const pairs = new Map();
  for (const mention of new Set(paragraphs.flatMap((paragraph) => paragraph.mentions))) {
    if ((mention.lane >= 0 && mention.lane !== lane) || !isShown(mention)) continue;
    for (const [from, to] of mention.parts) {
      const pair = pairs.get(`${from}-${to}`) || { from, to };
      pair[mention.lane < 0 ? "key" : "response"] = letterOf(mention.thread);
      pairs.set(`${from}-${to}`, pair);
    }
  }
  let text = "";
  for (let word = first; word < end; word++) {
    const opening = [...pairs.values()].filter((pair) => pair.from === word).sort((one, other) => other.to - one.to);
    const closing = [...pairs.values()].filter((pair) => pair.to === word).sort((one, other) => other.from - one.from);
    text += open.repeat(opening.length) + escape(doc.words[word]);
    for (const pair of closing) text += close(pair);
    if (word + 1 < end && !doc.glued.has(word)) text += " ";
  }
  return { text, threads: [...new Set([...pairs.values()].flatMap(({ key, response }) => [key, response]))] };
}

/** The entities that letters stand for. */
const listLetters = (doc, letters) =>
  doc.threads.filter((thread) => letters.includes(letterOf(thread.number))).map((thread) => [letterOf(thread.number), thread.name]);

function errorAsText(doc, error) {
  const sentence = sentenceOf(doc, error.mention.start);
  const close = ({ key, response }) => `]${key ? `^${key}` : ""}${response ? `_${response}` : ""}`;
  const { text, threads } = bracket(doc, sentence, error.lane, (word) => word, "[", close);
  return [
    `${doc.name}, sentence ${sentence}: ${nameError(error)}`,
    text,
    describe(doc, error.mention),
    `^ entity of the key, _ of ${NAMES[error.lane]}: ${listLetters(doc, threads).map((pair) => pair.join(" ")).join("; ")}`,
    `#${addressOf(doc, error)}`,
  ].join("\n");
}

function errorAsLatex(doc, error) {
  const sentence = sentenceOf(doc, error.mention.start);
  const close = ({ key, response }) => `]$${key ? `^{\\mathrm{${key}}}` : ""}${response ? `_{\\mathrm{${response}}}` : ""}$`;
  const { text, threads } = bracket(doc, sentence, error.lane, escapeLatex, "{[}", close);
  const letters = listLetters(doc, threads).map(([letter, name]) => `${letter}: ${escapeLatex(name)}`);
  return [
    "\\begin{quote}",
    text,
    "\\par\\footnotesize " + escapeLatex(`${doc.name}, sentence ${sentence}: ${nameError(error)}. `) + "Superscripts are entities of the key, subscripts of " + escapeLatex(`${NAMES[error.lane]}. `) + letters.join("; "),
    "\\end{quote}",
    "",
  ].join("\n");
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "∅": "$\\emptyset$", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", '"': "\\textquotedbl{}", "[": "{[}", "]": "{]}" };
const escapeLatex = (text) =>
  text.replace(/[\\{}$&#%_^~∅<>|"[\]\n]/g, (character) => (character === "\n" ? " " : LATEX[character] || `\\${character}`));

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A frame, such as a notebook's, may not write to the clipboard; it may copy what is selected.
    const field = make("textarea", { "aria-label": "text to copy" });
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

const barMentions = new WeakMap();
const observer = new IntersectionObserver(drawSeen, { rootMargin: "100% 0px" });

function drawSeen(entries) {
  for (const entry of entries) if (entry.isIntersecting) drawChunk(entry.target);
}

/** Write a document's words; bars are drawn when they come into sight, since a book has ten thousand. */
function drawText() {
  const doc = current();
  const article = find("text");
  observer.disconnect();
  article.dir = doc.direction;
  const chunks = [];
  for (let from = 0; from < doc.paragraphs.length; from += PARAGRAPHS_IN_CHUNK) {
    const paragraphs = doc.paragraphs.slice(from, from + PARAGRAPHS_IN_CHUNK);
    const elements = paragraphs.map((paragraph) => {
      paragraph.element = make("p", {}, textOf(doc, paragraph.first, paragraph.end - 1));
      return paragraph.element;
    });
    const chunk = make("div", { class: "chunk", "--height": `${guessHeight(paragraphs)}px` }, elements);
    chunk.paragraphs = paragraphs;
    for (const paragraph of paragraphs) paragraph.chunk = chunk;
    chunks.push(chunk);
  }
  article.replaceChildren(...chunks);
  // What is surely in sight is drawn at once, so that nothing flickers.
  if (chunks.length) drawChunk(chunks[0]);
  for (const chunk of chunks) observer.observe(chunk);
}

/** A height to reserve: about twelve words a line, about two bars above and below. */
function guessHeight(paragraphs) {
  const lines = paragraphs.reduce((total, { first, end }) => total + Math.ceil((end - first) / 12), 0);
  return 52 * lines + 9 * paragraphs.length;
}

function drawChunk(chunk) {
  if (chunk.classList.contains("drawn")) return;
  chunk.classList.add("drawn");
  const doc = current();
  for (const paragraph of chunk.paragraphs) drawParagraph(doc, paragraph);
  markBars(chunk);
}

/** Draw the chunks in sight again; others when they are seen.  What the reader looks at stays where it is. */
function redraw() {
  const focused = barMentions.get(document.activeElement);
  const drawn = [...document.querySelectorAll(".chunk.drawn")];
  const anchor = drawn.flatMap((chunk) => [...chunk.children]).find((element) => element.getBoundingClientRect().bottom > 60);
  const before = anchor && anchor.getBoundingClientRect().top;
  for (const chunk of drawn) {
    chunk.classList.remove("drawn");
    drawChunk(chunk);
  }
  if (anchor && scrollY > 0) scrollBy(0, anchor.getBoundingClientRect().top - before);
  if (focused) focusBar(focused);
}

function drawParagraph(doc, paragraph) {
  const { bars, lanes, nAbove, nBelow } = layOut(doc, paragraph);
  const line = make("span", { class: "line" }, ...drawWords(doc, paragraph, bars));
  const number = paragraph.isStart ? make("span", { class: "number" }, String(paragraph.sentence)) : null;
  const names = lanes.map(({ lane, base }) => make("span", { class: "lane", "--base": base }, NAMES[lane].length < 5 ? NAMES[lane] : String(lane + 1)));
  paragraph.element.replaceChildren(...[number, ...names, line].filter((child) => child !== null));
  setAttributes(paragraph.element, { "--up": nAbove, "--down": nBelow });
}

/** Give the mentions of a paragraph levels: the key's from the words upwards, those of systems downwards. */
function layOut(doc, paragraph) {
  const shown = paragraph.mentions.filter(isShown);
  const above = stack(shown.filter((mention) => mention.lane < 0), paragraph);
  const bars = above.placed;
  const lanes = [];
  let base = 0;
  let deepest = 0;
  for (const lane of NAMES.keys()) {
    const below = stack(shown.filter((mention) => mention.lane === lane), paragraph);
    // Systems that swap in place have the same room, so that no word moves.
    deepest = Math.max(deepest, below.height);
    if (state.lane === ALL) {
      if (shown.length) lanes.push({ lane, base });
      for (const bar of below.placed) bar.level += base;
      base += Math.max(below.height, 1) + 0.4;
    }
    if (state.lane === ALL || state.lane === lane) bars.push(...below.placed);
  }
  const nBelow = state.lane === ALL && shown.length ? base - 0.4 : deepest;
  return { bars, lanes, nAbove: above.height, nBelow };
}

/** Put shorter mentions nearer to the words, and no two that overlap on one level. */
function stack(mentions, paragraph) {
  const sorted = mentions.slice().sort((one, other) => one.end - one.start - (other.end - other.start) || one.start - other.start);
  const levels = [];
  const placed = [];
  for (const mention of sorted) {
    const from = Math.max(mention.start, paragraph.first) - paragraph.first;
    const to = Math.min(mention.end, paragraph.end - 1) - paragraph.first;
    let level = 0;
    while (levels[level] && levels[level].subarray(from, to + 1).includes(1)) level += 1;
    if (!levels[level]) levels[level] = new Uint8Array(paragraph.end - paragraph.first);
    levels[level].fill(1, from, to + 1);
    placed.push({ mention, level });
  }
  return { placed, height: levels.length };
}

/** Words without a mention are plain text; others are elements that carry their pieces of bars. */
function drawWords(doc, paragraph, bars) {
  const pieces = new Map();
  for (const bar of bars) cutBar(doc, paragraph, bar, pieces);
  const nodes = [];
  for (let word = paragraph.first; word < paragraph.end; word++) {
    const blank = doc.glued.has(word) || word + 1 === paragraph.end ? "" : " ";
    const { ending = [], passing = [] } = pieces.get(word) || {};
    const emptiness = doc.empty.has(word) ? " empty" : "";
    let node = doc.words[word];
    if (ending.length || emptiness) node = make("span", { class: `word${emptiness}`, "data-word": word }, node, ending);
    // A bar that goes on covers the blank after the word too.
    if (passing.length) nodes.push(make("span", { class: "word", "data-word": word }, node, blank, passing));
    else nodes.push(node, blank);
  }
  return nodes;
}

/** Cut a bar into pieces, one a word, so that it wraps with the line. */
function cutBar(doc, paragraph, { mention, level }, pieces) {
  const from = Math.max(mention.start, paragraph.first);
  const to = Math.min(mention.end, paragraph.end - 1);
  const kind = classOf(mention);
  const { colour } = doc.threads[mention.thread];
  for (let word = from; word <= to; word++) {
    const part = mention.parts.find(([start, end]) => start <= word && word <= end);
    let name = `bar ${kind}`;
    if (!part) name += " gap";
    else if (part[0] === word) name += " first";
    if (part && part[1] === word) name += " last";
    const piece = document.createElement("i");
    piece.style.setProperty("--hue", colour);
    piece.style.setProperty("--level", level);
    if (word === mention.start) {
      name += " start";
      labelBar(doc, piece, mention);
    }
    piece.className = name;
    barMentions.set(piece, mention);
    const cell = pieces.get(word) || { ending: [], passing: [] };
    pieces.set(word, cell);
    const isEnding = word === to || (part && part[1] === word && mention.parts.length > 1);
    cell[isEnding ? "ending" : "passing"].push(piece);
  }
}

function classOf(mention) {
  if (mention.lane >= 0) return `below ${mention.verdict}`;
  return shownLanes().every((lane) => mention.partners[lane] === null) ? "above missing" : "above";
}

/** The first piece of a bar speaks for it.  Tab stops at the key's bar of an error, arrow keys reach all bars. */
function labelBar(doc, piece, mention) {
  const isStop = mention.lane < 0 ? shownLanes().some((lane) => verdictIn(mention, lane) !== "right") : mention.verdict === "spurious";
  setAttributes(piece, {
    role: "button",
    tabindex: isStop ? "0" : "-1",
    "aria-label": describe(doc, mention),
    "data-id": `${mention.lane}.${mention.index}`,
    "data-letter": letterOf(mention.thread),
  });
}

function focusBar(mention) {
  const bar = document.querySelector(`.bar[data-id="${mention.lane}.${mention.index}"]`);
  if (bar) bar.focus({ preventScroll: true });
}

/** Arrow keys: along the line to the next mention of the same side, up and down to what the other side has. */
function moveFocus(key, mention) {
  const doc = current();
  let target = null;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const lanes = shownLanes();
    const original = mention.lane < 0 ? mention : mention.partners[0];
    if (original === null) return;
    const column = [original, ...lanes.map((lane) => original.partners[lane])].filter((bar) => bar !== null);
    target = column[column.indexOf(mention) + (key === "ArrowDown" ? 1 : -1)];
  } else {
    const side = mention.lane < 0 ? doc.keyMentions : doc.lanes[mention.lane];
    const line = side.filter(isShown).sort((one, other) => one.start - other.start || other.end - one.end);
    const isForward = (key === "ArrowRight") === (doc.direction !== "rtl");
    target = line[line.indexOf(mention) + (isForward ? 1 : -1)];
  }
  if (!target) return;
  showWord(doc, target.start);
  focusBar(target);
}

/** Draw the words around a place, and bring it into sight. */
function showWord(doc, word) {
  const index = findParagraph(doc.paragraphs, word);
  const { chunk, element } = doc.paragraphs[index];
  drawChunk(chunk);
  const place = element.querySelector(`[data-word="${word}"]`) || element;
  const { top, bottom } = place.getBoundingClientRect();
  if (top < 90 || bottom > innerHeight * 0.6) place.scrollIntoView({ block: "center" });
}

/** Let the entity that is followed stand out, and mark the error that is looked at. */
function markBars(root = find("text")) {
  const doc = current();
  find("text").classList.toggle("dim", state.thread !== null);
  for (const bar of root.querySelectorAll(".bar")) {
    const mention = barMentions.get(bar);
    const isOn = mention.thread === state.thread || mention.partners.some((partner) => partner && mention.lane >= 0 && partner.thread === state.thread);
    bar.classList.toggle("on", isOn);
  }
  for (const word of root.querySelectorAll(".word")) {
    const number = Number(word.dataset.word);
    word.classList.toggle("on", state.thread !== null && word.querySelector(".bar.on") !== null);
    const parts = state.error ? state.error.mention.parts : [];
    word.classList.toggle("current", parts.some(([start, end]) => start <= number && number <= end));
  }
  return doc;
}

// What stands around the text

function drawHead() {
  const heads = DATA.systems.map((system) => {
    const score = system.scores.find(({ name }) => name === DATA.measure) || system.scores[0];
    if (!score) return make("span", {}, system.name);
    const interval = score.low === null || score.low === undefined ? "" : ` (${percent(score.low)}–${percent(score.high)})`;
    return make("span", {}, make("bdi", {}, system.name), ` ${score.name} `, make("b", {}, percent(score.value)), interval);
  });
  find("scores").replaceChildren(...heads);
  find("comparison").replaceChildren(...sayComparison(DATA.comparison, "In all documents, "));
  const names = DATA.systems[0].scores.map(({ name }) => name);
  if (!names.length) return;
  const head = make("tr", {}, make("th", { scope: "col" }, "system"), names.map((name) => make("th", { scope: "col" }, name)));
  const rows = DATA.systems.map((system) => make("tr", {}, make("th", { scope: "row" }, system.name), system.scores.map(({ value }) => make("td", {}, percent(value)))));
  const table = make("table", { tabindex: "0" }, make("thead", {}, head), make("tbody", {}, rows));
  find("comparison").after(make("details", {}, make("summary", {}, "All scores and signature"), table, make("code", {}, DATA.signature)));
}

function sayComparison(comparison, start) {
  if (!comparison) return [];
  const number = (value) => make("b", {}, count(value));
  const [first, second] = NAMES;
  return [start, make("bdi", {}, second), " repairs ", number(comparison.repaired), " of ", make("bdi", {}, first), "’s errors, adds ", number(comparison.added), " and shares ", number(comparison.shared), "."];
}

function scoresOf(doc) {
  return doc.systems.map((system) => (system.score === undefined ? null : system.score));
}

const ORDERS = {
  place: { name: "place", weigh: () => 0 },
  score: { name: "score, lowest first", weigh: (doc) => scoresOf(doc)[state.lane === ALL ? 0 : state.lane] ?? 2 },
  difference: { name: "difference", weigh: (doc) => scoresOf(doc)[0] - scoresOf(doc)[1] },
  errors: { name: "errors, most first", weigh: (doc) => -shownLanes().reduce((total, lane) => total + countMentionErrors(doc.systems[lane].counts), 0) },
};

function drawDocuments() {
  const hasScores = DATA.documents.some((doc) => doc.key);
  const orders = Object.keys(ORDERS).filter((order) => order === "place" || (hasScores && (order !== "difference" || ALL > 1)));
  const options = orders.map((order) => make("option", { value: order, selected: order === state.order ? "" : null }, ORDERS[order].name));
  const choose = (event) => {
    state.order = event.target.value;
    drawDocuments();
    find("documents").querySelector("select").focus();
  };
  const select = make("select", { change: choose }, options);
  const numbers = [...DATA.documents.keys()];
  const weights = DATA.documents.map(ORDERS[state.order].weigh);
  numbers.sort((one, other) => weights[one] - weights[other] || one - other);
  const title = make("h2", {}, `${pluralize(numbers.length, "document")}`);
  const label = make("label", {}, "Sort by", select);
  find("documents").replaceChildren(title, ...(orders.length > 1 && numbers.length > 1 ? [label] : []), make("ol", {}, numbers.map(drawDocument)));
}

function drawDocument(number) {
  const doc = DATA.documents[number];
  const scores = scoresOf(doc).filter((score) => score !== null);
  const figures = scores.map(percent);
  if (doc.key) figures.push(pluralize(shownLanes().reduce((total, lane) => total + countMentionErrors(doc.systems[lane].counts), 0), "error"));
  const open = () => openDocument(number);
  return make("li", {}, make("button", { click: open, "data-number": number, "aria-current": number === state.number ? "true" : null }, make("bdi", { class: "title", title: doc.name }, doc.name.replaceAll("_", " ")), scores.length ? drawScores(scores) : null, make("span", { class: "figures" }, figures.join(" · "))));
}

/** Scores from 0 to 100 on a line: the first system is an open circle, others are filled. */
function drawScores(scores) {
  const place = (score) => 4 + 172 * score;
  const line = (name, from, to) => makeSvg("line", { class: name, x1: from, x2: to, y1: 6.5, y2: 6.5 });
  const circles = scores.map((score, index) => makeSvg("circle", { class: index === 0 && scores.length > 1 ? "open" : "filled", cx: place(score), cy: 6.5, r: 3.6 }));
  return makeSvg("svg", { viewBox: "0 0 180 13", "aria-hidden": "true" }, line("axis", 4, 176), line("span", place(Math.min(...scores)), place(Math.max(...scores))), ...circles);
}

function drawTools() {
  const doc = current();
  const lanes = [...NAMES.keys(), ...(ALL > 1 ? [ALL] : [])];
  const nameLane = (lane) => (lane < ALL ? NAMES[lane] : ALL === 2 ? "both" : "all");
  const choices = lanes.map((lane) => make("button", { type: "button", title: `${nameLane(lane)} (${lane + 1})`, "aria-pressed": String(state.lane === lane), click: () => chooseLane(lane) }, nameLane(lane)));
  const groups = [ALL > 1 ? make("span", { class: "choice" }, choices) : null];
  if (doc.key) {
    const chips = DATA.kinds.map(({ id, name, explanation }) => make("button", { class: "chip", title: explanation, "aria-pressed": String(state.kind === id), click: () => chooseKind(id) }, make("b", {}, count(countErrors(doc, id))), ` ${name}`));
    const back = make("button", { class: "plain", title: "previous error (k)", "aria-label": "previous error", click: () => step(-1) }, "↑");
    const on = make("button", { class: "plain", title: "next error (j)", click: () => step(1) }, "next error ↓");
    groups.push(make("span", {}, back, on), make("span", { class: "chips" }, chips));
  }
  const letters = make("button", { class: "chip", title: "letters for those who can’t use colours (L)", "aria-pressed": String(find("text").classList.contains("letters")), click: toggleLetters }, "letters");
  const singletons = make("button", { class: "chip", title: "entities with one mention", "aria-pressed": String(state.singletons), click: toggleSingletons }, "singletons");
  groups.splice(2, 0, make("span", {}, letters, DATA.has_singletons ? singletons : null));
  replaceWithFocus(find("tools"), groups);
}

/** Replace the buttons of a bar; the one that was pressed keeps the focus. */
function replaceWithFocus(bar, children) {
  const index = [...bar.querySelectorAll("button")].indexOf(document.activeElement);
  bar.replaceChildren(...children.filter((child) => child !== null));
  if (index >= 0) bar.querySelectorAll("button")[index].focus();
}

function drawLegend() {
  const doc = current();
  const sample = (name, text) => make("span", {}, make("i", { class: `bar first last ${name}`, "--hue": "var(--c0)" }), text);
  if (!doc.key) {
    find("legend").replaceChildren(make("span", {}, "below the words: the response; the key of these documents is private"));
    return;
  }
  const below = shownLanes().map((lane) => NAMES[lane]).join(", then ");
  find("legend").replaceChildren(make("span", {}, `above the words: key · below: ${below}`), sample("", "same entity"), sample("wrong", "another entity, in its colour"), sample("missing", "only in the key"), sample("spurious", "only in the response"));
}

function drawLifelines() {
  const doc = current();
  const isListed = (thread) => (doc.key ? thread.lane < 0 : shownLanes().includes(thread.lane)) && (thread.size > 1 || state.singletons);
  const threads = doc.threads.filter(isListed).sort((one, other) => other.size - one.size || one.number - other.number);
  const rows = threads.slice(0, state.allLifelines ? threads.length : LIFELINES).map((thread) => drawLifeline(doc, thread));
  const hidden = threads.length - rows.length;
  const all = () => {
    state.allLifelines = true;
    drawLifelines();
  };
  const more = hidden > 0 ? make("p", { class: "note" }, make("button", { class: "plain", click: all }, `all ${count(threads.length)} entities`)) : null;
  const below = shownLanes().map((lane) => NAMES[lane]).join(", ");
  const explanation = doc.key ? `A line is an entity through the text: above it the key’s mentions, below what ${below} made of them, in the colour of the entity they were put into; hollow is missing.` : "A line is an entity through the text.";
  find("lifelines").replaceChildren(...[make("h2", {}, "Entities through the text"), ...rows, more, make("p", { class: "note" }, explanation)].filter((child) => child !== null));
}

function drawLifeline(doc, thread) {
  const place = (word) => Math.round((990 * word) / Math.max(doc.words.length, 1));
  const lanes = shownLanes();
  const height = 11 + 8 * (doc.key ? lanes.length : 1);
  const paths = new Map();
  const draw = (name, word, top, tall) => paths.set(name, `${paths.get(name) || ""}M${place(word)} ${top}h10v${tall}h-10z`);
  for (const mention of thread.mentions) {
    if (mention.lane === thread.lane) draw(thread.colour, mention.start, 1, 7);
    for (const lane of mention.lane < 0 ? lanes : []) {
      const partner = mention.partners[lane];
      const top = 11 + 8 * lanes.indexOf(lane);
      draw(partner ? doc.threads[partner.thread].colour : "missing", mention.start, top, partner ? 6 : 5);
    }
  }
  const marks = [...paths].map(([name, d]) => (name === "missing" ? makeSvg("path", { class: name, d }) : makeSvg("path", { "--hue": name, d })));
  const picture = makeSvg("svg", { viewBox: `0 0 1000 ${height}`, preserveAspectRatio: "none", "aria-hidden": "true", "--height": `${height}px` }, makeSvg("path", { class: "axis", d: "M0 9.5h1000" }), ...marks);
  const title = make("span", { class: "title" }, makeSwatch(thread.colour), make("bdi", {}, thread.name));
  const attributes = { class: `lifeline ${doc.direction}`, title: thread.name, "aria-pressed": String(state.thread === thread.number), click: () => follow(state.thread === thread.number ? null : thread.number) };
  return make("button", attributes, title, picture, make("span", { class: "size" }, count(thread.size)));
}

function drawCard() {
  const doc = current();
  const sections = [];
  if (state.error) sections.push(drawError(doc, state.error));
  if (state.thread !== null) sections.push(drawThread(doc, doc.threads[state.thread]));
  if (!sections.length) sections.push(...drawHints(doc));
  find("card").replaceChildren(...sections);
  find("card").scrollTop = 0;
}

function drawHints(doc) {
  const hints = doc.key ? [["j", "next error"], ["k", "previous error"]] : [];
  NAMES.forEach((name, lane) => ALL > 1 && lane < 9 && hints.push([String(lane + 1), name]));
  if (ALL > 1 && ALL < 9) hints.push([String(ALL + 1), ALL === 2 ? "both" : "all"]);
  hints.push(["L", "letters"], ["esc", "everything"]);
  return [make("p", { class: "note" }, hints.flatMap(([key, text]) => [make("kbd", {}, key), ` ${text}  `])), make("p", { class: "note" }, "Choose a word, or an entity, to follow it through the text.")];
}

function drawError(doc, error) {
  const button = (text, action) => make("button", { class: "plain", click: action }, text);
  const { mention } = error;
  const lines = mention.lane < 0 ? [`key: ${doc.threads[mention.thread].name}`, ...shownLanes().map((lane) => `${NAMES[lane]}: ${sayVerdict(doc, mention.partners[lane])}`)] : [describe(doc, mention)];
  return make(
    "section",
    { "aria-label": "Error" },
    make("h3", {}, makeSwatch(doc.threads[mention.thread].colour), `“${textOfMention(doc, mention)}”: ${nameError(error)}`),
    lines.map((line) => make("p", {}, line)),
    make(
      "p",
      { class: "actions" },
      button("copy as text", () => copy(errorAsText(doc, error))),
      button("as LaTeX example", () => copy(errorAsLatex(doc, error))),
      button("its address", () => copy(`${location.href.split("#")[0]}#${addressOf(doc, error)}`)),
      state.thread === mention.thread ? null : button("follow the entity", () => follow(mention.thread)),
      button("close", () => leave()),
    ),
  );
}

/** The card of an entity: what became of its mentions, and all of them in context. */
function drawThread(doc, thread) {
  const own = thread.mentions.filter((mention) => mention.lane === thread.lane);
  const children = [make("h3", {}, makeSwatch(thread.colour), make("bdi", {}, thread.name))];
  if (doc.key && thread.lane < 0) for (const lane of shownLanes()) children.push(sayFate(doc, thread, own, lane));
  if (thread.lane >= 0) children.push(sayOrigin(doc, own));
  const list = make("ol", {}, own.slice(0, LISTED_MENTIONS).map((mention) => listMention(doc, mention)));
  const all = () => list.replaceChildren(...own.map((mention) => listMention(doc, mention)));
  children.push(list);
  if (own.length > LISTED_MENTIONS) children.push(make("button", { class: "plain", click: all }, `all ${count(own.length)} mentions`));
  if (!state.error) children.push(make("p", { class: "actions" }, make("button", { class: "plain", click: leave }, "close")));
  return make("section", { "aria-label": "Entity" }, children);
}

/** "A: of 16 mentions 12 together, 3 with Ines, 1 missing" */
function sayFate(doc, thread, mentions, lane) {
  const fates = new Map();
  for (const mention of mentions) {
    const partner = mention.partners[lane];
    const name = partner ? partner.thread : "missing";
    fates.set(name, (fates.get(name) || 0) + 1);
  }
  const say = ([name, number]) => {
    const amount = make("b", {}, count(number));
    if (name === "missing") return [amount, " missing"];
    if (name === thread.number) return [amount, " together"];
    const other = doc.threads[name];
    return [amount, other.lane < 0 ? " with " : " apart, as ", makeSwatch(other.colour), make("bdi", {}, other.name)];
  };
  const parts = [...fates].sort((one, other) => other[1] - one[1]).map(say);
  return make("p", {}, make("bdi", {}, NAMES[lane]), `: of ${pluralize(mentions.length, "mention")} `, ...joinParts(parts));
}

/** Whose mentions an entity of a system has that is aligned with none. */
function sayOrigin(doc, mentions) {
  const origins = new Map();
  for (const { partners } of mentions) {
    const name = partners[0] ? partners[0].thread : "spurious";
    origins.set(name, (origins.get(name) || 0) + 1);
  }
  const name = NAMES[mentions[0].lane];
  if (!doc.key) return make("p", {}, `${name}: ${pluralize(mentions.length, "mention")}`);
  const say = ([origin, number]) => (origin === "spurious" ? [make("b", {}, count(number)), " spurious"] : [make("b", {}, count(number)), " of ", makeSwatch(doc.threads[origin].colour), make("bdi", {}, doc.threads[origin].name)]);
  return make("p", {}, `Only in ${name}: `, ...joinParts([...origins].map(say)));
}

const joinParts = (parts) => parts.flatMap((part, index) => (index === 0 ? part : [", ", ...part]));

function listMention(doc, mention) {
  const before = textOf(doc, Math.max(0, mention.start - WORDS_OF_CONTEXT), mention.start - 1);
  const after = textOf(doc, mention.end + 1, Math.min(doc.words.length - 1, mention.end + WORDS_OF_CONTEXT));
  const verdicts = mention.lane < 0 ? shownLanes().map((lane) => verdictIn(mention, lane)) : [mention.verdict];
  const isBad = verdicts.some((verdict) => KIND_OF_VERDICT[verdict]);
  const signs = { right: "✓", wrong: "wrong", missing: "missing", spurious: "spurious", plain: "" };
  const go = () => showWord(doc, mention.start);
  const context = (text) => make("span", { class: "context" }, text);
  return make("li", {}, make("button", { click: go }, make("small", {}, String(sentenceOf(doc, mention.start))), make("span", { dir: doc.direction }, context(before), " ", make("b", {}, textOfMention(doc, mention)), " ", context(after)), make("small", { class: isBad ? "bad" : null }, verdicts.map((verdict) => signs[verdict]).join(" "))));
}

// What readers do

function openDocument(number) {
  Object.assign(state, { number, thread: null, error: null, allLifelines: false });
  drawPage();
  if (find("text").getBoundingClientRect().top < 0) find("name").scrollIntoView();
  setAddress(encodeURIComponent(current().name));
  for (const button of find("documents").querySelectorAll("[data-number]")) {
    if (Number(button.dataset.number) === number) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function drawPage() {
  const doc = current();
  find("name").textContent = doc.name.replaceAll("_", " ");
  find("summary").replaceChildren(...sayComparison(doc.comparison, "Here, "));
  drawTools();
  drawLegend();
  drawText();
  drawLifelines();
  drawCard();
}

/** Draw what depends on the systems, kinds or singletons shown; the text stays in its place. */
function update() {
  drawTools();
  drawLegend();
  redraw();
  drawLifelines();
  drawCard();
}

function chooseLane(lane) {
  if (lane > ALL || (lane === ALL && ALL === 1)) return;
  state.lane = lane;
  if (state.thread !== null && !current().key) state.thread = null;
  if (state.error && lane !== ALL) state.error = listErrors(current(), "").find(({ mention }) => mention === state.error.mention) || null;
  update();
  if (ORDERS[state.order] !== ORDERS.place) drawDocuments();
  say(lane === ALL ? "All systems" : NAMES[lane]);
}

function chooseKind(kind) {
  state.kind = state.kind === kind ? "" : kind;
  state.error = null;
  drawTools();
  const errors = listErrors(current());
  if (state.kind) step(1);
  else leave();
  say(pluralize(errors.length, "error"));
}

function toggleSingletons() {
  state.singletons = !state.singletons;
  update();
}

function toggleLetters() {
  find("text").classList.toggle("letters");
  drawTools();
}

function follow(thread) {
  state.thread = thread;
  drawLifelines();
  drawCard();
  markBars();
}

function leave() {
  state.error = null;
  follow(null);
}

/** Go to the next error or the one before; after the last one of a document to the next document. */
function step(direction) {
  const errors = listErrors(current());
  const index = state.error ? errors.findIndex(({ mention }) => mention === state.error.mention) : -1;
  let next = index + direction;
  if (index < 0) next = direction > 0 ? 0 : errors.length - 1;
  if (errors[next]) {
    showError(errors[next], `${next + 1} of ${errors.length}`);
    return;
  }
  let number = state.number;
  for (let tries = 0; tries < DATA.documents.length; tries++) {
    number = (number + direction + DATA.documents.length) % DATA.documents.length;
    const others = listErrors(prepare(DATA.documents[number]));
    if (!others.length) continue;
    if (number !== state.number) openDocument(number);
    showError(others[direction > 0 ? 0 : others.length - 1], `${direction > 0 ? 1 : others.length} of ${others.length}`);
    return;
  }
}

function showError(error, place) {
  const doc = current();
  state.error = error;
  state.thread = null;
  showWord(doc, error.mention.start);
  markBars();
  drawLifelines();
  drawCard();
  focusBar(error.mention);
  hideTip();
  setAddress(addressOf(doc, error));
  say(`${place ? `Error ${place}: ` : ""}${nameError(error)}, ${describe(doc, error.mention)}`);
}

/** The address of an error: document, system, and the first word of its mention, from 0. */
function addressOf(doc, { mention, lane }) {
  const system = encodeURIComponent(NAMES[lane]).replaceAll(".", "%2E");
  return `${encodeURIComponent(doc.name)}.${system}.${mention.start}`;
}

function setAddress(address) {
  try {
    history.replaceState(null, "", `#${address}`);
  } catch {
    // A frame without an address of its own, as in a notebook, has none to change.
  }
}

function readAddress() {
  const address = location.hash.slice(1);
  const match = /^(.*)\.([^.]*)\.(\d+)$/.exec(address);
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const findNumber = (name) => DATA.documents.findIndex((doc) => doc.name === name);
  const whole = findNumber(decode(address));
  const number = whole < 0 && match ? findNumber(decode(match[1])) : whole;
  if (number < 0) return;
  if (number !== state.number) openDocument(number);
  if (whole >= 0) return;
  const lane = NAMES.indexOf(decode(match[2]));
  if (lane >= 0 && !shownLanes().includes(lane)) chooseLane(lane);
  const errors = listErrors(current(), "");
  const error = errors.find(({ mention }) => mention.start === Number(match[3]));
  if (error) showError(error, "");
  else showWord(current(), Math.min(Number(match[3]), current().words.length - 1));
}

/** The mentions whose bars a word carries, the innermost first: the key's, then those of systems. */
function mentionsAt(word) {
  const bars = [...word.querySelectorAll(".bar:not(.gap)")];
  const mentions = [...new Set(bars.map((bar) => barMentions.get(bar)))];
  return mentions.sort((one, other) => one.end - one.start - (other.end - other.start) || one.lane - other.lane);
}

const outerWord = (element) => {
  const word = element.closest(".word");
  return word && (word.parentElement.closest(".word") || word);
};

function showTip(element) {
  const doc = current();
  const bar = element.closest(".bar");
  const word = outerWord(element);
  if (!word) return;
  const mentions = bar ? [barMentions.get(bar)] : mentionsAt(word);
  if (!mentions.length) return;
  const tip = find("tip");
  tip.replaceChildren(...mentions.map((mention) => make("p", {}, makeSwatch(doc.threads[mention.thread].colour), describe(doc, mention))));
  tip.hidden = false;
  const box = (bar || word).getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), innerWidth - tip.offsetWidth - 8);
  const isAbove = box.bottom + tip.offsetHeight + 24 > innerHeight;
  const top = isAbove ? box.top - tip.offsetHeight - 14 : box.bottom + 24;
  tip.style.setProperty("left", `${left}px`);
  tip.style.setProperty("top", `${top}px`);
}

function hideTip() {
  find("tip").hidden = true;
}

/** A bar follows its entity; a word that of its innermost mention, and when chosen again, of the next one outwards. */
function choose(element) {
  const bar = element.closest(".bar");
  const word = outerWord(element);
  const threads = bar ? [barMentions.get(bar).thread] : [...new Set(word ? mentionsAt(word).map(({ thread }) => thread) : [])];
  state.error = null;
  follow(threads[threads.indexOf(state.thread) + 1] ?? null);
}

find("text").addEventListener("click", (event) => choose(event.target));
find("text").addEventListener("pointerover", (event) => (event.pointerType === "mouse" ? showTip(event.target) : null));
find("text").addEventListener("pointerout", hideTip);
find("text").addEventListener("focusin", (event) => showTip(event.target));
find("text").addEventListener("focusout", hideTip);
addEventListener("scroll", hideTip, { passive: true });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, textarea, input")) return;
  const mention = barMentions.get(event.target);
  if (mention && event.key.startsWith("Arrow")) {
    event.preventDefault();
    moveFocus(event.key, mention);
  } else if (mention && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    choose(event.target);
  } else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "l" || event.key === "L") toggleLetters();
  else if (event.key === "Escape") {
    hideTip();
    leave();
  } else if (/^[1-9]$/.test(event.key)) chooseLane(Number(event.key) - 1);
});

for (const link of document.querySelectorAll("[data-skip]")) {
  link.addEventListener("click", (event) => {
    // The address belongs to documents and errors.
    event.preventDefault();
    find(link.dataset.skip).focus();
  });
}

// On paper there is one system, and all of the text.
let laneBeforePrint = state.lane;
addEventListener("beforeprint", () => {
  laneBeforePrint = state.lane;
  if (state.lane === ALL) chooseLane(0);
  for (const chunk of document.querySelectorAll(".chunk")) drawChunk(chunk);
});
addEventListener("afterprint", () => (state.lane === laneBeforePrint ? null : chooseLane(laneBeforePrint)));
addEventListener("hashchange", readAddress);

if (DATA.documents.length) {
  drawHead();
  drawDocuments();
  drawPage();
  readAddress();
}
