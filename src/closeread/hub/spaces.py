"""Static Spaces: the pages of a metric and of a leaderboard.

Static Spaces are free on every account.  `evaluate.load("org/name")` reads `name.py` from a Space of any kind, so a
metric needs no server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from closeread.exceptions import RequestError, escape, pluralize, shorten
from closeread.hub.cards import check_card, join_card, render_page, split_card

SHORT = 60
"""The longest short description of a Space that the Hub takes."""

MODULE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
"""The names that evaluate can import a module by."""

LANGUAGES = {"en": "english"}
"""The names of languages in the tags of leaderboards, by BCP 47 tag."""

MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+.!|~&-])")

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


def metric_files(metric: str, class_name: str, card: str, requirements: bytes, repository: str) -> dict[str, bytes]:
    """Return the files of a metric's Space by path.

    Args:
        metric: the name of our module.
        class_name: the name of its class.
        card: the metric card, `metrics/<metric>/README.md`.
        requirements: the content of its `requirements.txt`.
        repository: the Space, `org/name`.

    Raises:
        RequestError: evaluate can't import a module of the Space's name.
        FormatError: the front matter of the card breaks our schema.
    """
    name = repository.partition("/")[2]
    if not MODULE.fullmatch(name):
        raise RequestError(
            f"evaluate.load can't import '{repository}' (expected ASCII letters, digits, '_' and '-' after the '/')"
        )
    check_card(card.encode(), "metric_card")
    front, text = split_card(card)
    heading, _, rest = text.lstrip("\n").partition("\n")
    text = f"{heading}\n{USAGE.format(repository=repository)}{rest.lstrip()}"
    space = {
        "title": front["title"],
        "emoji": "📏",
        "colorFrom": "blue",
        "colorTo": "gray",
        "sdk": "static",
        "app_file": "index.html",
        "short_description": shorten(f"{front['title']}, by closeread", SHORT),
        "description": front["description"],
        "tags": front["tags"],
    }
    readme = join_card(space, text)
    check_card(readme, "space_card")
    script = SCRIPT.format(title=front["title"], repository=repository, metric=metric, name=class_name)
    return {
        "README.md": readme,
        "index.html": render_page(text, title=front["title"], description=front["description"]),
        f"{name}.py": script.encode(),
        "requirements.txt": requirements,
    }


def leaderboard_files(
    index: Mapping[str, Any],
    *,
    board: bytes,
    page: bytes,
    table: bytes,
    datasets: Sequence[str] = (),
    languages: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return the files of a leaderboard's Space by path.

    Args:
        index: the content of `board.json`.
        board: its bytes.
        page: `index.html`.
        table: `board.csv`.
        datasets: the datasets on the Hub that hold submissions and results.
        languages: the languages of the corpora, BCP 47 tags.

    Raises:
        FormatError: the front matter breaks our schema.
    """
    title = shorten(" ".join(escape(str(index["title"])).split()), 100)
    front = {
        "title": title,
        "emoji": "🏆",
        "colorFrom": "yellow",
        "colorTo": "gray",
        "sdk": "static",
        "app_file": "index.html",
        "short_description": "Scores with intervals, by closeread",
        **({"datasets": list(datasets)} if datasets else {}),
        "tags": _leaderboard_tags(index, languages),
    }
    readme = join_card(front, _describe_leaderboard(title, index, datasets))
    check_card(readme, "space_card")
    return {"README.md": readme, "index.html": page, "board.json": board, "board.csv": table}


def _leaderboard_tags(index: Mapping[str, Any], languages: Sequence[str]) -> list[str]:
    """Return the tags that the Hub's leaderboard finder reads."""
    gold = {board["gold"] for board in index["boards"]}
    test = "mix" if len(gold) > 1 else next(iter(gold), "public")
    # Their authors run the systems, and the predictions are scored here.
    tags = ["leaderboard", "submission:semiautomatic", f"test:{test}", "judge:auto", "modality:text"]
    return [*tags, *(f"language:{LANGUAGES[tag]}" for tag in dict.fromkeys(languages) if tag in LANGUAGES)]


def _describe_leaderboard(title: str, index: Mapping[str, Any], datasets: Sequence[str]) -> str:
    boards = [
        f"- {_escape_markdown(board['title'])}: "
        f"{pluralize(sum(row['kind'] == 'system' for row in board['rows']), 'system')}. "
        f"Signature: `{str(board['signature']).replace('`', '')}`"
        for board in index["boards"]
    ]
    store = [f"Submissions and results: {', '.join(f'<https://huggingface.co/datasets/{name}>' for name in datasets)}."]
    parts = [
        f"# {_escape_markdown(title)}",
        "Scores are computed by closeread, with confidence intervals; ranks are intervals, from paired tests. "
        "`board.json` and `board.csv` hold everything that the page shows.",
        "\n".join(boards),
        *(store if datasets else []),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _escape_markdown(text: object) -> str:
    """Escape untrusted text, so that Markdown shows it as it is, on one line."""
    return MARKUP.sub(r"\\\1", " ".join(escape(str(text)).split()))
