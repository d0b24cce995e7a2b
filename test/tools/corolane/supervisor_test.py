#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corolane run: the supervisor of scripted programs, and of a node.

Called with the paths of the command and of a node's program.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))

import harness  # pylint: disable=wrong-import-position

COROLANE = "corolane"
NODE = "node"
PATIENCE = 60

# A program that counts its starts in one file, and for each start executes the next line of another
# file.
PROGRAM = """#!/bin/bash
cd "$(dirname "$0")"
echo start >> starts
[[ "$1 $2" == "--config game.yaml" ]] || exit 99
line="$(sed -n "$(wc -l < starts)p" plan)"
echo "start $(wc -l < starts): $line" >&2
eval "$line"
"""

# The line of a program that waits for signals.
WAIT = "tail -f /dev/null --pid=$$ & echo ready >&2; while :; do wait; done"


class SupervisorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = f"{self.folder}/program"
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        os.chmod(self.program, 0o755)

    def supervise(self, plan, *words, environment=None):
        with open(f"{self.folder}/plan", "w", encoding="utf-8") as file:
            file.write("\n".join(plan) + "\n")
        retry_delay = () if "--retry-delay" in words else ("--retry-delay", "10ms")
        process = subprocess.Popen(
            [
                COROLANE,
                *("run", "game.yaml", "--program", self.program, *retry_delay, *words),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE)

    def starts(self):
        with open(f"{self.folder}/starts", encoding="utf-8") as file:
            return len(file.readlines())

    def read_until(self, process, pattern):
        for line in process.stderr:
            if re.search(pattern, line):
                return
        self.fail(f"ended before it printed {pattern}")

    def test_a_failing_program_is_restarted_until_it_succeeds(self):
        process = self.supervise(["exit 1", "exit 70", "kill -SEGV $$", "exit 0"])
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, self.starts()), (0, 4))
        self.assertRegex(
            said,
            r"corolane run: pid \d+ ended with exit status 1 after 0\.\ds; starts again in 0\.\ds, "
            r"failure 1 of at most 5 within 2min\n",
        )
        self.assertIn("ended with exit status 70 after", said)
        self.assertIn("ended with signal 11 (Segmentation fault) after", said)
        self.assertIn("ended with exit status 0\n", said)
        # The program's own output is passed on.
        self.assertIn("start 3: kill -SEGV $$\n", said)

    def test_it_gives_up_on_repeated_failures_and_says_why(self):
        process = self.supervise(["exit 1", "exit 1", "echo the disk is full >&2; exit 1"],
                                 "--retries", "3")
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, self.starts()), (1, 3))
        self.assertRegex(
            said,
            r"\ncorolane run: gave up: \S+/program has failed 3 times within 2min, the last time "
            r"pid \d+ ended with exit status 1 after \S+; its last lines:\n",
        )
        self.assertIn("\n  the disk is full\nNext: find and fix the cause", said)

    def test_a_node_runs_without_a_lease_file_where_no_folder_can_be_made(self):
        process = self.supervise(
            ['echo "lease file [$COROLANE_LEASE_FILE]" >&2'], environment={"TMPDIR": "/proc"}
        )
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, self.starts()), (0, 1))
        self.assertRegex(
            said,
            r"\Acorolane run: cannot create /proc/corolane-run-\w{6} for the lease of the node: "
            r"No such file or directory: other nodes will wait until a lease expires\n",
        )
        self.assertIn("lease file []\n", said)

    def test_a_wrong_configuration_is_not_tried_again(self):
        process = self.supervise(["echo game.yaml:3: no such key >&2; exit 2"])
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, self.starts()), (2, 1))
        self.assertIn("\n  game.yaml:3: no such key\nNext: correct it, and check it with ", said)

    def test_sigterm_is_passed_on_and_the_end_is_awaited(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            if os.path.exists(f"{self.folder}/starts"):
                os.remove(f"{self.folder}/starts")
            process = self.supervise(
                ["trap 'echo stops >&2; exit 0' TERM; " + WAIT]
            )
            self.read_until(process, "^ready")
            process.send_signal(number)
            _, said = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, self.starts()), (0, 1))
            self.assertRegex(said, r"stops\n(.*\n)*corolane run: stopped\n")

    def test_a_program_that_does_not_stop_is_killed(self):
        process = self.supervise(
            ["trap '' TERM; " + WAIT],
            *("--stop-time", "100ms"),
        )
        self.read_until(process, "^ready")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, self.starts()), (1, 1))
        self.assertIn("corolane run: did not stop within 100ms: killing it\n", said)
        self.assertIn("corolane run: stopped, with signal 9 (Killed)\n", said)

    def test_sigterm_before_the_next_start_ends_it(self):
        process = self.supervise(["exit 1"], "--retry-delay", "30s")
        self.read_until(process, "starts again in")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, self.starts()), (0, 1))
        self.assertIn("stopped before the next start", said)

    def test_sighup_is_passed_on(self):
        process = self.supervise(
            ["trap 'echo reloads >&2; exit 0' HUP; " + WAIT]
        )
        self.read_until(process, "^ready")
        process.send_signal(signal.SIGHUP)
        self.read_until(process, "^reloads")
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_a_missing_program_is_misuse(self):
        process = subprocess.run(
            [COROLANE, "run", "game.yaml", "--program", f"{self.folder}/nothing"],
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )
        self.assertEqual(
            process.stderr,
            f'corolane run: "{self.folder}/nothing" cannot be started: No such file or directory\n',
        )
        self.assertEqual(process.returncode, 2)

    def test_a_missing_argument_is_named(self):
        for words, missing in (
            ([], "needs CONFIG, such as demo.yaml"),
            (["a.yaml"], "needs --program PATH, such as build/release/demo_node"),
            (
                ["a.yaml", "--program", "a", "--retries", "0"],
                "--retries is a number from 1 to 1000",
            ),
        ):
            process = subprocess.run(
                [COROLANE, "run", *words], capture_output=True, text=True, check=False,
                timeout=PATIENCE,
            )
            self.assertEqual(
                process.stderr, f"corolane run: {missing}; see corolane help run\n"
            )
            self.assertEqual(process.returncode, 2)


CONFIG = (
    "node:\n  clients: {listen: \"127.0.0.1:0\", login: {anonymous: true}}\n"
    "  admin: {listen: \"127.0.0.1:0\"}\n"
)


class NodeTest(unittest.TestCase):
    def test_a_node_that_is_killed_serves_again(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write(CONFIG)
            config.flush()
            process = subprocess.Popen(
                [COROLANE, "run", config.name, "--program", NODE, "--retry-delay", "10ms"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            pids = []
            for _ in range(2):
                self.assertIn("serves on", process.stdout.readline())
                line = next(line for line in process.stderr if "started" in line)
                pids.append(int(re.search(r"pid (\d+)", line)[1]))
                if len(pids) == 1:
                    os.kill(pids[0], signal.SIGKILL)
            process.terminate()
            _, said = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(*pids)
        self.assertEqual(process.returncode, 0)
        self.assertIn("corolane run: stopped\n", said)
        self.assertFalse(os.path.exists(f"/proc/{pids[1]}"))

    def test_a_node_ignores_the_variables_of_the_command(self):
        environment = {**os.environ, "COROLANE_ADMIN": "127.0.0.1:1"}
        process = subprocess.run(
            [NODE, "--check-config"], capture_output=True, text=True, check=False,
            env=environment, timeout=PATIENCE,
        )
        self.assertEqual((process.stderr, process.returncode), ("", 0))


class LeaseTest(unittest.TestCase):
    """Tests with an etcd, where a lease outlives its process."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        client_port, peer_port = harness.free_ports(2)
        self.etcd_address = f"127.0.0.1:{client_port}"
        peer = f"http://127.0.0.1:{peer_port}"
        self.etcd = subprocess.Popen(
            [
                *("etcd", "--name=etcd", f"--data-dir={self.folder}/etcd", "--log-level=error"),
                f"--listen-client-urls=http://{self.etcd_address}",
                f"--advertise-client-urls=http://{self.etcd_address}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=etcd={peer}",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        self.addCleanup(self.etcd.wait)
        self.addCleanup(self.etcd.kill)
        # A cluster keeps its objects in a store that all nodes share.
        self.redis = subprocess.Popen(
            [
                *("redis-server", "--port", "0", "--save", "", "--dir", self.folder),
                *("--unixsocket", f"{self.folder}/redis.sock"),
            ],
            stdout=subprocess.PIPE, text=True,
        )
        self.addCleanup(self.redis.communicate)
        self.addCleanup(self.redis.kill)
        next(line for line in self.redis.stdout if "ready to accept connections" in line.lower())
        self.etcdctl("endpoint", "health", "--command-timeout=60s")
        self.config = f"{self.folder}/node.yaml"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                CONFIG +
                "  cluster:\n    directory: etcd\n"
                f"    etcd: {{servers: [\"{self.etcd_address}\"]}}\n"
                "  store:\n    kind: redis\n"
                f"    redis: {{servers: [\"unix:{self.folder}/redis.sock\"]}}\n"
            )

    def etcdctl(self, *words):
        deadline = time.monotonic() + PATIENCE
        while True:
            process = subprocess.run(
                ["etcdctl", f"--endpoints={self.etcd_address}", *words],
                capture_output=True, text=True, check=False, timeout=PATIENCE,
                env={**os.environ, "ETCDCTL_API": "3"},
            )
            if process.returncode == 0:
                return process.stdout
            if time.monotonic() > deadline:
                raise AssertionError(process.stderr)

    def leases(self):
        """The numbers of all leases, which etcdctl prints in hexadecimal."""
        return {int(line, 16) for line in self.etcdctl("lease", "list").splitlines()[1:]}

    def test_the_lease_of_a_dead_node_is_revoked(self):
        process = subprocess.Popen(
            [COROLANE, "run", self.config, "--program", NODE, "--retry-delay", "30s"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertIn("serves on", process.stdout.readline())
        started = next(line for line in process.stderr if "started" in line)
        [lease] = self.leases()
        os.kill(int(re.search(r"pid (\d+)", started)[1]), signal.SIGKILL)
        line = next(line for line in process.stderr if " lease " in line)
        # The lease would have lived for seconds; the log says whether it was revoked or expired.
        self.assertEqual(line, f"corolane run: lease {lease} is revoked: others take over\n")
        self.assertEqual(self.leases(), set())
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_a_lease_that_cannot_be_revoked_expires_by_itself(self):
        process = subprocess.Popen(
            [COROLANE, "run", self.config, "--program", NODE, "--retry-delay", "30s"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertIn("serves on", process.stdout.readline())
        started = next(line for line in process.stderr if "started" in line)
        self.etcd.kill()
        self.etcd.wait()
        os.kill(int(re.search(r"pid (\d+)", started)[1]), signal.SIGKILL)
        line = next(line for line in process.stderr if " lease " in line)
        self.assertRegex(line, r"^corolane run: lease \d+ is not revoked, it expires by itself:$")
        process.terminate()
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    COROLANE, NODE = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
