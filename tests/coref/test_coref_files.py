"""Scores of coreference files: any format and order, options that need files, and intervals."""

import pytest
from shared.conll_documents import as_ontonotes
from shared.coreference import (
    KEY,
    RESPONSE,
    report_files,
    score_files,
    score_records,
    write_conll,
    write_corefud,
    write_jsonl,
)
from shared.coreference_tables import digest_documents

from closeread.exceptions import SubmissionError
from closeread.tasks.coref.files import read_documents

pytestmark = pytest.mark.filterwarnings(
    "ignore:the (key|response) repeats:closeread.CloseReadWarning"
)  # what is not scored is told


@pytest.fixture
def files(tmp_path):
    """Key and response as JSON Lines, the response's documents in another order."""
    return write_jsonl(tmp_path / "key.jsonl", KEY), write_jsonl(
        tmp_path / "response.jsonl", dict(reversed(RESPONSE.items()))
    )


def test_files_give_the_same(files, tmp_path):
    assert score_files(*files) == pytest.approx(score_records(KEY, RESPONSE), abs=1e-15)
    for form in (str, as_ontonotes):
        pair = (
            write_conll(tmp_path / "key.conll", KEY),
            write_conll(tmp_path / "response.conll", RESPONSE, form=form),
        )
        assert score_files(*pair) == pytest.approx(score_records(KEY, RESPONSE), abs=1e-15)


def digests(path):
    documents = read_documents(path)
    return dict(zip(documents.names, digest_documents(documents), strict=True))


def test_the_digest_depends_on_neither_format_nor_order(tmp_path):
    names = {f"{name}; part 000": clusters for name, clusters in KEY.items()}
    turned = {
        name: [cluster[::-1] for cluster in clusters[::-1]] for name, clusters in names.items()
    }
    reordered = dict(reversed(turned.items()))
    of_conll = digests(write_conll(tmp_path / "key.conll", KEY))
    assert digests(write_conll(tmp_path / "on.conll", KEY, form=as_ontonotes)) == of_conll
    for i, documents in enumerate((names, turned, reordered)):
        assert digests(write_jsonl(tmp_path / f"{i}.jsonl", documents)) == of_conll
    other = {**names, "b; part 000": [[[0, 1], [2, 2]], [[3, 3]]]}
    changed = digests(write_jsonl(tmp_path / "other.jsonl", other))
    assert [name for name in names if changed[name] != of_conll[name]] == ["b; part 000"]


def test_singletons_are_dropped_before_heads_are_matched(tmp_path):
    # e2 of the response is nearer to the long mention of the key than e1's, but alone: it must not take its place.
    key = write_corefud(
        tmp_path / "k.conllu", {1: "(e1-x-2-", 2: "", 3: "", 4: "e1)", 5: "", 6: "(e1-x-1-)"}
    )
    cells = {1: "(e2-x-2-", 2: "(e1-x-1-)", 3: "e2)", 4: "", 5: "", 6: "(e1-x-1-)"}
    response = write_corefud(tmp_path / "r.conllu", cells)
    kept, dropped = (
        score_files(key, response, matching="head", keep_singletons=keep)
        for keep in ("true", "false")
    )
    assert kept["lea/f1"] == 0
    assert dropped["lea/f1"] == dropped["conll/f1"] == 1


def test_repeats_do_not_depend_on_matching(tmp_path):
    cells = {1: "(e1-x-1-(e2-x-2-", 2: "e2)e1)", 3: "(e1-x-1-)"}
    path = write_corefud(tmp_path / "k.conllu", cells)
    for matching in ("exact", "head", "partial"):
        with pytest.raises(SubmissionError, match="tokens 0 to 1 is in entities 'e1' and 'e2'"):
            report_files(path, path, matching=matching)
        report = report_files(path, path, matching=matching, duplicates="first")
        assert report.total.counts["mentions/key"] == 2


def test_heads_are_part_of_the_gold_where_they_are_compared(tmp_path):
    paths = [
        write_corefud(tmp_path / f"{h}.conllu", {1: f"(e1-x-{h}-", 2: "e1)", 3: "(e1-x-1-)"})
        for h in (1, 2)
    ]
    signatures = {
        matching: {
            report_files(path, path, matching=matching).provenance.signature for path in paths
        }
        for matching in ("exact", "head")
    }
    assert [len(signatures[matching]) for matching in ("exact", "head")] == [1, 2]


def test_empty_nodes_have_no_words(tmp_path):
    cells = {"1": "(e1-x-1-)", "1.1": "(e1-x-1-)", "2": ""}
    key = write_corefud(tmp_path / "k.conllu", cells, {"1.1": "él"})
    response = write_corefud(tmp_path / "r.conllu", cells, {"1.1": "ella"})
    assert score_files(key, response)["lea/f1"] == 1


@pytest.mark.parametrize("suffix", [".txt", ".json", ".JSONL", ".conllu"])
def test_the_first_line_tells_the_format(tmp_path, suffix):
    wanted = [d["clusters"] for d in read_documents(write_conll(tmp_path / "key.conll", KEY))]
    for make in (write_conll, write_jsonl):
        assert [
            d["clusters"] for d in read_documents(make(tmp_path / f"any{suffix}", KEY))
        ] == wanted
    documents = read_documents(write_corefud(tmp_path / f"ud{suffix}", {1: "(e1-x-1-)"})).documents
    assert [entity.label for document in documents for entity in document.entities] == ["e1"]
