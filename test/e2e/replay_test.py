#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A chess node that is recorded and replayed: node.record and corolane replay, as users meet them.

Called from the root of the tree with the paths of chess_node, bots and, if built, corolane.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import harness

CHESS_NODE = "chess_node"
BOTS = "bots"
COROLANE = ""  # Without it the node replays by itself.
GAME_COUNT = 15


class RecordedNode(harness.ChessNode):
    """A node in a folder with its objects and its recording."""

    def __init__(self, folder, *options):
        self.recording = f"{folder}/chess.recording"
        super().__init__(
            CHESS_NODE,
            folder,
            *("--set", "node.shards=1", "--set", f"node.record.file={self.recording}"),
            *options,
        )

    def play(self, folder):
        played = self.bots(BOTS, "--games", harness.some_games(folder, GAME_COUNT))
        if played.returncode != 0:
            raise AssertionError(played.stdout + played.stderr)


def replay(*words):
    command = [COROLANE, "replay"] if COROLANE else [CHESS_NODE, "--replay"]
    return subprocess.run(
        [*command, *words], capture_output=True, text=True, check=False, timeout=300
    )


class ReplayTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="corolane-replay-")
        self.addCleanup(self.folder.cleanup)

    def test_a_node_that_was_recorded_does_the_same_again(self):
        node = RecordedNode(self.folder.name)
        node.play(self.folder.name)
        for page in ("stats", "tasks", "tasks/stacks", "metrics", "objects", "sites"):
            node.page(page)
        status, log = node.stop()
        self.assertEqual(status, 0, log)
        recorded = re.search(r"recorded .* turns=(\d+) arrivals=(\d+) hash=([0-9a-f]{16})", log)
        self.assertIsNotNone(recorded, log)
        # A replay does not need the store.
        os.remove(f"{self.folder.name}/objects.db")
        for _ in range(2):
            again = replay(node.recording, "--trace", f"{self.folder.name}/trace.txt")
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
            turns, arrivals, trace_hash = recorded.groups()
            self.assertRegex(
                again.stdout,
                f"replayed {turns} turns with {arrivals} arrivals, .* s of the node's time, "
                f"in .* s: the same trace, hash {trace_hash}\n$",
            )
        self.assertFalse(os.path.exists(f"{self.folder.name}/objects.db"))
        with open(f"{self.folder.name}/trace.txt", encoding="utf-8") as file:
            trace = file.read()
        for part in ("asks call", "store { seal {", "store { write {", "gets accepted", "signal {"):
            self.assertIn(part, trace)

    def test_a_killed_node_is_recorded_up_to_its_end(self):
        node = RecordedNode(self.folder.name)
        node.play(self.folder.name)
        node.stop(signal.SIGKILL)
        again = replay(node.recording)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("the recording breaks off there", again.stdout)
        self.assertIn("the same trace", again.stdout)

    def test_a_recording_that_is_full_holds_its_beginning(self):
        node = RecordedNode(self.folder.name, "--set", "node.record.size_max=1MiB")
        # The recording holds less than half of these requests.
        for _ in range(300):
            node.page("metrics?" + "x" * 4000)
        status, log = node.stop()
        self.assertEqual(status, 0, log)
        self.assertIn("the recording is full; the node continues without it", log)
        self.assertLessEqual(os.path.getsize(node.recording), 1 << 20)
        again = replay(node.recording)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn("the recording ends there: the file is full", again.stdout)

    def test_a_changed_recording_is_reported_as_different(self):
        node = RecordedNode(self.folder.name)
        self.assertEqual(node.stats()["node"]["name"], "node")
        node.stop()
        with open(node.recording, "rb") as file:
            recorded = file.read()
        # The changed recording asks for another page.
        self.assertEqual(recorded.count(b"GET /stats "), 1)
        with open(node.recording, "wb") as file:
            file.write(recorded.replace(b"GET /stats ", b"GET /tasks "))
        again = replay(node.recording)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertRegex(again.stdout, "the replay differs in turn [1-9]")

    def test_a_node_that_cannot_be_replayed_is_not_recorded(self):
        for setting, advice in (
            ("node.shards=2", "set node.shards to 1"),
            ("node.clients.tls.certificate_file=x.pem", "terminate TLS in front of the node"),
        ):
            refused = subprocess.run(
                [
                    CHESS_NODE,
                    *("--set", "node.shards=1"),
                    *("--set", f"node.record.file={self.folder.name}/recording"),
                    *("--set", setting),
                ],
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            self.assertEqual(refused.returncode, 2)
            self.assertIn(advice, refused.stderr)

    def test_another_program_can_replay_it(self):
        if not COROLANE:
            self.skipTest("corolane is not built with a sanitizer")
        node = RecordedNode(self.folder.name)
        node.stop()
        with open(node.recording, "rb") as file:
            recorded = file.read()
        path = os.path.realpath(CHESS_NODE).encode()
        self.assertIn(path, recorded.partition(b"\n")[0])
        # On another machine the program is elsewhere.
        with open(node.recording, "wb") as file:
            file.write(recorded.replace(path, b"/nowhere/chess_node", 1))
        missing = replay(node.recording)
        self.assertEqual(missing.returncode, 2)
        hint = "/nowhere/chess_node is missing; give its path with --program"
        self.assertIn(hint, missing.stderr)
        again = replay(node.recording, "--program", CHESS_NODE)
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_wrong_usage_says_what_to_do(self):
        if not COROLANE:
            self.skipTest("corolane is not built with a sanitizer")
        for words, advice in (
            ((), "needs the FILE of a recording; see corolane help replay"),
            (("--trace",), "--trace needs a value"),
            (("no/such/file",), "no/such/file cannot be read"),
            (("README.md",), "README.md is not a recording of a node (node.record.file)"),
            (("a", "b"), "replays one recording at a time"),
            (("--speed", "2"), 'unknown option "--speed"'),
        ):
            wrong = replay(*words)
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
            self.assertIn(advice, wrong.stderr)


if __name__ == "__main__":
    CHESS_NODE, BOTS = sys.argv[1:3]
    COROLANE = "".join(sys.argv[3:])
    unittest.main(argv=sys.argv[:1])
