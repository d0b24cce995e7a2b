#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""systemd understands the units of deploy/, and takes from the service what it does not need.

Called with the path of chess_node. It needs systemd-analyze, and no systemd that runs; without the
program it fails and says what to install. systemd_boot_test.py runs the units.
"""

import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from deploy_files import SYSTEMD, run

CHESS_NODE = "chess_node"

EXPOSURE_MAX = 2.0  # On the scale of systemd-analyze security, up to 10.
# Keys since systemd 254; the systemd of this machine may be older.
NEW_KEYS = {"RestartSteps", "RestartMaxDelaySec"}


class UnitTest(unittest.TestCase):
    """The unit, with the chess_node of this build instead of /usr/bin/chess_node."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        text = (SYSTEMD / "corolane-chess@.service").read_text()
        self.assertIn("ExecStart=/usr/bin/chess_node ", text)
        text = text.replace("/usr/bin/chess_node", str(Path(CHESS_NODE).resolve()))
        self.unit = self.folder / "corolane-chess@node-1.service"
        self.unit.write_text(text)
        shutil.copy(SYSTEMD / "corolane-chess.target", self.folder)

    def verify(self):
        return run(
            *("systemd-analyze", "verify", "--man=no", "--recursive-errors=no"),
            *(self.unit, self.folder / "corolane-chess.target"),
        )

    def test_systemd_understands_every_key(self):
        # An unknown key causes a line of output, but no failure.
        self.assertEqual(self.verify(), ("", 0))

    def test_a_wrong_key_is_reported(self):
        self.unit.write_text(self.unit.read_text().replace("WatchdogSec=", "WatchDogSec="))
        self.assertIn("Unknown key 'WatchDogSec' in section [Service]", self.verify()[0])

    def test_the_back_off_has_only_keys_of_newer_versions(self):
        name = "corolane-chess@.service.d"
        shutil.copytree(SYSTEMD / name, self.folder / "corolane-chess@node-1.service.d")
        output, _ = self.verify()
        unknown = re.findall(r"Unknown key '(\w+)' in section \[Service\], ignoring\.\n", output)
        self.assertEqual(len(unknown), len(output.splitlines()), output)
        self.assertLessEqual(set(unknown), NEW_KEYS)

    def test_the_exposure_of_the_service_is_low(self):
        output, status = run(
            *("systemd-analyze", "security", "--offline=true", "--no-pager"),
            *(f"--threshold={int(EXPOSURE_MAX * 10)}", self.unit),
        )
        self.assertEqual(status, 0, output)

    def test_it_is_not_restarted_when_a_restart_is_useless(self):
        unit = self.unit.read_text()
        self.assertIn("\nRestartPreventExitStatus=2 130\n", unit)
        _, status = run(CHESS_NODE, "--set", "node.nonsense=1")
        self.assertEqual(status, 2)


if __name__ == "__main__":
    CHESS_NODE = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
