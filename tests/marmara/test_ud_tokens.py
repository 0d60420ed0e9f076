"""Groups, heads and relations of tokens, from words of Universal Dependencies; expected values follow the mapping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.tasks.marmara.universal_dependencies import (
    Word,
    convert_relation,
    find_circle,
    make_tokens,
)


def word(lemma="ev", tag="NOUN", features="_", head=0, relation="root"):
    return Word(lemma, tag, features, head, relation)


def single(one):
    """The token of a word that is a sentence."""
    return make_tokens([("Form", 1, 1)], [one])[0]


@pytest.mark.parametrize(
    ("tag", "features", "groups"),
    [
        ("NOUN", "_", [["Noun"]]),
        ("PROPN", "Case=Nom", [["Noun", "Prop"]]),
        ("PRON", "_", [["Pron"]]),
        ("VERB", "Mood=Ind", [["Verb"]]),
        ("VERB", "VerbForm=Fin", [["Verb"]]),
        ("VERB", "Case=Nom|VerbForm=Part", [["Verb"], ["Adj"]]),
        ("VERB", "VerbForm=Vnoun|Voice=Pass", [["Verb"], ["Noun"]]),
        ("VERB", "VerbForm=Conv", [["Verb"], ["Adv"]]),
        ("AUX", "_", [["Verb"]]),
        ("AUX", "VerbForm=Conv", [["Verb"], ["Adv"]]),
        ("NOUN", "VerbForm=Part", [["Noun"]]),  # a form of verbs only
        ("ADJ", "_", [["Adj"]]),
        ("ADV", "_", [["Adv"]]),
        ("DET", "_", [["Det"]]),
        ("NUM", "_", [["Num"]]),
        ("ADP", "_", [["Postp"]]),
        ("CCONJ", "_", [["Conj"]]),
        ("SCONJ", "_", [["Conj"]]),
        ("PUNCT", "_", [["Punc"]]),
        ("INTJ", "_", [["Interj"]]),
        ("X", "_", [["Dup"]]),
    ],
)
def test_groups(tag, features, groups):
    assert single(word(tag=tag, features=features))["groups"] == groups


@pytest.mark.parametrize(
    ("relation", "features", "expected"),
    [
        ("det", "_", "DETERMINER"),
        ("nmod:poss", "Case=Gen|Number=Sing", "POSSESSOR"),
        ("nmod:poss", "Case=Nom", "CLASSIFIER"),
        ("nmod:poss", "_", "CLASSIFIER"),
        ("compound", "_", "CLASSIFIER"),
        *((name, "_", "MODIFIER") for name in ("amod", "acl", "nmod", "nummod", "advmod", "advcl")),
        ("appos", "_", "APPOSITION"),
        *(
            (name, "_", "COLLOCATION")
            for name in ("flat", "fixed", "compound:lvc", "compound:redup")
        ),
        *((name, "_", "SUBJECT") for name in ("nsubj", "csubj")),
        *((name, "_", "OBJECT") for name in ("obj", "iobj", "ccomp", "xcomp")),
        ("obl", "Case=Dat", "DATIVE.ADJUNCT"),
        ("obl", "Case=Loc|Number=Sing", "LOCATIVE.ADJUNCT"),
        ("obl", "Number=Sing|Case=Abl", "ABLATIVE.ADJUNCT"),
        ("obl", "Case=Ins", "INSTRUMENTAL.ADJUNCT"),
        ("obl", "Case=Equ", "EQU.ADJUNCT"),
        ("obl", "Case=Nom", "MODIFIER"),
        ("obl", "NotCase=Dat", "MODIFIER"),
        ("conj", "_", "COORDINATION"),
        ("cc", "_", "COORDINATION"),
        ("vocative", "_", "VOCATIVE"),
        ("punct", "_", "PUNCT"),
        ("aux:q", "_", "AUX:Q"),
        ("advmod:emph", "_", "ADVMOD:EMPH"),
    ],
)
def test_relations(relation, features, expected):
    assert convert_relation(word(features=features, head=1, relation=relation)) == expected


def test_root():
    assert single(word()) == {
        "form": "Form",
        "lemma": "ev",
        "groups": [["Noun"]],
        "head": None,
        "head_group": None,
        "relation": "SENTENCE",
    }


@pytest.mark.parametrize("lemma", ["_", ""])
def test_without_a_lemma(lemma):
    assert single(word(lemma=lemma))["lemma"] == "Form"


def test_multiword_tokens():
    """Masadaki eski evdeydi: the head of `masadaki` is that of `masada`, whose own suffix is inside."""
    words = [
        word("masa", "NOUN", "Case=Loc", 4, "nmod"),
        word("ki", "ADP", "_", 1, "case"),
        word("eski", "ADJ", "_", 5, "amod"),
        word("ev", "NOUN", "Case=Loc", 0, "root"),
        word("i", "AUX", "VerbForm=Conv", 4, "cop"),
    ]
    surface = [("Masadaki", 1, 2), ("eski", 3, 3), ("evdeydi", 4, 5)]
    first, second, third = make_tokens(surface, words)
    assert (first["lemma"], first["groups"]) == ("masa", [["Noun"], ["Adj"]])
    assert (first["head"], first["head_group"], first["relation"]) == (3, 1, "MODIFIER")
    # `eski` depends on the second word of the third token, which has its second group.
    assert (second["head"], second["head_group"]) == (3, 2)
    # A further word adds one group, whatever its form.
    assert third["groups"] == [["Noun"], ["Verb"]]
    assert (third["head"], third["relation"]) == (None, "SENTENCE")


def test_the_group_of_a_head_after_a_derived_one():
    """The suffix of a participle is its third group, after the verb's and the derived one."""
    words = [
        word("gel", "VERB", "VerbForm=Part", 0, "root"),
        word("ki", "ADP", "_", 1, "case"),
        word("o", "PRON", "_", 2, "nmod"),
    ]
    first, second = make_tokens([("gelendeki", 1, 2), ("o", 3, 3)], words)
    assert first["groups"] == [["Verb"], ["Adj"], ["Adj"]]
    assert (second["head"], second["head_group"]) == (1, 3)


def test_the_head_of_a_token_with_two_outer_heads():
    """Word 1 depends on 3, which depends on 2: the head of token 1-2 is that of word 2, or tokens form a circle."""
    words = [
        word(head=3, relation="nmod"),
        word(head=4, relation="nmod"),
        word(head=2, relation="nmod"),
        word(),
    ]
    surface = [("ab", 1, 2), ("c", 3, 3), ("d", 4, 4)]
    assert [token["head"] for token in make_tokens(surface, words)] == [3, 1, None]


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_circles(heads):
    """Words form a circle if following heads from some word never ends."""

    def comes_back(number):
        steps = [number]
        while steps[-1] and len(steps) <= len(heads) + 1:
            steps.append(heads[steps[-1] - 1])
        return number in steps[1:]

    circle = find_circle(heads)
    assert all(map(comes_back, circle))
    assert bool(circle) == any(map(comes_back, range(1, len(heads) + 1)))


@given(st.data())
def test_tokens_never_form_a_circle(data):
    """However the words of a tree are joined into tokens, these form a tree."""
    n = data.draw(st.integers(1, 7))
    order = data.draw(st.permutations(range(1, n + 1)))
    heads = dict.fromkeys(order[:1], 0)
    for i, number in enumerate(order[1:], 1):
        heads[number] = data.draw(st.sampled_from(order[:i]))
    words = [
        word(head=heads[number], relation="dep" if heads[number] else "root")
        for number in range(1, n + 1)
    ]
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=n - 1)) if n > 1 else [])
    spans = zip([1, *(cut + 1 for cut in cuts)], [*cuts, n], strict=True)
    tokens = make_tokens([("x", first, last) for first, last in spans], words)
    assert find_circle([token["head"] or 0 for token in tokens]) == []
