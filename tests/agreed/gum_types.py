"""Compare the guessed types of GUM's mentions with those of the heads in its dependency trees, and keep the counts.

    python tests/agreed/gum_types.py GUM

GUM is a checkout of github.com/amir-zeldes/gum at the commit named below, whose folder `dep` has Penn Treebank tags,
universal parts of speech and trees.  Writes `gum_types.json` beside this file.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from closeread.tasks.coref.metrics.slices import FIELDS, OTHER_TYPE, TYPES, tag_mention

HERE = Path(__file__).parent
COMMIT = "72ce5ac14978a324c2fd18d49484e65292cbe316"
PIECE = re.compile(r"(\()?([^()]+)(\))?")


def name_type(tag):
    """Return the type of a mention whose head has a universal part of speech."""
    return FIELDS["mention_type"].parts[TYPES.get(tag, OTHER_TYPE)]


def read_mentions(path):
    """Yield the tokens of every mention of a file, as (tag, part of speech, whether its head is in the mention)."""
    tokens, heads, opened, first = [], [], defaultdict(list), 0
    for line in path.read_text("utf-8").splitlines():
        cells = line.split("\t")
        if len(cells) != 10:
            first = len(tokens) if not line else first
        elif cells[0].isdigit():
            tokens.append((cells[4], cells[3]))
            heads.append(first + int(cells[6]) - 1 if int(cells[6]) else None)
            found = re.search(r"Entity=([^|]+)", cells[9])
            for opens, text, closes in PIECE.findall(found[1]) if found else ():
                name = text.partition("-")[0]
                if opens:
                    opened[name].append(len(tokens) - 1)
                if closes:
                    span = range(opened[name].pop(), len(tokens))
                    yield [(*tokens[token], heads[token] in span) for token in span]


def main(gum):
    """Count the mentions of each annotated and guessed type."""
    counts = Counter()
    for path in sorted(Path(gum, "dep").glob("*.conllu")):
        for mention in read_mentions(path):
            annotated = next(pos for _, pos, is_inside in mention if not is_inside)
            guessed = tag_mention([tag for tag, _, _ in mention])
            counts[name_type(annotated), name_type(guessed)] += 1
    rows = [{"annotated": a, "guessed": b, "mentions": n} for (a, b), n in sorted(counts.items())]
    result = {"corpus": "GUM", "commit": COMMIT, "command": "gum_types.py GUM", "types": rows}
    (HERE / "gum_types.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
