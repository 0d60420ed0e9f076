// Downloads: the shown rows as a file, made in the page.

/** A cell that no spreadsheet takes for a formula. */
const harmless = (text) => (/^\s*[=+\-@＝＋－＠]/.test(text) ? `'${text}` : text);

function quoteCsv(cell) {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  const text = harmless(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text in a cell of a Markdown table: as it is if it is plain, otherwise as code, in which nothing is markup. */
function quoteMarkdown(text) {
  if (/^[A-Za-z0-9 .,()+–-]*$/.test(text) && !/www\./i.test(text)) return text;
  const asCode = (part) => {
    if (!part) return "";
    const longest = Math.max(0, ...(part.match(/`+/g) ?? []).map((run) => run.length));
    const fence = "`".repeat(longest + 1);
    const gap = part.includes("`") || (part.startsWith(" ") && part.endsWith(" ") && part.trim()) ? " " : "";
    return fence + gap + part + gap + fence;
  };
  // A bar ends the cell, even in code.
  return text.split("|").map(asCode).join("&#124;");
}

const LATEX = {
  "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "{": "\\{", "}": "\\}", "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}", "\\": "\\textbackslash{}", "<": "\\textless{}", ">": "\\textgreater{}",
};
const quoteLatex = (text) => text.replace(/[&%$#_{}~^\\<>]/g, (character) => LATEX[character]);

/** The fields of a row that are not drawn as text: one score becomes three numbers. */
function flatten(row, columns) {
  const flat = {
    rank_low: row.rankLow, rank_high: row.rankHigh, best: row.isBest, system: row.system, kind: row.kind,
    author: row.author, submitted: row.submitted, id: row.id,
  };
  for (const column of columns.filter(({ kind }) => kind === "score")) {
    const score = column.score(row);
    flat[column.name] = ratio(score?.value ?? null);
    flat[`${column.name}/low`] = ratio(score?.low ?? null);
    flat[`${column.name}/high`] = ratio(score?.high ?? null);
  }
  return { ...flat, flags: row.flags.map(({ flag }) => flag).join(" "), signature: row.signature };
}

const WRITERS = {
  CSV: ({ rows, columns }) => {
    const flat = rows.map((row) => flatten(row, columns));
    const names = Object.keys(flatten({ flags: [] }, columns));
    return [names, ...flat.map((row) => names.map((name) => row[name]))].map((cells) => `${cells.map(quoteCsv).join(",")}\n`).join("");
  },
  JSON: ({ board, rows, columns }) => {
    const about = { board: board.name, signature: board.signature, confidence: board.confidence };
    return `${JSON.stringify({ ...about, rows: rows.map((row) => flatten(row, columns)) }, null, 1)}\n`;
  },
  Markdown: ({ rows, columns }) => {
    const line = (cells) => `| ${cells.join(" | ")} |\n`;
    const rule = `|${columns.map(({ kind }) => (kind === "score" ? "---:" : ":---")).join("|")}|\n`;
    const isNumber = (row, column) => column.kind === "score";
    const format = (row, column) => {
      const text = column.text(row);
      return isNumber(row, column) ? text.replace("*", "\\*") : quoteMarkdown(text);
    };
    const body = rows.map((row) => line(columns.map((column) => format(row, column)))).join("");
    return line(columns.map(({ title }) => quoteMarkdown(title))) + rule + body;
  },
  LaTeX: ({ rows, columns }) => {
    const line = (cells) => `${cells.map(quoteLatex).join(" & ")} \\\\\n`;
    const layout = columns.map(({ kind }) => (kind === "score" ? "r" : "l")).join("");
    const body = rows.map((row) => line(columns.map((column) => column.text(row)))).join("");
    return `\\begin{tabular}{${layout}}\n\\toprule\n${line(columns.map(({ title }) => title))}\\midrule\n${body}\\bottomrule\n\\end{tabular}\n`;
  },
};

const FILES = {
  CSV: ["csv", "text/csv"],
  JSON: ["json", "application/json"],
  Markdown: ["md", "text/markdown"],
  LaTeX: ["tex", "application/x-tex"],
};

function download(ranking, format) {
  const [suffix, type] = FILES[format];
  const address = URL.createObjectURL(new Blob([WRITERS[format](ranking)], { type: `${type};charset=utf-8` }));
  make("a", { href: address, download: `${ranking.board.key}.${suffix}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
