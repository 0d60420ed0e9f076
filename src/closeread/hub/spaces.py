"""Static Spaces, which are free on every account: the pages of a metric and of a leaderboard.

`evaluate.load("org/name")` reads `name.py` from a Space of any kind, so a metric needs no server.  Its page has no
script and asks no other host for anything; the Hub itself renders the card.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from closeread.exceptions import RequestError, escape, pluralize, shorten
from closeread.files import package_folder
from closeread.hub.cards import check_card, join_card, split_card
from closeread.tables import BLOCK, escape_markdown

MAX_SHORT_DESCRIPTION = 60  # characters, by the Hub
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
    title = front["title"]
    description = front["description"]
    heading, _, body = text.lstrip("\n").partition("\n")
    text = f"{heading}\n{USAGE.format(repository=repository)}{body.lstrip()}"
    settings = {
        "short_description": shorten(f"{title}, by closeread", MAX_SHORT_DESCRIPTION),
        "description": description,
        "tags": front["tags"],
    }
    script = SCRIPT.format(title=title, repository=repository, metric=metric, name=class_name)
    return {
        "README.md": _make_card(title, "📏", "blue", settings, text),
        "index.html": draw_page(title, description, repository),
        f"{name}.py": script.encode(),
        "requirements.txt": requirements,
    }


def draw_page(title: str, description: str, repository: str) -> bytes:
    """Return the page of a metric, which says how it is loaded, and where its card is."""
    template = Template((package_folder("closeread.hub") / "metric.html").read_text("utf-8"))
    return template.substitute(
        title=html.escape(title),
        description=html.escape(description),
        repository=html.escape(repository),
    ).encode()


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
    boards = index["boards"]
    gold = {declared["gold"] for declared in boards}
    test = "mix" if len(gold) > 1 else next(iter(gold), "public")
    tags = [
        "leaderboard",
        "submission:semiautomatic",
        f"test:{test}",
        "judge:auto",
        "modality:text",
    ]
    tags += [f"language:{LANGUAGES[tag]}" for tag in dict.fromkeys(languages) if tag in LANGUAGES]
    settings: dict[str, Any] = {"short_description": "Scores with intervals, by closeread"}
    if dataset:
        settings["datasets"] = [dataset]
    settings["tags"] = tags
    paragraphs = [
        f"# {_show(title)}",
        "Scores are computed by closeread, with confidence intervals; ranks are intervals, too. "
        "`board.json` and `board.csv` hold everything that the page shows.",
    ]
    if boards:
        paragraphs.append("\n".join(map(_describe_board, boards)))
    if dataset:
        link = f"<https://huggingface.co/datasets/{dataset}>"
        paragraphs.append(f"Submissions and results: {link}.")
    readme = _make_card(title, "🏆", "yellow", settings, "\n\n".join(paragraphs) + "\n")
    return {"README.md": readme, "index.html": page, "board.json": board, "board.csv": table}


def _describe_board(board: Mapping[str, Any]) -> str:
    n_systems = sum(row["kind"] == "system" for row in board["rows"])
    signature = str(board["signature"]).replace("`", "")
    systems = pluralize(n_systems, "system")
    return f"- {_show(board['title'])}: {systems}. Signature: `{signature}`"


def _make_card(title: str, emoji: str, color: str, settings: Mapping[str, Any], text: str) -> bytes:
    front = {"title": title, "emoji": emoji, "colorFrom": color, **SPACE, **settings}
    card = join_card(front, text)
    check_card(card, "space_card")
    return card


def _show(text: object) -> str:
    """Escape untrusted text, so that Markdown shows it as it is, on one line."""
    return BLOCK.sub(r"\\\g<0>", escape_markdown(" ".join(escape(str(text)).split())))
