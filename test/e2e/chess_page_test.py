#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The chess page, played by people: pages in headless Chromium that use its own controls.

Called with the path of chess_node and a folder for screenshots, from the root of the tree.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import harness
from browser import PHONE, Browser
from harness import PATIENCE

CHESS_NODE = "chess_node"
SCREENSHOTS = "."
PAGE = harness.ROOT / "services/chess/web"
DESK = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
SMALL = {"width": 320, "height": 568, "deviceScaleFactor": 2, "mobile": True}
LANDSCAPE = {"width": 844, "height": 390, "deviceScaleFactor": 2, "mobile": True}

# Games for the list, by people of whom some play at any time.
OPENINGS = {
    ("Vera", "Max"): "e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2 e5 Nb3 Be7 O-O O-O",
    ("Nora", "Emil"): "d4 Nf6 c4 e6 Nc3 Bb4 e3 O-O Bd3 d5 Nf3 c5 O-O Nc6",
    ("Ida", "Jonas"): "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O",
    ("Tom", "Lena"): "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5 Ng3 Bg6 h4 h6 Nf3 Nd7",
    ("Otto", "Ruth"): "d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7 e3 O-O Nf3 h6 Bh4 b6",
    ("Mia", "Paul"): "c4 e5 Nc3 Nf6 g3 d5 cxd5 Nxd5 Bg2 Nb6 Nf3 Nc6",
}


class Line:
    """A way to the node on which a test can pull the plug."""

    def __init__(self, target):
        self.host, port = target.rsplit(":", 1)
        self.port = int(port)
        self.writers = set()
        self.is_cut = False

    async def open(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return "127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        if self.is_cut:
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        self.writers |= {writer, far_writer}
        await asyncio.gather(self.pass_on(reader, far_writer), self.pass_on(far_reader, writer))
        self.writers -= {writer, far_writer}

    @staticmethod
    async def pass_on(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    def cut(self):
        self.is_cut = True
        for writer in self.writers:
            writer.transport.abort()

    def mend(self):
        self.is_cut = False

    async def close(self):
        self.cut()
        self.server.close()
        await self.server.wait_closed()


class Person(Browser):
    """Somebody who sees the page, and plays by its controls."""

    async def enter(self, address, name, path=""):
        await self.go(f"http://{address}/{path}")
        await self.wait_for("!!document.body.dataset.view")
        if not path:
            await self.call_oneself(name)

    async def call_oneself(self, name):
        await self.evaluate("document.getElementById('name').select()")
        await self.click("#name")
        await self.evaluate("document.getElementById('name').select()")
        await self.ask("Input.insertText", text=name)

    async def place(self, square):
        return await self.evaluate(
            f"""(box => ({{x: box.x + box.width / 2, y: box.y + box.height / 2}}))
            (document.querySelector('[data-square="{square}"]').getBoundingClientRect())"""
        )

    async def mouse(self, kind, place):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        buttons = 0 if kind == "mouseReleased" else 1
        await self.ask("Input.dispatchMouseEvent", type=kind, buttons=buttons, **button, **place)

    async def press(self, key, text=""):
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40}
        typed = {"text": text} if text else {}
        for kind in ("keyDown", "keyUp"):
            await self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                           windowsVirtualKeyCode=codes[key], **typed)

    async def drag(self, start, end):
        start, end = await self.place(start), await self.place(end)
        await self.mouse("mousePressed", start)
        for part in (0.3, 0.7, 1):
            way = {axis: start[axis] + part * (end[axis] - start[axis]) for axis in "xy"}
            await self.mouse("mouseMoved", way)
        await self.mouse("mouseReleased", end)

    async def tap(self, start, end):
        for square in (start, end):
            await self.click(f'[data-square="{square}"]')

    async def write(self, san):
        await self.click("#san")
        await self.ask("Input.insertText", text=san)
        await self.press("Enter", "\r")

    async def name_of(self, square):
        return await self.evaluate(
            f"document.querySelector('[data-square=\"{square}\"]').ariaLabel"
        )

    async def wait_for_piece(self, square, piece):
        await self.wait_for(
            f"document.querySelector('[data-square=\"{square}\"]').ariaLabel"
            f".startsWith('{square}, {piece}')"
        )

    async def wait_for_text(self, part, text):
        await self.wait_for(
            f"document.getElementById('{part}')?.textContent.includes({json.dumps(text)})"
        )

    async def my_move(self):
        await self.wait_for_text("status", "Your move")


def call(node, method, **request):
    body = json.dumps(request).encode()
    url = f"http://{node.listen}/corolane.services.chess.Chess/{method}"
    header = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body, header), timeout=PATIENCE) as it:
        return json.load(it)


@harness.needs("chromium")
class ChessPageTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        folder = tempfile.TemporaryDirectory(prefix="corolane-chess-page-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.node = harness.ChessNode(
            *(CHESS_NODE, self.folder),
            *("--set", "node.clients.http=on", "--set", f"node.clients.files={PAGE}"),
            errors=subprocess.DEVNULL,
        )
        self.addCleanup(self.node.stop)
        self.people = []

    async def person(self, name, address=None, path=""):
        folder = f"{self.folder}/{len(self.people)}"
        os.mkdir(folder)
        person = Person(folder)
        await person.open()
        self.addAsyncCleanup(person.close)
        self.people.append(person)
        await person.look(DESK, scheme="light")
        await person.enter(address or self.node.listen, name, path)
        return person

    def check_no_errors(self, allowed="$^"):
        for person in self.people:
            wrong = [it for it in person.errors if not re.search(allowed, json.dumps(it))]
            self.assertEqual(wrong, [])

    async def check_fits(self, person, device):
        """A game needs no scrolling."""
        await person.look(device, scheme="light")
        size = await person.evaluate(
            "(root => [root.scrollWidth - innerWidth, root.scrollHeight - innerHeight])"
            "(document.documentElement)"
        )
        self.assertLessEqual(max(size), 0, device)
        hidden = await person.evaluate(
            "[...document.querySelectorAll('#game button, #game input, .square, .clock')]"
            ".filter(it => it.offsetParent)"
            ".map(it => [it.outerHTML, it.getBoundingClientRect()])"
            ".filter(([, box]) => box.bottom > innerHeight || box.right > innerWidth)"
        )
        self.assertEqual(hidden, [], device)

    async def take_pictures(self, person, name):
        for where, device in (("phone", PHONE), ("desktop", DESK)):
            for scheme in ("light", "dark"):
                await person.look(device, scheme=scheme)
                await asyncio.sleep(0.3)
                shot = f"chess-{name}-{where}-{scheme}"
                await person.screenshot(SCREENSHOTS, shot)
                self.assertGreater(os.path.getsize(f"{SCREENSHOTS}/{shot}.png"), 10_000)
        await person.look(DESK, scheme="light")

    async def test_two_people_play_to_mate_and_a_third_watches(self):
        line = Line(self.node.listen)
        address = await line.open()
        self.addAsyncCleanup(line.close)
        anna = await self.person("Anna")
        ben = await self.person("Ben", address)
        eva = await self.person("Eva")
        await anna.click("#seek")
        await anna.wait_for("!document.getElementById('seeking').hidden")
        await ben.click("#seek")
        await anna.my_move()
        await ben.wait_for_text("status", "Anna thinks")
        self.assertEqual(await anna.name_of("e2"), "e2, white pawn")
        self.assertEqual(await anna.name_of("e4"), "e4")
        self.assertEqual(await ben.name_of("g8"), "g8, black knight")
        first = "document.querySelector('.square').dataset.square"
        self.assertEqual(await anna.evaluate(first), "a8")
        self.assertEqual(await ben.evaluate(first), "h1")

        await eva.wait_for("document.querySelector('.players')?.textContent === 'Anna – Ben'")
        await eva.click("#games a")
        await eva.wait_for_text("status", "Anna thinks")

        await anna.drag("e2", "e4")
        await ben.my_move()
        self.assertEqual(await ben.name_of("e4"), "e4, white pawn")
        await ben.wait_for_text("live", "White: pawn e4. Your move.")
        await ben.click('[data-square="e7"]')
        self.assertEqual(await ben.name_of("e5"), "e5, possible move")
        await ben.click('[data-square="e5"]')
        await anna.my_move()
        await anna.tap("f1", "c4")
        await ben.my_move()

        line.cut()
        await ben.wait_for_text("banner", "Offline")
        await ben.write("nc6")
        await ben.wait_for_text("status", "Anna thinks")
        line.mend()
        await anna.my_move()
        self.assertEqual(await anna.name_of("c6"), "c6, black knight")
        await ben.wait_for("document.getElementById('banner').textContent === ''")
        # A piece is drawn without the server.
        drawn = "document.querySelector('[data-square=\"c6\"] svg').getBBox().width > 0"
        self.assertTrue(await ben.evaluate(drawn))

        # By keys alone: from the bishop on c4, where the focus is, to the queen, and to h5.
        await anna.evaluate("document.querySelector('[data-square=\"c4\"]').focus()")
        for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
            await anna.press(key)
        for key in ("ArrowUp",) * 4 + ("ArrowRight",) * 4 + ("Enter",):
            await anna.press(key)
        await ben.my_move()
        self.assertEqual(await ben.name_of("h5"), "h5, white queen")
        await ben.click('[data-square="g8"]')
        await self.take_pictures(ben, "game")
        for device in (PHONE, SMALL, LANDSCAPE, DESK):
            await self.check_fits(ben, device)
        await ben.look(DESK, scheme="light")
        await ben.drag("g8", "f6")
        await anna.my_move()
        await anna.write("Qxf7#")
        for person in self.people:
            await person.wait_for_text("status", "Checkmate. White wins.")
        await ben.wait_for_text("live", "White: queen takes f7, checkmate. Checkmate. White wins.")
        moves = "document.getElementById('moves').innerText.replace(/\\s+/g, ' ').trim()"
        for person in self.people:
            self.assertEqual(await person.evaluate(moves), "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7#")
        await anna.click("#again")
        await anna.wait_for_text("rating", "1 game")
        self.check_no_errors(allowed="WebSocket connection to|ERR_CONNECTION|ERR_EMPTY_RESPONSE")

    async def test_friends_play_by_a_link_and_a_reload_keeps_the_seat(self):
        anna = await self.person("Anna")
        await anna.click("#friend")
        link = await anna.wait_for("document.getElementById('link').value")
        await anna.wait_for_text("status", "Waiting for your friend")
        for device in (PHONE, SMALL):
            await self.check_fits(anna, device)
        await anna.look(DESK, scheme="light")
        ben = await self.person("Ben", path=link.split("/")[-1])
        await ben.wait_for_text("free-text", "Anna waits for an opponent.")
        await ben.click("#take")
        await ben.wait_for("document.getElementById('free').hidden")
        await anna.wait_for("document.getElementById('invite').hidden")
        seats = [anna, ben]
        if (await ben.evaluate("document.getElementById('status').textContent")) == "Your move":
            seats.reverse()
        white, black = seats
        await white.my_move()
        await white.ask("Page.reload")
        await white.my_move()
        for number, san in enumerate("a4 b5 axb5 a6 bxa6 Bb7 axb7 h6".split()):
            player = seats[number % 2]
            await player.my_move()
            await player.write(san)
        await white.my_move()
        await white.drag("b7", "a8")
        await white.click("#promotion button[value=n]")
        await black.wait_for_piece("a8", "white knight")
        await black.click("#draw")
        await white.wait_for_text("status", "offers a draw")
        await white.wait_for_text("draw", "Accept draw")
        await black.write("h5")
        await white.wait_for_piece("h5", "black pawn")
        await white.write("Nb6")
        await black.my_move()
        await white.wait_for_text("draw", "Offer draw")
        await white.click("#resign")
        await white.click("#confirm [value=yes]")
        for person in seats:
            await person.wait_for_text("status", "White resigns. Black wins.")
        self.check_no_errors()

    async def test_the_lobby_shows_games_as_they_go_on(self):
        eva = await self.person("Eva")
        await eva.wait_for("!document.getElementById('no-games').hidden")
        late = []
        for number, ((white, black), moves) in enumerate(OPENINGS.items()):
            game = f"table {number}"
            tokens = [
                call(self.node, "Join", game=game, seat=seat, player=player)["token"]
                for seat, player in (("WHITE", white), ("BLACK", black))
            ]
            for ply, san in enumerate(moves.split()):
                move = {"game": game, "token": tokens[ply % 2], "san": san}
                if ply + 1 < len(moves.split()):
                    call(self.node, "Move", **move)
                else:
                    late.append(move)
        await asyncio.sleep(2.2)  # A game tells of itself every two seconds at most.
        for move in late:
            call(self.node, "Move", **move)
        await eva.wait_for("document.querySelectorAll('#games li').length === 6")
        await eva.wait_for("document.querySelector('#games').innerText.includes('Move 9')")
        await self.take_pictures(eva, "lobby")
        self.check_no_errors()


if __name__ == "__main__":
    CHESS_NODE, SCREENSHOTS = sys.argv[1:3]
    os.makedirs(SCREENSHOTS, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
