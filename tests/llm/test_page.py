"""What the page on language models shows is what its commands print."""

from importlib.metadata import entry_points
from pathlib import Path

import pages
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "language-models.md").read_text("utf-8")


@pytest.mark.gate
def test_the_commands_print_what_the_page_shows(tmp_path):
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    if not entry_points(group="inspect_ai", name="closeread"):
        pytest.skip(
            "closeread is not installed beside inspect-ai, which finds it by its entry point"
        )
    blocks = [block for block in pages.find_blocks(TEXT) if "inspect-ai" in (block["needs"] or "")]
    assert blocks
    for block in blocks:
        assert pages.run_console(block["body"], tmp_path) == block["body"]
