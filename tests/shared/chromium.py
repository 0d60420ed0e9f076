"""Debian's Chromium, driven by playwright, without a network."""

import shutil
from contextlib import contextmanager

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def launching():
    """Start a browser for the block."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Listener:
    """Opens pages, and collects what they say on the console and which files they ask for."""

    def __init__(self, browser):
        self.browser = browser
        self.pages, self.said, self.asked = [], [], []

    def open(self, url, **settings):
        page = self.browser.new_page(**settings)
        self.pages.append(page)
        page.set_default_timeout(25_000)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(dialog.message))
        page.on("request", lambda request: self.asked.append(request.url.partition("#")[0]))
        page.goto(url)
        return page

    def end(self, *allowed):
        """Close all pages; they must have said nothing, and asked for nothing but what begins like this."""
        for page in self.pages:
            page.close()
        assert self.said == []
        assert [url for url in self.asked if not url.startswith(("blob:", *allowed))] == []
