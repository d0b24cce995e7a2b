#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A shipped node under clients that no library of this project has made: none of them harms the
others, or costs the node more than its share.

Usage: test/e2e/raw_clients_test.py CHESS_NODE
"""

import itertools
import json
import os
import socket
import sys
import tempfile
import time
import unittest

import harness
from raw_client import (
    FAILED_PRECONDITION,
    HEADER,
    NOT_EXECUTED,
    RESOURCE_EXHAUSTED,
    TYPES,
    RawClient,
    connect,
    field,
    fields,
    http_request,
    method_id,
)

CHESS_NODE = "chess_node"
CHESS = "corolane.services.chess.Chess/"
TRANSCRIPTS = harness.ROOT / "test/data/protocol"


def seconds_passed(since):
    return time.monotonic() - since


class RawClientsTest(unittest.TestCase):
    def start(self, *settings):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        node = harness.ChessNode(
            CHESS_NODE,
            folder.name,
            *("--set", "node.clients.login.anonymous=true"),
            *("--set", "node.store.kind=memory"),
            *("--set", "node.crash.folder="),
            *(word for setting in settings for word in ("--set", setting)),
        )
        self.addCleanup(node.stop)
        return node

    def wait_until(self, is_so, what):
        begin = time.monotonic()
        while not is_so():
            self.assertLess(seconds_passed(begin), harness.PATIENCE, what)
            time.sleep(0.01)

    def memory_of(self, node):
        """The memory of a node without connections, in KiB."""
        self.wait_until(lambda: connection_count(node) == 0, "the connections end")
        return resident_kib(node)

    def test_connections_leave_nothing_behind(self):
        node = self.start("node.shards=1")
        # With a requester; with the fields by which older clients named themselves and their
        # connections.
        for name, make_hello in {
            "requester": lambda: field(5, os.urandom(16)),
            "older": lambda: field(2, os.urandom(16)) + field(3, 0),
        }.items():
            with self.subTest(name):
                sizes = []
                for _ in range(6):
                    for _ in range(3000):
                        with RawClient(node.listen, make_hello()) as client:
                            self.assertEqual(client.hello.type, "hello")
                    sizes.append(self.memory_of(node))
                # A hundred bytes for each would be 300 in every round; other memory comes and goes.
                growth = min(after - before for before, after in itertools.pairwise(sizes))
                self.assertLess(growth, 150, f"KiB after each round: {sizes}")

    def test_answers_behind_a_half_close_are_whole(self):
        node = self.start("node.shards=1")
        with connect(node.http, receive_bytes=4096) as client:
            client.sendall(b"GET /?n=1 HTTP/1.1\r\nHost: node\r\n\r\n" * 3000)
            client.shutdown(socket.SHUT_WR)
            text = b"".join(iter(lambda: client.recv(65536), b""))
        count = 0
        while text:
            head, separator, text = text.partition(b"\r\n\r\n")
            self.assertTrue(separator and head.startswith(b"HTTP/1.1 200 OK\r\n"), head[:100])
            size = next(
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            )
            self.assertGreaterEqual(len(text), size, f"answer {count + 1} is cut off")
            self.assertNotIn(b"HTTP/1.1 ", text[:size], f"answer {count + 1} has another in it")
            text = text[size:]
            count += 1
        self.assertGreater(count, 10)

    def test_a_request_that_is_too_large_fails_alone(self):
        node = self.start()
        game = field(1, b"oversize")
        with RawClient(node.listen) as client:
            tokens = []
            for seat in (1, 2):
                client.call(seat, f"{CHESS}Join", game + field(2, seat))
                joined = client.receive()
                self.assertEqual(joined.code, 0, joined)
                tokens.append(fields(joined.message)[1])
            for number in (10, 11, 12):
                client.call(number, f"{CHESS}WaitMove", game + field(2, 1))
            client.call(99, f"{CHESS}Join", field(1, b"x" * 70_000))
            refused = client.receive()
            self.assertEqual(
                (refused.call, refused.code, refused.flags), (99, RESOURCE_EXHAUSTED, NOT_EXECUTED)
            )
            # The field of the token is a fixed64.
            client.call(100, f"{CHESS}Resign", game + b"\x11" + tokens[0])
            ended = {reply.call: reply.code for reply in (client.receive() for _ in range(4))}
            self.assertEqual(ended, dict.fromkeys((10, 11, 12), FAILED_PRECONDITION) | {100: 0})

    def test_input_behind_a_running_request_waits_at_its_sender(self):
        node = self.start("node.shards=1", "node.clients.address_share=100")
        game = {"game": "pipeline"}
        with connect(node.http) as player:
            player.sendall(http_request(f"{CHESS}Join", game | {"seat": "WHITE"}))
            self.assertIn(b"200 OK", player.recv(200))
        wait = http_request(f"{CHESS}WaitMove", game | {"ply": 1}, Connect_Timeout_Ms=9_999_999_999)
        clients = [connect(node.http) for _ in range(200)]
        for client in clients:
            self.addCleanup(client.close)
            client.sendall(wait)
        self.wait_until(lambda: running_count(node, "WaitMove") == 200, "all of them wait")
        sent = {}
        for client in clients:
            client.setblocking(False)
            host, port = client.getsockname()
            sent[f"{host}:{port}"] = client.send(b"x" * 1024 * 1024)
        # The node has read what it will, once it has answered somebody who came later.
        for _ in range(10):
            connections = json.loads(node.page("connections?format=json"))["connections"]
        received = {row["peer"]: row["received_bytes"] for row in connections}
        self.assertEqual(running_count(node, "WaitMove"), 200)
        for peer, size in sent.items():
            # 16 KiB of pipelined bytes, and what is read at once.
            self.assertLess(received[peer], 150 * 1024)
            self.assertGreater(size, received[peer], "the rest waits with the kernel")

    def test_connections_of_one_client_are_alike_on_any_number_of_shards(self):
        for shards in (1, 4):
            with self.subTest(shards=shards):
                node = self.start(f"node.shards={shards}")
                served = 0
                for _ in range(40):
                    hello = field(5, os.urandom(16))
                    with RawClient(node.listen, hello) as old, RawClient(node.listen, hello) as new:
                        for client in (new, old):
                            client.send("ping")
                            served += client.receive().type == "pong"
                self.assertEqual(served, 80, "each connection stays until its client closes it")

    def test_a_client_that_reads_slowly_is_not_cut_off(self):
        node = self.start("node.shards=1")
        with RawClient(node.listen, receive_bytes=8192) as client:
            describe = "corolane.rpc.Reflection/Describe"
            symbol = field(1, b"corolane.services.chess.Chess")
            client.call(1, describe, symbol)
            size = HEADER.size + len(client.receive().message)
            count = 700 * 1024 // size
            for number in range(count):
                client.call(10 + number, describe, symbol, seconds=600)
            received = 0
            begin = last_ping = time.monotonic()
            pong_bytes = 0
            while received < count * size + pong_bytes:
                piece = client.socket.recv(2048)
                self.assertTrue(piece, f"cut off after {seconds_passed(begin):.1f} s")
                received += len(piece)
                # 40 KiB/s: longer than a silent client would be waited for.
                time.sleep(max(0.0, begin + received / (40 * 1024) - time.monotonic()))
                if seconds_passed(last_ping) > 2:
                    last_ping = time.monotonic()
                    client.send("ping")
                    pong_bytes += HEADER.size
            self.assertGreater(seconds_passed(begin), 15)


def connection_count(node):
    return node.stats()["rpc"]["connections"]


def running_count(node, method):
    return node.stats()["rpc"]["methods"][CHESS + method]["running"]


def resident_kib(node):
    with open(f"/proc/{node.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


class TranscriptsTest(unittest.TestCase):
    """The transcripts say the same to another reader."""

    def test_bytes_are_those_of_the_header(self):
        count = 0
        for path in sorted(TRANSCRIPTS.glob("*.json")):
            for transcript in json.loads(path.read_text(encoding="utf-8"))["transcripts"]:
                for step in transcript["steps"]:
                    if "does" not in step:
                        count += 1
                        with self.subTest(path.name, transcript=transcript["name"], step=step):
                            self.check(step)
        self.assertGreater(count, 100)

    def check(self, step):
        header = step["header"]
        if "method" in header:
            self.assertEqual(int(header["method_id"], 16), method_id(header["method"]))
        kind = header["type"]
        flags = {"maybe_executed": 1, "not_executed": 2, "from_handler": 4}
        expected = HEADER.pack(
            header["payload_size"],
            TYPES.index(kind) if kind in TYPES else kind,
            CODES.index(header["code"]),
            sum(flags[flag] for flag in header["flags"]),
            0,
            int(header["call_id"], 16),
            int(header["method_id"], 16),
            header["time"],
            header["extension_size"],
        )
        text = bytes_of(step["bytes"])
        self.assertEqual(text[: HEADER.size], expected)
        self.assertEqual(len(text), HEADER.size + header["payload_size"])
        extension = text[HEADER.size :][: header["extension_size"]]
        message = text[HEADER.size + header["extension_size"] :]
        for name, part in (("extension", extension), ("message", message)):
            content = step.get(name, {"bytes": ""})
            if "bytes" in content:
                self.assertEqual(bytes_of(content["bytes"]), part)
            elif "text" in content:
                self.assertEqual(content["text"].encode(), part)
            else:
                self.assertLessEqual(len(content["fields"]), len(fields(part)))


CODES = (
    "ok cancelled unknown invalid_argument deadline_exceeded not_found already_exists "
    "permission_denied resource_exhausted failed_precondition aborted out_of_range unimplemented "
    "internal unavailable data_loss unauthenticated"
).split()


def bytes_of(text):
    groups = (word.partition("*") for word in text.split())
    return b"".join(bytes.fromhex(group) * int(times or 1) for group, _, times in groups)


if __name__ == "__main__":
    CHESS_NODE = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
