"""Always yes, and gold with every third label turned, on the sample."""

from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus


def inputs():
    gold = read_gold(load_corpus("mctaco"), "sample").records
    turned = {"yes": "no", "no": "yes"}
    every_third = [r["label"] if i % 3 else turned[r["label"]] for i, r in enumerate(gold)]
    systems = {"always yes": ["yes"] * len(gold), "every third turned": every_third}
    return {
        name: {"gold": gold, "system": [{"label": s} for s in said]}
        for name, said in systems.items()
    }
