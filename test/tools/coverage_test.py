#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/coverage adds up what gcovr has counted, and fails for a module that is below the bar."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

COVERAGE = Path(__file__).resolve().parents[2] / "tools/coverage"


class CoverageTest(unittest.TestCase):
    def run_tool(self, files, *options):
        with tempfile.TemporaryDirectory() as folder:
            summary = Path(folder, "summary.json")
            rows = [
                {"filename": name, "line_covered": covered, "line_total": total}
                for name, covered, total in files
            ]
            summary.write_text(json.dumps({"files": rows}))
            return subprocess.run(
                [COVERAGE, "--summary", summary, *options],
                capture_output=True,
                text=True,
                check=False,
            )

    def test_details_count_for_their_room_and_rooms_for_their_module(self):
        files = [("net/uv/event_loop.cc", 9, 10), ("net/uv/detail/resolve.cc", 0, 10)]
        process = self.run_tool([*files, ("net/stream.h", 20, 20)], "--min", "50")
        self.assertEqual(process.returncode, 0, process.stderr)
        rows = [line.split() for line in process.stdout.splitlines()]
        self.assertIn(["net", "40", "72.5%"], rows)
        self.assertIn(["net/uv", "20", "45.0%"], rows)

    def test_a_module_below_the_bar_is_named(self):
        files = [("net/stream.h", 84, 100), ("rpc/service.h", 85, 100)]
        process = self.run_tool(files)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(process.stdout.endswith("below 85 %: net\n"), process.stdout)

    def test_a_summary_without_lines_is_no_result(self):
        process = self.run_tool([("net/stream.h", 0, 0)])
        self.assertEqual(process.returncode, 2)
        self.assertIn("has counted no line", process.stderr)

    def test_a_build_that_is_missing_says_how_to_make_it(self):
        process = subprocess.run(
            [COVERAGE, "--build", "build/nowhere"], capture_output=True, text=True, check=False
        )
        self.assertEqual(process.returncode, 2)
        self.assertIn("tools/test --full makes it", process.stderr)


if __name__ == "__main__":
    unittest.main()
