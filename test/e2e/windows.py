# SPDX-License-Identifier: MIT
"""The windows in which people follow a page of a tutorial: each person has one, in headless
Chromium. They are driven by a thread of their own, so that the commands between may take long.
"""

import asyncio
import json
import re
import threading

from browser import PHONE, Browser
from harness import PATIENCE

DESK = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
# What a browser says of a node that has gone.
EXPECTED_ERRORS = re.compile("WebSocket connection to|ERR_CONNECTION|ERR_EMPTY_RESPONSE")


def visible(selector, text):
    """An expression: the visible element with exactly that text."""
    return (
        f"[...document.querySelectorAll({json.dumps(selector)})].find("
        f"it => it.offsetParent && it.textContent.trim() === {json.dumps(text)})"
    )


class Windows:
    def __init__(self, folder):
        self.folder = folder
        self.browsers = {}  # By the name of the person.
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()

    def wait(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=4 * PATIENCE)

    def perform(self, act):
        """Fails with an AssertionError that says what the window shows instead."""
        self.wait(getattr(self, act.verb)(act))

    async def opens(self, act):
        if act.person not in self.browsers:
            folder = self.folder / f"window-{act.person}"
            folder.mkdir()
            browser = self.browsers[act.person] = Browser(folder)
            await browser.open()
            await browser.look(DESK, scheme="light")
        await self.browsers[act.person].go(act.text)

    async def writes(self, act):
        browser = self.browsers[act.person]
        await browser.click_on(f"{visible('label', act.label)}?.control")
        await browser.evaluate("document.activeElement.select()")
        await browser.ask("Input.insertText", text=act.text)

    async def presses(self, act):
        await self.browsers[act.person].click_on(visible("button, a", act.text))

    async def sees(self, act):
        await self.browsers[act.person].wait_for(
            "` ${document.body.innerText.replace(/\\s+/g, ' ')} `"
            f".includes({json.dumps(f' {act.text} ')})"
        )

    def take_pictures(self, person, folder, name):
        self.wait(self._take_pictures(self.browsers[person], folder, name))

    async def _take_pictures(self, browser, folder, name):
        for where, device in (("phone", PHONE), ("desktop", DESK)):
            for scheme in ("light", "dark"):
                await browser.look(device, scheme=scheme)
                await browser.screenshot(folder, f"{name}-{where}-{scheme}")
        await browser.look(DESK, scheme="light")

    def errors(self):
        """What the consoles of the windows say, apart from a node that has gone; and all that the
        pages have asked other hosts for.
        """
        return [
            error
            for browser in self.browsers.values()
            for error in browser.errors
            if not EXPECTED_ERRORS.search(json.dumps(error))
        ]

    def close(self):
        for browser in self.browsers.values():
            self.wait(browser.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
