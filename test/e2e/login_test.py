#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims about the login of clients, with a shipped node and the command corolane.

Usage: test/e2e/login_test.py CHESS_NODE COROLANE
"""

import base64
import hashlib
import hmac
import json
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import harness

CHESS_NODE = "chess_node"
COROLANE = "corolane"
SECRET = "the secret of a login service, long enough"


def token(secret=SECRET, **claims):
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    claims = {"sub": "player-17", "exp": int(time.time()) + 600} | claims
    signed = part(b'{"alg":"HS256"}') + b"." + part(json.dumps(claims).encode())
    return (signed + b"." + part(hmac.digest(secret.encode(), signed, hashlib.sha256))).decode()


class LoginTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        keys = self.write("keys", SECRET + "\n")
        self.node = harness.ChessNode(
            CHESS_NODE,
            self.folder.name,
            *("--set", f"node.clients.login.jwt_keys_file={keys}"),
        )
        self.addCleanup(self.node.stop)

    def write(self, name, text):
        path = f"{self.folder.name}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def call(self, *options):
        return subprocess.run(
            [COROLANE, "call", self.node.listen, "Chess/Look", '{"game": "none"}', *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    def status_by_http(self, headers):
        request = urllib.request.Request(
            f"http://{self.node.http}/corolane.services.chess.Chess/Look",
            data=b'{"game": "none"}',
            headers={"Content-Type": "application/json"} | headers,
        )
        try:
            with urllib.request.urlopen(request, timeout=harness.PATIENCE) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_a_client_with_a_token_calls_and_no_other(self):
        let_in = self.call("--login", self.write("token", token() + "\n"))
        self.assertIn("not_found", let_in.stderr, "the handler has answered")
        for name, wrong in (
            ("forged", token(secret="another secret that is long enough, too")),
            ("expired", token(exp=int(time.time()) - 3600)),
            ("no token at all", "player-17"),
        ):
            refused = self.call("--login", self.write("token", wrong))
            self.assertEqual(refused.returncode, 1, name)
            self.assertNotIn("not_found", refused.stderr, name)
            self.assertNotIn("--login", refused.stderr, name)
        anonymous = self.call()
        self.assertEqual(anonymous.returncode, 1)
        self.assertTrue(
            anonymous.stderr.endswith("; give a token with --login FILE\n"), anonymous.stderr
        )

    def test_the_same_holds_by_http(self):
        self.assertEqual(self.status_by_http({"Authorization": f"Bearer {token()}"}), 404)
        self.assertEqual(self.status_by_http({}), 401)
        forged = token(secret="another secret that is long enough, too")
        self.assertEqual(self.status_by_http({"Authorization": f"Bearer {forged}"}), 401)

    def test_a_reload_changes_the_keys_of_new_connections(self):
        self.write("keys", "the secret of another login service, as long")
        # The node has no configuration file: the keys alone are a reason to reload.
        self.node.process.send_signal(signal.SIGHUP)
        renewed = token(secret="the secret of another login service, as long")
        deadline = time.monotonic() + harness.PATIENCE
        while self.status_by_http({"Authorization": f"Bearer {renewed}"}) == 401:
            self.assertLess(time.monotonic(), deadline, "the new keys are not in use")
        self.assertEqual(self.status_by_http({"Authorization": f"Bearer {renewed}"}), 404)
        self.assertEqual(self.status_by_http({"Authorization": f"Bearer {token()}"}), 401)

    def test_a_file_without_a_token_is_named(self):
        process = self.call("--login", self.write("token", ""))
        self.assertEqual(process.returncode, 2)
        self.assertIn("--login: cannot read a token from ", process.stderr)


if __name__ == "__main__":
    CHESS_NODE, COROLANE = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
