"""The code that a generated dataset depends on: all that its reading runs through, and nothing else."""

import json

import pytest
from shared.package_copy import copy_package, run_with

from closeread.corpus.names import corpus_names

pytestmark = pytest.mark.gate

TASKS = {
    "marmara_coref": "coref/marmara",
    "mctaco": "mctaco",
    "semeval2015_timeline": "timeline",
    "tne": "tne",
    "wikipossessions": "wikipossessions",
}
ALL = set(TASKS)

DIGESTS = """
import json, pathlib, sys
from closeread.corpus.names import corpus_names
from closeread.hf.reading_code import digest_sources

def digests():
    digest_sources.cache_clear()
    return {name: digest_sources(name)[1] for name in corpus_names()}

package, before, changed = pathlib.Path("closeread"), digests(), []
for group in json.loads(sys.argv[1]):
    texts = {name: (package / name).read_bytes() for name in group}
    for name, text in texts.items():
        (package / name).write_bytes(text + b"\\n")
    changed.append([corpus for corpus, digest in digests().items() if digest != before[corpus]])
    for name, text in texts.items():
        (package / name).write_bytes(text)
assert digests() == before
print(json.dumps(changed))
"""

LOADED = """
import json, sys
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
read_gold(load_corpus(sys.argv[1]), "sample")
print(json.dumps([name for name in sys.modules if name.startswith("closeread")]))
"""

NO_READING = {"closeread", "closeread._version", "closeread.hf.register", "closeread.schemas"}
"""What every import of ours loads, whatever it is for, and a package without code."""

EXPECTED = {
    "tasks/mctaco/mctaco_tsv.py": {"mctaco"},
    "tasks/mctaco/rules.py": {"mctaco"},
    "tasks/tne/tne_jsonl.py": {"tne"},
    "tasks/tne/columns.py": {"tne"},
    "tasks/tne/rules.py": {"tne"},
    "tasks/tne/kernels/links.py": {"tne"},
    "tasks/wikipossessions/possession_csv.py": {"wikipossessions"},
    "tasks/wikipossessions/kernels/anchors.py": {"wikipossessions"},
    "tasks/timeline/timeline_txt.py": {"semeval2015_timeline"},
    "tasks/timeline/timeline_mentions.py": {"semeval2015_timeline"},
    "tasks/timeline/cat_xml.py": {"semeval2015_timeline"},
    "tasks/timeline/kernels/timelines.py": {"semeval2015_timeline"},
    "formats/timeml.py": {"semeval2015_timeline"},
    "tasks/coref/marmara/treebank_xml.py": {"marmara_coref"},
    "tasks/coref/marmara/coreference_xml.py": {"marmara_coref"},
    "tasks/coref/marmara/rules.py": {"marmara_coref"},
    "tasks/coref/conllu_rows.py": {"marmara_coref"},  # whose treebank may be CoNLL-U
    "loaders/semeval2015_timeline/released.sha256": {"semeval2015_timeline"},
    **{f"schemas/{name}.json": {name} for name in ALL},
    **{f"loaders/{name}/declaration.py": {name} for name in ALL},
    **{f"loaders/{name}/{name}.py": {name} for name in ALL},
    "records.py": ALL,
    "exceptions.py": ALL,
    "formats/text.py": ALL,
    "formats/gzipped.py": ALL,
    "corpus/gold.py": ALL,
    "corpus/judging.py": ALL,
    "corpus/schema.py": ALL,
    "hf/builder.py": ALL,
    "hf/features.py": ALL,
}
OF_CONLLU = (
    *("__init__", "columns", "relations", "conll_cells", "conll_text"),
    *(f"conllu_{part}" for part in ("cells", "entities", "headers", "mentions", "misc", "relations", "rows")),
)
"""What reads the rows of CoNLL-U, in which a user may have the treebank of Marmara."""

UNREAD = ("baselines", "facts", "procedure", "reproduction", "agreement", "plots", "adjudication", "explain")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, to be changed line by line."""
    return copy_package(tmp_path_factory.mktemp("package"))


def find_changed(package, *groups):
    """The corpora whose code has changed if all files of a group have a line more, for each group."""
    return json.loads(run_with(package, "-c", DIGESTS, json.dumps(groups)))


def test_a_changed_line_rebuilds_what_it_is_read_by(package):
    changed = find_changed(package, *([name] for name in EXPECTED))
    assert dict(zip(EXPECTED, map(set, changed), strict=True)) == EXPECTED


def test_a_line_that_no_reading_runs_through_rebuilds_nothing(package):
    root = package / "closeread"
    files = [root / f"tasks/{task}/{role}.py" for task in TASKS.values() for role in UNREAD]
    files = [file for file in files if file.exists()]
    files += [*root.glob("cli/**/*.py"), *root.glob("counts/*.py"), root / "scoring.py"]
    files += [file for file in root.glob("tasks/coref/*.py") if file.stem not in OF_CONLLU]
    assert {file.stem for file in files} >= {*UNREAD, "conll", "score", "table"}
    names = [str(file.relative_to(root)) for file in files]
    assert find_changed(package, names) == [[]]


@pytest.mark.parametrize("corpus", corpus_names())
def test_whatever_reading_loads_is_in_the_key(corpus, package):
    from closeread.hf.reading_code import reading_modules

    loaded = set(json.loads(run_with(package, "-c", LOADED, corpus)))
    assert loaded - NO_READING <= set(reading_modules(corpus))


@pytest.mark.parametrize("corpus", corpus_names())
def test_what_is_only_checked_is_not_read(corpus):
    from closeread.hf.reading_code import reading_modules

    # `closeread.tasks` names procedures for mypy only.
    assert "closeread.counts.table" not in reading_modules(corpus)


def test_it_is_computed_once(monkeypatch):
    from closeread.hf.reading_code import code_digest

    before = code_digest("mctaco")
    monkeypatch.setattr("closeread.hf.reading_code.reading_modules", None)
    monkeypatch.setattr("closeread.hf.reading_code.load_corpus", None)
    assert code_digest("mctaco") == before
