"""All that reads: formats, submissions, gold, converters and stored results, each with small valid files of ours."""

import gzip
import json
import os
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from shared import json_lines
from shared.doors import (
    CASES,
    COREF_FORMATS,
    CORPORA,
    KEY,
    TIMEML_FILES,
    sample_gold,
    system_rows,
    with_heads,
    write_key,
)
from shared.fuzzing.command_targets import make_command_targets
from shared.fuzzing.stored_targets import make_stored_targets
from shared.fuzzing.target import Target
from shared.fuzzing.text_targets import make_text_targets
from shared.fuzzing.watching import is_shown_safely
from shared.marmara_sample import SAMPLE as MARMARA
from shared.universal_anaphora import random_pair

import closeread
from closeread.corpus.names import load_corpus
from closeread.corpus.submissions import write_submission
from closeread.counts.comparison import Comparison
from closeread.counts.estimates import Resampling
from closeread.counts.report import Report
from closeread.counts.systems import SystemsTable
from closeread.exceptions import CloseReadWarning
from closeread.formats.text import read_lines
from closeread.formats.timeml import dump_timeml, read_timeml
from closeread.formats.word_vectors import read_vectors
from closeread.formats.xml_tree import read_xml
from closeread.tasks import find_format
from closeread.tasks.mctaco.models import TrainedRun, TrainedRuns, read_runs

FEW = Resampling(2)
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
TIMELINES = Path(__file__).parents[3] / "loaders/semeval2015_timeline/sample"
OTHER_FORMS = {"mctaco": "other.txt", "tne": "other.jsonl", "coref": "other.conll"}
"""Files in the other submission format of a task; that of timelines is a folder."""


def make_targets():
    """All targets by name."""
    with TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore", CloseReadWarning)
        before = Path.cwd()
        os.chdir(scratch)
        try:
            return {
                **_make_formats(),
                **_make_doors(),
                **_make_coreference(),
                **_make_links(),
                **_make_converters(),
                **_make_other_converters(),
                **_make_marmara(),
                **_make_word_vectors(),
                **_make_stored(),
                **make_command_targets(),
                **make_stored_targets(),
                **make_text_targets(),
            }
        finally:
            os.chdir(before)


def _single(name, data, call):
    return Target({name: data}, (name,), lambda folder, _: call(folder / name))


def _list(parsed):
    return [list(part) for part in parsed]


def _read(folder, name, task, format_name):
    return _list(find_format(task, format_name).read(folder / name, "test"))


def _make_formats():
    """Readers of single files, without a corpus's checks."""
    texts = {
        ("mctaco", "mctaco_tsv"): ("a.tsv", find_format("mctaco", "mctaco_tsv").write(sample_gold("mctaco")[:8])),
        ("tne", "tne_jsonl"): ("a.jsonl", find_format("tne", "tne_jsonl").write(sample_gold("tne")[:2])),
        ("wikipossessions", "possession_csv"): (
            "a.csv",
            find_format("wikipossessions", "possession_csv").write(sample_gold("wikipossessions")),
        ),
        ("coref", "arrau"): (
            "ferry.CONLL",
            "tea B-markable_1=set_1 word_1..word_2 referring\nis\nhot B-markable_2=set_1 referring\n",
        ),
    }
    found = {
        f"read-{key[1]}": _single(name, text.encode(), lambda path, key=key: _read(path.parent, path.name, *key))
        for key, (name, text) in texts.items()
    }
    xml = TIMEML_FILES["key"]["a"].encode()
    found["read-xml"] = _single("a.xml", xml, lambda path: [one.line for one in read_xml(path).elements()])
    found["read-timeml"] = _single("a.tml", xml, lambda path: dump_timeml(read_timeml(path)))
    found["read-lines"] = _single("a.txt", "a\r\nb\n\ufeffc\u2028d\n".encode(), lambda path: [*read_lines(path)])
    return found


def _score(name, *, by=(), **options):
    def call(folder, _):
        places = {key: folder / value for key, value in options.items() if key in ("predictions", "gold")}
        rest = {key: value for key, value in options.items() if key not in places}
        predictions = places.pop("predictions")
        report = closeread.score(name, predictions, resampling=FEW, by=by, **places, **rest)
        return json.dumps(report.to_json(), allow_nan=False)

    return call


def _validate(corpus, path):
    verdict = str(closeread.validate(corpus, path, config="sample"))
    if not is_shown_safely(verdict):
        raise AssertionError(f"a verdict that is not fit for a terminal: {verdict!r}")
    return verdict


def _score_rows(corpus, path):
    """Score rows in memory; Python's own reader of JSON refuses little."""
    try:
        rows = [json.loads(line) for line in path.read_bytes().decode("utf-8", "surrogateescape").splitlines()]
    except (ValueError, RecursionError):
        return None
    report = closeread.score(corpus, rows, config="sample", missing="empty", resampling=FEW)
    return json.dumps(report.to_json(), allow_nan=False)


def _make_doors():
    """Submissions and gold of the corpora: scored, validated and read."""
    found = {}
    for corpus in CORPORA:
        gold = sample_gold(corpus)
        task = load_corpus(corpus).task.split(".")[0]
        rows = system_rows(corpus)
        files = {"system.jsonl": json_lines.dump(rows).encode(), "gold.jsonl": json_lines.dump(gold).encode()}
        if task in OTHER_FORMS:
            CASES[task].write(rows, Path(OTHER_FORMS[task]), corpus)
            files[OTHER_FORMS[task]] = Path(OTHER_FORMS[task]).read_bytes()
        for name in files:
            if name == "gold.jsonl":
                call = _score(corpus, predictions="system.jsonl", gold=name, missing="empty")
            else:
                call = _score(corpus, predictions=name, config="sample", missing="empty")
            found[f"score-{corpus}-{name.partition('.')[0]}"] = Target(files, (name,), call)
        found[f"validate-{corpus}"] = Target(
            files,
            ("system.jsonl",),
            lambda folder, _, corpus=corpus: _validate(corpus, folder / "system.jsonl"),
        )
        found[f"score-{corpus}-rows"] = Target(
            files, ("system.jsonl",), lambda folder, _, corpus=corpus: _score_rows(corpus, folder / "system.jsonl")
        )
    rows = system_rows("semeval2015_timeline")
    write_submission(Path("timelines"), rows, load_corpus("semeval2015_timeline"))
    files = {f"lines/{path.name}": path.read_bytes() for path in Path("timelines").iterdir()}
    found["score-timeline-folder"] = Target(
        files, tuple(files), _score("timeline", predictions="lines", config="sample", missing="empty")
    )
    return found


def _make_coreference():
    """Keys and responses in each format."""
    found = {}
    for name, suffix in COREF_FORMATS.items():
        files = {f"{side}{suffix}": write_key(side, name).read_bytes() for side in ("key", "response")}
        found[f"score-coref-{name}"] = Target(
            files, tuple(files), _score("coref", predictions=f"response{suffix}", gold=f"key{suffix}")
        )
    headed = write_key("key", "conllu", with_heads(KEY)).read_bytes()
    for name, options in (
        ("matched", {"matching": "head", "zeros": "dependent"}),
        ("macro", {"average": "macro", "keep_singletons": "false", "duplicates": "reference"}),
        ("plain", {}),
    ):
        files = {
            "key.conllu": RICH.encode(),
            "response.conllu": RICH.replace(",e2<e4", "").replace("(e3-thing", "(e5-thing").encode(),
        }
        call = _score("coref", predictions="response.conllu", gold="key.conllu", **options)
        found[f"score-conllu-{name}"] = Target(files, tuple(files), call)
    found["score-conllu-heads"] = Target(
        {"key.conllu": headed}, ("key.conllu",), _score("coref", predictions="key.conllu", gold="key.conllu")
    )
    key, response = (side.encode() for side in random_pair(3))
    files = {"key.conllua": key, "response.conllua": response}
    splits = {"metrics": ("muc", "b3", "ceafe", "lea", "bridging_entities"), "split_antecedents": "score"}
    for name, options in (("rich", {}), ("split", splits)):
        call = _score("coref", predictions="response.conllua", gold="key.conllua", **options)
        found[f"score-conllua-{name}"] = Target(files, tuple(files), call)
    return found


def _make_links():
    files = {f"{side}/{name}.tml": text.encode() for side, one in TIMEML_FILES.items() for name, text in one.items()}
    return {
        "score-tlinks": Target(files, tuple(files), _score("tlinks", predictions="response", gold="key", by="type"))
    }


def _make_converters():
    """Converters; what they write is read again."""
    found = {}
    sources = {name: (suffix, write_key("key", name).read_bytes()) for name, suffix in COREF_FORMATS.items()}
    sources["rich"] = (".conllu", RICH.encode())
    for name, (suffix, data) in sources.items():
        # The others can't express its discontinuous mention.
        for to in (".conllu", ".conllua") if name == "rich" else COREF_FORMATS.values():
            found[f"convert-{name}-to-{to[1:]}"] = Target(
                {f"key{suffix}": data}, (f"key{suffix}",), _convert_coref(suffix, to)
            )
    return found


def _make_other_converters():
    """Documents of TimeLine, predictions for TNE, and tables of errors and agreement."""
    document = min((TIMELINES / "corpus_trackB_CAT").iterdir())
    closeread.convert("timeline", document, "a.tml")
    cat, tml = document.read_bytes(), Path("a.tml").read_bytes()
    Path("tne.jsonl").write_text(json_lines.dump(sample_gold("tne")), "utf-8")
    files = {"a.jsonl": json_lines.dump(system_rows("tne")).encode(), "clusters.jsonl": Path("tne.jsonl").read_bytes()}
    pair = {f"{side}.conll": write_key(side, "conll").read_bytes() for side in ("key", "response")}

    def convert_tne(folder, output):
        options = {"config": "sample", "form": "gold", "close": True, "clusters": folder / "clusters.jsonl"}
        return closeread.convert("tne", folder / "a.jsonl", **options)

    def convert_document(suffix, to):
        def call(folder, output):
            closeread.convert("timeline", folder / f"a{suffix}", output / f"new{to}")
            text = (output / f"new{to}").read_text("utf-8")
            (output / f"new{to}").unlink()
            return text

        return call

    return {
        "convert-cat": Target({"a.xml": cat}, ("a.xml",), convert_document(".xml", ".tml")),
        "convert-timeml": Target({"a.tml": tml}, ("a.tml",), convert_document(".tml", ".xml")),
        "convert-tne": Target(files, tuple(files), convert_tne),
        "errors-coref": Target(
            pair,
            tuple(pair),
            lambda folder, _: closeread.errors("coref", folder / "key.conll", folder / "response.conll").to_json(),
        ),
        "agreement-coref": Target(
            pair,
            tuple(pair),
            lambda folder, _: closeread.agreement("coref", folder / "key.conll", folder / "response.conll").to_json(),
        ),
        "score-gzip": Target(
            {"a.conll.gz": gzip.compress(pair["key.conll"], mtime=0), "key.conll": pair["key.conll"]},
            ("a.conll.gz",),
            _score("coref", predictions="a.conll.gz", gold="key.conll"),
        ),
    }


def _convert_coref(suffix, to):
    def call(folder, output):
        path = output / f"new{to}"
        closeread.convert("coref", folder / f"key{suffix}", path)
        closeread.convert("coref", path)  # what we write we can read
        text = path.read_text("utf-8")
        path.unlink()
        return text

    return call


def _make_marmara():
    """The corpus's files, which belong together."""
    changed = ("treebank/77000112.xml", "coreference/77000112.xml")
    lists, given = "annotations/77000112/anna.txt", "given/77000112.conll"
    files = {path: (MARMARA / path).read_bytes() for path in (*changed, lists, given)}

    def read(folder, _):
        return closeread.convert("marmara_coref", folder / "coreference", treebank=folder / "treebank")

    def read_given(folder, _):
        return closeread.convert("given", folder / "coreference", treebank=folder / "treebank")

    def read_equalities(folder, _):
        return closeread.convert("equalities", folder / "annotations/77000112/anna.txt", given=folder / given)

    return {
        "marmara-coreference": Target(files, changed, read),
        "marmara-given": Target(files, changed, read_given),
        "marmara-equalities": Target(files, (lists, given), read_equalities),
    }


def _make_word_vectors():
    """Word vectors in each format."""
    lines = b"ev 1 -0.5\nan 2e-1 3\nEv .5 +7\n"
    rows = [line.split() for line in lines.splitlines()]
    entries = b"".join(word + b" " + np.array(numbers, "<f4").tobytes() for word, *numbers in rows)
    files = {"word2vec.txt": b"3 2\n" + lines, "glove.txt": lines, "word2vec.bin": b"3 2\n" + entries}
    files["packed.gz"] = gzip.compress(files["word2vec.bin"], mtime=0)

    def read(folder, _):
        read_all = [read_vectors(folder / name, ("ev", "EV", "an", "\xa0")) for name in files]
        return [(found.matrix.tolist(), found.rows) for found in read_all]

    return {"word-vectors": Target(files, tuple(files), read)}


def _make_stored():
    """Reports, comparisons and tables as JSON."""
    Path("one.jsonl").write_text(json_lines.dump(system_rows("mctaco")), "utf-8")
    report = closeread.score("mctaco", "one.jsonl", config="sample", resampling=FEW)
    compared = closeread.compare("mctaco", "one.jsonl", "one.jsonl", config="sample", resampling=FEW)
    found = {}
    for name, value, kind in (("report", report, Report), ("comparison", compared, Comparison)):
        data = json.dumps(value.to_json(), indent=1).encode()
        found[f"load-{name}"] = _single("a.json", data, lambda path, kind=kind: kind.load(path).to_json())
    both = {"a": report, "b": report}
    table = closeread.table("mctaco", both, resampling=FEW) if hasattr(closeread, "table") else None
    if isinstance(table, SystemsTable):
        data = json.dumps(table.to_json(), indent=1).encode()
        found["load-table"] = _single("a.json", data, lambda path: SystemsTable.load(path).to_json())
    scores = {"exact_match": 0.25, "f1": 0.5}
    runs = TrainedRuns([TrainedRun(f"seed-{seed}", 100, seed, 20, 2, scores, {}, 1.5) for seed in range(2)])
    data = json.dumps(runs.to_json(), indent=1).encode()
    found["load-runs"] = _single("run.json", data, lambda path: [(own := read_runs(path.parent)).to_json(), str(own)])
    return found
