"""Take the screenshots in docs/images that no command draws.

    python tools/pictures.py [NAME...]

The pages are those of an invented leaderboard and of the invented sample of Marmara's corpus with its annotators, in
Debian's Chromium.  Fonts differ between machines, so tests compare no pixels.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import closeread
from closeread.files import replacing

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 150_000
"""The largest picture, in bytes."""


def draw_leaderboard() -> str:
    """Return the page of an invented leaderboard of eleven systems and four other rows."""
    from shared.leaderboards import make_index

    from closeread.leaderboard.page import render_page

    return render_page(make_index(11))


def draw_annotators(names: Sequence[str] = ("anna", "ben", "cleo")) -> str:
    """Return the page of the gold and the annotators of an invented text."""
    folder = ROOT / "loaders" / "marmara_coref" / "sample" / "annotations" / "77000112"
    files = [folder / f"{name}.conll" for name in names]
    options = {"config": "sample", "documents": ["77000112"], "missing": "skip", "ci": False}
    return closeread.view("marmara_coref", *files, **options).to_html()


SCREENSHOTS = {"leaderboard.png": (draw_leaderboard, ""), "view.png": (draw_annotators, "3")}
"""The pictures in docs/images that are made here, with the pages and the keys that are pressed on them."""


def photograph(html: str, keys: str, picture: Path) -> None:
    """Take a picture of a page."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "index.html"
        page_file.write_text(html, "utf-8")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 700}, color_scheme="light")
        page.goto(page_file.as_uri())
        for key in keys:
            page.keyboard.press(key)
        page.screenshot(path=picture, type="png")
        browser.close()


def main() -> None:
    """Replace the pictures of the checkout, or those that are named."""
    sys.path.insert(0, str(ROOT / "tests"))
    for name in sys.argv[1:] or SCREENSHOTS:
        draw, keys = SCREENSHOTS[name]
        with replacing(ROOT / "docs" / "images" / name) as picture:
            photograph(draw(), keys, picture)
            size = picture.stat().st_size
            if size > LIMIT:
                raise SystemExit(f"{name} has {size:,} bytes (expected at most {LIMIT:,})")


if __name__ == "__main__":
    main()
