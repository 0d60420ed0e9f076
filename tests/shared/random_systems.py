"""Random gold and systems of every procedure, with random values of all options, as `Procedure.count` takes them.

A pair is drawn by a seeded `random.Random`, so that a failure names its seed.  Options of coreference that need files
of a certain format are drawn with those files.
"""

import random
from pathlib import Path

from agreed.corefud_zeros import PAIRS
from shared.corefud_counts import read_pair
from shared.random_timelines import random_pair as random_timelines
from shared.universal_anaphora import random_pair as random_anaphora
from twins.possessions import ANCHORS

from closeread.exceptions import RequestError
from closeread.tasks import load_procedure
from closeread.tasks.coref.metrics.slices import FIELDS
from closeread.tasks.tlinks.temporal_graph import TYPES
from closeread.tasks.tne.links import PREPOSITIONS

FREE = {
    "tolerance": ["0", "0.1", "0.5"],
    "word_column": ["auto"],
    "fields": [""],
    "windows": ["none"],
}
"""Values of options without choices."""


def draw_options(rng, procedure, **given):
    """Values of all options that count."""
    found = {
        option.name: rng.choice(option.choices or FREE[option.name])
        for option in procedure.options
        if not option.reading
    }
    return found | given


def leave_out(rng, rows, options, name="missing"):
    """The rows without some, unless an option says that all must be there."""
    return (
        rows if options[name] == "error" else [row if rng.random() < 0.7 else None for row in rows]
    )


def mctaco(rng):
    procedure = load_procedure("mctaco")
    gold = [
        {
            "question_id": f"q{rng.randint(0, 5)}",
            "sentence_id": "s",
            "label": rng.choice(["yes", "no"]),
            "category": "c",
        }
        for _ in range(rng.randint(1, 20))
    ]
    for record in gold:
        record["sentence_id"] = f"s{int(record['question_id'][1:]) // 2}"
    options = draw_options(rng, procedure)
    rows = leave_out(rng, [{"label": rng.choice(["yes", "no"])} for _ in gold], options)
    return gold, rows, options


def tne(rng):
    options = draw_options(rng, load_procedure("tne"))
    labels = rng.sample(PREPOSITIONS[1:], 3)
    gold, rows = [], []
    words = ["roof", "of", "house", "in", "town"]
    for number in range(rng.randint(1, 4)):
        size = rng.randint(2, 5)
        text = " ".join(rng.choice(words) for _ in range(size))
        starts = [sum(len(word) + 1 for word in text.split()[:i]) for i in range(size)]
        nps = [
            {
                "id": f"np{i}",
                "text": word,
                "first_char": start,
                "last_char": start + len(word),
                "first_token": i,
                "last_token": i,
            }
            for i, (word, start) in enumerate(zip(text.split(), starts, strict=True))
        ]
        pairs = [(f"np{a}", f"np{b}") for a in range(size) for b in range(size) if a != b]

        def links(chosen):
            return [
                {"anchor": a, "complement": b, "preposition": rng.choice(labels)} for a, b in chosen
            ]

        def some(most, pairs=pairs):
            return rng.choices(pairs, k=rng.randint(0, most))

        domain = rng.choice(["wikinews", "reddit", None])
        gold.append(
            {
                "id": f"d{number}",
                "text": text,
                "nps": nps,
                "domain": domain,
                "np_relations": links(some(12)),
            }
        )
        kept = [link for link in gold[-1]["np_relations"] if rng.random() < 0.5]
        row = {"id": f"d{number}", "relations": unique(kept + links(some(6)))}
        if rng.random() < 0.7:
            row["fallback"] = links(dict.fromkeys(some(8)))
        rows.append(row)
    return (
        gold,
        leave_out(rng, rows, options),
        options | {"breakdowns": ("preposition", "expressed")},
    )


def unique(links):
    """Links without repetitions."""
    return [dict(items) for items in dict.fromkeys(tuple(link.items()) for link in links)]


def timeline(rng):
    options = draw_options(rng, load_procedure("timeline"))
    gold, rows = [], []
    for number in range(rng.randint(1, 4)):
        sides = random_timelines(rng.randrange(10**6), 8)
        for side, found in zip(sides, (gold, rows), strict=True):
            entries = [{"position": p, "anchor": a, "mentions": m} for p, a, m in side]
            found.append({"id": f"t{number}", "entries": entries})
    return gold, leave_out(rng, rows, options), options


def tlinks(rng):
    options = draw_options(rng, load_procedure("tlinks"))

    def side(number):
        intervals = [
            {"id": f"e{i}", "kind": "event", "start": 5 * i, "end": 5 * i + rng.randint(1, 6)}
            for i in range(5)
        ]
        ids = [interval["id"] for interval in intervals]
        links = [
            {
                "source": rng.choice(ids),
                "relation": rng.choice(list(TYPES)),
                "target": rng.choice(ids),
            }
            for _ in range(rng.randint(0, 8))
        ]
        return {"document": f"d{number}", "tlinks": links, "intervals": intervals}

    numbers = range(rng.randint(1, 4))
    gold, rows = [side(number) for number in numbers], [side(number) for number in numbers]
    return gold, leave_out(rng, rows, options), options | {"breakdowns": ("type",)}


def wikipossessions(rng):
    options = draw_options(rng, load_procedure("wikipossessions"))
    names = ["Ann", "the Ann", "Ann Poe", "Poe", "Roe", "of the Hall", "Hall"]

    def side(possessors):
        found = []
        for _ in range(rng.randint(0, 5)):
            relation = rng.choice(["before", "during", "after", None])
            found.append(
                {
                    "possessor": rng.choice(possessors),
                    "order": rng.choice(["1", "2", "2.1", "2.1.1", "3", None]),
                    "certainty": rng.choice(["certain", "uncertain"]),
                    "anchor": rng.choice(list(ANCHORS)),
                    "relation": relation,
                    "relation_certainty": relation and rng.choice(["certain", "uncertain"]),
                }
            )
        return found

    gold = [
        {"article": f"a{number}", "possessions": side(names)} for number in range(rng.randint(1, 4))
    ]
    rows = []
    for record in gold:
        known = [row["possessor"] for row in record["possessions"]]
        own = known if options["scenario"] == "oracle" else names
        rows.append({"article": record["article"], "possessions": side(own) if own else []})
    return gold, leave_out(rng, rows, options), options


def coref(rng):
    """Documents in memory, with heads, and with repeated mentions if the options allow them."""
    procedure = load_procedure("coref")
    plain = {
        "zeros": "linear",
        "split_antecedents": "ignore",
        "matching": rng.choice(["exact", "head", "partial"]),
    }
    options = draw_options(rng, procedure, **plain)

    def side():
        spans = [
            (start, start + rng.randint(0, 2))
            for start in (rng.randint(0, 9) for _ in range(rng.randint(1, 8)))
        ]
        mentions = [[a, b, rng.randint(a, b)] for a, b in dict.fromkeys(spans)]
        if options["duplicates"] != "error":
            mentions += rng.choices(mentions, k=rng.randint(0, 4))
        rng.shuffle(mentions)
        cuts = sorted(rng.sample(range(len(mentions) + 1), min(2, len(mentions))))
        parts = [mentions[i:j] for i, j in zip([0, *cuts], [*cuts, len(mentions)], strict=True)]
        return [part for part in parts if part]

    gold, rows = ([side() for _ in range(n)] for n in [rng.randint(1, 4)] * 2)
    breakdowns = [name for name in ("entity_size", "distance") if rng.random() < 0.5]
    if options["average"] == "documents" or options["duplicates"] == "reference":
        breakdowns = []
    return gold, leave_out(rng, rows, options), options | {"breakdowns": breakdowns}


def corefud(rng, folder):
    """Files of CorefUD with empty nodes."""
    options = draw_options(
        rng, load_procedure("coref"), split_antecedents="ignore", missing="empty"
    )
    options["matching"] = rng.choice(["exact", "head", "partial"])
    options["duplicates"] = rng.choice(["error", "first"])
    kind = rng.choice(list(PAIRS))
    paths = [Path(folder, f"{side}.conllu") for side in ("key", "response")]
    for path, text in zip(paths, PAIRS[kind](rng.randrange(20)), strict=True):
        path.write_text(text, "utf-8")
    gold, rows = read_pair(*paths)
    breakdowns = (
        [] if options["average"] == "documents" else [name for name in FIELDS if rng.random() < 0.3]
    )
    return gold, rows, options | {"metrics": (*METRICS, "mor", "zeros"), "breakdowns": breakdowns}


def anaphora(rng, folder):
    """Files of Universal Anaphora with split antecedents, minimum spans and bridging."""
    options = draw_options(rng, load_procedure("coref"), missing="empty")
    if options["split_antecedents"] != "ignore":
        options |= {"keep_singletons": "true", "duplicates": "error"}
    options["zeros"] = rng.choice(["linear", "exclude"])
    options["matching"] = rng.choice(["exact", "partial", "minimum"])
    paths = [Path(folder, f"{side}.conllua") for side in ("key", "response")]
    for path, text in zip(paths, random_anaphora(rng.randrange(10**6)), strict=True):
        path.write_text(text, "utf-8")
    gold, rows = read_pair(*paths)
    names = [
        name for name in METRICS if name != "blanc" or options["split_antecedents"] == "ignore"
    ]
    more = ("non_referring", "mor")
    return gold, rows, options | {"metrics": (*names, *more)}


METRICS = ("mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll")
DRAWN = {
    "mctaco": mctaco,
    "tne": tne,
    "timeline": timeline,
    "tlinks": tlinks,
    "wikipossessions": wikipossessions,
    "coref": coref,
}
"""By the procedure's name."""

FROM_FILES = {"corefud": corefud, "anaphora": anaphora}
"""Coreference from files, which take a folder, too."""


def draw_table(kind, seed, folder, *, count=True):
    """The procedure, the options and the counts of a random system; None if the options exclude each other."""
    rng = random.Random(f"{kind} {seed}")
    procedure = load_procedure("coref" if kind in FROM_FILES else kind)
    gold, rows, arguments = (
        FROM_FILES[kind](rng, folder) if kind in FROM_FILES else DRAWN[kind](rng)
    )
    reading = {option.name: option.default for option in procedure.options if option.reading}
    options = procedure.keep_options(
        procedure.resolve_options(reading | only_options(arguments)), reading=True
    )
    if not count:
        return procedure, options, None
    try:
        return procedure, options, procedure.count(gold=gold, system=rows, **arguments)
    except RequestError:
        return None


def only_options(arguments):
    """The arguments of a count that are values of options."""
    return {
        name: value for name, value in arguments.items() if name not in ("metrics", "breakdowns")
    }
