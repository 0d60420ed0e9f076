"""Figures of Zhou, Khashabi, Ning and Roth (2019), recomputed from McTaco."""

import tempfile
from collections import Counter
from pathlib import Path
from statistics import mean, stdev

from papers.figures import Chance, Claim, load_rows

import closeread

N_DRAWS = 25
N_QUESTIONS_OF_HUMAN = 100
N_PAIRS_OF_PLATEAU = 2500

# What a trained system scores in Table 2.
TRAINED = ("ESIM + GloVe", "ESIM + ELMo", "BERT", "BERT + unit normalization")

# Examples of rule-based perturbation, step 3, and of unit normalization, section 4.
EXAMPLES = {"2 a.m.": "3 p.m.", "1 day": "10 days", "once a week": "twice a month"}
LONG_TIME = "30 months"

# What stands before words of Table 3 that alone would be a verb or an ordinal number.
CONTEXTS = {"am": "3 ", "second": "one "}


def recompute():
    """Return the recomputed cells by table."""
    statistics = closeread.stats("mctaco").splits
    return {
        "Table 1": describe_corpus(statistics["all"]),
        "Table 2": score_baselines(),
        "Table 3": list_replacements(),
        "Text": describe_text(statistics),
    }


def describe_corpus(figures):
    """Recompute Table 1."""
    cells = {
        ("# of unique questions", "value"): figures["questions"],
        ("# of unique question-answer pairs", "value"): figures["candidates"],
    }
    for part in ("sentence", "question", "answer"):
        cells[f"avg. {part} length", "value"] = figures[f"mean tokens of the {part}"]
    for category in (
        "Event Duration",
        "Event Ordering",
        "Frequency",
        "Stationarity",
        "Typical Time",
    ):
        row = "event " + category.lower().removeprefix("event ")
        cells[row, "# questions"] = figures[f"questions: {category}"]
        cells[row, "avg # of candidate"] = figures[f"candidates per question: {category}"]
    return cells


def score_baselines():
    """Recompute the rows of Table 2 that need no model."""
    cells = {}
    for row, name in (
        ("Always Positive", "always-positive"),
        ("Always Negative", "always-negative"),
    ):
        f1, exact_match = score_baseline(name)
        cells[row, "F1"] = f1
        cells[row, "EM"] = exact_match
    draws = [score_baseline("random", seed=seed) for seed in range(N_DRAWS)]
    for column, values in zip(("F1", "EM"), zip(*draws, strict=True), strict=True):
        cells["Random", column] = Chance(mean(values), stdev(values))
    return cells


def score_baseline(name, **options):
    """Return F1 and exact match of a baseline on the test split, in percent."""
    rows = closeread.baseline("mctaco", name, split="test", **options)
    report = closeread.score("mctaco", rows, split="test", ci=False)
    return 100 * report["f1"].value, 100 * report["exact_match"].value


def list_replacements():
    """List the candidates that the rules make of the words of Table 3, one at a time."""
    rows = load_rows("mctaco", "Table 3")
    phrases = {word: CONTEXTS.get(word, "") + word for word in rows}
    candidates = perturb(list(phrases.values()), number_rule="off")
    cells = {}
    for word, texts in rows.items():
        replacements = {
            candidate.removeprefix(CONTEXTS.get(word, ""))
            for candidate in candidates[phrases[word]]
        }
        printed = set(", ".join(texts.values()).split(", "))
        for column in texts:
            cells[word, column] = Claim(", ".join(sorted(replacements)), replacements == printed)
    return cells


def perturb(answers, **options):
    """Return the candidates that rules make of each of some answers."""
    gold = [make_record(number, answer) for number, answer in enumerate(answers)]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "candidates.jsonl")
        written = closeread.prepare(
            "mctaco", "candidates", gold=gold, output=output, limit=1000, **options
        )
    candidates = {answer: set() for answer in answers}
    for row in written.records:
        answer = answers[int(row["question"].split()[-1])]
        candidates[answer].add(row["answer"])
    return {answer: texts - {answer} for answer, texts in candidates.items()}


def make_record(number, answer):
    """Make a question of its own for an answer."""
    return {
        "id": str(number),
        "question_id": str(number),
        "sentence_id": str(number),
        "sentence": "It happened.",
        "question": f"When was number {number}",
        "answer": answer,
        "label": "yes",
        "category": "Typical Time",
    }


def describe_text(statistics):
    """Recompute figures of the running text."""
    all_splits = statistics["all"]
    test = statistics["test"]
    n_pairs = all_splits["candidates"]
    shares = [
        100 * statistics[split]["questions"] / all_splits["questions"]
        for split in ("validation", "test")
    ]
    n_pairs_of_human = N_QUESTIONS_OF_HUMAN * test["candidates"] / test["questions"]
    share_of_plateau = 100 * N_PAIRS_OF_PLATEAU / n_pairs
    categories = [name for name in all_splits if name.startswith("questions: ")]
    pairs_by_examples = perturb(list(EXAMPLES), changes=2, units="any")
    made = Counter(new in pairs_by_examples[old] for old, new in EXAMPLES.items())
    printed = load_rows("mctaco", "Table 2")
    drops = {row: float(texts["F1"]) - float(texts["EM"]) for row, texts in printed.items()}
    drops_of_trained = [drops[row] for row in TRAINED]
    behind = float(printed["Human"]["F1"]) - float(printed["BERT + unit normalization"]["F1"])
    return {
        ("tuples", "3"): Claim(n_pairs, round(n_pairs, -3) == 13_000),
        ("classes of temporal common sense", "3"): len(categories),
        ("split of the data, dev / test, percent", "4"): Claim(
            " / ".join(f"{share:.1f}" for share in shares),
            [round(share) for share in shares] == [30, 70],
        ),
        ("tuples in these", "4"): Claim(n_pairs_of_human, round(n_pairs_of_human, -2) == 700),
        ("the same as a share of the data, percent", "A.2"): Claim(
            share_of_plateau, round(share_of_plateau, -1) == 20
        ),
        ("examples of rule-based perturbation", "3, step 3"): Claim(
            f"{made[True]} of {len(EXAMPLES)}", made[True] == len(EXAMPLES)
        ),
        ("example of unit normalization", "4"): f"{LONG_TIME} -> {normalize(LONG_TIME)}",
        ("how far the best systems are behind humans, percent", "abstract"): Claim(
            behind, round(behind, -1) == 20
        ),
        ("drop from F1 to EM of humans", "4"): drops["Human"],
        ("drop from F1 to EM of the other systems", "4"): Claim(
            f"{min(drops_of_trained):.1f} to {max(drops_of_trained):.1f}",
            min(drops_of_trained) >= 25 and max(drops_of_trained) < 30,
        ),
    }


def normalize(answer):
    """Rewrite a time in its most proper unit."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "normal.jsonl")
        written = closeread.prepare("mctaco", "units", gold=[make_record(0, answer)], output=output)
    return written.records[0]["answer"]
