// Which board and which view is shown, by the address of the page: #BOARD, #BOARD:VIEW, #BOARD:system:ROW or
// #BOARD:compare:ROW:ROW.

const TITLE = document.title;
const sections = [...document.querySelectorAll("section.board")];
const boards = new Map(
  [...document.querySelectorAll("script[data-board]")].map((element) => [element.dataset.board, readBoard(element)]),
);

function drawView(board, section, view, rest) {
  const target = section.querySelector(`.view.${view}`);
  if (view === "system") return drawSystem(board, target, board.byKey.get(rest[0]));
  if (view === "compare") return drawComparison(board, target, rest[0], rest[1]);
  return target.querySelector("h3").textContent;
}

/** The board and the view of an address; the ranking of the board that was submitted to, or the first, if it names none. */
function parseAddress() {
  const [key, view = "ranking", ...rest] = location.hash.slice(1).split(":");
  const board = boards.get(key);
  if (!board) return { key: document.getElementById("submit")?.dataset.board ?? sections[0].id, view: "ranking", rest: [] };
  const known = ["ranking", "compare", "history", "part", "about"].includes(view) || (view === "system" && board.byKey.has(rest[0]));
  return { key, view: known ? view : "ranking", rest };
}

function show() {
  const { key, view, rest } = parseAddress();
  const board = boards.get(key);
  for (const section of sections) section.hidden = section.id !== key;
  const section = document.getElementById(key);
  for (const part of section.querySelectorAll(".view")) part.hidden = !part.classList.contains(view);
  const title = drawView(board, section, view, rest);
  document.title = view === "ranking" ? `${board.title} · ${TITLE}` : `${title} · ${board.title} · ${TITLE}`;
  for (const link of document.querySelectorAll("nav a")) {
    const target = link.getAttribute("href").slice(1);
    const isCurrent = target === key || target === `${key}:${view}`;
    if (isCurrent) link.setAttribute("aria-current", target === key ? "true" : "page");
    else link.removeAttribute("aria-current");
  }
  return section.querySelector(`.view.${view} h3`);
}

document.getElementById("no-script").hidden = true;
if (sections.length) {
  for (const section of sections) {
    section.querySelector(".compare-link").hidden = false;
    new Ranking(boards.get(section.id), section.querySelector(".ranking"));
    drawHistory(boards.get(section.id), section);
  }
  show();
  window.addEventListener("hashchange", () => {
    if (["#main", "#answer"].includes(location.hash)) return; // links inside of the page
    show()?.focus();
    window.scrollTo(0, 0);
  });
}
