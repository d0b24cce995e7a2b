#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The committed libraries of the pages are what tools/web_bundle/make makes of the tree.

Usage: test/e2e/web_bundle_test.py PROTOC FOLDER

The folder is where npm installs the packages. npm needs its registry the first time. Without
that, or without Node, it is skipped, and says so by name; with CI=true it fails without Node.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from typing import NamedTuple

import harness
from typescript_client_test import OUT_OF_REACH, missing

PROTOC = "protoc"
FOLDER = Path("web_bundle")
MAKE = harness.ROOT / "tools/web_bundle/make"
OWNERS = ("The Connect Authors", "Buf Technologies", "Google Inc.")


class Bundle(NamedTuple):
    file: Path
    bytes_max: int  # The code that a page must have loaded before it shows anything.
    owners: tuple[str, ...]


BUNDLES = {
    "chess": Bundle(
        harness.ROOT / "services/chess/web/lib/corolane.js", 160 * 1024, (*OWNERS, "Jeff Hlywa")
    ),
    "project": Bundle(
        harness.ROOT / "tools/corolane/templates/web/lib/corolane.js", 120 * 1024, OWNERS
    ),
}


class WebBundleTest(unittest.TestCase):
    def test_the_committed_bundles_are_what_the_tree_makes(self):
        for tool in ("node", "npm"):
            if shutil.which(tool) is None:
                missing(f"{tool} is missing; install Node 20 or later")
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, bundle in BUNDLES.items():
            with self.subTest(name):
                self.assert_is_made(name, bundle.file)

    def assert_is_made(self, name, committed):
        made = FOLDER / "made.js"
        try:
            process = subprocess.run(
                [MAKE, name, made], capture_output=True, text=True, check=False, timeout=300,
                env=os.environ | {"BUNDLE_FOLDER": str(FOLDER), "PROTOC": PROTOC},
            )
        except subprocess.TimeoutExpired:
            self.skipTest("npm did not get the packages in five minutes")
        if process.returncode != 0 and any(word in process.stderr for word in OUT_OF_REACH):
            self.skipTest("npm does not reach its registry")
        self.assertEqual(process.returncode, 0, process.stderr)
        is_same = made.read_bytes() == committed.read_bytes()
        self.assertTrue(is_same, f"run {MAKE} and commit {committed}")

    def test_they_are_small_and_bring_the_notices_of_their_libraries(self):
        for name, bundle in BUNDLES.items():
            with self.subTest(name):
                text = bundle.file.read_text(encoding="utf-8")
                self.assertLess(len(text), bundle.bytes_max)
                for owner in bundle.owners:
                    self.assertIn(owner, text)
                self.assertTrue((bundle.file.parent / "apache-2.0.txt").is_file())


if __name__ == "__main__":
    PROTOC = sys.argv[1]
    FOLDER = Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1], verbosity=2)
