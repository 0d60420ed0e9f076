"""Every figure that a paper prints is in what `closeread reproduce` holds, as it is printed."""

import json
import re

import pytest

from closeread.corpus.reproduction import load_printed, reproducible

PAPERS = ("marmara_coref", "mctaco", "semeval2015_timeline", "tne", "wikipossessions")


@pytest.fixture(params=PAPERS)
def paper(request, corpora):
    """A corpus, what we hold of its paper's figures, and their transcription."""
    path = corpora.parent / "printed" / f"{request.param}.json"
    if not path.exists():
        pytest.skip("the transcription of the papers' figures is not there")
    return request.param, load_printed(request.param), json.loads(path.read_text("utf-8"))


def per_unit(description):
    """A description with the words of `closeread reproduce`: links per document for links a document."""
    return re.sub(
        r"\b(annotations|candidates|links|NPs?|relations) a (document|question)\b",
        r"\1 per \2",
        description,
    )


def transcribed_cells(transcription):
    """The cells of a transcription: table, row, column and text; tables without numbers have one cell of None."""
    if isinstance(transcription, dict):  # of Marmara, whose values are numbers
        for name, table in transcription["tables"].items():
            for row, values in table["rows"].items():
                for column, value in zip(table["columns"], values, strict=True):
                    yield name, row, column, f"{value:,}" if isinstance(value, int) else str(value)
        for name in transcription["figures"]:
            yield name, None, None, None
        for section, row, value in transcription["text"]:
            yield (
                "Text",
                per_unit(row),
                section,
                f"{value:,}" if isinstance(value, int) else str(value),
            )
        return
    for table in transcription:
        if "text" in table:
            for one in table["text"]:
                yield "Text", per_unit(one["description"]), one["section"], one["value"]
            continue
        name = f"Table {table['table']}" if "table" in table else f"Figure {table['figure']}"
        # what another source repeats of a paper is never called printed
        if table.get("second_hand"):
            continue
        yield name, None, None, None
        for cell in table["rows"]:
            yield name, cell["row"], cell["column"], cell["value"]


def test_every_printed_figure_is_here(paper):
    corpus, ours, transcription = paper
    tables = {table["name"]: table for table in ours["tables"]}
    lacking = []
    for name, row, column, text in transcribed_cells(transcription):
        found = tables.get(name)
        if found is None or (row is not None and found["rows"].get(row, {}).get(column) != text):
            lacking.append((name, row, column, text))
    assert not lacking, corpus


def test_nothing_else_is_called_printed(paper):
    corpus, ours, transcription = paper
    printed = {cell[:3] for cell in transcribed_cells(transcription)}
    more = [
        (table["name"], row, column)
        for table in ours["tables"]
        for row, cells in table["rows"].items()
        for column, text in cells.items()
        if text is not None and (table["name"], row, column) not in printed
    ]
    assert not more, corpus


@pytest.mark.parametrize("corpus", reproducible())
def test_the_data_files_are_whole(corpus):
    printed = load_printed(corpus)
    names = [table["name"] for table in printed["tables"]]
    assert len(set(names)) == len(names)
    for table in printed["tables"]:
        assert set(table) <= {
            "name",
            "section",
            "caption",
            "note",
            "columns",
            "rows",
            "notes",
            "differs",
            "needs",
            "without_data",
        }
        places = {"", *table["columns"], *table["rows"]}
        for row, cells in table["rows"].items():
            assert set(cells) <= set(table["columns"])
            places |= {f"{row} / {column}" for column in table["columns"]}
        for kind in ("notes", "differs", "needs", "without_data"):
            assert set(table.get(kind, {})) <= places, table["name"]
            clauses = table.get(kind, {}).values()
            assert all(clause and not clause.endswith(".") for clause in clauses)
        # A reason for several cells would excuse those that agree, should they ever differ.
        lone = {row for row, cells in table["rows"].items() if len(cells) == 1}
        assert all(place in lone or " / " in place for place in table.get("differs", {})), table[
            "name"
        ]
