# SPDX-License-Identifier: MIT
"""A Debian with a systemd as process 1, in namespaces of its own: for the tests of units."""

import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import for_real

ENVIRONMENT = ("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "TERM=dumb")
PATIENCE = 90


class Machine:
    """One folder is mounted as /source, read-only. The root file system stays until `close()`, so
    the machine can be booted again."""

    def __init__(self, what, archive, source):
        self.what = what
        self.source = source
        self.root = Path(tempfile.mkdtemp(prefix="machine-", dir=for_real.WORK))
        output, status = for_real.command(
            *("tar", "--extract", "--file", archive, "--directory", self.root),
            *("--exclude", "./dev/*"),
        )
        if status:
            raise AssertionError(output)
        (self.root / "etc/hostname").write_text("machine\n")
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost machine\n")
        self.process = None
        self.init = None

    def boot(self):
        """Returns when systemd has started everything, or says that it could not run."""
        self.process = subprocess.Popen(
            [
                *("systemd-nspawn", "--quiet", "--boot", "--directory", str(self.root)),
                *("--register=no", "--keep-unit", "--private-network", "--console=pipe"),
                f"--bind-ro={self.source}:/source:norbind",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        end = time.monotonic() + PATIENCE
        state = ""
        while not re.search(r"^(running|degraded)$", state, re.M):
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                output = self.process.communicate()[0] + state
                for_real.could_not_run(self.what, for_real.last_line(output))
            time.sleep(0.2)
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            words = children.read_text().split()
            if words:
                self.init = words[0]
                state, _ = self.run("systemctl is-system-running")
        return state.strip()

    def run(self, script, timeout=PATIENCE):
        """Runs commands of a shell in it. Returns what they print, and the status."""
        return for_real.command(
            *("nsenter", "--target", self.init, "--mount", "--uts", "--ipc", "--net", "--pid"),
            *("--cgroup", "--root", "--wd", *ENVIRONMENT, "bash", "-c", script),
            timeout=timeout,
        )

    def power_off(self):
        """Returns when all of its services are stopped."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise

    def close(self):
        if self.process and self.process.poll() is None:
            self.power_off()
        for_real.remove_cgroups("payload", "supervisor")
        for_real.command("rm", "--recursive", "--force", "--one-file-system", self.root)
