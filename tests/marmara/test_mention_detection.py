"""Mention detection, rule by rule, on invented sentences whose mentions were found by hand; and a slow twin."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared.turkish_sentences import document, texts_of

from closeread.tasks.marmara.documents import read_tokens
from closeread.tasks.marmara.mentions import (
    INSIDE,
    detect_mentions,
    is_capitalised,
    lower,
    strip_suffix,
)

HOUSE = """
Ali'nin Ali Noun+Prop 3 POSSESSOR
eski eski Adj 3 MODIFIER
evinin ev Noun 4 POSSESSOR
kapısı kapı Noun 5 SUBJECT
açıldı aç Verb 6 SENTENCE
. . Punc
"""


def detect(record, **options):
    return detect_mentions(read_tokens(record), **options)


# What a sentence shows, the sentence, and its mentions in document order.
SENTENCES = {
    "nested phrases, each with all that is before it": (
        HOUSE,
        ["Ali'nin eski evinin kapısı", "Ali'nin eski evinin", "Ali'nin"],
    ),
    "an adjectivised verb is no part, and what is before it neither": (
        "gelen gel Verb|Adj+PresPart 3 MODIFIER\nyaşlı yaşlı Adj 3 MODIFIER\nadam adam Noun",
        ["yaşlı adam"],
    ),
    "an adjectivised verb between other parts ends the phrase": (
        "bu bu Det 3 DETERMINER\ngelen gel Verb|Adj+PresPart 3 MODIFIER\nadam adam Noun",
        ["adam"],
    ),
    "a part of a part may be an adjectivised verb": (
        "gülen gül Verb|Adj 2 MODIFIER\nkızın kız Noun 3 POSSESSOR\nsesi ses Noun",
        ["gülen kızın sesi", "kızın"],
    ),
    "a verb of one group is a part like any other": (
        "gelir gel Verb+Aor 2 MODIFIER\nadam adam Noun",
        ["gelir adam"],
    ),
    "coordination joins nothing": (
        "Elma elma Noun 2 SUBJECT\nve ve Conj 4 COORDINATION\nkırmızı kırmızı Adj 4 MODIFIER\nüzüm üzüm Noun",
        ["Elma", "kırmızı üzüm"],
    ),
    "coordination inside a part joins it: all that depends on a part is in it": (
        "eski eski Adj 2 MODIFIER\nve ve Conj 3 COORDINATION\nküçük küçük Adj 4 MODIFIER\nev ev Noun",
        ["eski ve küçük ev"],
    ),
    "a part of a part by a relation that makes no part of a noun": (
        "çok çok Adv 2 FOCUS.PARTICLE\nbüyük büyük Adj 3 MODIFIER\nağaç ağaç Noun",
        ["çok büyük ağaç"],
    ),
    "a noun that was derived from an adjective counts by its first group": (
        "evdekiler ev Noun|Adj+Rel|Noun",
        ["evdekiler"],
    ),
    "a noun that was derived from a verb does not": ("gülmesi gül Verb|Noun+Inf2", []),
    "an adjective that is used as a noun does not": ("arkaya arka Adj|Noun+Zero", []),
    "a gap ends the phrase: only adjacent tokens are in it": (
        "büyük büyük Adj 3 MODIFIER\nhemen hemen Adv 4 MODIFIER\nkapı kapı Noun 4 SUBJECT\naçıldı aç Verb",
        ["kapı"],
    ),
    "a dependent to the right is no part": ("ev ev Noun\nbüyük büyük Adj 1 MODIFIER", ["ev"]),
    "what depends on a part is in it, wherever the part is": (
        "o o Det 3 DETERMINER\nçok çok Adv 1 MODIFIER\nkuş kuş Noun",
        ["o çok kuş"],
    ),
    "a pronoun has a phrase, too, and stands alone": (
        "zavallı zavallı Adj 2 MODIFIER\nben ben Pron+PersP",
        ["zavallı ben", "ben"],
    ),
    "a pronoun with a suffix is one by its first group": ("bendeki ben Pron|Adj+Rel", ["bendeki"]),
    "what becomes a pronoun is one by its last group, without a phrase": (
        "eski eski Adj 2 MODIFIER\nbirkaçı birkaç Adj|Pron+Quant",
        ["birkaçı"],
    ),
    "a pronoun in a middle group is none": ("x x Adj|Pron|Verb", []),
    "a determiner is none": ("bu bu Det", []),
    "a name is a mention of its own in a longer phrase": (
        "yaşlı yaşlı Adj 2 MODIFIER\nKemal Kemal Noun+Prop",
        ["yaşlı Kemal", "Kemal"],
    ),
    "a name is one by its lemma, not by its form": (
        "koca koca Adj 2 MODIFIER\nDağ dağ Noun",
        ["koca Dağ"],
    ),
    "İ and I are capitals, ı and i are not": (
        "uzak uzak Adj 2 MODIFIER\niğde İğde Noun\ntaze taze Adj 4 MODIFIER\nIlgın ılgın Noun",
        ["uzak iğde", "iğde", "taze Ilgın"],
    ),
    "an adjective with a capital is no name": ("Türk Türk Adj", []),
    "a verb with a capital is no name": ("Koş Koş Verb", []),
    "a digit or a quotation mark is no capital": (
        "yeni yeni Adj 2 MODIFIER\n3A 3A Noun\nyeni yeni Adj 4 MODIFIER\n'Ev 'Ev Noun",
        ["yeni 3A", "yeni 'Ev"],
    ),
    "punctuation is nothing": ("* * Punc\n+ + Punc", []),
}

PARTS = sorted(INSIDE)
OTHERS = [
    "SUBJECT",
    "OBJECT",
    "COORDINATION",
    "S.MODIFIER",
    "DATIVE.ADJUNCT",
    "SENTENCE",
    "VOCATIVE",
    "modifier",
]


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name):
    text, expected = SENTENCES[name]
    record = document(text)
    assert texts_of(record, detect(record)) == expected


@pytest.mark.parametrize("relation", PARTS)
def test_relations_that_make_a_part(relation):
    record = document(f"taş taş Adj 2 {relation}\nduvar duvar Noun")
    assert texts_of(record, detect(record)) == ["taş duvar"]
    assert len(PARTS) == 8


@pytest.mark.parametrize("relation", OTHERS)
def test_relations_that_make_none(relation):
    record = document(f"taş taş Adj 2 {relation}\nduvar duvar Noun")
    assert texts_of(record, detect(record)) == ["duvar"]


def test_derived_modifiers_can_be_included():
    text = "eve ev Noun 2 DATIVE.ADJUNCT\ngelen gel Verb|Adj 4 MODIFIER\nyaşlı yaşlı Adj 4 MODIFIER\nadam adam Noun"
    record = document(text)
    assert texts_of(record, detect(record)) == ["eve", "yaşlı adam"]
    included = detect(record, derived_modifiers="include")
    assert texts_of(record, included) == ["eve gelen yaşlı adam", "eve"]


REPEATED = [
    "taze taze Adj 2 MODIFIER\nÇınar çınar Noun",
    "ulu ulu Adj 2 MODIFIER\nÇınar'ın çınar Noun",
]


@pytest.mark.parametrize(
    ("why", "texts", "expected"),
    [
        (
            "with a capital twice, whatever the suffix",
            REPEATED,
            ["taze Çınar", "Çınar", "ulu Çınar'ın", "Çınar'ın"],
        ),
        ("once is not enough", REPEATED[:1], ["taze Çınar"]),
        (
            "without a capital does not count",
            [REPEATED[0], "ulu ulu Adj 2 MODIFIER\nçınar çınar Noun"],
            ["taze Çınar", "ulu çınar"],
        ),
        ("what is no noun does not count", [REPEATED[0], "Çınar çınar Adj"], ["taze Çınar"]),
        (
            "the case of the other letters does not matter",
            [REPEATED[0], "ulu ulu Adj 2 MODIFIER\nÇINAR çınar Noun"],
            ["taze Çınar", "Çınar", "ulu ÇINAR", "ÇINAR"],
        ),
        (
            "a suffix without an apostrophe is part of the word",
            [REPEATED[0], "ulu ulu Adj 2 MODIFIER\nÇınarın çınar Noun"],
            ["taze Çınar", "ulu Çınarın"],
        ),
        (
            "the small letters that are beside two with a capital are none",
            [*REPEATED, "boş boş Adj 2 MODIFIER\nçınar çınar Noun"],
            ["taze Çınar", "Çınar", "ulu Çınar'ın", "Çınar'ın", "boş çınar"],
        ),
    ],
)
def test_nouns_that_are_repeated_with_a_capital(why, texts, expected):
    record = document(*texts)
    assert texts_of(record, detect(record)) == expected, why


def test_phrases_stay_in_their_sentence():
    record = document("eski eski Adj 1 MODIFIER", "ev ev Noun")
    assert detect(record) == [(1, 1)]


def test_a_circle_of_heads_does_not_hang():
    record = document(
        "taş taş Noun 2 MODIFIER\nduvar duvar Noun 1 MODIFIER\nkapı kapı Noun 2 MODIFIER"
    )
    assert detect(record) == [(0, 1), (0, 0), (2, 2)]


def test_tokens_whose_groups_could_not_be_read():
    record = document("Ali Ali Noun\nev ev Noun")
    record["sentences"][0]["tokens"][0]["groups"] = []
    record["sentences"][0]["tokens"][1]["groups"] = [[]]
    assert detect(record) == []


def test_an_empty_document():
    assert detect(document()) == []


@pytest.mark.parametrize("apostrophe", "'’‘`´")
def test_suffixes_and_capitals(apostrophe):
    assert strip_suffix(f"İzmir{apostrophe}in{apostrophe}ki") == "İzmir"
    assert strip_suffix(f"{apostrophe}İzmir{apostrophe}in") == f"{apostrophe}İzmir"
    assert lower("IŞIK İLE") == "ışık ile"
    assert [is_capitalised(word) for word in ("Işık", "ışık", "İnce", "ince", "1.", "", "Çay")] == [
        *(True, False, True, False, False, False, True)
    ]


TAGS = ["Noun", "Noun|Adj", "Pron", "Verb", "Verb|Adj", "Adj", "Adj|Pron", "Punc"]
WORDS = ["ev", "Ev", "Ev'in", "Ali", "ali", "gel"]
RELATIONS = ["MODIFIER", "POSSESSOR", "SUBJECT", "COORDINATION"]


@st.composite
def random_sentences(draw):
    n = draw(st.integers(1, 8))
    words, tags = st.sampled_from(WORDS), st.sampled_from(TAGS)
    heads = st.none() | st.integers(1, n)
    lines = []
    for _ in range(n):
        head = draw(heads)
        link = "" if head is None else f" {head} {draw(st.sampled_from(RELATIONS))}"
        lines.append(f"{draw(words)} {draw(words)} {draw(tags)}{link}")
    return "\n".join(lines)


def find_slowly(record, derived_modifiers):
    """The four rules, as they are written."""
    found, offset = set(), 0
    tokens = [token for sentence in record["sentences"] for token in sentence["tokens"]]
    for sentence in record["sentences"]:
        words = sentence["tokens"]

        def above(i, words=words):
            """All that a token depends on, at any depth."""
            seen = []
            while words[i]["head"] is not None and words[i]["head"] - 1 not in seen:
                i = words[i]["head"] - 1
                seen.append(i)
            return seen

        for h, word in enumerate(words):
            first, last = word["groups"][0][0], word["groups"][-1][0]
            if first in ("Noun", "Pron"):
                own = {
                    d
                    for d in range(h)
                    if words[d]["head"] == h + 1
                    and words[d]["relation"] in INSIDE
                    and (
                        derived_modifiers == "include"
                        or words[d]["groups"][0][0] != "Verb"
                        or len(words[d]["groups"]) == 1
                    )
                }
                starts = [
                    a
                    for a in range(h + 1)
                    if all(i in own or own & set(above(i)) for i in range(a, h))
                ]
                found.add((offset + min(starts), offset + h))
            same = [
                token
                for token in tokens
                if token["groups"][0][0] == "Noun"
                and is_capitalised(token["form"])
                and lower(strip_suffix(token["form"])) == lower(strip_suffix(word["form"]))
            ]
            is_repeated = first == "Noun" and is_capitalised(word["form"]) and len(same) >= 2
            if (
                "Pron" in (first, last)
                or (first == "Noun" and is_capitalised(word["lemma"]))
                or is_repeated
            ):
                found.add((offset + h, offset + h))
        offset += len(words)
    return sorted(found, key=lambda span: (span[0], -span[1]))


@given(st.lists(random_sentences(), max_size=3), st.sampled_from(["exclude", "include"]))
@settings(max_examples=60)
def test_random_trees_against_the_rules_as_written(texts, derived_modifiers):
    record = document(*texts)
    assert detect(record, derived_modifiers=derived_modifiers) == find_slowly(
        record, derived_modifiers
    )
