#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/fuzz knows its targets and arguments, and each target has a corpus to replay.

No target is built or run here: that takes clang and minutes.
"""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "test/fuzz/corpus"

# People read the corpus, and every build replays it. The largest file is a chain of 2,148 calls.
FILES_MAX = 120
FILE_BYTES_MAX = 4608


def fuzz(*arguments):
    return subprocess.run(
        [ROOT / "tools/fuzz", *arguments], capture_output=True, text=True, check=False
    )


def targets():
    text = (ROOT / "test/fuzz/CMakeLists.txt").read_text()
    return re.findall(r"^corolane_fuzz_target\((\w+)", text, re.MULTILINE)


class FuzzTest(unittest.TestCase):
    def test_without_arguments_it_lists_the_targets_with_descriptions(self):
        process = fuzz()
        self.assertEqual(process.returncode, 0)
        listed = dict(line.split(maxsplit=1) for line in process.stdout.splitlines())
        self.assertEqual(list(listed), targets())
        for about in listed.values():
            self.assertGreater(len(about.split()), 3, about)

    def test_help_prints_the_usage(self):
        process = fuzz("--help")
        self.assertEqual(process.returncode, 0)
        self.assertIn("usage: tools/fuzz", process.stdout)

    def test_a_wrong_command_line_is_explained(self):
        for arguments, message in (
            (("nothing", "60"), "no target is called 'nothing'"),
            (("frame",), "say for how many seconds: tools/fuzz frame 60"),
            (("all", "long"), "say for how many seconds: tools/fuzz all 60"),
            (("frame", "0"), "say for how many seconds"),
            (("frame", "60", "more"), "unknown argument 'more'"),
            (("replay", "frame"), "replay needs a target and a file"),
            (("replay", "frame", "/nowhere"), "there is no file '/nowhere'"),
            (("merge", "nothing"), "no target is called 'nothing'"),
        ):
            with self.subTest(arguments=arguments):
                process = fuzz(*arguments)
                self.assertEqual(process.returncode, 2)
                self.assertIn(message, process.stderr)

    def test_every_target_has_a_source_and_a_small_corpus(self):
        self.assertEqual({folder.name for folder in CORPUS.iterdir()}, set(targets()))
        for target in targets():
            with self.subTest(target=target):
                self.assertTrue((ROOT / f"test/fuzz/{target}.cc").is_file())
                files = list((CORPUS / target).iterdir())
                self.assertGreaterEqual(len(files), 5)
                self.assertLessEqual(len(files), FILES_MAX)
                self.assertLessEqual(max(file.stat().st_size for file in files), FILE_BYTES_MAX)


if __name__ == "__main__":
    unittest.main()
