"""Event-phrase retrieval: the phrases of a list that are most similar to a text.

Source: Zhou et al. (2019), step 3, who retrieved similar phrases from a large collection of event phrases.  Here the
user supplies the list; similarity is the cosine of case-insensitive TF-IDF word vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from closeread.exceptions import FormatError, MissingExtraError, Problem, RequestError
from closeread.formats.text import UNSAFE, read_lines

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

# Similarities in memory at a time: about 50 MB, even if every phrase shares a word with every text.
_CELLS = 4_000_000

# Equal similarities may differ in their last bits, which would break ties at random.
_DECIMALS = 12

# Unlike scikit-learn's default, keep words of one character: "5 km" is not "9 km".
_WORD = r"(?u)\b\w+\b"


class PhraseIndex:
    """An index of phrases that finds those most similar to a text.

    Phrases that differ only in case and whitespace are indexed once, as first written.

    Args:
        phrases: the phrases to search; 60,000 are no problem.

    Raises:
        MissingExtraError: scikit-learn is not installed.
        RequestError: no phrase contains a word.

    >>> index = PhraseIndex(["painted the barn", "sold the barn", "went home"])
    >>> index.similar(["she painted a barn", "flew"], k=2)
    [['painted the barn', 'sold the barn'], []]
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        first: dict[str, str] = {}
        for phrase in phrases:
            first.setdefault(_normalize(phrase), phrase)
        self._phrases = list(first.values())
        self._positions = {key: position for position, key in enumerate(first)}
        if not any(map(str.isalnum, "".join(self._phrases))):
            raise RequestError("no phrase contains a word (expected at least one)")
        self._vectorizer = _make_vectorizer()
        self._columns = self._vectorizer.fit_transform(self._phrases).T.tocsr()

    def similar(self, texts: Sequence[str], k: int) -> list[list[str]]:
        """Return up to `k` most similar phrases for each text, best first; ties are in the order of the list.

        The text itself (ignoring case and whitespace) and phrases that share no word with it are left out.

        Raises:
            ValueError: k is less than 1.
        """
        if k < 1:
            raise ValueError(f"k is {k} (expected at least 1)")
        found: list[list[str]] = []
        step = max(1, _CELLS // len(self._phrases))
        for start in range(0, len(texts), step):
            batch = texts[start : start + step]
            similarity = self._vectorizer.transform(batch) @ self._columns
            ends = similarity.indptr
            for row, text in enumerate(batch):
                here = slice(ends[row], ends[row + 1])
                best = self._find_best(text, similarity.indices[here], similarity.data[here], k)
                found.append([self._phrases[position] for position in best])
        return found

    def _find_best(
        self, text: str, positions: npt.NDArray[np.integer], values: npt.NDArray[np.float64], k: int
    ) -> npt.NDArray[np.integer]:
        values = values.round(_DECIMALS)
        candidates = (values > 0) & (positions != self._positions.get(_normalize(text), -1))
        positions, values = positions[candidates], values[candidates]
        if len(values) > k:
            # Keep all that tie with the k-th, so that the sort below can break the tie by position.
            enough = values >= np.partition(values, -k)[-k]
            positions, values = positions[enough], values[enough]
        return positions[np.lexsort((positions, -values))][:k]


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())


def _make_vectorizer() -> TfidfVectorizer:
    try:
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError as error:
        raise MissingExtraError("phrase retrieval", "scikit-learn", extra="perturb") from error
    return TfidfVectorizer(token_pattern=_WORD)


def read_index(path: Path) -> PhraseIndex:
    """Read the phrases of a file, one a line.

    Raises:
        FormatError: a phrase has a control character, so that an answer with it could not be read again, or none has a
            word.
    """
    phrases = list(read_lines(path))
    problems = [
        Problem(f"contains the control character U+{ord(found[0]):04X}", number)
        for number, phrase in enumerate(phrases, start=1)
        if (found := UNSAFE.search(phrase))
    ]
    if problems:
        raise FormatError(path, problems)
    try:
        return PhraseIndex(phrases)
    except RequestError as error:
        raise FormatError(path, [Problem(str(error))]) from None
