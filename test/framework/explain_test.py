#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corolane explain and corolane cluster against three nodes, of which the third is asked.

Called with the paths of the command and of explain_cluster.
"""

import re
import subprocess
import sys
import time
import unittest

COROLANE = "corolane"
CLUSTER = "explain_cluster"

# What the issue of such a command is: the whole way, in one sentence.
VERDICT = re.compile(
    r'^corolane.test.Puppet "player\d+": corolane.test.Puppet/Run runs for [0-9.]+s, '
    r"waits for Run of Puppet/guild\d+ on node chess-2, which runs Run for [0-9.]+s, "
    r"waits for vault lock made at test/framework/explain_cluster.cc:\d+, "
    r'held by task \d+ "[^"]+" of Puppet/vault\d+, which runs Run for [0-9.]+s, '
    r"waits for the store, which has not answered its write for [0-9.]+s\. "
    r"It ends with an answer of the store, at the latest at a deadline in [0-9.]+s\.$"
)


class ExplainTest(unittest.TestCase):
    def setUp(self):
        self.cluster = subprocess.Popen(  # pylint: disable=consider-using-with
            [CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(self.end)
        self.admin = {}
        for line in self.cluster.stdout:
            name, value = line.split()
            if name == "object":
                self.object = value
                break
            self.admin[name] = value

    def end(self):
        self.cluster.stdin.close()
        self.cluster.stdout.close()
        self.assertEqual(self.cluster.wait(60), 0)

    def ask(self, *words):
        done = subprocess.run(
            [COROLANE, *words], capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_third_node_tells_the_whole_chain(self):
        times = []
        for _ in range(5):
            begin = time.monotonic()
            shown = self.ask("explain", self.admin["chess-3"], self.object)
            times.append(time.monotonic() - begin)
            self.assertRegex(shown.splitlines()[0], VERDICT)
        # A figure, not a bound: the machine may be busy.
        print(f"the whole chain in {min(times) * 1e3:.0f} ms, with the start of the command")

    def test_every_node_shows_the_cluster(self):
        for admin in self.admin.values():
            shown = self.ask("cluster", admin)
            for name in self.admin:
                self.assertRegex(shown, re.compile(rf"^{name} +serving ", re.MULTILINE))


if __name__ == "__main__":
    COROLANE, CLUSTER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
