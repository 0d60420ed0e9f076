"""Arguments of functions that could change nothing are refused, instead of being ignored."""

import pytest
from shared.late import datasets

import closeread
from closeread.exceptions import InputError

KEY = {"letter": [[[0, 0], [3, 4]], [[6, 7], [11, 11]]], "note": [[[0, 1], [5, 6]]]}


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
    assert [problem.message for problem in caught.value.problems] == problems
