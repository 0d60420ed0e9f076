"""Masked-word replacement: mask one word of an answer at a time and fill it in again.

Source: Zhou et al. (2019), step 3, who used BERT and kept the top three fillings.  The model is passed as a
function, so any model works.

Conventions: a word is a sequence of letters, digits and underscores, with hyphens, apostrophes, dots, commas or
colons inside ("9:30", "year's"); punctuation at its edges is never masked.  The input of the model is the sentence,
the question and the answer, in that order, with one mask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from closeread.records import Record

Fill = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts with one mask each -> the fillings of each text, best first."""

_WORD = re.compile(r"\w+(?:[-'\u2019.,:]\w+)*")


def masked_variants(rows: Sequence[Record], *, fill: Fill, mask_token: str, top: int = 3) -> list[list[str]]:
    """Return the answers made by masking and refilling each word of each answer.

    Args:
        rows: records with ``sentence``, ``question`` and ``answer``.
        fill: the model; it is called once, with one text per word of each answer.  It should return a few more
            fillings than `top`, since the masked word itself is often among them.
        mask_token: the mask token of the model, such as "[MASK]".
        top: the maximum number of fillings per word.

    Returns:
        The new answers of each row, without duplicates: in word order, best filling first.  Fillings are skipped
        if they are the masked word (ignoring case) or contain no letter or digit.  A row that itself contains the
        mask token has no new answers.

    Raises:
        ValueError: the model does not return fillings for every text.

    >>> rows = [{"sentence": "He paints.", "question": "How often?", "answer": "every day"}]
    >>> def fill(texts):
    ...     return [["each", "week"] for _ in texts]
    >>> masked_variants(rows, fill=fill, mask_token="[MASK]", top=1)
    [['each day', 'every each']]
    """
    spans = [[] if _has_mask(row, mask_token) else [m.span() for m in _WORD.finditer(row["answer"])] for row in rows]
    texts = [
        f"{row['sentence']} {row['question']} {_replace(row['answer'], span, mask_token)}"
        for row, row_spans in zip(rows, spans, strict=True)
        for span in row_spans
    ]
    fillings = fill(texts)
    if len(fillings) != len(texts):
        expected = f"expected {len(texts)}, one per masked word"
        raise ValueError(f"the model returned fillings for {len(fillings)} texts ({expected})")
    remaining = iter(fillings)
    return [
        list(dict.fromkeys(_make_variants(row["answer"], zip(row_spans, remaining, strict=False), top)))
        for row, row_spans in zip(rows, spans, strict=True)
    ]


def _has_mask(row: Record, mask_token: str) -> bool:
    return any(mask_token in row[name] for name in ("sentence", "question", "answer"))


def _make_variants(answer: str, filled: Iterable[tuple[tuple[int, int], Sequence[str]]], top: int) -> Iterator[str]:
    for span, fillings in filled:
        old = answer[slice(*span)].casefold()
        new = (word.strip() for word in fillings)
        usable = (word for word in new if word.casefold() != old and any(map(str.isalnum, word)))
        yield from (_replace(answer, span, word) for word in islice(dict.fromkeys(usable), top))


def _replace(answer: str, span: tuple[int, int], word: str) -> str:
    start, end = span
    return answer[:start] + word + answer[end:]
