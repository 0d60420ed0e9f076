"""Laws that hold for every format: of files that mean the same, of damaged files, and that what is written is read again.

A new format needs an entry in `KINDS`; one of coreference has it by itself.
"""

import csv
import gzip
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import drawn_documents as drawn
from shared import json_lines
from shared.annotated_cat import dump_document
from shared.balanced_html import check_html
from shared.conll_documents import InventedWords, random_documents
from shared.entry_points import CORPORA, sample_gold, system_rows
from shared.error_messages import check_message
from shared.hostile_gold import write_hostile
from shared.hostile_texts import HOSTILE, split_refused
from shared.late import datasets, pandas
from shared.marmara_sample import treebank_files
from shared.marmara_xml import read_coreference
from shared.timeml_files import dump_timeml

import closeread
from closeread.corpus.gold import dump_gold, read_file, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import dump_submission, read_submission
from closeread.exceptions import FormatError, RequestError
from closeread.files import write_text
from closeread.formats.json_lines import dump_json_lines, read_json_lines
from closeread.formats.text import read_lines
from closeread.formats.timeml import EmptyElement, Passage, Span, TimeMLDocument, Tlink, read_timeml
from closeread.tasks.coref.documents import Document, Documents, Entity, Mention
from closeread.tasks.coref.files import dump_documents, read_documents
from closeread.tasks.coref.formats import FORMATS, WrittenFormat
from closeread.tasks.marmara.coreference import (
    dump_annotation,
    normalize_text,
)
from closeread.tasks.marmara.documents import Notes
from closeread.tasks.marmara.extraction import dump_document as dump_treebank
from closeread.tasks.marmara.treebank import get_form, read_extracted
from closeread.tasks.mctaco import mctaco_labels, mctaco_tsv
from closeread.tasks.timeline.cat_xml import read_document
from closeread.tasks.timeline.timeline_txt import dump_timeline, parse_timeline

pytestmark = pytest.mark.usefixtures("here")

# WebAnno TSV, a document in each file, has its laws in tests/coref/test_standoff.py.
WRITTEN = [form for form in get_args(WrittenFormat) if form in FORMATS]


@dataclass
class Kind:
    """A kind of file.

    Attributes:
        file: a name that such files may have.
        sample: a value to make a file of.
        values: draws values.
        dump: from a value to the text of a file; a ValueError if the format can't hold it.
        read: from a file to what it says.
        view: from a value to what its file says.
    """

    file: str
    sample: Any
    values: Any
    dump: Any
    read: Any
    view: Any = lambda value: value

    def read_bytes(self, data, suffix=""):
        """Write a file and read it again."""
        path = Path(f"{self.file}{suffix}")
        path.write_bytes(data)
        return self.read(path)


def view_questions(records):
    return [{name: record[name] for name in mctaco_tsv.COLUMNS} for record in records]


def make_labels(labels):
    return [{"id": f"q{number}", "label": label} for number, label in enumerate(labels)]


def read_labels(path):
    lines = read_lines(path)
    parsed = mctaco_labels.parse_submission(lines, make_labels(lines))
    return raise_problems(path, parsed).records


def raise_problems(path, parsed):
    """Return what was read of a file, if all of it could be read."""
    if parsed.problems:
        raise FormatError(path, parsed.problems)
    return parsed


def read_timeline(path):
    return raise_problems(path, parse_timeline("ann", read_lines(path))).record


def drop_lines(document):
    """A TimeML document without the lines of its elements."""
    passages = []
    for passage in document.passages:
        spans = tuple(span._replace(line=None) for span in passage.spans)
        passages.append(passage._replace(spans=spans))
    entries = {
        name: tuple(entry._replace(line=None) for entry in getattr(document, name))
        for name in ("instances", "tlinks")
    }
    return replace(document, passages=tuple(passages), **entries)


def make_documents(name="d", word="a", label="0"):
    """A document of three tokens and two entities."""
    entities = [Entity(label, [Mention(0, 1)]), Entity("x", [Mention(1, 1), Mention(2, 2)])]
    return Documents([Document(name, entities, 3, InventedWords([word, "b", "c"]))])


def view_documents(form):
    """What a format keeps of documents: entities by their mentions, names but in CRAC's text, words but in JSON Lines."""
    blank = "_" if form in ("crac-text", "crac-json") else " "

    def view(documents):
        entities = [
            sorted(
                sorted((mention.start, mention.end) for mention in entity.mentions)
                for entity in document.entities
            )
            for document in documents.documents
        ]
        names = None if form == "crac-text" else list(documents.names)
        words = None
        if form != "jsonl":
            words = [
                [word.replace(" ", blank) for word in document.words.read()]
                for document in documents.documents
            ]
        return entities, names, words

    return view


def make_coref_kind(form):
    # Parquet is only read.
    suffix = ".jsonl" if form == "coref-data" else FORMATS[form].suffixes[0]
    view = view_documents(form)
    path = Path(f"file{suffix}")
    return Kind(
        str(path),
        make_documents(word="é"),
        random_documents() | random_documents(crossing=True),
        lambda documents: dump_documents(documents, path, form),
        lambda file: view(read_documents(file)),
        view,
    )


def make_cat(id="7", token="é", event="3", **changes):  # noqa: A002, S107
    """A document in CAT."""
    document = {
        "id": id,
        "name": None,
        "url": None,
        "title": None,
        "creation_time": "2009-03-02",
        "creation_time_id": "1",
        "creation_time_tokens": [0],
        "tokens": [token, "b"],
        "sentences": [0, 1],
        "events": [{"id": event, "mention": f"{id}-0-{token}", "tokens": [0]}],
    }
    return document | changes


def make_timeml(id=None, dct="", title="é", text="", attribute="I_STATE", link=""):  # noqa: A002
    """A document in TimeML."""
    event = Span("EVENT", 0, 0, {"eid": "e1", "class": attribute})
    passages = (
        Passage("DCT", dct, (Span("TIMEX3", 0, 0, {"tid": "t1"}),)),
        Passage("TITLE", title),
        Passage("TEXT", text, (event,)),
    )
    instances = (EmptyElement("MAKEINSTANCE", {"eiid": "ei1", "eventID": "e1"}),)
    links = (Tlink("ei1", "t1", "BEFORE", {"lid": "l1", "origin": link}),)
    return TimeMLDocument(id, passages, instances, links)


def make_question(**changes):
    question = {"sentence": "It rained.", "question": "How long?", "answer": "é", "label": "yes"}
    return [question | {"id": "dev-00000", "category": "Frequency"} | changes]


def make_article(article="A Vase", possessor="Zoé"):
    possession = sample_gold("wikipossessions")[0]["possessions"][0]
    return [
        {
            "article": article,
            "possessions": [possession | {"possessor": possessor}],
            "text": None,
        }
    ]


def make_timeline(entity="Zoé", anchor="2009", mention="7-2-a"):
    entry = {"position": 1, "anchor": anchor, "mentions": [mention]}
    return {"id": "ann", "entity": entity, "entries": [entry]}


KINDS = {
    "json_lines": Kind(
        "a.jsonl",
        [{"name": "é"}],
        drawn.OBJECTS,
        dump_json_lines,
        lambda path: raise_problems(path, read_json_lines(path)).records,
    ),
    "mctaco_tsv": Kind(
        "dev.tsv",
        make_question(),
        drawn.QUESTIONS,
        mctaco_tsv.dump_records,
        lambda path: view_questions(mctaco_tsv.read_records(path, "dev").records),
        view_questions,
    ),
    "mctaco_labels": Kind(
        "labels.txt",
        make_labels(["yes", "no"]),
        st.lists(st.sampled_from(["yes", "no"]), min_size=1).map(make_labels),
        mctaco_labels.dump_submission,
        read_labels,
    ),
    "possession_csv": Kind(
        "a.csv",
        make_article(),
        drawn.ARTICLES,
        lambda records: dump_gold(load_corpus("wikipossessions"), Path("a.csv"), records),
        lambda path: list(read_file(load_corpus("wikipossessions"), path, "test")),
    ),
    "tne_jsonl": Kind(
        "a.jsonl",
        [sample_gold("tne")[0] | {"id": "é"}],
        st.just(sample_gold("tne")),
        lambda records: dump_gold(load_corpus("tne"), Path("a.jsonl"), records),
        lambda path: list(read_own_gold(load_corpus("tne"), path).records),
    ),
    "timeline_txt": Kind(
        "ann.txt", make_timeline(), drawn.draw_timeline(), dump_timeline, read_timeline
    ),
    "cat_xml": Kind(
        "7.xml",
        make_cat(),
        drawn.draw_cat_document(),
        dump_document,
        lambda path: read_document(path).document,
    ),
    "timeml": Kind(
        "7.tml",
        make_timeml(),
        drawn.draw_timeml(),
        dump_timeml,
        lambda path: drop_lines(read_timeml(path)),
    ),
    **{form: make_coref_kind(form) for form in WRITTEN},
}

XML = ("cat_xml", "timeml")
# Files whose format is told by their first line, or that have no letter outside ASCII.
ASCII_ONLY = ("mctaco_labels", "jsonl")


def encode(kind):
    return kind.dump(kind.sample).encode()


@pytest.mark.parametrize("name", KINDS)
def test_other_ends_of_lines_and_byte_order_marks_change_nothing(name):
    kind = KINDS[name]
    data = encode(kind)
    expected = kind.view(kind.sample)
    assert kind.read_bytes(data) == expected
    assert kind.read_bytes(data.replace(b"\n", b"\r\n")) == expected
    assert kind.read_bytes(b"\xef\xbb\xbf" + data) == expected
    assert kind.read_bytes(data.removesuffix(b"\n")) == expected


@pytest.mark.parametrize("name", KINDS)
def test_files_may_be_gzipped_in_any_number_of_members(name):
    kind = KINDS[name]
    data = encode(kind)
    expected = kind.view(kind.sample)
    members = [data[:10], b"", data[10:]]
    zipped = b"".join(gzip.compress(member, mtime=0) for member in members)
    assert kind.read_bytes(gzip.compress(data), ".gz") == expected
    assert kind.read_bytes(zipped, ".gz") == expected


@pytest.mark.parametrize("name", KINDS)
def test_damaged_gzip_is_refused(name):
    kind = KINDS[name]
    data = gzip.compress(encode(kind), mtime=0)
    wrong_checksum = data[:-8] + bytes(255 - byte for byte in data[-8:-4]) + data[-4:]
    for content in (data[:-1], data[:20], data[:2], data + data[:20]):
        with pytest.raises(FormatError, match="is not a valid gzip file: it is truncated"):
            kind.read_bytes(content, ".gz")
    for content in (wrong_checksum, data + b"more", data[:2] + b"more than magic"):
        with pytest.raises(FormatError, match="is not a valid gzip file: its data is corrupt"):
            kind.read_bytes(content, ".gz")


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ASCII_ONLY])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-32"])
def test_other_encodings_are_refused(name, encoding):
    kind = KINDS[name]
    with pytest.raises(FormatError):
        kind.read_bytes(encode(kind).decode().replace("encoding='utf-8'", "").encode(encoding))


@pytest.mark.parametrize("name", KINDS)
def test_a_file_that_is_cut_is_read_or_refused(name):
    kind = KINDS[name]
    data = encode(kind)
    assert_refused(kind, b"")
    for end in range(1, len(data), len(data) // 200 + 1):
        read_or_refuse(kind, data[:end])


def assert_refused(kind, data):
    with pytest.raises(FormatError):
        kind.read_bytes(data)


def read_or_refuse(kind, data):
    """Read a file; an error must say something that is fit for a terminal."""
    try:
        kind.read_bytes(data)
    except FormatError as error:
        check_message(error)


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
@settings(max_examples=30)
def test_what_is_written_is_read_again(name, data):
    kind = KINDS[name]
    value = data.draw(kind.values)
    try:
        text = kind.dump(value)
    except UnicodeError:
        raise
    except ValueError:
        return
    path = Path(kind.file)
    write_text(path, text)
    assert kind.read(path) == kind.view(value)


# Hostile texts: what is written of a text is read again, or the text is refused.

FIELDS = {
    "mctaco_tsv": {
        name: lambda text, name=name: make_question(**{name: text})
        for name in ("sentence", "question", "answer")
    },
    "possession_csv": {
        "article": lambda text: make_article(article=text),
        "possessor": lambda text: make_article(possessor=text),
    },
    "timeline_txt": {
        name: lambda text, name=name: make_timeline(**{name: text})
        for name in ("entity", "anchor", "mention")
    },
    **{
        form: {
            name: lambda text, name=name: make_documents(**{name: text})
            for name in ("name", "word", "label")
        }
        for form in WRITTEN
    },
}
"""How a value is made of a text, by the field that is the text."""

PLAIN = {"e\u0301", "NA", "=1+1", "&amp;", "😀", "<b>", "null", "Zoé"}
"""No format refuses these anywhere."""

CONTROL = {text for text in HOSTILE if set(text) & set("\0\x1c\x7f\ud800\udcff")}
"""No format holds these, except where a field is not written."""

NOT_WRITTEN = {("crac-text", "name"), ("jsonl", "word")}


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name, fields in FIELDS.items() for field in fields]
)
def test_hostile_texts_are_read_again_or_refused(name, field):
    kind = KINDS[name]
    make = FIELDS[name][field]

    def check(text, made):
        write_text(Path(kind.file), made)
        assert kind.read(Path(kind.file)) == kind.view(make(text)), text

    texts = (*HOSTILE, *PLAIN)
    refused = split_refused(lambda text: kind.dump(make(text)), check, texts)
    assert not refused & PLAIN
    # Entities get other labels.
    if field != "label" and (name, field) not in NOT_WRITTEN:
        assert refused >= CONTROL


def test_marmara_s_coreference_is_read_again():
    def make(text):
        mentions = [
            {"id": "0", "sentence": "77000112003.1", "from": 1, "to": 1, "start": 0, "end": 0},
            {"id": "1", "sentence": "77000112003.2", "from": 1, "to": 1, "start": 1, "end": 1},
        ]
        sentences = [{"tokens": [{"form": form}]} for form in (text, "b")]
        return {"sentences": sentences, "mentions": mentions, "clusters": [[[0, 0], [1, 1]]]}

    def check(text, made):
        write_text(Path("a.xml"), made)
        (annotation,) = read_coreference({"a.xml": Path("a.xml")}).annotations
        assert [mention[0] for mention in annotation.mentions] == ["0", "1"]
        assert normalize_text(annotation.mentions[0].text) == normalize_text(text)
        assert annotation.chains == [["0", "1"]]

    refused = split_refused(lambda text: dump_annotation(make(text)), check, (*HOSTILE, *PLAIN))
    assert refused >= CONTROL
    assert not refused & PLAIN


@pytest.mark.parametrize("attribute", ["LEM", "Ünlü"])
def test_the_treebank_is_read_again(attribute):
    path = next(iter(treebank_files().values()))
    sentence = read_extracted(path, path.read_bytes(), Notes())[0]

    def make(text):
        word, *others = sentence.words.values()
        changed = replace(word, attributes={**word.attributes, attribute: text})
        return sentence._replace(words=dict(enumerate([changed, *others], 1)))

    def view(sentence):
        return [(get_form(word), word.attributes) for word in sentence.words.values()]

    def check(text, made):
        write_text(Path("a.xml"), made)
        (again,) = read_extracted(Path("a.xml"), made.encode(), Notes())
        assert view(again) == view(make(text))

    refused = split_refused(lambda text: dump_treebank([make(text)]), check, (*HOSTILE, *PLAIN))
    assert refused >= CONTROL
    assert not refused & PLAIN


# The name of a file decides how it is written, as it decides how it is read.

NAMES = (
    *("a.jsonl", "a.JSONL", "a.ndjson", "a.jsonl.gz", "a.tsv", "a.TSV", "a.tsv.gz", "a.csv"),
    *("a.json", "a.json.gz", "a", "a.gz", ".jsonl", "a.parquet", "a.PARQUET", "a.txt"),
)
LOST = {"mctaco": ("id", "question_id", "sentence_id"), "wikipossessions": ("text",)}
"""Fields that the text format of a corpus does not have."""


@pytest.mark.parametrize("corpus", CORPORA)
def test_gold_is_written_as_its_name_is_read(corpus):
    declared = load_corpus(corpus)
    records = sample_gold(corpus)
    lost = dict.fromkeys(LOST.get(corpus, ()))
    refused = set()
    for name in NAMES:
        try:
            text = dump_gold(declared, Path(name), records)
        except RequestError:
            refused.add(name)
            continue
        write_text(Path(name), text)
        assert Path(name).read_bytes().startswith(b"\x1f\x8b") is name.endswith(".gz")
        again = read_own_gold(declared, Path(name)).records
        assert [row | lost for row in again] == [row | lost for row in records]
    assert refused >= {"a.parquet", "a.PARQUET"}
    assert not refused & {"a.jsonl", "a.JSONL", "a.ndjson", "a.jsonl.gz"}


@pytest.mark.parametrize("corpus", ["mctaco", "tne", "semeval2015_timeline", "wikipossessions"])
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".json.gz", ".gz", ".txt.gz"])
def test_predictions_are_written_as_their_name_is_read(corpus, suffix, run):
    rows = system_rows(corpus)
    path = Path(f"out{suffix}")
    kind = ".txt" if suffix == ".txt.gz" else ".jsonl"
    if kind == ".txt" and corpus != "mctaco":
        with pytest.raises(RequestError):
            dump_submission(rows, load_corpus(corpus), kind)
        return
    write_text(path, dump_submission(rows, load_corpus(corpus), kind))
    assert read_submission(path, load_corpus(corpus), sample_gold(corpus)).missing == ()
    assert run("validate", corpus, path, "--config", "sample").exit_code == 0


# What is exported or stored is read again, by us, by `datasets` and by pandas.

RECORDS = {
    "mctaco": lambda number, text: {
        **sample_gold("mctaco")[0],
        "sentence": f"{number}{text}",
        "question": text,
        "answer": text,
    },
    "tne": lambda number, text: {**sample_gold("tne")[0], "id": text or str(number)},
    "wikipossessions": lambda number, text: make_article(f"{number}{text}", text)[0],
}
"""How a record is made of a number and a text."""

RELEASED = {
    "mctaco": ("test_9442.tsv", "answer"),
    "tne": ("test.jsonl.gz", "id"),
    "wikipossessions": ("annotations.csv", "possessor"),
}
"""The file of the test split, and the field that is the text."""


@pytest.fixture(params=RECORDS)
def hostile_corpus(request):
    """A corpus with a folder of hostile data as its test split, called `data`."""
    corpus = load_corpus(request.param)
    path = Path("data", RELEASED[corpus.name][0])
    records = []
    for number, text in enumerate(HOSTILE):
        record = RECORDS[corpus.name](number, text)
        try:
            read_own_gold(corpus, [record])
            dump_gold(corpus, path, [record])
        except ValueError:
            continue
        records.append(record)
    assert len(records) > len(HOSTILE) / 2
    path.parent.mkdir()
    write_text(path, dump_gold(corpus, path, records))
    return corpus.name


# Old `datasets` leave CSV files to the garbage collector.
UNCLOSED = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def load_exported(monkeypatch, here):
    """Loads a config of an exported corpus with `datasets` alone, offline."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", here / "hf")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
    return lambda config: datasets.load_dataset("./out", config, split="test")


@UNCLOSED
@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_what_is_exported_is_read_again(hostile_corpus, load_exported, kind):
    corpus = hostile_corpus
    configs = ["flat"] if kind == "csv" else ["default", "flat"]
    closeread.export(corpus, "out", configs=configs, data_dir="data", format=kind)
    for config in configs:
        expected = closeread.load_dataset(corpus, config, split="test", data_dir="data")
        exported = load_exported(config)
        if kind == "csv":
            field = RELEASED[corpus][1]
            frame = pandas.read_csv("out/flat/test.csv", dtype=str, keep_default_na=False)
            assert list(exported[field]) == list(frame[field]) == list(expected[field])
        else:
            assert exported.features == expected.features
            assert list(exported) == list(expected)
    if kind != "csv":
        (file,) = Path("out/default").iterdir()
        expected = closeread.load_dataset(corpus, split="test", data_dir="data")
        assert list(read_own_gold(load_corpus(corpus), file).records) == list(expected)


def read_strictly(text):
    """Parse JSON by RFC 8259, which has no NaN and no infinity."""
    return json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("corpus", ["mctaco", "tne", "semeval2015_timeline"])
def test_results_are_read_again(corpus, run):
    """Scores, intervals and tests are the same from predictions, counts and stored results, to the last digit."""
    write_hostile(corpus)

    def call(*arguments):
        result = run(*arguments, "--resamples", "20", "-q")
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout

    options = ("--gold", "gold.jsonl", "--missing", "empty")
    counts = ("--counts", "a.parquet", "-o", "a.json.gz")
    printed = call("score", corpus, "a.jsonl", *options, "--json", "--per-unit")
    call("score", corpus, "a.jsonl", *options, "--json", "--per-unit", *counts)
    call("score", corpus, "b.jsonl", *options, "--counts", "b.parquet", "-o", "b.txt")
    assert call("score", "--from-counts", "a.parquet", "--json", "--per-unit") == printed
    assert gzip.decompress(Path("a.json.gz").read_bytes()).decode() == printed
    Path("printed.json").write_text(printed, "utf-8")
    assert closeread.load_report("a.json.gz") == closeread.load_report("printed.json")
    compared = call("compare", corpus, "a.jsonl", "b.jsonl", *options, "--json")
    from_counts = call("compare", corpus, "a.parquet", "b.parquet", "--json")
    assert read_strictly(from_counts.replace(".parquet", ".jsonl")) == read_strictly(compared)
    units = read_strictly(printed)["units"]
    table = call("score", corpus, "a.jsonl", *options, "--per-unit", "--format", "csv")
    assert_same_cells(table, units)


def assert_same_cells(text, units):
    """The cells of a table of units are those of its JSON, for the parser of Python and for that of pandas."""
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    frame = pandas.read_csv(io.StringIO(text), keep_default_na=False, dtype=str)
    assert len(rows) == len(frame) == len(units)
    first, *others = units[0]
    for row, (_, cells), unit in zip(rows, frame.iterrows(), units, strict=True):
        # What a spreadsheet would take for a formula has an apostrophe before it.
        assert row[first].removeprefix("'") == unit[first].removeprefix("'")
        for field in (first, *others):
            assert cells[field] == row[field]
        for field in others:
            if isinstance(unit[field], int | float):
                assert float(row[field]) == unit[field]
            elif unit[field] is None:
                assert row[field] == ""


FILE_NAMES = [
    name for name in HOSTILE[::2] if not set(name) & set("/\0\ud800\udcff") and len(name) < 100
]


@pytest.mark.filterwarnings("ignore:.*(same|equal)")
def test_tables_of_files_of_any_name_can_be_read():
    rows = json_lines.dump(system_rows("mctaco"))
    paths = [f"{name}.jsonl" for name in FILE_NAMES]
    for path in paths:
        Path(path).write_text(rows, "utf-8")
    few = closeread.Resampling(20)
    table = closeread.table("mctaco", paths, config="sample", resampling=few)
    assert len(list(csv.reader(io.StringIO(table.to_csv(), newline="")))) == 1 + 2 * len(paths)
    for text in (table.to_csv(), table.to_latex(), table.to_markdown(), table.to_html()):
        assert text.encode()
    assert len([text for text in check_html(table.to_html()) if text]) >= 2 * len(paths)
