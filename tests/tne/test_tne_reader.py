"""The reader of TNE's files: both versions, gzipped or not, what it refuses and in which words, and its round trips."""

import copy
import gzip
import importlib.util
import json
import zlib
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from closeread.corpora.gold import load_corpus, read_gold, read_own_gold
from closeread.corpora.schema import load_schema
from closeread.errors import SHOWN, FormatError
from closeread.formats import gzipped
from closeread.formats.json_lines import dump_json_lines
from closeread.hf.features import features
from closeread.tasks.tne import tne_jsonl
from closeread.tasks.tne.tne_jsonl import dump_records, origin, read_records

TNE = load_corpus("tne")
HERE = Path(__file__).parent


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


texts = loaded(HERE.parent / "json_texts.py")
released = loaded(HERE / "released.py")
document, first_version, lines = released.document, released.first_version, released.lines


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("tne") / "file.jsonl"


def read(file, content):
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_records(file, "test")


def refused(file, content):
    """What is said of a file, without its name."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FormatError) as caught:
        read_own_gold(TNE, file)
    assert str(caught.value).replace("\n", "").isprintable()
    return str(caught.value).replace(f"{file}", "")


# Versions, and what is added.


def test_a_document(file):
    records, numbers, problems = read(file, lines(document()))
    assert (numbers, problems) == ([1], [])
    assert list(records) == [{**document(), "domain": "news", "forum": None}]
    assert list(read_own_gold(TNE, file).records) == list(records)


def test_both_versions_are_one(file):
    new = read_own_gold(TNE, put(file, lines(document())))
    old = read_own_gold(TNE, put(file, lines(first_version(document()))))
    assert list(old.records) == list(new.records)
    assert old.digest == new.digest
    # Where the object's keys alone are the ids.
    bare = first_version(document())
    for noun_phrase in bare["nps"].values():
        del noun_phrase["id"]
    assert list(read_own_gold(TNE, put(file, lines(bare))).records) == list(new.records)


def put(file, content):
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def test_what_the_recovered_train_split_lacks(file):
    record = document(metadata=...)
    for cluster in record["coref"]:
        del cluster["np_type"]
    (found,) = read_own_gold(TNE, put(file, lines(first_version(record)))).records
    assert [cluster["np_type"] for cluster in found["coref"]] == [None] * 4
    assert found.keys() & {"metadata", "domain", "forum"} == set()


def test_an_unlabelled_document(file):
    gold = read_own_gold(TNE, put(file, lines(document(np_relations=...))))
    assert "np_relations" not in gold.records[0]
    assert len(gold.records.links) == 0
    assert gold.digest == read_own_gold(TNE, put(file, lines(document(np_relations=None)))).digest


@pytest.mark.parametrize(
    ("source", "domain", "forum"),
    [
        ("wiki_05_news.json", "news", None),
        ("1342_gut.json", "books", None),
        ("12_7_imdb.json", "imdb", None),
        ("reddit_atheism_formatted.json", "reddit", "atheism"),
        ("reddit_Ask_Historians_formatted.json", "reddit", "Ask_Historians"),
        ("reddit__formatted.json", None, None),
        ("wiki_news.json", None, None),
        ("wiki_05_news.json\n", None, None),
        ("other.json", None, None),
        ("", None, None),
    ],
)
def test_domain_and_forum(file, source, domain, forum):
    assert origin(source) == (domain, forum)
    metadata = {**document()["metadata"], "source": source}
    (record,) = read(file, lines(document(metadata=metadata))).records
    assert (record["domain"], record["forum"]) == (domain, forum)


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({"domain": "news"}, ("news", None)),
        ({"domain": "news", "forum": None}, ("news", None)),
        ({"domain": None, "forum": None}, ("news", None)),
        ({"domain": "news", "forum": "mine"}, ("news", "mine")),
        ({"domain": "books", "metadata": None}, ("books", None)),
        ({"domain": "reddit", "forum": "Cats", "metadata": ...}, ("reddit", "Cats")),
    ],
)
def test_domain_and_forum_that_are_given(file, own, found):
    (record,) = read_own_gold(TNE, put(file, lines(document(**own)))).records
    assert (record.get("domain"), record.get("forum")) == found


def test_names_that_are_absent_are_null(file):
    # So that a file has the digest of its Parquet, which has all names.
    full = document(metadata={"annotators": None, "url": None, "source": None})
    assert read(file, lines(document(metadata={}))).records[0] == read(file, lines(full)).records[0]
    annotators = {"coref_worker": None, "consolidator_worker": 1, "np-relations_worker": None}
    (record,) = read(file, lines(document(metadata={"annotators": {"consolidator_worker": 1}}))).records
    assert record["metadata"] == {"annotators": annotators, "url": None, "source": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"domain": "books"}, "id 'r1': domain is 'books'; needed: 'news', as the source says, or nothing"),
        ({"domain": 7}, "id 'r1': domain is 7; needed: 'news', as the source says, or nothing"),
        (
            {"metadata": {"source": "reddit_Cats_formatted.json"}, "domain": "reddit", "forum": "Dogs"},
            "id 'r1': forum is 'Dogs'; needed: 'Cats', as the source says, or nothing",
        ),
        (
            {"domain": "film", "metadata": None},
            "domain: 'film' is of another form; needed: news, books, imdb or reddit",
        ),
        ({"nps": {"np0": {"id": "np1"}}}, "id 'r1': nps: the noun phrase 'np0' has the id 'np1'; needed: the same"),
        ({"nps": {"np0": {"id": None}}}, "id 'r1': nps: the noun phrase 'np0' has the id null; needed: the same"),
        ({"nps": {"np0": 7}}, "nps[0]: 7 is not of type 'object'"),
        ({"nps": 7}, "nps: 7 is not of type 'array'"),
        ({"nps": None}, "nps: None is not of type 'array'"),
        ({"coref": 7}, "coref: 7 is not of type 'array'"),
        ({"coref": True}, "coref: True is not of type 'array'"),
        ({"coref": [7]}, "coref[0]: 7 is not of type 'object'"),
        ({"coref": ...}, "'coref' is a required property"),
        ({"metadata": [7]}, "metadata: [7] is not of type 'object', 'null'"),
        ({"metadata": {"annotators": 7}}, "metadata.annotators: 7 is not of type 'object', 'null'"),
        ({"metadata": {"source": 7}}, "metadata.source: 7 is not of type 'string', 'null'"),
        ({"metadata": {"more": 7}}, "metadata: Additional properties are not allowed ('more' was unexpected)"),
        ({"np_relations": 7}, "np_relations: 7 is not of type 'array', 'null'"),
        ({"np_relations": [7]}, "np_relations[0]: 7 is not of type 'object'"),
        ({"np_relations": {"np0": []}}, "np_relations: {'np0': []} is not of type 'array', 'null'"),
        ({"tokens": [""]}, "tokens[0]: '' should be non-empty"),
        ({"text": ""}, "text: '' should be non-empty"),
        ({"id": ""}, "id: '' should be non-empty"),
        ({"id": 7}, "id: 7 is not of type 'string'"),
        ({"extra": 7}, "Additional properties are not allowed ('extra' was unexpected)"),
    ],
)
def test_fields_of_another_kind(file, changes, message):
    named = "" if message.startswith("id") else "id 'r1': "
    assert refused(file, lines(document(**changes))) == f":1: {named}{message}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1, "-1 is less than the minimum of 0"),
        (2**31, f"{2**31} is greater than the maximum of {2**31 - 1}"),
        ("7", "'7' is not of type 'integer'"),
        (1.5, "1.5 is not of type 'integer'"),
        (True, "True is not of type 'integer'"),
        (None, "None is not of type 'integer'"),
    ],
)
@pytest.mark.parametrize("name", ["first_char", "first_token"])
def test_places_that_are_none(file, name, value, said):
    record = document()
    record["nps"][2][name] = value
    inside = f"(in {json.dumps(record['nps'][2])})"
    assert refused(file, lines(document(id="r0"), record)) == f":2: id 'r1': nps[2].{name}: {said} {inside}"


@pytest.mark.parametrize("number", [10**19, 10**30, 10**4000, -(10**30)])
def test_long_numbers(file, number):
    record = document()
    record["nps"][0]["first_char"] = number
    assert refused(file, lines(record)).startswith(":1: id 'r1': nps[0].first_char: ")


# Files.


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("zipped", [bytes, gzip.compress])
def test_any_file_of_the_same_documents(file, zipped, mark, end):
    data = mark + lines(document(), document(id="r2")).removesuffix("\n").encode() + end.encode()
    wanted = read(file, lines(document(), document(id="r2")))
    for content in (data, data.replace(b"\n", b"\r\n"), data.replace(b": ", b":").replace(b', "', b',"')):
        found = read(file, zipped(content))
        assert list(found.records) == list(wanted.records)
        assert (found.lines, found.problems) == ([1, 2], [])


def test_gzipped_in_several_members(file):
    data = lines(document(), document(id="r2")).encode()
    parts = b"".join(gzip.compress(data[start : start + 100], mtime=0) for start in range(0, len(data), 100))
    for content in (parts, gzip.compress(b"", mtime=0) + parts, parts + gzip.compress(b"", mtime=0)):
        assert len(read(file, content).records) == 2


def test_many_empty_members_take_no_quadratic_time(file):
    assert gzipped.unzipped(file, gzip.compress(b"", mtime=0) * 100_000 + gzip.compress(b"x", mtime=0)) == b"x"


@given(st.binary(max_size=200), st.integers(0, 2**16), st.integers(1, 3))
def test_unzipped_is_what_was_zipped(data, seed, members):
    content = bytes((byte * (seed + i)) % 256 for i in range(300) for byte in data)
    assert gzipped.unzipped(Path("x"), gzip.compress(content, mtime=0) * members) == content * members


SOUND = gzip.compress(lines(document()).encode(), mtime=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(SOUND[:-1], "is no sound gzip file: it ends too early", id="a byte short"),
        pytest.param(SOUND[:200], "is no sound gzip file: it ends too early", id="cut in the data"),
        pytest.param(SOUND[:2], "is no sound gzip file: it ends too early", id="cut in the header"),
        pytest.param(SOUND + SOUND[:20], "is no sound gzip file: it ends too early", id="second member cut"),
        pytest.param(SOUND[:100] + b"\0\0" + SOUND[102:], "is no sound gzip file: its data is damaged", id="damaged"),
        pytest.param(
            SOUND[:-8] + b"\0\0\0\0" + SOUND[-4:], "is no sound gzip file: its data is damaged", id="wrong checksum"
        ),
        pytest.param(SOUND + b"more", "is no sound gzip file: its data is damaged", id="text after it"),
        pytest.param(b"\x1f\x8bmore than magic", "is no sound gzip file: its data is damaged", id="only magic"),
        pytest.param(gzip.compress(b"", mtime=0), "is empty", id="nothing, zipped"),
        pytest.param(gzip.compress(b"\xef\xbb\xbf", mtime=0), "is empty", id="byte order mark, zipped"),
        pytest.param(
            gzip.compress(b"\n", mtime=0), "1: is blank; needed: one JSON object a line", id="blank line, zipped"
        ),
        pytest.param(b"", "is empty", id="nothing"),
        pytest.param(b"\xef\xbb\xbf", "is empty", id="byte order mark"),
        pytest.param(b"\xff\xfe{\0}\0", "1: byte 1 (0xff) is not UTF-8; needed: UTF-8 text", id="UTF-16"),
    ],
)
def test_files_that_are_not_sound(file, content, message):
    separator = ":" if message[0].isdigit() else ": "
    assert refused(file, content).splitlines()[-1] == f"{separator}{message}"


def test_a_file_that_grows_without_end(file, monkeypatch):
    monkeypatch.setattr(gzipped, "MAX_FILE_BYTES", 10_000)
    assert gzipped.unzipped(file, gzip.compress(b"x" * 10_000, mtime=0)) == b"x" * 10_000
    bomb = zlib.compressobj(9, wbits=31)
    grown = b"".join(bomb.compress(b" " * 2**20) for _ in range(64)) + bomb.flush()
    message = ": holds more than 10,000 bytes once it is decompressed; a file may have so many"
    for content in (gzip.compress(b"x" * 10_001, mtime=0), gzip.compress(b"x" * 6000, mtime=0) * 2, grown, grown[:-8]):
        assert refused(file, content) == message


def test_a_line_without_end(file, monkeypatch):
    monkeypatch.setattr(tne_jsonl, "MAX_LINE_BYTES", 2000)
    text = lines(document())
    assert read(file, text).problems == []
    long = lines(document(text="x" * 2000))
    assert [p.what for p in read(file, text + long).problems] == [f"has {len(long) - 1:,} bytes; a line may have 2,000"]


# Characters.


@pytest.mark.parametrize("character", ["\u0080", "\u0085", "\u009f", "\t", "\n", "\u2028", "\ufeff", "\xa0", "é", "😀"])
@pytest.mark.parametrize("escaped", [True, False])
def test_characters_that_texts_may_hold(file, character, escaped):
    words = f"a{character}b"
    nps = [{"text": words, "first_char": 1, "last_char": 4, "first_token": 0, "last_token": 0, "id": "np0"}]
    coref = [{"id": "cc0", "members": ["np0"], "np_type": "standard"}]
    record = document(text=f" {words} ", tokens=[words], nps=nps, coref=coref, np_relations=[])
    content = json.dumps(record, ensure_ascii=escaped) + "\n"
    gold = read_own_gold(TNE, put(file, content))
    assert gold.records[0]["text"] == f" {words} "
    assert dump_records(gold.records).count("\n") == 1
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest


@pytest.mark.parametrize("character", ["\0", "\b", "\x0b", "\f", "\r", "\x1b", "\x1f", "\x7f"])
@pytest.mark.parametrize("name", ["text", "id", "key"])
def test_characters_that_texts_may_not_hold(file, character, name):
    record = document(**{f"x{character}" if name == "key" else name: f"a{character}"})
    held = "x" if name == "key" else "a"
    found = f":1: the text {held + character!r} holds the control character U+{ord(character):04X}"
    assert refused(file, lines(record)) == found
    # Escaped in the other ways that there are; DEL needs no escape.
    hexes = f"{ord(character):04x}"
    for spelt in (f"\\u{hexes}", f"\\u{hexes.upper()}"):
        assert refused(file, lines(record).replace(json.dumps(character)[1:-1], spelt)) == found
    assert refused(file, json.dumps(record, ensure_ascii=False)) == found


def test_half_a_character(file):
    assert refused(file, lines(document(id="\ud83d"))) == r":1: the text '\ud83d' holds the lone surrogate U+D83D"
    assert read(file, lines(document(id="😀"))).problems == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{}x", "is no JSON: Extra data at column 3"),
        (b"", "is blank; needed: one JSON object a line"),
        (b"[]", "'[]' is no JSON object; needed: one object a line"),
        (b'{"id": NaN}', "NaN is no JSON value"),
        (b'{"id": 1e400}', "the number '1e400' is beyond the range of a float"),
        (b'{"id": "a", "id": "a"}', "key 'id' is given twice"),
        (b'{"id" : "a", "id" : "a"}', "key 'id' is given twice"),
        (b'{"id": "a", "\\u0069d": "a"}', "key 'id' is given twice"),
        (b'{"id": "\\u0022", "text": "\\"", "text": "\\""}', "key 'text' is given twice"),
        (b'{"nps": {"np0": {}, "np0": {}}}', "key 'np0' is given twice"),
        (b'{"id": "\xff"}', "byte 9 (0xff) is not UTF-8; needed: UTF-8 text"),
        (b'{"id": "\xed\xa0\x80"}', "byte 9 (0xed) is not UTF-8; needed: UTF-8 text"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "is nested too deeply; a value may have 100 levels"),
        (b"[" * 10**5, "is nested too deeply; a value may have 100 levels"),
        (b'{"id": ' + b"9" * 5000 + b"}", "a number has more digits than can be read"),
    ],
)
def test_lines_that_are_none(file, line, message):
    good = lines(document()).encode()
    records, numbers, problems = read(file, good + line + b"\n" + lines(document(id="r2")).encode())
    assert [(problem.line, problem.what) for problem in problems] == [(2, message)]
    assert (len(records), numbers) == (2, [1, 3])


@pytest.mark.parametrize("depth", [90, 101, 150, 240, 253, 254, 255, 300])
def test_depth(file, depth):
    value = 7
    for _ in range(depth):
        value = [value]
    for changes in ({"extra": value}, {"domain": value}, {"metadata": value}, {"nps": {"np0": {"id": value}}}):
        assert refused(file, lines(document(**changes)))


def test_all_problems_of_a_file_come_at_once(file):
    content = [lines(document()), "x\n", lines(document(nps=7)), lines(document(nps={"np0": {"id": "np1"}}))]
    content += [lines(document(coref=...)), '{"id": "r1", "id": "r1"}\n', lines(document())]
    assert refused(file, "".join(content)).splitlines() == [
        ": 8 problems:",
        ":2: is no JSON: Expecting value at column 1",
        ":3: id 'r1': nps: 7 is not of type 'array'",
        ":3: id 'r1' stands on line 1 already",
        ":4: id 'r1': nps: the noun phrase 'np0' has the id 'np1'; needed: the same",
        ":5: id 'r1': 'coref' is a required property",
        ":5: id 'r1' stands on line 1 already",
        ":6: key 'id' is given twice",
        ":7: id 'r1' stands on line 1 already",
    ]


# Two ways to read a line.


def rounded(value):
    """The value with integers of more than 64 bits as floats, as the fast way has them; no schema takes either."""
    if isinstance(value, dict):
        return {name: rounded(child) for name, child in value.items()}
    if isinstance(value, list):
        return [rounded(child) for child in value]
    return float(value) if isinstance(value, int) and abs(value) >= 2**63 else value


def as_line(text):
    return text.encode("utf-8", "surrogatepass").replace(b"\n", b" ")


@given(texts.LINE | texts.damaged())
@settings(max_examples=300)
@example('{"a":"\\u0022\\u0022","b":1,"b":1}')
@example('{"a":"\x7f"}')
@example('{"a":[-9223372036854775809,18446744073709551616]}')
@example('{"a":"\\u0009\\u000a\\t\\n\\u0080\x80"}')
@example('{"a":"\\\\u0022","b":"\\u005cu0022"}')
@example('{"a":"\\u007F"}')
@example('{"a" : 1, "a" : 1}')
@example("\ufeff{}")
def test_the_fast_way_takes_no_line_that_the_strict_one_refuses(text):
    line = as_line(text)
    fast = tne_jsonl._plain_object(line)
    if fast is None:
        return
    strict, problem = tne_jsonl._object(line)
    assert problem is None
    assert repr(rounded(strict)) == repr(rounded(fast))


@given(texts.LINE | texts.damaged())
@settings(max_examples=300)
def test_the_strict_way_is_as_strict_without_the_other(text):
    line = as_line(text)
    with mock.patch("closeread.formats.json_lines._plain_object", return_value=None):
        alone = tne_jsonl._object(line)
    assert repr(tne_jsonl._object(line)) == repr(alone)


def test_the_fast_way_is_taken():
    sample = read_gold(TNE, "sample").records
    raw = dump_records(sample).encode().splitlines()
    assert None not in [tne_jsonl._plain_object(line) for line in raw]
    assert None not in [tne_jsonl._plain_object(line) for line in lines(*sample).encode().splitlines()]


# Round trips.


@pytest.fixture(scope="module")
def sample():
    return read_gold(TNE, "sample")


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".json.gz", ".ndjson", ".parquet", ".txt"])
def test_every_form_of_gold_is_the_same(sample, tmp_path, suffix):
    path = tmp_path / f"gold{suffix}"
    if suffix == ".parquet":
        schema = features(load_schema("tne")).arrow_schema
        pq.write_table(pa.Table.from_pylist(list(sample.records), schema=schema), path)
    elif suffix == ".ndjson":
        path.write_text(dump_json_lines(sample.records), "utf-8")
    else:
        content = dump_records(sample.records).encode()
        path.write_bytes(gzip.compress(content, mtime=0) if suffix.endswith(".gz") else content)
    own = read_own_gold(TNE, path)
    assert own.digest == sample.digest
    assert own.notices == sample.notices


def test_what_is_written_is_the_release(sample):
    written = [json.loads(line) for line in dump_records(sample.records).splitlines()]
    wanted = [{k: v for k, v in record.items() if k not in ("domain", "forum")} for record in sample.records]
    assert written == wanted
    assert read_gold(TNE, "sample").records[0] == sample.records[0]  # nothing was changed by writing


@pytest.mark.parametrize(
    "changes", [{"np_relations": None}, {"metadata": None}, {"metadata": {}}, {"np_relations": []}]
)
def test_fields_that_are_null_are_not_written(file, tmp_path, changes):
    gold = read_own_gold(TNE, put(file, lines(document(**changes))))
    (written,) = (json.loads(line) for line in dump_records(gold.records).splitlines())
    assert {name for name in changes if name not in written} == {name for name in changes if changes[name] is None}
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest
    path = tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest


def test_an_exported_repository_is_gold(sample, ran, tmp_path):
    ran("export", "tne", "repository", "--config", "sample")
    (parquet,) = (tmp_path / "repository").rglob("*.parquet")
    own = read_own_gold(TNE, parquet)
    assert own.digest == sample.digest
    assert own.notices == sample.notices


# Anything.


def check_message(error):
    """It says something, is fit for a terminal, and isn't too long."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()
    assert len(str(error).splitlines()) <= SHOWN + 1


SAMPLE = read_gold(TNE, "sample").records
PIECES = [
    b"\n",
    b"\r",
    b"{",
    b"}",
    b'"',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\xe2\x80\xa8",
    b"1e999",
    b"NaN",
    b"-",
    b"null",
]
PIECES += [
    b"9" * 40,
    b"[" * 300,
    b"\x00",
    b"\xff",
    b"np0",
    b"np1",
    b"np99999",
    b"cc0",
    b"cc99999",
    b"true",
    b"[]",
    b"{}",
]
PIECES += [b'"of"', b'"Of"', b'"id": "s1", ', b'"id": 7, ', b"0", b"7", b"2147483647", b"2147483648", b"standard"]


@st.composite
def damaged(draw, whole):
    """The bytes with a few pieces put in, cut out, overwritten or repeated."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 3, 10, 300])))
        how = draw(st.sampled_from(["replace", "repeat"]))
        data[start:end] = draw(st.sampled_from(PIECES)) if how == "replace" else bytes(data[start:end]) * 2
    return bytes(data)


VALUES = [
    None,
    True,
    0,
    -1,
    7,
    1.5,
    2**40,
    "",
    "np0",
    "np99",
    "np01",
    "cc0",
    "of",
    "x",
    [],
    {},
    ["np0"],
    [["np0"]],
    {"id": "np0"},
]


@st.composite
def changed(draw):
    """The sample with a value of it replaced, taken away or moved."""
    records = copy.deepcopy(list(SAMPLE))
    place = draw(st.sampled_from(records))
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
            place = place[key]
            continue
        how = draw(st.sampled_from(["replace", "replace", "drop", "repeat", "swap"]))
        if how == "drop":
            del place[key]
        elif how == "repeat" and isinstance(place, list):
            place.append(place[key])
        elif how == "swap":
            other = draw(st.sampled_from(keys))
            place[key], place[other] = place[other], place[key]
        else:
            place[key] = draw(st.sampled_from(VALUES))
        return lines(*records).encode()


@given(
    data=damaged(dump_records(SAMPLE).encode())
    | damaged(gzip.compress(dump_records(SAMPLE).encode(), mtime=0))
    | changed()
)
@settings(max_examples=200)
def test_any_file_is_read_or_refused(file, data):
    file.write_bytes(data)
    try:
        gold = read_own_gold(TNE, file)
    except FormatError as error:
        check_message(error)
        return
    assert read_own_gold(TNE, put(file, dump_records(gold.records))).digest == gold.digest


# The release.


def test_both_versions_of_the_release_are_one(corpora):
    new = read_gold(TNE, split="validation")
    old = read_own_gold(TNE, corpora / "tne" / "dev.jsonl.gz")
    assert (new.released, len(new.records)) == (True, 500)
    assert list(old.records) == list(new.records)
    assert old.digest == new.digest


def test_the_unlabelled_release_is_the_labelled_one_without_links(corpora):
    labelled, unlabelled = read_gold(TNE, split="test").records, read_gold(TNE, "unlabeled", "test").records
    without = [{name: value for name, value in record.items() if name != "np_relations"} for record in labelled]
    assert list(unlabelled) == without


def test_domains_and_forums_of_the_release(corpora):
    records = read_gold(TNE, "unlabeled", "ood").records
    domains = [record["domain"] for record in records]
    assert {domain: domains.count(domain) for domain in set(domains)} == {"books": 170, "imdb": 169, "reddit": 170}
    forums = {record["forum"] for record in records if record["domain"] == "reddit"}
    splits = TNE.configs["ood_forums"].splits
    assert forums == set(splits)
    # One source is called asked_science, and its file askedscience.
    assert splits["asked_science"].name == "ood_reddit_askedscience.jsonl.gz"
    assert {record["forum"] for record in records if record["domain"] != "reddit"} == {None}
    assert {record["domain"] for record in read_gold(TNE).records} == {"news"}


def test_the_release_through_parquet(corpora, tmp_path):
    gold, path = read_gold(TNE), tmp_path / "gold.parquet"
    schema = features(load_schema("tne")).arrow_schema
    pq.write_table(pa.Table.from_pylist(list(gold.records), schema=schema), path)
    assert read_own_gold(TNE, path).digest == gold.digest
    path = put(tmp_path / "gold.jsonl", dump_records(gold.records))
    assert read_own_gold(TNE, path).digest == gold.digest
