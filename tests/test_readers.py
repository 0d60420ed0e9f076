"""Readers: what they keep, what they write back, and that no file at all makes them fail in any other way."""

import importlib
import json
import pkgutil
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.drawn_documents import JSON, SAFE

import closeread
import closeread.formats
from closeread import limits
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.exceptions import MAX_PROBLEMS_SHOWN, CloseReadWarning, FormatError, InputError
from closeread.files import write_text
from closeread.formats import Format
from closeread.formats.json_lines import dump_json_lines, read_json_lines
from closeread.formats.text import read_lines
from closeread.tasks import procedure_names
from closeread.tasks.coref import formats as coref_formats
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat
from closeread.tasks.mctaco import mctaco_labels, mctaco_tsv

MCTACO = load_corpus("mctaco")
SAMPLE = read_gold(MCTACO, "sample").records
IDS = [record["id"] for record in SAMPLE]
LABELS = st.sampled_from(["yes", "no"])
DAMAGED = settings(max_examples=300 if settings.default.max_examples >= 100 else 20)
"""All three hundred only in `make test-all`."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("readers") / "file"


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\r\nb\r", ["a", "b"]),
        ("a\r\r\nb", ["a\r", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("\n", [""]),
        ("a\n\n", ["a", ""]),
        ("\na", ["", "a"]),
        (" a \n", [" a "]),
        (
            "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei\n",
            ["a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei"],
        ),
        ("\ufeffa\n", ["a"]),
        ("\ufeff\ufeffa\n", ["\ufeffa"]),
        ("a\n\ufeffb\n", ["a", "\ufeffb"]),
        ("ä 😀 a\u0308\n", ["ä 😀 a\u0308"]),
    ],
)
def test_lines(file, raw, lines):
    file.write_bytes(raw.encode("utf-8"))
    assert read_lines(file) == lines


@pytest.mark.parametrize("mark", ["\t", "\n", "\r", "\0", "\x1b", "\x85"])
def test_mctaco_tsv_does_not_write_what_it_can_not_read(mark):
    record = {**SAMPLE[0], "answer": f"two{mark}days"}
    with pytest.raises(
        ValueError, match=r"^test-00000: a field contains a control character, which this format"
    ):
        mctaco_tsv.dump_records([record])


def test_mctaco_tsv_one_question_text_with_two_sentences(file):
    rows = [("A.", "When?"), ("B.", "When?"), ("A.", "When?"), ("A.", "Why?")]
    file.write_text("".join(f"{s}\t{q}\tnow\tyes\tFrequency\n" for s, q in rows), "utf-8")
    records = mctaco_tsv.read_records(file, "x").records
    assert [r["question_id"] for r in records] == ["x-q0000", "x-q0001", "x-q0000", "x-q0002"]
    assert [r["sentence_id"] for r in records] == ["x-s0000", "x-s0001", "x-s0000", "x-s0000"]


def test_mctaco_tsv_ids_count_unreadable_rows(file):
    good = "A.\tWhen?\tnow\tyes\tFrequency\n"
    file.write_text(good + "A.\tWhen?\n" + good, "utf-8")
    parsed = mctaco_tsv.read_records(file, "x")
    assert [record["id"] for record in parsed.records] == ["x-00000", "x-00002"]
    assert list(parsed.lines) == [1, 3]
    assert [problem.line for problem in parsed.problems] == [2]


@pytest.mark.parametrize("name", ["dev_3783.tsv", "test_9442.tsv"])
def test_mctaco_tsv_writes_the_release_back(corpora, name):
    path = corpora / "mctaco" / name
    assert (
        mctaco_tsv.dump_records(mctaco_tsv.read_records(path, "x").records).encode()
        == path.read_bytes()
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_json_lines_are_not_written_with_what_is_no_json(number):
    with pytest.raises(ValueError, match="JSON compliant"):
        dump_json_lines([{"score": number}])


@given(value=JSON, key=SAFE)
def test_json_lines_key_twice(file, value, key):
    text = f"{json.dumps(key)}: {json.dumps(value)}"
    file.write_text(f'{{"row": [{{{text}, {text}}}]}}\n{{"row": 2}}\n', "utf-8")
    records, lines, problems, *_ = read_json_lines(file)
    assert (records, lines) == ([{"row": 2}], [2])
    assert [(p.line, p.text.startswith("duplicate key")) for p in problems] == [(1, True)]


@given(character=st.characters(categories=["Cc", "Cs"]), before=SAFE, as_key=st.booleans())
def test_json_lines_control_characters_and_half_characters(file, character, before, as_key):
    text = before + character
    file.write_text(json.dumps({text: 1} if as_key else {"rows": [text]}), "ascii")
    records, _, problems, *_ = read_json_lines(file)
    assert records == []
    assert problems[0].text.endswith(f"U+{ord(character):04X}")
    assert problems[0].text.isprintable()


@pytest.mark.parametrize("depth", range(1, 1300, 37))
def test_json_lines_depth(file, depth):
    """Any depth is either read or refused, whatever the depth that Python's parser gives up at."""
    file.write_text('{"a":' * depth + "1" + "}" * depth, "utf-8")
    assert bool(read_json_lines(file).records) == (depth <= limits.MAX_DEPTH)


@st.composite
def damaged(draw, whole):
    """The bytes with a few pieces cut out, put in, overwritten or repeated."""
    data = bytearray(whole)
    pieces = st.one_of(
        st.binary(max_size=8),
        st.sampled_from(
            [
                b"\n",
                b"\r",
                b"\t",
                b"{",
                b'"',
                b"\\",
                b"\\ud800",
                b"\xe2\x80\xa8",
                b"\xef\xbb\xbf",
                b"1e999",
            ]
        ),
        st.sampled_from(
            [
                b"NaN",
                b"-",
                b"[" * 2000,
                b"9" * 5000,
                b'"id": "test-00001", ',
                b"null",
                b"\x00",
                b"\xff\xfe",
            ]
        ),
    )
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(
            st.integers(start, min(len(data), start + draw(st.sampled_from([0, 1, 10, 10_000]))))
        )
        how = draw(st.sampled_from(["replace", "repeat"]))
        data[start:end] = draw(pieces) if how == "replace" else bytes(data[start:end]) * 2
    return bytes(data)


GOLD_TSV = mctaco_tsv.dump_records(SAMPLE[:12]).encode()
GOLD_JSON = dump_json_lines(SAMPLE[:12]).encode()
SYSTEM_ROWS = [{"id": name, "label": "yes"} for name in IDS]
SYSTEM_JSON = dump_json_lines(SYSTEM_ROWS).encode()
SYSTEM_TEXT = mctaco_labels.dump_submission(SYSTEM_ROWS).encode()
ANY_FILE = (
    st.binary()
    | damaged(GOLD_TSV)
    | damaged(GOLD_JSON)
    | damaged(SYSTEM_JSON)
    | damaged(SYSTEM_TEXT)
)

PACKAGES = [
    closeread.formats,
    coref_formats,
    *(importlib.import_module(f"closeread.tasks.{task}") for task in procedure_names()),
]
FORMATS = {
    name: module.FORMAT
    for package in PACKAGES
    for name in sorted(
        module.name for module in pkgutil.iter_modules(package.__path__) if not module.ispkg
    )
    for module in [importlib.import_module(f"{package.__name__}.{name}")]
    if hasattr(module, "FORMAT")
}


def test_every_format_is_found():
    of_corpora = {"mctaco_tsv", "tne_jsonl", "possession_csv", "cat_xml", "timeline_txt"}
    of_coref = {
        "arrau",
        "conll",
        "conllu",
        "conllua",
        "coref_json",
        "crac_json",
        "coref_data",
        "corpus_documents",
        "marked_text",
    }
    assert FORMATS.keys() == {"json_lines", "corpus_links", *of_coref, *of_corpora}
    assert all(isinstance(one, Format | CorefFormat) for one in FORMATS.values())


def check_message(error):
    """It says something, is fit for a terminal, and isn't too long."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()
    assert len(str(error).splitlines()) <= MAX_PROBLEMS_SHOWN + 1


@pytest.mark.parametrize("name", FORMATS)
@given(data=ANY_FILE)
@DAMAGED
def test_every_reader_reads_or_refuses(file, name, data):
    file.write_bytes(data)
    form = FORMATS[name]
    try:
        if isinstance(form, CorefFormat):
            documents = form.read(file, DEFAULT_READING)
            assert all(isinstance(record, dict) for record in documents)
            return
        records, lines, problems, *_ = form.read(file, "test")
    except FormatError as error:
        check_message(error)
        return
    assert len(records) == len(lines)
    assert records or problems
    assert all(isinstance(record, dict) for record in records)
    assert all(problem.text.isprintable() and problem.line for problem in problems)
    assert all(1 <= line <= data.count(b"\n") + 1 for line in lines)


def scored_or_refused(predictions, **places):
    """A report, or nothing where the input was refused."""
    try:
        with warnings.catch_warnings():
            # unknown fields are ignored with a note
            warnings.simplefilter("ignore", CloseReadWarning)
            report = closeread.score("mctaco", predictions, resampling=Resampling(0), **places)
    except InputError as error:
        check_message(error)
        return None
    assert isinstance(report, Report)
    for estimate in report.total.scores.values():
        # Without a unit that is scored there is no score.
        assert 0 <= estimate.value <= 1 if report.total.n_units else estimate.value is None
    return report


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {}, optional={"id": JSON | st.sampled_from(IDS), "label": JSON | LABELS, "x": JSON}
        ),
        min_size=1,
        max_size=20,
    )
)
def test_any_json_is_scored_or_refused(file, rows):
    write_text(file, dump_json_lines(rows))
    names = [row.get("id") for row in rows]
    # A null label is an answer that is missing.
    labels = ("yes", "no", None)
    right = all(
        row.keys() >= {"id", "label"} and row["id"] in IDS and row["label"] in labels
        for row in rows
    )
    unique = len({json.dumps(name) for name in names}) == len(names)
    assert (scored_or_refused(file, config="sample", missing="empty") is not None) == (
        right and unique
    )
