# SPDX-License-Identifier: MIT
"""An installation in a prefix, and the environment of its user: for the tests of the package and
of the tutorial.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def run(*command, **options):
    """Runs a command and returns its output. Fails with that output when the command fails."""
    process = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    if process.returncode != 0:
        raise AssertionError(f"{command} failed\n{process.stdout}\n{process.stderr}")
    return process.stdout


def install(build, prefix):
    run("cmake", "--install", build, "--prefix", prefix)


def environment(prefix, folder):
    """The environment to build a project in `folder`, with the bin of `prefix` on the PATH."""
    result = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    if shutil.which("ccache"):
        # Each run has its own folder, which must not cause a new compilation.
        result |= {
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
            "CCACHE_BASEDIR": str(folder),
            "CCACHE_NOHASHDIR": "1",
        }
    return result


def install_for(test_class, build):
    """Gives a class of tests a folder, and a prefix in it in which the package is installed."""
    folder = tempfile.TemporaryDirectory()
    test_class.addClassCleanup(folder.cleanup)
    test_class.folder = Path(folder.name)
    test_class.prefix = test_class.folder / "prefix"
    install(build, test_class.prefix)
