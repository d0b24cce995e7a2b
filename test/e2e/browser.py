# SPDX-License-Identifier: MIT
"""A page in headless Chromium, driven through its DevTools protocol. It waits for what a test
expects to see, for at most PATIENCE seconds.
"""

import asyncio
import base64
import json
import re
import shutil
import subprocess
import time
import urllib.request

import websockets
from harness import PATIENCE

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}


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
        await self.click_on(f"document.querySelector({json.dumps(selector)})")

    async def click_on(self, element):
        """Clicks at the position of the element on the screen, like a finger or a mouse. Waits
        until that expression has an element.
        """
        await self.wait_for(f"({element}) != null")
        place = await self.evaluate(
            f"""(() => {{
              const element = {element};
              element.scrollIntoView({{block: 'center'}});
              const box = element.getBoundingClientRect();
              return {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
            }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            await self.ask(
                "Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place
            )

    async def screenshot(self, folder, name):
        """Of all that the page has, as far as a person would scroll."""
        size = await self.ask("Page.getLayoutMetrics")
        clip = {"x": 0, "y": 0, "scale": 1, "width": size["cssLayoutViewport"]["clientWidth"]}
        clip["height"] = min(size["cssContentSize"]["height"], 3000)
        shot = await self.ask(
            "Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True,
            optimizeForSpeed=True,
        )
        with open(f"{folder}/{name}.png", "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    async def look(self, device, **scheme):
        """Shows the page on a device, in a colour scheme."""
        await self.ask("Emulation.setDeviceMetricsOverride", **device)
        await self.ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": it} for it in scheme.values()],
        )

    async def close(self):
        self.reader.cancel()
        await self.socket.close()
        self.process.kill()
        self.process.communicate()
