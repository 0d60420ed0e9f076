"""Invented indexes of leaderboards (`board.json`), with any number of systems, and hostile texts."""

import hashlib
import random
from datetime import UTC, datetime, timedelta
from itertools import combinations

CATEGORIES = ["Event Duration", "Event Ordering", "Frequency", "Stationarity", "Typical Time"]
SIGNATURE = "mctaco|version:1|missing:error|gold:14237cb6aca7"
COUNTS = [
    "questions",
    "exact",
    "f1_sum",
    "candidates",
    "correct",
    "gold_yes",
    "system_yes",
    "both_yes",
]
NAMES = [
    "Patience (large)", "Patience (base)", "Almanac-7B, five-shot", "Almanac-7B, zero-shot", "Hourglass + rules",
    "Slow Reader v2", "Slow Reader v1", "Tortoise ensemble", "Tortoise", "Sundial", "Quick Guess",
]  # fmt: skip
AUTHORS = ["ada", "bashir", "chiyo", "meridian"]

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- <script> -->",
    "javascript:alert(1)",
    "[click](javascript:alert(1)) ![x](https://example.org/x.png)",
    "a|b`c`\\| @everyone www.example.org",
    '=HYPERLINK("https://example.org")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-2+3",
    "\t=1+1",
    "\u202egnp.tset\u2066",
    "\x1b[31mred\x00\x07\x9b",
    "a\u2028b\u2029c\r\nd",
    "\\input{secret} $x$ & % # _ ^ ~ {}",
    "{{ 7 * 7 }} {% raw %}",
    '" onmouseover="alert(1)" x="',
    "' OR 1=1 &lt;&#x202e;",
    "\ud800",
    "x" * 5000,
    "שלום עולם",
    "Z" + "\u0301" * 30,
]
LINKS = [
    "javascript:alert(1)",
    "http://example.org/",
    "https://user@example.org/",
    "data:text/html,x",
    "https://exa mple",
]


def digest(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_score(rng, middle, half=0.04):
    return {
        "value": middle,
        "low": max(middle - half * rng.uniform(0.8, 1.1), 0.0),
        "high": min(middle + half * rng.uniform(0.8, 1.1), 1.0),
        "undefined": False,
    }


def make_scores(rng, f1, half=0.04):
    return {"exact_match": make_score(rng, f1 * 0.6, half), "f1": make_score(rng, f1, half)}


def make_counts(rng, f1, questions):
    correct = 7 * questions
    return dict(
        zip(
            COUNTS,
            [questions, int(questions * f1 * 0.6), questions * f1, 15 * questions, correct, correct,
             rng.randint(correct, 2 * correct), int(correct * f1)],
            strict=True,
        )
    )  # fmt: skip


def make_row(
    rng, system, f1, *, kind="system", author="ada", submitted="2026-11-02T10:00:00Z", **fields
):
    """A row with scores around F1."""
    identity = digest(f"{system}{submitted}") if kind == "system" else f"{kind}:{system}"
    predictions = digest(identity)
    path = f"submissions/mctaco/test/{predictions[:2]}/{predictions}.jsonl"
    f1 = min(max(f1, 0.0), 1.0)
    sliced = {name: min(max(f1 + rng.uniform(-0.1, 0.1), 0.0), 1.0) for name in CATEGORIES}
    row = {
        "kind": kind,
        "id": identity,
        "system": system,
        "author": author if kind == "system" else None,
        "submitted": submitted if kind == "system" else None,
        "source": None,
        "model": None,
        "paper": None,
        "code": None,
        "description": "",
        "scores": make_scores(rng, f1),
        "slices": {
            "category": {
                name: {
                    "n_units": 260,
                    "n_blocks": 70,
                    "scores": make_scores(rng, value, 0.08),
                    "counts": make_counts(rng, value, 260),
                }
                for name, value in sliced.items()
            }
        },
        "counts": make_counts(rng, f1, 1332),
        "rank": {"low": 1, "high": 1, "best": False},
        "flags": [],
        "signature": SIGNATURE,
        "closeread": "0.1.0",
        "record": f"results/mctaco/test/{identity[:2]}/{identity}.json",
        "reproduce": f"closeread score mctaco {path} --split test",
    }
    return row | fields


def rank_rows(rows, distance=0.05):
    """Sort rows, and rank those with predictions as if a difference of `distance` were significant."""
    rows.sort(key=lambda row: (-row["scores"]["f1"]["value"], row["system"]))
    ranked = [row for row in rows if row["kind"] != "printed"]
    values = [row["scores"]["f1"]["value"] for row in ranked]
    for row, value in zip(ranked, values, strict=True):
        better = sum(other - value > distance for other in values)
        worse = sum(value - other > distance for other in values)
        row["rank"] = {
            "low": 1 + better,
            "high": len(values) - worse,
            "best": values[0] - value <= distance,
        }
    return ranked


def make_pairs(ranked):
    """Paired tests of the best 100: intervals of half a width of 0.03, and p-values that fall with the difference."""
    values = [row["scores"]["f1"]["value"] for row in ranked[:100]]
    differences = [one - other for one, other in combinations(values, 2)]
    return {
        "ids": [row["id"] for row in ranked[:100]],
        "low": [difference - 0.03 for difference in differences],
        "high": [difference + 0.03 for difference in differences],
        "p": [max(0.5 - 10 * difference, 0.00005) for difference in differences],
    }


def make_history(rows):
    """Each time the best score rose, by time of submission."""
    history = []
    for row in sorted(
        (row for row in rows if row["kind"] == "system"), key=lambda row: row["submitted"]
    ):
        value = row["scores"]["f1"]["value"]
        if not history or value > history[-1]["value"]:
            history.append({"date": row["submitted"], "id": row["id"], "value": value})
    return history


def make_board(rows, *, name="mctaco/test", superseded=(), others=()):
    """A board of rows."""
    ranked = rank_rows(rows)
    return {
        "name": name,
        "title": "McTaco, test",
        "corpus": "mctaco",
        "procedure": "mctaco",
        "config": "default",
        "split": "test",
        "signature": SIGNATURE,
        "options": {"missing": "error"},
        "gold": "public",
        "unit": "question",
        "n_units": 1332,
        "resampling_unit": "sentence",
        "n_blocks": 355,
        "confidence": 0.95,
        "n_resamples": 1000,
        "seed": 0,
        "headline": "f1",
        "metrics": [
            {
                "name": "exact_match",
                "title": "Exact match",
                "description": "Questions with all candidates right.",
            },
            {
                "name": "f1",
                "title": "F1",
                "description": "F1 of the candidates of a question, averaged.",
            },
        ],
        "slices": {"category": CATEGORIES},
        "citation": "@inproceedings{example-2024,\n  title = {Reading slowly},\n}",
        "homepage": "https://example.org/mctaco",
        "licence": None,
        "limits": {"bytes": 50_000_000, "rows": 200_000, "per_day": 5, "total": None},
        "counting": "best",
        "rows": rows,
        "superseded": list(superseded),
        "others": list(others),
        "pairs": make_pairs(ranked),
        "history": make_history(rows),
        "refused": 2,
        "withdrawn": 1,
        "accepted": len(rows),
        "late": "refuse",
        "reveals": None,
    }


def wrap(*boards, title="Careful reading, autumn 2026"):
    """The index of some boards."""
    return {"format": 1, "closeread": "0.1.0", "title": title, "boards": list(boards)}


def make_index(n=12, *, seed=0):
    """An index of one board: n systems, and if there are some, two baselines."""
    rng = random.Random(seed)
    begin = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
    rows = []
    for i in range(n):
        name = NAMES[i % len(NAMES)] + (f" #{i}" if i >= len(NAMES) else "")
        submitted = (begin + timedelta(hours=37 * i)).strftime("%Y-%m-%dT%H:%M:%SZ")
        f1 = 0.42 + 0.3 * rng.random() ** 0.7 * min(1.0, 0.6 + i / n)
        rows.append(make_row(rng, name, f1, author=AUTHORS[i % len(AUTHORS)], submitted=submitted))
    superseded, others = [], []
    if n:
        rows[0] |= {
            "model": "meridian/patience-large",
            "paper": "https://example.org/papers/patience",
            "code": "https://example.org/code/patience",
            "source": "https://huggingface.co/datasets/meridian/board-submissions/discussions/7",
            "description": "Reads every sentence twice.\nNo external data.",
            "flags": [{"flag": "unverified"}],
        }
        if n > 3:
            rows[3]["flags"] = [{"flag": "duplicate", "of": rows[2]["id"]}]
        rows += [
            make_row(rng, name, f1, kind="baseline")
            for name, f1 in (("always-positive", 0.42), ("random", 0.31))
        ]
        older = make_row(rng, "Patience (draft)", 0.64, submitted="2026-09-01T08:00:00Z", rank=None)
        signature = "mctaco|version:1|missing:error|gold:000000000000"
        others = [
            {
                "signature": signature,
                "closeread": "0.0.9",
                "rows": [older | {"signature": signature}],
            }
        ]
        superseded = [
            make_row(rng, "Patience (early)", 0.41, submitted="2026-11-01T08:00:00Z", rank=None)
        ]
    return wrap(make_board(rows, superseded=superseded, others=others))


def make_hostile_index():
    """An index all of whose texts by submitters are hostile."""
    rng = random.Random(1)
    rows = [
        make_row(
            rng,
            text,
            0.4 + 0.01 * i,
            author=text,
            model=text,
            paper=LINKS[i % len(LINKS)],
            code=f"https://example.org/\"onclick='{i}",
            source=LINKS[(i + 1) % len(LINKS)],
            description=text,
        )
        for i, text in enumerate(HOSTILE)
    ]
    rows += [make_row(rng, text, 0.2, kind="baseline") for text in HOSTILE[:1]]
    other = {
        "signature": HOSTILE[0],
        "closeread": HOSTILE[0],
        "rows": [make_row(rng, HOSTILE[0], 0.5, rank=None)],
    }
    return wrap(make_board(rows, others=[other]), title=HOSTILE[0])
