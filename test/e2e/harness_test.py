#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A test that needs a missing program is skipped, and fails with CI=true."""

import os
import unittest
from unittest import mock

import harness


class NeedsTest(unittest.TestCase):
    @staticmethod
    def run_with(program, ci):
        """The result of two tests that need the program, alone and as a class."""
        with mock.patch.dict(os.environ, {"CI": ci}):

            class Alone(unittest.TestCase):
                @harness.needs(program)
                def test_it(self):
                    pass

            @harness.needs(program)
            class Together(unittest.TestCase):
                def test_it(self):
                    pass

        suite = unittest.TestSuite()
        for case in (Alone, Together):
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        result = unittest.TestResult()
        suite.run(result)
        return result

    def test_a_program_that_is_there_changes_nothing(self):
        for ci in ("true", ""):
            result = self.run_with("sh", ci)
            self.assertEqual((result.testsRun, len(result.skipped)), (2, 0))
            self.assertTrue(result.wasSuccessful())

    def test_without_the_program_a_test_is_skipped_with_the_reason(self):
        for ci in ("", "false"):
            result = self.run_with("no-such-program", ci)
            self.assertTrue(result.wasSuccessful())
            self.assertEqual(len(result.skipped), 2)
            for _, reason in result.skipped:
                self.assertIn("no-such-program is missing", reason)

    def test_without_the_program_a_test_fails_where_everything_has_to_be_there(self):
        result = self.run_with("no-such-program", "true")
        self.assertEqual(len(result.skipped), 0)
        broken = result.failures + result.errors
        self.assertEqual(len(broken), 2)
        for _, text in broken:
            self.assertIn("no-such-program is missing; tools/setup --tests installs it", text)


if __name__ == "__main__":
    unittest.main()
