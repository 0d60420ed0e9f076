"""Errors of labels the slow way: questions and candidates one at a time, ratios as fractions."""

from fractions import Fraction


def score(candidates):
    """Exact match, F1 and the numbers of a question's candidates, each a pair of labels (gold, predicted)."""
    right = [gold == predicted for gold, predicted in candidates]
    both = sum(gold == predicted == "yes" for gold, predicted in candidates)
    gold, system = (sum(pair[side] == "yes" for pair in candidates) for side in (0, 1))
    precision = Fraction(both, system) if system else Fraction(1)
    recall = Fraction(both, gold) if gold else Fraction(1)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)
    return {
        "exact_match": Fraction(all(right)),
        "f1": f1,
        "candidates": len(candidates),
        "correct": sum(right),
        "false_yes": system - both,
        "false_no": gold - both,
        "gold_yes": gold,
    }


def score_parts(records, predicted, part_of):
    """Scores by part: `part_of` says what a candidate belongs to, given the record and its question's records."""
    questions, parts = {}, {}
    for record, label in zip(records, predicted, strict=True):
        questions.setdefault(record["question_id"], []).append((record, label))
    for rows in questions.values():
        inside = {}
        for record, label in rows:
            part = part_of(record, [one for one, _ in rows])
            inside.setdefault(part, []).append((record["label"], label))
        for part, candidates in inside.items():
            parts.setdefault(part, []).append(score(candidates))
    return {part: unite(scores) for part, scores in parts.items()}


def unite(scores):
    """The means of exact match and F1, and the ratios of the sums."""
    sums = {name: sum(one[name] for one in scores) for name in scores[0]}
    no = sums["candidates"] - sums["gold_yes"]
    return {
        "exact_match": sums["exact_match"] / len(scores),
        "f1": sums["f1"] / len(scores),
        "accuracy": Fraction(sums["correct"], sums["candidates"]),
        "false_yes": Fraction(sums["false_yes"], no) if no else None,
        "false_no": Fraction(sums["false_no"], sums["gold_yes"]) if sums["gold_yes"] else None,
        "questions": len(scores),
        "candidates": sums["candidates"],
    }


def size_of(record, question):
    n = len(question)
    return "1 to 4" if n <= 4 else "5 to 8" if n <= 8 else "9 to 12" if n <= 12 else "over 12"


def share_of(record, question):
    yes = sum(one["label"] == "yes" for one in question)
    if yes in (0, len(question)):
        return "all" if yes else "none"
    quarters = -(-4 * yes // len(question))  # rounded up
    return {1: "up to 25%", 2: "up to 50%", 3: "up to 75%", 4: "over 75%"}[quarters]
