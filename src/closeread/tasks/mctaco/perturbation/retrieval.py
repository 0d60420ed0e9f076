"""Event-phrase retrieval: the phrases of a list that are most like a text.

Source: Zhou et al. (2019), step 3, who looked event answers up in a large collection of event phrases.  The
list is the user's; likeness is the cosine of TF-IDF vectors over words (letter case aside).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from closeread.errors import MissingExtraError, RequestError

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

# How many similarities are held at once: some 50 MB, even if every phrase shares a word with every text.
_CELLS = 4_000_000

# Equal similarities may differ in the last bits of a sum; those would break ties at random.
_DECIMALS = 12

# Words of one letter count, unlike scikit-learn's default: "5 km" is not "9 km".
_WORD = r"(?u)\b\w+\b"


class PhraseIndex:
    """A list of phrases that can be searched for those most similar to a text.

    Phrases that differ only in letter case and blanks count as one, written as where it came first.

    Args:
        phrases: what can be found; 60,000 phrases are no trouble.

    Raises:
        MissingExtraError: scikit-learn is not installed.
        RequestError: there is no word in any of the phrases.

    >>> index = PhraseIndex(["painted the barn", "sold the barn", "went home"])
    >>> index.similar(["she painted a barn", "flew"], k=2)
    [['painted the barn', 'sold the barn'], []]
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        first: dict[str, str] = {}
        for phrase in phrases:
            first.setdefault(_same(phrase), phrase)
        self._phrases = list(first.values())
        self._positions = {same: position for position, same in enumerate(first)}
        if not any(map(str.isalnum, "".join(self._phrases))):
            raise RequestError(f"none of the {len(phrases)} phrases has a word in it: there is nothing to find")
        self._vectorizer = _vectorizer()
        self._columns = self._vectorizer.fit_transform(self._phrases).T.tocsr()

    def similar(self, texts: Sequence[str], k: int) -> list[list[str]]:
        """For every text the `k` most similar phrases, or fewer: best first, ties in the order of the list.

        The text itself (letter case and blanks aside) and phrases that share no word with it are never among
        them.

        Raises:
            ValueError: k is less than 1.
        """
        if k < 1:
            raise ValueError(f"k is {k}: at least 1 phrase has to be asked for")
        found: list[list[str]] = []
        step = max(1, _CELLS // len(self._phrases))
        for start in range(0, len(texts), step):
            batch = texts[start : start + step]
            similarity = self._vectorizer.transform(batch) @ self._columns
            ends = similarity.indptr
            for row, text in enumerate(batch):
                here = slice(ends[row], ends[row + 1])
                best = self._best(text, similarity.indices[here], similarity.data[here], k)
                found.append([self._phrases[position] for position in best])
        return found

    def _best(
        self, text: str, positions: npt.NDArray[np.integer], values: npt.NDArray[np.float64], k: int
    ) -> npt.NDArray[np.integer]:
        values = values.round(_DECIMALS)
        candidates = (values > 0) & (positions != self._positions.get(_same(text), -1))
        positions, values = positions[candidates], values[candidates]
        if len(values) > k:
            # All that tie with the last place, so that the sort below can choose among them by position.
            enough = values >= np.partition(values, -k)[-k]
            positions, values = positions[enough], values[enough]
        return positions[np.lexsort((positions, -values))][:k]


def _same(text: str) -> str:
    return " ".join(text.casefold().split())


def _vectorizer() -> TfidfVectorizer:
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise MissingExtraError("phrase retrieval", "scikit-learn") from error
    return TfidfVectorizer(token_pattern=_WORD)
