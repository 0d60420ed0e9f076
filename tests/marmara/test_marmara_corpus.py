"""The corpus, loaded from a user's own folders: where they are looked for, what is told if they are missing."""

import json
import shutil

import pytest
from shared.marmara_sample import DOCUMENTS, SAMPLE

import closeread
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError, RequestError, UnavailableError
from closeread.records import UserFiles

CORPUS = load_corpus("marmara_coref")
FOLDERS = {"treebank": SAMPLE / "treebank", "coreference": SAMPLE / "coreference"}
TREEBANK = (
    "the METU-Sabanci Turkish Treebank {}; sign its licence at http://ii.metu.edu.tr/corpus to get it, and run: "
    "closeread prepare marmara_coref treebank FRAGMENTS -o treebank; or use the free files of UD_Turkish-IMST"
)
COREFERENCE = (
    "the coreference annotation of Marmara {}; to get it, run: git clone "
    "https://bitbucket.org/knowlp/marmara-turkish-coreference-corpus"
)
BOTH = "a folder that contains treebank/ and coreference/ with --data-dir"
XML = "expected files *.xml"
TEXTS = f"{XML} or *.conllu or *.conllu.gz"


@pytest.fixture
def folder(tmp_path):
    """A user's own folder with the sample's files."""
    for name in FOLDERS:
        shutil.copytree(SAMPLE / name, tmp_path / "mine" / name)
    shutil.copy(SAMPLE / "genres.tsv", tmp_path / "mine")
    return tmp_path / "mine"


def sample():
    return list(read_gold(CORPUS, "sample").records)


def without_genre(records):
    return [{**record, "genre": None} for record in records]


def test_the_sample_is_read_from_the_package():
    records = sample()
    assert tuple(record["document"] for record in records) == DOCUMENTS
    assert {record["genre"] for record in records} == {
        "News",
        "Travel",
        "Short Story",
        "Essay",
        "Article",
        "Other",
    }


def test_a_folder_gives_the_same_records(folder):
    gold = read_gold(CORPUS, files=UserFiles(folder))
    assert list(gold.records) == sample()
    assert gold.released is None
    assert gold.notices == read_gold(CORPUS, "sample").notices


def test_folders_apart_have_no_file_of_genres(folder, monkeypatch):
    monkeypatch.setenv("CLOSEREAD_DATA", str(folder.parent))
    # of another corpus
    (folder / "genres.tsv").write_text("document\tgenre\n77000000\tNews\n", "utf-8")
    folder.rename(folder.with_name("marmara_coref"))
    assert list(read_gold(CORPUS, files=UserFiles(None, FOLDERS)).records) == without_genre(
        sample()
    )


def test_raw_fragments_are_to_be_extracted():
    folders = {**FOLDERS, "treebank": SAMPLE / "fragments"}
    with pytest.raises(FormatError) as caught:
        read_gold(CORPUS, files=UserFiles(None, folders))
    (problem,) = caught.value.problems
    assert problem.message == (
        "is a fragment as distributed (expected an extracted file; see closeread prepare marmara_coref treebank)"
    )


def test_the_usual_place(folder, monkeypatch):
    monkeypatch.setenv("CLOSEREAD_DATA", str(folder.parent))
    folder.rename(folder.with_name("marmara_coref"))
    assert list(read_gold(CORPUS).records) == sample()


def test_load_dataset_takes_folders_and_knows_their_content(folder, datasets):
    apart = datasets.load_dataset(
        "marmara_coref", split="test", **{name: str(path) for name, path in FOLDERS.items()}
    )
    assert apart.to_list() == without_genre(sample())
    one = closeread.load_dataset("marmara_coref", split="test", data_dir=folder)
    assert one.to_list() == sample()
    genres = folder / "genres.tsv"
    genres.write_text(genres.read_text("utf-8").replace("News", "Novel"), "utf-8")
    again = closeread.load_dataset("marmara_coref", split="test", data_dir=folder)
    assert {row["genre"] for row in again} == {
        "Novel",
        "Travel",
        "Short Story",
        "Essay",
        "Article",
        "Other",
    }


def test_both_folders_are_missing(run, tmp_path):
    result = run("info", "marmara_coref", "--stats")
    assert result.exit_code == 1
    assert result.stderr == "".join(
        f"{line}\n"
        for line in (
            "Error: marmara_coref: 2 problems:",
            f"marmara_coref: {TREEBANK.format('was not given')}",
            f"marmara_coref: {COREFERENCE.format('was not given')}; pass the folders with --treebank and "
            f"--coreference, or {BOTH}, or try --config sample",
        )
    )


def test_one_folder_is_missing(folder):
    shutil.rmtree(folder / "coreference")
    with pytest.raises(UnavailableError) as error:
        read_gold(CORPUS, files=UserFiles(folder))
    place = f"is not in {folder / 'coreference'} ({XML})"
    both = BOTH.replace("--data-dir", "data_dir=")
    advice = f"pass its folder with coreference=, or {both}, or try the config 'sample'"
    assert [problem.text for problem in error.value.problems] == [
        f"{COREFERENCE.format(place)}; {advice}"
    ]


def test_a_command_that_reads_only_the_treebank_asks_for_nothing_else(run, here):
    result = run("convert", "marmara_coref", str(SAMPLE / "coreference"), "-o", "out.conll")
    advice = f"pass its folder with --treebank, or {BOTH}"
    assert result.stderr == f"Error: marmara_coref: {TREEBANK.format('was not given')}; {advice}\n"


def test_a_folder_of_something_else(folder):
    with pytest.raises(UnavailableError) as error:
        read_gold(CORPUS, files=UserFiles(None, {**FOLDERS, "treebank": folder}))
    (problem,) = error.value.problems
    assert problem.text.startswith(TREEBANK.format(f"is not in {folder} ({TEXTS})"))


def test_a_treebank_alone_where_no_coreference_is_needed():
    records = read_gold(CORPUS, files=UserFiles(None, {**FOLDERS, "coreference": None})).records
    assert [record["sentences"] for record in records] == [
        record["sentences"] for record in sample()
    ]
    assert not any(record["clusters"] or record["mentions"] for record in records)


def test_conllu_needs_no_coreference(tmp_path):
    (tmp_path / "treebank").mkdir()
    row = "1\tUyudu\tuyu\tVERB\tVerb\t_\t0\troot\t_\t_\n"
    (tmp_path / "treebank" / "own.conllu").write_text(
        f"# newdoc id = 77000112\n# sent_id = own.1\n{row}\n", "utf-8"
    )
    (record,) = read_gold(CORPUS, files=UserFiles(tmp_path)).records
    assert (record["document"], record["n_tokens"], record["clusters"]) == ("77000112", 1, [])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            UserFiles(None, {"tribank": SAMPLE}),
            "no such folder or option of reading marmara_coref: 'tribank'. Did you mean 'treebank'? "
            "(choose from: treebank, coreference, unaligned)",
        ),
        (
            UserFiles(None, FOLDERS, {"unaligned": "keep"}),
            "option unaligned: 'keep' is not one of 'drop', 'error'",
        ),
    ],
)
def test_what_the_corpus_does_not_know(files, message):
    with pytest.raises(RequestError) as error:
        read_gold(CORPUS, files=files)
    assert str(error.value) == message


def test_other_corpora_have_no_folders():
    message = "no such folder or option of reading mctaco: 'treebank' (choose from: none)"
    with pytest.raises(RequestError) as error:
        read_gold(load_corpus("mctaco"), files=UserFiles(None, FOLDERS))
    assert str(error.value) == message
    with pytest.raises(RequestError, match="no such option of mctaco: 'treebank'"):
        closeread.load_dataset("mctaco", "sample", treebank="x")


def test_the_sample_takes_no_folder():
    message = "config sample of marmara_coref comes with the package; it takes no data folder"
    with pytest.raises(RequestError) as error:
        closeread.load_dataset("marmara_coref", "sample", treebank=SAMPLE / "treebank")
    assert str(error.value) == message


def test_scores_by_genre_and_by_folders(ran, tmp_path):
    places = [f"--{name}={path}" for name, path in FOLDERS.items()]
    ran("baseline", "marmara_coref", "one-entity", "--config", "sample", "-o", "one.jsonl")
    of_sample = json.loads(
        ran("score", "marmara_coref", "one.jsonl", "--config", "sample", "--json", "--by", "genre")
    )
    assert of_sample["slices"]["genre"]["News"]["n_units"] == 1
    of_folders = json.loads(ran("score", "marmara_coref", "one.jsonl", *places, "--json"))
    assert of_folders["scores"] == of_sample["scores"]
    assert of_folders["signature"] == of_sample["signature"]
    report = closeread.score("marmara_coref", tmp_path / "one.jsonl", **FOLDERS)
    assert report.to_dict()["scores"] == of_folders["scores"]


def test_other_words_are_an_error(run, here):
    given = (SAMPLE / "given" / "77000112.conll").read_text("utf-8")
    (here / "response.conll").write_text(given.replace("Kıyıkent_Müzesi", "Müze"), "utf-8")
    result = run("score", "marmara_coref", "response.conll", "--config", "sample")
    assert result.exit_code == 1
    found = "token 0 of document '77000112' is 'Müze', but 'Kıyıkent_Müzesi' in the key"
    assert result.stderr == f"Error: response.conll:2: {found}\n"


def test_problems_of_both_halves_at_once(folder):
    for name in FOLDERS:
        path = folder / name / "77000112.xml"
        path.write_text(path.read_text("utf-8") + "<", "utf-8")
    with pytest.raises(FormatError) as error:
        read_gold(CORPUS, files=UserFiles(folder))
    assert {problem.file for problem in error.value.problems} >= {
        "treebank/77000112.xml",
        "coreference/77000112.xml",
    }


def test_files_of_folders_apart_are_named_by_where_they_are(folder):
    coreference = folder.parent / "elsewhere"
    (folder / "coreference").rename(coreference)
    path = coreference / "77000112.xml"
    path.write_text(path.read_text("utf-8").replace('toWordIX="2">', 'toWordIX="99">', 1), "utf-8")
    with pytest.raises(FormatError) as error:
        read_gold(CORPUS, files=UserFiles(folder, {"coreference": coreference}))
    assert str(error.value).startswith(f"{path}:")


def test_statistics_without_coreference(ran, here):
    (here / "conllu").mkdir()
    row = "1\tUyudu\tuyu\tVERB\tVerb\t_\t0\troot\t_\t_\n"
    (here / "conllu" / "own.conllu").write_text(
        f"# newdoc id = 77000112\n# sent_id = own.1\n{row}\n", "utf-8"
    )
    assert "chains  " in ran("info", "marmara_coref", "--stats", "--treebank", "conllu")
    assert (
        json.loads(ran("info", "marmara_coref", "--stats", "--treebank", "conllu", "--json"))[
            "splits"
        ]["test"]["tokens"]
        == 1
    )


def test_an_export_of_the_corpus_is_private(run, here, folder):
    result = run("export", "marmara_coref", "out", "--data-dir", str(folder))
    assert result.stderr.splitlines()[-1] == (
        "note: Marmara Turkish Coreference Corpus may not be redistributed (the licence of its text, the "
        "METU-Sabanci Turkish Treebank, forbids it): keep the export private."
    )
    assert run("export", "marmara_coref", "sample", "--config", "sample").stderr == ""
