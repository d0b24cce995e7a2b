#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The pages of a node under load in a browser: headless Chromium, driven through its DevTools
protocol.

Called with the paths of chess_node, bots and fixture_node and a folder for screenshots, from the
root of the tree. It waits for what it expects to see, for at most PATIENCE seconds.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import harness
from browser import PHONE, Browser
from harness import PATIENCE

CHESS_NODE = "chess_node"
BOTS = "bots"
FIXTURE_NODE = "fixture_node"
SCREENSHOTS = "."
WALL = {"width": 1920, "height": 1080, "deviceScaleFactor": 1, "mobile": False}
DESK = {"width": 1280, "height": 1000, "deviceScaleFactor": 1, "mobile": False}


# The seconds between two runs of the bots, which leave time to the browser and to other tests.
PAUSE = 3


class Node(harness.ChessNode):
    """A chess node with bots that play on it again and again while it runs."""

    def __init__(self, folder):
        super().__init__(CHESS_NODE, folder, errors=subprocess.DEVNULL)
        self.url = f"http://{self.admin}"
        self.players = subprocess.Popen(
            [
                *("/bin/sh", "-c"),
                f"while {BOTS} --server {self.listen} --games {harness.GAMES}; do "
                f"sleep {PAUSE}; done",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def end(self):
        os.killpg(self.players.pid, 9)
        self.players.wait()
        self.stop()


class HangingNode(harness.Node):
    """A node of two shards, one of which can be made to hang."""

    def __init__(self):
        super().__init__(
            FIXTURE_NODE,
            *("--set", "node.shards=2"),
            *("--set", "node.clients.http=127.0.0.1:0"),
            errors=subprocess.DEVNULL,
        )
        self.url = f"http://{self.admin}"

    def hang(self):
        """A call is served by one shard, which then never turns again; nobody answers."""
        request = urllib.request.Request(
            f"http://{self.http}/corolane.test.Slow/Wait",
            data=json.dumps({"thenHang": True}).encode(),
            headers={"Content-Type": "application/json"},
        )

        def call():
            try:
                urllib.request.urlopen(request, timeout=PATIENCE).close()
            except (OSError, urllib.error.URLError):
                pass

        threading.Thread(target=call, daemon=True).start()

    def end(self):
        self.process.kill()
        self.process.communicate()


CHART = "document.querySelector('[data-chart=\"{}\"]')"
# Amounts of the first line of a chart: [[seconds since 1970, amount], ...].
SAMPLES = CHART + "?.chart?.chart?.data.slice(0, 2)"


class Pages(unittest.IsolatedAsyncioTestCase):
    """A test that looks at pages of self.node in a browser."""

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.folder = tempfile.TemporaryDirectory(prefix="corolane-dashboard-")
        self.addCleanup(self.folder.cleanup)
        self.node = self.make_node()
        self.addCleanup(self.node.end)
        self.browser = Browser(self.folder.name)
        await self.browser.open()
        self.addAsyncCleanup(self.browser.close)

    def make_node(self):
        return Node(self.folder.name)

    async def look(self, device, **scheme):
        await self.browser.look(device, **scheme)

    async def play(self):
        """Waits until the bots have played some moves."""
        method = "corolane.services.chess.Chess/Move"
        end = time.monotonic() + PATIENCE
        while self.node.stats()["rpc"]["methods"][method]["calls"] < 100:
            self.assertLess(time.monotonic(), end)
            await asyncio.sleep(0.1)

    async def samples(self, title):
        """What the chart of that title shows, once it shows something."""
        script = SAMPLES.format(title)
        await self.browser.wait_for(f"({script} ?? [[]])[0].length > 0")
        times, amounts = await self.browser.evaluate(script)
        return list(zip(times, amounts))

    async def check_width(self, device):
        """Nothing of the page is beside the screen, and no table hides a part of itself."""
        width = await self.browser.evaluate("document.documentElement.scrollWidth")
        self.assertLessEqual(width, device["width"])
        hidden = await self.browser.evaluate(
            "[...document.querySelectorAll('.table')].filter(it => it.scrollWidth > it.clientWidth)"
            ".map(it => it.innerText)"
        )
        self.assertEqual(hidden, [])


class DashboardTest(Pages):
    async def test_the_first_look_has_history(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        # Long enough for a history, which nobody has looked at.
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            told = json.loads(self.node.page("history?format=json&series=calls"))
            if sum(1 for it in told["series"][0]["samples"] if it) >= 10:
                break
            await asyncio.sleep(0.5)
        await browser.go(self.node.url + "/")
        opened = await browser.evaluate("performance.timeOrigin / 1000")
        for title in ("calls", "time of a call", "CPU", "memory", "stack pool"):
            with self.subTest(title):
                samples = await self.samples(title)
                older = [value for at, value in samples if at < opened - 1 and value is not None]
                self.assertGreaterEqual(len(older), 5, samples)
        calls = [value for at, value in await self.samples("calls") if value]
        self.assertGreater(len(calls), 5)
        self.assertEqual(await browser.evaluate("document.body.dataset.level"), "good")
        self.assertEqual(
            await browser.evaluate("document.getElementById('state').textContent"), "serving"
        )
        self.assertEqual(browser.errors, [])

    async def test_the_dashboard_moves_and_leads_to_the_stack_of_a_task(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/")
        for title in ("calls", "loops and ticks", "cost of a switch and of a task"):
            before = (await self.samples(title))[-1][0]
            await browser.wait_for(f"{SAMPLES.format(title)}[0].at(-1) > {before}")
        # The bots have played, so there is a method that is called.
        move = "corolane.services.chess.Chess/Move"
        await browser.wait_for(
            f"[...document.querySelectorAll('main td')].some(it => it.textContent === '{move}')"
        )
        for name, device, scheme in (
            ("dashboard", DESK, "light"),
            ("dashboard-dark", DESK, "dark"),
            ("dashboard-wall", WALL, "dark"),
            ("dashboard-phone", PHONE, "light"),
            ("dashboard-phone-dark", PHONE, "dark"),
        ):
            await self.look(device, scheme=scheme)
            await asyncio.sleep(0.5)  # The charts take their new size.
            await self.check_width(device)
            await browser.screenshot(SCREENSHOTS, name)

        await self.look(DESK, scheme="light")
        await browser.click("nav a[href='/tasks']")
        await browser.wait_for("location.pathname === '/tasks' && !!document.querySelector('td')")
        # Task 1 lives as long as the first shard, so it still exists after the click.
        await browser.click("td a[href='/tasks/1']")
        await browser.wait_for("location.pathname === '/tasks/1'")
        stack = await browser.wait_for("document.querySelector('ol.stack')?.innerText")
        self.assertIn("ShardThread::live", stack)
        await browser.screenshot(SCREENSHOTS, "task")
        self.assertEqual(browser.errors, [])

    async def test_a_range_of_two_days_is_asked_for_by_a_button(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/")
        await self.samples("calls")
        await browser.click(".ranges button:last-child")
        await browser.wait_for("location.hash === '#2d'")
        # A sample stands for a minute, so a young node has few.
        await browser.wait_for(f"{SAMPLES.format('calls')}[0].length <= 3")
        self.assertEqual(
            await browser.evaluate(
                "[...document.querySelectorAll('.ranges [aria-pressed=true]')]"
                ".map(it => it.innerText)"
            ),
            ["2 days"],
        )
        self.assertEqual(browser.errors, [])

    async def test_each_page_is_drawn_within_the_screen(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/")
        await browser.wait_for("document.querySelectorAll('nav a').length > 5")
        paths = await browser.evaluate(
            "[...document.querySelectorAll('nav a')].map(it => it.getAttribute('href'))"
        )
        self.assertEqual(len(await browser.evaluate(
            "[...document.querySelectorAll('nav [role=group]')].map(it => it.ariaLabel)")), 4)
        game = "corolane.services.chess.Game"
        for path in (*paths[1:], f"/objects?type={game}", "/tasks/1"):
            with self.subTest(path):
                await self.look(DESK, scheme="light")
                await browser.go(self.node.url + path)
                await browser.wait_for("document.querySelector('main').innerText !== 'loading'")
                await browser.wait_for("document.getElementById('state').textContent !== ''")
                self.assertEqual(
                    await browser.evaluate("document.getElementById('told').textContent"), ""
                )
                await self.check_width(DESK)
                name = "page" + re.sub(r"[/?=.]+", "-", path)
                await browser.screenshot(SCREENSHOTS, name)
                await self.look(PHONE, scheme="light")
                await self.check_width(PHONE)
                await browser.screenshot(SCREENSHOTS, name + "-phone")
        self.assertEqual(browser.errors, [])

    async def test_an_amount_has_one_unit_for_its_column(self):
        browser = self.browser
        await self.play()
        await browser.go(self.node.url + "/methods")
        await browser.wait_for("!!document.querySelector('td.number')")
        heads = await browser.evaluate(
            "[...document.querySelectorAll('th')].map(it => it.innerText.replace(/\\s+/g, ' '))"
        )
        self.assertTrue(any(re.fullmatch(r"p99 (µs|ms|s)", it) for it in heads), heads)
        for value, kind, text in (
            (0.0029, "s", "2.9\u202fms"),
            (12345, "bytes", "12.3\u202fkB"),
            (0, "s", "0"),
            (5234, "1/s", "5.23\u202fk/s"),
            (0.5, "cores", "50%"),
            (None, "s", "–"),
        ):
            with self.subTest(text):
                shown = await browser.evaluate(f"figure({json.dumps(value)}, '{kind}')")
                self.assertEqual(shown, text)

    async def test_rows_of_zeros_are_the_last_ones(self):
        browser = self.browser
        await self.play()
        await browser.go(self.node.url + "/methods")
        await browser.click("tr.more button")
        sums = await browser.wait_for(
            "!document.querySelector('tr.more') && [...document.querySelectorAll('tbody tr')].map("
            "it => [...it.querySelectorAll('.number')].filter(it => !it.matches('.none')).length)"
        )
        first = sums.index(0)
        self.assertGreater(first, 0)
        self.assertEqual(set(sums[first:]), {0})

    async def test_a_page_about_one_thing_begins_with_the_verdict(self):
        browser = self.browser
        await browser.go(self.node.url + "/config")
        await browser.wait_for("!!document.querySelector('td')")
        first = await browser.evaluate(
            "(parts => [parts[0].className, parts[0].innerText])"
            "(sections({id: 'x', verdict: 'waits for Add of B'}))"
        )
        self.assertEqual(first, ["verdict", "waits for Add of B"])

    async def test_a_row_links_to_the_task_that_it_names(self):
        browser = self.browser
        # Calls of the bots wait for moves, but for the pause between two runs of the bots.
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

    async def test_a_flame_graph_zooms_and_searches(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + f"/profile?seconds={PAUSE + 2}")
        boxes = await browser.wait_for(
            "document.querySelector('.drawing svg g.box') && "
            "[...document.querySelectorAll('.drawing svg title')].map(it => it.textContent)"
        )
        self.assertTrue(any(it.startswith("services.chess.Chess") for it in boxes), boxes)
        await browser.screenshot(SCREENSHOTS, "profile")
        boxes = "[...document.querySelectorAll('g.box')]"
        width = "Number(document.querySelectorAll('g.box rect')[1].getAttribute('width'))"
        self.assertLess(await browser.evaluate(width), 1200)
        await browser.click("g.box:nth-of-type(2)")
        await browser.wait_for(f"{width} === 1200")
        self.assertTrue(
            await browser.evaluate(f"{boxes}.some(it => it.style.display === 'none')")
        )
        await browser.ask(
            "Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape",
            windowsVirtualKeyCode=27,
        )
        await browser.wait_for(f"{width} < 1200")
        await browser.click(".controls input")
        await browser.ask("Input.insertText", text="chess")
        told = await browser.wait_for("document.querySelector('.controls output').textContent")
        self.assertRegex(told, r"^\d+\.\d %$")
        found = await browser.evaluate(f"{boxes}.filter(it => it.matches('.found')).length")
        self.assertGreater(found, 0)
        await browser.screenshot(SCREENSHOTS, "profile-found")
        self.assertEqual(browser.errors, [])

    async def test_a_table_can_be_sorted_and_searched(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await self.play()
        await browser.go(self.node.url + "/sites")
        await browser.wait_for("document.querySelector('td.number')?.textContent")
        place = await browser.evaluate(
            "[...document.querySelectorAll('th')].findIndex(it => it.matches('.number')) + 1"
        )
        column = (
            "[...document.querySelectorAll('tbody tr:not(.more)')]"
            ".map(it => it.cells[{}].textContent)"
        )
        await browser.click(f"th:nth-child({place}) button")
        falling = await browser.evaluate(column.format(place - 1))
        numbers = [float(re.sub("[,<]", "", it).replace("–", "0")) for it in falling]
        self.assertEqual(numbers, sorted(numbers, reverse=True))
        self.assertEqual(
            await browser.evaluate(f"document.querySelector('th:nth-child({place})').ariaSort"),
            "descending",
        )
        await browser.click("input[type=search]")
        await browser.ask("Input.insertText", text="dispatcher.cc")
        found = await browser.wait_for(
            f"(rows => rows.length < {len(numbers)} && rows)"
            "([...document.querySelectorAll('tbody tr')].map(it => it.textContent))"
        )
        self.assertTrue(all("dispatcher.cc" in it for it in found), found)
        self.assertEqual(browser.errors, [])


class HangingShardTest(Pages):
    def make_node(self):
        return HangingNode()

    async def test_a_spinning_shard_turns_its_row_red_within_two_seconds(self):
        browser = self.browser
        await self.look(DESK, scheme="light")
        await browser.go(self.node.url + "/")
        await browser.wait_for("document.querySelectorAll('main tbody tr').length === 2")
        self.assertEqual(await browser.evaluate("document.querySelectorAll('tr.alarm').length"), 0)
        # The page notes when it shows the row, so that this test may be slow.
        await browser.evaluate(
            "new MutationObserver(() => { window.redRow ??= "
            "document.querySelector('tr.alarm')?.innerText; })"
            ".observe(document.body, {subtree: true, childList: true})"
        )
        self.node.hang()
        shown = await browser.wait_for("window.redRow")
        seconds = re.search(r"has not turned for ([\d.]+) s: .*slow_service\.h:\d+", shown)
        self.assertIsNotNone(seconds, shown)
        self.assertLess(float(seconds[1]), 2, shown)
        self.assertEqual(await browser.evaluate("document.body.dataset.level"), "bad")
        state = await browser.evaluate("document.getElementById('state').textContent")
        self.assertRegex(state, r"^shard \d has not turned for ")
        red = await browser.evaluate(
            "getComputedStyle(document.querySelector('tr.alarm td')).color"
        )
        self.assertEqual(red, "rgb(192, 28, 40)")
        # The other shard and the control thread go on, and the sums have a gap.
        await browser.wait_for(f"{SAMPLES.format('calls')}[1].at(-1) === null")
        await browser.wait_for("!!document.querySelector('.strip .state-hanging')")
        await browser.screenshot(SCREENSHOTS, "dashboard-hanging")
        await self.look(PHONE, scheme="dark")
        await browser.screenshot(SCREENSHOTS, "dashboard-hanging-phone")


if __name__ == "__main__":
    CHESS_NODE, BOTS, FIXTURE_NODE, SCREENSHOTS = sys.argv[1:5]
    os.makedirs(SCREENSHOTS, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
