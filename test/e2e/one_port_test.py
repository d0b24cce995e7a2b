#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Claims about a shipped node that serves frames and HTTP on one port, on two shards.

Usage: test/e2e/one_port_test.py CHESS_NODE COROLANE
"""

import socket
import subprocess
import sys
import tempfile
import unittest

import harness

CHESS_NODE = "chess_node"
COROLANE = "corolane"
PREFACE_OF_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# So many connections that the kernel gives some to either shard.
MANY = 24


def run(*command):
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return process.stdout + process.stderr


class NodeTest(unittest.TestCase):
    SCHEME = "http"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.node = harness.Node(
            CHESS_NODE,
            *("--set", "node.clients.http=on"),
            *("--set", "node.shards=2"),
            *("--set", "node.store.kind=memory"),
            *("--set", "node.crash.folder="),
            *self.options(),
        )
        self.addCleanup(self.node.stop)

    def options(self):
        return ()

    def call(self, *options):
        return run(COROLANE, "call", self.node.listen, "Chess/Look", '{"game": "none"}', *options)

    def curl(self, *options, scheme=None):
        url = f"{scheme or self.SCHEME}://{self.node.listen}/corolane.services.chess.Chess/Look"
        json = ("--header", "Content-Type: application/json", "--data", '{"game": "none"}')
        return run("curl", "--silent", "--show-error", "--max-time", "20", *json, *options, url)

    def counted(self, metric):
        lines = self.node.page("metrics").splitlines()
        return {
            line.split('"')[1]: int(line.rpartition(" ")[2])
            for line in lines
            if line.startswith(f"corolane_client_connections_{metric}_total{{")
        }

    def answer_to(self, first_bytes):
        """All that the port says to a peer that begins like that, until it closes."""
        host, _, port = self.node.listen.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=20) as peer:
            peer.sendall(first_bytes)
            return b"".join(iter(lambda: peer.recv(4096), b""))


@harness.needs("curl")
class PlainTest(NodeTest):
    def test_frames_and_http_have_the_same_address(self):
        self.assertEqual(self.node.http, self.node.listen)
        for _ in range(MANY):
            self.assertIn("not_found", self.call())
            self.assertIn('"code":"not_found"', self.curl())
        begun = self.counted("begun")
        self.assertEqual((begun["frames"], begun["http"], begun["tls"]), (MANY, MANY, 0))

    def test_who_speaks_something_else_is_told_so(self):
        self.assertIn("alert handshake failure", self.curl("--insecure", scheme="https"))
        self.assertIn("HTTP/1.1", self.answer_to(PREFACE_OF_HTTP2).decode("latin-1"))
        self.assertEqual(self.answer_to(b"SSH-2.0-OpenSSH_9.2\r\n"), b"")
        unserved = self.counted("unserved")
        self.assertEqual((unserved["tls"], unserved["http2"], unserved["unknown"]), (1, 1, 1))


@harness.needs("curl")
@harness.needs("openssl")
class TlsTest(NodeTest):
    SCHEME = "https"

    def options(self):
        self.certificate = f"{self.folder.name}/node.pem"
        key = f"{self.folder.name}/node.key"
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        name = ("-subj", "/CN=node", "-addext", "subjectAltName=IP:127.0.0.1")
        subprocess.run(
            ["openssl", "req", "-x509", *curve, "-keyout", key, *name, "-out", self.certificate],
            capture_output=True,
            check=True,
            timeout=60,
        )
        return (
            *("--set", f"node.clients.tls.certificate_file={self.certificate}"),
            *("--set", f"node.clients.tls.key_file={key}"),
        )

    def test_frames_and_https_have_the_same_address(self):
        self.assertEqual(self.node.http, self.node.listen)
        for _ in range(MANY):
            self.assertIn("not_found", self.call("--tls", self.certificate))
            self.assertIn('"code":"not_found"', self.curl("--cacert", self.certificate))
        begun = self.counted("begun")
        self.assertEqual((begun["frames"], begun["http"], begun["tls"]), (MANY, MANY, 2 * MANY))

    def test_a_websocket_inside_of_tls_has_the_same_address(self):
        self.assertIn("not_found", self.call("--tls", self.certificate, "--websocket"))
        self.assertEqual(self.counted("begun")["websocket"], 1)

    def test_who_comes_without_tls_is_told_so(self):
        self.assertIn("this port speaks TLS: use https://", self.curl(scheme="http"))
        self.assertIn("this port speaks TLS", self.call())
        unserved = self.counted("unserved")
        self.assertEqual((unserved["frames"], unserved["http"]), (1, 1))


class OwnPortTest(NodeTest):
    def options(self):
        return ("--set", "node.clients.http=127.0.0.1:0")

    def test_each_port_says_what_it_does_not_serve(self):
        self.assertNotEqual(self.node.http, self.node.listen)
        self.assertIn(b"serves no HTTP", self.answer_to(b"GET / HTTP/1.1\r\n\r\n"))
        self.node.listen = self.node.http
        self.assertIn("serves HTTP, and no frames", self.call())


if __name__ == "__main__":
    CHESS_NODE, COROLANE = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
