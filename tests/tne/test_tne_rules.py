"""What no schema says of TNE's documents: every rule broken once, with its message."""

import gzip
import json
from collections import Counter

import pytest
from shared import json_lines
from shared.tne_released import document, link, with_clusters, with_links, with_noun_phrase

from closeread.corpus.gold import read_gold, read_own_gold
from closeread.corpus.names import load_corpus
from closeread.exceptions import FormatError
from closeread.tasks.tne.phrases import list_phrases
from closeread.tasks.tne.rules import (
    find_inconsistencies,
    find_odd_rows,
    find_oddities,
    find_repairs,
)

TNE = load_corpus("tne")


def last_tokens(record):
    return [phrase["last_token"] for phrase in list_phrases(record)]


def found(*records):
    return [f"{index}: {what}" for index, what in find_inconsistencies(records)]


def test_sound_documents(tmp_path):
    whole = [
        document(),
        with_links(),
        with_links((3, "of", 0, 0), (3, "of", 2, 0), (3, "in", 0, 0), (3, "in", 2, 0)),
    ]
    whole += [
        document(np_relations=...),
        document(metadata=None),
        document(nps=[], coref=[], np_relations=[]),
    ]
    whole += [
        with_links((0, "of", 1, 1), (2, "in", 1, 1)),
        {**document(), "nps": document()["nps"][::-1]},
    ]
    assert found(*whole) == found() == []
    path = json_lines.write(
        tmp_path / "gold.jsonl", [{**record, "id": f"r{i}"} for i, record in enumerate(whole)]
    )
    assert len(read_own_gold(TNE, path).records) == len(whole)


KNOWN = "(expected np0 to np4"
NO_PHRASE = "does not exist (expected one of its 5 noun phrases, np0 to np4)"
TOKENS = "(expected a first and a last token among the document's 14 tokens)"
RULES = [
    # Ids.
    (with_noun_phrase(4, id="np5"), [f"nps: np4 is missing {KNOWN}, each once)"]),
    (with_noun_phrase(4, id="np99999"), [f"nps: np4 is missing {KNOWN}, each once)"]),
    (with_noun_phrase(4, id="np0"), [f"nps: np0 occurs twice {KNOWN}, each once)",
                                     f"nps: np4 is missing {KNOWN}, each once)"]),
    (document(nps=[*document()["nps"][:3], *({**np, "id": "np0"} for np in document()["nps"][3:])]),
     [f"nps: np0 occurs 3 times {KNOWN}, each once)", f"nps: np3 is missing {KNOWN}, each once)",
      f"nps: np4 is missing {KNOWN}, each once)"]),
    ({**document(), "coref": [*document()["coref"][:3], {**document()["coref"][3], "id": "cc0"}]},
     ["coref: cluster id 'cc0' occurs more than once (expected unique ids)"]),
    # Spans of the text.
    (with_noun_phrase(0, last_char=5), ["np0: characters 0 to 5 of the text are 'Fire ' (expected its text, 'Fire')"]),
    (with_noun_phrase(0, text="fire"), ["np0: characters 0 to 4 of the text are 'Fire' (expected its text, 'fire')"]),
    (with_noun_phrase(1, text="", last_char=8), ["np1: characters 8 to 8 of the text are '' (expected its text, '')"]),
    (with_noun_phrase(1, first_char=9, last_char=8),
     ["np1: characters 9 to 8 of the text are '' (expected its text, 'Ulm')"]),
    (with_noun_phrase(1, first_char=8, last_char=9000),
     ["np1: characters 8 to 9000 of the text are 'Ulm\\n\\nThe fire destroyed the roof of a mill. \\n' "
      "(expected its text, 'Ulm')"]),
    (with_noun_phrase(1, first_char=2**31 - 2, last_char=2**31 - 1),
     ["np1: characters 2147483646 to 2147483647 of the text are '' (expected its text, 'Ulm')"]),
    # Tokens.
    (with_noun_phrase(4, last_token=14), [f"np4: its tokens are 10 to 14 {TOKENS}"]),
    (with_noun_phrase(4, last_token=9), [f"np4: its tokens are 10 to 9 {TOKENS}"]),
    # Clusters are a partition.
    (with_clusters(["np0", "np2"], ["np1"], ["np3"]), ["coref: np4 is in no cluster (expected exactly one cluster)"]),
    (with_clusters(["np0", "np2"], ["np1", "np0"], ["np3"], ["np4"]),
     ["coref: np0 is in cc0 and cc1 (expected exactly one cluster)"]),
    (with_clusters(["np0", "np2", "np0"], ["np1"], ["np3"], ["np4"]),
     ["coref: np0 occurs twice in cc0 (expected once)"]),
    (with_clusters(["np0", "np2", "np0", "np0"], ["np1"], ["np3"], ["np4"]),
     ["coref: np0 occurs 3 times in cc0 (expected once)"]),
    (with_clusters(["np2", "np0"], ["np1", "np0"], ["np0", "np3"], ["np0", "np4", "np0"], ["np0"]),
     ["coref: np0 is in cc0, cc1, cc2 and 2 more (expected exactly one cluster)"]),
    (with_clusters(["np0", "np2"], ["np1"], ["np3", "np5"], ["np4"]), [f"coref: cc2 has the member np5 {KNOWN})"]),
    # Links have two ends, of two clusters.
    (with_links((0, "of", 1, 1), (5, "in", 1, 1)), [f"np_relations[1]: anchor 'np5' {NO_PHRASE}"]),
    (with_links((1, "of", 9, 1)), [f"np_relations[0]: complement 'np9' {NO_PHRASE}"]),
    (with_links((1, "of", 1, 1)),
     ["np_relations[0]: np1 is linked to itself (expected two noun phrases)"]),
    (with_links((0, "of", 2, 0)),
     ["np_relations[0] (np0 of np2): anchor and complement are both in cc0 (expected two clusters)"]),
    # The complement's cluster is named, and reached as a whole.
    (with_links((0, "of", 1, 1), (3, "of", 1, 3)),
     ["np_relations[1] (np3 of np1): complement_coref_cluster_id is 'cc3' (expected 'cc1')"]),
    (with_links((0, "of", 1, 99)),
     ["np_relations[0] (np0 of np1): complement_coref_cluster_id is 'cc99' (expected 'cc1')"]),
    (with_links((3, "of", 2, 0)),
     ["np_relations[0] (np3 of np2): there is no such link to np0 "
      "(expected links to all 2 members of the complement's cluster, cc0)"]),
    (with_links((3, "of", 2, 0), (3, "of", 2, 0)),
     ["np_relations[0] (np3 of np2): there is no such link to np0 "
      "(expected links to all 2 members of the complement's cluster, cc0)"]),
    (with_links((3, "of", 0, 0), (3, "in", 2, 0), (4, "of", 2, 0), (4, "of", 0, 0)),
     ["np_relations[0] (np3 of np0): there is no such link to np2 "
      "(expected links to all 2 members of the complement's cluster, cc0)",
      "np_relations[1] (np3 in np2): there is no such link to np0 "
      "(expected links to all 2 members of the complement's cluster, cc0)"]),
    ({**with_clusters(["np1"], ["np4", "np3", "np2", "np0"]), "np_relations": [link("np1", "of", "np3", "cc1")]},
     ["np_relations[0] (np1 of np3): there is no such link to np4, np2 and np0 "
      "(expected links to all 4 members of the complement's cluster, cc1)"]),
    (document(nps=[], coref=[], np_relations=[link("np0", "of", "np1", "cc0")]),
     ["np_relations[0]: anchor 'np0' does not exist (expected none: the document has no noun phrases)",
      "np_relations[0]: complement 'np1' does not exist (expected none: the document has no noun phrases)"]),
    ({**with_clusters(["np0"]), "nps": document()["nps"][:1], "np_relations": [link("np0", "of", "np1", "cc0")]},
     ["np_relations[0]: complement 'np1' does not exist (expected np0, its only noun phrase)"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "problems"),
    RULES,
    ids=lambda value: value[0][:40] if isinstance(value, list) else "",
)
def test_rules(tmp_path, record, problems):
    named = [f"id 'r1': {what}" for what in problems]
    assert found(document(id="r0"), record, document(id="r2")) == [f"1: {what}" for what in named]
    path = json_lines.write(tmp_path / "gold.jsonl", [document(id="r0"), record])
    with pytest.raises(FormatError) as caught:
        read_own_gold(TNE, path)
    assert [(problem.line, problem.text) for problem in caught.value.problems] == [
        (2, what) for what in named
    ]


SCHEMA = [
    (with_links((0, "Of", 1, 1)), "np_relations[0].preposition: 'Of' is not one of 'of', "),
    (
        with_links((0, "member of", 1, 1)),
        "np_relations[0].preposition: 'member of' is not one of 'of', ",
    ),
    (with_noun_phrase(0, id="np00"), "nps[0].id: 'np00' is not valid (expected np0, np1, …) (in "),
    (
        with_noun_phrase(0, id="np100000"),
        "nps[0].id: 'np100000' is not valid (expected np0, np1, …) (in ",
    ),
    (
        document(coref=[{"id": "0", "members": ["np0"]}]),
        "coref[0].id: '0' is not valid (expected cc0, cc1, …) (in ",
    ),
    (document(coref=[{"id": "cc0", "members": []}]), "coref[0].members: is empty"),
    (
        document(coref=[{"id": "cc0", "members": ["np0"], "np_type": "time"}]),
        "coref[0].np_type: 'time' is not valid (expected standard, time/date/measurement or idiomatic)",
    ),
]


@pytest.mark.parametrize(("record", "problem"), SCHEMA)
def test_what_the_schema_says(tmp_path, record, problem):
    path = json_lines.write(tmp_path / "gold.jsonl", [record])
    with pytest.raises(FormatError) as caught:
        read_own_gold(TNE, path)
    assert caught.value.problems[0].text.startswith(f"id 'r1': {problem}")


def test_all_problems_of_a_document():
    record = with_links((0, "of", 1, 99), (3, "of", 2, 0))
    record["nps"][0] |= {"text": "x", "last_token": 99}
    assert [what.split(" (expected")[0] for what in found(record)] == [
        "0: id 'r1': np0: characters 0 to 4 of the text are 'Fire'",
        "0: id 'r1': np0: its tokens are 0 to 99",
        "0: id 'r1': np_relations[0] (np0 of np1): complement_coref_cluster_id is 'cc99'",
        "0: id 'r1': np_relations[1] (np3 of np2): there is no such link to np0",
    ]


def test_links_are_judged_where_noun_phrases_and_clusters_are_sound():
    # A noun phrase that does not exist has no cluster.
    no_id = {**with_links((3, "of", 2, 0)), "nps": with_noun_phrase(4, id="np5")["nps"]}
    assert found(no_id) == [f"0: id 'r1': nps: np4 is missing {KNOWN}, each once)"]
    no_cluster = {
        **with_clusters(["np0", "np2"], ["np1"], ["np3"]),
        "np_relations": [link("np3", "of", "np2", "cc0")],
    }
    assert found(no_cluster) == [
        "0: id 'r1': coref: np4 is in no cluster (expected exactly one cluster)"
    ]


# Rows with a part of a record, as evaluate's modules take them.


@pytest.mark.parametrize(
    "absent", [{}, dict.fromkeys(["text", "tokens", "nps", "coref", "metadata", "domain"])]
)
def test_fields_that_are_not_there_are_not_judged(absent):
    record = document()
    links = [link("np0", "of", "np7", None), link("np1", "in", "np99999", "cc5")]
    no_span = [{**record["nps"][0], "last_char": 7, "last_token": 99}]

    def of(**fields):
        return found({"id": "r1", "np_relations": [], **absent, **fields})

    assert of(np_relations=links) == of(np_relations=links, coref=record["coref"]) == []
    assert of(np_relations=record["np_relations"], nps=record["nps"]) == of(nps=no_span) == []
    assert of(nps=no_span, text="Fire in Ulm") == [
        "0: id 'r1': np0: characters 0 to 7 of the text are 'Fire in' (expected its text, 'Fire')"
    ]
    assert of(nps=no_span, tokens=["Fire"]) == [
        "0: id 'r1': np0: its tokens are 0 to 99 (expected a first and a last token among the document's 1 token)"
    ]


def test_ends_of_links_are_judged_without_noun_phrases():
    links = [
        link("it", "of", "np1", None),
        link("np3", "of", "np3", None),
        link("np01", "of", "np012", None),
    ]
    assert found({"id": "r1", "np_relations": links}) == [
        "0: id 'r1': np_relations[0]: anchor 'it' does not exist (expected np0, np1, …)",
        "0: id 'r1': np_relations[2]: anchor 'np01' does not exist (expected np0, np1, …)",
        "0: id 'r1': np_relations[2]: complement 'np012' does not exist (expected np0, np1, …)",
        "0: id 'r1': np_relations[1]: np3 is linked to itself (expected two noun phrases)",
    ]
    assert found({"id": "r1", "np_relations": links[:1], "nps": document()["nps"]}) == [
        f"0: id 'r1': np_relations[0]: anchor 'it' {NO_PHRASE}"
    ]


def test_a_document_without_clusters_is_left_out_alone():
    open_links = with_links((3, "of", 2, 0))
    problem = "np_relations[0] (np3 of np2): there is no such link to np0 "
    problem += "(expected links to all 2 members of the complement's cluster, cc0)"
    for name in ("coref", "nps"):
        assert found({**open_links, name: None}, {**open_links, "id": "r2"}) == [
            f"1: id 'r2': {problem}"
        ]


def test_a_cluster_that_is_not_named_is_not_judged():
    links = [{**one, "complement_coref_cluster_id": None} for one in document()["np_relations"]]
    assert found(document(np_relations=links)) == []
    for one in links:
        del one["complement_coref_cluster_id"]
    assert found(document(np_relations=links)) == []


def odd(**changes):
    return list(find_oddities([document(), document(id="r2", **changes)]))


NPS, COREF, LINKS = (document()[name] for name in ("nps", "coref", "np_relations"))
UNTITLED = {
    "nps": [{**np, "id": f"np{i}"} for i, np in enumerate(NPS[2:])],
    "coref": [{"id": f"cc{i}", "members": [f"np{i}"], "np_type": "standard"} for i in range(3)],
    "np_relations": [],
}
TIMES = {name: [{**c, "np_type": "time/date/measurement"} if c["id"] == name else c for c in COREF]
         for name in ("cc2", "cc1")}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"np_relations": [*LINKS, LINKS[1]]}, "1 link is a duplicate (first: np_relations[3] (np3 of np4) in 'r2')."),
        ({"np_relations": [*LINKS, LINKS[1], LINKS[0], LINKS[0]]},
         "3 links are duplicates (first: np_relations[3] (np3 of np4) in 'r2')."),
        ({"np_relations": [*LINKS, link("np3", "in", "np4", "cc3")]}, None),
        ({"tokens": [*document()["tokens"][:11], "mill.", "\n"]},
         "1 noun phrase begins or ends inside a token (first: np4 in 'r2')."),
        ({"nps": [*NPS, {**NPS[4], "id": "np5"}],
          "coref": [*COREF, {"id": "cc9", "members": ["np5"], "np_type": "standard"}]},
         "1 noun phrase has the span of another (first: np5 in 'r2')."),
        (UNTITLED, "1 document has no noun phrase in its title (first: 'r2')."),
        # Without a blank line there is no title.
        ({**UNTITLED, "text": document()["text"].replace("\n\n", "\n ")}, None),
        ({"nps": [*NPS[:4], {**NPS[4], "text": " a mill", "first_char": NPS[4]["first_char"] - 1}]},
         "1 noun phrase begins or ends with white space (first: np4 in 'r2')."),
        ({"coref": TIMES["cc2"]}, "1 linked noun phrase is a time, date or measurement (first: np3 in 'r2')."),
        ({"coref": TIMES["cc1"]}, "1 linked noun phrase is a time, date or measurement (first: np1 in 'r2')."),
        ({"coref": TIMES["cc1"], "np_relations": []}, None),
        ({"coref": TIMES["cc1"], "np_relations": ...}, None),
    ],
)  # fmt: skip
def test_one_oddity(changes, said):
    assert odd(**changes) == ([said] if said else [])


def test_nothing_odd():
    assert list(find_oddities([])) == []
    assert (
        list(
            find_oddities([document(nps=[], coref=[], np_relations=[], text="A title without end")])
        )
        == []
    )
    spaced = document(
        text="Fire in Ulm\n\nThe  fire. \n",
        tokens=["Fire", "in", "Ulm", "\n\n", "The", " ", "fire", ".", "\n"],
    )
    spaced |= {"nps": spaced["nps"][:3], "coref": spaced["coref"][:2], "np_relations": []}
    spaced["nps"][2] |= {"text": "The  fire", "last_char": 22, "last_token": 6}
    assert list(find_inconsistencies([spaced])) == list(find_oddities([spaced])) == []


def test_every_oddity_is_said_once():
    coref = [{**c, "np_type": "time/date/measurement"} for c in COREF]
    assert [notice.split(" (")[0] for notice in odd(np_relations=LINKS * 3, coref=coref)] == [
        "6 links are duplicates",
        "4 linked noun phrases are times, dates or measurements",
    ]


def test_no_last_token():
    record = document(id="r2")
    stated = [phrase["last_token"] for phrase in record["nps"]]
    for phrase in record["nps"]:
        phrase["last_token"] = None
    assert list(find_repairs([document(), record])) == [
        "5 noun phrases have no last token; the token in which their words end is used (first: np0 in 'r2')."
    ]
    assert last_tokens(record) == stated
    assert list(find_inconsistencies([record])) == []
    beyond = with_noun_phrase(4, first_token=13, last_token=None)
    assert found(beyond) == [f"0: id 'r1': np4: its tokens are 13 to 14 {TOKENS}"]
    del beyond["tokens"]
    assert last_tokens(beyond)[4] == 0
    assert found(beyond) == []


@pytest.mark.parametrize(
    ("text", "first", "tokens", "last"),
    [
        # White space before a closing quotation mark is why a released noun phrase has none.
        ('the "Sun Post ', 2, ["Ulm", ":", "the", '"', "Sun", "Post", '"', "lied", "."], 5),
        ("war UK", 0, ["x-war", "UK", "."], 1),
        ("war", 0, ["x-war-y", "UK"], 0),
        ("a b", 1, ["x", "a", " ", " ", "b", "c"], 4),
        ("b ", 1, ["a", "b", " ", "c"], 1),
        (" ", 1, ["a", " ", "c"], 1),
        ("a b c", 1, ["x", "a", "b"], 3),
        ("a", 2, ["x", "a"], 2),  # it begins where the tokens end
    ],
)
def test_where_words_end(text, first, tokens, last):
    phrase = {
        "text": text,
        "first_char": 0,
        "last_char": 1,
        "first_token": first,
        "last_token": None,
        "id": "np0",
    }
    record = {
        "id": "q",
        "text": "x",
        "tokens": tokens,
        "nps": [phrase],
        "coref": [],
        "np_relations": [],
    }
    assert last_tokens(record) == [last]


# The release.


@pytest.mark.extended
def test_last_tokens_of_the_release_from_its_words(corpora):
    records = read_gold(TNE, "default", "validation").records
    stated = list(map(last_tokens, records))
    unsaid = [
        {**record, "nps": [{**np, "last_token": None} for np in record["nps"]]}
        for record in records
    ]
    assert list(map(last_tokens, unsaid)) == stated


def count_oddities(path):
    """The seven oddities of a released file of version 1.1 or 1.0, counted with nothing but json."""
    counts = Counter()
    for line in gzip.decompress(path.read_bytes()).splitlines():
        record = json.loads(line)
        nps = list(record["nps"].values()) if isinstance(record["nps"], dict) else record["nps"]
        title_end = record["text"].find("\n\n")
        links = [
            (one["anchor"], one["complement"], one["preposition"])
            for one in record.get("np_relations", ())
        ]
        counts["duplicate"] += len(links) - len(set(links))
        counts["span of another"] += len(nps) - len(
            {(np["first_char"], np["last_char"]) for np in nps}
        )
        counts["in its title"] += title_end >= 0 and min(np["last_char"] for np in nps) > title_end
        counts["white space"] += sum(
            np["text"][0].isspace() or np["text"][-1].isspace() for np in nps
        )
        counts["no last token"] += sum(np["last_token"] is None for np in nps)
        kinds = {name: one.get("np_type") for one in record["coref"] for name in one["members"]}
        linked = {name for one in links for name in one[:2]}
        counts["time, date"] += sum(kinds[name] == "time/date/measurement" for name in linked)
        for np in nps:
            words = record["tokens"][
                np["first_token"] : None if np["last_token"] is None else np["last_token"] + 1
            ]
            counts["inside a token"] += "".join("".join(words).split(" ")) != np["text"].replace(
                " ", ""
            )
    return counts


PLURALS = {
    "duplicate": "links are duplicates", "span of another": "have the span of another",
    "in its title": "no noun phrase in their title", "white space": "begin or end with white space",
    "no last token": "have no last token", "time, date": "are times, dates or measurements",
    "inside a token": "begin or end inside a token",
}  # fmt: skip


@pytest.mark.gate
@pytest.mark.parametrize(("config", "split", "file"), [
    ("default", "test", "test"), ("default", "validation", "dev-v1.1"), ("unlabeled", "test", "test_unlabeled-v1.1"),
    ("unlabeled", "ood", "ood_unlabeled-v1.1"),
])  # fmt: skip
def test_the_release_keeps_every_rule(corpora, config, split, file):
    gold = read_gold(TNE, config, split)
    assert gold.notices == ()
    assert list(find_inconsistencies(gold.records)) == []
    sentences = [*find_repairs(gold.records), *find_oddities(gold.records)]
    told = {}
    for name, plural in PLURALS.items():
        notices = [notice for notice in sentences if plural in notice or name in notice]
        told[name] = sum(int(notice.split(" ")[0].replace(",", "")) for notice in notices)
    assert told == dict(count_oddities(corpora / "tne" / f"{file}.jsonl.gz"))


def test_a_second_preposition_is_told():
    links = [
        {"anchor": "np1", "preposition": label, "complement": "np0"} for label in ("of", "in", "by")
    ]
    rows = [{"id": "a", "relations": links[:1]}, {"id": "b", "relations": links}]
    what = "2 links give their pairs another preposition, which counts only in triplets"
    assert list(find_odd_rows(rows, ())) == [
        (1, f"id 'b': {what} (first: relations[1], from np1 to np0)")
    ]
