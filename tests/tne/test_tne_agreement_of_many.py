"""Agreement of several annotators of TNE, in all and by domain: by hand, and files that can't be compared."""

from fractions import Fraction

import pytest
from shared import json_lines
from shared.for_each import for_each
from shared.tne_annotated import agreement, document, submit

from closeread.exceptions import FormatError
from closeread.tasks.tne.agreement import measure_agreement

WORDS = "Ada she her Ben he roof house town"
ROOF, HOUSE, TOWN = 5, 6, 7
ANNA = document(
    "d",
    WORDS,
    [(ROOF, "of", HOUSE), (ROOF, "in", TOWN), (HOUSE, "on", TOWN), (HOUSE, "by", TOWN), (0, "at", ROOF)],
    [[0, 1, 2], [3, 4]],
)
BEN = document(
    "d", WORDS, [(ROOF, "of", HOUSE), (ROOF, "near", TOWN), (HOUSE, "by", TOWN), (TOWN, "to", ROOF)], [[0, 1], [3, 4]]
)
OTHER = document("e", "a b", [(0, "of", 1)])
NAMES = ("anna", "ben", "cem")

# Ben against Anna as in `test_tne_agreement`; Cem is Anna again.  Against Ben, the first preposition of a pair counts,
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
        assert [one.scores[name] for one in found.pairs.values()] == pytest.approx([float(Fraction(v)) for v in values])
        assert found.mean[name] == pytest.approx(float(sum(map(Fraction, values)) / 3))
    assert set(found.mean) == {*MEAN, "uprep"}
    assert found.mean["uprep"] is None
    assert found.pairs[0, 1] == agreement([ANNA], [BEN])
    assert not list(found.describe())


def test_the_mean_leaves_out_what_an_annotator_lacks():
    found = measure_agreement([[ANNA], [BEN], [{**ANNA, "coref": None}]], NAMES)
    assert found.mean["muc/f1"] == 4 / 5
    assert found.mean["links/f1"] == pytest.approx(7 / 12)
    assert list(found.describe()) == [
        "cem has no clusters: its clusters are not compared.",
        "MUC, CoNLL: the means leave out 2 of 3 pairs, without a value.",
    ]
    # Only the pair of Anna and Cem has fallback prepositions that are needed.
    found = measure_agreement([[ANNA], [BEN], [submit("d", [], [(0, "at", ROOF), (ROOF, "of", HOUSE)])]], NAMES)
    assert [one.scores["uprep"] for one in found.pairs.values()] == [None, 2 / 4, 1 / 4]
    assert found.mean["uprep"] == 3 / 8


def test_domains_by_hand():
    first = [*placed("books", ANNA), *placed("imdb", OTHER)]
    found = agreement(first, [OTHER | {"np_relations": []}, BEN], by=["domain"])
    books, imdb = (found.slices["domain"][name] for name in ("books", "imdb"))
    assert (books.documents, imdb.documents) == (1, 1)
    alone = agreement([ANNA], [BEN])
    assert (books.links, books.clusters) == (alone.links, alone.clusters)
    # One link that only the first has, and no cluster of two.
    assert {imdb.links[name] for name in ("links/recall", "links/f1", "triplets/f1")} == {0}
    assert {imdb.links[name] for name in ("links/precision", "iprep")} | set(imdb.clusters.values()) == {None}
    assert found.links == agreement([ANNA, OTHER], [OTHER | {"np_relations": []}, BEN]).links


def test_slices_of_three_are_means():
    sides = [[*placed("books", one), *placed("imdb", OTHER)] for one in (ANNA, BEN, ANNA)]
    found = measure_agreement(sides, NAMES, ["domain"])
    slices = found.average_slices("domain")
    assert [(value, one.documents) for value, one in slices.items()] == [("books", 1), ("imdb", 1)]
    assert slices["books"].scores["links/f1"] == pytest.approx(7 / 12)
    assert slices["imdb"].scores["links/f1"] == 1
    assert not slices["books"].partial
    # Counts are summed over documents: 2 + 1 of 4 + 1 pairs, all, and 1 + 1 of 4 + 1.
    assert found.mean["links/f1"] == pytest.approx((3 / 5 + 1 + 2 / 5) / 3)


@for_each(
    ("fields", "domain", "forum"),
    [
        ({}, "unknown", "unknown"),
        ({"domain": "books"}, "books", "none"),
        ({"domain": "reddit", "forum": "atheism"}, "reddit", "atheism"),
    ],
)
def test_a_document_has_the_domain_of_whoever_has_one(fields, domain, forum):
    found = measure_agreement([[submit("e", [])], [OTHER | fields], [OTHER]], NAMES, ["forum", "domain"])
    assert [list(part) for part in found.pairs[0, 2].slices.values()] == [[forum], [domain]]
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
    assert [problem.message for problem in caught.value.problems] == [
        "cem has 1 document that anna lacks: 'e'",
        f"document 'd': ben and cem differ in text from character {len(BEN['text'])} on (counted from 0)",
    ]
    sides[2] = placed("imdb", BEN)
    with pytest.raises(FormatError) as caught:
        measure_agreement(sides, NAMES, ["domain"])
    assert [problem.message for problem in caught.value.problems] == [
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
    json_lines.write("ben.jsonl", [*placed("books", BEN), *placed("imdb", OTHER | {"np_relations": []})])
    json_lines.write("cem.jsonl", [*placed("books", ANNA), *placed("imdb", OTHER | {"np_relations": []})])
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
