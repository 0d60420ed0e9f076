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
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.exceptions import FormatError, MissingExtraError, Problem, ProblemList, RequestError
from closeread.formats.text import UNSAFE, read_lines
from closeread.records import Record
from closeread.tasks.mctaco.perturbation.rules import Agreement, NumberRule, UnitRule, perturb

Fill = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts with one mask each -> the fillings of each text, best first."""

_MASKED_WORD = re.compile(r"\w+(?:[-'\u2019.,:]\w+)*")


def masked_variants(
    rows: Sequence[Record], *, fill: Fill, mask_token: str, top: int = 3
) -> list[list[str]]:
    """Return the answers made by masking and refilling each word of each answer: in word order, best filling first.

    At most `top` fillings are used per word; those that are the masked word (ignoring case), or contain no letter or
    digit, are skipped.  The model is called once, with one text per word of each answer, and should return a few more
    than `top`.  A row that itself contains the mask token has no new answers.

    >>> rows = [{"sentence": "He paints.", "question": "How often?", "answer": "every day"}]
    >>> def fill(texts):
    ...     return [["each", "week"] for _ in texts]
    >>> masked_variants(rows, fill=fill, mask_token="[MASK]", top=1)
    [['each day', 'every each']]
    """
    words = [
        (number, row["answer"], *match.span())
        for number, row in enumerate(rows)
        if not any(mask_token in row[name] for name in ("sentence", "question", "answer"))
        for match in _MASKED_WORD.finditer(row["answer"])
    ]
    texts = [
        f"{rows[number]['sentence']} {rows[number]['question']} {answer[:start]}{mask_token}{answer[end:]}"
        for number, answer, start, end in words
    ]
    filled = fill(texts)
    if len(filled) != len(texts):
        expected = f"expected {len(texts)}, one per masked word"
        raise ValueError(f"the model returned fillings for {len(filled)} texts ({expected})")
    variants: list[dict[str, None]] = [{} for _ in rows]
    for (number, answer, start, end), fillings in zip(words, filled, strict=True):
        old = answer[start:end].casefold()
        usable = (
            word
            for word in map(str.strip, fillings)
            if word.casefold() != old and any(map(str.isalnum, word))
        )
        for word in islice(dict.fromkeys(usable), top):
            variants[number][answer[:start] + word + answer[end:]] = None
    return [list(of_row) for of_row in variants]


# similarities in memory at a time: about 50 MB, even if every phrase shares a word with every text
_CELLS = 4_000_000
_WORD = r"(?u)\b\w+\b"  # unlike scikit-learn's default, of one character, too: "5 km" is not "9 km"


class PhraseIndex:
    """An index of phrases, 60,000 or so, that finds those most similar to a text.

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
        if not any(map(str.isalnum, "".join(self._phrases))):
            raise RequestError("no phrase contains a word (expected at least one)")
        self._vectorizer = TfidfVectorizer(token_pattern=_WORD)
        self._columns = self._vectorizer.fit_transform(self._phrases).T.tocsr()

    def similar(self, texts: Sequence[str], k: int) -> list[list[str]]:
        """Return up to `k` most similar phrases for each text, best first; ties are in the order of the list.

        The text itself (ignoring case and whitespace) and phrases that share no word with it are left out.
        """
        found: list[list[str]] = []
        step = max(1, _CELLS // len(self._phrases))
        for start in range(0, len(texts), step):
            batch = texts[start : start + step]
            similarity = self._vectorizer.transform(batch) @ self._columns
            for row, text in enumerate(batch):
                here = slice(*similarity.indptr[row : row + 2])
                # Equal similarities may differ in their last bits, which would break ties at random.
                positions, values = similarity.indices[here], similarity.data[here].round(12)
                usable = (values > 0) & (positions != self._positions.get(_normalize(text), -1))
                if usable.sum() > k:  # sort only those that tie with the k-th or are better
                    usable &= values >= np.partition(values[usable], -k)[-k]
                best = np.lexsort((positions[usable], -values[usable]))[:k]
                found.append([self._phrases[position] for position in positions[usable][best]])
        return found


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())


def read_index(path: Path) -> PhraseIndex:
    """Read the phrases of a file, one a line; control characters could not be read again in an answer."""
    phrases = list(read_lines(path))
    problems = ProblemList()
    for number, phrase in enumerate(phrases, start=1):
        if found := UNSAFE.search(phrase):
            problems.add(f"contains the control character U+{ord(found[0]):04X}", number)
    problems.raise_any(path)
    try:
        return PhraseIndex(phrases)
    except RequestError as error:
        raise FormatError(path, [Problem(str(error))]) from None


EVENTS = ("Event Ordering",)
"""The categories of questions whose answers are events."""


class Technique(NamedTuple):
    """A way to generate new answers."""

    name: str  # the value of `technique` in the new rows; "original" is reserved
    # From the rows of many questions at once, so that a model can run in batches, to the new answers for each.
    variants: Callable[[Sequence[Record]], Sequence[Sequence[str]]]
    replaces_phrases: bool = False  # it replaces whole answers, as events need, not words of them


def by_rules(
    *,
    number_rule: NumberRule = "both",
    changes: int = 1,
    units: UnitRule = "table",
    agreement: Agreement = "adjust",
) -> Technique:
    """Return the technique ``rules``: see `closeread.tasks.mctaco.perturbation.rules.perturb`."""
    replace = partial(
        perturb, number_rule=number_rule, changes=changes, units=units, agreement=agreement
    )
    return Technique("rules", lambda rows: [replace(row["answer"]) for row in rows])


def by_masking(fill: Fill, *, mask_token: str) -> Technique:
    """Return the technique ``masked``: see `masked_variants`."""
    return Technique("masked", partial(masked_variants, fill=fill, mask_token=mask_token))


def by_retrieval(index: PhraseIndex, *, k: int = 20) -> Technique:
    """Return the technique ``retrieval``: the `k` phrases most similar to the answer."""
    return Technique(
        "retrieval",
        lambda rows: index.similar([row["answer"] for row in rows], k),
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
    # By question: from an answer, without regard to case and whitespace, to the answer, its technique and its source.
    pools: dict[str, dict[str, tuple[str, str, Record]]] = {}

    def add(answer: str, technique: str, source: Record) -> None:
        if key := _normalize(answer):
            pools.setdefault(source["question_id"], {}).setdefault(key, (answer, technique, source))

    for row in rows:
        add(row["answer"], "original", row)
        pools.setdefault(row["question_id"], {})
    originals = {
        question: [source for _, _, source in pool.values()] for question, pool in pools.items()
    }
    for technique in techniques:
        sources = {
            question: [
                row
                for row in originals[question]
                if not events or technique.replaces_phrases == (row["category"] in events)
            ]
            for question, pool in pools.items()
            if len(pool) < limit
        }
        variants = iter(
            technique.variants([row for of_question in sources.values() for row in of_question])
        )
        for question, of_question in sources.items():
            made = [(answer, row) for row in of_question for answer in next(variants)]
            # Not hash(), which Python salts differently in every process.
            digest = hashlib.sha256(
                f"{technique.name}\0{question}".encode("utf-8", "surrogatepass")
            ).digest()
            generator = np.random.default_rng([seed, int.from_bytes(digest, "big")])
            for position in generator.permutation(len(made)):
                if len(pools[question]) < limit:
                    answer, row = made[position]
                    add(answer, technique.name, row)
    return [
        {
            "id": f"{question}-c{number:02d}",
            **{
                field: source[field]
                for field in ("question_id", "sentence_id", "sentence", "question")
            },
            "answer": answer,
            "category": source["category"],
            "technique": technique_name,
            "source": source["id"],
        }
        for question, pool in pools.items()
        for number, (answer, technique_name, source) in enumerate(pool.values())
    ]
