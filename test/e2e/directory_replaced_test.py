#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims about nodes whose etcd is replaced by an empty one, with a real etcd and redis.

Usage: test/e2e/directory_replaced_test.py BUILD
"""

import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from chaos_lib.cluster import Cluster  # noqa: E402

BUILD = "build/release"


def wait_until(holds, what, seconds=30.0):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


class DirectoryReplacedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cluster = Cluster(BUILD, self.folder, node_count=2)
        self.addCleanup(self.cluster.__exit__)
        self.cluster.start()

    def call(self, method, request, seconds=20):
        return subprocess.run(
            [
                *(f"{BUILD}/tools/corolane/corolane", "call", self.cluster.nodes[0].listen),
                *(method, json.dumps(request), "--timeout", f"{seconds}s"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    def restart_etcd(self, change):
        """Calls `change` with the folder of its data while it is down."""
        self.cluster.etcd.kill()
        change(self.folder / "etcd")
        self.cluster.etcd.start()
        self.cluster.etcd.wait_for(self.cluster.etcd_is_healthy)

    def accept_what_nodes_refuse(self):
        """Waits until both nodes refuse the directory, and types what their logs say."""
        refusal = re.compile(r"stays out of the cluster .*etcdctl put (\S+) (\d+)")
        commands = []
        for node in self.cluster.nodes:
            wait_until(
                lambda log=node.log: refusal.search(log.read_text(errors="replace")),
                f"{node.name} refuses the directory",
            )
            commands.append(refusal.search(node.log.read_text(errors="replace")).groups())
        self.assertEqual(commands, [("/chess/generation", "1")] * 2)
        self.assertNotEqual(self.call("Chess/Look", {"game": "g"}, seconds=2).returncode, 0)
        key, value = (base64.b64encode(word.encode()).decode() for word in commands[0])
        self.cluster.ask_etcd("/v3/kv/put", {"key": key, "value": value})
        self.cluster.wait_until_whole()

    def check_that_the_game_goes_on(self):
        looked = self.call("Chess/Look", {"game": "g"})
        self.assertEqual(looked.returncode, 0, looked.stderr)
        again = self.call("Chess/Join", {"game": "g", "seat": "BLACK"})
        self.assertEqual(again.returncode, 0, again.stderr)
        taken = self.call("Chess/Join", {"game": "g", "seat": "WHITE"})
        self.assertIn("already_exists", taken.stderr)

    def test_nodes_refuse_an_empty_etcd_until_operators_accept_it(self):
        joined = self.call("Chess/Join", {"game": "g", "seat": "WHITE"})
        self.assertEqual(joined.returncode, 0, joined.stderr)
        self.restart_etcd(shutil.rmtree)
        self.accept_what_nodes_refuse()
        self.check_that_the_game_goes_on()

    def test_nodes_refuse_an_etcd_that_was_restored_from_a_copy(self):
        copy = self.folder / "copy"
        self.restart_etcd(lambda data: shutil.copytree(data, copy))
        self.cluster.nodes[1].kill()
        self.cluster.nodes[1].start()
        self.cluster.wait_until_whole()
        joined = self.call("Chess/Join", {"game": "g", "seat": "WHITE"})
        self.assertEqual(joined.returncode, 0, joined.stderr)

        def restore(data):
            shutil.rmtree(data)
            shutil.copytree(copy, data)

        self.restart_etcd(restore)
        self.accept_what_nodes_refuse()
        self.check_that_the_game_goes_on()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    BUILD = sys.argv.pop()
    unittest.main(verbosity=2)
