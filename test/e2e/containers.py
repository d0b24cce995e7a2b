# SPDX-License-Identifier: MIT
"""The image of deploy/docker and its containers, with buildah and podman in a store of the build
tree: for the tests of the image.
"""

import json
import os
import re
import resource

import for_real
from deploy_files import DOCKER

NAME = "localhost/corolane-chess"
DOCKERFILE = DOCKER / "Dockerfile"
IMAGES = for_real.WORK / "images"
# Whole copies of layers are slow and large, but work on every file system.
STORE = ("--storage-driver", "vfs", "--root", str(IMAGES))


def dockerfile():
    return DOCKERFILE.read_text()


def bases():
    """The images from which the Dockerfile begins, without its own stages."""
    return sorted(set(re.findall(r"^FROM (\S+:\S+)", dockerfile(), re.M)))


def buildah(*words, timeout=600):
    """Runs it; its caches of RUN --mount are in the build tree, too."""
    temporary = for_real.WORK / "temporary"
    temporary.mkdir(parents=True, exist_ok=True)
    return for_real.command(
        *("buildah", *STORE, "--runroot", for_real.WORK / "run", *words),
        timeout=timeout,
        env=os.environ | {"TMPDIR": str(temporary)},
    )


def succeed(answer):
    output, status = answer
    if status:
        raise AssertionError(output)
    return output.strip()


def podman(*words, timeout=120):
    """Runs it, with a state in /run, which belongs to the test alone."""
    return for_real.command(
        *("podman", *STORE, "--cgroup-manager", "cgroupfs", "--events-backend", "none"),
        *("--log-level", "fatal", *words),
        timeout=timeout,
    )


def configuration():
    """Returns what the image says of itself."""
    return json.loads(succeed(buildah("inspect", "--type", "image", NAME)))["Docker"]


def limits():
    """Podman would ask for more than a process of this machine may have."""
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ("--ulimit", f"nofile={files}:{files}", "--ulimit", "nproc=4096:4096")
