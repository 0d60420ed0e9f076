"""The files in the formats of the corpus, with simulated annotation, that `CLOSEREAD_DATA` may hold."""

import pytest

from closeread.tasks.marmara.coreference import dump_annotation, read_annotations
from closeread.tasks.marmara.corpus_files import read_corpus, read_corpus_folder
from closeread.tasks.marmara.extraction import extract, write_documents
from closeread.tasks.marmara.treebank import read_treebank

BEGINS = "00170166039.5"
"""The sentence that begins the second document of its id, as the readme of the files says."""


@pytest.fixture
def folder(corpora):
    found = corpora / "marmara_coref"
    if not (found / "fragments").is_dir():
        pytest.skip("CLOSEREAD_DATA has no marmara_coref")
    return found


def list_xml(folder):
    return {path.name: path for path in sorted(folder.glob("*.xml"))}


def test_the_fragments_become_the_treebanks_files(folder, tmp_path):
    write_documents(tmp_path / "out", extract(folder / "fragments", splits=[BEGINS])[0])
    written = list_xml(tmp_path / "out")
    assert len(written) == 5
    for name, path in written.items():
        assert path.read_bytes() == (folder / "treebank" / name).read_bytes()
    extracted = read_treebank({name: folder / "treebank" / name for name in written})
    assert (extracted.problems, extracted.notices) == ([], [])
    assert extracted.documents["00170166_2"][0]["number"] == BEGINS


def test_an_unsplit_document_with_the_coreference_of_two(folder, tmp_path):
    write_documents(tmp_path / "out", extract(folder / "fragments")[0])
    coreference = {
        path.name: path for path in sorted((folder / "coreference").glob("00170166*.xml"))
    }
    unsplit = {"00170166.xml": tmp_path / "out" / "00170166.xml"}
    found = read_corpus(read_treebank(unsplit), coreference, None)
    treebank = read_treebank({name: folder / "treebank" / name for name in coreference})
    extracted = read_corpus(treebank, coreference, None)
    assert [notice.message for notice in found.notices] == [
        f"document '00170166' is cut before sentence '{BEGINS}', where this file begins"
    ]
    assert found.records == extracted.records


@pytest.mark.gate
def test_the_whole_corpus(folder, tmp_path):
    found = read_corpus_folder(folder)
    assert (found.problems, found.notices) == ([], [])
    records = found.records
    # The figures are those of the files' readme.
    assert len(records) == 33
    assert sum(len(one["sentences"]) for one in records) == 5635
    assert sum(one["n_tokens"] for one in records) == 55003
    assert sum(len(one["mentions"]) for one in records) == 5390
    assert sum(len(one["clusters"]) for one in records) == 985
    # XML, records, XML: every mention and every chain, texts included.
    files = list_xml(folder / "coreference")
    for record in records:
        (tmp_path / f"{record['document']}.xml").write_text(dump_annotation(record), "utf-8")
    before, after = read_annotations(files), read_annotations(list_xml(tmp_path))
    assert after.problems == after.notices == []
    for one, other in zip(before.annotations, after.annotations, strict=True):
        assert mentions_of(one) == mentions_of(other)
        assert chains_of(one) == chains_of(other)


def mentions_of(annotation):
    return {mention._replace(line=0) for mention in annotation.mentions}


def chains_of(annotation):
    spans = {mention.id: mention[1:4] for mention in annotation.mentions}
    return {frozenset(spans[one] for one in chain) for chain in annotation.chains}
