#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The image of deploy/docker runs, as compose.yaml runs it: without root, rights or a file system
that it could change; it is probed, serves, and is drained.

A redis and an etcd of this machine are beside it, in the same namespaces of the test. The image is
the one that image_build_test.py has built.
"""

import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import for_real
from containers import NAME, buildah, limits, podman, succeed
from deploy_files import DOCKER, compose, load, seconds

WHAT = "the image, as a container"
CONTAINER = "node-1"
# A service manager, which starts the probes of podman, and control groups are not there.
IN_A_TEST = ("--network=host", "--cgroups=disabled", "--health-interval=disable")
CHESS = "corolane.services.chess.Chess"


def prepare():
    for_real.needs(WHAT, "buildah", "podman", "crun", "redis-server", "etcd")
    _, status = buildah("inspect", "--type", "image", NAME)
    if status:
        for_real.could_not_run(WHAT, "there is no image; the test image_build makes it")
    for_real.enter_namespaces(WHAT)
    podman("rm", "--force", "--time", "0", CONTAINER)  # A test that was interrupted left it.
    output, status = podman("run", "--rm", *IN_A_TEST, *limits(), "--entrypoint", "/bin/true", NAME)
    if status:
        for_real.could_not_run(WHAT, for_real.last_line(output))


def options(service, folder):
    """What compose.yaml says of a service, as options of podman. Its networks are left out: the
    names of etcd and redis are those of the loopback.
    """
    assert service["read_only"] is True
    yield "--read-only"
    for name in service["cap_drop"]:
        yield from ("--cap-drop", name)
    for text in service["security_opt"]:
        yield from ("--security-opt", text.removesuffix(":true"))
    for name, value in service["environment"].items():
        yield from ("--env", f"{name}={value}")
    for volume in service["volumes"]:
        source, target, mode = volume.split(":")
        yield from ("--volume", f"{(DOCKER / source).resolve()}:{target}:{mode}")
    for secret in service["secrets"]:
        yield from ("--volume", f"{folder}/{secret}:/run/secrets/{secret}:ro")
    yield from ("--stop-timeout", str(seconds(service["stop_grace_period"])))
    for name in ("etcd", "redis", "node-1"):
        yield from ("--add-host", f"{name}:127.0.0.1")


class ImageRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        key = Path(folder.name) / "cluster_key"
        key.write_text(succeed(for_real.command("openssl", "rand", "-hex", "32")))
        key.chmod(0o444)
        durable = ("--appendonly", "yes", "--appendfsync", "always", "--save", "")
        for words in (("redis-server", *durable), ("etcd", "--data-dir", f"{folder.name}/etcd")):
            server = subprocess.Popen(
                words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder.name
            )
            cls.addClassCleanup(server.wait)
            cls.addClassCleanup(server.kill)
        cls.service = compose()["services"][CONTAINER]
        cls.run_options = list(options(cls.service, folder.name))

    def setUp(self):
        """Starts the node, and returns when its health check passes."""
        began = time.monotonic()
        command = ("run", "--detach", "--name", CONTAINER, *IN_A_TEST, *limits())
        succeed(podman(*command, *self.run_options, NAME))
        self.addCleanup(podman, "rm", "--force", "--time", "0", CONTAINER)
        try:
            for_real.wait_until("the health check passes", self.is_healthy)
            for_real.wait_until("the node is ready", self.is_ready)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{podman('logs', CONTAINER)[0]}") from None
        self.start_seconds = time.monotonic() - began

    def is_healthy(self):
        return podman("healthcheck", "run", CONTAINER)[1] == 0

    def inside(self, *words):
        return podman("exec", CONTAINER, *words)

    def is_ready(self):
        return self.inside("corolane", "page", "127.0.0.1:8461", "/ready") == ("ready\n", 0)

    def call(self, method, body):
        return self.inside("corolane", "call", "127.0.0.1:8460", f"{CHESS}/{method}", body)

    def is_waiting(self):
        return "WaitMove" in self.inside("corolane", "page", "127.0.0.1:8461", "/tasks")[0]

    def stop(self):
        """Returns how long that took, and the exit status."""
        began = time.monotonic()
        succeed(podman("stop", CONTAINER))
        took = time.monotonic() - began
        return took, int(succeed(podman("inspect", "--format", "{{.State.ExitCode}}", CONTAINER)))

    def test_it_serves_and_is_drained(self):
        for_real.ran(f"a container whose health check passes after {self.start_seconds:.1f} s")
        output = succeed(self.call("Join", '{"game": "g1", "seat": "WHITE"}'))
        self.assertIn('"turn": "WHITE"', output)
        for_real.ran("a call of it, by the command corolane that is in the image")
        page = succeed(self.inside("corolane", "page", "127.0.0.1:8460", "/"))
        self.assertIn("<!doctype html>", page.lower())
        for_real.ran("the page on which people play")
        took, status = self.stop()
        self.assertEqual(status, 0)
        self.assertIn("node stopped", podman("logs", CONTAINER)[0])
        for_real.ran(f"SIGTERM: drained, status 0 after {took:.1f} s")

    def test_it_has_no_rights(self):
        self.assertEqual(succeed(self.inside("id", "-u")), "65532")
        text = succeed(self.inside("cat", "/proc/1/status"))
        values = dict(re.findall(r"^(\w+):\s+(.*)$", text, re.M))
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(values[name], 16), 0, name)
        self.assertEqual((values["NoNewPrivs"], values["Seccomp"]), ("1", "2"))
        for path in ("/x", "/usr/bin/x", "/var/lib/corolane/x"):
            output, status = self.inside("touch", path)
            self.assertNotEqual(status, 0)
            self.assertIn("Read-only file system", output)
        for_real.ran("user 65532, no capabilities, seccomp, a root file system that is read-only")

    def test_a_drain_ends_in_time_though_a_call_waits(self):
        succeed(self.call("Join", '{"game": "g2", "seat": "WHITE"}'))
        wait = (f"{CHESS}/WaitMove", '{"game": "g2", "ply": 1}')
        client = ("corolane", "call", "127.0.0.1:8460", *wait)
        succeed(podman("exec", "--detach", CONTAINER, *client))
        for_real.wait_until("the call waits", self.is_waiting)
        took, status = self.stop()
        self.assertEqual(status, 0, podman("logs", CONTAINER)[0])
        stop_time = seconds(load(DOCKER / "chess.yaml")["node"]["stop_time_max"])
        self.assertGreater(took, stop_time / 2)
        self.assertLess(took, seconds(self.service["stop_grace_period"]))
        for_real.ran(f"a drain with a call that waits: status 0 after {took:.1f} s")


if __name__ == "__main__":
    for_real.main(prepare)
