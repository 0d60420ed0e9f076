"""What systems send for TNE: links and the leaderboard's arrays, and everything that is wrong with a file at once."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closeread.corpora.gold import load_corpus, read_gold
from closeread.errors import SHOWN, InputError, RequestError, SubmissionError
from closeread.formats.json_lines import dump_json_lines
from closeread.records import Parsed
from closeread.scoring import count_predictions, submission_for
from closeread.tasks.tne import tne_arrays
from closeread.tasks.tne.columns import PREPOSITIONS
from closeread.tasks.tne.procedure import PROCEDURE

TNE = load_corpus("tne")
GOLD = read_gold(TNE, "sample")
IDS = [record["id"] for record in GOLD.records]
SIZES = [len(record["nps"]) for record in GOLD.records]
KNOWN = "needed: one of its 13 noun phrases, np0 to np12"
ONE_OF = f"is not one of {list(PREPOSITIONS[1:])!r}"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file to write and read again and again."""
    return tmp_path_factory.mktemp("submissions") / "system"


def link(anchor, preposition, complement):
    return {"anchor": f"np{anchor}", "complement": f"np{complement}", "preposition": preposition}


def sent(links=(), fallback=None, name=None):
    """A row for every document, of which the first (or the one of the name) has these links."""
    rows = [{"id": i, "relations": []} for i in IDS]
    rows[0 if name is None else IDS.index(name)]["relations"] = list(links)
    if fallback is not None:
        rows[0]["fallback"] = list(fallback)
    return rows


def refused(file, content, **options):
    """What is wrong with a file, each problem as its line and its words."""
    file.write_text(content if isinstance(content, str) else dump_json_lines(content), "utf-8")
    with pytest.raises(SubmissionError) as caught:
        submission_for(GOLD, file, PROCEDURE.resolve_options(options))
    assert all(problem.what.isprintable() for problem in caught.value.problems)
    return [(problem.line, problem.what) for problem in caught.value.problems]


def read(file, content, **options):
    file.write_text(content if isinstance(content, str) else dump_json_lines(content), "utf-8")
    return submission_for(GOLD, file, PROCEDURE.resolve_options(options))


# Links.


def test_a_sound_file(file):
    rows = sent([link(0, "of", 1), link(0, "in", 1), link(12, "of", 0)], [link(1, "of", 0), link(0, "of", 1)])
    submission = read(file, rows)
    assert list(submission.rows) == rows
    assert submission.missing == ()
    assert list(read(file, rows[::-1]).rows) == rows
    nulls = [{**row, "fallback": row.get("fallback")} for row in rows]
    assert list(read(file, nulls).rows) == nulls


@pytest.mark.parametrize(
    ("rows", "problems"),
    [
        (
            sent([link(0, "of", 1), link(13, "of", 1), link(1, "of", 99999)]),
            [
                f"id 's1': relations[1]: anchor 'np13' does not exist; {KNOWN}",
                f"id 's1': relations[2]: complement 'np99999' does not exist; {KNOWN}",
            ],
        ),
        (
            sent([link("x", "of", 1), {"anchor": "7", "complement": "np-1", "preposition": "of"}]),
            [
                f"id 's1': relations[0]: anchor 'npx' does not exist; {KNOWN}",
                f"id 's1': relations[1]: anchor '7' does not exist; {KNOWN}",
                f"id 's1': relations[1]: complement 'np-1' does not exist; {KNOWN}",
            ],
        ),
        (sent([link(4, "of", 4)]), ["id 's1': relations[0]: np4 is linked to itself; needed: two noun phrases"]),
        (
            sent([link(0, "of", 1), link(0, "in", 1), link(1, "of", 0), link(0, "of", 1)]),
            ["id 's1': relations[3]: the link of np0 and np1 by 'of' is given twice"],
        ),
        (
            sent([], [link(0, "of", 1), link(0, "in", 1), link(0, "of", 1)]),
            [
                "id 's1': fallback[1]: np0 and np1 have a fallback already; needed: one",
                "id 's1': fallback[2]: np0 and np1 have a fallback already; needed: one",
            ],
        ),
        (sent([], [link(3, "of", 3)]), ["id 's1': fallback[0]: np3 is linked to itself; needed: two noun phrases"]),
        (sent([["np0", "of", "np1"]]), ["id 's1': relations[0]: ['np0', 'of', 'np1'] is not of type 'object'"]),
    ],
)
def test_broken_links(file, rows, problems):
    assert refused(file, rows) == [(1, what) for what in problems]


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (link(0, "_", 1), f"relations[0].preposition: '_' {ONE_OF}"),
        (link(0, "Of", 1), f"relations[0].preposition: 'Of' {ONE_OF}"),
        (link(0, "", 1), f"relations[0].preposition: '' {ONE_OF}"),
        (
            {**link(0, "of", 1), "score": 0.5},
            "relations[0]: Additional properties are not allowed ('score' was unexpected)",
        ),
        ({"anchor": "np0", "complement": "np1"}, "relations[0]: 'preposition' is a required property"),
        ({**link(0, "of", 1), "anchor": 0}, "relations[0].anchor: 0 is not of type 'string'"),
        ({**link(0, "of", 1), "anchor": ""}, "relations[0].anchor: '' should be non-empty"),
    ],
)
def test_broken_links_are_told_whole(file, broken, problem):
    inside = f"(in {json.dumps(broken)})"
    assert refused(file, sent([broken])) == [(1, f"id 's1': {problem} {inside}")]
    of_fallback = problem.replace("relations", "fallback")
    assert refused(file, sent([], [broken])) == [(1, f"id 's1': {of_fallback} {inside}")]


def test_one_broken_link_hides_no_other(file):
    rows = sent([link(0, "beside", 1), link(0, "of", 99), {"anchor": "np1"}, link(4, "of", 4), link(2, "of", 3)])
    rows[0]["relations"].append(link(2, "of", 3))
    rows[0]["fallback"] = [link(0, "by", 1), 7, link(5, "of", 6), link(5, "in", 6)]
    found = refused(file, [rows[0], {"id": "s2", "relations": 7}, rows[2]])
    assert [(line, what.split(" is not one of")[0].split(" (in")[0]) for line, what in found] == [
        (None, "no row for 1 of the 4 ids of the gold: 's4'; needed: one for each, unless missing is empty or skip"),
        (1, "id 's1': fallback[1]: 7 is not of type 'object'"),
        (1, "id 's1': relations[0].preposition: 'beside'"),
        (1, "id 's1': relations[2]: 'complement' is a required property"),
        (1, "id 's1': relations[2]: 'preposition' is a required property"),
        (1, f"id 's1': relations[1]: complement 'np99' does not exist; {KNOWN}"),
        (1, "id 's1': relations[3]: np4 is linked to itself; needed: two noun phrases"),
        (1, "id 's1': relations[5]: the link of np2 and np3 by 'of' is given twice"),
        (1, "id 's1': fallback[3]: np5 and np6 have a fallback already; needed: one"),
        (2, "id 's2': relations: 7 is not of type 'array'"),
    ]


def test_rows_are_named_by_their_line(file):
    rows = sent([link(0, "of", 0)], name="s3")
    assert refused(file, rows) == [(3, "id 's3': relations[0]: np0 is linked to itself; needed: two noun phrases")]
    assert refused(file, rows[::-1]) == [
        (2, "id 's3': relations[0]: np0 is linked to itself; needed: two noun phrases")
    ]


@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
def test_unknown_and_repeated_ids(file, missing):
    rows = [*sent(), {"id": "s9", "relations": []}, sent()[1], {"id": 7, "relations": []}, {"relations": []}]
    assert refused(file, rows, missing=missing) == [
        (5, "id 's9' is not in the gold"),
        (6, "id 's2' was given on line 2 already"),
        (7, "id: 7 is not of type 'string'"),
        (8, "'id' is a required property"),
    ]


def test_missing_documents(file):
    message = "no row for 2 of the 4 ids of the gold: 's2', 's4'; needed: one for each, unless missing is empty or skip"
    rows = [sent()[0], sent()[2]]
    assert refused(file, rows) == [(None, message)]
    for missing in ("empty", "skip"):
        submission = read(file, rows, missing=missing)
        assert submission.missing == ("s2", "s4")
        assert list(submission.rows) == [rows[0], None, rows[1], None]


def test_everything_at_once(file):
    rows = [
        {"id": "s9", "relations": []},
        {"id": "s1", "relations": [link(0, "of", 0), link(20, "of", 1)]},
        {"id": "s2", "relations": [link(0, "Of", 1), link(0, "of", 0)]},
        {"id": "s1", "relations": []},
        {"id": "s3", "relations": [], "fallback": [link(0, "of", 1)] * 2},
    ]
    assert refused(file, rows) == [
        (None, "no row for 1 of the 4 ids of the gold: 's4'; needed: one for each, unless missing is empty or skip"),
        (1, "id 's9' is not in the gold"),
        (2, f"id 's1': relations[1]: anchor 'np20' does not exist; {KNOWN}"),
        (2, "id 's1': relations[0]: np0 is linked to itself; needed: two noun phrases"),
        (3, f"id 's2': relations[0].preposition: 'Of' {ONE_OF} (in {json.dumps(link(0, 'Of', 1))})"),
        (3, "id 's2': relations[1]: np0 is linked to itself; needed: two noun phrases"),
        (4, "id 's1' was given on line 2 already"),
        (5, "id 's3': fallback[1]: np0 and np1 have a fallback already; needed: one"),
    ]
    content = dump_json_lines(rows) + '{"id": "s4", "id": "s4"}\n\n'
    assert refused(file, content)[-2:] == [
        (6, "key 'id' is given twice"),
        (7, "is blank; needed: one JSON object a line"),
    ]


# Arrays.


def arrays(changes=(), **keys):
    """The leaderboard's rows without a link, with changes: {line: {place: label}} or {line: a whole list}."""
    rows = [[0] * size**2 for size in SIZES]
    for line, change in dict(changes).items():
        if isinstance(change, dict):
            for place, label in change.items():
                rows[line - 1][place] = label
        else:
            rows[line - 1] = change
    return [{"predicted_prepositions": row, **keys} for row in rows]


def test_arrays_row_by_row(file):
    rows = arrays({1: {1: 1, 13: 3, 12 * 13: 24}, 3: {9: 9}})
    wanted = sent([link(0, "of", 1), link(1, "in", 0), link(12, "around", 0)])
    wanted[2]["relations"] = [link(0, "member(s) of", 9)]
    assert list(read(file, rows).rows) == wanted
    with_ids = [{"id": name, **row} for name, row in zip(IDS, rows, strict=True)]
    assert list(read(file, with_ids).rows) == wanted
    last = [{**row, "id": name} for name, row in zip(IDS, rows, strict=True)]
    assert list(read(file, last).rows) == wanted


def test_the_diagonal_counts_for_nothing(file):
    rows = arrays({1: {0: 7, 14: 24, 13**2 - 1: 1, 2: 1}})
    assert list(read(file, rows).rows) == sent([link(0, "of", 2)])


def test_every_label(file):
    rows = arrays({2: {label: label for label in range(1, 14)} | {12 * 14 + label: label for label in range(14, 25)}})
    (found,) = (row["relations"] for row in read(file, rows).rows if row["relations"])
    assert [PREPOSITIONS.index(one["preposition"]) for one in found] == list(range(1, 25))
    ends = [(one["anchor"], one["complement"]) for one in found]
    assert ends == [*(("np0", f"np{i}") for i in range(1, 14)), *(("np13", f"np{i}") for i in range(11))]


NEEDED = "needed: a whole number from 0 to 24"
LENGTH = "needed: 169, for every ordered pair of its 13 noun phrases"


LIST = f"needed: a list of labels, {LENGTH.removeprefix('needed: ')}"


@pytest.mark.parametrize(
    ("rows", "problems"),
    [
        (arrays({1: [0] * 168}), [(1, f"id 's1': predicted_prepositions has 168 labels; {LENGTH}")]),
        (arrays({1: [3]}), [(1, f"id 's1': predicted_prepositions has 1 label; {LENGTH}")]),
        (arrays({1: [0] * 170}), [(1, f"id 's1': predicted_prepositions has 170 labels; {LENGTH}")]),
        (arrays({1: []}), [(1, f"id 's1': predicted_prepositions has 0 labels; {LENGTH}")]),
        (arrays({1: [[0, 1]] * 3}), [
            (1, f"id 's1': predicted_prepositions has 3 labels; {LENGTH}"),
            *((1, f"id 's1': predicted_prepositions[{i}] is [0, 1]; {NEEDED}") for i in range(3)),
        ]),
        (arrays({2: {5: 25, 7: -1}}), [
            (2, f"id 's2': predicted_prepositions[5] (np0, np5) is 25; {NEEDED}"),
            (2, f"id 's2': predicted_prepositions[7] (np0, np7) is -1; {NEEDED}"),
        ]),
        (arrays({1: {0: -1}}), [(1, f"id 's1': predicted_prepositions[0] (np0, np0) is -1; {NEEDED}")]),
        (arrays({1: {1: True, 13: 1.0, 12 * 13 + 5: "1"}}), [
            (1, f"id 's1': predicted_prepositions[1] (np0, np1) is true; {NEEDED}"),
            (1, f"id 's1': predicted_prepositions[13] (np1, np0) is 1.0; {NEEDED}"),
            (1, f"id 's1': predicted_prepositions[161] (np12, np5) is '1'; {NEEDED}"),
        ]),
        (arrays({1: {1: None, 2: 10**400}}), [
            (1, f"id 's1': predicted_prepositions[1] (np0, np1) is null; {NEEDED}"),
            (1, f"id 's1': predicted_prepositions[2] (np0, np2) is {'1' + '0' * 27} … {'0' * 28}; {NEEDED}"),
        ]),
        (arrays({4: [99] * 121}), [
            (4, f"id 's4': predicted_prepositions[0] (np0, np0) is 99; {NEEDED}"),
            (4, f"id 's4': predicted_prepositions[1] (np0, np1) is 99; {NEEDED}"),
            (4, f"id 's4': predicted_prepositions[2] (np0, np2) is 99; {NEEDED} (and 118 more)"),
        ]),
        (arrays({1: 7}), [(1, f"id 's1': predicted_prepositions is 7; {LIST}")]),
        (arrays({1: "0" * 99}), [(1, f"id 's1': predicted_prepositions is '{'0' * 27} … {'0' * 27}'; {LIST}")]),
        (arrays({1: None}), [(1, f"id 's1': predicted_prepositions is null; {LIST}")]),
        ([arrays()[0], {}, *arrays()[2:]], [
            (2, "id 's2': predicted_prepositions is missing; "
                "needed: a list of labels, 196, for every ordered pair of its 14 noun phrases"),
        ]),
        (arrays(score=1)[:1] + arrays()[1:], [
            (1, "id 's1': has the key 'score'; needed: predicted_prepositions alone"),
        ]),
        (arrays(id="s2")[:2] + arrays()[2:], [(1, "id is 's2'; needed: 's1', or none")]),
        (arrays(id=None)[:1] + arrays()[1:], [(1, "id is null; needed: 's1', or none")]),
        ([*arrays()[:2], {"relations": []}, *arrays()[3:]], [
            (3, "id 's3': has the key 'relations'; needed: predicted_prepositions alone"),
            (3, "id 's3': predicted_prepositions is missing; "
                "needed: a list of labels, 100, for every ordered pair of its 10 noun phrases"),
        ]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
def test_broken_arrays(file, rows, problems, missing):
    assert refused(file, rows, missing=missing) == problems


@pytest.mark.parametrize("missing", ["error", "empty", "skip"])
@pytest.mark.parametrize(
    ("content", "n"),
    [
        (arrays()[:3], 3),
        ([*arrays(), arrays()[0]], 5),
        (arrays()[:1], 1),
    ],
)
def test_another_number_of_lines(file, content, n, missing):
    message = f"the number of lines is {n}; needed: 4, one for each document, in the order of the corpus"
    assert refused(file, content, missing=missing) == [(None, message)]


def test_everything_about_arrays_at_once(file):
    rows = [*arrays({1: {3: 25}, 3: [0]}), *arrays()[:1]]
    content = dump_json_lines(rows[:1]) + "x\n" + dump_json_lines(rows[2:])
    assert refused(file, content) == [
        (None, "the number of lines is 5; needed: 4, one for each document, in the order of the corpus"),
        (1, f"id 's1': predicted_prepositions[3] (np0, np3) is 25; {NEEDED}"),
        (2, "is no JSON: Expecting value at column 1"),
        (3, "id 's3': predicted_prepositions has 1 label; needed: 100, for every ordered pair of its 10 noun phrases"),
    ]


@pytest.mark.parametrize(
    ("line", "is_array"),
    [
        ('{"predicted_prepositions": [', True),
        (' {"id": "a", "predicted_prepositions" : [0]}', True),
        ('{"predicted_prepositions":7}', True),
        ('{"id": "s1", "relations": []}', False),
        ('{"id": "s1", "relations": [{"anchor": "predicted_prepositions"}], "predicted_prepositions": [0]}', False),
        ('["predicted_prepositions"]', False),
        ("", False),
    ],
)
def test_what_is_taken_for_arrays(line, is_array):
    assert tne_arrays.recognises(line) == is_array


LABELS = st.lists(st.integers(0, 24), min_size=1, max_size=6)


@given(st.data())
@settings(max_examples=50)
def test_arrays_round_trip(file, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    share = data.draw(st.sampled_from([0, 0.1, 1]))
    rows = arrays()
    for row, size in zip(rows, SIZES, strict=True):
        labels = np.where(rng.random((size, size)) < share, rng.integers(0, 25, (size, size)), 0)
        np.fill_diagonal(labels, 0)
        row["predicted_prepositions"] = labels.ravel().tolist()
    submission = read(file, rows)
    assert tne_arrays.dump_submission(submission.rows, GOLD.records) == dump_json_lines(rows)
    # The same as links, whatever the file.
    table = count_predictions(GOLD, file).table
    file.write_text(dump_json_lines(submission.rows), "utf-8")
    assert np.array_equal(count_predictions(GOLD, file).table.values, table.values)


def test_arrays_keep_the_first_of_several_labels():
    rows = sent([link(0, "of", 1), link(2, "at", 1), link(0, "in", 1)], [link(5, "of", 6)])
    written = [json.loads(line)["predicted_prepositions"] for line in
               tne_arrays.dump_submission(rows, GOLD.records).splitlines()]  # fmt: skip
    assert [len(row) for row in written] == [size**2 for size in SIZES]
    assert {place: label for place, label in enumerate(written[0]) if label} == {1: 1, 2 * 13 + 1: 15}
    assert not any(map(any, written[1:]))


def test_arrays_beyond_a_line_are_refused():
    # A line may have 2**26 bytes, and a label takes four at most.
    rows = [{"id": "small", "relations": []}, {"id": "large", "relations": []}]
    gold = [{"id": row["id"], "nps": [None] * size} for row, size in zip(rows, (2, 4097), strict=True)]
    message = (
        "id 'large': 4,097 noun phrases make 16,785,409 labels on a line; "
        "needed: at most 4,096 noun phrases, or JSON Lines of links"
    )
    with pytest.raises(RequestError) as caught:
        tne_arrays.dump_submission(rows, gold)
    assert str(caught.value) == message


def test_gold_is_a_submission(file):
    names = ("anchor", "complement", "preposition")
    rows = [
        {"id": record["id"], "relations": [{name: one[name] for name in names} for one in record["np_relations"]]}
        for record in GOLD.records
    ]
    file.write_text(dump_json_lines(rows), "utf-8")
    assert count_predictions(GOLD, file).table.values[:, :5].sum() > 0
    assert tne_arrays.parse_submission(
        tne_arrays.dump_submission(rows, GOLD.records).splitlines(), GOLD.records
    ) == Parsed([{**row, "relations": sorted(row["relations"], key=place)} for row in rows], [1, 2, 3, 4], [])


def place(one):
    return int(one["anchor"][2:]), int(one["complement"][2:])


# Anything.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 30) | st.sampled_from(["np0", "np12", "np13", "of", "s1", "s2", ""]),
    lambda value: st.lists(value, max_size=3) | st.dictionaries(st.sampled_from(["id", "anchor", "x"]), value),
    max_leaves=5,
)
NP = st.sampled_from(["np0", "np1", "np2", "np9", "np10", "np13", "np01"])
GOOD_LINK = st.fixed_dictionaries({"anchor": NP, "complement": NP, "preposition": st.sampled_from(["of", "in"])})
LINKS = st.lists(GOOD_LINK, max_size=4) | st.lists(GOOD_LINK | JSON, max_size=3) | JSON
ROW = st.fixed_dictionaries(
    {"id": st.sampled_from([*IDS, "s9"]) | JSON, "relations": LINKS}, optional={"fallback": LINKS}
)
ARRAY = st.fixed_dictionaries({"predicted_prepositions": st.lists(st.integers(-1, 26), max_size=100) | JSON})


def is_right(rows):
    """Whether rows can be scored, said slowly."""
    sizes = dict(zip(IDS, SIZES, strict=True))
    if any(
        type(row) is not dict or not {"id", "relations"} <= row.keys() <= {"id", "relations", "fallback"}
        for row in rows
    ):
        return False
    if any(row["id"] not in IDS for row in rows) or len({row["id"] for row in rows}) < len(rows):
        return False
    for row in rows:
        known = [f"np{i}" for i in range(sizes[row["id"]])]
        for name in ("relations", "fallback"):
            links = row.get(name)
            if links is None and name == "fallback":
                continue
            if type(links) is not list or any(type(one) is not dict or len(one) != 3 for one in links):
                return False
            if any(one.get(end) not in known for one in links for end in ("anchor", "complement")):
                return False
            if any(
                one.get("preposition") not in PREPOSITIONS[1:] or one["anchor"] == one["complement"] for one in links
            ):
                return False
            keys = [(one["anchor"], one["complement"], one["preposition"] * (name == "relations")) for one in links]
            if len(set(keys)) < len(keys):
                return False
    return True


@given(
    st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: json.dumps(row["id"])),
    st.sampled_from(["empty", "skip"]),
)
@settings(max_examples=200)
def test_rows_are_scored_or_refused_as_they_should(file, rows, missing):
    file.write_text(dump_json_lines(rows), "utf-8")
    try:
        counted = count_predictions(GOLD, file, {"missing": missing})
    except InputError as error:
        check_message(error)
        assert not is_right(rows)
        return
    assert is_right(rows)
    assert np.isfinite(counted.table.values).all()


@given(st.lists(ARRAY | JSON, min_size=3, max_size=5))
def test_any_arrays_are_scored_or_refused(file, rows):
    file.write_text(dump_json_lines([ARRAYS_FIRST, *rows]), "utf-8")
    try:
        count_predictions(GOLD, file)
    except InputError as error:
        check_message(error)


ARRAYS_FIRST = arrays()[0]


def check_message(error):
    """It says something, is fit for a terminal, and isn't too long."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()
    assert len(str(error).splitlines()) <= SHOWN + 1
