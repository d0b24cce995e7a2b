# SPDX-License-Identifier: MIT
"""What tests of programs share: a node as a process on free ports, games for its bots, free ports
for other servers, and programs that a test needs.
"""

import ctypes.util
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

# pylint: disable=wrong-import-position,unused-import
from chaos_lib.cluster import free_ports  # noqa: E402

GAMES = ROOT / "test/data/chess/games.pgn"
PATIENCE = 60


def needs(program):
    """Decorates a test, or a class of tests, that needs a program. Without the program it is
    skipped; with CI=true it fails, since nobody would notice that it is always skipped.
    """
    return _needs(program, shutil.which(program) is not None)


def needs_library(name):
    """The same for a shared library: `name` is jemalloc for libjemalloc.so."""
    return _needs(f"lib{name}", ctypes.util.find_library(name) is not None)


def _needs(what, is_there):
    if is_there:
        return lambda test: test
    message = f"{what} is missing; tools/setup --tests installs it"
    if os.environ.get("CI") != "true":
        return unittest.skip(message)

    def fails(test):
        if isinstance(test, type):

            def fail_all(_):
                raise AssertionError(message)

            test.setUpClass = classmethod(fail_all)
            return test

        @functools.wraps(test)
        def fail(self):
            self.fail(message)

        return fail

    return fails


def fixed_addresses():
    """What begins the command of a program with GCC's thread sanitizer, which may find the program
    where it keeps its shadow memory if addresses are as random as newer kernels make them.
    """
    try:
        random_bits = int(Path("/proc/sys/vm/mmap_rnd_bits").read_text(encoding="ascii"))
    except OSError:  # Only root may read it.
        random_bits = 32
    return ("setarch", "--addr-no-randomize") if random_bits > 28 else ()


def some_games(folder, count):
    """Writes the first real games to a file; returns its path."""
    path = f"{folder}/games.pgn"
    first = GAMES.read_text(encoding="utf-8").split("[Event ")[1 : count + 1]
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(f"[Event {game}" for game in first))
    return path


class Node:
    """A node on free ports, in a process of its own, for anonymous clients unless the command
    says otherwise. Its log is lost with `errors` DEVNULL."""

    def __init__(self, *command, errors=subprocess.PIPE, cwd=None):
        has_login = any("node.clients.login." in str(word) for word in command)
        self.process = subprocess.Popen(
            [
                *command,
                *("--set", "node.clients.listen=127.0.0.1:0"),
                *(() if has_login else ("--set", "node.clients.login.anonymous=true")),
                *("--set", "node.admin.listen=127.0.0.1:0"),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=cwd,
        )
        line = self.process.stdout.readline()
        found = re.search(r"serves on (\S+), admin http://(\S+?)/(?:, http://(\S+)/)?", line)
        if not found:
            _, log = self.stop(signal.SIGKILL)
            raise AssertionError(f"the node did not start: {line}{log}")
        self.listen, self.admin, self.http = found.groups()

    def page(self, name):
        with urllib.request.urlopen(f"http://{self.admin}/{name}", timeout=PATIENCE) as reply:
            return reply.read().decode()

    def stats(self):
        return json.loads(self.page("stats"))

    def stop(self, number=signal.SIGTERM):
        """Returns the exit status and the log."""
        self.process.send_signal(number)
        _, log = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, log


class ChessNode(Node):
    """A chess node that also serves HTTP, with its objects in a folder that outlives it."""

    def __init__(self, program, folder, *options, **others):
        super().__init__(
            program,
            *("--set", "node.clients.http=127.0.0.1:0"),
            *("--set", f"node.store.file={folder}/objects.db"),
            *options,
            **others,
        )

    def bots(self, program, *options):
        """Lets bots play on it to their end."""
        return subprocess.run(
            [program, "--server", self.listen, *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
