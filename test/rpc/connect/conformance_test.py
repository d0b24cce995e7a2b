#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the conformance suite of Connect against the client door of a node, in conformance_server.

Called with the path of conformance_server, and of a folder in the build tree for the suite. The
suite is a Go program that Debian does not package: without a go that can build it, or without a way
to its registry, the test says that it was skipped.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SERVER = "conformance_server"
FOLDER = Path("conformance")

HERE = Path(__file__).resolve().parent
MODULE = "connectrpc.com/conformance"
VERSION = "v1.0.7"

# The errors of go when it does not reach its registry, or is too old.
OUT_OF_REACH = re.compile(
    r"dial tcp|no such host|connection refused|i/o timeout|403 Forbidden|TLS handshake timeout"
    r"|requires go >=|unknown directive|invalid go version|not in (GOROOT|std)"
)


def install_suite(test):
    """Builds the suite once; returns its program."""
    program = FOLDER.resolve() / f"connectconformance-{VERSION}"
    if program.is_file():
        return program
    if shutil.which("go") is None:
        test.skipTest("go is missing: the conformance suite calls nothing")
    FOLDER.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"GOBIN": str(FOLDER.resolve()), "GOFLAGS": "-mod=mod"}
    command = ["go", "install", f"{MODULE}/cmd/connectconformance@{VERSION}"]
    try:
        process = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True,
                                 text=True, check=False, timeout=500)
    except subprocess.TimeoutExpired:
        test.skipTest("go did not build the conformance suite in time: it calls nothing")
    if process.returncode != 0 and OUT_OF_REACH.search(process.stderr):
        test.skipTest("go cannot get or build the conformance suite: it calls nothing")
    test.assertEqual(process.returncode, 0, process.stderr)
    (FOLDER / "connectconformance").rename(program)
    return program


class ConformanceTest(unittest.TestCase):
    def passed_count(self, pattern):
        """Runs the cases whose names match; each of them passes."""
        suite = install_suite(self)
        process = subprocess.run(
            [suite, "--conf", HERE / "features.yaml", "--mode", "server", "--run", pattern,
             "--", SERVER], capture_output=True, text=True, check=False, timeout=300)
        output = process.stdout + process.stderr
        self.assertEqual(process.returncode, 0, output)
        passed = re.search(r"^(\d+) passed, 0 failed$", output, re.MULTILINE)
        self.assertIsNotNone(passed, output)
        return int(passed[1])

    def test_the_suite_finds_no_failure(self):
        self.assertGreater(self.passed_count("**"), 300)

    def test_server_streams_are_among_the_cases(self):
        self.assertGreater(self.passed_count("**/server-stream/**"), 100)


if __name__ == "__main__":
    SERVER = sys.argv[1]
    FOLDER = Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
