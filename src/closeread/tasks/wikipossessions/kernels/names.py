"""Names of possessors: when two are the same, and when they have something in common.

Source: Chinnappa, Palmer and Blanco (2020), section 5, who compare names without articles and prepositions; which
words these are, and the rest of the normalisation, is ours.

Conventions: a name is compared by its tokens.  Function words are articles and prepositions, those of English: the
particles of other languages (de, van, du) are parts of names.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

ARTICLES = frozenset({"a", "an", "the"})
# fmt: off
PREPOSITIONS = frozenset(
    [
        "about", "above", "across", "after", "against", "along", "among", "around", "as", "at", "before",
        "behind", "below", "beside", "between", "beyond", "by", "during", "for", "from", "in", "inside",
        "into", "near", "of", "off", "on", "onto", "out", "outside", "over", "through", "to", "toward",
        "towards", "under", "until", "up", "upon", "via", "with", "within", "without",
    ]
)
# fmt: on
FUNCTION_WORDS = ARTICLES | PREPOSITIONS
STRIP_SCOPES = ("all", "edges")

# A blank for an underscore; an apostrophe for what stands for one: quotation marks, modifier letters, accents, primes.
_PLAIN = {ord("_"): " ", **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02b9\u02bc\u00b4\u2032`"), "'")}


class Name(NamedTuple):
    """A name as it is compared.

    Attributes:
        tokens: what it is; equal tokens are the same name.
        content: what it may have in common with other names.
    """

    tokens: tuple[str, ...]
    content: frozenset[str]


def normalised(text: str, strip_scope: str = "all") -> Name:
    """A name without case, typography, punctuation at the edges of tokens, and function words.

    Args:
        text: the name as written.
        strip_scope: "all", where function words are dropped wherever they stand; or "edges", where they stay between
            other tokens.  They are never content, unless the name has nothing else.

    >>> normalised("the Museum of Modern Art,").tokens
    ('museum', 'modern', 'art')
    >>> normalised("the Museum of Modern Art,", "edges").tokens
    ('museum', 'of', 'modern', 'art')
    >>> normalised("The Of").tokens
    ('the', 'of')
    """
    # Once more at the end: a compatibility form may hold an apostrophe or a blank, and so may what case folding leaves.
    folded = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN).casefold()
    written = unicodedata.normalize("NFKC", folded).split() or [""]
    tokens = tuple(filter(None, map(_without_edges, written))) or tuple(written)
    content = [i for i, token in enumerate(tokens) if token not in FUNCTION_WORDS] or list(range(len(tokens)))
    if strip_scope == "all":
        kept = tuple(tokens[i] for i in content)
    else:
        kept = tokens[content[0] : content[-1] + 1]
    return Name(kept, frozenset(tokens[i] for i in content))


def _without_edges(token: str) -> str:
    """The token without punctuation at its edges."""
    places = [i for i, character in enumerate(token) if not unicodedata.category(character).startswith("P")]
    return token[places[0] : places[-1] + 1] if places else ""
