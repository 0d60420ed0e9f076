"""Generation of candidate answers: one technique after another, up to a limit per question.

Source: Zhou et al. (2019), step 3: rules, masked words and retrieved phrases, applied in turn until a question
has 20 candidates.  Answers that are events are set apart: replacing their words rarely gives diverse or valid answers,
so similar phrases are retrieved for them.  Which answers are events is told by the category of the question.  Every
technique starts from the original answers of the question, not from the output of another technique.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from closeread.records import Record
from closeread.tasks.mctaco.perturbation.edits import Agreement
from closeread.tasks.mctaco.perturbation.masked import Fill, masked_variants
from closeread.tasks.mctaco.perturbation.number_rules import NumberRule
from closeread.tasks.mctaco.perturbation.retrieval import PhraseIndex
from closeread.tasks.mctaco.perturbation.rules import UnitRule, perturb

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
    """Return the technique ``masked``: see `closeread.tasks.mctaco.perturbation.masked.masked_variants`."""
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
