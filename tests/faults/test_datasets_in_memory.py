"""Datasets that are read as they go may fail at any row; classes may be stored as numbers anywhere in a row."""

import pytest
from shared.entry_points import sample_gold, system_rows
from shared.late import datasets

import closeread
from closeread.corpus.objects import take_rows
from closeread.counts.estimates import Resampling
from closeread.exceptions import FormatError, SubmissionError

QUICK = Resampling(0)
GOLD = sample_gold("mctaco")[:6]
ROWS = [{"id": record["id"], "label": "yes"} for record in GOLD]


def stream(make, **settings):
    return datasets.IterableDataset.from_generator(make, **settings)


def stream_texts(make):
    text = datasets.Value("string")
    return stream(make, features=datasets.Features({"id": text, "label": text}))


def fail(rows, number, error):
    """A generator of rows that fails at one of them."""

    def generate():
        yield from rows[:number]
        raise error

    return generate


def change(number, row):
    """A generator of rows of which one is another."""
    return lambda: iter([*ROWS[:number], row, *ROWS[number + 1 :]])


def in_memory():
    return datasets.Dataset.from_list(ROWS).to_iterable_dataset()


def refusal(predictions, gold=None):
    with pytest.raises((SubmissionError, FormatError)) as caught:
        closeread.score(
            "mctaco", predictions, gold=GOLD if gold is None else gold, resampling=QUICK
        )
    assert "\n" not in str(caught.value)
    return str(caught.value)


FAILING = {
    "a generator": (
        lambda: stream(fail(ROWS, 3, ZeroDivisionError("boom"))),
        "row 3 on (ZeroDivisionError: boom)",
    ),
    "with features": (
        lambda: stream_texts(fail(ROWS, 3, KeyError("x"))),
        "row 3 on (KeyError: 'x')",
    ),
    "at the first row": (
        lambda: stream(fail(ROWS, 0, OSError("gone"))),
        "row 0 on (OSError: gone)",
    ),
    "escape sequences": (
        lambda: stream(fail(ROWS, 1, ValueError("\x1b[2J\nvalid"))),
        r"row 1 on (ValueError: \x1b[2J\nvalid)",
    ),
    "a function": (
        lambda: in_memory().map(lambda row: {"x": row["nope"]}),
        "row 0 on (KeyError: 'nope')",
    ),
}


@pytest.mark.parametrize(("make", "problem"), FAILING.values(), ids=FAILING)
def test_a_dataset_that_fails_while_it_is_read(make, problem):
    assert refusal(make()) == f"predictions: can't be read from {problem}"
    assert refusal(ROWS, gold=make()) == f"gold: can't be read from {problem}"


def test_a_wrong_row_is_named():
    """It alone: the others have all columns, and are right."""
    for number in (0, 3):
        name = {"id": ROWS[number]["id"]}
        place = f"predictions: row {number}: id {name['id']!r}: "
        assert refusal(stream(change(number, name))) == f"{place}field 'label' is missing"
        assert (
            refusal(stream(change(number, name | {"label": 7})))
            == f"{place}label: 7 is not one of 'no', 'yes'"
        )
        assert refusal(stream(change(number, name | {"label": b"yes"}))).startswith(
            f"{place}label: b'yes' is bytes"
        )


def test_what_ends_a_program_is_not_wrapped():
    for error in (KeyboardInterrupt(), MemoryError()):
        with pytest.raises(type(error)):
            closeread.score("mctaco", stream(fail(ROWS, 2, error)), gold=GOLD)


def classes_of(values):
    """Names of classes in an order that is not that of the schema."""
    return datasets.ClassLabel(
        names=sorted({value for value in values if value is not None}, reverse=True)
    )


def with_classes(rows, fields):
    """A dataset of rows with lists of possessions, some of whose fields are numbers of classes."""
    plain = datasets.Dataset.from_list(rows)
    inside = plain.features["possessions"].feature
    kinds = {
        name: classes_of(one[name] for row in rows for one in row["possessions"]) for name in fields
    }
    features = datasets.Features({**plain.features, "possessions": [{**inside, **kinds}]})

    def number(one):
        return {
            **one,
            **{
                name: kind.str2int(one[name])
                for name, kind in kinds.items()
                if one[name] is not None
            },
        }

    numbered = [{**row, "possessions": [number(one) for one in row["possessions"]]} for row in rows]
    return datasets.Dataset.from_list(numbered, features=features)


# those of the sample are expected
@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_classes_inside_lists_are_their_names():
    gold, rows = sample_gold("wikipossessions"), system_rows("wikipossessions")
    wanted = closeread.score("wikipossessions", rows, gold=gold, resampling=QUICK).to_dict()
    fields = ["certainty", "relation", "relation_certainty"]
    numbered = with_classes(rows, fields)
    assert isinstance(numbered[0]["possessions"][0]["certainty"], int)
    own = with_classes(gold, fields)
    for key, given in ((gold, numbered), (gold, numbered.to_iterable_dataset()), (own, rows)):
        assert (
            closeread.score("wikipossessions", given, gold=key, resampling=QUICK).to_dict()
            == wanted
        )


@pytest.mark.filterwarnings("ignore:1 possession has a relation")
def test_a_number_without_a_name_is_refused():
    rows = system_rows("wikipossessions")
    for row in rows:
        row["possessions"] = [{**one, "certainty": -1} for one in row["possessions"]]
    names = datasets.ClassLabel(names=["certain", "uncertain"])
    plain = datasets.Dataset.from_list(rows)
    features = {
        **plain.features,
        "possessions": [{**plain.features["possessions"].feature, "certainty": names}],
    }
    given = datasets.Dataset.from_list(rows, features=datasets.Features(features))
    with pytest.raises(SubmissionError, match=r"possessions\[0\]\.certainty: -1 is not one of"):
        closeread.score(
            "wikipossessions", given, gold=sample_gold("wikipossessions"), resampling=QUICK
        )


def test_classes_in_structs_and_lists_of_lists():
    kind = datasets.ClassLabel(names=["b", "a"])
    features = datasets.Features(
        {"s": {"k": kind, "n": datasets.Value("int64")}, "l": [[kind]], "e": [kind]}
    )
    values = [
        {"s": {"k": 1, "n": 1}, "l": [[0], [1, 1], []], "e": []},
        {"s": {"k": None, "n": 0}, "l": [], "e": [0]},
    ]
    named = [
        {"s": {"k": "a", "n": 1}, "l": [["b"], ["a", "a"], []], "e": []},
        {"s": {"k": None, "n": 0}, "l": [], "e": ["b"]},
    ]
    made = datasets.Dataset.from_list(values, features=features)
    assert list(take_rows("rows", made)) == named
    assert list(take_rows("rows", made.to_iterable_dataset())) == named
