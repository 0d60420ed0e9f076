"""Invented annotators for tests of adjudication."""

import random

from shared.coreference_tables import make_documents

from closeread.tasks.annotation.adjudication import Settings, adjudicate
from closeread.tasks.annotation.annotators import gather_documents
from closeread.tasks.annotation.forced import NOTHING_FORCED, ForcedDocument
from closeread.tasks.annotation.solver import Deadline
from closeread.tasks.coref.documents import Mention


def random_annotators(rng, n_mentions, n_annotators, n_chains=3):
    """Annotators who put some of a few mentions, which may overlap, into chains at random."""
    spans = [(start, start + length) for start in range(2 * n_mentions) for length in (0, 0, 1, 3)]
    mentions = rng.sample(sorted(set(spans)), n_mentions)
    return [random_annotator(rng, mentions, n_chains) for _ in range(n_annotators)]


def random_annotator(rng, mentions, n_chains):
    """An annotator, who may have no chain at all."""
    share = rng.choice((0.0, 0.6, 0.9, 1.0))
    chains = [[] for _ in range(n_chains)]
    for mention in mentions:
        if rng.random() < share:
            rng.choice(chains).append(mention)
    return [chain for chain in chains if chain]


def annotators_of(gold, n_annotators, noise, seed):
    """Annotators who make mistakes: they leave mentions out, move them, and merge or split chains.

    Args:
        gold: the number of the chain of each mention, all of which are single tokens.
        n_annotators: how many.
        noise: the share of mentions left out or moved; a quarter of that of chains is merged, and split.
        seed: of the random numbers.
    """
    rng = random.Random(seed)
    n_chains = max(gold) + 1
    found = []
    for _ in range(n_annotators):
        own = list(gold)
        for chain in range(n_chains):
            if rng.random() < noise / 4:
                other = rng.randrange(n_chains)
                own = [other if c == chain else c for c in own]
            if rng.random() < noise / 4:
                own = [n_chains + chain if c == chain and rng.random() < 0.5 else c for c in own]
        for i in range(len(own)):
            if (chance := rng.random()) < noise:
                own[i] = None if chance < 0.6 * noise else rng.randrange(n_chains)
        chains = {}
        for i, chain in enumerate(own):
            if chain is not None:
                chains.setdefault(chain, []).append((3 * i, 3 * i))
        found.append([chain for chain in chains.values() if len(chain) > 1])
    return found


def document_of(annotators):
    """The annotators' document."""
    return gather_documents([make_documents([chains], names=["d"]) for chains in annotators])[0]


def adjudicated(annotators, decided=None, **settings):
    """The result for annotators' chains."""
    forced = NOTHING_FORCED
    if decided is not None:
        bound, chain_of = decided
        mentions = {Mention(*span): name for span, name in chain_of.items()}
        forced = ForcedDocument(frozenset(bound), mentions)
    return adjudicate(document_of(annotators), Settings(**settings), Deadline(None), forced)


def chains_of(result):
    """The chains of a result, as sets of spans."""
    return {frozenset(result.document.mentions[i][:2] for i in chain) for chain in result.chains}
