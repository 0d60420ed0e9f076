"""Correct p-values by Holm's method with statsmodels, and keep the figures.

    python tests/agreed/statsmodels_holm.py

Needs statsmodels 0.15.0.  Writes `statsmodels_holm.json` beside this file.  The p-values are made here by a seeded
rule, as proportions of 1,001 draws, so that many are equal; the first family is that of the article on the method in
Wikipedia.
"""

import json
import random
from pathlib import Path

from statsmodels.stats.multitest import multipletests

RNG = random.Random(0)
FAMILIES = [
    [0.01, 0.04, 0.03, 0.005],
    [0.2],
    *(
        [RNG.choice((1, 1, 2, 5, 20, 200, 1001)) / 1001 for _ in range(size)]
        for size in (2, 5, 10, 45)
    ),
    [RNG.random() ** 3 for _ in range(20)],
]

if __name__ == "__main__":
    figures = [{"p": p, "corrected": multipletests(p, method="holm")[1].tolist()} for p in FAMILIES]
    Path(__file__).with_suffix(".json").write_text(
        json.dumps({"tool": "statsmodels 0.15.0", "families": figures}) + "\n"
    )
