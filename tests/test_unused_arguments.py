"""Arguments of functions that could change nothing are refused, instead of being ignored."""

import ast

import pytest
from shared.late import datasets

import closeread
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, reproducible
from closeread.exceptions import InputError, RequestError
from closeread.tasks import find

KEY = {"letter": [[[0, 0], [3, 4]], [[6, 7], [11, 11]]], "note": [[[0, 1], [5, 6]]]}


INPUTS = ("upstream", "annotations", "articles", "spacy_model", "runs")


@pytest.mark.parametrize("corpus", reproducible())
def test_tables_are_recomputed_from_what_their_module_reads(corpus):
    module = find(load_corpus(corpus).task, "reproduction")
    with open(module.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "inputs"
    }
    taken = getattr(module, "TAKES", ())
    assert set(taken) == read & set(INPUTS)
    assert set(INPUTS) < set(Inputs.__dataclass_fields__)
    for name in set(INPUTS) - set(taken):
        with pytest.raises(
            RequestError, match=f"^the tables of {corpus} are not recomputed from {name}=$"
        ):
            closeread.reproduce(corpus, **{name: "nowhere"})


def split_by_name(*names):
    one = datasets.Dataset.from_list([{"document": "letter", "clusters": KEY["letter"]}])
    return datasets.DatasetDict(dict.fromkeys(names, one))


@pytest.mark.parametrize(("make", "problems"), [
    (lambda: split_by_name("test"), ["got a split by name, 'test' (expected the rows of one split)"]),
    (lambda: split_by_name("a", "b"), ["got the splits 'a', 'b' (expected the rows of one split)"]),
    (lambda: list(KEY.values()), [
        "2 documents are not in the key: '0', '1' (first: the key has 'letter', … (documents without names are "
        "numbered from 0)); extra='skip' leaves out what the key lacks",
    ]),
])  # fmt: skip
def test_what_has_no_documents_is_told(make, problems):
    with pytest.raises(InputError) as caught:
        closeread.score("coref", make(), gold=KEY)
    assert [problem.what for problem in caught.value.problems] == problems
