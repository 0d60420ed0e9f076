"""Inflectional groups and relations of a word."""

import pytest

from closeread.tasks.marmara.treebank import parse_groups, parse_relation

# Source: the format as the corpus's readme and the treebank's own files have it; what each means is read by hand.
GROUPS = {
    '[(1,"ev+Noun+A3sg+P3sg+Loc")(2,"Adj+Rel")]': (
        "ev",
        [["Noun", "A3sg", "P3sg", "Loc"], ["Adj", "Rel"]],
    ),
    '[(1,""+Punc")]': ('"', [["Punc"]]),
    '[(1,"++Punc")]': ("+", [["Punc"]]),
    '[(1,"+Punc")]': ("+", [["Punc"]]),
    '[(1,"+")]': ("+", [[]]),
    '[(1,"\'+Punc")]': ("'", [["Punc"]]),
    '[(1,")+Punc")]': (")", [["Punc"]]),
    '[(1,"(+Punc")(2,"Noun+Zero")]': ("(", [["Punc"], ["Noun", "Zero"]]),
    '[(1,"]+Punc")]': ("]", [["Punc"]]),
    '[(1,"a")b+Noun")]': ('a")b', [["Noun"]]),  # `")` ends a group only before `(` or the end
    '[(1,"ev")]': ("ev", [[]]),
    ' [(1,"İzmir+Noun+Prop")] ': ("İzmir", [["Noun", "Prop"]]),
    '[(1,"al+Verb")(2,"Verb+Caus")(3,"Noun+PastPart")(4,"Adj+With")(5,"Adv+Ly")]': (
        "al",
        [["Verb"], ["Verb", "Caus"], ["Noun", "PastPart"], ["Adj", "With"], ["Adv", "Ly"]],
    ),
}
NO_GROUPS = [
    *(
        "",
        "[]",
        "[",
        "ev+Noun",
        '(1,"ev+Noun")',
        '[(2,"ev+Noun")]',
        '[(1,"ev+Noun")(3,"Adj")]',
        '[(1,"ev+Noun)]',
    ),
    *(
        '[(1,"")]',
        '[(1,"ev+")]',
        '[(1,"ev++Noun")]',
        '[(1,"ev+Noun")(2,"")]',
        '[(1,"ev+Noun"),(2,"Adj")]',
    ),
    *(
        '[(one,"ev+Noun")]',
        "[(1,'ev+Noun')]",
        '[(1,"ev+Noun") (2,"Adj")]',
        '[(1,"++")]',
        "[()]",
        '[(1,"ev+Noun")x',
    ),
]
NO_RELATIONS = [
    *(
        "",
        "[]",
        "[2,1]",
        "[2,1,(OBJECT)",
        "[x,1,(OBJECT)]",
        "[0,1,(OBJECT)]",
        "[2,0,(OBJECT)]",
        "[-1,1,(OBJECT)]",
    ),
    *(
        "[2,1,()]",
        "[2,1,( )]",
        "[2,,(OBJECT)]",
        "[,1,(OBJECT)]",
        "[2,1,(OBJECT)][3,1,(SUBJECT)]",
        "[,(OBJECT)]",
    ),
    *("[2.5,1,(OBJECT)]", "[9999999999,1,(OBJECT)]", "2,1,(OBJECT)"),
]


@pytest.mark.parametrize("text", GROUPS)
def test_groups(text):
    lemma, groups = parse_groups(text)
    assert (lemma, [list(group) for group in groups]) == GROUPS[text]


@pytest.mark.parametrize("text", NO_GROUPS)
def test_no_groups(text):
    assert parse_groups(text) is None


def test_relations():
    assert parse_relation("[2,1,(POSSESSOR)]") == (2, 1, "POSSESSOR")
    assert parse_relation(" [12, 3, ( DATIVE.ADJUNCT )] ") == (12, 3, "DATIVE.ADJUNCT")
    assert parse_relation("[4,2,(a name of its own)]") == (4, 2, "a name of its own")
    assert parse_relation("[,( )]") == (0, 0, "")
    assert parse_relation("[,()]") == (0, 0, "")


@pytest.mark.parametrize("text", NO_RELATIONS)
def test_no_relations(text):
    assert parse_relation(text) is None
