#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the compiler error for an object class that lacks a method.

Called with the compiler and the folder of the generated headers.
"""

import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("-std=c++23", "-fsyntax-only", f"-I{ROOT}")


class HostTest(unittest.TestCase):
    def test_a_forgotten_method_is_named_by_the_compiler(self):
        source = ROOT / "test/framework/forgotten_method.cc"
        command = (COMPILER, *FLAGS, f"-I{GENERATED}", source)
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertNotEqual(compiled.returncode, 0)
        # The first alternative is the wording of g++, the second that of clang.
        self.assertRegex(compiled.stderr, r"GuildBase::donate\(\)|pure virtual method 'donate'")


if __name__ == "__main__":
    COMPILER, GENERATED = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
