"""Corpora of coreference by name: what their declarations say, how files are found, and groups of a corpus."""

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from shared.damaged_zips import FAULTS, zip_damaged

import closeread
from closeread.corpus import sources
from closeread.corpus.declaration import DocumentTraits, Repair
from closeread.corpus.gold import read_gold, splits_at_hand
from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.estimates import Resampling
from closeread.exceptions import FormatError, SubmissionError, UnavailableError
from closeread.files import package_folder
from closeread.records import UserFiles
from closeread.tasks import load_procedure
from closeread.tasks.coref import crac
from closeread.tasks.coref.corpus_documents import read_files
from closeread.tasks.coref.documents import Document, Documents
from closeread.tasks.coref.key_response import align

QUICK = Resampling(n_resamples=0)
FAMILY = [name for name in corpus_names() if load_corpus(name).family == "coref"]
SAMPLE = package_folder("closeread.loaders.coref") / "sample"


def documents_of(corpus, config, split):
    return {
        Path(file.name).stem for file in load_corpus(corpus).configs[config].splits[split].files
    }


def test_folds_of_litbank_are_a_partition():
    folds = [f"fold_{number}" for number in range(10)]
    tests = [documents_of("litbank", fold, "test") for fold in folds]
    assert list(map(len, tests)) == [10] * 10
    assert set.union(*tests) == documents_of("litbank", "default", "test")
    for number, fold in enumerate(folds):
        train = documents_of("litbank", fold, "train")
        development = documents_of("litbank", fold, "validation")
        assert development == tests[number - 1]
        assert train == set.union(*tests) - tests[number] - development
        assert len(train) == 80


@pytest.mark.parametrize("name", ["gum", "ontogum"])
def test_splits_of_gum(name):
    splits = ("train", "validation", "test", "test2")
    names = [documents_of(name, "default", split) for split in splits]
    assert list(map(len, names)) == [191, 32, 32, 26]
    assert len(set.union(*names)) == 281
    assert all(document.startswith("GENTLE_") for document in names[3])


def test_treebanks_of_2026_are_those_of_the_shared_task():
    configs = load_corpus("corefud").configs
    assert set(crac.IN_2026) == configs.keys() - {"default", "flat", "sample", "sample_flat"}


@pytest.mark.parametrize("name", FAMILY)
def test_what_may_not_be_published_says_why(name):
    assert bool(load_corpus(name).redistribution) == (name != "litbank")


@pytest.mark.parametrize("name", ["corefud", "ontonotes", "preco"])
def test_missing_files_give_the_instructions(name, tmp_path, monkeypatch):
    monkeypatch.delenv("CLOSEREAD_DATA", raising=False)
    corpus = load_corpus(name)
    assert len(corpus.instructions) == 5
    with pytest.raises(UnavailableError) as caught:
        read_gold(corpus, None, None, UserFiles(tmp_path))
    assert [problem.text for problem in caught.value.problems[1:]] == list(corpus.instructions)


@pytest.fixture
def archive(monkeypatch, tmp_path):
    """Downloads are an archive with a file of the sample; the cache is empty."""
    path = tmp_path / "released.zip"
    with ZipFile(path, "w") as opened:
        text = (SAMPLE / "corefud" / "en_mill-corefud-test.conllu").read_text("utf-8")
        opened.writestr("en_mill-corefud-minidev.conllu", text)
    monkeypatch.delenv("CLOSEREAD_DATA", raising=False)
    monkeypatch.setenv("CLOSEREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        sources, "download", lambda url, file, size, limit: file.write(path.read_bytes())
    )
    return path


@pytest.mark.parametrize("fault", FAULTS)
def test_an_archive_that_can_not_be_unpacked(fault, tmp_path, monkeypatch):
    monkeypatch.setenv("CLOSEREAD_CACHE", str(tmp_path / "cache"))
    zip_damaged(tmp_path / "mine.zip", "en_mill-corefud-dev.conllu", fault)
    for _ in range(2):  # nothing of it is kept
        with pytest.raises(FormatError, match=rf"mine\.zip: .*{fault}"):
            read_gold(load_corpus("corefud"), None, "validation", UserFiles(tmp_path / "mine.zip"))


def test_an_archive_that_would_be_too_large(tmp_path, monkeypatch):
    monkeypatch.setenv("CLOSEREAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "MAX_UNPACKED_BYTES", 1_999)
    with ZipFile(tmp_path / "mine.zip", "w", ZIP_DEFLATED) as opened:
        opened.writestr("en_mill-corefud-dev.conllu", "a\n" * 1_000)
    with pytest.raises(FormatError, match=r"has 2,000 bytes when unpacked \(limit: 1,999 bytes\)"):
        read_gold(load_corpus("corefud"), None, "validation", UserFiles(tmp_path / "mine.zip"))


def test_a_download_that_could_not_be_verified_is_asked_about(archive, tmp_path):
    corpus = load_corpus("crac2026")
    digest = sources.file_digest(archive)
    with pytest.raises(UnavailableError, match=f"could not verify .* SHA-256 {digest}"):
        read_gold(corpus, None, "validation")
    kept = tmp_path / "cache" / "crac2026"
    assert not list(kept.glob("*.zip"))
    accepting = UserFiles(None, {}, {"unverified": "accept"})
    gold = read_gold(corpus, None, "validation", accepting)
    assert {record["group"] for record in gold.records} == {"en_mill"}
    (record,) = kept.glob("*.sha256")
    assert record.read_text("utf-8").split()[0] == digest
    # Later loads compare with the digest of the first.
    path = kept / "unc-gold-minidev.zip"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(closeread.exceptions.ChecksumError):
        read_gold(corpus, None, "validation")


def test_a_repair_is_of_one_line_as_it_is(tmp_path):
    traits = load_corpus("ontogum").configs["default"].traits
    text = "#begin document (a); part 000\na 0 0 w (1\na 0 1 x 2)\n\n#end document\n"
    path = tmp_path / "a.conll"
    path.write_text(text, "utf-8")
    repairs = (
        Repair("a.conll", 2, " (1", " -", "is broken"),
        Repair("a.conll", 3, " 2)", " -", ""),
    )
    from dataclasses import replace

    parsed = read_files({"a.conll": path}, "test", traits=replace(traits, repairs=repairs))
    assert parsed.problems == []
    assert [notice.text for notice in parsed.notices] == ["'a.conll': line 2: is broken"]
    # A response that has the corpus's damaged file is read like it.
    key = Documents([Document("a; part 000", n_tokens=2)])
    options = load_procedure("coref").resolve_options({})
    for response in (path, tmp_path):
        aligned = align(key, response, options, DocumentTraits(repairs=repairs))
        assert not aligned.has_mentions
        (notice,) = aligned.notices
        assert notice.endswith("line 2: is broken")
    with pytest.raises(SubmissionError):
        align(key, path, options)
    other = (Repair("a.conll", 2, " (7", " -", "is broken"), repairs[1])
    parsed = read_files({"a.conll": path}, "test", traits=replace(traits, repairs=other))
    assert len(parsed.problems) == 2


def test_treebanks_of_a_corpus_are_averaged(tmp_path):
    """The mean of two treebanks, each of which is scored alone by its file."""
    key = SAMPLE / "corefud"
    response = tmp_path / "response"
    response.mkdir()
    for file in key.glob("*.conllu"):
        text = file.read_text("utf-8")
        # One treebank is perfect, the other without any entity.
        if file.name.startswith("es_"):
            text = "\n".join(
                line.rpartition("\t")[0] + "\t_" if "Entity=" in line and line[0] != "#" else line
                for line in text.split("\n")
            )
        (response / file.name).write_text(text, "utf-8")
    with pytest.warns(closeread.CloseReadWarning):
        report = closeread.score("corefud", response, config="sample", resampling=QUICK)
    assert report.scores["conll/f1"].value == 0.5
    assert "average:groups|groups:2" in report.provenance.signature


@pytest.mark.parametrize("name", ["litbank", "gum", "ontogum"])
@pytest.mark.usefixtures("corpora")
@pytest.mark.filterwarnings("ignore:.* are not scored:closeread.CloseReadWarning")
def test_a_corpus_against_itself(name, tmp_path):
    """A perfect response gets 100, but for the mentions of OntoGUM that are in two entities."""
    corpus = load_corpus(name)
    try:
        gold = read_gold(corpus, None, "test")
    except UnavailableError:
        pytest.skip(f"{name} is not here")
    rows = [{key: record[key] for key in ("document", "clusters")} for record in gold.records]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    report = closeread.score(name, tmp_path / "all.jsonl", resampling=QUICK)
    assert report.scores["conll/f1"].value == pytest.approx(1, abs=0.001)
    assert report.preset == "conll2012"


def test_an_accepted_download_is_no_folder_of_the_users(archive):
    """An option of reading alone leaves all splits to be downloaded."""
    corpus = load_corpus("crac2026")
    accepting = UserFiles(None, {}, {"unverified": "accept"})
    assert splits_at_hand(corpus, "default", accepting).keys() == {"train", "validation"}


def test_figures_of_files(ran, tmp_path):
    """Any files are counted: of a folder of treebanks each, and all together."""
    text = "#begin document (a); part 000\na 0 0 w (1)\na 0 1 x -\n\na 0 0 y (1)\na 0 1 z (2)\n\n#end document\n"
    (tmp_path / "a.conll").write_text(text, "utf-8")
    command = ("info", "coref", str(tmp_path / "a.conll"), str(SAMPLE / "corefud"), "--stats")
    figures = json.loads(ran(*command, "--format", "json"))["splits"]
    assert list(figures) == ["a.conll", "en_mill", "es_barco", "all"]
    assert figures["a.conll"] == {
        "documents": 1,
        "sentences": 2,
        "tokens": 4,
        "entities": 2,
        "singletons": 1,
        "mentions": 3,
    }
    assert figures["es_barco"]["empty nodes"] == 1
    for name, value in figures["all"].items():
        parts = [figures[part].get(name, 0) for part in ("a.conll", "en_mill", "es_barco")]
        assert value == sum(parts)
    first, *rows = (line.split("  ") for line in ran(*command).splitlines() if "─" not in line)
    assert first[0] == "file"
    assert [row[0] for row in rows] == ["a.conll", "en_mill", "es_barco", "all"]


def test_discontinuous_mentions_are_counted(tmp_path):
    text = (
        "# newdoc id = a\n# global.Entity = eid-etype-head-other\n# sent_id = 1\n# text = x y z\n"
        "1\tx\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1[1/2]--1-)\n"
        "2\ty\t_\t_\t_\t_\t1\t_\t_\t_\n"
        "3\tz\t_\t_\t_\t_\t1\t_\t_\tEntity=(e1[2/2])\n\n"
    )
    (tmp_path / "a.conllu").write_text(text, "utf-8")
    figures = closeread.stats("coref", tmp_path / "a.conllu").splits["a.conllu"]
    assert (figures["mentions"], figures["discontinuous mentions"]) == (1, 1)


def test_files_of_other_tasks_are_not_counted():
    with pytest.raises(closeread.RequestError, match="files of mctaco can't be counted"):
        closeread.stats("mctaco", "a.tsv")
    with pytest.raises(closeread.RequestError, match="options of a corpus"):
        closeread.stats("coref", "a.conll", config="sample")
