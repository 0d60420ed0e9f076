// The ranking: sorted, filtered and with the columns that the reader chose.

const ROLES = { rank: "rank", score: "score", text: "text" };

class Ranking {
  constructor(board, section) {
    this.board = board;
    this.section = section;
    this.form = section.querySelector("form.filters");
    this.table = section.querySelector(".scroll:not(.others) table");
    this.status = section.querySelector(".status");
    if (!this.table) return; // no submissions yet
    this.fillForm();
    this.chooseColumns();
    this.hintAtColumns();
    this.drawOthers();
    const downloads = section.querySelector(".downloads");
    downloads.hidden = false;
    downloads.addEventListener("click", ({ target }) => {
      if (target.dataset.format) download(this, target.dataset.format);
    });
  }

  fillForm() {
    const { form, board } = this;
    const authors = [...new Set(board.ranked.map((row) => row.author).filter(Boolean))].sort();
    form.elements.author.append(...authors.map((author) => make("option", { value: author }, author)));
    form.querySelector(".author").hidden = authors.length < 2;
    form.querySelector(".shown").hidden = board.slices.length === 0;
    for (const box of form.querySelectorAll("[name=kind]")) {
      box.parentElement.hidden = !board.ranked.some((row) => row.kind === box.value);
    }
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", ({ target }) => {
      if (["shown", "metric", "minor"].includes(target.name)) this.chooseColumns();
      else this.draw();
      this.tell();
    });
  }

  /** Say that there are more columns than fit, whenever that is so. */
  hintAtColumns() {
    const [hint, scroll] = [this.section.querySelector(".sideways"), this.table.parentElement];
    const observer = new ResizeObserver(() => {
      hint.hidden = scroll.scrollWidth <= scroll.clientWidth;
    });
    observer.observe(scroll);
    observer.observe(this.table);
  }

  chooseColumns() {
    const { shown, metric, minor } = this.form.elements;
    const field = shown.value === "" ? null : Number(shown.value);
    this.form.querySelector(".metric").hidden = field === null;
    const minorLabel = this.form.querySelector(".minor");
    if (minorLabel) minorLabel.hidden = field !== null;
    this.columns = makeColumns(this.board, { field, metric: metric.value, minor: minor?.checked });
    // Rows come sorted by the headline.
    this.sorted = { column: this.columns.find((column) => column.isHeadline) ?? null, descends: true };
    this.drawHead();
    this.draw();
  }

  drawHead() {
    const cells = this.columns.map((column) => {
      column.cell = make(
        "th",
        { scope: "col", class: ROLES[column.kind] ?? null },
        make("button", { type: "button", on: { click: () => this.sort(column) } }, column.title),
      );
      return column.cell;
    });
    this.table.tHead.replaceChildren(make("tr", {}, ...cells));
  }

  sort(column) {
    const same = this.sorted.column === column;
    this.sorted = { column, descends: same ? !this.sorted.descends : Boolean(column.descends) };
    this.draw();
    this.tell();
  }

  /** Whether rows are in the order in which they were ranked. */
  get isRanked() {
    return this.sorted.column === null || (Boolean(this.sorted.column.isHeadline) && this.sorted.descends);
  }

  /** The rows that are shown, in order; rows without a value come last. */
  find() {
    const { text, author } = this.form.elements;
    const words = text.value.trim().toLowerCase();
    const kinds = new Set([...this.form.querySelectorAll("[name=kind]:checked")].map((box) => box.value));
    const found = this.board.ranked.filter((row) => {
      const searched = [row.system, row.author, [row.model].flat()[0]].join("\n").toLowerCase();
      return kinds.has(row.kind) && (!author.value || row.author === author.value) && searched.includes(words);
    });
    if (this.isRanked) return found;
    const { column, descends } = this.sorted;
    const direction = descends ? -1 : 1;
    const keyed = found.map((row) => ({ row, key: column.sortValue(row) }));
    keyed.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return a.key < b.key ? -direction : a.key > b.key ? direction : 0;
    });
    return keyed.map(({ row }) => row);
  }

  draw() {
    const rows = this.find();
    this.rows = rows;
    for (const column of this.columns) {
      if (column === this.sorted.column) column.cell.setAttribute("aria-sort", this.sorted.descends ? "descending" : "ascending");
      else column.cell.removeAttribute("aria-sort");
    }
    const drawn = rows.map((row) => this.drawRow(row));
    const nBest = this.countBest();
    if (this.isRanked && nBest > 0 && nBest < rows.length) drawn.splice(nBest, 0, this.drawLine());
    if (!rows.length) drawn.push(make("tr", {}, make("td", { colspan: this.columns.length }, "No row matches the filter.")));
    this.table.tBodies[0].replaceChildren(...drawn);
    this.table.parentElement.classList.toggle("tall", rows.length > 40);
  }

  /** The number of shown rows down to the end of the first group that is not distinguishable from the best. */
  countBest() {
    const end = this.board.ranked.find((row) => row.rankLow !== null && !row.isBest)?.index ?? Infinity;
    return this.rows.map((row) => row.isBest && row.index < end).lastIndexOf(true) + 1;
  }

  drawRow(row) {
    const cells = this.columns.map((column) =>
      column.kind === "name"
        ? make("th", { scope: "row" }, ...column.draw(row))
        : make("td", { class: ROLES[column.kind] ?? null }, ...column.draw(row)),
    );
    return make("tr", { class: [row.kind, row.isBest ? "best" : ""].join(" ").trim() }, ...cells);
  }

  drawLine() {
    const words = make("span", {}, "Above: not distinguishable from the best");
    return make("tr", { class: "line" }, make("td", { colspan: this.columns.length }, words));
  }

  /** Link the systems of the tables under other signatures. */
  drawOthers() {
    const names = this.section.querySelectorAll(".others tbody th");
    this.board.rows.slice(this.board.n_ranked).forEach((row, i) => names[i].replaceChildren(linkSystem(this.board, row)));
  }

  tell() {
    const { column, descends } = this.sorted;
    const order = column ? `, sorted by ${column.title}, ${descends ? "descending" : "ascending"}` : "";
    this.status.textContent = `${this.rows.length.toLocaleString("en")} of ${pluralize(this.board.n_ranked, "row")} shown${order}`;
  }
}
