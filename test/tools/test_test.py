#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/test with stand-ins that only print their arguments: the order of calls, and the status."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Fails when its call contains FAILING, but only once the program that SLOW names is running.
PROGRAM = """#!/usr/bin/env bash
call="${0##*/} $*"
echo "$call" >>"$CALLS"
case "$call" in *"${FAILING:-nothing}"*)
  [[ -z ${SLOW:-} ]] || until [[ -s $CALLS.slow ]]; do sleep 0.01; done
  echo "$call has failed"
  exit 8
  ;;
esac
case "$call" in *"${SLOW:-nothing}"*) echo $$ >"$CALLS.slow"; exec sleep 100 ;; esac
echo "$call has passed"
"""


class TestTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tools").mkdir()
        shutil.copy(ROOT / "tools/test", self.folder / "tools/test")
        for name in (
            *("tools/setup", "tools/coverage", "tools/tidy", "tools/fuzz", "tools/simulate"),
            *("cmake", "ctest", "valgrind"),
        ):
            program = self.folder / name
            program.write_text(PROGRAM)
            program.chmod(0o755)
        self.calls = self.folder / "calls"

    def run_tool(self, *options, **variables):
        environment = {
            **os.environ,
            **variables,
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "TMPDIR": str(self.folder),
        }
        done = subprocess.run(
            [self.folder / "tools/test", *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=environment,
        )
        return done.returncode, done.stdout.splitlines()

    def presets_called(self, program):
        words = [line.split() for line in self.calls.read_text().splitlines()]
        return [line[line.index("--preset") + 1] for line in words if line[0] == program]

    def test_builds_and_tests_each_preset_and_ends_with_the_last_verdict(self):
        status, lines = self.run_tool()
        self.assertEqual(status, 0, lines)
        configured_and_built = ["release", "release", "asan", "asan", "tsan", "tsan"]
        self.assertEqual(self.presets_called("cmake"), configured_and_built)
        self.assertEqual(
            self.presets_called("ctest"), ["release", "release", "asan", "asan", "tsan"]
        )
        self.assertRegex(lines[-1], "^ctest --preset tsan .* has passed$")
        self.assertFalse(list(self.folder.glob("corolane-build.*")))

    def test_runs_every_test_of_a_preset_in_one_of_two_calls_but_slow_ones_with_full(self):
        self.run_tool("--full")
        first, second, slow = [
            line for line in self.calls.read_text().splitlines() if "ctest --preset release" in line
        ]
        self.assertIn("--label-exclude ^(waits|slow)$", first)
        self.assertIn("--label-regex ^waits$", second)
        self.assertIn("--label-regex ^slow$", slow)

    def test_shows_what_the_next_build_prints_before_the_tests_of_it(self):
        _, lines = self.run_tool()
        built = [i for i, line in enumerate(lines) if "cmake --build --preset asan" in line]
        tested = [i for i, line in enumerate(lines) if "ctest --preset asan" in line]
        waited = [i for i, line in enumerate(lines) if "--label-regex" in line]
        self.assertEqual(len(built), 1)
        self.assertLess(waited[0], built[0])
        self.assertLess(built[0], tested[0])

    def test_stops_at_each_part_that_fails(self):
        for failing in (
            "cmake --build --preset release",
            "ctest --preset release --no-tests=error",
            "ctest --preset release --no-tests=ignore",
            "cmake --build --preset asan",
            "ctest --preset asan --no-tests=error",
            "ctest --preset tsan",
        ):
            with self.subTest(failing=failing):
                self.calls.write_text("")
                status, lines = self.run_tool(FAILING=failing)
                self.assertEqual(status, 8, lines)
                self.assertRegex(lines[-1], f"{failing}.* has failed$")

    def test_ends_the_next_build_when_a_test_beside_it_fails(self):
        status, lines = self.run_tool(
            FAILING="ctest --preset release --no-tests=ignore", SLOW="cmake --preset asan"
        )
        self.assertEqual(status, 8, lines)
        self.assertRegex(lines[-1], "has failed$")
        process = Path(f"/proc/{Path(f'{self.calls}.slow').read_text().strip()}/cwd")
        end = time.monotonic() + 60
        while process.exists():
            self.assertLess(time.monotonic(), end, "the build is still running")
            time.sleep(0.05)

    def run_for_arm64(self, **variables):
        (self.folder / "tools/run").symlink_to(self.folder / "cmake")
        # Each test program writes such a file.
        tester = self.folder / "ctest"
        tester.write_text(
            tester.read_text()
            + """mkdir -p "${GTEST_OUTPUT#xml:}"
cat >"${GTEST_OUTPUT#xml:}/one.xml" <<'XML'
  <testcase name="Runs" status="run" result="completed" classname="OneTest" />
  <testcase name="Skips" status="run" result="skipped" classname="OneTest">
    <skipped message="file:1&#x0A;no batches">
XML
"""
        )
        return self.run_tool("--arch", "arm64", **variables)

    def test_for_another_processor_names_what_it_skips_and_runs_the_main_job(self):
        status, lines = self.run_for_arm64()
        self.assertEqual(status, 0, lines)
        self.assertEqual(self.presets_called("cmake"), ["release"] * 2 + ["arm64"] * 2)
        calls = self.calls.read_text().splitlines()
        self.assertEqual(calls[0], "setup --arch arm64")
        self.assertRegex(calls[-1], "^run --once .* --build build/arm64/emulated$")
        self.assertIn("OneTest.Skips  no batches", lines)
        self.assertEqual(lines[-1], "== arm64: passed; skipped themselves: 1")

    def test_for_another_processor_fails_when_the_main_job_fails(self):
        status, _ = self.run_for_arm64(FAILING="run --once")
        self.assertEqual(status, 2)

    def test_full_runs_every_further_check_after_the_presets(self):
        status, lines = self.run_tool("--full")
        self.assertEqual(status, 0, lines)
        calls = self.calls.read_text().splitlines()
        self.assertEqual(calls[0], "setup --full --deploy")
        last_preset = max(i for i, call in enumerate(calls) if "ctest --preset tsan" in call)
        # The builds run beside them.
        programs = [call.split()[0] for call in calls[last_preset + 1 :] if "cmake" not in call]
        self.assertEqual(
            list(dict.fromkeys(programs)),
            ["ctest", "coverage", "valgrind", "tidy", "fuzz", "simulate"],
        )
        built = self.presets_called("cmake")[6:]
        self.assertEqual(sorted(built), ["clang"] * 2 + ["coverage"] * 4)
        self.assertEqual(lines[-1], "== all checks have passed")

    def test_full_stops_at_each_check_that_fails(self):
        built, ran = "--build --preset clang", ("coverage ", "valgrind", "tidy", "fuzz", "simulate")
        for failing in (built, *ran):
            with self.subTest(failing=failing):
                self.calls.write_text("")
                status, lines = self.run_tool("--full", FAILING=failing)
                self.assertEqual(status, 8, lines)

    def test_full_goes_with_no_other_option(self):
        status, _ = self.run_tool("--full", "--preset", "asan")
        self.assertEqual(status, 2)

    def test_selected_tests_run_in_one_call_for_each_preset(self):
        status, lines = self.run_tool("-R", "tidy")
        self.assertEqual(status, 0, lines)
        self.assertEqual(self.presets_called("ctest"), ["release", "asan", "tsan"])

    def test_one_preset_runs_alone(self):
        status, lines = self.run_tool("--preset", "asan")
        self.assertEqual(status, 0, lines)
        self.assertEqual(self.presets_called("ctest"), ["asan"])
        self.assertEqual(self.presets_called("cmake"), ["asan", "asan"])


if __name__ == "__main__":
    unittest.main()
