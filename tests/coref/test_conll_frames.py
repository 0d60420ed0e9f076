"""CoNLL with other mentions in the last column: all other columns, and the sentences, stay as they were."""

import pytest
from shared.conll_documents import ONTONOTES
from shared.coref_readers import read_conll
from shared.marmara_sample import SAMPLE

from closeread.tasks.coref.files import read_documents
from closeread.tasks.coref.formats.conll import dump_in_frames

TWO = """#begin document (a); part 001
a 1 0 Ada NNP (0)
a 1 1 slept VBD -

a 1 0 She PRP (0)
a 1 1 woke VBD -
#end document
#begin document (b); part 000
b 0 0 Rain NN -
#end document
"""
FRAMED = """#begin document (a); part 001
a\t1\t0\tAda\tNNP\t(0)
a\t1\t1\tslept\tVBD\t-

a\t1\t0\tShe\tPRP\t(0)
a\t1\t1\twoke\tVBD\t-

#end document
#begin document (b); part 000
b\t0\t0\tRain\tNN\t-

#end document
"""
ANNOTATORS = [SAMPLE / f"annotations/77000112/{name}.conll" for name in ("anna", "ben", "cleo")]


def rows(text):
    """The cells of every row but the last, with blank lines."""
    return [line.split("\t")[:-1] for line in text.splitlines() if not line.startswith("#")]


def test_columns_and_sentences_are_kept(tmp_path):
    (tmp_path / "two.conll").write_text(TWO, "utf-8")
    assert dump_in_frames(read_conll(tmp_path / "two.conll").documents) == FRAMED


def test_columns_for_predicates_are_kept(tmp_path):
    (tmp_path / "ontonotes.conll").write_text(ONTONOTES, "utf-8")
    text = dump_in_frames(read_conll(tmp_path / "ontonotes.conll").documents)
    assert [line.split() for line in text.splitlines()] == [
        line.split() for line in ONTONOTES.splitlines()
    ]


def test_of_a_folder(tmp_path):
    for number, document in enumerate(TWO.split("#begin")[1:]):
        (tmp_path / f"{number}.conll").write_text(f"#begin{document}", "utf-8")
    assert dump_in_frames(read_documents(tmp_path).documents) == FRAMED


@pytest.mark.parametrize(
    "text", ["#begin document (a)\n(0)\n-\n#end document\n", '{"document": "a", "clusters": []}\n']
)
def test_files_without_other_columns(tmp_path, text):
    path = tmp_path / "a.conll"
    path.write_text(text, "utf-8")
    documents = read_documents(path).documents
    if documents[0].n_tokens is None:
        with pytest.raises(ValueError, match="the number of tokens is unknown"):
            dump_in_frames(documents)
    else:
        assert (
            dump_in_frames(documents)
            == "#begin document (a)\na\t0\t0\t_\t(0)\na\t0\t1\t_\t-\n\n#end document\n"
        )


def test_adjudicated_chains_are_in_the_frames_of_the_annotators(ran, tmp_path):
    ran("adjudicate", "coref", *ANNOTATORS, "-o", "gold.conll")
    text = (tmp_path / "gold.conll").read_text("utf-8")
    assert rows(text) == rows(ANNOTATORS[0].read_text("utf-8"))
