"""More candidate answers for every question, up to a limit, by one technique after another.

Source: Zhou et al. (2019), step 3: rules, masked words and retrieved phrases, applied one after another until
a question has 20 candidates.  Every technique starts from the question's own answers, not from what another
technique made of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from closeread.records import Record
from closeread.tasks.mctaco.perturbation.masked import Fill, masked_variants
from closeread.tasks.mctaco.perturbation.retrieval import PhraseIndex
from closeread.tasks.mctaco.perturbation.rules import NumberRule, perturb


@dataclass(frozen=True)
class Technique:
    """One way of making new answers.

    Attributes:
        name: what the candidates are marked with; "original" is taken.
        variants: records -> for each of them its new answers.  It gets the answers of many questions at once,
            so that a model can work in batches.
    """

    name: str
    variants: Callable[[Sequence[Record]], Sequence[Sequence[str]]]


def by_rules(*, number_rule: NumberRule = "off") -> Technique:
    """The technique ``rules``: see `closeread.tasks.mctaco.perturbation.rules.perturb`."""
    return Technique("rules", lambda rows: [perturb(row["answer"], number_rule=number_rule) for row in rows])


def by_masking(fill: Fill, *, mask_token: str) -> Technique:
    """The technique ``masked``: see `closeread.tasks.mctaco.perturbation.masked.masked_variants`."""
    return Technique("masked", partial(masked_variants, fill=fill, mask_token=mask_token))


def by_retrieval(index: PhraseIndex, *, k: int = 20) -> Technique:
    """The technique ``retrieval``: the `k` phrases most like the answer."""
    return Technique("retrieval", lambda rows: index.similar([row["answer"] for row in rows], k))


def expand(rows: Iterable[Record], techniques: Sequence[Technique], *, limit: int = 20, seed: int = 0) -> list[Record]:
    """The candidates of every question: its own answers, then new ones while there are fewer than `limit`.

    What a question gets depends on its own rows, the techniques, the limit and the seed, and on nothing else:
    neither on the other questions nor on their order.  Two answers are the same if only letter case and
    blanks tell them apart.  The question's own answers are all kept, even where they are more than the limit.

    Args:
        rows: gold records or others with ``id``, ``question_id``, ``sentence_id``, ``sentence``,
            ``question``, ``answer`` and ``category``; the rows of a question need not stand together.
        techniques: in the order of their use; what one of them offers a question is drawn in random order.
        limit: the number of candidates at which a question is full.
        seed: of the random order; not negative.

    Returns:
        Rows with those fields, ``technique`` ("original" or the technique's name) and ``source``, the id of
        the row whose answer it was made from; ``id`` is ``{question_id}-c{number from 00}``.  They have no
        label: new candidates have to be annotated.

    Raises:
        ValueError: limit is less than 1, seed is negative, or a technique did not answer every row.

    >>> row = {"id": "r0", "question_id": "q0", "sentence_id": "s0", "sentence": "He rang twice.",
    ...        "question": "When?", "answer": "in the evening", "category": "Typical Time"}
    >>> [(new["id"], new["answer"], new["technique"]) for new in expand([row], [by_rules()])]
    [('q0-c00', 'in the evening', 'original'), ('q0-c01', 'in the morning', 'rules')]
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: a question needs room for at least 1 candidate")
    if seed < 0:
        raise ValueError(f"seed is {seed}: it must not be negative")
    pools = _pools(rows)
    for technique in techniques:
        growing = [pool for pool in pools if len(pool.candidates) < limit]
        _grow(growing, technique, limit=limit, seed=seed)
    return [row for pool in pools for row in pool.rows()]


@dataclass
class _Pool:
    """The candidates of one question so far."""

    question_id: str
    originals: list[Record] = field(default_factory=list)
    candidates: list[tuple[str, str, Record]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def take(self, answer: str, technique: str, source: Record) -> None:
        same = " ".join(answer.casefold().split())
        if same and same not in self.seen:
            self.seen.add(same)
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


def _pools(rows: Iterable[Record]) -> list[_Pool]:
    pools: dict[str, _Pool] = {}
    for row in rows:
        pool = pools.setdefault(row["question_id"], _Pool(row["question_id"]))
        pool.take(row["answer"], "original", row)
    for pool in pools.values():
        pool.originals = [source for _, _, source in pool.candidates]
    return list(pools.values())


def _grow(pools: Sequence[_Pool], technique: Technique, *, limit: int, seed: int) -> None:
    sources = [row for pool in pools for row in pool.originals]
    variants = technique.variants(sources)
    if len(variants) != len(sources):
        raise ValueError(f"{technique.name} gave variants of {len(variants)} answers for {len(sources)} answers")
    answered = iter(variants)
    for pool in pools:
        offers = [(answer, row) for row in pool.originals for answer in next(answered)]
        for position in _generator(seed, pool.question_id, technique.name).permutation(len(offers)):
            if len(pool.candidates) >= limit:
                break
            answer, row = offers[position]
            pool.take(answer, technique.name, row)


def _generator(seed: int, question_id: str, technique: str) -> np.random.Generator:
    # Not hash(): Python salts it anew in every process.
    digest = hashlib.sha256(f"{technique}\0{question_id}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])
