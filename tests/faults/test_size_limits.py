"""A lowered limit of sizes: what has exactly as many bytes is read; one more is refused in one line."""

import gzip
import json
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shared.entry_points import sample_gold
from shared.marmara_xml import put

from closeread import limits
from closeread.exceptions import FormatError
from closeread.formats.folders import list_folders

COREF = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"
LONGER = COREF + "\n\n"
TML = """<TimeML><DOCID>a</DOCID><DCT><TIMEX3 tid="t0" type="DATE" value="2013-01-01" temporalFunction="false"
functionInDocument="CREATION_TIME">2013</TIMEX3></DCT><TEXT>She <EVENT eid="e1" class="OCCURRENCE">left</EVENT>.</TEXT>
<MAKEINSTANCE eventID="e1" eiid="ei1" tense="PAST" aspect="NONE" polarity="POS" pos="VERB"/>
<TLINK lid="l1" relType="BEFORE" eventInstanceID="ei1" relatedToTime="t0"/></TimeML>
"""
TIMELINE = "Ann\n1\t2007\t7-2-a\n"
COMMANDS = {
    "score": ("key.conll", "response.conll", "--no-ci"),
    "validate": ("key.conll", "response.conll"),
    "compare": ("key.conll", "key.conll", "response.conll"),
    "table": ("key.conll", "response.conll"),
    "errors": ("key.conll", "response.conll"),
}
FOLDERS = {
    "coref": ("key", "response", "a.conll", COREF),
    "tlinks": ("key", "response", "a.tml", TML),
    "timeline": ("--gold", "key", "response", "ann.txt", TIMELINE),
}


@pytest.fixture
def sides(here):
    put(here, {"key.conll": COREF, "response.conll": LONGER})
    return here


@pytest.fixture
def check(run):
    """Check that a command runs with a limit, and that with one byte less it refuses something in one line."""

    def call(size, said, *arguments, stdin=None):
        with limits.keep_files_below(size):
            done = run(*arguments, stdin=stdin)
        assert done.exit_code == 0, done.stderr
        with limits.keep_files_below(size - 1):
            done = run(*arguments, stdin=stdin)
        assert (done.exit_code, done.stdout) == (1, "")
        assert [line for line in done.stderr.splitlines() if not line.startswith("note: ")] == [
            f"Error: {said}"
        ]

    return call


@pytest.mark.parametrize("command", COMMANDS)
def test_a_plain_file(check, sides, command):
    size = len(LONGER)
    said = f"response.conll: is too large: {size} bytes (limit: {size - 1})"
    check(size, said, command, "coref", *COMMANDS[command])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_gzipped_file(check, sides, command):
    size = len(LONGER) + 1000
    Path("response.conll").write_bytes(gzip.compress(LONGER.encode() + b"\n" * 1000))
    said = f"response.conll: is too large: more than {size - 1:,} bytes when decompressed"
    check(size, said, command, "coref", *COMMANDS[command])


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_input(check, sides, command):
    arguments = [word.replace("response.conll", "-") for word in COMMANDS[command]]
    said = f"/dev/stdin: is too large: more than {len(LONGER) - 1} bytes"
    check(len(LONGER), said, command, "coref", *arguments, stdin=LONGER)


@pytest.mark.parametrize("procedure", FOLDERS)
def test_a_folder_in_all(check, here, procedure):
    *words, name, text = FOLDERS[procedure]
    put(here, {f"key/{name}": text, f"response/{name}": text + "\n"})
    if procedure != "timeline":  # in which a line without text is an error
        size = len(text) + 1
    else:
        Path("response/ann.txt").write_text(text.replace("2007", "2007-05"))
        size = len(text) + 3
    said = f"response: is too large: {size} bytes in all (limit: {size - 1})"
    check(size, said, "score", procedure, *words, "--no-ci")


@pytest.mark.parametrize("procedure", FOLDERS)
def test_a_folder_in_all_when_decompressed(run, here, procedure):
    """Each file is within the limit, also decompressed; together they are not."""
    *words, name, text = FOLDERS[procedure]
    padded = {
        "coref": COREF + "\n" * 500,
        "tlinks": TML + "\n" * 500,
        "timeline": TIMELINE + "1\t2007\t7-2-a\n" * 50,
    }
    put(here, {f"key/{name}": text})
    Path("response").mkdir()
    for i in "xyz":
        content = padded[procedure].replace("(d)", f"({i})").replace("Ann", f"Ann {i}").encode()
        Path(f"response/{i}_{name}").write_bytes(gzip.compress(content))
    most = len(content) + 100
    assert most < 3 * len(content)
    assert sum(path.stat().st_size for path in Path("response").iterdir()) < most
    with limits.keep_files_below(most):
        done = run("score", procedure, *words)
    assert done.exit_code == 1
    said = f"response: is too large: more than {most:,} bytes in all when decompressed"
    assert done.stderr.splitlines()[-1] == f"Error: {said}"
    with limits.keep_files_below(3 * len(content)):
        done = run("score", procedure, *words)
    assert "too large" not in done.stderr


def test_a_folder_for_each_split(here):
    put(here, {"train/a.txt": "1234567890", "test/b.txt": "12345"})
    Path("test/c.txt").write_bytes(gzip.compress(b"x" * 1000))
    packed = Path("test/c.txt").stat().st_size
    for most, said in (
        (15 + packed - 1, f"{15 + packed} bytes in all (limit: {15 + packed - 1})"),
        (1014, "more than 1,014 bytes in all when decompressed"),
    ):
        with (
            limits.keep_files_below(most),
            pytest.raises(FormatError, match="is too large") as caught,
        ):
            list_folders(Path(), ["train", "test"])
        assert str(caught.value) == f".: is too large: {said}"
    with limits.keep_files_below(1015):
        assert list(list_folders(Path(), ["train", "test"])[0]) == ["train", "test"]


@pytest.fixture
def mctaco(ran):
    """Predictions, counts and a report of McTaco's sample; its own gold is larger than the predictions."""
    ran("baseline", "mctaco", "always-positive", "--config", "sample", "-o", "rows.jsonl")
    made = ran(
        "score",
        "mctaco",
        "rows.jsonl",
        "--config",
        "sample",
        "--no-ci",
        "--json",
        "--counts",
        "counts.parquet",
    )
    Path("report.json").write_text(made)
    return {
        name: Path(name).stat().st_size for name in ("rows.jsonl", "counts.parquet", "report.json")
    }


def test_the_gold_of_a_corpus_is_ours(check, mctaco):
    size = mctaco["rows.jsonl"]
    said = f"rows.jsonl: is too large: {size:,} bytes (limit: {size - 1:,})"
    for command, more in (("score", ["--no-ci"]), ("validate", []), ("table", [])):
        check(size, said, command, "mctaco", "rows.jsonl", *more, "--config", "sample")


def write_gold(name):
    rows = sample_gold("mctaco")
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), name, compression="zstd")
    else:
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_gold_as_parquet_when_decoded(check, mctaco):
    write_gold("gold.parquet")
    size = pq.read_table("gold.parquet").nbytes
    assert size > Path("gold.parquet").stat().st_size
    said = f"gold.parquet: is too large: {size:,} bytes when decoded (limit: {size - 1:,})"
    check(size, said, "validate", "mctaco", "rows.jsonl", "--gold", "gold.parquet")


def test_files_of_counts_and_reports(check, mctaco):
    size, report = mctaco["counts.parquet"], mctaco["report.json"]
    assert size > pq.read_table("counts.parquet").nbytes
    said = f"counts.parquet: is too large: {size:,} bytes (limit: {size - 1:,})"
    check(size, said, "score", "--from-counts", "counts.parquet", "--no-ci")
    check(size, said, "table", "mctaco", "counts.parquet")
    check(
        report,
        f"report.json: is too large: {report:,} bytes (limit: {report - 1:,})",
        "table",
        "mctaco",
        "report.json",
    )


def test_other_threads_have_their_own_limit():
    found = []
    with limits.keep_files_below(5):
        thread = Thread(target=lambda: found.append(limits.max_file_bytes()))
        thread.start()
        thread.join()
        assert limits.max_file_bytes() == 5
        with limits.keep_files_below(None):
            assert limits.max_file_bytes() == 5
        with limits.keep_files_below(limits.MAX_FILE_BYTES):
            assert limits.max_file_bytes() == 2**30
        with limits.keep_files_below(2**31):  # it is only lowered
            assert limits.max_file_bytes() == 2**30
    assert [*found, limits.max_file_bytes()] == [2**30, 2**30]


def test_counts_when_decoded(check, ran):
    """Columns that repeat are small in a file."""
    first = sample_gold("mctaco")[0]
    rows = [
        {**first, "id": f"g-{i:05}", "question_id": f"g-q{i:04}", "sentence_id": "g-s0000"}
        for i in range(1000)
    ]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("many.jsonl").write_text(
        "".join(json.dumps({"id": row["id"], "label": "yes"}) + "\n" for row in rows)
    )
    ran(
        "score",
        "mctaco",
        "many.jsonl",
        "--gold",
        "gold.jsonl",
        "--no-ci",
        "--counts",
        "counts.parquet",
    )
    about = pq.read_metadata("counts.parquet")
    size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    assert size > Path("counts.parquet").stat().st_size
    said = f"counts.parquet: is too large: {size:,} bytes (limit: {size - 1:,})"
    check(size, said, "score", "--from-counts", "counts.parquet", "--no-ci")
