#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmarks as a user runs them: their output, and how they refuse invalid arguments.

Called with the paths of coroutine_bench, net_bench, rpc_bench, objects_bench, edge_bench,
node_bench and scale_bench. No test depends on speed.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COROUTINE_BENCH, NET_BENCH, RPC_BENCH = "coroutine_bench", "net_bench", "rpc_bench"
OBJECTS_BENCH, EDGE_BENCH = "objects_bench", "edge_bench"
NODE_BENCH, SCALE_BENCH = "node_bench", "scale_bench"
TOOLS_BENCH = Path(__file__).resolve().parents[3] / "tools/bench"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def bench(*options):
    return run(COROUTINE_BENCH, *options)


class CoroutineBenchTest(unittest.TestCase):
    def test_json_has_the_promised_shape(self):
        process = bench("--quick", "--rows", "^yield/1$", "--peers", "none", "--json")
        self.assertEqual(process.returncode, 0, process.stderr)
        (row,) = json.loads(process.stdout)["rows"]
        self.assertEqual(row["name"], "yield/1")
        self.assertEqual(row["unit"], "ns")
        self.assertEqual(row["peers"], {})
        for key in ("ours", "limit", "ratio"):
            self.assertGreater(row[key], 0)
        self.assertEqual(row["rounds"], 3)
        self.assertEqual(row["holds"], row["ratio"] <= row["bar"])

    def test_peers_are_measured_by_name(self):
        process = bench("--quick", "--rounds=1", "--rows=^yield/1$", "--peers=cpp20", "--json")
        (row,) = json.loads(process.stdout)["rows"]
        self.assertEqual(list(row["peers"]), ["cpp20"])

    def test_a_program_takes_part_with_the_rows_that_it_names(self):
        with tempfile.TemporaryDirectory() as folder:
            peer = Path(folder, "go_peer")
            answer = 'if [ "$1" = --rows ]; then echo yield/1; else echo 12.5; fi'
            peer.write_text(f"#!/bin/sh\n{answer}\n")
            peer.chmod(0o755)
            options = ("--rounds=1", "--rows=^(yield/1|pingpong)$", "--peers=go", "--json")
            process = bench("--quick", *options, "--go-peer", peer)
        rows = {row["name"]: row for row in json.loads(process.stdout)["rows"]}
        self.assertEqual(rows["yield/1"]["peers"], {"go": 12.5})
        self.assertEqual(rows["pingpong"]["peers"], {})

    def test_tables_and_progress_go_to_different_streams_and_a_chart_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            chart = Path(folder, "chart.svg")
            options = ("--rounds=1", "--rows=^yield/1$", "--peers=none", "--plot", chart)
            process = bench("--quick", *options)
            self.assertTrue(chart.read_text().startswith("<svg "))
        self.assertRegex(process.stdout, r"\nyield/1 +ns +[\d.]+ ")
        self.assertTrue(process.stderr.startswith("[1/1] yield/1: "))

    def test_a_missed_bar_is_a_failure_only_with_check(self):
        # Memory figures repeat exactly, so that the verdict is the same in both runs.
        options = ("--quick", "--rounds=1", "--rows=^memory/30000$", "--peers=none")
        plain = bench(*options, "--json")
        checked = bench(*options, "--check")
        holds = json.loads(plain.stdout)["rows"][0]["holds"]
        self.assertEqual((plain.returncode, checked.returncode), (0, 0 if holds else 1))

    def test_an_unknown_row_is_refused_with_the_list_of_rows(self):
        process = bench("--rows", "yeild")
        self.assertEqual(process.returncode, 2)
        self.assertIn('--rows "yeild" matches none of the rows:\n  yield/1\n', process.stderr)

    def test_invalid_arguments_are_refused_with_a_hint(self):
        for options, words in (
            (("--rows", "yield("), '--rows "yield(" is not a regular expression: '),
            (("--rounds", "many"), '--rounds takes a number from 1 to 1000, not "many"'),
            (("--rounds", "0"), '--rounds takes a number from 1 to 1000, not "0"'),
            (("--peers", "go,jav"), '--peers: no peer "jav"; the choices are none or fcontext,'),
            (("--fast",), 'unknown option "--fast"'),
            (("fast",), 'unknown word "fast"'),
        ):
            with self.subTest(options=options):
                process = bench(*options)
                self.assertEqual(process.returncode, 2)
                self.assertIn(words, process.stderr)
                self.assertIn("see tools/bench --help", process.stderr)
                self.assertEqual(process.stdout, "")


class NetworkBenchTest(unittest.TestCase):
    """The programs of tools/bench net and tools/bench rpc: a server, and a load beside it."""

    def rows_of(self, program, *options):
        process = run(program, "--quick", "--rounds=1", "--json", *options)
        self.assertEqual(process.returncode, 0, process.stderr)
        return json.loads(process.stdout)["rows"]

    def test_a_message_costs_the_server_something(self):
        (row,) = self.rows_of(NET_BENCH, "--rows=^echo/100x16$", "--peers=libuv")
        self.assertEqual((row["unit"], list(row["peers"])), ("ns", ["libuv"]))
        self.assertEqual(sorted(row["traffic"]), ["libuv", "limit", "ours"])
        for key in ("ours", "limit", "ratio"):
            self.assertGreater(row[key], 0)
        for traffic in row["traffic"].values():
            self.assertGreater(traffic["ops_per_second"], 0)
            self.assertGreaterEqual(traffic["p99_us"], traffic["p50_us"])

    def test_a_call_costs_the_server_something_and_its_messages_alone_allocate(self):
        rows = self.rows_of(RPC_BENCH, "--rows=^rpc/(1x64|allocations)$", "--peers=none")
        for row in rows:
            self.assertGreater(row["ours"], 0)
            self.assertGreater(row["limit"], 0)
        self.assertEqual(rows[0]["bar"], 2.0)
        self.assertNotIn("times_better", rows[0])

    def test_a_peer_brings_its_server_and_its_client(self):
        # Its server uses no CPU time, so that no bar against it can hold.
        script = """#!/bin/sh
case $1 in
  --rows) echo rpc/1x64 ;;
  serve) echo 1 && exec sleep 100 ;;
  call) while read -r time; do echo "1000 $((time * 1000000)) 5000 9000"; done ;;
esac
"""
        with tempfile.TemporaryDirectory() as folder:
            peer = Path(folder, "tonic_peer")
            peer.write_text(script)
            peer.chmod(0o755)
            options = ("--rows=^rpc/1x64$", "--peers=tonic", "--tonic-peer", peer)
            (row,) = self.rows_of(RPC_BENCH, *options)
            checked = run(RPC_BENCH, "--quick", "--rounds=1", "--check", *options)
        traffic = {"ops_per_second": 5000, "p50_us": 5, "p99_us": 9}
        self.assertEqual(row["traffic"]["tonic"], traffic)
        self.assertEqual(row["times_better"]["tonic"]["bar"], 10)
        self.assertEqual((row["times_better"]["tonic"]["holds"], row["holds"]), (False, False))
        self.assertRegex(checked.stdout, r"\nrpc/1x64  tonic +[\d.]+  >= 10.0  MISSED\n")
        self.assertEqual(checked.returncode, 1)

    def test_a_peer_that_fails_is_left_out_with_its_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            peer = Path(folder, "tonic_peer")
            answer = "if [ $1 = --rows ]; then echo rpc/1x64; else echo broken; fi"
            peer.write_text(f"#!/bin/sh\n{answer}\n")
            peer.chmod(0o755)
            options = ("--rows=^rpc/1x64$", "--peers=tonic", "--tonic-peer", peer)
            process = run(RPC_BENCH, "--quick", "--rounds=1", "--json", *options)
        self.assertEqual(json.loads(process.stdout)["rows"][0]["peers"], {})
        self.assertIn("rpc/1x64: no value for tonic: the server: broken\n", process.stderr)

    def test_each_benchmark_has_its_own_rows_and_peers(self):
        for program, row, peers in (
            (NET_BENCH, "echo/100x1", "none or libuv,go,tokio"),
            (RPC_BENCH, "rpc/1x1", "none or grpc_cpp,grpc_go,tonic"),
        ):
            with self.subTest(program=program):
                process = run(program, "--rows", "yield")
                self.assertEqual(process.returncode, 2)
                self.assertIn(f"matches none of the rows:\n  {row}\n", process.stderr)
                self.assertIn(peers, run(program, "--peers=cpp20").stderr)


class ObjectsBenchTest(unittest.TestCase):
    """The program of tools/bench objects: nodes within its own process."""

    def test_every_row_but_the_million_measures_something(self):
        rows = "--rows=^(call|activate|throughput)/"
        process = run(OBJECTS_BENCH, "--quick", "--rounds=1", "--json", rows)
        self.assertEqual(process.returncode, 0, process.stderr)
        found = {row["name"]: row for row in json.loads(process.stdout)["rows"]}
        self.assertEqual(len(found), 7)
        for name, row in found.items():
            with self.subTest(row=name):
                self.assertGreater(row["ours"], 0)
                self.assertGreater(row["limit"], 0)


class EdgeBenchTest(unittest.TestCase):
    """The program of tools/bench edge: a node, and crowds of sessions beside it."""

    def test_every_row_but_the_largest_measures_something(self):
        rows = "--rows=^(idle/kernel|echo|publish|never_reading|login)"
        process = run(EDGE_BENCH, "--quick", "--rounds=1", "--json", rows)
        self.assertEqual(process.returncode, 0, process.stderr)
        found = {row["name"]: row for row in json.loads(process.stdout)["rows"]}
        self.assertEqual(len(found), 8)
        for name, row in found.items():
            with self.subTest(row=name):
                self.assertGreater(row["ours"], 0)
                self.assertGreater(row["limit"], 0)

    def test_the_memory_of_sessions_is_within_its_bar(self):
        # Memory does not depend on speed.
        process = run(EDGE_BENCH, "--quick", "--check", "--rows=^idle$")
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)

    def test_a_quick_run_has_fewer_clients(self):
        process = run(EDGE_BENCH, "--quick", "--rounds=1", "--rows=^publish$")
        self.assertIn("publish: server CPU of a publication to 2,000 sessions", process.stderr)


class NodeBenchTest(unittest.TestCase):
    """The program of tools/bench node: a node under observation."""

    def test_every_row_measures_something(self):
        process = run(NODE_BENCH, "--quick", "--rounds=1", "--json")
        self.assertEqual(process.returncode, 0, process.stderr)
        found = {row["name"]: row for row in json.loads(process.stdout)["rows"]}
        self.assertEqual(len(found), 5)
        for name, row in found.items():
            with self.subTest(row=name):
                self.assertGreater(row["ours"], 0)
                self.assertGreater(row["limit"], 0)


class ScaleBenchTest(unittest.TestCase):
    """The program of tools/bench scale: simulated clusters."""

    def test_every_row_has_a_column_for_each_number_of_nodes(self):
        process = run(SCALE_BENCH, "--quick")
        self.assertEqual(process.returncode, 0, process.stderr)
        table = [line.split()[-2:] for line in process.stdout.splitlines()[:10]]
        self.assertEqual(table[0], ["3", "10"])
        for figures in table[1:]:
            for figure in figures:
                self.assertGreaterEqual(float(figure), 0)

    def test_a_cluster_reads_and_spreads_within_its_bars(self):
        lines = run(SCALE_BENCH, "--quick").stdout.splitlines()
        self.assertIn("holds: a node reads at most 1 MB per failover", lines)
        self.assertIn("holds: no node owns a tenth more partitions than the mean", lines)

    def test_invalid_arguments_are_refused(self):
        for arguments in (["--rounds=3"], ["all"]):
            with self.subTest(arguments=arguments):
                process = run(SCALE_BENCH, *arguments)
                self.assertEqual(process.returncode, 2)
                self.assertIn("see tools/bench --help", process.stderr)


class ToolsBenchTest(unittest.TestCase):
    """The script tools/bench, before it installs or builds anything."""

    def test_help_names_every_option(self):
        process = run(TOOLS_BENCH, "--help")
        self.assertEqual(process.returncode, 0)
        for option in ("--rows", "--rounds", "--quick", "--json", "--plot", "--peers", "--check"):
            self.assertIn(f"  {option} ", process.stdout)

    def test_invalid_arguments_are_refused_with_a_hint(self):
        for arguments, words in (
            ((), "say what to measure: tools/bench coroutine, net, rpc, objects, edge, node or "),
            (("corutine",), "unknown subject 'corutine'; type tools/bench "),
            (("coroutine", "--fast"), "unknown argument '--fast'"),
            (("coroutine", "--rows"), "--rows needs a value"),
        ):
            with self.subTest(arguments=arguments):
                process = run(TOOLS_BENCH, *arguments)
                self.assertEqual(process.returncode, 2)
                self.assertIn(words, process.stderr)
                self.assertIn("see tools/bench --help", process.stderr)


if __name__ == "__main__":
    COROUTINE_BENCH, NET_BENCH, RPC_BENCH = (sys.argv.pop(1) for _ in range(3))
    OBJECTS_BENCH, EDGE_BENCH = (sys.argv.pop(1) for _ in range(2))
    NODE_BENCH, SCALE_BENCH = (sys.argv.pop(1) for _ in range(2))
    unittest.main()
