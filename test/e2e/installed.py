"""A prefix with what a build installs, and the environment of who uses it: for install_test.py and
tutorial_test.py.
"""

import os
import shutil
import subprocess


def run(*command, **options):
    """What it printed. Fails with that when the command does."""
    process = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    if process.returncode != 0:
        raise AssertionError(f"{command} failed\n{process.stdout}\n{process.stderr}")
    return process.stdout


def install(build, prefix):
    run("cmake", "--install", build, "--prefix", prefix)


def environment(prefix, folder):
    """Of who builds a project in `folder`, with the bin of `prefix` on the PATH."""
    result = {**os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}
    if shutil.which("ccache"):
        # Each run has a folder of its own, which is nothing to compile again for.
        result |= {
            "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
            "CCACHE_BASEDIR": str(folder),
            "CCACHE_NOHASHDIR": "1",
        }
    return result
