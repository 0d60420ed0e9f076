"""What closeread publishes of a corpus: what may be published, the card and the list of files."""

import hashlib
import json

import pytest
import yaml

from closeread.corpus.names import corpus_names, load_corpus
from closeread.exceptions import FormatError, RequestError
from closeread.hub.cards import check_card
from closeread.hub.client import matches
from closeread.hub.datasets import (
    choose_configs,
    collect_files,
    describe_sources,
    owned_paths,
    require_all_splits,
)


@pytest.fixture
def exported(tmp_path):
    """Exports the sample of a corpus."""
    from closeread.hf.export import export

    def make(name):
        folder = tmp_path / name
        export(name, folder, configs=["sample"])
        return folder

    return make


def test_what_the_licences_allow():
    # TNE: MIT, of texts under CC BY 2.5. TimeLine: CC-BY 3.0. McTaco, WikiPossessions: their repositories state no
    # licence. Marmara: its text is the METU-Sabanci treebank, whose licence forbids it. LitBank: CC BY 4.0.
    assert {name for name in corpus_names() if not load_corpus(name).redistribution} == {
        "litbank",
        "semeval2015_timeline",
        "tne",
    }


def test_the_licence_of_the_texts_of_tne_goes_with_them(exported):
    folder = exported("tne")
    front, text = (
        (folder / "README.md").read_text("utf-8").removeprefix("---\n").split("\n---\n", 1)
    )
    assert yaml.safe_load(front)["license"] == ["mit", "cc-by-2.5"]
    (licence,) = (part for part in text.split("\n- ") if part.startswith("**Licence:**"))
    for named in (
        "MIT",
        "https://creativecommons.org/licenses/by/2.5/",
        "contributors of [Wikinews]",
        "`metadata.url`",
    ):
        assert named in licence
    assert "Copyright (c) 2018, yanai" in (folder / "LICENSE").read_text("utf-8")
    stated = load_corpus("tne").licence
    assert "MIT" in stated
    assert "CC BY 2.5" in stated


def test_configs_that_may_be_published():
    assert choose_configs(load_corpus("mctaco"), []) == ["sample"]
    assert choose_configs(load_corpus("marmara_coref"), []) == ["sample"]
    assert choose_configs(load_corpus("semeval2015_timeline"), []) == [
        "default",
        "documents",
        "sample",
    ]
    assert choose_configs(load_corpus("tne"), ["sample", "default", "sample"]) == [
        "sample",
        "default",
    ]
    with pytest.raises(RequestError, match="no such config of tne: 'nope'"):
        choose_configs(load_corpus("tne"), ["nope"])


def test_a_refused_config_is_refused_with_the_reason():
    with pytest.raises(
        RequestError, match=r"METU-Sabanci Turkish Treebank, forbids it\): config default can't be"
    ):
        choose_configs(load_corpus("marmara_coref"), ["default"])
    with pytest.raises(RequestError) as refused:
        choose_configs(load_corpus("mctaco"), ["sample", "default"])
    assert str(refused.value) == (
        "McTaco may not be redistributed (the authors state no licence): config default can't be published. "
        "Without config=, the card is published with the configs that come with closeread."
    )


def test_a_declaration_that_does_not_say_so_forbids_it():
    corpus = load_corpus("tne")
    fields = {
        name: getattr(corpus, name)
        for name in corpus.__dataclass_fields__
        if name != "redistribution"
    }
    silent = type(corpus)(**fields)
    assert choose_configs(silent, []) == ["sample"]
    with pytest.raises(
        RequestError, match="its declaration does not say that the licence allows it"
    ):
        choose_configs(silent, ["default"])


def test_a_part_of_a_corpus_is_not_published_as_the_corpus(tmp_path, monkeypatch):
    (tmp_path / "tne").mkdir()
    for name in ("test.jsonl.gz", "dev-v1.1.jsonl.gz", "test_unlabeled-v1.1.jsonl.gz"):
        (tmp_path / "tne" / name).touch()
    require_all_splits(load_corpus("tne"), ["default", "unlabeled"])  # they would be downloaded
    monkeypatch.setenv("CLOSEREAD_DATA", str(tmp_path))
    with pytest.raises(RequestError) as refused:
        require_all_splits(load_corpus("tne"), ["default", "unlabeled", "ood_domains", "sample"])
    assert str(refused.value) == (
        f"TNE (text-based NP enrichment) can't be published without some of its splits: {tmp_path}/tne lacks "
        "train (default), ood (default), ood (unlabeled). "
        "Add the files, unset CLOSEREAD_DATA to download them, or use config=."
    )
    require_all_splits(load_corpus("tne"), ["ood_domains", "sample"])


def test_the_card_says_whether_the_repository_holds_the_corpus(exported):
    for name, loads, absent in (
        ("mctaco", 'closeread.load_dataset("mctaco")', True),
        (
            "marmara_coref",
            'closeread.load_dataset("marmara_coref", data_dir="marmara_coref")',
            True,
        ),
        ("tne", 'load_dataset("lab/rain")', False),
    ):
        files = collect_files(load_corpus(name), "lab/rain", exported(name))
        card = files["README.md"].decode()
        assert set(files) - {"LICENSE"} == {
            "README.md",
            "sample/test-00000-of-00001.parquet",
            f"{name}.json",
        }
        assert ("**This repository does not hold the corpus**" in card) == absent
        assert ("lab/rain" in card) != absent  # `load_dataset` of it would not be the corpus
        assert ("redistributed: the authors state no licence" in card) == (name == "mctaco")
        assert ("downloads them from their authors" in card) == (name == "mctaco")
        assert loads in card
        assert card.count("## How to get it") == 1
        check_card(files["README.md"], "dataset_card")


@pytest.mark.parametrize("name", corpus_names())
def test_front_matter_of_exports_fits_its_schema(exported, name):
    check_card((exported(name) / "README.md").read_bytes(), "dataset_card")


def test_front_matter_that_the_hub_would_refuse(exported):
    card = (exported("mctaco") / "README.md").read_text()
    broken = card.replace("license: unknown", "license: unknwon").replace(
        "path: sample/test-*", "path: ../*"
    )
    with pytest.raises(FormatError) as refused:
        check_card(broken.encode(), "dataset_card")
    assert [problem.path for problem in refused.value.problems] == [
        ("configs", 0, "data_files", 0, "path"),
        ("license",),
    ]
    for front in ("[not, an, object]", "a: b: c", "- x"):
        with pytest.raises(
            FormatError, match=r"README.md: the front matter is not valid: .*expected a YAML object"
        ):
            check_card(f"---\n{front}\n---\n\n# Title\n".encode(), "dataset_card")


def test_a_card_without_the_section(exported):
    folder = exported("tne")
    card = folder / "README.md"
    card.write_text(card.read_text().replace("## How to get it", "## Where it is"))
    with pytest.raises(RequestError, match="the card of tne has no section '## How to get it'"):
        collect_files(load_corpus("tne"), "lab/rain", folder)


def test_the_list_of_files_has_the_digests_of_the_released_files(corpora):
    found = json.loads(describe_sources(load_corpus("mctaco")))
    assert found["redistribution"] == "the authors state no licence"
    listed = [file for files in found["configs"]["default"]["splits"].values() for file in files]
    assert len(listed) == 2
    for file in listed:
        assert (
            file["sha256"]
            == hashlib.sha256((corpora / "mctaco" / file["name"]).read_bytes()).hexdigest()
        )
        assert file["url"].endswith(f"/{file['name']}")


def test_the_list_of_files_of_folders():
    found = json.loads(describe_sources(load_corpus("semeval2015_timeline")))
    splits = found["configs"]["documents"]["splits"]
    # 30 articles for each evaluation corpus, each as CAT and as TimeML.
    assert [len(splits[name]) for name in ("corpus_1", "corpus_2", "corpus_3")] == [60, 60, 60]
    assert found["configs"]["default"]["unions"] == {
        "evaluation": ["corpus_1", "corpus_2", "corpus_3"]
    }
    assert found["redistribution"] is None


def test_paths_that_only_we_write():
    patterns = owned_paths(load_corpus("mctaco"))
    for path, ours in {
        "default/test-00000-of-00001.parquet": True,
        "sample/test-00003-of-00012.parquet": True,
        "data/test-00000-of-00001.parquet": False,
        "default/notes.md": False,
        "default/more/test-00000-of-00001.parquet": False,
        "default/test.parquet": False,
        "README.md": False,
        "eval.yaml": False,
    }.items():
        assert any(matches(path, pattern) for pattern in patterns) == ours, path
