"""Masked-token replacement: one word of an answer at a time is masked and filled in again.

Source: Zhou et al. (2019), step 3, who asked BERT and kept the top three.  Any model will do: it comes in as
a function, and this file knows nothing of how it works.

*Conventions.*  A word is a run of letters, digits and underscores, with hyphens, apostrophes, dots, commas or
colons inside ("9:30", "year's"); punctuation at its ends is never masked.  The model reads the sentence, the
question and the answer, in that order, with one mask.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from closeread.records import Record

Fill = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts with one mask each -> for each text its fillings, the best first."""

_WORD = re.compile(r"\w+(?:[-'\u2019.,:]\w+)*")


def masked_variants(rows: Sequence[Record], *, fill: Fill, mask_token: str, top: int = 3) -> list[list[str]]:
    """The answers made by filling each word of each answer anew.

    Args:
        rows: records with ``sentence``, ``question`` and ``answer``.
        fill: the model; it is called once, with a text for every word of every answer.  It should offer some
            more fillings than `top`, since the masked word itself is often among them.
        mask_token: what the model calls its mask, such as "[MASK]".
        top: how many fillings to keep for a word, at most.

    Returns:
        For every row its new answers, word by word, the best filling first, none twice.  Fillings are skipped
        if they are the masked word (letter case aside) or hold no letter and no digit.  A row that holds the
        model's mask itself gets none.

    Raises:
        ValueError: the model did not answer every text.

    >>> rows = [{"sentence": "He paints.", "question": "How often?", "answer": "every day"}]
    >>> def fill(texts):
    ...     return [["each", "week"] for _ in texts]
    >>> masked_variants(rows, fill=fill, mask_token="[MASK]", top=1)
    [['each day', 'every each']]
    """
    spans = [[] if _has_mask(row, mask_token) else [m.span() for m in _WORD.finditer(row["answer"])] for row in rows]
    texts = [
        f"{row['sentence']} {row['question']} {_replaced(row['answer'], span, mask_token)}"
        for row, row_spans in zip(rows, spans, strict=True)
        for span in row_spans
    ]
    fillings = fill(texts)
    if len(fillings) != len(texts):
        raise ValueError(f"the model answered {len(fillings)} of {len(texts)} masked texts; it must answer each")
    answered = iter(fillings)
    return [
        list(dict.fromkeys(_variants(row["answer"], zip(row_spans, answered, strict=False), top)))
        for row, row_spans in zip(rows, spans, strict=True)
    ]


def _has_mask(row: Record, mask_token: str) -> bool:
    return any(mask_token in row[name] for name in ("sentence", "question", "answer"))


def _variants(answer: str, filled: Iterable[tuple[tuple[int, int], Sequence[str]]], top: int) -> Iterator[str]:
    for span, fillings in filled:
        old = answer[slice(*span)].casefold()
        new = (word.strip() for word in fillings)
        usable = (word for word in new if word.casefold() != old and any(map(str.isalnum, word)))
        yield from (_replaced(answer, span, word) for word in islice(dict.fromkeys(usable), top))


def _replaced(answer: str, span: tuple[int, int], word: str) -> str:
    start, end = span
    return answer[:start] + word + answer[end:]
