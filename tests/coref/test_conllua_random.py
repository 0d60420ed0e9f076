"""Random Universal Anaphora files: read as by the slow twin."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared.universal_anaphora import random_pair
from twins import conllua as twin

from closeread.tasks.coref.relations import find_place, find_single_antecedents, places_by_entity
from closeread.tasks.coref.sides import read_documents


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("conllua") / "file.conllua"


def as_twin(table):
    """Return a layer as the twin does."""
    documents = {}
    for number, name in enumerate(table.names):
        relations = table.relations.documents[name]
        zeros = [node.token for node in table.empty[number]] if table.empty else []
        tokens_of = partial(_tokens_of, zeros, int(table.n_tokens[number]))
        documents[name] = {
            "mentions": {
                (table.labels[entity], tokens_of(place), frozenset(table.minimum.get(row, ())))
                for entity, mentions in places_by_entity(table, number, zeros).items()
                for row, place in mentions
            },
            "non_referring": {
                name: set(map(tokens_of, found)) for name, found in relations.non_referring.items()
            },
            "antecedents": {
                name: set(found)
                for name, found in find_single_antecedents(relations.antecedents).items()
            },
            "bridging": {
                (tokens_of(pair.anaphor), tokens_of(pair.anchor)) for pair in relations.bridging
            },
        }
        for row in np.flatnonzero(table.document == number).tolist():
            parts = table.parts.get(row, [(int(table.start[row]), int(table.end[row]))])
            tokens = {token for start, end in parts for token in range(start, end + 1)}
            assert tokens == tokens_of(find_place(parts, zeros))
    return documents


def _tokens_of(zeros, n_tokens, place):
    """Return the tokens at a place."""
    words = [token for token in range(n_tokens) if token not in zeros]
    if place[0][0] < 0:
        before = -1 - place[0][0]
        return frozenset({(words[before - 1] if before else -1) + 1 + place[0][1]})
    return frozenset(words[word] for first, last in place for word in range(first, last + 1))


@given(st.integers(0, 10**6))
def test_same_as_twin(path, seed):
    for text in random_pair(seed):
        path.write_text(text, "utf-8")
        table = read_documents(path)
        assert as_twin(table) == twin.read_layer(text)
        deixis = table.relations.discourse_deixis
        expected = twin.read_layer(text, "DISCOURSE_DEIXIS")
        if deixis is None:
            assert not any(any(layer.values()) for layer in expected.values())
        else:
            assert as_twin(deixis) == expected
