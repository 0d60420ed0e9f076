"""Constituency trees of a whole corpus as columns.

Conventions: the tokens of all documents are numbered together, from 0.  A constituent is an opening bracket before a
token and a closing bracket after a token; the brackets of a sentence match.  Words are leaves: their tags are no
constituents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from closeread.arrays import Ints, Mask, expand_ranges

OTHER, NOUN, PART, VERB = range(4)
"""The kinds of constituents: `NOUN` is a noun phrase or NML, `PART` is QP or NX, which count inside noun phrases, and
`VERB` is a verb phrase."""


@dataclass(frozen=True, eq=False)
class Constituents:
    """The trees of all documents.

    Attributes:
        first_token: (n_documents + 1,) the first token of each document, and the number of tokens.
        sentence: (n_tokens,) the sentence of each token, from 0 over all documents.
        word: (n_tokens,) the number of its form; equal forms have equal numbers.
        is_content: (n_tokens,) whether it may be in a minimum span: no punctuation, conjunction, determiner or
            preposition.
        is_plain: (n_tokens,) whether its form consists of letters only, or of digits only.
        first_open: (n_tokens + 1,) its constituents that open before each token are those from this one up to that of
            the next token, the outermost first.
        closes: (n_tokens,) the number of constituents that close after each token.
        kind: (n_constituents,) the kind of each constituent, in the order in which they open.
    """

    first_token: Ints
    sentence: Ints
    word: Ints
    is_content: Mask
    is_plain: Mask
    first_open: Ints
    closes: Ints
    kind: Ints

    @cached_property
    def opens(self) -> Ints:
        """The number of constituents that open before each token, (n_tokens,)."""
        return np.diff(self.first_open)

    @cached_property
    def depth(self) -> Ints:
        """The number of constituents that are open before those that open at each token, (n_tokens,)."""
        steps = self.opens - self.closes
        before: Ints = np.cumsum(steps) - steps
        return before

    @cached_property
    def last_token(self) -> Ints:
        """The last token of each constituent, (n_constituents,)."""
        opened, number = expand_ranges(self.first_open[:-1], self.opens)
        height = self.depth[opened] + number - self.first_open[opened]
        closed, closed_height = expand_ranges(self.depth + self.opens - self.closes, self.closes)
        # On each height, brackets alternate; few heights sort fast as small integers.
        small = np.min_scalar_type(int(height.max(initial=0)))
        in_order, closed_in_order = (np.argsort(h.astype(small), kind="stable") for h in (height, closed_height))
        last = np.empty_like(opened)
        last[in_order] = closed[closed_in_order]
        return last

    @cached_property
    def sentence_start(self) -> Ints:
        """The first token of each sentence, (n_sentences,)."""
        return np.flatnonzero(np.diff(self.sentence, prepend=-1))
