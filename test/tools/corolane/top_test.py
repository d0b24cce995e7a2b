#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corolane top in a terminal, with keys, against a node that plays chess: the contents of the
screen, and whether the terminal is restored afterwards.

Called with the paths of the command, of chess_node and of bots, from the root of the tree. It waits
for what it expects to see, for at most PATIENCE seconds.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))

import harness  # pylint: disable=wrong-import-position

COROLANE = "corolane"
CHESS_NODE = "chess_node"
BOTS = "bots"
PATIENCE = 60


class Load:
    """A node, and bots that play on it until stop()."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        # Bots with --history call the games directly.
        self.node = harness.ChessNode(
            *(CHESS_NODE, self.folder.name, "--set", "node.clients.public_methods_only=false"),
            errors=subprocess.DEVNULL,
        )
        self.admin = self.node.admin
        self.bots = subprocess.Popen(
            [
                BOTS,
                *("--server", self.node.listen, "--history", f"{self.folder.name}/history"),
                *("--at-once", "20", "--seconds", "600", "--think", "20"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self):
        self.bots.kill()
        self.bots.wait()
        self.node.stop()
        self.folder.cleanup()


class Terminal:
    """A terminal with `corolane top` in it; understands the few sequences that it writes."""

    def __init__(self, *words, width=120, height=30, **environment):
        self.control, self.side = pty.openpty()
        self.resize(width, height)
        self.before = termios.tcgetattr(self.side)
        self.bytes = b""
        self.process = subprocess.Popen(
            [COROLANE, "top", *words],
            stdin=self.side,
            stdout=self.side,
            stderr=self.side,
            start_new_session=True,
            env={**os.environ, **environment},
        )

    def resize(self, width, height):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def press(self, keys):
        os.write(self.control, keys.encode())

    def read(self, seconds):
        """Reads output for at most that time; returns whether there was any."""
        if not select.select([self.control], [], [], seconds)[0]:
            return False
        self.bytes += os.read(self.control, 65536)
        return True

    def screen(self):
        """The last complete frame, without colors."""
        frames = self.bytes.split(b"\x1b[H")[1:]
        complete = [frame for frame in frames if b"\x1b[J" in frame]
        text = complete[-1].split(b"\x1b[J")[0].decode() if complete else ""
        return [re.sub(r"\x1b\[[0-9]*[mK]", "", line).rstrip() for line in text.split("\n")]

    def wait_for(self, is_there):
        """Waits until the screen matches a pattern, or satisfies a function of its lines."""
        pattern = is_there
        if isinstance(pattern, str):
            def is_there(lines):
                return re.search(pattern, "\n".join(lines), re.MULTILINE)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = is_there(self.screen())
            if found:
                return found
            self.read(1)
        raise AssertionError(f"{pattern} is not on the screen:\n" + "\n".join(self.screen()))

    def end(self):
        """Reads all output until the process ends; returns its exit status."""
        limit = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < limit:
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.returncode

    def is_restored(self):
        leaves = self.bytes.endswith(b"\x1b[0m\x1b[?25h\x1b[?1049l")
        return leaves and termios.tcgetattr(self.side) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.control)
        os.close(self.side)


class TopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.load = Load()

    @classmethod
    def tearDownClass(cls):
        cls.load.stop()

    def open(self, *words, **options):
        terminal = Terminal(self.load.admin, "--interval", "200ms", *words, **options)
        self.addCleanup(terminal.close)
        return terminal

    def test_the_figures_are_those_of_a_node_under_load(self):
        terminal = self.open()
        terminal.wait_for(r"^node  \d+\.\d+\.\d+  pid \d+  up ")
        terminal.wait_for(r"^switches +[1-9]\S*/s  p50 \d")
        terminal.wait_for(r"^calls +[1-9]\S*/s  p50 \d.* running [1-9]")
        terminal.wait_for(r"^calls .* errors \S+/s  refusals \S+/s$")
        terminal.wait_for(r"^loops +0 \[.* control \[")

    def test_calls_of_objects_are_counted_beside_those_over_the_wire(self):
        terminal = self.open()
        for row in ("Move", "Move over the wire"):
            terminal.wait_for(rf"^[> ] +[1-9]\S* .*  corolane\.services\.chess\.Game/{row}$")
        terminal.wait_for(r"^objects +\d.* calls [1-9]\S*/s  errors ")
        # Idle methods are below the others.
        lines = terminal.wait_for(lambda lines: self.rates(lines)[-1:] == ["0"] and lines)
        rates = self.rates(lines)
        self.assertNotEqual(rates[0], "0")
        self.assertNotIn("0", rates[: rates.index("0")])

    @staticmethod
    def rates(lines):
        """The first column of the methods that are called, and a zero for each idle one."""
        matches = (re.match(r"[> ] +(\S+) .*  \S+/\w+( over the wire)?$", line) for line in lines)
        return [found[1] for found in matches if found]

    def test_keys_open_a_task_with_its_stack(self):
        terminal = self.open()
        terminal.wait_for("CALLS/S")
        terminal.press("t")
        # The control thread is numbered after the two shards.
        terminal.wait_for(r"^> 2\.1 .* main +framework/run")
        terminal.press("\x1b[B")
        terminal.wait_for(r"^  2\.1 .* main ")
        terminal.wait_for("^> ")
        terminal.press("k\r")
        terminal.wait_for(r"^task 2\.1  main$")
        terminal.wait_for(r"^at corolane::coroutine::\S+ \(coroutine/")
        terminal.press("q")
        terminal.wait_for(r"^> 2\.1 .* main ")

    def test_keys_sort_and_reverse(self):
        terminal = self.open()
        terminal.press("t")
        terminal.wait_for(r"a\*AGE")
        terminal.press("i")
        terminal.wait_for(r"i\*ID")
        terminal.wait_for(lambda lines: self.ids(lines) == sorted(self.ids(lines)))
        terminal.press("r")
        terminal.wait_for(
            lambda lines: len(self.ids(lines)) > 5
            and self.ids(lines) == sorted(self.ids(lines), reverse=True)
        )

    @staticmethod
    def ids(lines):
        matches = (re.match(r"[> ] (\d[\d.]*) ", line) for line in lines)
        return [found[1] for found in matches if found]

    def test_stacks_are_grouped_and_open(self):
        terminal = self.open()
        terminal.press("s")
        terminal.wait_for(r"^> +\d+ .*suspended.* corolane::")
        terminal.press("\r")
        terminal.wait_for(r"^\d+ tasks  suspended, wait for ")
        terminal.wait_for(r"^at corolane::")

    def test_a_key_shows_the_help(self):
        terminal = self.open()
        terminal.wait_for("q quit$")
        terminal.press("h")
        terminal.wait_for("any key closes it")
        terminal.press("h")
        terminal.wait_for("q quit$")

    def test_it_adapts_to_a_new_size_of_the_terminal(self):
        terminal = self.open(width=120, height=30)
        terminal.wait_for(lambda lines: len(lines) == 30)
        terminal.resize(60, 12)
        terminal.process.send_signal(signal.SIGWINCH)
        lines = terminal.wait_for(lambda lines: len(lines) == 12 and lines)
        self.assertLessEqual(max(len(line) for line in lines), 60)

    def test_without_colors_there_are_none(self):
        terminal = self.open(NO_COLOR="1")
        terminal.wait_for("CALLS/S")
        terminal.press("q")
        terminal.end()
        self.assertNotRegex(terminal.bytes.split(b"\x1b[0m\x1b[?25h")[0], rb"\x1b\[\d*m")

    def test_q_and_control_c_leave_the_terminal_as_it_was(self):
        for key in ("q", "\x03"):
            terminal = self.open()
            terminal.wait_for("CALLS/S")
            terminal.press(key)
            self.assertEqual(terminal.end(), 0)
            self.assertTrue(terminal.is_restored(), terminal.bytes[-100:])

    def test_signals_leave_the_terminal_as_it_was(self):
        for number, status in (
            (signal.SIGTERM, 0),
            (signal.SIGHUP, 0),
            (signal.SIGABRT, -signal.SIGABRT),
            (signal.SIGSEGV, -signal.SIGSEGV),
        ):
            terminal = self.open()
            terminal.wait_for("CALLS/S")
            terminal.process.send_signal(number)
            self.assertEqual(terminal.end(), status)
            self.assertTrue(terminal.is_restored(), (number, terminal.bytes[-100:]))

    def test_without_a_terminal_one_frame_is_printed(self):
        for words in ([], ["--once"]):
            process = subprocess.run(
                [COROLANE, "top", self.load.admin, "--interval", "500ms", *words],
                capture_output=True, text=True, check=True, timeout=PATIENCE,
            )
            self.assertNotIn("\x1b", process.stdout)
            self.assertRegex(process.stdout, r"\nswitches +[1-9]\S*/s")
            self.assertRegex(process.stdout, r"\n  a\*CALLS/S ")

    def test_json_is_a_line_for_each_interval(self):
        process = subprocess.Popen(
            [COROLANE, "top", self.load.admin, "--interval", "100ms", "--json"],
            stdout=subprocess.PIPE, text=True,
        )
        frames = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.terminate()
        process.communicate()
        self.assertGreater(sum(frame["switches_per_second"] for frame in frames), 0)
        self.assertEqual(len({frame["pid"] for frame in frames}), 1)
        self.assertLess(frames[0]["uptime_seconds"], frames[2]["uptime_seconds"])

    def test_a_too_short_interval_is_refused(self):
        process = subprocess.run(
            [COROLANE, "top", self.load.admin, "--interval", "1ms"],
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )
        self.assertEqual(
            process.stderr, "corolane top: --interval is at least 100ms; see corolane help top\n"
        )
        self.assertEqual(process.returncode, 2)


class Cluster:
    """A door to the admin pages of a node, with a page about a cluster of two nodes: that one, and
    one that does not answer.
    """

    def __init__(self, admin):
        members = [
            {
                **{"name": "chess-a", "state": "serving", "version": "1.2.3", "admin": admin},
                **{"calls_per_second": 1234.5, "objects": 17},
            },
            {"name": "chess-b", "state": "not answering", "note": "unavailable: no route to it"},
        ]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # pylint: disable=invalid-name
                if self.path.startswith("/cluster?"):
                    body = json.dumps({"members": members}).encode()
                else:
                    with urllib.request.urlopen(f"http://{admin}{self.path}") as answer:
                        body = answer.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format, *arguments):  # pylint: disable=redefined-builtin
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A command that quits does not wait for its last page.
        self.server.handle_error = lambda request, client_address: None
        self.admin = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.load = Load()
        cls.cluster = Cluster(cls.load.admin)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        cls.load.stop()

    def open(self, *words):
        terminal = Terminal(self.cluster.admin, "--interval", "200ms", *words, width=140)
        self.addCleanup(terminal.close)
        return terminal

    def test_each_node_is_a_row(self):
        terminal = self.open()
        terminal.wait_for(r"CALLS/S")
        terminal.press("c")
        terminal.wait_for(r"^> chess-a  serving +1\.2\.3 +1\.23k ")
        terminal.wait_for(r"^  chess-b  does not answer ")
        terminal.wait_for(r"^nodes +2  1 without an answer$")

    def test_enter_goes_to_a_node_and_c_comes_back(self):
        terminal = self.open("--cluster")
        terminal.wait_for(r"^> chess-a  serving ")
        terminal.press("\r")
        terminal.wait_for(r"  corolane\.services\.chess\.Game/Move$")
        terminal.press("t")
        terminal.wait_for(r"a\*AGE")
        terminal.press("c")
        terminal.wait_for(r"^> chess-a  serving ")

    def test_a_node_that_does_not_answer_opens_with_the_reason(self):
        terminal = self.open("--cluster")
        terminal.wait_for(r"^> chess-a  serving ")
        terminal.press("j")
        terminal.wait_for(r"^> chess-b ")
        terminal.press("\r")
        terminal.wait_for(r"^unavailable: no route to it$")

    def test_it_is_printed_once_and_as_json(self):
        words = [COROLANE, "top", self.cluster.admin, "--cluster", "--once"]
        text = subprocess.run(words, capture_output=True, text=True, check=True, timeout=PATIENCE)
        self.assertRegex(text.stdout, r"\n  chess-b  does not answer ")
        text = subprocess.run(
            [*words, "--json"], capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        members = json.loads(text.stdout)["members"]
        self.assertEqual([member["name"] for member in members], ["chess-a", "chess-b"])
        self.assertEqual(members[0]["calls_per_second"], 1234.5)
        self.assertIsNone(members[1]["calls_per_second"])


class NodeGoneTest(unittest.TestCase):
    def test_the_end_of_the_node_is_reported_and_keys_still_work(self):
        load = Load()
        terminal = Terminal(load.admin, "--interval", "100ms", height=50)
        self.addCleanup(terminal.close)
        terminal.wait_for(r"corolane\.services\.chess\.Game/\w+$")
        load.stop()
        terminal.wait_for(r"^corolane: .*: connection refused: is the node running")
        # The last frame is still shown.
        terminal.wait_for(r"corolane\.services\.chess\.Game/\w+$")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertTrue(terminal.is_restored(), terminal.bytes[-100:])


if __name__ == "__main__":
    COROLANE, CHESS_NODE, BOTS = sys.argv[1:4]
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
