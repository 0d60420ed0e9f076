"""closeread's scoring of possessions: the released corpus, and articles of many possessors; and fetching articles.

    CLOSEREAD_DATA=… python benchmarks/possession.py

Writes `results/possession.json` and prints it; the tables in README.md are made from it by `python
tools/documentation.py`.  No other scorer of the task was released, so there is nothing to compare with but the two
settings.
"""

import json
import sys
import tempfile
import time
from contextlib import closing
from datetime import date
from pathlib import Path

import numpy as np
from measure import calls, kept, processes

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from shared.stand_in_wiki import serving_wiki

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.formats.json_lines import dump_json_lines
from closeread.tasks.wikipossessions.articles import Wiki, fetch_articles
from closeread.tasks.wikipossessions.procedure import count

CLOSEREAD = Path(sys.executable).parent / "closeread"
RUNS = 5
POSSESSORS = 2000
ARTICLES, REQUESTS_OF_AN_ARTICLE = 1000, 2
RATE = 100
"""How many requests a second the stand-in for Wikipedia allows."""

PARAGRAPHS = 40
"""Paragraphs of an article, which make it as long as those of the corpus: 2,315 words are printed."""

VOCABULARIES = {
    "names of their own": None,
    "names of three of 1,000 words": 1000,
    "names of three of 200 words": 200,
    "names that share a word": 1,
}
FIELDS = ("possessor", "certainty", "order", "anchor", "relation", "relation_certainty")


def predictions(gold):
    """The gold without every fifth possession, as a system would send it."""
    for record in gold:
        said = [p for i, p in enumerate(record["possessions"]) if i % 5]
        yield {
            "article": record["article"],
            "possessions": [{name: p[name] for name in FIELDS} for p in said],
        }


def article(vocabulary, seed):
    """An article of many possessors, each at an order of its own."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(POSSESSORS):
        if vocabulary is None:
            words = [f"name{i}"]
        elif vocabulary == 1:
            words = ["word0", f"name{seed}x{i}"]
        else:
            words = [f"word{n}" for n in rng.choice(vocabulary, 3, replace=False)]
        year = str(int(rng.integers(1500, 2000)))
        row = {
            "possessor": " ".join(words),
            "certainty": "certain",
            "order": str(i + 1),
            "anchor": year,
        }
        rows.append({**row, "relation": "during", "relation_certainty": "certain"})
    return [{"article": "The Jug", "possessions": rows}]


def fetching():
    """Seconds to fetch articles from a stand-in at its own limit of rate, and again when all are there."""
    titles = [f"Jug {number}" for number in range(ARTICLES)]
    paragraph = f"<p>{'It was sold to Ann of Mill Hall in 1888. ' * 6}</p>"
    seconds = {f"{RATE} requests a second, the limit": ARTICLES * REQUESTS_OF_AN_ARTICLE / RATE}
    with tempfile.TemporaryDirectory() as folder, serving_wiki() as server:
        server.rate, server.make = RATE, lambda title: f"<h2>{title}</h2>{paragraph * PARAGRAPHS}"
        for what in (f"{ARTICLES:,} articles", "the same command again"):
            start = time.perf_counter()
            with closing(Wiki(server.url, 1 / RATE)) as wiki:
                fetch_articles(titles, Path(folder), date(2017, 6, 12), wiki, iter)
            seconds[what] = time.perf_counter() - start
    return {what: {"seconds": found} for what, found in seconds.items()}


def main():
    """Measure everything and keep it."""
    gold = read_gold(load_corpus("wikipossessions")).records
    system = list(predictions(gold))
    settings = ("exact", "partial")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "system.jsonl"
        file.write_text(dump_json_lines(system), "utf-8")
        commands = {
            f"closeread score wikipossessions, {setting}": [
                *(CLOSEREAD, "score", "wikipossessions", file, "--setting", setting)
            ]
            for setting in settings
        }
        tables = {
            "processes": ("closeread score wikipossessions, exact", processes(commands, RUNS))
        }
    released = {
        f"the released corpus, {setting}": lambda setting=setting: count(
            gold=gold, system=system, setting=setting
        )
        for setting in settings
    }
    large = {
        f"{POSSESSORS:,} possessors, {what}, {setting}": lambda sides=sides, setting=setting: count(
            gold=sides[0], system=sides[1], setting=setting
        )
        for what, vocabulary in VOCABULARIES.items()
        for sides in [(article(vocabulary, 1), article(vocabulary, 2))]
        for setting in settings
    }
    tables["scoring"] = "the released corpus, exact", calls({**released, **large}, RUNS)
    tables["fetching"] = f"{RATE} requests a second, the limit", fetching()
    print(json.dumps(kept("possession", tables), indent=1))


if __name__ == "__main__":
    main()
