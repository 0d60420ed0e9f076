"""Output in encodings that lack characters, and names of files that are not UTF-8."""

import html
import json
import os
import shutil
from pathlib import Path
from shutil import copyfile

import pytest
from shared import json_lines
from shared.encoded_output import run_encoded
from shared.entry_points import CORPORA, KEY, RESPONSE, sample_gold, system_rows, timeml, write_key

SEVERAL = ("--resamples", "5")
COMMANDS = (
    ("list",),
    *(
        (word, corpus, *config)
        for corpus in CORPORA
        for word, *config in (("info",), ("show", "--config", "sample"))
    ),
    *(("info", corpus, "--stats", "--config", "sample") for corpus in CORPORA),
    *(
        ("score", corpus, f"{corpus}.jsonl", "--config", "sample", "--with-counts", *SEVERAL)
        for corpus in CORPORA
    ),
    ("score", "tne", "tne.jsonl", "--config", "sample", "--by", "preposition", *SEVERAL),
    (
        "score",
        "timeline",
        "semeval2015_timeline.jsonl",
        "--config",
        "sample",
        "--explain",
        "--no-ci",
    ),
    ("score", "coref", "key.conll", "response.conll", "--per-unit", *SEVERAL),
    ("compare", "coref", "key.conll", "key.conll", "response.conll", *SEVERAL),
    (
        "table",
        "mctaco",
        "mctaco.jsonl",
        "a folder/mctaco.jsonl",
        "--config",
        "sample",
        "--pairs",
        *SEVERAL,
    ),
    (
        "table",
        "coref",
        "key.conll",
        "key.conll",
        "response.conll",
        "--intervals",
        "range",
        *SEVERAL,
    ),
    ("errors", "coref", "key.conll", "response.conll", "--by", "entity_size"),
    ("errors", "chains", "key.conll", "key.conll", "response.conll"),
    ("errors", "tne", "tne.jsonl", "--config", "sample", *SEVERAL),
    ("errors", "mctaco", "mctaco.jsonl", "--config", "sample", *SEVERAL),
    ("agreement", "coref", "key.conll", "response.conll"),
    ("agreement", "tne", "anna-tne.jsonl", "ben-tne.jsonl"),
    ("agreement", "wikipossessions", "anna-wikipossessions.jsonl", "ben-wikipossessions.jsonl"),
)
ENCODINGS = ("latin-1", "cp1252")
FEW = ("--config", "sample", "--resamples", "2")
BY_HAND = {"–": "-", "…": "...", "†": "+", "‡": "#", "─": "-", "“": '"', "”": '"'}
"""What stands for the characters of tables, and of quotations in them."""

NAME = "Süß–ş.conll"
"""Latin-1 has two of its four characters, Windows three."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Predictions, keys, responses and annotations of the samples."""
    folder = tmp_path_factory.mktemp("files")
    before = Path.cwd()
    os.chdir(folder)
    (folder / "a folder").mkdir()
    for corpus in CORPORA:
        json_lines.write(f"{corpus}.jsonl", system_rows(corpus))
        for name in ("anna", "ben"):
            json_lines.write(f"{name}-{corpus}.jsonl", sample_gold(corpus))
    json_lines.write(
        "a folder/mctaco.jsonl", [{**row, "label": "yes"} for row in system_rows("mctaco")]
    )
    write_key("key", "conll", KEY)
    write_key("response", "conll", RESPONSE)
    shutil.copy("response.conll", NAME)
    Path("key.tml").write_text(timeml("ei1 BEFORE ei2", "ei2 BEFORE ei3"))
    Path("response.tml").write_text(timeml("ei1 BEFORE ei2", "ei3 BEFORE ei2"))
    os.chdir(before)
    return folder


@pytest.fixture
def files(folder, monkeypatch):
    monkeypatch.chdir(folder)


def translate(text, encoding):
    """One character after the other."""
    found = ""
    for character in text:
        try:
            character.encode(encoding)
            found += character
        except UnicodeEncodeError:
            found += BY_HAND.get(character) or ascii(character)[1:-1]
    return found


def test_every_table_in_every_encoding(files):
    """Nothing else changes, and nothing is missing."""
    seen = set()
    for arguments in COMMANDS:
        code, whole, notes = run_encoded(arguments, "utf-8")
        assert code == 0, notes
        for encoding in ENCODINGS:
            seen.update(
                character for character in whole if translate(character, encoding) != character
            )
            expected = translate(whole, encoding), translate(notes, encoding)
            assert run_encoded(arguments, encoding) == (0, *expected), (arguments, encoding)
    assert BY_HAND.keys() - {"†"} <= seen  # so that something is tried


SHOWN = {"utf-8": "Süß–ş", "cp1252": r"Süß–\u015f", "latin-1": r"Süß-\u015f"}


@pytest.mark.parametrize("encoding", SHOWN)
def test_what_machines_read_is_whole(files, encoding, tmp_path):
    """39.79 is 0.3979..., as the CSV has it."""
    copyfile("key.conll", "gold.conll")
    command = (
        "table",
        "coref",
        "gold.conll",
        "key.conll",
        NAME,
        "--metrics",
        "lea",
        "--resamples",
        "40",
        "--format",
    )
    printed = {}
    for style in ("csv", "json", "html"):
        code, printed[style], notes = run_encoded((*command, style), encoding)
        assert (code, notes) == (0, ""), style
        path = tmp_path / f"table.{style}"
        # files are UTF-8
        assert run_encoded((*command, style, "-o", path), encoding) == (0, "", "")
        assert "Süß–ş" in path.read_text("utf-8")
    assert printed["csv"].splitlines()[2].startswith(f"{SHOWN[encoding]},lea/f1,0.3979")
    assert [one["name"] for one in json.loads(printed["json"])["systems"]] == ["key", "Süß–ş"]
    assert "Süß–ş" in html.unescape(printed["html"])
    show = ("show", "marmara_coref", "--config", "sample", "--json")
    assert json.loads(run_encoded(show, encoding)[1]) == json.loads(run_encoded(show, "utf-8")[1])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_no_table(files, encoding):
    wrong = run_encoded(("score", "mctaco", "ş–.jsonl", *FEW), encoding)
    shown = {"latin-1": r"\u015f-", "cp1252": r"\u015f–"}[encoding]
    assert wrong == (1, "", f"Error: {shown}.jsonl: can't be read: No such file or directory\n")
    code, _, usage = run_encoded(("ş–",), encoding)
    assert code == 2
    assert usage.splitlines()[-1].startswith(f"Error: no such command: '{shown}' (choose from: ")
    for arguments in (
        ("score", "coref", "--help"),
        ("info", "marmara_coref", "--cite"),
    ):
        expected = translate(run_encoded(arguments, "utf-8")[1], encoding)
        assert run_encoded(arguments, encoding) == (0, expected, "")


NOT_UTF8 = os.fsdecode(b"b\xff")


def test_names_that_are_not_utf_8(here):
    """They are read, written and shown; what is written is UTF-8."""
    name = f"{NOT_UTF8}.jsonl"
    json_lines.write(name, system_rows("mctaco"))
    json_lines.write("c.jsonl", system_rows("mctaco"))
    commands = [
        ("validate", "mctaco", name, *FEW[:2]),
        ("score", "mctaco", name, *FEW, "--counts", f"{NOT_UTF8}.counts"),
        ("merge", f"{NOT_UTF8}.counts", "-o", f"{NOT_UTF8}-merged.counts"),
        ("baseline", "mctaco", "always-positive", *FEW[:2], "-o", f"{NOT_UTF8}-yes.jsonl"),
        ("export", "mctaco", f"{NOT_UTF8} folder", *FEW[:2]),
        *(
            ("table", "mctaco", name, "c.jsonl", *FEW, "--format", style, *output)
            for style in ("table", "markdown", "latex", "csv", "json", "html")
            for output in ((), ("-o", f"{NOT_UTF8}.{style}"))
        ),
    ]
    for arguments in commands:
        code, printed, notes = run_encoded(arguments, "utf-8")
        assert code == 0, notes
        if arguments[0] == "validate":
            assert printed.startswith(r"b\udcff.jsonl: valid; ")
        if "-o" in arguments and arguments[0] == "table":
            assert "udcff" in Path(arguments[-1]).read_text("utf-8") or arguments[-2] == "html"
    assert run_encoded(("score", "mctaco", NOT_UTF8, *FEW), "latin-1")[2] == (
        "Error: b\\udcff: can't be read: No such file or directory\n"
    )
