#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The pages of a node under load in a browser: headless Chromium, driven through its DevTools
protocol.

Called with the paths of chess_node and bots and a folder for screenshots, from the root of the
tree. It waits for what it expects to see, for at most PATIENCE seconds.
"""

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import harness
import websockets

CHESS_NODE = "chess_node"
BOTS = "bots"
SCREENSHOTS = "."
PATIENCE = 60
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
DESK = {"width": 1280, "height": 1000, "deviceScaleFactor": 1, "mobile": False}


class HasNavigated(Exception):
    """The page that was asked has been left."""


class Browser:
    """One page of a browser."""

    def __init__(self, folder):
        program = shutil.which("chromium")
        if program is None:
            raise AssertionError("chromium is not installed; tools/setup --tests installs it")
        self.process = subprocess.Popen(
            [
                program,
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *("--no-first-run", "--disable-background-networking", "--disable-extensions"),
                *("--remote-debugging-port=0", f"--user-data-dir={folder}/browser"),
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.errors = []
        self.waiting = {}
        self.last_id = 0

    async def open(self):
        for line in self.process.stderr:
            found = re.search(r"DevTools listening on ws://(\S+?)/", line)
            if found:
                break
        else:
            raise AssertionError("the browser did not start")
        with urllib.request.urlopen(f"http://{found[1]}/json", timeout=PATIENCE) as reply:
            pages = [it for it in json.load(reply) if it["type"] == "page"]
        self.socket = await websockets.connect(pages[0]["webSocketDebuggerUrl"], max_size=None)
        self.reader = asyncio.create_task(self.read())
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.ask(domain + ".enable")

    async def read(self):
        async for text in self.socket:
            message = json.loads(text)
            if "id" in message:
                self.waiting.pop(message["id"]).set_result(message)
            else:
                self.note(message["method"], message["params"])

    def note(self, method, told):
        """Keeps console errors, and requests to hosts other than the node."""
        if method == "Runtime.exceptionThrown":
            self.errors.append(told["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.errors.append(told["args"])
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(told["entry"])
        elif method == "Network.requestWillBeSent":
            url = told["request"]["url"]
            if not re.match(r"http://127\.0\.0\.1:|data:|about:", url):
                self.errors.append(f"asks for {url}")

    async def ask(self, method, **parameters):
        self.last_id += 1
        answered = self.waiting[self.last_id] = asyncio.get_running_loop().create_future()
        await self.socket.send(
            json.dumps({"id": self.last_id, "method": method, "params": parameters})
        )
        message = await asyncio.wait_for(answered, PATIENCE)
        if "navigated" in message.get("error", {}).get("message", ""):
            raise HasNavigated(method)
        if "error" in message:
            raise AssertionError(f"{method}: {message['error']}")
        return message["result"]

    async def evaluate(self, expression):
        result = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    async def wait_for(self, expression):
        """Waits until the expression is true; returns its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                value = await self.evaluate(expression)
            except HasNavigated:
                value = None
            if value:
                return value
            await asyncio.sleep(0.05)
        text = await self.evaluate("document.body.innerText")
        raise AssertionError(f"{expression} did not become true; the page says:\n{text}")

    async def go(self, url):
        await self.ask("Page.navigate", url=url)
        await self.wait_for("document.readyState === 'complete'")

    async def click(self, selector):
        """Clicks at the position of the element on the screen, like a finger or a mouse."""
        await self.wait_for(f"document.querySelector({json.dumps(selector)}) !== null")
        place = await self.evaluate(
            f"""(() => {{
              const element = document.querySelector({json.dumps(selector)});
              element.scrollIntoView({{block: 'center'}});
              const box = element.getBoundingClientRect();
              return {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
            }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            await self.ask(
                "Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place
            )

    async def screenshot(self, name):
        shot = await self.ask("Page.captureScreenshot", format="png")
        with open(f"{SCREENSHOTS}/{name}.png", "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    async def close(self):
        self.reader.cancel()
        await self.socket.close()
        self.process.kill()
        self.process.communicate()


class Node(harness.ChessNode):
    """A chess node with bots that play on it while it runs."""

    def __init__(self, folder):
        super().__init__(CHESS_NODE, folder, errors=subprocess.DEVNULL)
        self.url = f"http://{self.admin}"
        self.players = subprocess.Popen(
            [
                *("/bin/sh", "-c"),
                f"while {BOTS} --server {self.listen} --games {harness.GAMES}; do :; done",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end(self):
        os.killpg(self.players.pid, 9)
        self.players.wait()
        self.stop()


CHART = "document.querySelector('[data-chart=\"{}\"]')"


class DashboardTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.folder = tempfile.TemporaryDirectory(prefix="corolane-dashboard-")
        self.addCleanup(self.folder.cleanup)
        self.node = Node(self.folder.name)
        self.addCleanup(self.node.end)
        self.browser = Browser(self.folder.name)
        await self.browser.open()
        self.addAsyncCleanup(self.browser.close)

    async def look(self, device, **scheme):
        await self.browser.ask("Emulation.setDeviceMetricsOverride", **device)
        await self.browser.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": it} for it in scheme.values()],
        )

    async def see_charts_move(self):
        """Waits until the line of each of these charts has at least two points, and changes."""
        for title in ("loop utilisation", "switches", "calls", "time of a call", "creations"):
            path = CHART.format(title) + "?.querySelector('path')?.getAttribute('d') ?? ''"
            before = await self.browser.wait_for(f"({path}).includes('L') && ({path})")
            await self.browser.wait_for(f"({path}) !== {json.dumps(before)}")

    async def test_the_dashboard_moves_and_leads_to_the_stack_of_a_task(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/")
        await self.see_charts_move()
        calls = await browser.wait_for(
            CHART.format("calls") + ".querySelector('.now').textContent !== '0' && "
            "[...document.querySelectorAll('main table td')].map(it => it.textContent)"
        )
        self.assertIn("corolane.services.chess.Chess/Move", calls)
        await browser.screenshot("dashboard")
        await self.look(DESK, scheme="dark")
        await browser.screenshot("dashboard-dark")
        await self.look(PHONE, scheme="light")
        self.assertLessEqual(
            await browser.evaluate("document.documentElement.scrollWidth"), PHONE["width"]
        )
        await browser.screenshot("dashboard-phone")

        await self.look(DESK, scheme="light")
        await browser.click("nav a[href='/tasks']")
        await browser.wait_for("location.pathname === '/tasks' && !!document.querySelector('td')")
        await browser.screenshot("tasks")
        # Task 1 lives as long as the first shard, so it still exists after the click.
        await browser.click("td a[href='/tasks/1']")
        await browser.wait_for("location.pathname === '/tasks/1'")
        stack = await browser.wait_for("document.querySelector('ol.stack')?.innerText")
        self.assertIn("ShardThread::live", stack)
        await browser.screenshot("task")

        await browser.click("nav a[href='/methods']")
        rows = await browser.wait_for(
            "location.pathname === '/methods' && document.querySelector('td.number') && "
            "[...document.querySelectorAll('tbody tr')].map(it => it.innerText)"
        )
        self.assertTrue(any("corolane.services.chess.Chess/Move" in it for it in rows), rows)
        await browser.screenshot("methods")
        self.assertEqual(browser.errors, [])

    async def test_each_page_is_drawn(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/")
        await browser.wait_for("document.querySelectorAll('nav a').length > 5")
        paths = await browser.evaluate(
            "[...document.querySelectorAll('nav a')].map(it => it.getAttribute('href'))"
        )
        for path in paths[1:]:
            with self.subTest(path):
                await browser.go(self.node.url + path)
                await browser.wait_for("document.querySelector('main').innerText !== 'loading'")
                await browser.wait_for("document.querySelector('nav a[aria-current]') !== null")
                self.assertEqual(
                    await browser.evaluate("document.getElementById('state').textContent"), ""
                )
                await browser.screenshot("page" + path.replace("/", "-"))
        self.assertEqual(browser.errors, [])

    async def test_a_row_links_to_the_task_that_it_names(self):
        browser = self.browser
        # Calls of the bots wait for moves, but for the moment between two runs of the bots.
        link = "document.querySelector(\"td a[href^='/tasks/']\")?.getAttribute('href')"
        target = None
        end = time.monotonic() + PATIENCE
        while target is None and time.monotonic() < end:
            await browser.go(self.node.url + "/waits")
            await browser.wait_for("document.querySelector('main').innerText !== 'loading'")
            target = await browser.evaluate(link)
        self.assertIsNotNone(target)
        self.assertRegex(target, r"^/tasks/[0-9]+(\.[0-9]+)?$")
        rows = (
            ("task", "{task: '1.7', method: 'a.B/C'}", "/tasks/1.7"),
            ("longest_id", "{longest_id: 7}", "/tasks/7"),
            # A row of /stalls has the name of its task as well.
            ("task", "{task: 'a.B/C', task_id: 7}", None),
            ("task_id", "{task: 'a.B/C', task_id: 7}", "/tasks/7"),
            ("task_id", "{task: '', task_id: null}", None),
            ("task_there", "{task_there: '7', node: 'another node'}", None),
        )
        for key, row, expected in rows:
            with self.subTest(key=key, row=row):
                self.assertEqual(await browser.evaluate(f"linkOf('{key}', {row})"), expected)
        self.assertEqual(browser.errors, [])

    async def test_a_profile_is_a_flame_graph(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/profile?seconds=1")
        boxes = await browser.wait_for(
            "document.querySelector('.drawing svg g') && "
            "[...document.querySelectorAll('.drawing svg title')].map(it => it.textContent)"
        )
        self.assertTrue(any(it.startswith("services.chess.Chess") for it in boxes), boxes)
        await browser.screenshot("profile")
        self.assertEqual(browser.errors, [])

    async def test_a_table_can_be_sorted_and_searched(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/sites")
        first = "document.querySelector('td.number')?.textContent"
        await browser.wait_for(first)
        column = "[...document.querySelectorAll('tbody tr')].map(it => it.cells[{}].textContent)"
        await browser.click("th:nth-child(3) button")
        falling = await browser.evaluate(column.format(2))
        numbers = [float(it.replace(",", "")) for it in falling]
        self.assertEqual(numbers, sorted(numbers, reverse=True))
        await browser.click("input[type=search]")
        await browser.ask("Input.insertText", text="dispatcher.cc")
        found = await browser.wait_for(
            f"(rows => rows.length < {len(numbers)} && rows)({column.format(0)})"
        )
        self.assertTrue(all("dispatcher.cc" in it for it in found), found)
        self.assertEqual(browser.errors, [])


if __name__ == "__main__":
    CHESS_NODE, BOTS, SCREENSHOTS = sys.argv[1:4]
    os.makedirs(SCREENSHOTS, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
