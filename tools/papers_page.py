"""Write docs/papers.md: what papers print, and what became of it when it was recomputed.

It needs the corpora in $CLOSEREAD_DATA, and takes some minutes.  Usage: python tools/papers_page.py
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from papers.figures import (  # noqa: E402
    AGREES,
    NOT_RECOMPUTED,
    PAPERS,
    VERDICTS,
    WITHOUT_DATA,
    Cell,
    compare_table,
    find_clause,
    format_like,
    load_paper,
    recompute,
)

PAGE = ROOT / "docs" / "papers.md"
INTRODUCTION = """\
# Papers

The figures that the corpora's papers print, and whether the released files give them. A recomputed number *agrees* if it
is within half a unit of the last printed digit; it is *cut off* if the paper cut its digits off instead of rounding them. A
random draw is *within chance* if it is within two standard deviations of the mean of all draws. What *holds without data*
follows from a definition or from other printed figures, or is a rule or an example of the paper that closeread implements.
Marmara's corpus and treebank come from their owners and are not at hand here. `tests/papers/` has the figures and what
recomputes them; `python tools/papers_page.py` writes this page.
"""

# Verdicts whose cells are counted, but not listed one by one.
UNREMARKABLE = (AGREES, WITHOUT_DATA, NOT_RECOMPUTED)

Tables = Mapping[str, Sequence[Cell]]


def write_page() -> str:
    """Return the page."""
    papers = {corpus: recompute_at_hand(corpus) for corpus in PAPERS}
    parts = [INTRODUCTION, draw_verdicts(papers)]
    for corpus, tables in papers.items():
        parts += [f"## {PAPERS[corpus]}\n", *describe_paper(load_paper(corpus), tables)]
    return "\n".join(parts)


def recompute_at_hand(corpus: str) -> Tables:
    """Recompute a paper's figures, if its corpus is a released one."""
    if corpus == "marmara_coref":
        paper = load_paper(corpus)
        return {table["name"]: compare_table(table, {}) for table in paper["tables"]}
    return recompute(corpus)


def draw_verdicts(papers: Mapping[str, Tables]) -> str:
    """Draw the number of figures by verdict and paper."""
    counts = [count_verdicts(tables.values()) for tables in papers.values()]
    rows = []
    for verdict in VERDICTS:
        numbers = [of_paper[verdict] for of_paper in counts]
        rows.append([verdict, *numbers, sum(numbers)])
    totals = [of_paper.total() for of_paper in counts]
    rows.append(["printed figures", *totals, sum(totals)])
    return draw(["", *map(PAPERS.get, papers), "all"], rows)


def count_verdicts(tables: Iterable[Sequence[Cell]]) -> Counter[str]:
    """Count cells by verdict."""
    return Counter(cell.verdict for cells in tables for cell in cells)


def describe_paper(paper: Mapping, tables: Tables) -> list[str]:
    """Return the parts of a paper's section."""
    parts = [f"{paper['paper']}.\n", draw_tables(paper, tables)]
    exceptions = []
    for name, cells in tables.items():
        for cell in cells:
            if cell.verdict not in UNREMARKABLE:
                recomputed = format_like(cell.printed, cell.value)
                place = [name, cell.row, cell.column]
                exceptions.append([*place, cell.printed, recomputed, cell.verdict, cell.why])
    if exceptions:
        header = ["table", "row", "column", "printed", "recomputed", "verdict", "why"]
        parts += ["Recomputed figures that do not simply agree:\n", draw(header, exceptions)]
    if needs := list_needs(tables):
        parts += ["What is not recomputed:\n", needs]
    if remarks := list_remarks(paper, tables):
        parts += ["Remarks on printed figures:\n", remarks]
    return parts


def draw_tables(paper: Mapping, tables: Tables) -> str:
    """Draw what each table of a paper shows, and how many of its figures have which verdict."""
    verdicts = [verdict for verdict in VERDICTS if count_verdicts(tables.values())[verdict]]
    rows = []
    for table in paper["tables"]:
        counts = count_verdicts([tables[table["name"]]])
        section = f" (section {table['section']})" if "section" in table else ""
        text = f"{table['caption']}. {table['note']}" if "note" in table else table["caption"]
        rows.append([table["name"] + section, text, *(counts[verdict] for verdict in verdicts)])
    return draw(["table", "shows", *verdicts], rows)


def list_needs(tables: Tables) -> str:
    """List what it would take to recompute the other figures, with the numbers of these by table."""
    numbers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, cells in tables.items():
        for cell in cells:
            if cell.verdict == NOT_RECOMPUTED:
                numbers[cell.why or "needs the corpus"][name] += 1
    lines = []
    for reason, of_tables in sorted(numbers.items(), key=lambda item: -item[1].total()):
        places = ", ".join(f"{number} of {name}" for name, number in of_tables.items())
        lines.append(f"- {places}: {reason}\n")
    return "".join(lines)


def list_remarks(paper: Mapping, tables: Tables) -> str:
    """List notes on figures that stand in no other list."""
    lines = []
    for table in paper["tables"]:
        notes = {}
        for cell in tables[table["name"]]:
            note = find_clause(table, "notes", cell.row, cell.column)
            if cell.verdict in UNREMARKABLE and note:
                notes.setdefault(note, cell)
        for note, cell in notes.items():
            lines.append(f"- {table['name']}, {cell.row}, {cell.column}: {note}\n")
    return "".join(lines)


def draw(header: Sequence[str | None], rows: Iterable[Sequence[object]]) -> str:
    """Draw a table in Markdown; zeros are left out."""
    lines = [list(map(str, header)), ["---"] * len(header)]
    for row in rows:
        cells = [
            "" if cell == 0 else f"{cell:,}" if isinstance(cell, int) else cell for cell in row
        ]
        lines.append([str(cell).replace("|", r"\|") for cell in cells])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(write_page(), "utf-8")
