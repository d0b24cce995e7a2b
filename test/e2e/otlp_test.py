#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A chess node sends spans, metrics and its log to a collector over TLS, as OTLP has it.

Called with the paths of chess_node and bots. The certificates are made by openssl.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import harness
import otlp_schema
from otlp_collector import Collector

CHESS_NODE = "chess_node"
BOTS = "bots"
TOKEN = "Bearer 6f1d0c2e"


def make_certificate(folder, name):
    """A certificate for `name` that signs itself; returns its file and that of its key."""
    certificate, key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={name}"),
            *("-addext", f"subjectAltName=DNS:{name}", "-out", certificate, "-keyout", key),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


@harness.needs("openssl")
class OtlpTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.certificate, key = make_certificate(self.folder, "localhost")
        self.collector = Collector(self.certificate, key)
        self.addCleanup(self.collector.close)
        self.headers = Path(self.folder) / "headers"
        self.headers.write_text(f"# For the test.\nAuthorization: {TOKEN}\n", encoding="utf-8")

    def node(self, *options, ca_file=None):
        return harness.ChessNode(
            CHESS_NODE,
            self.folder,
            *("--set", f"node.otlp.endpoint=https://localhost:{self.collector.port}"),
            *("--set", f"node.otlp.headers_file={self.headers}"),
            *("--set", f"node.otlp.tls.ca_file={ca_file or self.certificate}"),
            *("--set", "node.otlp.gzip=true"),
            *("--set", "node.otlp.metrics=true", "--set", "node.otlp.metrics_interval=1s"),
            *("--set", "node.otlp.logs=true", "--set", "node.tracing.sample_ratio=1"),
            *("--set", "node.call_log.one_in=5"),
            *options,
        )

    def wait_until_all_is_sent(self, node):
        """The bots have gone, so nothing new comes but metrics, and lines about them."""
        before = self.collector.request_counts["/v1/metrics"]
        bodies = {"node serves", "call"}

        def is_sent():
            lines = [item["body"]["stringValue"] for _, item in self.collector.received["/v1/logs"]]
            return (
                "\ncorolane_node_spans_queued 0\n" in node.page("metrics")
                and self.collector.request_counts["/v1/metrics"] >= before + 2
                and bodies <= set(lines)
            )

        self.assertTrue(self.collector.wait_for(is_sent), self.collector.complaints)

    def test_all_three_signals_fit_the_schema(self):
        node = self.node()
        games = harness.some_games(self.folder, 8)
        played = node.bots(BOTS, "--games", games)
        self.assertEqual(played.returncode, 0, played.stdout + played.stderr)
        self.wait_until_all_is_sent(node)
        page = node.page("metrics")
        config = node.page("config")
        status, log = node.stop()
        self.assertEqual(status, 0, log)

        received = self.collector.received
        self.assertEqual(self.collector.complaints, [])
        self.assertEqual(self.collector.tokens, {TOKEN})
        for secret in ("6f1d0c2e",):
            self.assertNotIn(secret, config)
            self.assertNotIn(secret, log)

        resources = [named for items in received.values() for named, _ in items]
        for name in ("service.name", "service.version", "service.instance.id", "host.name"):
            self.assertEqual(len({named[name] for named in resources}), 1, name)

        spans = [item for _, item in received["/v1/traces"]]
        names = {item["name"] for item in spans}
        self.assertIn("corolane.services.chess.Chess/Move", names)
        ids = {(item["traceId"], item["spanId"]) for item in spans}
        self.assertEqual(len(ids), len(spans))
        for item in spans:
            self.assertLessEqual(int(item["startTimeUnixNano"]), int(item["endTimeUnixNano"]))

        metrics = {item["name"]: item for _, item in received["/v1/metrics"]}
        families = {line.split()[2] for line in page.splitlines() if line.startswith("# TYPE ")}
        self.assertEqual(set(metrics), families)
        calls = metrics["corolane_rpc_calls_total"]["sum"]
        moves = [
            point["asDouble"]
            for point in calls["dataPoints"]
            if point["attributes"][0]["value"]["stringValue"].endswith("Chess/Move")
        ]
        self.assertGreater(moves[0], 100)
        latency = metrics["corolane_rpc_call_seconds"]
        self.assertEqual(latency["unit"], "s")
        exemplars = [
            exemplar
            for point in latency["histogram"]["dataPoints"]
            for exemplar in point.get("exemplars", [])
        ]
        self.assertTrue(exemplars)
        self.assertLessEqual({(e["traceId"], e["spanId"]) for e in exemplars}, ids)

        lines = [item for _, item in received["/v1/logs"]]
        bodies = {item["body"]["stringValue"] for item in lines}
        self.assertLessEqual({"node serves", "call"}, bodies)
        of_calls = [item for item in lines if item["body"]["stringValue"] == "call"]
        self.assertTrue(all("traceId" in item for item in of_calls))
        self.assertLessEqual({item["traceId"] for item in of_calls}, {i for i, _ in ids})
        written = [line for line in log.splitlines() if " node serves " in line]
        self.assertEqual(len(written), 1)

    def test_a_collector_with_another_certificate_gets_nothing(self):
        certificate, _ = make_certificate(self.folder, "another")
        node = self.node(ca_file=certificate)
        words = "collector accepts no metrics"
        self.assertTrue(self.collector.wait_for(lambda: words in node.page("log")))
        text = node.page("log")
        status, _ = node.stop()
        self.assertEqual(status, 0)
        self.assertIn("node.otlp.tls.ca_file", text)
        self.assertEqual(dict(self.collector.received), {})


class SchemaTest(unittest.TestCase):
    """The reader of the schema finds what is wrong."""

    SPAN = {
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "name": "x",
        "kind": 2,
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
    }

    def check(self, **changes):
        spans = [{**self.SPAN, **changes}]
        request = {
            "resourceSpans": [
                {
                    "resource": {"attributes": []},
                    "scopeSpans": [{"scope": {"name": "corolane"}, "spans": spans}],
                }
            ]
        }
        otlp_schema.check_request("/v1/traces", request)

    def test_a_right_request_passes(self):
        self.check()
        self.check(attributes=[{"key": "a", "value": {"intValue": "-5"}}])

    def test_each_mistake_is_named(self):
        for changes, word in (
            ({"traceId": "4bf9"}, "32 digits"),
            ({"spanId": "0" * 16}, "zeros"),
            ({"kind": "server"}, "whole number"),
            ({"startTimeUnixNano": 1}, "string of digits"),
            ({"endTimeUnixNano": str(2**64)}, "out of range"),
            ({"start_time": "1"}, "unknown field start_time"),
            ({"attributes": [{"key": "a", "value": {"intValue": 5}}]}, "string of digits"),
            ({"attributes": [{"key": "a", "value": {}}]}, "exactly one"),
            ({"attributes": [{"key": "a", "value": {"boolValue": True}}] * 2}, "key twice"),
        ):
            with self.assertRaisesRegex(otlp_schema.Invalid, word):
                self.check(**changes)


if __name__ == "__main__":
    CHESS_NODE, BOTS = (str(Path(word).resolve()) for word in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
