"""Heads of mentions that are given without heads come from the key's trees, by the rule of CRAC's organisers."""

import pytest

import closeread
from closeread.tasks.coref.formats.conllu import ROOT, Node
from closeread.tasks.coref.heads import find_head

KEY = """# global.Entity = eid-etype-head-other
# newdoc id = ferry
1	The	the	DET	_	_	3	det	_	Entity=(e1-person-3-
2	old	old	ADJ	_	_	3	amod	_	_
3	captain	captain	NOUN	_	_	7	nsubj	_	_
4	of	of	ADP	_	_	6	case	_	_
5	the	the	DET	_	_	6	det	_	Entity=(e2-thing-2-
6	ferry	ferry	NOUN	_	_	3	nmod	_	Entity=e2)e1)
7	slept	sleep	VERB	_	_	0	root	_	_
8	,	,	PUNCT	_	_	10	punct	_	_
9	she	she	PRON	_	_	10	nsubj	_	Entity=(e1-person-1-)
10	dreamt	dream	VERB	_	_	7	conj	_	_

"""
# The response's mentions are a word shorter, with the same heads: captain and ferry.
RESPONSE = "The old|[e1 captain of the ferry|[e2],e1] slept , she|[e1] dreamt\n"


@pytest.fixture
def files(here):
    (here / "key.conllu").write_text(KEY, "utf-8")
    (here / "response.txt").write_text(RESPONSE, "utf-8")


def test_answers_of_language_models_are_scored_by_heads(files, run):
    done = run(
        "score", "coref", "key.conllu", "response.txt", "--preset", "corefud", "--score-only"
    )
    assert done.stdout.strip() == "100.00"
    assert "heads of the response's mentions are found in the key's trees." in done.stderr


@pytest.mark.filterwarnings("ignore:.*heads of the response's:closeread.CloseReadWarning")
def test_in_python_by_any_matching_with_heads(files):
    for matching, score in (("exact", 0), ("head", 1), ("partial", 1)):
        report = closeread.score(
            "coref", "response.txt", gold="key.conllu", matching=matching, ci=False
        )
        assert report["muc/recall"].value == score


def test_a_key_without_trees_has_no_heads_to_give(here, run):
    (here / "key.conll").write_text("#begin document (1)\nIda\t(1)\n#end document\n")
    (here / "response.txt").write_text("Ida|[e1]\n")
    done = run("score", "coref", "key.conll", "response.txt", "--matching", "head")
    assert "matching 'head' needs heads on both sides" in done.stderr


def make_nodes(*parents, enhanced=()):
    """Return nodes by token, from their parents, of which None is that of an empty node, and other enhanced ones."""
    nodes = {
        token: Node(parent, [] if parent is None else [parent])
        for token, parent in enumerate(parents)
    }
    for token, others in dict(enhanced).items():
        nodes[token] = Node(parents[token], others)
    return nodes


@pytest.mark.parametrize(
    ("nodes", "tokens", "head"),
    [
        (make_nodes(1, 3, 1, ROOT), [0, 1, 2], 1),  # a part of a tree
        # Two candidates, of which one governs the other through a word outside.
        (make_nodes(3, 3, ROOT, 2), [0, 2], 2),
        (make_nodes(2, 2, ROOT), [0, 1], 0),  # neither governs the other
        # The enhanced graph has another parent inside.
        (make_nodes(2, 2, ROOT, enhanced={0: [2, 1]}), [0, 1], 1),
        # An empty node stands for its first parent that is a word.
        (make_nodes(None, ROOT, 1, enhanced={0: [1]}), [0, 1], 1),
        (make_nodes(None, 2, ROOT, enhanced={0: [2]}), [0, 1], 0),
        # Each is a parent of the other.
        (make_nodes(None, None, ROOT, enhanced={0: [1], 1: [0]}), [0, 1], 0),
    ],
)
def test_the_rule(nodes, tokens, head):
    assert find_head(tokens, nodes) == head
