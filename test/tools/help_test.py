#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of tools/ print their help at once: without packages, a build, or a network."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bench", "chaos", "coverage", "docs", "fuzz", "run", "setup", "simulate", "test", "tidy")
# These would install or build something.
FORBIDDEN = ("apt-get", "dpkg-query", "cmake", "ninja", "sudo")


class HelpTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # A copy, whose build folder is empty.
        self.tree = Path(folder.name) / "tree"
        shutil.copytree(ROOT / "tools", self.tree / "tools")
        shutil.copytree(ROOT / "test/fuzz", self.tree / "test/fuzz")
        self.traces = Path(folder.name) / "traces"
        programs = Path(folder.name) / "bin"
        programs.mkdir()
        for name in FORBIDDEN:
            program = programs / name
            program.write_text(f"#!/bin/sh\necho {name} >> '{self.traces}'\nexit 1\n")
            program.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}

    def ask(self, tool, *words):
        return subprocess.run(
            [self.tree / "tools" / tool, *words], capture_output=True, text=True, check=False,
            timeout=60, cwd="/", env=self.environment,
        )  # fmt: skip

    def test_help_comes_at_once_by_both_names(self):
        for tool in TOOLS:
            with self.subTest(tool=tool):
                texts = []
                for option in ("-h", "--help"):
                    asked = self.ask(tool, option)
                    self.assertEqual((asked.returncode, asked.stderr), (0, ""))
                    texts.append(asked.stdout)
                self.assertEqual(texts[0], texts[1])
                self.assertRegex(texts[0].split("\n\n")[0], "(?s).*tools/" + tool)
                self.assertRegex(texts[0], "-h, --help  *[a-z]")
        self.assertFalse(self.traces.exists(), "nothing is installed, and nothing is built")
        self.assertFalse((self.tree / "build").exists())

    def test_two_dashes_end_the_options(self):
        for tool in TOOLS:
            subject = ("rpc",) if tool == "bench" else ()
            if tool in ("simulate", "fuzz"):  # The program that it builds reads the rest.
                continue
            with self.subTest(tool=tool):
                asked = self.ask(tool, *subject, "--", "--help")
                self.assertEqual(asked.returncode, 2, asked.stdout)
                self.assertIn("--help", asked.stderr)
        self.assertFalse(self.traces.exists(), "nothing is installed, and nothing is built")

    def test_help_of_simulate_comes_behind_other_options(self):
        asked = self.ask("simulate", "--seeds", "1..3", "-h")
        self.assertEqual((asked.returncode, asked.stderr), (0, ""))
        self.assertFalse(self.traces.exists())


if __name__ == "__main__":
    unittest.main()
