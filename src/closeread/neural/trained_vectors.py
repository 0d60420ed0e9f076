"""Word vectors that are trained on texts: skip-grams with negative sampling, by gensim.

gensim is imported when vectors are trained, not with this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from closeread.exceptions import MissingExtraError, RequestError, pluralize

_PIECE = 10_000  # the longest text on which gensim trains: it ignores the rest


def train_vectors(
    texts: Iterable[Sequence[str]],
    *,
    dimensions: int = 300,
    epochs: int = 20,
    window: int = 5,
    min_count: int = 2,
    seed: int = 0,
) -> tuple[list[str], NDArray[np.float32]]:
    """Train the vectors of the words of texts, by skip-grams with negative sampling (Mikolov et al. 2013).

    The learning rate (0.025), the number of negative samples (5) and the sampling of frequent words (0.001) are those
    of word2vec.  Deterministic on a given machine: one thread trains, and nothing depends on Python's hashes of
    strings.  Words are as they are written: the case of letters is kept.  White space in tokens, such as line breaks,
    is no word; tokens with any are left out.  Windows don't reach over the end of a text.

    Returns:
        The words, the most frequent first, and their vectors, (n_words, dimensions).
    """
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise MissingExtraError("training word vectors", "gensim", extra="neural") from error
    model = Word2Vec(
        vector_size=dimensions,
        window=window,
        min_count=min_count,
        sg=1,
        hs=0,
        negative=5,
        seed=seed,
        workers=1,
        epochs=epochs,
    )
    words = [[token for token in text if token.split() == [token]] for text in texts]
    pieces = [
        text[start : start + _PIECE] for text in words for start in range(0, len(text), _PIECE)
    ]
    model.build_vocab(pieces)
    if not len(model.wv):
        found = f"no word occurs {pluralize(min_count, 'time')} or more in the texts"
        raise RequestError(f"{found} (expected at least one)")
    model.train(pieces, total_examples=model.corpus_count, epochs=epochs)
    return list(model.wv.index_to_key), np.array(model.wv.vectors, np.float32)
