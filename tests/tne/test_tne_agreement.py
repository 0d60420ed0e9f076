"""Agreement of two annotators of TNE: by hand, what must hold of any two, and files that can't be compared."""

import gzip
import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import json_lines
from shared.tne_annotated import agreement, document, submit
from shared.tne_random import documents

from closeread.exceptions import FormatError
from closeread.tasks.tne.agreement import measure_agreement

WORDS = "Ada she her Ben he roof house town"
ROOF, HOUSE, TOWN = 5, 6, 7
OURS = [
    (ROOF, "of", HOUSE),
    (ROOF, "in", TOWN),
    (HOUSE, "on", TOWN),
    (HOUSE, "by", TOWN),
    (0, "at", ROOF),
]
THEIRS = [(ROOF, "of", HOUSE), (ROOF, "near", TOWN), (HOUSE, "by", TOWN), (TOWN, "to", ROOF)]
FIRST = document("d", WORDS, OURS, [[0, 1, 2], [3, 4]])
SECOND = document("d", WORDS, THEIRS, [[0, 1], [3, 4]])
OTHER = document("e", "a b", [(0, "of", 1)])

# Of 4 and 4 pairs 3 are shared, 2 of them by a preposition that the first has; of 5 and 4 triplets 2 are.
LINKS = {
    "links/precision": "1/2", "links/recall": "1/2", "links/f1": "1/2",
    "unlabeled/precision": "3/4", "unlabeled/recall": "3/4", "unlabeled/f1": "3/4",
    "triplets/precision": "1/2", "triplets/recall": "2/5", "triplets/f1": "4/9",
    "iprep": "2/3",
}  # fmt: skip
# MUC: 2 of 3 and 2 of 2 links.  B-cubed: (2/3 + 2/3 + 0 + 1 + 1) / 5 = 2/3 and 1, since who is alone is no mention.
# CEAFe: 2 * 2 / 5 + 1 of 2 clusters on both sides.  CoNLL: (4/5 + 4/5 + 9/10) / 3.
CLUSTERS = {"muc/precision": "1", "muc/recall": "2/3", "muc/f1": "4/5", "conll/f1": "5/6"}


WITHOUT_SINGLETONS = "Clusters are compared without singletons."


def exactly(values):
    return pytest.approx(
        {name: float(Fraction(value)) for name, value in values.items()}, abs=1e-12
    )


def test_by_hand():
    found = agreement([FIRST, OTHER], [SECOND, OTHER | {"np_relations": []}][::-1])
    assert (found.n_units, list(found.notes)) == (2, [WITHOUT_SINGLETONS])
    # One more pair, and triplet, of the first that the second lacks.
    more = {
        "links/recall": "2/5",
        "links/f1": "4/9",
        "unlabeled/recall": "3/5",
        "unlabeled/f1": "2/3",
    }
    more |= {"triplets/recall": "1/3", "triplets/f1": "2/5"}
    scores = dict(found.pairs[0, 1])
    assert scores.pop("uprep") is None
    assert scores == exactly(LINKS | more | CLUSTERS)


@pytest.mark.parametrize(
    ("fallback", "uprep", "why"),
    [
        ([(0, "at", ROOF)], 1.0, "the one pair that the second does not link"),
        ([(0, "in", ROOF)], 0.0, "another preposition"),
        ([(TOWN, "in", ROOF)], 0.0, "nothing for that pair"),
        ([], None, "no fallback at all"),
        (None, None, "nor the field"),
    ],
)
def test_links_as_a_system_sends_them(fallback, uprep, why):
    found = agreement([FIRST], [submit("d", THEIRS, fallback)])
    scores = dict(found.pairs[0, 1])
    assert scores.pop("uprep") == uprep, why
    assert scores == exactly(LINKS)
    assert list(found.notes) == ["the second has no clusters: its clusters are not compared."]
    turned = agreement([submit("d", OURS)], [SECOND])
    assert turned.pairs[0, 1]["links/f1"] == 1 / 2


def test_what_was_not_annotated_is_not_compared():
    clusters_only = {**SECOND, "np_relations": None}
    found = agreement([FIRST, OTHER], [clusters_only, {**OTHER, "coref": None}], ("anna", "ben"))
    assert found.pairs[0, 1] == {}
    assert list(found.notes) == [
        "ben has no links for 1 of 2 documents ('d'): its links are not compared.",
        "ben has no clusters for 1 of 2 documents ('e'): its clusters are not compared.",
    ]


@given(documents(), st.data())
def test_any_two(records, data):
    kept = [
        data.draw(st.lists(st.booleans(), min_size=(n := len(r["np_relations"])), max_size=n))
        for r in records
    ]
    others = [
        {
            **r,
            "np_relations": [
                link for link, keep in zip(r["np_relations"], mask, strict=True) if keep
            ],
        }
        for r, mask in zip(records, kept, strict=True)
    ]
    found, turned, same = (
        sides.pairs[0, 1]
        for sides in (
            agreement(records, others),
            agreement(others[::-1], records),
            agreement(records, records),
        )
    )
    assert all(value in (None, 1.0) for value in same.values())
    ours, theirs = (
        {(r["id"], link["anchor"], link["complement"]) for r in side for link in r["np_relations"]}
        for side in (records, others)
    )
    if theirs:
        assert found["unlabeled/precision"] == 1
        assert found["unlabeled/recall"] == pytest.approx(len(theirs) / len(ours))
        assert found["iprep"] == 1
    for family in ("unlabeled", "triplets"):
        assert found[f"{family}/recall"] == turned[f"{family}/precision"]
        assert found[f"{family}/f1"] == pytest.approx(turned[f"{family}/f1"])


def changed(record, place, **values):
    """The record with a noun phrase changed."""
    return {
        **record,
        "nps": [np | values if i == place else np for i, np in enumerate(record["nps"])],
    }


@pytest.mark.parametrize(
    ("first", "second", "problems"),
    [
        (
            [document(name, "a b") for name in "vwxyz"],
            [document(name, "a b") for name in "zä"],
            [
                "ben lacks 4 of the 5 documents of anna: 'v', 'w', 'x', … (expected the same documents)",
                "anna lacks 1 of the 2 documents of ben: 'ä' (expected the same documents)",
            ],
        ),
        (
            [OTHER],
            [{**OTHER, "text": "a c", "tokens": ["a"]}],
            [
                "document 'e': anna and ben differ in text from character 2 on (counted from 0)",
                "document 'e': anna and ben differ in tokens from token 1 on (counted from 0)",
            ],
        ),
        (
            [document("e", "a b")],
            [changed(changed(document("e", "a b"), 0, last_char=3, text="a b"), 1, id="np2")],
            [
                "document 'e': np0 is 'a b' (characters 0 to 3, tokens 0 to 0) in ben but 'a' (characters 0 to 1,"
                " tokens 0 to 0) in anna",
                "document 'e': ben lacks np1, which is 'b' (characters 2 to 3, tokens 1 to 1) in anna",
                "document 'e': ben has np2, 'b' (characters 2 to 3, tokens 1 to 1), which anna lacks",
            ],
        ),
        (
            [document("e", "a b")],
            [changed(document("e", "a b"), 1, last_token=None)],
            [
                "document 'e': np1 is 'b' (characters 2 to 3, tokens 1 to null) in ben but 'b' (characters 2 to 3,"
                " tokens 1 to 1) in anna"
            ],
        ),
        (
            [OTHER],
            [submit("e", [(0, "of", 0), (0, "of", 2)])],
            [
                "ben: document 'e': relations[1]: complement 'np2' does not exist (expected one of its 2 noun phrases,"
                " np0 to np1)",
                "ben: document 'e': relations[0]: np0 is linked to itself (expected two noun phrases)",
            ],
        ),
        (
            [submit("e", [(0, "of", 7)])],
            [OTHER],
            [
                "anna: document 'e': relations[0]: complement 'np7' does not exist (expected one of its 2 noun phrases,"
                " np0 to np1)"
            ],
        ),
        (
            [OTHER],
            [OTHER | submit("e", [])],
            ["ben: document 'e' has both np_relations and relations (expected one of them)"],
        ),
    ],
)
def test_what_can_not_be_compared(first, second, problems):
    with pytest.raises(FormatError) as caught:
        agreement(first, second, ("anna", "ben"))
    assert str(caught.value).startswith("annotations: ")
    assert [problem.text for problem in caught.value.problems] == problems


def test_the_command(ran):
    json_lines.write("anna.jsonl", [FIRST, OTHER])
    Path("ben.jsonl.gz").write_bytes(gzip.compress(json_lines.dump([OTHER, SECOND]).encode()))
    pq.write_table(pa.Table.from_pylist([SECOND, OTHER]), "ben.parquet")
    found = json.loads(ran("agreement", "tne", "anna.jsonl", "ben.jsonl.gz", "--json"))
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"]) == ("anna.jsonl", "ben.jsonl.gz")
    assert pair["scores"]["iprep"] == 3 / 4
    assert pair["scores"]["uprep"] is None
    assert pair["scores"]["conll/f1"] == pytest.approx(5 / 6)
    again = json.loads(ran("agreement", "tne", "anna.jsonl", "ben.parquet", "--json"))
    assert again["pairs"][0]["scores"] == pair["scores"]


def test_bad_files_on_the_command_line(ran, run):
    json_lines.write("anna.jsonl", [FIRST, {**OTHER, "id": 1}])
    json_lines.write("ben.jsonl", [SECOND])
    result = run("agreement", "tne", "anna.jsonl", "ben.jsonl")
    assert result.exit_code == 1
    assert "anna.jsonl:2: id: expected text, found 1" in result.stderr
    Path("bad.jsonl").write_text("{", "utf-8")
    result = run("agreement", "tne", "anna.jsonl", "bad.jsonl")
    assert "anna.jsonl:2: id: expected text, found 1" in result.stderr
    assert "bad.jsonl:1: is not valid JSON" in result.stderr
    json_lines.write("anna.jsonl", [FIRST, OTHER])
    result = run("agreement", "tne", "anna.jsonl", "ben.jsonl")
    assert result.exit_code == 1
    assert (
        result.stderr
        == "Error: annotations: ben.jsonl lacks 1 of the 2 documents of anna.jsonl: 'e' (expected the same documents)\n"
    )


@pytest.mark.extended
def test_the_release_agrees_with_itself_in_both_versions(corpora, ran):
    files = [corpora / "tne" / name for name in ("dev.jsonl.gz", "dev-v1.1.jsonl.gz")]
    found = json.loads(ran("agreement", "tne", *files, "--json"))
    assert found["n_units"] == 500
    assert {name for name, value in found["pairs"][0]["scores"].items() if value != 1} == {"uprep"}


ANNA, BEN = FIRST, SECOND
NAMES = ("anna", "ben", "cem")

# Ben against Anna as above; Cem is Anna again.  Against Ben, the first preposition of a pair counts,
# so that of Cem's four pairs, of which Ben has three, only one has Ben's preposition.
MEAN = {
    "links/f1": ("1/2", "1", "1/4"),
    "unlabeled/f1": ("3/4", "1", "3/4"),
    "triplets/f1": ("4/9", "1", "4/9"),
    "iprep": ("2/3", "1", "1/3"),
    "muc/f1": ("4/5", "1", "4/5"),
    "conll/f1": ("5/6", "1", "5/6"),
}


def placed(domain, *records, **fields):
    return [{**record, "domain": domain, **fields} for record in records]


def test_three_annotators_by_hand():
    found = measure_agreement([[ANNA], [BEN], [ANNA]], NAMES)
    assert list(found.pairs) == [(0, 1), (0, 2), (1, 2)]
    for name, values in MEAN.items():
        assert [scores[name] for scores in found.pairs.values()] == pytest.approx(
            [float(Fraction(v)) for v in values]
        )
        assert found.mean[name] == pytest.approx(float(sum(map(Fraction, values)) / 3))
    assert set(found.mean) == {*MEAN, "uprep"}
    assert found.mean["uprep"] is None
    assert found.pairs[0, 1] == agreement([ANNA], [BEN]).pairs[0, 1]
    assert not found.partial or found.partial == {}


def test_the_mean_leaves_out_what_an_annotator_lacks():
    found = measure_agreement([[ANNA], [BEN], [{**ANNA, "coref": None}]], NAMES)
    assert found.mean["muc/f1"] == 4 / 5
    assert found.mean["links/f1"] == pytest.approx(7 / 12)
    assert found._to_grids()[0].notes[2:] == [
        "cem has no clusters: its clusters are not compared.",
        WITHOUT_SINGLETONS,
        "MUC, CoNLL: the means leave out 2 of 3 pairs, without a value.",
    ]
    # Only the pair of Anna and Cem has fallback prepositions that are needed.
    found = measure_agreement(
        [[ANNA], [BEN], [submit("d", [], [(0, "at", ROOF), (ROOF, "of", HOUSE)])]], NAMES
    )
    assert [scores["uprep"] for scores in found.pairs.values()] == [None, 2 / 4, 1 / 4]
    assert found.mean["uprep"] == 3 / 8


def test_domains_by_hand():
    first = [*placed("books", ANNA), *placed("imdb", OTHER)]
    found = agreement(first, [OTHER | {"np_relations": []}, BEN], by=["domain"])
    books, imdb = (found.slices["domain"][name] for name in ("books", "imdb"))
    assert (books.n_units, imdb.n_units) == (1, 1)
    assert books.pairs == agreement([ANNA], [BEN]).pairs
    # One link that only the first has, and no cluster of two.
    scores = imdb.pairs[0, 1]
    assert {scores[name] for name in ("links/recall", "links/f1", "triplets/f1")} == {0}
    assert {scores[name] for name in ("links/precision", "iprep", *CLUSTERS)} == {None}
    assert found.pairs == agreement([ANNA, OTHER], [OTHER | {"np_relations": []}, BEN]).pairs


def test_slices_of_three_are_means():
    sides = [[*placed("books", one), *placed("imdb", OTHER)] for one in (ANNA, BEN, ANNA)]
    found = measure_agreement(sides, NAMES, ["domain"])
    slices = found.slices["domain"]
    assert [(value, one.n_units) for value, one in slices.items()] == [("books", 1), ("imdb", 1)]
    assert slices["books"].mean["links/f1"] == pytest.approx(7 / 12)
    assert slices["imdb"].mean["links/f1"] == 1
    assert not slices["books"].partial
    # Counts are summed over documents: 2 + 1 of 4 + 1 pairs, all, and 1 + 1 of 4 + 1.
    assert found.mean["links/f1"] == pytest.approx((3 / 5 + 1 + 2 / 5) / 3)


@pytest.mark.parametrize(
    ("fields", "domain", "forum"),
    [
        ({}, "unknown", "unknown"),
        ({"domain": "books"}, "books", "none"),
        ({"domain": "reddit", "forum": "atheism"}, "reddit", "atheism"),
    ],
)
def test_a_document_has_the_domain_of_whoever_has_one(fields, domain, forum):
    found = measure_agreement(
        [[submit("e", [])], [OTHER | fields], [OTHER]], NAMES, ["forum", "domain"]
    )
    assert [list(part) for part in found.slices.values()] == [[forum], [domain]]
    # Only a document of unknown domain has an unknown forum, whether or not domains are asked for.
    assert list(agreement([OTHER | fields], [OTHER], by=["forum"]).slices["forum"]) == [forum]


def test_all_problems_of_all_annotators():
    sides = [
        [submit("d", [(0, "of", 9)])],
        placed("books", ANNA),
        [*placed("imdb", {**BEN, "text": f"{BEN['text']}!"}), OTHER],
    ]
    with pytest.raises(FormatError) as caught:
        measure_agreement(sides, NAMES, ["domain"])
    # The first has no text, so the second's is what the third is compared with.
    assert [problem.text for problem in caught.value.problems] == [
        "anna lacks 1 of the 2 documents of cem: 'e' (expected the same documents)",
        f"document 'd': ben and cem differ in text from character {len(BEN['text'])} on (counted from 0)",
    ]
    sides[2] = placed("imdb", BEN)
    with pytest.raises(FormatError) as caught:
        measure_agreement(sides, NAMES, ["domain"])
    assert [problem.text for problem in caught.value.problems] == [
        "document 'd': domain is 'books' in ben but 'imdb' in cem",
        "anna: document 'd': relations[0]: complement 'np9' does not exist (expected one of its 8 noun phrases, np0 to"
        " np7)",
    ]


@pytest.fixture
def files():
    """The files of three annotators of two domains."""
    for name, record in (("anna", ANNA), ("ben", BEN), ("cem", ANNA)):
        json_lines.write(f"{name}.jsonl", [*placed("books", record), *placed("imdb", OTHER)])
    return [f"{name}.jsonl" for name in NAMES]


def test_means_of_slices_that_leave_out_pairs(ran, files):
    # Only Anna has a link in one of the domains.
    json_lines.write(
        "ben.jsonl", [*placed("books", BEN), *placed("imdb", OTHER | {"np_relations": []})]
    )
    json_lines.write(
        "cem.jsonl", [*placed("books", ANNA), *placed("imdb", OTHER | {"np_relations": []})]
    )
    printed = ran("agreement", "tne", *files, "--by", "domain").splitlines()
    rows = [line.split() for line in printed]
    # F1 is 0 if only one of the two has a link, and undefined if nobody has; prepositions and clusters never have any.
    assert ["imdb", "1", "0.00*", "0.00*", "0.00*", "–", "–", "–"] in rows
    assert printed[-1] == "* The mean leaves out pairs without a value."


def test_nothing_in_common(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    json_lines.write("anna.jsonl", [ANNA | {"coref": None}])
    json_lines.write("ben.jsonl", [BEN | {"np_relations": None}])
    done = run("agreement", "tne", "anna.jsonl", "ben.jsonl", "ben.jsonl")
    assert done.exit_code == 0  # Ben's clusters
    done = run("agreement", "tne", "anna.jsonl", "ben.jsonl")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (
        "Error: no two files have links, or clusters, for all documents (expected either of them)"
    )


def test_a_submission_on_the_command_line(ran):
    json_lines.write("anna.jsonl", [FIRST])
    json_lines.write("ben.jsonl", [submit("d", THEIRS, [(0, "at", ROOF)])])
    printed = ran("agreement", "tne", "anna.jsonl", "ben.jsonl").splitlines()
    assert ["UPrep", "100.00"] in [line.split() for line in printed]
    assert printed[-2:] == [
        "ben.jsonl against anna.jsonl, 1 document.",
        "ben.jsonl has no clusters: its clusters are not compared.",
    ]
