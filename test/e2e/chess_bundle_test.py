#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The committed bundle of the chess page is what services/chess/web_bundle/make makes of the tree.

Usage: test/e2e/chess_bundle_test.py PROTOC FOLDER

The folder is where npm installs the packages. npm needs its registry the first time. Without
that, or without Node, it is skipped, and says so by name; with CI=true it fails without Node.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import harness
from typescript_client_test import OUT_OF_REACH, missing

PROTOC = "protoc"
FOLDER = Path("chess_bundle")
BUNDLE = harness.ROOT / "services/chess/web/lib/corolane.js"
MAKE = harness.ROOT / "services/chess/web_bundle/make"
# The code that a page must have loaded before it shows anything.
BYTES_MAX = 160 * 1024


class ChessBundleTest(unittest.TestCase):
    def test_the_committed_bundle_is_what_the_tree_makes(self):
        for tool in ("node", "npm"):
            if shutil.which(tool) is None:
                missing(f"{tool} is missing; install Node 20 or later")
        FOLDER.mkdir(parents=True, exist_ok=True)
        made = FOLDER / "made.js"
        try:
            process = subprocess.run(
                [MAKE, made], capture_output=True, text=True, check=False, timeout=300,
                env=os.environ | {"BUNDLE_FOLDER": str(FOLDER), "PROTOC": PROTOC},
            )
        except subprocess.TimeoutExpired:
            self.skipTest("npm did not get the packages in five minutes")
        if process.returncode != 0 and any(word in process.stderr for word in OUT_OF_REACH):
            self.skipTest("npm does not reach its registry")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertTrue(made.read_bytes() == BUNDLE.read_bytes(), f"run {MAKE} and commit {BUNDLE}")

    def test_it_is_small_and_brings_the_notices_of_its_libraries(self):
        text = BUNDLE.read_text(encoding="utf-8")
        self.assertLess(len(text), BYTES_MAX)
        for owner in ("The Connect Authors", "Buf Technologies", "Google Inc.", "Jeff Hlywa"):
            self.assertIn(owner, text)
        self.assertTrue((BUNDLE.parent / "apache-2.0.txt").is_file())


if __name__ == "__main__":
    PROTOC = sys.argv[1]
    FOLDER = Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1], verbosity=2)
