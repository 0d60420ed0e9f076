"""Changed files through everything that reads: each is read or refused, alike twice, in time, and writes nothing.

A new reader that no command of `shared.every_command` reaches has a line in `LINES`, a place in `READERS`, or a function
in `make_calls`; formats of coreference and options of procedures are targets by themselves.
"""

import gzip
import hashlib
import importlib
import json
import random
import re
import resource
import shutil
import signal
import time
import traceback
import warnings
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner
from shared import json_lines
from shared.annotation_tools import ENTITIES, OTHER_ENTITIES, label_studio
from shared.boards import judge_here, make_store, sample_board, send_answers
from shared.entry_points import (
    CASES,
    COREF_FORMATS,
    CORPORA,
    KEY,
    RESPONSE,
    TASKS,
    sample_gold,
    system_rows,
    write_key,
)
from shared.every_command import PAIRS, fill_in, list_lines, standing_in, write_inputs
from shared.file_faults import drop_hidden, read_tree
from shared.neural import DIALECTS, write_lines
from shared.stand_in_wiki import redirect_to
from shared.universal_anaphora import random_pair

import closeread
from closeread.cli import main
from closeread.corpus import notices
from closeread.corpus.downloads import DownloadError
from closeread.counts.estimates import Resampling
from closeread.exceptions import CloseReadWarning, InputError, RequestError
from closeread.formats.word_vectors import read_vectors
from closeread.leaderboard.declaration import FILE
from closeread.leaderboard.store import FolderStore
from closeread.leaderboard.store_files import digest, store_path, write_json
from closeread.tasks import find_format, load_procedure, procedure_names
from closeread.tasks.coref.files import take_documents
from closeread.tasks.coref.formats import FORMATS
from closeread.tasks.coref.formats.coref_data import make_rows
from closeread.tasks.mctaco.models import TrainedRun, TrainedRuns, read_runs
from closeread.tasks.mctaco.perturbation.rules import change_numbers, perturb
from closeread.tasks.mctaco.perturbation.units import normalize_units
from closeread.tasks.wikipossessions import articles
from closeread.tasks.wikipossessions.matching import normalize_name

MCTACO = "mctaco-sample/test"  # the board
SECONDS, GIGABYTES = 10, 2
"""What one input of some kilobytes may take on a busy machine."""

MOST_LINES = 25
DRAWING = ("plot scores", "plot possession")
"""The other plots draw the same texts, or none."""

RICH = """# global.Entity = eid-etype-head-other
# newdoc id = rich
# sent_id = 1
1	Ada	_	PROPN	_	_	2	nsubj	_	Entity=(e1-person-1-)
2	met	_	VERB	_	_	0	root	_	_
2.1	_	_	PRON	_	_	_	_	2:obj	Entity=(e2-person-1-)
3-4	dunno	_	_	_	_	_	_	_	_
3	do	_	AUX	_	_	2	dep	_	Entity=(e3[1/2]-thing-1-)
4	not	_	PART	_	_	2	dep	_	_
5	know	_	VERB	_	_	2	dep	_	Entity=(e3[2/2])

# sent_id = 2
1	They	_	PRON	_	_	0	root	_	Entity=(e4-person-1-)|SplitAnte=e1<e4,e2<e4
2	sang	_	VERB	_	_	1	dep	_	Bridge=e1<e3:part|Entity=(e3-thing-1-)

"""
ARRAU = "tea B-markable_1=set_1 word_1..word_2 referring\nis\nhot B-markable_2=set_1 referring\n"
TREEBANK_CASES = Path(__file__).parents[1] / "cases" / "treebanks"

FEW, RICHES = "--resamples 2", "in/more/rich.conllu in/more/rich2.conllu"
LABELED = "in/more/tool-key.json in/more/tool-response.json"
TREEBANKS = "in/more/treebanks/gold in/more/treebanks/a"
GROUP_FIELDS = {"coref": "treebank", "mctaco": "category", "tlinks": "folder", "tne": "domain"}
"""A field of each procedure whose scores can be means over groups."""

TREES = "in/more/key.v4_gold_conll in/more/response.v4_gold_conll"
ANAPHORA = "in/more/a.conllua in/more/b.conllua --metrics lea"
LINES = {
    "score-rich-matched": f"score coref {RICHES} --matching head --zeros dependent {FEW}",
    "score-rich-macro": f"score coref {RICHES} --average documents {FEW}",
    "score-anaphora": f"score coref {ANAPHORA} --split-antecedents score {FEW}",
    "score-gzip": f"score coref in/key.conll in/more/key.conll.gz {FEW}",
    "score-counts": f"score --from-counts in/counts.parquet --json {FEW}",
    "score-labels": f"score mctaco in/more/other-mctaco --config sample {FEW}",
    "score-arrays": f"score tne in/more/other-tne --config sample {FEW}",
    "score-timelines": f"score timeline in/more/other-timeline --config sample --missing empty {FEW}",
    "score-tsv": f"score mctaco in/mctaco.jsonl --gold in/more/gold.tsv --missing empty {FEW}",
    "score-csv": f"score wikipossessions in/wikipossessions.jsonl --gold in/more/gold.csv --missing empty {FEW}",
    "score-links": f"score matres in/more/links.jsonl --config sample --missing empty {FEW}",
    "convert-arrau": "convert coref in/more/ferry.CONLL -o out/a.jsonl",
    "convert-rich": "convert coref in/more/rich.conllu -o out/a.conllu",
    "convert-marked": "convert coref in/more/marked.txt -o out/a.jsonl",
}
"""Commands by the names of their targets, beside those of `shared.every_command`."""

UNLISTED = {
    "word_column": ["4"],
    "fields": ["in/more/fields.csv"],
    "tolerance": ["1"],
    "windows": ["none"],
    "layer": ["identity", "discourse_deixis"],
    "relation": ["same"],
    "entity_feature": ["label"],
    "annotator": ["ola"],
    "document_field": ["document"],
    "text_field": ["text"],
}
"""Values of options that have no list of them."""

READERS = {
    "closeread.formats.json_lines": "in/more/mctaco.jsonl",
    "closeread.tasks.coref.corpus_documents": "in/more/treebanks/gold",
    "closeread.tasks.marmara.corpus_files": "in/marmara",
    "closeread.tasks.timeline.cat_xml": "in/voyage",
    "closeread.tasks.timeline.timeline_txt": "in/more/other-timeline",
    "closeread.tasks.tlinks.corpus_links": "in/key",
}
"""Modules with formats that no line reads, and files or folders of these."""

REFUSING = ("refuse_file",)
"""Readers that read nothing."""

PAGE = """<div class="mw-parser-output"><p>A kettle <b>painted</b> in 1901.<sup class="reference">[1]</sup></p>
<h2><span class="mw-headline">History</span><span class="mw-editsection">[edit]</span></h2>
<ul><li>Ada had it</li><li>Ben sold it<br>for &pound;5</li></ul><table><tr><td>x</td></tr></table>
<div class="div-col"><p>More &amp; more</p></div><div style="display:none">hidden</div></div>
"""
TITLE = "The Blue Kettle (painting)"


def page(title, number, **more):
    """A wiki's answer about a page."""
    revision = {"revid": 1000 * number + 1, "parentid": 0, "timestamp": "2017-05-01T08:00:00Z"}
    return {
        "query": {
            "pages": [{"pageid": number, "title": title, "revisions": [revision], **more}],
        }
    }


def parsed(number, text):
    return {"parse": {"revid": 1000 * number + 1, "text": text}}


ANSWERS = [
    [page(TITLE, 7), parsed(7, PAGE)],
    [
        page(TITLE, 8),
        parsed(8, redirect_to("Old kettle")),
        page("Old kettle", 9),
        parsed(9, PAGE),
    ],
]
PHRASES = """thirty-two and a half months
about 2.5 hundred years, twice a week; once every 90 minutes
£1,200.50 at 10:30 on 3/4/1999, one of them by 2 o'clock
the estate of Dr. Ada O'Neil's (1815–1852), Jr. & Sons, Ltd
"""
TYPES = (
    *(
        pa.large_string(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.binary(),
        pa.int8(),
        pa.float16(),
        pa.bool_(),
    ),
    *(
        pa.decimal128(20, 2),
        pa.null(),
        pa.timestamp("ns", "Asia/Tokyo"),
        pa.duration("s"),
        pa.date32(),
    ),
    *(pa.list_(pa.string()), pa.map_(pa.string(), pa.string()), pa.struct([("id", pa.string())])),
)


class Target(NamedTuple):
    """What is fuzzed: what reads files, and the files that are changed; what it returns is compared."""

    call: object
    files: list


def make_targets():
    """All targets by name; their files are written into the working folder, in which they are to be called."""
    submission, lines = write_inputs(), {}
    write_more(Path("in/more"))
    for name, line in list_lines().items():
        is_of_a_store = any(
            word.startswith("out/") and Path("in", word[4:]).exists() for word in line
        )
        if not is_of_a_store and (line[0] != "plot" or name in DRAWING):
            lines[f"command-{name.replace(' ', '-')}"] = fill_in(line, submission)
    lines |= {name: tuple(line.split()) for name, line in LINES.items()}
    lines |= dict(list_option_lines())
    for corpus in CORPORA:
        words = (
            "score",
            corpus,
            f"in/more/{corpus}.jsonl",
            "--gold",
            f"in/more/{corpus}-gold.jsonl",
            *FEW.split(),
        )
        lines[f"score-{corpus}"] = (*words, "--missing", "empty")
    for name in DIALECTS:
        files = "in/more/key-wl.jsonl", f"in/more/response-{name}.jsonl"
        lines[f"align-{name}"] = ("score", "coref", *files, "--words", "align", *FEW.split())
    keys = sorted(Path("in/more").glob("key-*"))
    for path in keys:
        name = path.stem.removeprefix("key-")
        if name in FORMATS:
            files = str(path), str(path).replace("key-", "response-")
            lines[f"score-{name}"] = ("score", "coref", *files, *FEW.split())
            lines[f"align-{name}"] = ("score", "coref", *files, "--words", "align", *FEW.split())
            lines[f"convert-{name}"] = ("convert", "coref", str(path), "-o", "out/a.jsonl")
    for name, suffix in COREF_FORMATS.items():
        files = f"in/more/key{suffix}", f"in/more/response{suffix}"
        lines[f"score-{name}"] = ("score", "coref", *files, *FEW.split())
        if name != "coref_json":  # which has no words
            lines[f"align-{name}"] = ("score", "coref", *files, "--words", "align", *FEW.split())
        for to in (".conll", ".conllu", ".jsonl"):
            lines[f"convert-{name}-to-{to[1:]}"] = (
                "convert",
                "coref",
                f"in/more/key{suffix}",
                "-o",
                f"out/a{to}",
            )
    found = {
        name: Target(lambda line=line: run_line(line), list_files(line))
        for name, line in lines.items()
    }
    found |= {
        name: Target(lambda call=call, path=path: attempt(call, path), [path])
        for name, call, path in make_calls()
    }
    return {name: target for name, target in found.items() if target.files}


def list_option_lines():
    """A line for each value of each option of each procedure, with the first files that go with it."""
    for name in procedure_names():
        procedure = load_procedure(name)
        choices_by_option = {option.name: option.choices for option in procedure.options}
        for option, choices in choices_by_option.items():
            values = [GROUP_FIELDS[name]] if option == "group_by" else choices or UNLISTED[option]
            for value in values:
                words = ("--" + option.replace("_", "-"), value, *FEW.split())
                if value == "groups":
                    words += ("--group-by", GROUP_FIELDS[name])
                lines = [(*start, *words) for start in list_starts(name)]
                fit = next((line for line in lines if run_line(line)[0] == 0), None)
                assert fit, f"no files go with --{option} {value} of {name}"
                yield f"option-{name}-{option}-{value.rsplit('/')[-1]}", fit


def list_starts(name):
    """Beginnings of commands that score by a procedure."""
    if name in PAIRS:
        yield "score", name, *PAIRS[name]
        if name == "coref":
            for files in (RICHES, ANAPHORA, TREES, TREEBANKS, LABELED):
                yield "score", name, *files.split()
        if name == "tlinks":
            yield "score", name, "in/more/nested/key", "in/more/nested/response"
        return
    for corpus in (corpus for corpus, task in TASKS.items() if task == name and corpus in CORPORA):
        files = f"in/more/{corpus}.jsonl", "--gold", f"in/more/{corpus}-gold.jsonl"
        yield "score", corpus, *files


def list_files(line):
    """The files that a line reads, without large and hidden ones."""
    below = [
        path
        for word in line
        if word.startswith("in/")
        for path in (Path(word), *sorted(Path(word).rglob("*")))
    ]
    return [
        path
        for path in below
        if path.is_file() and path.name[0] != "." and path.stat().st_size < 200_000
    ]


def write_more(folder):
    """Write the files of `LINES`, and of `make_calls`."""
    folder.mkdir()
    for corpus in CORPORA:
        json_lines.write(folder / f"{corpus}.jsonl", system_rows(corpus))
        json_lines.write(folder / f"{corpus}-gold.jsonl", sample_gold(corpus))
    for side in ("key", "response"):
        for name in COREF_FORMATS:
            path = write_key(side, name)
            path.rename(folder / path.name)
        Path(f"{side}-records.jsonl").unlink()
    for side, records in (("key", KEY), ("response", RESPONSE)):
        write_registered(folder, side, records)
    for name, make in DIALECTS.items():
        write_lines(folder / f"key-{name}.jsonl", map(make, KEY))
        write_lines(folder / f"response-{name}.jsonl", map(make, RESPONSE))
    for task, corpus in {
        "mctaco": "mctaco",
        "tne": "tne",
        "timeline": "semeval2015_timeline",
    }.items():
        CASES[task].write(system_rows(corpus), folder / f"other-{task}", corpus)
    rich2 = RICH.replace(",e2<e4", "").replace("(e3-thing", "(e5-thing")
    key, response = random_pair(3)
    texts = {
        "rich.conllu": RICH,
        "rich2.conllu": rich2,
        "a.conllua": key,
        "b.conllua": response,
        "ferry.CONLL": ARRAU,
        "marked.txt": "Ann|[e1] met Bo|[e2] and her|[e1 dog|e1]\n",
        "links.jsonl": '{"document": "mill_fire", "tlinks": [{"source": "ei1", "relation": "BEFORE", "target": "ei2"}]}\n',
    }
    texts["fields.csv"] = "document,genre\na,letter\nb,news\n"
    texts["gold.tsv"] = find_format("mctaco", "mctaco_tsv").write(sample_gold("mctaco"))
    texts["gold.csv"] = find_format("wikipossessions", "possession_csv").write(
        sample_gold("wikipossessions")
    )
    copytree(TREEBANK_CASES, folder / "treebanks")
    for side in PAIRS["tlinks"]:
        copytree(side, folder / "nested" / Path(side).name / "a")
    texts["tool-key.json"] = label_studio({"ola": ENTITIES})
    texts["tool-response.json"] = label_studio({"ola": OTHER_ENTITIES, "per": ENTITIES})
    report = closeread.score(
        "mctaco", system_rows("mctaco"), config="sample", resampling=Resampling(2)
    )
    texts["report.json"] = json.dumps(report.to_dict(), indent=1)
    scores = {"exact_match": 0.25, "f1": 0.5}
    run = TrainedRuns(
        [TrainedRun(f"seed-{seed}", 100, seed, 20, 2, scores, {}, 1.5) for seed in range(2)]
    ).to_dict()
    texts |= {"a.txt": PHRASES, "a.html": PAGE, "run.json": json.dumps(run)}
    texts |= {
        f"answers{i}": "\n".join(map(json.dumps, answers)) for i, answers in enumerate(ANSWERS)
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "key.conll.gz").write_bytes(gzip.compress(Path("in/key.conll").read_bytes(), mtime=0))
    lines = b"ev 1 -0.5\nan 2e-1 3\nEv .5 +7\n"
    rows = [line.split() for line in lines.splitlines()]
    entries = b"".join(word + b" " + np.array(numbers, "<f4").tobytes() for word, *numbers in rows)
    vectors = {
        "word2vec.txt": b"3 2\n" + lines,
        "glove.txt": lines,
        "word2vec.bin": b"3 2\n" + entries,
    }
    board = make_store(Path("board"), sample_board())
    about = Path(
        board.place,
        store_path("submissions", MCTACO, send_answers(board, Path(), "First", right=30)),
    )
    arrival = {
        "about.json": about,
        "predictions.jsonl": Path("board", json.loads(about.read_text())["predictions"]),
    }
    (folder / "arrival").mkdir()
    for name, path in {**arrival, FILE: Path("board", FILE)}.items():
        path.rename(folder / "arrival" / name)
    shutil.rmtree("board")
    for name, data in {
        **vectors,
        "packed.gz": gzip.compress(vectors["word2vec.bin"], mtime=0),
    }.items():
        (folder / name).write_bytes(data)


def write_registered(folder, side, records):
    """Write documents in the formats that are registered, besides those of `COREF_FORMATS`."""
    documents = take_documents(
        [DIALECTS["e2e"](record) for record in records], "records", is_response=False
    )
    for name, form in FORMATS.items():
        if form.module in COREF_FORMATS or name == "arrau":  # of which there is a line
            continue
        path = folder / f"{side}-{name}{form.suffixes[0]}"
        if name == "coref-data":  # whose JSON Lines are a dialect
            pq.write_table(pa.Table.from_pylist(make_rows(documents.documents)), path)
        else:
            path.write_text(find_format("coref", form.module).write(documents.documents), "utf-8")


def show(parsed):
    """What was read, as text."""
    return repr((list(parsed.records), parsed.problems))


def make_calls():
    """What no command reads: the name of each target, a function of a path, and the path."""
    folder = Path("in/more")
    for name in ("word2vec.txt", "glove.txt", "word2vec.bin", "packed.gz"):
        yield (
            f"vectors-{name}",
            lambda path: read_vectors(path, ("ev", "EV", "an")).matrix.tolist(),
            folder / name,
        )
    for name, source in READERS.items():
        reader = importlib.import_module(name).FORMAT
        for path in list_files([source])[:3]:
            at = f"read-{name.removeprefix('closeread.')}-{path.name}"
            if Path(source).is_dir():
                yield (
                    f"{at}-folder",
                    lambda path, read=reader.folder.read, source=source: show(read(Path(source))),
                    path,
                )
            if reader.read.__name__ not in REFUSING:
                yield at, lambda path, read=reader.read: show(read(path, "fuzzed")), path
    yield "text-phrases", change_phrases, folder / "a.txt"
    yield (
        "text-article",
        lambda path: extract(path.read_bytes().decode("utf-8", "replace")),
        folder / "a.html",
    )
    yield "load-report", lambda path: closeread.load_report(path).to_dict(), folder / "report.json"
    yield "load-runs", lambda path: str(read_runs(path.parent)), folder / "run.json"
    for name in ("about.json", "predictions.jsonl"):
        yield f"arrival-{name}", judge_arrival, folder / "arrival" / name
    for i in range(len(ANSWERS)):
        yield f"wiki-{i}", fetch, folder / f"answers{i}"
    for corpus in CORPORA:
        yield (
            f"parquet-{corpus}",
            lambda path, corpus=corpus: score_table(corpus, path),
            folder / f"{corpus}.jsonl",
        )


def judge_arrival(path):
    """Judge a submission whose files have the names that their digests give them."""
    shutil.rmtree("out", ignore_errors=True)
    predictions, about, declared = (
        (path.parent / name).read_bytes() for name in ("predictions.jsonl", "about.json", FILE)
    )
    home = store_path("submissions", MCTACO, digest(predictions), ".jsonl")
    with suppress(ValueError, RecursionError):
        said = json.loads(about)
        if isinstance(said, dict) and "predictions" in said:
            about = write_json({**said, "predictions": home})
    files = {
        FILE: declared,
        home: predictions,
        store_path("submissions", MCTACO, digest(about)): about,
    }
    for name, data in files.items():
        Path("out/board", name).parent.mkdir(parents=True, exist_ok=True)
        Path("out/board", name).write_bytes(data)
    store = FolderStore(Path("out/board"))
    done = judge_here(store, Path("out/cache"))
    assert not done.errors
    return done, drop_hidden(read_tree("out/board"))


def change_phrases(path):
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    rules = (
        normalize_name,
        normalize_units,
        lambda text: normalize_units(text, rule="official"),
        perturb,
    )
    changes = [
        lambda text, rule=rule: list(change_numbers(text, rule))
        for rule in ("plus_one", "times_ten")
    ]
    return [[rule(line) for rule in (*rules, *changes)] for line in lines]


def extract(html):
    text = articles.extract_text(html)
    assert not articles.UNSAFE.search(text), text
    return (
        text,
        articles.count_sections(text),
        articles.count_words(text),
        articles.strip_marks(text),
    )


class Answers:
    """A wiki with these answers, one after the other; each is a line."""

    url = articles.WIKIPEDIA

    def __init__(self, data):
        self.lines = iter(data.split(b"\n"))

    def ask(self, **_):
        try:
            return json.loads(next(self.lines, b""))
        except ValueError:
            raise DownloadError("no JSON") from None


def fetch(path):
    try:
        found = articles.fetch_page(Answers(path.read_bytes()), TITLE, date(2017, 6, 12))
    except (articles.NoPageError, DownloadError) as error:
        raise RequestError(str(error)) from None
    assert found.text
    assert not articles.UNSAFE.search(found.text)
    return found


def score_table(corpus, path):
    """Score rows as an Arrow table, and after a change in memory, with one column of another type."""
    data = path.read_bytes()
    try:
        table = pa.Table.from_pylist(
            [json.loads(line) for line in data.decode("utf-8", "surrogatepass").splitlines()]
        )
        rng = random.Random(data)
        number, kind = rng.randrange(table.num_columns), rng.choice((None, *TYPES))
        if kind is not None:
            table = table.set_column(
                number, table.column_names[number], pa.nulls(table.num_rows, kind)
            )
        pq.write_table(table, pa.BufferOutputStream())
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        pa.ArrowException,
    ):
        return None  # no Parquet file has such rows
    return closeread.score(
        corpus, table, config="sample", missing="empty", resampling=Resampling(2)
    ).to_dict()


def run_line(line):
    """What a command prints and writes."""
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    notices._shown.clear()
    with standing_in():
        done = CliRunner().invoke(main, line, catch_exceptions=False)
    assert done.exit_code in (0, 1, 2), done.output
    assert "enough memory" not in done.stderr
    assert done.stderr.replace("\n", "").isprintable(), done.stderr
    check_message(
        "\n".join(one for one in done.stderr.splitlines() if not one.startswith("note: "))
    )
    assert not (done.exit_code and read_tree("out")), (
        f"refused, but something was written: {done.stderr}"
    )
    return done.exit_code, done.stdout, done.stderr, read_tree("out")


def attempt(call, path):
    """0 and what a function returns, as text, or 1 and the message with which it refuses."""
    notices._shown.clear()
    try:
        return 0, repr(call(path))
    except (InputError, RequestError) as error:
        message = str(error)
    check_message(message)
    return 1, message


def check_message(message):
    """A message is short, and has nothing that a terminal may act on."""
    is_fit = message.replace("\n", "").isprintable() and message.count("\n") <= MOST_LINES
    assert is_fit, f"a message that is not fit for a terminal: {message!r}"


class TooSlowError(BaseException):
    """No `except Exception` may catch it."""


@contextmanager
def alarm(seconds):
    """Raise an error in the block when the time is over."""

    def end(number, frame):
        raise TooSlowError(
            f"more than {seconds} seconds: {''.join(traceback.format_stack(frame)[-3:])}"
        )

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def limited_memory():
    """Let this process take few gigabytes more than it has in the block, so that too much is a MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + GIGABYTES * 2**30, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def find_fault(call, path, data):
    """Say what is wrong with how other content of a file is read; None if nothing is."""
    valid, names = path.read_bytes(), sorted(Path("in").rglob("*"))
    path.write_bytes(data)
    try:
        with limited_memory(), alarm(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CloseReadWarning)
            first, second = call(), call()
        if first != second:
            return f"not alike twice: {first!r:.500} and {second!r:.500}"
        if sorted(Path("in").rglob("*")) != names or path.read_bytes() != data:
            return "something was written"
    except (Exception, TooSlowError):
        return traceback.format_exc()
    finally:
        path.write_bytes(valid)
    return None


def find_faults(targets, seed, seconds):
    """Feed changed files to targets in turn until the time is over, but at least one to each.

    Yields:
        The name of the target, the path, its content, and what is wrong or None; one fault of each kind.
    """
    rng, kinds, n_inputs = random.Random(seed), set(), 0
    others = [path.read_bytes() for target in targets.values() for path in target.files]
    end = time.monotonic() + seconds
    while n_inputs < len(targets) or time.monotonic() < end:
        for name in rng.sample(sorted(targets), len(targets)):
            path = rng.choice(targets[name].files)
            data = mutate(rng, path.read_bytes(), others)
            what = find_fault(targets[name].call, path, data)
            n_inputs += 1
            # Faults of a kind have in common where an error was raised, and its kind.
            places = re.findall(r'File ".*?([^/"]+)", line (\d+)', what or "")
            kind = what and (
                *places[-1:],
                re.sub(r"[0-9]+", "0", what.strip().splitlines()[-1])[:60],
            )
            if kind not in kinds:
                yield name, path, data, what
            kinds |= {kind} - {None}
            if n_inputs >= len(targets) and time.monotonic() > end:
                break


def keep(kept, name, path, data):
    """Write an input into the folder of those that are tried again by every test; return its path."""
    place = kept / name / hashlib.sha256(data).hexdigest()[:12] / path.relative_to("in")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def list_kept(kept):
    """The kept inputs: the name of the target, the path of the changed file, and its content."""
    for place in sorted(place for place in kept.rglob("*") if place.is_file()):
        name, _, *rest = place.relative_to(kept).parts
        yield name, Path("in", *rest), place.read_bytes()


PIECES = (
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b" ",
        b"\0",
        b"\x1b[31m",
        b"\x7f",
        b"\x9b",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xc3",
    ),
    *(
        text.encode()
        for text in (
            "\u2028",
            "\u202e",
            "\u00a0",
            "\x85",
            "İ",
            "ß",
            "\ufb01",
            "e\u0301",
            "😀",
            "٣",
            "²",
        )
    ),
    *rb"""" ' \ { } [ ] ( ) | < > & &amp; &#0; _ - * # = : , ; / .. % + -1 0 00 1 1.0 1e5 1e999 NaN Infinity null true
        2147483647 2147483648 9223372036854775808 -9223372036854775809 <![CDATA[ --> <?xml?> XXXX-XX-XX""".split(),
    *(
        b"\xed\xa0\x80",
        b"9" * 400,
        b"[" * 2000,
        b"<a>" * 300,
        b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
        b'"id": "x", ',
    ),
    *(b"# ", b"#begin document (a)", b"#end document", b"# newdoc", b"# sent_id = 1"),
)
RAW = (
    "NaN",
    "-Infinity",
    "1e400",
    "-0.0",
    "9" * 60,
    r'"\ud800"',
    r'"\u001b[31m"',
    '{"id": 1, "id": 2}',
    "[" * 60 + "]" * 60,
)
"""What Python's JSON can't write; a number in `@` stands for it."""

VALUES = (
    None,
    True,
    0,
    1,
    -1,
    2**31,
    2**63,
    10**30,
    0.5,
    "",
    " ",
    "x",
    "0",
    "é",
    [],
    {},
    [[]],
    [0],
)
VALUES = (*VALUES, *(f"@{i}@" for i in range(len(RAW))))
WORD = re.compile(rb"[^\s<>\"'|,;:=()\[\]{}]+")


def mutate(rng, data, others):
    """Return other bytes: changes to bytes, words, lines and values of JSON, with pieces of other files."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice((change_bytes, change_words, change_words, change_lines, change_json))(
            rng, data, others
        )
    return data


def change_bytes(rng, data, others):
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 4, 40, 4000)))
    before, cut, after, other = data[:start], data[start:end], data[end:], rng.choice(others)
    encoding = rng.choice(("utf-16", "utf-8-sig", "latin-1", "utf-7", "utf-32"))
    return rng.choice(
        (
            before + bytes([cut[0] ^ 1 << rng.randrange(8)]) + cut[1:] + after if cut else before,
            before + after,
            before + cut + cut * rng.choice((1, 1, 2, 50)) + after,
            before + other[rng.randrange(len(other) + 1) :],
            data.decode("utf-8", "replace").encode(encoding, "replace"),
            before + rng.choice(PIECES) + cut * rng.randrange(2) + after,
        )
    )


def change_words(rng, data, others):
    """Put another word of the same file, another number, or one that is no word, in the place of a word."""
    words = list(WORD.finditer(data))
    if not words:
        return data
    one, other = rng.choice(words), rng.choice(words)
    digits = re.search(rb"[0-9]{1,30}", one.group())
    number = digits and str(int(digits.group()) + rng.choice((-1, 1, 10, 2**31, 2**63))).encode()
    new = rng.choice(
        (
            other.group(),
            other.group(),
            rng.choice(PIECES),
            b"",
            number or one.group() + rng.choice(PIECES),
        )
    )
    return data[: one.start()] + new + data[one.end() :]


def change_lines(rng, data, others):
    lines, found = (one.splitlines(keepends=True) or [b""] for one in (data, rng.choice(others)))
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    separator = rng.choice((b"\t", b",", b" ", b"|", b";"))
    cells = lines[place].split(separator)
    rng.shuffle(cells)
    new = rng.choice(
        ([], [lines[other]] * 2, [lines[place], rng.choice(found)], [separator.join(cells)])
    )
    return b"".join((*lines[:place], *new, *lines[place + 1 :]))


def change_json(rng, data, others):
    """Change a value, a key or the length of an array in one line of JSON; words of what is none."""
    lines = data.splitlines()
    place = rng.randrange(len(lines)) if lines else 0
    try:
        value = [json.loads(lines[place])]
    except (ValueError, IndexError, RecursionError):
        return change_words(rng, data, others)
    holder, key = rng.choice(list(walk(value)))
    old, new = holder[key], rng.choice(VALUES)
    kind = rng.randrange(4)
    if kind == 0 and holder is not value:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(("x", "", "id", "é", key.upper()))] = rng.choice((old, new))
    elif kind == 2 and isinstance(old, int | str):
        holder[key] = old + rng.choice(
            (-1, 1, 10, 2**31) if isinstance(old, int) else (" ", "x", "\u00a0", "\u0301", "1")
        )
    elif kind == 2 and isinstance(old, list):
        holder[key] = rng.sample(old, len(old)) * rng.choice((1, 2))
    else:
        holder[key] = new
    text = json.dumps(value[0], ensure_ascii=rng.random() < 0.5)
    lines[place] = re.sub(r'"@([0-9]+)@"', lambda found: RAW[int(found[1])], text).encode(
        "utf-8", "surrogatepass"
    )
    return b"\n".join(lines) + b"\n"


def walk(holder):
    """Yield the place of every value: what holds it, and its key or number there."""
    for key, one in list(holder.items()) if isinstance(holder, dict) else enumerate(holder):
        yield holder, key
        if isinstance(one, dict | list):
            yield from walk(one)
