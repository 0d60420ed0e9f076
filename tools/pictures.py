"""Take the screenshots in docs/images that no command draws.

    python tools/pictures.py

The page is that of an invented leaderboard, in Debian's Chromium.  Fonts differ between machines, so tests compare no
pixels.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from closeread.files import replacing

ROOT = Path(__file__).resolve().parent.parent
SCREENSHOTS = ("leaderboard.png",)
"""The pictures in docs/images that are made here."""

LIMIT = 150_000
"""The largest picture, in bytes."""


def photograph_leaderboard(picture: Path) -> None:
    """Take a picture of the page of an invented leaderboard of eleven systems and four other rows."""
    sys.path.insert(0, str(ROOT / "tests"))
    from playwright.sync_api import sync_playwright
    from shared.leaderboards import make_index

    from closeread.leaderboard.page import render_page

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        page_file = Path(folder) / "index.html"
        page_file.write_text(render_page(make_index(11)), "utf-8")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1160, "height": 790}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.screenshot(path=picture, type="png")
        browser.close()


def main() -> None:
    """Replace the pictures of the checkout."""
    for name in SCREENSHOTS:
        with replacing(ROOT / "docs" / "images" / name) as picture:
            photograph_leaderboard(picture)
            size = picture.stat().st_size
            if size > LIMIT:
                raise SystemExit(f"{name} has {size:,} bytes (expected at most {LIMIT:,})")


if __name__ == "__main__":
    main()
