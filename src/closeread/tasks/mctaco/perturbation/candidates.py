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
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.arrays import Floats, Ints
from closeread.exceptions import MissingExtraError, ProblemList
from closeread.formats.text import describe_unsafe, read_lines
from closeread.records import Record, column
from closeread.tasks.mctaco.perturbation.rules import (
    NumberRule,
    UnitRule,
    perturb,
    replace_match,
)

Fill = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts with one mask each -> the fillings of each text, best first."""

FILLINGS_PER_WORD = 3
PHRASES_PER_ANSWER = 20

_MASKED_WORD = re.compile(r"\w+(?:[-'\u2019.,:]\w+)*")


def masked_variants(rows: Sequence[Record], *, fill: Fill, mask_token: str) -> list[list[str]]:
    """Return the answers made by masking and refilling each word of each answer: in word order, best filling first.

    At most `FILLINGS_PER_WORD` fillings are used; those that are the masked word (ignoring case), or contain no letter
    or digit, are skipped.  The model is called once, with one text per word of each answer, and should return a few
    more.  A row that itself contains the mask token has no new answers.

    >>> rows = [{"sentence": "He paints.", "question": "How often?", "answer": "every day"}]
    >>> def fill(texts):
    ...     return [["each", "week"] for _ in texts]
    >>> masked_variants(rows, fill=fill, mask_token="[MASK]")
    [['each day', 'week day', 'every each', 'every week']]
    """
    words: list[tuple[int, re.Match[str]]] = []
    texts = []
    for number, row in enumerate(rows):
        if any(mask_token in row[name] for name in ("sentence", "question", "answer")):
            continue
        for word in _MASKED_WORD.finditer(row["answer"]):
            words.append((number, word))
            masked = replace_match(word, mask_token)
            texts.append(f"{row['sentence']} {row['question']} {masked}")
    # The keys are the new answers of each row, in order and without repetitions.
    variants: list[dict[str, None]] = [{} for _ in rows]
    for (number, word), fillings in zip(words, fill(texts), strict=True):
        usable = _list_usable(fillings, word[0])
        for filling in usable[:FILLINGS_PER_WORD]:
            variants[number][replace_match(word, filling)] = None
    return list(map(list, variants))


def _list_usable(fillings: Iterable[str], masked: str) -> list[str]:
    """List distinct fillings that are words, but not the word that was masked."""
    usable = []
    for filling in dict.fromkeys(map(str.strip, fillings)):
        is_word = any(map(str.isalnum, filling))
        if is_word and filling.casefold() != masked.casefold():
            usable.append(filling)
    return usable


_MAX_SIMILARITIES = 4_000_000
"""Similarities in memory at a time: about 50 MB, even if every phrase shares a word with every text."""

# Unlike scikit-learn's default, words may have one character: "5 km" is not "9 km".
_WORD = r"(?u)\b\w+\b"


class PhraseIndex:
    """An index of phrases, 60,000 or so, of which one has a word, that finds those most similar to a text.

    Phrases that differ only in case and whitespace are indexed once, as first written.

    >>> index = PhraseIndex(["painted the barn", "sold the barn", "went home"])
    >>> index.similar(["she painted a barn", "flew"], k=2)
    [['painted the barn', 'sold the barn'], []]
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        try:
            from sklearn.feature_extraction.text import TfidfVectorizer
        except ImportError as error:
            raise MissingExtraError("phrase retrieval", "scikit-learn", extra="perturb") from error
        first: dict[str, str] = {}
        for phrase in phrases:
            first.setdefault(_normalize(phrase), phrase)
        self._phrases = list(first.values())
        self._positions = {key: position for position, key in enumerate(first)}
        self._vectorizer = TfidfVectorizer(token_pattern=_WORD)
        self._columns = self._vectorizer.fit_transform(self._phrases).T.tocsr()

    def similar(self, texts: Sequence[str], k: int) -> list[list[str]]:
        """Return up to `k` most similar phrases for each text, best first; ties are in the order of the list.

        The text itself (ignoring case and whitespace) and phrases that share no word with it are left out.
        """
        phrases: list[list[str]] = []
        batch_size = max(1, _MAX_SIMILARITIES // len(self._phrases))
        for first in range(0, len(texts), batch_size):
            batch = texts[first : first + batch_size]
            similarity = self._vectorizer.transform(batch) @ self._columns
            for text, (begin, end) in zip(batch, pairwise(similarity.indptr), strict=True):
                positions = similarity.indices[begin:end]
                # Equal similarities may differ in their last bits, which would break ties at random.
                values = similarity.data[begin:end].round(12)
                own_position = self._positions.get(_normalize(text), -1)
                is_usable = (values > 0) & (positions != own_position)
                best = _choose_best(positions[is_usable], values[is_usable], k)
                phrases.append([self._phrases[position] for position in best])
        return phrases


def _choose_best(positions: Ints, values: Floats, k: int) -> Ints:
    """Return the positions of the `k` largest values, the largest first; equal values are in order of position."""
    if len(values) > k:
        # Only those that tie with the k-th or are better have to be sorted.
        is_best = values >= np.partition(values, -k)[-k]
        positions = positions[is_best]
        values = values[is_best]
    order = np.lexsort((positions, -values))
    return positions[order[:k]]


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())


def read_index(path: Path) -> PhraseIndex:
    """Read the phrases of a file, one a line; control characters could not be read again in an answer."""
    phrases = list(read_lines(path))
    problems = ProblemList()
    for number, phrase in enumerate(phrases, start=1):
        reason = describe_unsafe(phrase)
        if reason:
            problems.add(reason, number)
    if not any(map(str.isalnum, "".join(phrases))):
        problems.add("no phrase contains a word (expected at least one)")
    problems.raise_any(path)
    return PhraseIndex(phrases)


EVENTS = ("Event Ordering",)
"""The categories of questions whose answers are events."""


ORIGINAL = "original"
"""In place of the name of a technique: answers that were there before."""


class Technique(NamedTuple):
    """A way to generate new answers.

    Attributes:
        name: the value of `technique` in the new rows; not `ORIGINAL`.
        variants: makes the new answers for each row; it gets the rows of many questions at once, so that a model can
            run in batches.
        replaces_phrases: whether it replaces whole answers, as events need, not words of them.
    """

    name: str
    variants: Callable[[Sequence[Record]], Sequence[Sequence[str]]]
    replaces_phrases: bool = False


class Candidate(NamedTuple):
    """An answer to a question.

    Attributes:
        answer: its text.
        technique: the name of the technique that made it, or `ORIGINAL`.
        source: the row from whose answer it was made; of an original answer, its own row.
    """

    answer: str
    technique: str
    source: Record


Pool = dict[str, Candidate]
"""The candidates of a question, by their answers without regard to case and whitespace."""


def by_rules(
    *, number_rule: NumberRule = "both", changes: int = 1, units: UnitRule = "table"
) -> Technique:
    """Return the technique ``rules``: see `closeread.tasks.mctaco.perturbation.rules.perturb`."""
    replace = partial(perturb, number_rule=number_rule, changes=changes, units=units)
    return Technique("rules", lambda rows: list(map(replace, column(rows, "answer"))))


def by_masking(fill: Fill, *, mask_token: str) -> Technique:
    """Return the technique ``masked``: see `masked_variants`."""
    return Technique("masked", partial(masked_variants, fill=fill, mask_token=mask_token))


def by_retrieval(index: PhraseIndex) -> Technique:
    """Return the technique ``retrieval``: the `PHRASES_PER_ANSWER` phrases most similar to the answer."""
    return Technique(
        "retrieval",
        lambda rows: index.similar(column(rows, "answer"), PHRASES_PER_ANSWER),
        replaces_phrases=True,
    )


def expand(
    rows: Iterable[Record],
    techniques: Sequence[Technique],
    *,
    events: Collection[str] = EVENTS,
    limit: int = 20,
    seed: int = 0,
) -> list[Record]:
    """Expand the candidates of each question: its original answers, then new ones until there are `limit`.

    The result for a question depends only on its own rows, which need not be adjacent, the techniques, the limit and
    the seed.  Techniques are applied in their order, and the answers of one are tried in random order; answers that
    differ only in case and whitespace are the same.  Original answers are always kept, even if there are more than the
    limit.  Techniques that replace phrases are applied to the answers of `events` only, and those that replace words to
    all others only; without any such category, all are applied to all answers.

    Returns:
        Rows with ``technique`` ("original" or the technique's name) and ``source``, the id of the row it was generated
        from; ``id`` is ``{question_id}-c{number from 00}``.  There is no label: new candidates have to be annotated.

    >>> row = {"id": "r0", "question_id": "q0", "sentence_id": "s0", "sentence": "He rang twice.",
    ...        "question": "When?", "answer": "in the evening", "category": "Typical Time"}
    >>> [(new["id"], new["answer"], new["technique"]) for new in expand([row], [by_rules()])]
    [('q0-c00', 'in the evening', 'original'), ('q0-c01', 'in the morning', 'rules')]
    """
    pools: dict[str, Pool] = {}
    for row in rows:
        pool = pools.setdefault(row["question_id"], {})
        _add_candidate(pool, Candidate(row["answer"], ORIGINAL, row))
    for technique in techniques:
        sources = []
        for pool in pools.values():
            if len(pool) < limit:
                sources += _list_sources(pool, technique, events)
        new_candidates: dict[str, list[Candidate]] = defaultdict(list)
        for source, answers in zip(sources, technique.variants(sources), strict=True):
            for answer in answers:
                candidate = Candidate(answer, technique.name, source)
                new_candidates[source["question_id"]].append(candidate)
        for question, candidates in new_candidates.items():
            pool = pools[question]
            generator = _make_generator(technique.name, question, seed)
            for position in generator.permutation(len(candidates)):
                if len(pool) < limit:
                    _add_candidate(pool, candidates[position])
    expanded = []
    for question, pool in pools.items():
        for number, candidate in enumerate(pool.values()):
            expanded.append(_make_row(f"{question}-c{number:02d}", candidate))
    return expanded


def _add_candidate(pool: Pool, candidate: Candidate) -> None:
    """Add a candidate to those of a question, unless it is empty or there is the same already."""
    key = _normalize(candidate.answer)
    if key:
        pool.setdefault(key, candidate)


def _list_sources(pool: Pool, technique: Technique, events: Collection[str]) -> list[Record]:
    """List the rows of original answers of a question to which a technique is applied."""
    sources = []
    for candidate in pool.values():
        is_event = candidate.source["category"] in events
        if candidate.technique == ORIGINAL and (
            not events or is_event == technique.replaces_phrases
        ):
            sources.append(candidate.source)
    return sources


def _make_generator(technique: str, question: str, seed: int) -> np.random.Generator:
    """Return the source of the random order in which the answers of a technique for a question are tried."""
    # Not hash(), which Python salts differently in every process.
    name = f"{technique}\0{question}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(name).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])


def _make_row(name: str, candidate: Candidate) -> Record:
    """Return a candidate as a row without label."""
    source = candidate.source
    row = {"id": name}
    for field in ("question_id", "sentence_id", "sentence", "question"):
        row[field] = source[field]
    row["answer"] = candidate.answer
    row["category"] = source["category"]
    row["technique"] = candidate.technique
    row["source"] = source["id"]
    return row
