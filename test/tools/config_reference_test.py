#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""config/REFERENCE.md equals the output of --config-reference.

Called with the paths of chess_node and of the file.
"""

import subprocess
import sys
import unittest


class ConfigReferenceTest(unittest.TestCase):
    def test_the_file_is_up_to_date(self):
        printed = subprocess.run(
            [CHESS_NODE, "--config-reference"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        with open(FILE, encoding="utf-8") as file:
            self.assertEqual(
                file.read(),
                printed.stdout,
                f"out of date; refresh it: {CHESS_NODE} --config-reference > {FILE}",
            )


if __name__ == "__main__":
    CHESS_NODE, FILE = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
