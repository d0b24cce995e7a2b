#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corolane simulate as a user meets it: a correct program passes, a planted bug is found, made
smaller and replayed.

Called with the paths of corolane and of purse_test, which has the simulated tests.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COROLANE = "corolane"
PURSE_TEST = "purse_test"


class SimulateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="corolane-simulate-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def simulate(self, *words, fails=True):
        environment = {**os.environ, **({"SIMULATED_TEST_FAILS": "1"} if fails else {})}
        return subprocess.run(
            [COROLANE, "simulate", *words], capture_output=True, text=True, check=False,
            timeout=500, cwd=self.folder, env=environment,
        )  # fmt: skip

    def test_a_correct_program_passes_with_crashes_at_each_step(self):
        ran = self.simulate(PURSE_TEST, "--test", "PurseTest.*", "--seeds", "1..24")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("PurseTest.GoldIsConserved\n24 seeds, 0 failed; 1 run twice", ran.stdout)
        hit = re.search(r"nodes crashed at (\d+) of the (\d+) usual moments of marked", ran.stdout)
        self.assertGreaterEqual(int(hit[1]), 5)

    def test_a_lost_write_between_two_steps_is_found_shrunk_and_replayed(self):
        ran = self.simulate(PURSE_TEST, "--test", "BrokenTest.AGiftIsForgotten", "--seeds=1..200")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        failed = re.search(r"^seed (\d+) fails: gold is conserved: ", ran.stdout, re.MULTILINE)
        self.assertTrue(failed, ran.stdout)
        commands = re.findall(r"^  (corolane simulate .*)$", ran.stdout, re.MULTILINE)
        self.assertEqual(len(commands), 2, ran.stdout)
        given, smallest = ([*shlex.split(command)[2:]] for command in commands)
        faults = [words[words.index("--faults") + 1].split(",") for words in (given, smallest)]
        self.assertGreater(len(faults[0]), 20)
        self.assertLess(len(faults[1]), len(faults[0]) / 2)
        hash_of = re.search(r"^hash [0-9a-f]{16}, .* simulated seconds$", ran.stdout, re.MULTILINE)
        self.assertIn(" violated ", (self.folder / f"seed-{failed[1]}.trace").read_text())
        self.assertTrue((self.folder / f"seed-{failed[1]}.trace.json").exists())

        again = self.simulate(*smallest)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn(hash_of[0], again.stdout)
        self.assertIn("gold is conserved: ", again.stdout)
        self.assertNotIn("differs", again.stdout)
        first, second = (
            (self.folder / name).read_text() for name in (f"seed-{failed[1]}.trace", "trace.txt")
        )
        self.assertEqual(first, second)

    def test_the_first_seed_whose_expectation_fails_is_named(self):
        ran = self.simulate(PURSE_TEST, "--test", "BrokenTest.AnExpectationFails", "--jobs", "4")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"seed 3 fails: purse_test.cc line \d+: .*")
        self.assertIn("the third seed", ran.stdout)

    def test_a_crash_of_the_program_fails_its_seed_alone(self):
        words = (PURSE_TEST, "--test", "BrokenTest.TheProgramCrashes", "--seeds", "1..12")
        ran = self.simulate(*words, "--keep-going")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("seed 5 fails: the process died by signal 6 (Aborted)", ran.stdout)
        self.assertIn("12 seeds, 1 failed; ", ran.stdout)

    def test_a_run_that_does_not_follow_from_its_seed_is_reported(self):
        ran = self.simulate(
            *(PURSE_TEST, "--test", "BrokenTest.ARun*", "--seeds", "7", "--trace", "t")
        )
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("its second run differs, first at event ", ran.stdout)
        ran = self.simulate(PURSE_TEST, "--test", "BrokenTest.ARun*", "--seeds", "10..20")
        self.assertIn("seed 19 fails: the second run of the seed differs", ran.stdout)

    def test_all_tests_of_a_program_run(self):
        ran = self.simulate(PURSE_TEST, "--seeds", "1..2", "--seconds", "8", fails=False)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(ran.stdout.count("2 seeds, 0 failed"), 5)

    def test_wrong_usage_is_named(self):
        for words, message in (
            ((), "needs the PROGRAM of the tests; see corolane help simulate"),
            (
                (PURSE_TEST, "--seeds", "9..3"),
                '--seeds must be of the form 1..200 or 7, not "9..3"',
            ),
            ((PURSE_TEST, "--faults", "rain"), '"rain" is neither a file NAME.yaml, nor a folder'),
            ((PURSE_TEST, "--test", "No.*"), "no simulated test No.*; it has PurseTest.Gold"),
            (("./nowhere",), '"./nowhere" cannot be started: No such file or directory'),
            (("/bin/true",), "/bin/true has no simulated test: declare one by SIMULATED_TEST"),
        ):
            with self.subTest(words=words):
                ran = self.simulate(*words)
                self.assertIn(message, ran.stderr)
                self.assertEqual(ran.returncode, 2)


if __name__ == "__main__":
    COROLANE, PURSE_TEST = (str(Path(path).resolve()) for path in sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
