"""Rows for TNE that no schema refuses and that can't be scored."""

from shared.for_each import for_each
from shared.tne_documents import phrase, references, relations, rows

from closeread.tasks.tne.procedure import validate


def problems(**sides):
    """The row and the message of each problem, all of which are the system's."""
    found = list(validate(**sides))
    assert all(one.side == "system" for one in found)
    return [(one.row, one.problem.message) for one in found]


@for_each(
    ("name", "row", "found"),
    [
        ("a right one", {"id": "d0", "relations": relations([(0, "of", 1), (0, "in", 1), (1, "of", 0)])}, []),
        ("another's", {"id": "d1", "relations": []}, ["id is 'd1' (expected 'd0', as in the gold)"]),
        (
            "a noun phrase that is none",
            {"id": "d0", "relations": relations([(0, "of", 4), (9, "of", 1)])},
            [
                "relations[1]: anchor 'np9' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "relations[0]: complement 'np4' does not exist (expected one of its 4 noun phrases, np0 to np3)",
            ],
        ),
        (
            "no id of a noun phrase",
            {"id": "d0", "relations": [{"anchor": "np01", "complement": "x\x1b", "preposition": "of"}]},
            [
                "relations[0]: anchor 'np01' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                r"relations[0]: complement 'x\x1b' does not exist (expected one of its 4 noun phrases, np0 to np3)",
            ],
        ),
        (
            "the same again, which does not exist",
            {"id": "d0", "relations": [{"anchor": "x", "complement": "np1", "preposition": "of"}] * 2},
            [
                "relations[0]: anchor 'x' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "relations[1]: anchor 'x' does not exist (expected one of its 4 noun phrases, np0 to np3)",
            ],
        ),
        (
            "a link to itself",
            {"id": "d0", "relations": relations([(1, "of", 0), (2, "of", 2)])},
            ["relations[1]: np2 is linked to itself (expected two noun phrases)"],
        ),
        (
            "a link again",
            {"id": "d0", "relations": relations([(0, "of", 1), (0, "in", 1), (0, "of", 1), (0, "of", 1)])},
            [
                "relations[2]: np0 and np1 are already linked by 'of'",
                "relations[3]: np0 and np1 are already linked by 'of'",
            ],
        ),
        (
            "two fallbacks of a pair",
            {"id": "d0", "relations": [], "fallback": relations([(0, "of", 1), (1, "of", 0), (0, "in", 1)])},
            ["fallback[2]: np0 and np1 already have a fallback (expected at most one)"],
        ),
        (
            "everything of a fallback",
            {"id": "d0", "relations": [], "fallback": relations([(7, "of", 1), (1, "of", 1)])},
            [
                "fallback[0]: anchor 'np7' does not exist (expected one of its 4 noun phrases, np0 to np3)",
                "fallback[1]: np1 is linked to itself (expected two noun phrases)",
            ],
        ),
    ],
)
def test_problems(name, row, found):
    gold = references([[(0, "of", 1)]], ["A B C D"], [["A", "B", "C", "D"]])
    other = references([[(0, "of", 1)]])[0] | {"id": "z"}
    assert problems(gold=[other, *gold], system=[{"id": "z", "relations": []}, row]) == [(1, what) for what in found]
    assert problems(gold=[*gold, other], system=[row, None]) == [(0, what) for what in found]


def test_problems_of_documents_with_few_noun_phrases():
    phrases = [phrase(0, "the roof", 0)]
    gold = [{"id": f"d{n}", "np_relations": [], "nps": phrases[:n]} for n in range(2)]
    system = rows([[(0, "of", 1)], [(0, "of", 1)]])
    assert problems(gold=gold, system=system) == [
        (0, "relations[0]: anchor 'np0' does not exist (expected none: the document has no noun phrases)"),
        (0, "relations[0]: complement 'np1' does not exist (expected none: the document has no noun phrases)"),
        (1, "relations[0]: complement 'np1' does not exist (expected np0, its only noun phrase)"),
    ]


def test_problems_where_the_noun_phrases_are_not_known():
    gold = references([[(0, "of", 1)]])
    assert list(validate(gold=gold, system=rows([[(90, "of", 99999)]]))) == []
    bad = [{"id": "d0", "relations": [{"anchor": "it", "complement": "np0", "preposition": "of"}]}]
    found = "relations[0]: anchor 'it' does not exist (expected np0, np1, …)"
    assert problems(gold=gold, system=bad) == [(0, found)]


def test_a_document_without_noun_phrases():
    gold = [{"id": "d0", "np_relations": [], "nps": []}]
    found = problems(gold=gold, system=rows([[(0, "of", 1)]]))
    assert [what for _, what in found] == [
        "relations[0]: anchor 'np0' does not exist (expected none: the document has no noun phrases)",
        "relations[0]: complement 'np1' does not exist (expected none: the document has no noun phrases)",
    ]
