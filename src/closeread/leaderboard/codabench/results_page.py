"""The page with detailed results that the scoring program writes: one self-contained HTML file without script."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from closeread.leaderboard.declaration import Board
from closeread.leaderboard.names import show_safely
from closeread.tables import NOTHING

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 60rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
caption {{ font-weight: bold; text-align: left; }}
th, td {{ border-bottom: 1px solid GrayText; padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; }}
td {{ font-variant-numeric: tabular-nums; }}
pre, code {{ font-family: ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def failure_page(title: str, what: str) -> str:
    """Return the page that says why a submission was not scored.

    Args:
        title: the name of the board.
        what: the reasons, one a line.
    """
    lines = "\n".join(map(_escape, what.split("\n")))
    return PAGE.format(title=_escape(title), body=f"<h2>Not scored</h2>\n<pre>{lines}</pre>")


def results_page(board: Board, report: Mapping[str, Any]) -> str:
    """Return the page with the scores of a submission.

    Args:
        board: the board.
        report: the scores that may be published, as the JSON of a report.
    """
    parts = [_summary(report), _scores_table("Scores", board, report["scores"])]
    for field, values in report["slices"].items():
        if values:
            parts.append(_slices_table(field, board, values))
    undefined = [name for name, score in report["scores"].items() if score["value"] is None]
    if undefined:
        names = ", ".join(_title(board, name) for name in undefined)
        parts.append(f"<p>Undefined (0/0), and 0 on the leaderboard: {_escape(names)}.</p>")
    parts.append(f"<p>Signature: <code>{_escape(report['signature'])}</code></p>")
    return PAGE.format(title=_escape(board.title), body="\n".join(parts))


def _summary(report: Mapping[str, Any]) -> str:
    units = f"{report['n_units']:,} {report['unit']}{'' if report['n_units'] == 1 else 's'}"
    how = f"{report['confidence']:.0%} bootstrap intervals over {report['resampling_unit']}s"
    missing = f" Without a prediction: {report['missing']:,}." if report["missing"] else ""
    version = f"scored by closeread {report['closeread']}"
    return f"<p>{_escape(f'{units}, {version}; {how}.{missing}')}</p>"


def _scores_table(caption: str, board: Board, scores: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [[_title(board, name), _value(score), _interval(score)] for name, score in scores.items()]
    return _table(caption, ["Score", "Value", "Interval"], rows)


def _slices_table(field: str, board: Board, values: Mapping[str, Mapping[str, Any]]) -> str:
    found = {value: one["scores"].get(board.headline) for value, one in values.items()}
    rows = [
        [value, f"{values[value]['n_units']:,}", _value(score), _interval(score)]
        for value, score in found.items()
        if score is not None
    ]
    title = _title(board, board.headline)
    return _table(f"{title} by {field}", [field, "Units", title, "Interval"], rows)


def _title(board: Board, name: str) -> str:
    return next(metric.title for metric in board.procedure.metrics if metric.name == name)


def _value(score: Mapping[str, Any]) -> str:
    return NOTHING if score["value"] is None else f"{100 * score['value']:.2f}"


def _interval(score: Mapping[str, Any]) -> str:
    return NOTHING if score["low"] is None else f"{100 * score['low']:.2f}–{100 * score['high']:.2f}"


def _table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{_escape(name)}</th>' for name in header)
    body = "\n".join(
        f'<tr><th scope="row">{_escape(row[0])}</th>'
        + "".join(f"<td>{_escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{_escape(caption)}</caption>"
    return f"<table>\n{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _escape(text: str) -> str:
    return html.escape(show_safely(text))
