"""Datasets and metrics by any of their names, with and without the wrapped functions of `datasets` and `evaluate`."""

from pathlib import Path

import pytest

import closeread
from closeread.exceptions import RequestError

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("name", "corpus"), [("timeline", "semeval2015_timeline"), ("possession", "wikipossessions")]
)
def test_datasets(load, name, corpus):
    found, usual = load(name, "sample", split="test"), load(corpus, "sample", split="test")
    assert found.to_list() == usual.to_list()
    assert found.info.dataset_name == usual.info.dataset_name == corpus
    assert found.cache_files == usual.cache_files


@pytest.mark.parametrize(("name", "module"), [
    ("timeline", "timeline_awareness"), ("semeval2015_timeline", "timeline_awareness"),
    ("wikipossessions", "possession"), ("tne", "tne_links"),
])  # fmt: skip
def test_metrics(evaluate, name, module):
    assert closeread.load_metric(name).name == evaluate.load(name).name == module


# older versions leave the file open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_of_the_users_own_is_not_taken_for_another_name(datasets):
    Path("timeline").mkdir()
    Path("timeline/rows.csv").write_text("word\nsailed\n", "utf-8")
    assert datasets.load_dataset("timeline", split="train").to_list() == [{"word": "sailed"}]
    assert (
        closeread.load_dataset("timeline", "sample", split="test").info.dataset_name
        == "semeval2015_timeline"
    )


def test_a_procedure_that_scores_no_corpus_is_none():
    with pytest.raises(RequestError, match="procedure tlinks scores no corpus"):
        closeread.load_dataset("tlinks")
    with pytest.raises(RequestError, match="procedure tlinks has no module"):
        closeread.load_metric("tlinks")
