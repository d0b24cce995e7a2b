#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Dockerfile of deploy/docker builds its image, whole, from an empty Debian.

No registry is asked: mmdebstrap makes the Debian that the Dockerfile begins with. Only what the
compiler's cache of an earlier build has is not compiled again, as the Dockerfile itself says.
image_run_test.py runs the image.
"""

import re
import time
import unittest

import for_real
from containers import DOCKERFILE, NAME, bases, buildah, configuration, succeed
from deploy_files import DOCKER, compose, load, port

WHAT = "the image, built from its Dockerfile"
CODENAMES = {"12": "bookworm", "13": "trixie"}
SIZE_MAX_MB = 500
ARCHIVE = None


def prepare():
    global ARCHIVE
    for_real.needs(WHAT, "buildah")
    release = re.match(r"debian:(\d+)", bases()[0])[1]
    ARCHIVE = for_real.debian_root(WHAT, "base", [], CODENAMES[release])


def import_bases():
    """Makes one image of the archive, with the names that the Dockerfile uses."""
    container = succeed(buildah("from", "scratch"))
    try:
        succeed(buildah("add", container, ARCHIVE, "/"))
        output, status = buildah("run", "--isolation", "chroot", container, "true")
        if status:
            for_real.could_not_run(WHAT, for_real.last_line(output))
        names = [f"docker.io/library/{name}" for name in bases()]
        succeed(buildah("commit", "--quiet", container, names[0]))
        for name in names[1:]:
            succeed(buildah("tag", names[0], name))
    finally:
        buildah("rm", container)


class ImageBuildTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        buildah("rmi", "--all", "--force")
        import_bases()
        began = time.monotonic()
        output, status = buildah(
            *("build", "--format", "docker", "--isolation", "chroot", "--pull=never"),
            *("--ignorefile", DOCKER / "Dockerfile.dockerignore"),
            *("--file", DOCKERFILE, "--tag", NAME, for_real.ROOT),
            timeout=7000,
        )
        if status:
            raise AssertionError("\n".join(output.splitlines()[-40:]))
        minutes = (time.monotonic() - began) / 60
        hits = re.search(r"^\s*Hits:\s+(\d+)", output, re.M)[1]
        misses = re.search(r"^\s*Misses:\s+(\d+)", output, re.M)[1]
        for_real.ran(
            f"all stages of deploy/docker/Dockerfile in {minutes:.1f} min; "
            f"{misses} files compiled, {hits} taken from the compiler's cache of an earlier build"
        )

    def test_it_is_small(self):
        container = succeed(buildah("from", "--pull-never", NAME))
        self.addCleanup(buildah, "rm", container)
        folder = succeed(buildah("mount", container))
        output = succeed(for_real.command("du", "--summarize", "--block-size=1000000", folder))
        megabytes = int(output.split()[0])
        programs = [f"{folder}/usr/bin/{name}" for name in ("chess_node", "corolane")]
        output = succeed(for_real.command("du", "--total", "--block-size=1000000", *programs))
        ours = int(output.splitlines()[-1].split()[0])
        for_real.ran(f"the image has {megabytes} MB, its programs {ours} MB of them")
        self.assertLess(megabytes, SIZE_MAX_MB)

    def test_it_says_how_it_is_run(self):
        config = configuration()["config"]
        self.assertEqual(config["User"], "65532:65532")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/chess_node"])
        self.assertEqual(config["StopSignal"], "SIGTERM")
        node = load(DOCKER / "chess.yaml")["node"]
        self.assertEqual(set(config["ExposedPorts"]), {f"{port(node['clients']['listen'])}/tcp"})
        probe = config["Healthcheck"]["Test"]
        admin = node["admin"]["listen"]
        self.assertEqual(probe, ["CMD", "/usr/bin/corolane", "page", admin, "/health"])
        build = compose()["services"]["node-1"]["build"]
        self.assertEqual(for_real.ROOT / build["dockerfile"], DOCKERFILE)


if __name__ == "__main__":
    for_real.main(prepare)
