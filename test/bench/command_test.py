#!/usr/bin/env python3
"""The benchmark as its user meets it: what it prints and how it refuses nonsense.

Called with the path of coroutine_bench. Says nothing about how fast anything is.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COROUTINE_BENCH = "coroutine_bench"
TOOLS_BENCH = Path(__file__).resolve().parents[2] / "tools/bench"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def bench(*options):
    return run(COROUTINE_BENCH, *options)


class CoroutineBenchTest(unittest.TestCase):
    def test_json_has_the_promised_shape(self):
        process = bench("--quick", "--rows", "^yield/1$", "--peers", "none", "--json")
        self.assertEqual(process.returncode, 0, process.stderr)
        (row,) = json.loads(process.stdout)["rows"]
        self.assertEqual(row["name"], "yield/1")
        self.assertEqual(row["unit"], "ns")
        self.assertEqual(row["peers"], {})
        for key in ("ours", "limit", "ratio"):
            self.assertGreater(row[key], 0)
        self.assertEqual(row["rounds"], 3)
        self.assertEqual(row["holds"], row["ratio"] <= row["bar"])

    def test_peers_are_measured_by_name(self):
        process = bench("--quick", "--rounds=1", "--rows=^yield/1$", "--peers=cpp20", "--json")
        (row,) = json.loads(process.stdout)["rows"]
        self.assertEqual(list(row["peers"]), ["cpp20"])

    def test_a_program_takes_part_with_the_rows_that_it_names(self):
        with tempfile.TemporaryDirectory() as folder:
            peer = Path(folder, "go_peer")
            answer = 'if [ "$1" = --rows ]; then echo yield/1; else echo 12.5; fi'
            peer.write_text(f"#!/bin/sh\n{answer}\n")
            peer.chmod(0o755)
            options = ("--rounds=1", "--rows=^(yield/1|pingpong)$", "--peers=go", "--json")
            process = bench("--quick", *options, "--go-peer", peer)
        rows = {row["name"]: row for row in json.loads(process.stdout)["rows"]}
        self.assertEqual(rows["yield/1"]["peers"], {"go": 12.5})
        self.assertEqual(rows["pingpong"]["peers"], {})

    def test_tables_and_progress_go_different_ways_and_a_chart_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            chart = Path(folder, "chart.svg")
            options = ("--rounds=1", "--rows=^yield/1$", "--peers=none", "--plot", chart)
            process = bench("--quick", *options)
            self.assertTrue(chart.read_text().startswith("<svg "))
        self.assertRegex(process.stdout, r"\nyield/1 +ns +[\d.]+ ")
        self.assertTrue(process.stderr.startswith("[1/1] yield/1: "))

    def test_a_missed_bar_is_a_failure_only_when_that_is_asked_for(self):
        # Memory repeats exactly, so that the verdict is the same in both runs.
        options = ("--quick", "--rounds=1", "--rows=^memory/30000$", "--peers=none")
        plain = bench(*options, "--json")
        checked = bench(*options, "--check")
        holds = json.loads(plain.stdout)["rows"][0]["holds"]
        self.assertEqual((plain.returncode, checked.returncode), (0, 0 if holds else 1))

    def test_rows_that_do_not_exist_are_answered_with_those_that_do(self):
        process = bench("--rows", "yeild")
        self.assertEqual(process.returncode, 2)
        self.assertIn('--rows "yeild" matches none of the rows:\n  yield/1\n', process.stderr)

    def test_nonsense_is_refused_with_what_to_type(self):
        for options, words in (
            (("--rows", "yield("), '--rows "yield(" is no regular expression: '),
            (("--rounds", "many"), '--rounds takes a number from 1 to 1000, not "many"'),
            (("--rounds", "0"), '--rounds takes a number from 1 to 1000, not "0"'),
            (("--peers", "go,jav"), '--peers: no peer "jav"; there are none or fcontext,'),
            (("--fast",), 'unknown option "--fast"'),
            (("fast",), 'unknown word "fast"'),
        ):
            with self.subTest(options=options):
                process = bench(*options)
                self.assertEqual(process.returncode, 2)
                self.assertIn(words, process.stderr)
                self.assertIn("see tools/bench --help", process.stderr)
                self.assertEqual(process.stdout, "")


class ToolsBenchTest(unittest.TestCase):
    """Before anything is installed or built."""

    def test_help_names_every_option(self):
        process = run(TOOLS_BENCH, "--help")
        self.assertEqual(process.returncode, 0)
        for option in ("--rows", "--rounds", "--quick", "--json", "--plot", "--peers", "--check"):
            self.assertIn(f"  {option} ", process.stdout)

    def test_nonsense_is_refused_with_what_to_type(self):
        for arguments, words in (
            ((), "say what to measure: tools/bench coroutine"),
            (("corutine",), "nothing to measure is called 'corutine'; type tools/bench coroutine"),
            (("coroutine", "--fast"), "unknown argument '--fast'"),
            (("coroutine", "--rows"), "--rows needs a value"),
        ):
            with self.subTest(arguments=arguments):
                process = run(TOOLS_BENCH, *arguments)
                self.assertEqual(process.returncode, 2)
                self.assertIn(words, process.stderr)
                self.assertIn("see tools/bench --help", process.stderr)


if __name__ == "__main__":
    COROUTINE_BENCH = sys.argv.pop(1)
    unittest.main()
