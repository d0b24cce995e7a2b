#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the fuzzing client of Autobahn's test suite against echo_server.

Called with the path of echo_server, and of a folder in the build tree for the suite and its
reports. The suite runs on Python 2.7 alone: a `wstest` in the path is used, or the suite is
installed into a virtual environment of that folder. Without either, the test prints
`could not run: WHAT: REASON`, and ctest counts it as skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

SERVER = "echo_server"
FOLDER = Path("autobahn")

SUITE = "autobahntestsuite==25.10.1"
VIRTUALENV = "virtualenv==16.7.12"  # The last one that needs no other package.
CASES = ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*", "12.*", "13.*"]
PASSES = {"OK", "NON-STRICT", "INFORMATIONAL"}
SKIPPED = 77  # What SKIP_RETURN_CODE is in CMakeLists.txt.


def could_not_run(reason):
    print(f"could not run: Autobahn's test suite: {reason}", flush=True)
    raise unittest.SkipTest(reason)


def has_pip(python):
    process = subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False)
    return process.returncode == 0


def find_python():
    """Returns a Python 2.7, of the path or of pyenv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in ("python2.7", *sorted(versions.glob("2.7*/bin/python2.7"), reverse=True)):
        # The one in the path may be a script of pyenv that only says where there is one.
        if shutil.which(python) and has_pip(python):
            return python
    could_not_run("python2.7 with pip is missing")


def install_suite():
    """Installs the suite once; returns its program."""
    environment = FOLDER / "environment"
    program = environment / "bin/wstest"
    if program.is_file():
        return program
    python = find_python()
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(environment, ignore_errors=True)
    starter = FOLDER / "virtualenv"
    for command in (
        [python, "-m", "pip", "install", "--target", starter, "--upgrade", VIRTUALENV],
        [python, "-m", "virtualenv", environment],
        [environment / "bin/pip", "install", SUITE],
    ):
        words = list(map(str, command))
        try:
            process = subprocess.run(words, env=os.environ | {"PYTHONPATH": str(starter)},
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     check=False, timeout=900)
        except subprocess.TimeoutExpired:
            could_not_run(f"no end of {' '.join(words)}")
        if process.returncode != 0:
            last = (process.stdout.strip().splitlines() or ["nothing said"])[-1]
            could_not_run(f"{' '.join(words)}: {last}")
    return program


class AutobahnTest(unittest.TestCase):
    def test_every_case_passes(self):
        suite = shutil.which("wstest") or install_suite()
        reports = FOLDER / "reports"
        shutil.rmtree(reports, ignore_errors=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        with subprocess.Popen([SERVER], stdout=subprocess.PIPE, text=True) as server:
            try:
                port = int(server.stdout.readline())
                self.run_suite(suite, reports, port)
                self.assertIsNone(server.poll(), "the server ended")
            finally:
                server.kill()
        results = json.loads((reports / "index.json").read_text(encoding="utf-8"))["echo_server"]
        self.check_results(results)

    def run_suite(self, suite, reports, port):
        specification = FOLDER / "fuzzingclient.json"
        specification.write_text(json.dumps({
            "options": {"failByDrop": False},
            "outdir": str(reports),
            "servers": [{"agent": "echo_server", "url": f"ws://127.0.0.1:{port}"}],
            "cases": CASES,
            "exclude-cases": [],
            "exclude-agent-cases": {},
        }), encoding="utf-8")
        with open(FOLDER / "log", "w", encoding="utf-8") as log:
            process = subprocess.run([suite, "-m", "fuzzingclient", "-s", specification],
                                     stdout=log, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(process.returncode, 0, f"see {FOLDER / 'log'}")

    def check_results(self, results):
        self.assertGreater(len(results), 100, results)
        counts = Counter()
        failed = []
        for case, result in results.items():
            counts[result["behavior"]] += 1
            # Whether the connection was closed as it should be.
            is_passed = {result["behavior"], result["behaviorClose"]} <= PASSES
            if not is_passed:
                failed.append(f"{case}: {result['behavior']}, close {result['behaviorClose']}")
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
        print(f"autobahn: {len(results) - len(failed)} of {len(results)} cases passed ({kinds})")
        self.assertEqual(failed, [])


if __name__ == "__main__":
    SERVER = sys.argv[1]
    FOLDER = Path(sys.argv[2]).resolve()
    program = unittest.main(argv=sys.argv[:1], exit=False)
    if not program.result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if program.result.skipped else 0)
