"""Laws that hold for every procedure: of counts of random systems by random options, and of their scores.

A new procedure needs an entry in `shared.random_systems.DRAWN`, and here what it says of the gold itself (`ANSWERS`) and
of nothing (`NOTHING`).
"""

import random
import re
from dataclasses import dataclass

import pytest
from shared.random_systems import DRAWN, FROM_FILES, draw_table, unique

from closeread.tasks import load_procedure, procedure_names
from closeread.tasks.wikipossessions.rules import derive_anchor

SIMPLE = "zeros != corefud, split_antecedents = ignore, duplicates = error"
"""Coreference without repeated mentions and without mentions that are looked up."""

IDENTITIES = {
    "mctaco": {
        "": """
            questions = 1
            1 <= candidates
            both_yes <= gold_yes
            both_yes <= system_yes
            gold_yes + system_yes <= candidates + both_yes
            correct + gold_yes + system_yes <= candidates + 2 * both_yes
            exact = (correct == candidates)
            f1_sum = 2 * both_yes / (gold_yes + system_yes) if gold_yes + system_yes else 1
        """,
        "missing != empty": "correct + gold_yes + system_yes = candidates + 2 * both_yes",
    },
    "tne": {
        "": """
            linked/gold = linked/system
            links/right <= linked/system
            linked/system <= links/system
            linked/gold <= links/gold
            links/system <= triplets/system
            links/gold <= triplets/gold
            links/right <= triplets/right
            triplets/right <= triplets/system
            triplets/right <= triplets/gold
            fallback/right <= fallback/gold
            fallback/gold + linked/gold <= links/gold
        """
    },
    "tlinks": {
        "": """
            awareness/verified_of_system <= awareness/system
            awareness/verified_of_gold <= awareness/gold
            contradictory/system <= awareness/system
            contradictory/gold <= awareness/gold
        """
    },
    "timeline": {
        "average = micro": """
            awareness/verified_of_system <= awareness/system
            awareness/verified_of_gold <= awareness/gold
            awareness/system <= 2 * events/system
            awareness/gold <= 2 * events/gold
            1 <= events/gold
            events/shared <= events/system
            events/shared <= events/gold
            anchors/right <= events/shared
        """
    },
    "wikipossessions": {
        "average = micro": """
            possessor_certainty/gold = possessor/gold
            possessor_certainty/found_of_gold <= possessor/found_of_gold
            anchor/system <= possessor/system
            relation/gold = anchor/gold
            relation_certainty/gold <= anchor/gold
            ordering/gold <= possessor/gold * (possessor/gold - 1)
            possessor/found_of_gold = possessor/found_of_system
            anchor/found_of_gold <= anchor/gold
            relation/found_of_system <= relation/system
        """,
        "average = micro, setting = exact": "ordering/found_of_gold = ordering/found_of_system",
        "average = micro, scenario = all_correct": "possessor/found_of_system = possessor/system",
    },
    "coref": {
        "average = micro": """
            mentions/common <= mentions/key
            mentions/common <= mentions/response
            b3/found_of_key <= b3/key
            lea/found_of_response <= lea/response
            muc/common <= muc/key
            ceafm/common <= ceafm/key
            ceafe/common <= 2 * ceafe/response
        """,
        "average = micro, split_antecedents = ignore": """
            muc/key + ceafe/key = b3/key
            ceafm/response = b3/response
            lea/key = b3/key
            mentions/key <= b3/key
        """,
        f"average = micro, {SIMPLE}": """
            b3/key = mentions/key
            muc/response <= mentions/response
            ceafe/common <= ceafe/key
        """,
    },
}
"""By the conditions under which they are true: of every unit, if all of their counts are there."""

OF_GOLD = {
    "mctaco": ["questions", "candidates", "gold_yes"],
    "tne": ["links/gold", "triplets/gold"],
    "tlinks": ["awareness/gold", "contradictory/gold"],
    "timeline": ["awareness/gold", "events/gold"],
    "wikipossessions": [
        f"{family}/gold" for family in ("possessor", "anchor", "relation", "ordering")
    ],
    "coref": [f"{name}/key" for name in ("mentions", "muc", "b3", "ceafm", "ceafe", "lea")],
}
"""Counts that gold and the options alone determine."""

NAME = re.compile(r"[a-z][a-z0-9_]*(/[a-z_]+)?")
WORDS = {"if", "else"}


@dataclass
class Identity:
    """Two expressions and how they are related."""

    text: str

    def __post_init__(self):
        self.names = {found[0] for found in NAME.finditer(self.text)} - WORDS
        code = NAME.sub(
            lambda found: found[0] if found[0] in WORDS else f"counts[{found[0]!r}]", self.text
        )
        left, self.relation, right = re.split(r" (<=|=) ", code)
        self.sides = [compile(side, self.text, "eval") for side in (left, right)]

    def is_true(self, counts):
        one, other = (eval(side, {"counts": counts}) for side in self.sides)  # noqa: S307
        return (
            one <= other + 1e-9 if self.relation == "<=" else other == pytest.approx(one, abs=1e-9)
        )


def holds(conditions, options):
    for condition in filter(None, conditions.split(", ")):
        name, relation, value = condition.split(" ")
        if (options[name] == value) != (relation == "="):
            return False
    return True


@pytest.mark.parametrize("kind", [*DRAWN, *FROM_FILES])
def test_identities(kind, here):
    tried = set()
    identities = {
        conditions: [Identity(line.strip()) for line in lines.strip().splitlines()]
        for conditions, lines in IDENTITIES["coref" if kind in FROM_FILES else kind].items()
    }
    for seed in range(40):
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        _, options, table = drawn
        true = [
            one
            for conditions, ones in identities.items()
            if holds(conditions, options)
            for one in ones
        ]
        for one in true:
            if one.names <= set(table.names):
                for row in table.values.tolist():
                    counts = dict(zip(table.names, row, strict=True))
                    assert one.is_true(counts), (seed, one.text, counts)
                    tried.add(one.text)
    if kind in DRAWN:
        assert tried == {one.text for ones in identities.values() for one in ones}


@pytest.mark.parametrize("name", DRAWN)
def test_any_system_has_the_counts_of_gold(name):
    procedure, n_compared = load_procedure(name), 0
    for number in range(12):
        gold, rows, options = DRAWN[name](random.Random(number))
        systems = [rows, list(gold), [rows[-1], *rows[:-1]], [None] * len(gold)]
        if options["missing"] == "error":
            systems.pop()
        tables = [
            table
            for rows in systems
            if (table := count(procedure, gold, rows, options)) is not None
        ]
        for other in tables[1:]:
            shared = sorted(set(tables[0].units) & set(other.units))
            for column in set(OF_GOLD[name]) & set(tables[0].names):
                one, two = (
                    [
                        table.values[list(table.units).index(unit), table.names.index(column)]
                        for unit in shared
                    ]
                    for table in (tables[0], other)
                )
                assert one == two, (column, number)
                n_compared += len(shared)
    assert n_compared


@pytest.mark.parametrize("name", DRAWN)
def test_counts_of_a_unit_do_not_depend_on_others(name):
    """Alone, in another order, or beside others."""
    procedure, n_compared = load_procedure(name), 0
    for number in range(20):
        gold, rows, options = DRAWN[name](random.Random(number))
        places = list(range(len(gold)))
        if name == "mctaco":  # whose units are questions, of several rows
            groups = [
                [i for i in places if gold[i]["question_id"] == q]
                for q in {row["question_id"] for row in gold}
            ]
        else:
            groups = [[place] for place in places]
        whole = count(procedure, gold, rows, options)
        for group in groups if whole is not None else ():
            one = count(procedure, [gold[i] for i in group], [rows[i] for i in group], options)
            if one is not None and len(one.units):
                unit = one.units[0] if name != "coref" else str(group[0])
                row = dict(
                    zip(
                        whole.names,
                        whole.values[list(whole.units).index(unit)].tolist(),
                        strict=True,
                    )
                )
                alone = dict(zip(one.names, one.values[0].tolist(), strict=True))
                # A document without fallbacks says nothing of UPrep; beside others that have some, it is wrong.
                differing = {column for column, value in alone.items() if value != row[column]}
                assert all(column.startswith("fallback/") for column in differing), (
                    number,
                    group,
                    differing,
                )
                n_compared += 1
        back = count(procedure, gold[::-1], rows[::-1], options)
        if whole is not None and name != "coref":
            assert dict(zip(back.units, back.values.tolist(), strict=True)) == dict(
                zip(whole.units, whole.values.tolist(), strict=True)
            )
    assert n_compared > 20


SEEDS = range(30)


def answer_links(record):
    """The links of a document, each once, as a prediction."""
    names = ("anchor", "complement", "preposition")
    links = [{name: link[name] for name in names} for link in record["np_relations"]]
    return {"id": record["id"], "relations": unique(links)}


def make_sound(record):
    """An article in which a possession has a relation if it has an anchor, as in the release."""
    possessions = []
    for possession in record["possessions"]:
        is_anchored = derive_anchor(possession["anchor"])["anchor_kind"] != "unknown"
        if not (is_anchored and possession["relation"]):
            nothing = dict.fromkeys(["anchor", "relation", "relation_certainty"])
            possession = possession | nothing
        possessions.append(possession)
    return {**record, "possessions": possessions}


def keep_first_mentions(document):
    """A document's entities without mentions that an earlier entity has."""
    spans = set()
    entities = []
    for entity in document:
        mentions = {tuple(mention[:2]): mention for mention in entity}
        entities.append([mentions[span] for span in mentions if span not in spans])
        spans |= mentions.keys()
    return [entity for entity in entities if entity]


SOUND = {"wikipossessions": make_sound, "coref": keep_first_mentions}
"""Of a drawn record, one that gold may have, where that is not all of them."""

ANSWERS = {
    "mctaco": lambda record: {"label": record["label"]},
    "tne": answer_links,
    "timeline": lambda record: record,
    "tlinks": lambda record: record,
    "wikipossessions": lambda record: record,
    "coref": lambda record: record,
}
"""The prediction that says what a gold record says."""

NOTHING = {
    "tne": lambda record: {"id": record["id"], "relations": []},
    "timeline": lambda record: {**record, "entries": []},
    "tlinks": lambda record: {**record, "tlinks": []},
    "wikipossessions": lambda record: {**record, "possessions": []},
    "coref": lambda record: [],
}
"""The prediction that says nothing of a gold record; of McTaco, there is none."""

SIDES = {
    "timeline": lambda record: record,
    "tlinks": lambda record: record,
    "wikipossessions": lambda record: record,
    "coref": lambda record: record,
}
"""The record that a prediction would be as gold, where the two have the same form."""


def draw(name, seed):
    """Return gold, and a system's rows without gaps."""
    gold, rows, _ = DRAWN[name](random.Random(f"law {name} {seed}"))
    make = SOUND.get(name, lambda record: record)
    gold = list(map(make, gold))
    answers = list(map(ANSWERS[name], gold))
    rows = [
        answer if row is None or "fallback" in row else row
        for row, answer in zip(rows, answers, strict=True)
    ]
    return gold, [make(row) if name in SIDES else row for row in rows]


def score_table(name, table):
    return table.scores(load_procedure(name).metrics)


def test_every_procedure_has_laws():
    assert set(DRAWN) == set(ANSWERS) == set(procedure_names())


@pytest.mark.parametrize("name", DRAWN)
def test_what_gold_says_is_perfect(name):
    """Scores are 1, or undefined; so they are 0 only where there is nothing to be found."""
    procedure = load_procedure(name)
    n_found = 0
    for seed in SEEDS:
        gold, _ = draw(name, seed)
        table = procedure.count(gold=gold, system=list(map(ANSWERS[name], gold)))
        scores = [score for score in score_table(name, table).values() if score is not None]
        if 0 not in scores:
            assert scores == pytest.approx([1] * len(scores)), seed
            n_found += 1
    assert n_found > len(SEEDS) / 2


@pytest.mark.parametrize("name", NOTHING)
def test_who_says_nothing_finds_nothing(name):
    procedure = load_procedure(name)
    for seed in SEEDS:
        gold, _ = draw(name, seed)
        table = procedure.count(gold=gold, system=list(map(NOTHING[name], gold)))
        assert not any(score_table(name, table).values()), seed


@pytest.mark.parametrize("name", SIDES)
def test_swapping_the_sides_swaps_precision_and_recall(name):
    procedure = load_procedure(name)
    other = {"precision": "recall", "recall": "precision"}
    n_compared = 0
    for seed in SEEDS:
        gold, rows = draw(name, seed)
        # Timelines without entries are not scored.
        if name == "timeline" and not all(record["entries"] for record in (*gold, *rows)):
            continue
        # BLANC by the reference scorer looks at the key alone to see whether a component stands.
        options = {"blanc_edge": "luo2014"} if name == "coref" else {}
        scores = score_table(name, procedure.count(gold=gold, system=rows, **options))
        swapped = score_table(name, procedure.count(gold=rows, system=gold, **options))
        for metric, score in scores.items():
            family, _, part = metric.rpartition("/")
            assert swapped[f"{family}/{other.get(part, part)}".lstrip("/")] == pytest.approx(
                score
            ), (seed, metric)
            n_compared += 1
    assert n_compared


@pytest.mark.parametrize("name", NOTHING)
def test_a_missing_prediction_is_nothing_or_left_out_or_an_error(name):
    procedure = load_procedure(name)
    n_compared = 0
    for seed in SEEDS:
        gold, rows = draw(name, seed)
        rng = random.Random(seed)
        is_there = [rng.random() < 0.6 for _ in gold]
        if all(is_there):
            continue
        gaps = [row if there else None for row, there in zip(rows, is_there, strict=True)]
        with pytest.raises(ValueError, match=r"prediction|response"):
            procedure.count(gold=gold, system=gaps, missing="error")
        filled = [row or NOTHING[name](record) for row, record in zip(gaps, gold, strict=True)]
        empty = procedure.count(gold=gold, system=gaps, missing="empty")
        assert count_by_unit(empty) == count_by_unit(procedure.count(gold=gold, system=filled))
        skipped = procedure.count(gold=gold, system=gaps, missing="skip")
        known = count_by_unit(empty)
        for unit, counts in count_by_unit(skipped).items():
            assert {column: counts[column] for column in counts.keys() & known[unit].keys()} == {
                column: known[unit][column] for column in counts.keys() & known[unit].keys()
            }
        assert len(skipped.units) < len(gold)
        n_compared += 1
    assert n_compared


def count_by_unit(table):
    """Return the counts of a table by unit and column."""
    rows = table.values.tolist()
    return {
        unit: dict(zip(table.names, row, strict=True))
        for unit, row in zip(table.units, rows, strict=True)
    }


@pytest.mark.parametrize("kind", [*DRAWN, *FROM_FILES])
def test_slices_sum_to_the_whole(kind, here):
    """By fields of units, and by parts of units, where numerators of precision and recall may differ."""
    n_fields = n_compared = 0
    for seed in range(40):
        drawn = draw_table(kind, seed, here)
        if drawn is None:
            continue
        _, _, table = drawn
        n_fields += len(table.fields) + len(table.breakdowns)
        for field in (*table.fields, *table.breakdowns):
            slices = table.slices(field).values()
            names = next(iter(slices)).names if slices else ()
            for name in names:
                column = name if name in table.names else f"{name.partition('/')[0]}/common"
                total = table.values[:, table.names.index(column)].sum()
                parts = [part.values[:, part.names.index(name)].sum() for part in slices]
                assert sum(parts) == pytest.approx(total, abs=1e-9), (seed, field, name)
                n_compared += 1
    assert bool(n_compared) == bool(n_fields)


def count(procedure, gold, rows, options):
    try:
        return procedure.count(gold=gold, system=rows, **options)
    # options exclude each other, or a row is none of a submission
    except (IndexError, KeyError, ValueError):
        return None
