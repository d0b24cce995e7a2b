#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The units of deploy/ under a systemd that has booted, installed as deploy/README.md says.

Called with the paths of chess_node and corolane. It makes a Debian of its own and boots it in
namespaces, with a redis and an etcd. systemd_units_test.py needs neither.
"""

import re
import sys
import time
import unittest
from pathlib import Path

import for_real
import image
from deploy_files import DEPLOY, SYSTEMD, load, readme_commands, seconds
from nspawn import Machine

WHAT = "the units under a systemd as process 1"
SERVICES = ("dbus", "etcd-server", "openssl", "procps", "redis-server", "systemd", "systemd-sysv")
REDIS = "appendonly yes\nappendfsync always\nmaxmemory-policy noeviction\n"
NODES = {"node-1": 8460, "node-2": 8470}
EXPOSURE_MAX = 2.0

CHESS_NODE = COROLANE = None
ARCHIVE = None


def prepare():
    global ARCHIVE
    for_real.needs(WHAT, "systemd-nspawn", "nsenter", "tar")
    libraries = image.owners_of_libraries(CHESS_NODE) | image.owners_of_libraries(COROLANE)
    ARCHIVE = for_real.debian_root(WHAT, "systemd", {*SERVICES, *libraries.values(), "tzdata"})
    for_real.enter_namespaces(WHAT)


def settings(name):
    """The file of node-1, with the ports of another node."""
    text = (SYSTEMD / "node-1.env").read_text()
    return re.sub(r":846(\d)$", lambda found: f":{NODES[name] + int(found[1])}", text, flags=re.M)


class BootTest(unittest.TestCase):
    """Two nodes that run, before and after each test."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(WHAT, ARCHIVE, for_real.ROOT)
        cls.addClassCleanup(cls.machine.close)
        with open(cls.machine.root / "etc/redis/redis.conf", "a", encoding="utf-8") as file:
            file.write(REDIS)
        cls.machine.boot()
        version, _ = cls.machine.run("systemctl --version | head -1")
        for_real.ran(f"{version.strip()} as process 1")
        cls.install()

    @classmethod
    def install(cls):
        script = readme_commands("systemd")
        script = script.replace("build/release/", f"{Path(CHESS_NODE).parents[2]}/")
        script = script.replace(str(for_real.ROOT), "/source")
        output, status = cls.machine.run(f"set -e; cd /source; {script}")
        if status:
            raise AssertionError(output)
        for_real.ran("the commands of deploy/README.md install and start node-1")
        folder = cls.machine.root / "etc/corolane/chess"
        (folder / "node-2.env").write_text(settings("node-2"))
        cls.do("systemctl enable --now corolane-chess@node-2")

    def setUp(self):
        self.do("systemctl start corolane-chess@node-1 corolane-chess@node-2")

    @classmethod
    def do(cls, script, timeout=90):
        output, status = cls.machine.run(script, timeout)
        if status:
            raise AssertionError(f"{script}: status {status}: {output}")
        return output

    def property_of(self, name, key):
        return self.do(f"systemctl show -P {key} corolane-chess@{name}").strip()

    def journal(self, name):
        return self.do(f"journalctl --no-pager --output cat --unit corolane-chess@{name}")

    def main_process(self, name):
        return self.property_of(name, "MainPID")

    def answers(self, name):
        page = f"corolane page 127.0.0.1:{NODES[name] + 1} /ready"
        return self.machine.run(page) == ("ready\n", 0)

    def call(self, name, method, body):
        address = f"127.0.0.1:{NODES[name]}"
        return f"corolane call {address} corolane.services.chess.Chess/{method} '{body}'"

    def wait_for_restart(self, name, restarts):
        def is_back():
            return int(self.property_of(name, "NRestarts")) > restarts and self.answers(name)

        for_real.wait_until(f"{name} is restarted", is_back)

    def test_it_is_ready_when_start_returns(self):
        output = self.do(
            "systemctl stop corolane-chess@node-2; systemctl start corolane-chess@node-2; "
            f"corolane page 127.0.0.1:{NODES['node-2'] + 1} /ready"
        )
        self.assertEqual(output, "ready\n")
        self.assertRegex(self.property_of("node-2", "StatusText"), r"^serves on 0\.0\.0\.0:8470")
        for_real.ran("Type=notify: a node is ready when `systemctl start` returns")

    def test_the_instances_are_one_cluster(self):
        self.do(self.call("node-1", "Join", '{"game": "shared", "seat": "WHITE"}'))
        # Its state has begun only when both seats are taken.
        self.do(self.call("node-2", "Join", '{"game": "shared", "seat": "BLACK"}'))
        output, status = self.machine.run(
            self.call("node-1", "Join", '{"game": "shared", "seat": "BLACK"}')
        )
        self.assertNotEqual(status, 0, output)
        self.assertIn("taken", output)
        for_real.ran("two instances share a game, by etcd and redis under the same systemd")

    def test_it_has_no_rights(self):
        status = self.do(f"cat /proc/{self.main_process('node-1')}/status")
        values = dict(re.findall(r"^(\w+):\s+(.*)$", status, re.M))
        self.assertNotIn("0", values["Uid"].split())
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(values[name], 16), 0, name)
        self.assertEqual((values["NoNewPrivs"], values["Seccomp"]), ("1", "2"))

    def test_it_writes_only_to_its_own_folder(self):
        process = self.main_process("node-1")
        user = self.do(f"stat --format %u /proc/{process}").strip()
        inside = f"nsenter --target {process} --mount setpriv --reuid {user} --clear-groups touch "
        self.do(inside + "/var/lib/corolane/node-1/probe")
        self.do("rm /var/lib/corolane/node-1/probe")
        for path in ("/var/lib/private/corolane/node-2/x", "/etc/x", "/usr/bin/x", "/var/lib/x"):
            output, status = self.machine.run(inside + path)
            self.assertNotEqual(status, 0, f"{path}: {output}")
        for_real.ran("a node writes to /var/lib/corolane/NAME and nowhere else")

    def test_its_exposure_is_what_the_readme_says(self):
        output = self.do("systemd-analyze security --no-pager corolane-chess@node-1 | tail -1")
        exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", output)[1]
        self.assertLessEqual(float(exposure), EXPOSURE_MAX)
        self.assertIn(f"and rates it {exposure}.", (DEPLOY / "README.md").read_text())
        for_real.ran(f"systemd-analyze security of a node that runs: {exposure}")

    def test_it_reads_its_configuration_again(self):
        before = self.journal("node-1").count("configuration reloaded")
        self.do("systemctl kill -s HUP --kill-whom=main corolane-chess@node-1")
        for_real.wait_until(
            "node-1 reads its configuration again",
            lambda: self.journal("node-1").count("configuration reloaded") > before,
        )

    def test_a_killed_node_is_restarted(self):
        restarts = int(self.property_of("node-1", "NRestarts"))
        began = time.monotonic()
        self.do("systemctl kill -s KILL --kill-whom=main corolane-chess@node-1")
        # The other node serves meanwhile, also what the killed one had.
        self.do(self.call("node-2", "Join", '{"game": "after a kill", "seat": "WHITE"}'))
        self.wait_for_restart("node-1", restarts)
        self.assertIn("code=killed, status=9/KILL", self.journal("node-1"))
        for_real.ran(f"kill -9: restarted, ready after {time.monotonic() - began:.1f} s")

    def test_a_node_that_hangs_is_ended_and_restarted(self):
        restarts = int(self.property_of("node-1", "NRestarts"))
        others = self.property_of("node-2", "NRestarts")
        began = time.monotonic()
        self.do(f"kill -STOP {self.main_process('node-1')}")
        self.wait_for_restart("node-1", restarts)
        journal = self.journal("node-1")
        self.assertIn("Watchdog timeout", journal)
        report = re.search(r'the node has crashed signal=SIGABRT report="(\S+)"', journal)[1]
        self.assertIn("SIGABRT", self.do(f"cat {report}"))
        # The signs of life of a node that does not hang keep it alive.
        self.assertEqual(self.property_of("node-2", "NRestarts"), others)
        for_real.ran(
            "a node that stands still: a watchdog timeout, a crash report, "
            f"ready again after {time.monotonic() - began:.1f} s"
        )

    def test_a_wrong_configuration_is_not_tried_again(self):
        file = self.machine.root / "etc/corolane/chess/node-3.env"
        file.write_text("COROLANE_NODE__NONSENSE=1\n")
        _, status = self.machine.run("systemctl start corolane-chess@node-3")
        self.assertNotEqual(status, 0)
        shown = [self.property_of("node-3", key) for key in ("ExecMainStatus", "NRestarts")]
        self.assertEqual(shown, ["2", "0"])
        self.assertEqual(self.property_of("node-3", "ActiveState"), "failed")
        self.assertIn("NONSENSE", self.journal("node-3"))
        for_real.ran("a wrong configuration: failed with status 2, not restarted")

    def test_a_stop_waits_for_the_calls_that_run(self):
        self.do(self.call("node-1", "Join", '{"game": "waits", "seat": "WHITE"}'))
        wait = self.call("node-1", "WaitMove", '{"game": "waits", "ply": 1}')
        began = time.monotonic()
        # The wait has no end of its own, so the stop takes node.stop_time_max, for which the node
        # has to ask systemd.
        self.do(f"{wait} >/tmp/waited 2>&1 & sleep 1; systemctl stop corolane-chess@node-1")
        took = time.monotonic() - began
        stop_time = seconds(load(SYSTEMD / "chess.yaml")["node"]["stop_time_max"])
        self.assertGreater(took, stop_time / 2)
        keys = ("Result", "ExecMainStatus", "ActiveState")
        shown = [self.property_of("node-1", key) for key in keys]
        self.assertEqual(shown, ["success", "0", "inactive"], self.journal("node-1"))
        self.assertIn("node stopped", self.journal("node-1"))
        for_real.ran(f"a stop with a call that waits: status 0 after {took:.1f} s")

    def test_enabled_nodes_start_with_the_machine(self):
        self.machine.power_off()
        self.machine.boot()
        for name in NODES:
            for_real.wait_until(f"{name} is ready", lambda name=name: self.answers(name))
            before = self.do(
                f"journalctl --no-pager --output cat --boot -1 --unit corolane-chess@{name}"
            )
            self.assertIn("node stopped", before)
        for_real.ran("the machine went down with its nodes drained, and started them again")

    def test_the_target_stops_all(self):
        self.do("systemctl stop corolane-chess.target")
        for name in NODES:
            for_real.wait_until(
                f"{name} stops",
                lambda name=name: self.property_of(name, "ActiveState") == "inactive",
            )
            self.assertEqual(self.property_of(name, "Result"), "success")
        self.do("systemctl start corolane-chess.target")
        for name in NODES:
            for_real.wait_until(f"{name} is ready", lambda name=name: self.answers(name))


if __name__ == "__main__":
    CHESS_NODE, COROLANE = (str(Path(word).resolve()) for word in sys.argv[1:3])
    for_real.main(prepare, sys.argv[3:])
