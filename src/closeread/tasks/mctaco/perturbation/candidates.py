"""Candidate answers: rules, masked words and retrieved phrases, one technique after another, up to a limit.

Source: Zhou et al. (2019), step 3, where a question gets 20 candidates.  Answers that are events are set apart:
replacing their words rarely gives diverse or valid answers, so similar phrases are retrieved for them.  Which answers
are events is told by the category of the question.  Every technique starts from the original answers of the question,
not from the output of another technique.

Masks: one word of an answer at a time is masked and filled in again; the authors used BERT and kept the top three
fillings.  The model is a function, so any model works; its input is the sentence, the question and the answer, in that
order, with one mask.  A word is a sequence of letters, digits and underscores, with hyphens, apostrophes, dots, commas
or colons inside ("9:30", "year's"); punctuation at its edges is never masked.

Phrases: those of the user's list that are most similar, by the cosine of case-insensitive TF-IDF word vectors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from closeread.exceptions import FormatError, MissingExtraError, Problem, RequestError
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Record
from closeread.tasks.mctaco.perturbation.rules import Agreement, NumberRule, UnitRule, perturb

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer


Fill = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts with one mask each -> the fillings of each text, best first."""

_MASKED_WORD = re.compile(r"\w+(?:[-'\u2019.,:]\w+)*")


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
    spans = [
        [] if _has_mask(row, mask_token) else [m.span() for m in _MASKED_WORD.finditer(row["answer"])] for row in rows
    ]
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


EVENTS = ("Event Ordering",)
"""The categories of questions whose answers are events."""


@dataclass(frozen=True)
class Technique:
    """A way to generate new answers.

    Attributes:
        name: the value of `technique` in the new rows; "original" is reserved.
        variants: maps records to the new answers for each of them.  It is called with the answers of many
            questions at once, so that a model can run in batches.
        replaces_phrases: it replaces whole answers, as events need, not words of them.
    """

    name: str
    variants: Callable[[Sequence[Record]], Sequence[Sequence[str]]]
    replaces_phrases: bool = False


def by_rules(
    *,
    number_rule: NumberRule = "both",
    changes: int = 1,
    units: UnitRule = "table",
    agreement: Agreement = "adjust",
) -> Technique:
    """Return the technique ``rules``: see `closeread.tasks.mctaco.perturbation.rules.perturb`."""
    replace = partial(perturb, number_rule=number_rule, changes=changes, units=units, agreement=agreement)
    return Technique("rules", lambda rows: [replace(row["answer"]) for row in rows])


def by_masking(fill: Fill, *, mask_token: str) -> Technique:
    """Return the technique ``masked``: see `closeread.tasks.mctaco.perturbation.candidates.masked_variants`."""
    return Technique("masked", partial(masked_variants, fill=fill, mask_token=mask_token))


def by_retrieval(index: PhraseIndex, *, k: int = 20) -> Technique:
    """Return the technique ``retrieval``: the `k` phrases most similar to the answer."""
    return Technique("retrieval", lambda rows: index.similar([row["answer"] for row in rows], k), replaces_phrases=True)


def expand(
    rows: Iterable[Record],
    techniques: Sequence[Technique],
    *,
    events: Collection[str] = EVENTS,
    limit: int = 20,
    seed: int = 0,
) -> list[Record]:
    """Expand the candidates of each question: its original answers, then new ones until there are `limit`.

    The result for a question depends only on its own rows, the techniques, the limit and the seed, not on other
    questions or their order.  Answers that differ only in case and whitespace are the same.  Original answers are
    always kept, even if there are more than the limit.

    Args:
        rows: gold records or other rows with ``id``, ``question_id``, ``sentence_id``, ``sentence``,
            ``question``, ``answer`` and ``category``; the rows of a question need not be adjacent.
        techniques: applied in this order; the answers of a technique are tried in random order.
        events: the categories whose answers are events: techniques that replace phrases are applied to these answers
            only, and those that replace words to all others only.  Without any, all are applied to all answers.
        limit: the number of candidates at which no more are added to a question.
        seed: the seed of the random order; not negative.

    Returns:
        Rows with those fields, ``technique`` ("original" or the technique's name) and ``source``, the id of the
        row it was generated from; ``id`` is ``{question_id}-c{number from 00}``.  There is no label: new
        candidates have to be annotated.

    Raises:
        ValueError: limit is less than 1, seed is negative, or a technique does not return a list for every row.

    >>> row = {"id": "r0", "question_id": "q0", "sentence_id": "s0", "sentence": "He rang twice.",
    ...        "question": "When?", "answer": "in the evening", "category": "Typical Time"}
    >>> [(new["id"], new["answer"], new["technique"]) for new in expand([row], [by_rules()])]
    [('q0-c00', 'in the evening', 'original'), ('q0-c01', 'in the morning', 'rules')]
    """
    if limit < 1:
        raise ValueError(f"limit is {limit} (expected at least 1)")
    if seed < 0:
        raise ValueError(f"seed is {seed} (expected 0 or more)")
    pools = _make_pools(rows)
    for technique in techniques:
        growing = [pool for pool in pools if len(pool.candidates) < limit]
        _grow(growing, technique, events=events, limit=limit, seed=seed)
    return [row for pool in pools for row in pool.rows()]


@dataclass
class _Pool:
    """The candidates of a question so far."""

    question_id: str
    originals: list[Record] = field(default_factory=list)
    candidates: list[tuple[str, str, Record]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def add(self, answer: str, technique: str, source: Record) -> None:
        key = " ".join(answer.casefold().split())
        if key and key not in self.seen:
            self.seen.add(key)
            self.candidates.append((answer, technique, source))

    def rows(self) -> list[Record]:
        kept = ("question_id", "sentence_id", "sentence", "question")
        return [
            {"id": f"{self.question_id}-c{number:02d}"}
            | {name: source[name] for name in kept}
            | {
                "answer": answer,
                "category": source["category"],
                "technique": technique,
                "source": source["id"],
            }
            for number, (answer, technique, source) in enumerate(self.candidates)
        ]


def _make_pools(rows: Iterable[Record]) -> list[_Pool]:
    pools: dict[str, _Pool] = {}
    for row in rows:
        pool = pools.setdefault(row["question_id"], _Pool(row["question_id"]))
        pool.add(row["answer"], "original", row)
    for pool in pools.values():
        pool.originals = [source for _, _, source in pool.candidates]
    return list(pools.values())


def _grow(pools: Sequence[_Pool], technique: Technique, *, events: Collection[str], limit: int, seed: int) -> None:
    sources_of_pools = [[row for row in pool.originals if _applies(technique, row, events)] for pool in pools]
    sources = [row for of_pool in sources_of_pools for row in of_pool]
    variants = technique.variants(sources)
    if len(variants) != len(sources):
        expected = f"expected {len(sources)}, one per row"
        raise ValueError(f"technique {technique.name} returned {len(variants)} lists of variants ({expected})")
    remaining = iter(variants)
    for pool, of_pool in zip(pools, sources_of_pools, strict=True):
        variants_of_pool = [(answer, row) for row in of_pool for answer in next(remaining)]
        for position in _make_generator(seed, pool.question_id, technique.name).permutation(len(variants_of_pool)):
            if len(pool.candidates) >= limit:
                break
            answer, row = variants_of_pool[position]
            pool.add(answer, technique.name, row)


def _applies(technique: Technique, row: Record, events: Collection[str]) -> bool:
    return not events or technique.replaces_phrases == (row["category"] in events)


def _make_generator(seed: int, question_id: str, technique: str) -> np.random.Generator:
    # Not hash(), which Python salts differently in every process.
    digest = hashlib.sha256(f"{technique}\0{question_id}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])
