#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/run as its user meets it, with the programs of a build folder.

Called with that folder. main_job_test.py tests a single node.
"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "tools/run"
BUILD = ""
EXPECTED = ROOT / "test/data/chess/expected.csv"
ANY_PORTS = ("--port", "0", "--admin-port", "0")

# With sanitizers, a call costs up to a hundred times as much.
GAMES_AT_ONCE = "5" if os.environ.get("SANITIZERS") else "40"


def commands_that_run():
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield (process / "cmdline").read_text(errors="replace").replace("\0", " ")
        except OSError:  # It has ended meanwhile.
            continue


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # The script keeps its files here, and must leave none behind.
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()

    def start(self, *options, path=""):
        environment = {**os.environ, "TMPDIR": str(self.scratch)}
        environment["PATH"] = path + environment["PATH"]
        return subprocess.Popen(
            [RUN, "--build", BUILD, *ANY_PORTS, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment,
        )

    def run_once(self, *options, **others):
        process = self.start("--once", *options, **others)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    def some_games(self, count):
        """The options to play the first real games, from a file, against their results."""
        games = harness.some_games(self.folder, count)
        return ("--games", games, "--expected", EXPECTED, "--at-once", GAMES_AT_ONCE)

    def assert_nothing_runs(self):
        running = [command for command in commands_that_run() if str(self.scratch) in command]
        self.assertEqual(running, [])

    def assert_nothing_is_left(self):
        self.assert_nothing_runs()
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_three_nodes_share_the_games_and_players(self):
        status, out, err = self.run_once("--nodes", "3", *self.some_games(40))
        self.assertEqual((status, err), (0, ""), out + err)
        self.assertIn("40/40 games ended as expected", out)
        self.assertRegex(out, "the ratings of 6000 players are from .*; their sum is what it was")
        for node in ("node-1", "node-2", "node-3"):
            self.assertRegex(out, rf"\n  {node} +[1-9]\d* \([+-]\d+\.\d %\)\n")
        self.assertIn("objects are spread within 20 % of even", out)
        self.assert_nothing_is_left()

    def test_an_interrupt_at_any_time_stops_every_process(self):
        for options, moment in (
            (("--nodes", "2"), 'node "node-1" serves'),
            (("--nodes", "2"), "at the same time"),
            (("--nodes", "2"), "Still serving"),
            ((), "Still serving"),
        ):
            with self.subTest(options=options, moment=moment):
                process = self.start(*options, *self.some_games(10))
                for line in process.stdout:
                    if moment in line:
                        break
                os.killpg(process.pid, signal.SIGINT)
                process.communicate(timeout=60)
                self.assertIn(process.returncode, (0, 130))
                self.assert_nothing_is_left()

    def test_a_program_that_does_not_start_says_why_and_leaves_its_log(self):
        stand_in = self.folder / "etcd"
        stand_in.write_text("#!/bin/sh\necho 'no etcd today' >&2\nexit 1\n", encoding="utf-8")
        stand_in.chmod(0o755)
        status, _, err = self.run_once("--nodes", "2", path=f"{self.folder}:")
        self.assertEqual(status, 1)
        self.assertRegex(err, "no etcd today\ntools/run: etcd did not start; its log is above\n")
        (kept,) = self.scratch.iterdir()
        self.assertEqual([file.name for file in kept.iterdir()], ["etcd.log"])
        self.assert_nothing_runs()

    def test_a_number_of_nodes_that_makes_no_sense_is_refused(self):
        for count in ("0", "10", "-1", "three"):
            status, _, err = self.run_once("--nodes", count)
            self.assertEqual(status, 2)
            self.assertIn(f'--nodes is a number from 1 to 9, not "{count}"', err)


if __name__ == "__main__":
    BUILD = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
