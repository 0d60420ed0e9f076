"""Static Spaces, which are free on every account: the pages of a metric and of a leaderboard.

`evaluate.load("org/name")` reads `name.py` from a Space of any kind, so a metric needs no server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from closeread.exceptions import RequestError, escape, pluralize, shorten
from closeread.hub.cards import check_card, join_card, render_page, split_card
from closeread.tables import BLOCK, escape_markdown

SHORT = 60  # the longest short description of a Space that the Hub takes
LANGUAGES = {"en": "english"}  # the names of languages in the tags of leaderboards, by BCP 47 tag
SPACE = {"colorTo": "gray", "sdk": "static", "app_file": "index.html"}

SCRIPT = '''"""{title}, as computed by closeread: evaluate.load("{repository}")."""

from closeread.evaluate_modules.{metric}.{metric} import {name}  # noqa: F401
'''

USAGE = """
This module needs closeread (`pip install closeread`):

```python
import evaluate

metric = evaluate.load("{repository}")
```

"""


def metric_files(
    metric: str, class_name: str, card: str, requirements: bytes, repository: str
) -> dict[str, bytes]:
    """Return the files of a metric's Space `org/name` by path; `card` and `requirements` are those of our module."""
    name = repository.partition("/")[2]
    if not re.fullmatch("[A-Za-z0-9_][A-Za-z0-9_-]*", name):
        raise RequestError(
            f"evaluate.load can't import '{repository}' (expected ASCII letters, digits, '_' and '-' after the '/')"
        )
    check_card(card.encode(), "metric_card")
    front, text = split_card(card)
    title, description = front["title"], front["description"]
    heading, _, rest = text.lstrip("\n").partition("\n")
    text = f"{heading}\n{USAGE.format(repository=repository)}{rest.lstrip()}"
    about = {
        "short_description": shorten(f"{title}, by closeread", SHORT),
        "description": description,
    }
    script = SCRIPT.format(title=title, repository=repository, metric=metric, name=class_name)
    return {
        "README.md": _make_card(title, "📏", "blue", {**about, "tags": front["tags"]}, text),
        "index.html": render_page(text, title=title, description=description),
        f"{name}.py": script.encode(),
        "requirements.txt": requirements,
    }


def leaderboard_files(
    index: Mapping[str, Any],
    *,
    board: bytes,
    page: bytes,
    table: bytes,
    dataset: str | None = None,
    languages: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return the files of a leaderboard's Space by path: `board.json` (whose content is the index), the page, the CSV.

    The dataset on the Hub, if there is one, holds submissions and results; languages of corpora are BCP 47 tags.
    """
    title = shorten(" ".join(escape(str(index["title"])).split()), 100)
    # The tags are those that the Hub's leaderboard finder reads: authors run their systems, scores are computed here.
    gold = {one["gold"] for one in index["boards"]}
    test = "mix" if len(gold) > 1 else next(iter(gold), "public")
    tags = [
        "leaderboard",
        "submission:semiautomatic",
        f"test:{test}",
        "judge:auto",
        "modality:text",
    ]
    tags += (f"language:{LANGUAGES[tag]}" for tag in dict.fromkeys(languages) if tag in LANGUAGES)
    about = {
        "short_description": "Scores with intervals, by closeread",
        **({"datasets": [dataset]} if dataset else {}),
        "tags": tags,
    }
    boards = [
        f"- {_show(one['title'])}: "
        f"{pluralize(sum(row['kind'] == 'system' for row in one['rows']), 'system')}. "
        f"Signature: `{str(one['signature']).replace('`', '')}`"
        for one in index["boards"]
    ]
    link = f"<https://huggingface.co/datasets/{dataset}>"
    parts = [
        f"# {_show(title)}",
        "Scores are computed by closeread, with confidence intervals; ranks are intervals, too. "
        "`board.json` and `board.csv` hold everything that the page shows.",
        "\n".join(boards),
        f"Submissions and results: {link}." if dataset else "",
    ]
    readme = _make_card(title, "🏆", "yellow", about, "\n\n".join(filter(None, parts)) + "\n")
    return {"README.md": readme, "index.html": page, "board.json": board, "board.csv": table}


def _make_card(title: str, emoji: str, color: str, about: Mapping[str, Any], text: str) -> bytes:
    card = join_card({"title": title, "emoji": emoji, "colorFrom": color, **SPACE, **about}, text)
    check_card(card, "space_card")
    return card


def _show(text: object) -> str:
    """Escape untrusted text, so that Markdown shows it as it is, on one line."""
    return BLOCK.sub(r"\\\g<0>", escape_markdown(" ".join(escape(str(text)).split())))
