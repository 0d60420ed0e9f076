"""Gold whose documents, questions and entities have hostile names, with predictions for it."""

from pathlib import Path

from shared import json_lines
from shared.entry_points import sample_gold, system_rows
from shared.hostile_texts import HOSTILE

from closeread.corpus.gold import read_own_gold
from closeread.corpus.names import load_corpus

TEXTS = HOSTILE[::2]
"""Enough of them: each takes as long as a document of the sample."""


def write_hostile(corpus):
    """Write gold with hostile names and a system's predictions for it, as far as the corpus takes them."""
    key, gold, rows = load_corpus(corpus).key, [], []
    records, predictions = sample_gold(corpus), system_rows(corpus)
    for number, text in enumerate(TEXTS):
        changed = {key: text} | (
            {"entity": f"{number}{text}"} if corpus == "semeval2015_timeline" else {}
        )
        if corpus == "mctaco":  # whose ids are of one form
            changed = {key: f"x{number}", "question_id": f"q{number}", "question": text}
        record = records[number % len(records)] | changed
        row = predictions[number % len(records)] | {
            name: changed[name] for name in (key, "entity") if name in changed
        }
        try:
            read_own_gold(load_corpus(corpus), [record])
        except ValueError:
            continue
        gold.append(record)
        rows.append(row)
    assert len(gold) > len(TEXTS) / 2
    Path("gold.jsonl").write_text(json_lines.dump(gold), "utf-8")
    Path("a.jsonl").write_text(json_lines.dump(rows), "utf-8")
    Path("b.jsonl").write_text(json_lines.dump(rows[len(rows) // 3 :][::-1]), "utf-8")
    return gold
