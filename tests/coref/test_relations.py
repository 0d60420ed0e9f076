"""Bridging, non-referring mentions, split antecedents and discourse deixis: options, counts by hand, notes, digests."""

from shutil import copyfile

import pytest
from shared.coreference import report_files, score_files, write_jsonl
from shared.universal_anaphora import HEADER, row

from closeread.exceptions import CloseReadWarning, RequestError, SubmissionError
from closeread.scoring import find_gold, open_scorer
from closeread.tasks.coref.files import read_documents
from closeread.tasks.coref.key_response import CoreferenceReader
from closeread.tasks.coref.procedure import PROCEDURE
from closeread.tasks.coref.universal_anaphora.relations import (
    find_circles,
    find_place,
    find_single_antecedents,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:not scored in the:closeread.CloseReadWarning",
    "ignore:1 document matched by name and part:closeread.CloseReadWarning",
)  # what is not scored is told

BRIDGING = ("bridging_anaphors", "bridging_mentions", "bridging_entities")


@pytest.fixture
def write(tmp_path):
    """A function that writes rows, each (identity, bridging, deixis), as a file of one document."""

    def call(name, *rows, document="a"):
        path = tmp_path / f"{name}.conllua"
        lines = [row(i, *cells) for i, cells in enumerate(rows, start=1)]
        path.write_text(HEADER + "\n".join([f"# newdoc id = {document}", *lines, "", ""]), "utf-8")
        return path

    return call


def mention(entity, name, **fields):
    values = {"EntityID": entity, "MarkableID": name, **fields}
    return "(" + "|".join(f"{key}={value}" for key, value in values.items()) + ")"


def anchor(anaphor, antecedent):
    return f"(MarkableID={anaphor}|Rel=part|MentionAnchor={antecedent})"


@pytest.fixture
def pair(write):
    """Key and response: Ann, Bob, they (both of them), a door of Ann's house, and an idiom."""
    key = write(
        "key",
        (mention(1, "a", ElementOf=3),),
        (mention(2, "b", ElementOf=3),),
        (mention(3, "they"),),
        (mention(4, "house"), "_", mention("1-DD", "d1")),
        (mention(4, "it"), "_", mention("1-DD", "d2")),
        (mention(5, "door"), anchor("door", "house")),
        (mention("6-Pseudo", "idiom"),),
        (mention(7, "key"), anchor("key", "door")),
    )
    response = write(
        "response",
        (mention(1, "a", ElementOf=3),),
        (mention(2, "b"),),
        (mention(3, "they"), "_", mention("1-DD", "d1")),
        (mention(4, "house"),),
        (mention(4, "it"), anchor("it", "a"), mention("1-DD", "d2")),
        (mention(5, "door"), anchor("door", "it")),
        (mention("6-Pseudo", "idiom"),),
        (mention("7-Pseudo", "key"), anchor("key", "a")),
    )
    return key, response


def counts_of(pair, metrics, **options):
    """Return {name: (precision, recall)} of some metrics, of single ones."""
    scores = score_files(*pair, metrics=metrics, **options)
    return {name: (scores[f"{name}/precision"], scores[f"{name}/recall"]) for name in metrics}


def test_bridging_by_hand(pair):
    found = counts_of(pair, BRIDGING)
    # The anaphors door and key are found, and "it" is none; door's anchor is of the right entity, key's is wrong.
    assert found["bridging_anaphors"] == (2 / 3, 1)
    assert found["bridging_mentions"] == (0, 0)
    assert found["bridging_entities"] == (1 / 3, 1 / 2)
    assert counts_of((pair[0], pair[0]), BRIDGING) == dict.fromkeys(BRIDGING, (1, 1))


def test_non_referring_by_hand(pair):
    assert counts_of(pair, ("non_referring",)) == {"non_referring": (1 / 2, 1)}


def test_split_antecedents_by_hand(pair):
    # "they" is one mention, and its set of antecedents another: 1 of 2 antecedents, 1 of 1 found.
    found = counts_of(pair, ("b3", "muc", "ceafm"), split_antecedents="score")
    # B³ recall: Ann, Bob, house and it, door: 5; they: (1 + 1/2)² / 2; the key: 0; 8 mentions with the set.
    assert found["b3"] == pytest.approx(((5 + 2) / 7, (5 + 1.125) / 8))
    # MUC: 1 link of the house; "they" is linked to half of its set (recall), or to all of it (precision).
    assert found["muc"] == pytest.approx((1, 1.5 / 2))
    only = counts_of(pair, ("b3", "muc", "ceafm"), split_antecedents="only")
    assert only == {"b3": (1, 1 / 2), "muc": (1, 1 / 2), "ceafm": (1, 1 / 2)}


def test_antecedents_that_do_not_refer_are_no_other_mention(write):
    them, last = (mention(1, "they"),), (mention(2, "last"),)
    idiom, of_them = "6-Pseudo", {"ElementOf": 1}
    key = write("key", (mention(idiom, "idiom", **of_them),), them, last)
    response = write("response", (mention(idiom, "idiom"),), them, (mention(2, "last", **of_them),))
    assert counts_of((key, response), ("b3",), split_antecedents="only") == {"b3": (0, 0)}
    assert counts_of((key, key), ("b3",), split_antecedents="only") == {"b3": (1, 1)}


def test_discourse_deixis(pair):
    found = counts_of(pair, ("mentions", "muc", "b3"), layer="discourse_deixis")
    assert found == {"mentions": (1 / 2, 1 / 2), "muc": (0, 0), "b3": (1 / 4, 1 / 4)}


def test_signatures(pair):
    plain = report_files(*pair, metrics=("lea",)).provenance.signature
    changed = [
        {"split_antecedents": "score"},
        {"split_antecedents": "only"},
        {"layer": "discourse_deixis"},
    ]
    signatures = {
        report_files(*pair, metrics=("lea",), **one).provenance.signature for one in changed
    }
    assert len({plain, *signatures}) == 4
    assert "split_antecedents" not in plain
    assert "layer" not in plain
    # Bridging and non-referring mentions change no option, and the identity layer is the same gold.
    assert report_files(*pair, metrics=BRIDGING).provenance.signature == plain


def digest(path, **options):
    key = CoreferenceReader().wrap_gold(read_documents(path), None)
    [found] = key.digests(PROCEDURE.resolve_options(options)).values()
    return found


def test_digests(write):
    one = write(
        "one", (mention(1, "a", ElementOf=3, Min=1),), (mention(2, "b"),), (mention(3, "c"),)
    )
    ids = write(
        "ids",
        (mention("x", "k", ElementOf="z", Min=1),),
        (mention("y", "l"),),
        (mention("z", "m"),),
    )
    other = write(
        "other", (mention(1, "a", Min=2),), (mention(2, "b", ElementOf=3),), (mention(3, "c"),)
    )
    for options in ({}, {"split_antecedents": "score"}, {"matching": "partial"}):
        assert digest(one, **options) == digest(ids, **options)
        assert (digest(one, **options) == digest(other, **options)) == (not options)


def notes_of(pair, metrics=None, **options):
    """Return the notices of a score."""
    scorer = open_scorer(find_gold("coref", gold=pair[0])[0], options, metrics)
    return list(scorer.count(scorer.read(pair[1])).notices)


def test_notes(pair):
    key = "1 non-referring mention, 1 entity with split antecedents, 2 bridging anaphors, 2 mentions of discourse deixis"
    response = "2 non-referring mentions, 1 entity with split antecedents, 3 bridging anaphors"
    assert notes_of(pair) == [
        f"not scored in the key: {key}",
        f"not scored in the response: {response}, 2 mentions of discourse deixis",
    ]
    metrics = ("b3", "non_referring", *BRIDGING)
    assert notes_of(pair, metrics, split_antecedents="score") == [
        "not scored in the key: 2 mentions of discourse deixis",
        "not scored in the response: 2 mentions of discourse deixis",
    ]
    assert notes_of(pair, layer="discourse_deixis") == []


def test_notes_on_what_fits_nothing(write):
    path = write(
        "a",
        (mention(1, "m", Min=3), anchor("m", "x")),
        (mention(2, "n", Min="1,2"),),
        (mention(1, "o", Min=1),),
    )
    copy = copyfile(path, path.with_name("b.conllua"))
    assert notes_of((path, copy), BRIDGING, matching="partial") == [
        "not scored in the key: 1 bridging anaphor whose MarkableID or MentionAnchor is unknown",
        "3 minimum spans of the key are outside their mentions, which match by the same tokens only",
        "not scored in the response: 1 bridging anaphor whose MarkableID or MentionAnchor is unknown",
    ]


def test_requests_that_are_refused(pair, tmp_path, write):
    def refused(message, *files, **options):
        with pytest.raises(RequestError, match=message):
            score_files(*(files or pair), **options)

    refused(
        "BLANC is not defined for entities with split antecedents; choose",
        split_antecedents="score",
    )
    for option in ({"keep_singletons": "false"}, {"duplicates": "first"}, {"zeros": "corefud"}):
        message = f"scoring split antecedents needs {next(iter(option))} '"
        refused(message, metrics=("lea",), split_antecedents="score", **option)
    jsonl = write_jsonl(tmp_path / "a.jsonl", {"a": [[[0, 0]]]})
    needs = "needs Universal Anaphora files as key and response"
    refused(
        f"scoring split antecedents {needs}",
        jsonl,
        jsonl,
        metrics=("b3",),
        split_antecedents="only",
    )
    refused(f"scoring bridging {needs}", pair[0], jsonl, metrics=BRIDGING)
    refused(f"scoring non-referring mentions {needs}", jsonl, pair[0], metrics=("non_referring",))
    refused(f"layer 'discourse_deixis' {needs}", jsonl, jsonl, layer="discourse_deixis")
    refused(
        "matching 'partial' needs heads .*; minimum spans of the key do as well", matching="partial"
    )
    entity = write("entity", (mention(1, "m"), "(MarkableID=m|EntityAnchor=1)"))
    refused(
        "needs a MentionAnchor for every anaphor; anaphors of the key without: 1",
        entity,
        entity,
        metrics=BRIDGING,
    )


def test_no_breakdowns_of_sets(pair):
    with pytest.raises(
        RequestError, match="entity_size divides mentions, which sets of antecedents are not"
    ):
        report_files(*pair, metrics=("b3",), split_antecedents="score", by=("entity_size",))


def test_folders(write, tmp_path):
    """Relations and layers of several files are joined, and stay with their documents in any order."""
    for side, order in (("key", "ab"), ("response", "ba")):
        for number, name in enumerate(order):
            head = (mention(1, "m", ElementOf=3),), (mention(2, "n", ElementOf=3),)
            deixis = (
                mention(3, "o"),
                anchor("o", "m"),
                mention("1-DD", "d") if name == "a" else "_",
            )
            path = write(f"{number}", *head, deixis, (mention("4-Pseudo", "p"),), document=name)
            (tmp_path / side).mkdir(exist_ok=True)
            path.rename(tmp_path / side / path.name)
    key, response = tmp_path / "key", tmp_path / "response"
    everything = ("mentions", "b3", "lea", "non_referring", *BRIDGING)
    report = report_files(key, response, metrics=everything, split_antecedents="score")
    assert {estimate.value for estimate in report.total.scores.values()} == {1}
    assert (
        score_files(key, response, metrics=("mentions",), layer="discourse_deixis")["mentions/f1"]
        == 1
    )
    (tmp_path / "key" / "c.conllu").write_text(
        "# newdoc id = c\n# global.Entity = eid\n1\tx" + "\t_" * 8 + "\n\n"
    )
    with pytest.raises(RequestError, match="scoring bridging needs Universal Anaphora files"):
        score_files(key, response, metrics=BRIDGING)


@pytest.mark.filterwarnings("ignore:the (key|response) has no mentions")
def test_names_of_parts(write):
    key = write("key", (mention("1-Pseudo", "m"),), document="x; part 000")
    response = write("response", (mention("1-Pseudo", "m"),), document="x_0")
    assert score_files(key, response, metrics=("non_referring",))["non_referring/f1"] == 1


@pytest.mark.filterwarnings("ignore:the (key|response) has no mentions")
def test_repeated_mentions_of_a_layer(write):
    twice = mention("1-DD", "d1") + mention("2-DD", "d2")
    path, other = write("key", ("_", "_", twice)), write("other", (mention(1, "m"),))
    assert score_files(path, path)["b3/f1"] == 0
    with pytest.warns(CloseReadWarning, match="the key repeats 1 mention"):
        score_files(path, other, layer="discourse_deixis")
    with pytest.raises(
        SubmissionError, match="the mention of tokens 0 to 0 is in entities '1-DD' and '2-DD'"
    ):
        score_files(other, path, layer="discourse_deixis")


@pytest.mark.parametrize(
    ("antecedents", "circles"),
    [
        ({}, []),
        ({"a": ["b"], "b": ["c"], "c": ["d"]}, []),
        ({"a": ["a"]}, ["a"]),
        ({"c": ["a"], "a": ["x", "b"], "b": ["a", "d"], "d": ["y"]}, ["a", "b"]),
        ({"a": ["b"], "b": ["a"], "x": ["y", "a"], "y": ["x"]}, ["a", "b", "x", "y"]),
    ],
)
def test_circles(antecedents, circles):
    assert find_circles(antecedents) == circles


@pytest.mark.extended
def test_single_antecedents_of_many():
    n = 50_000  # reading and scoring long chains takes no time
    chain = {str(i): [str(i + 1)] for i in range(n)}
    assert set(map(tuple, find_single_antecedents(chain).values())) == {(str(n),)}
    assert find_circles(chain) == []


@pytest.mark.parametrize(
    ("parts", "zeros", "place"),
    [
        ([(1, 3)], [], ((1, 3),)),
        ([(1, 3)], [0], ((0, 2),)),
        ([(1, 3)], [4], ((1, 3),)),
        ([(1, 1), (3, 4)], [2], ((1, 3),)),
        ([(1, 1), (4, 4)], [2], ((1, 1), (3, 3))),
        ([(0, 0)], [0, 1], ((-1, 0),)),
        ([(1, 1)], [0, 1], ((-1, 1),)),
        ([(4, 4)], [0, 3, 4], ((-3, 1),)),
        ([(2, 2)], [0, 3, 4], ((1, 1),)),
    ],
)
def test_places(parts, zeros, place):
    assert find_place(parts, zeros) == place
