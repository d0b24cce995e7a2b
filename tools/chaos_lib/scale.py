#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the death of a node costs clusters of real processes: the program behind
`tools/bench scale --processes`.
"""

import http.client
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

# pylint: disable=wrong-import-position
from chaos_lib import records
from chaos_lib.cluster import Broken, Cluster, boot_ns

NODE_COUNTS = (3, 10)
PARTITION_COUNT = 1_024
BYTES_MAX = 1e6
ANSWERS_RATIO_MAX = 1.5
# What owners of all partitions may take: the lease of the dead node has to expire first.
FAILOVER_TIME_MAX = 20.0
# The players before the death, and after all partitions have owners again.
QUIET_TIME = 5.0

HELP = """\
usage: tools/bench scale --processes [--check]

Starts 3 and then 10 chess nodes with an etcd and a redis on this machine, kills
one without a word to the others, and prints what that costs them. It takes a
minute and a half.
"""


@dataclass(frozen=True)
class Figures:
    nodes: int
    read_mean: float
    read_max: float
    owned_after: float
    slowest_call: float
    spread: float
    connections: float
    stacks: float
    memory: float


def stats_of(node):
    connection = http.client.HTTPConnection("127.0.0.1", node.admin_port, timeout=5)
    connection.request("GET", "/stats")
    return json.load(connection.getresponse())


def memory_of(node):
    """The resident memory of the process, in bytes."""
    pages = int(Path(f"/proc/{node.process.pid}/statm").read_text().split()[1])
    return pages * 4096


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def wait_for_owners(witness, count):
    """Returns the shares of the nodes, as the witness sees them, once all have owners."""
    end = time.monotonic() + FAILOVER_TIME_MAX
    while time.monotonic() < end:
        shares = witness.shares()
        if len(shares) == count and sum(shares) == PARTITION_COUNT:
            return shares
        time.sleep(0.02)
    raise Broken("partitions have no owners, long after the death of a node")


def measure(build, folder, count):
    with Cluster(build, folder, count, ["node.log_level=info"]) as cluster:
        cluster.start()
        *living, victim = cluster.nodes
        history = folder / "history.jsonl"
        bots = [
            *(build / "tools/bots", "--server", ",".join(node.listen for node in living)),
            *("--history", history, "--seconds", "20", "--at-once", "20", "--think", "5"),
        ]
        with open(folder / "bots.log", "wb") as log, subprocess.Popen(
            bots, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        ) as players:
            try:
                time.sleep(QUIET_TIME)
                before = [node.relay.byte_count for node in living]
                died_at, died = boot_ns(), time.monotonic()
                victim.kill()
                shares = wait_for_owners(living[0], count - 1)
                owned_after = time.monotonic() - died
                time.sleep(QUIET_TIME)
                read = [node.relay.byte_count - was for node, was in zip(living, before)]
                stats = [stats_of(node) for node in living]
                memory = [memory_of(node) for node in living]
                if players.wait(timeout=120) != 0:
                    raise Broken(f"games have not ended as expected; see {folder}/bots.log")
            except subprocess.TimeoutExpired as expired:
                raise Broken(f"games have not ended at all; see {folder}/bots.log") from expired
            finally:
                if players.poll() is None:
                    players.kill()
        with open(history, encoding="utf-8") as lines:
            calls = [call for call in records.read_history(lines)
                     if call.end > died_at and "Wait" not in call.method]
    return Figures(
        nodes=count,
        read_mean=mean(read),
        read_max=max(read),
        owned_after=owned_after,
        slowest_call=max(call.end - max(call.begin, died_at) for call in calls) / 1e9,
        spread=max(shares) / mean(shares),
        connections=mean(each["rpc"]["connections"] for each in stats),
        stacks=mean(each["stack_pool"]["in_use"] for each in stats),
        memory=mean(memory),
    )


def rows():
    return (
        ("nodes, processes", lambda of: str(of.nodes)),
        ("read per node and failover, mean, kB", lambda of: f"{of.read_mean / 1e3:.1f}"),
        ("read per node and failover, max, kB", lambda of: f"{of.read_max / 1e3:.1f}"),
        ("all partitions have owners after, s", lambda of: f"{of.owned_after:.2f}"),
        ("slowest call of a player, s", lambda of: f"{of.slowest_call:.2f}"),
        ("partitions, max by mean", lambda of: f"{of.spread:.3f}"),
        ("connections per node", lambda of: f"{of.connections:.1f}"),
        ("stacks per node", lambda of: f"{of.stacks:.1f}"),
        ("memory per node, MB", lambda of: f"{of.memory / 1e6:.1f}"),
    )


def check(few, many):
    bars = (
        ("a node reads at most 1 MB per failover", many.read_max <= BYTES_MAX),
        ("all partitions have owners after at most 1.5 times the time with the fewest nodes",
         many.owned_after <= ANSWERS_RATIO_MAX * few.owned_after),
        ("no node owns a tenth more partitions than the mean", many.spread <= 1.1),
    )
    for bar, holds in bars:
        print(f"{'holds' if holds else 'missed'}: {bar}")
    return all(holds for _, holds in bars)


def main():
    words = sys.argv[1:]
    if "--help" in words:
        print(HELP, end="")
        return 0
    if len(words) < 1 or any(word != "--check" for word in words[1:]):
        print("tools/bench scale: --processes knows --check alone", file=sys.stderr)
        return 2
    build = Path(words[0]).resolve()
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    figures = []
    for count in NODE_COUNTS:
        print(f"tools/bench scale: {count} processes", file=sys.stderr)
        folder = Path(tempfile.mkdtemp(prefix="corolane-scale."))
        try:
            figures.append(measure(build, folder, count))
        except Broken as problem:
            print(f"tools/bench scale: {problem}; all logs are in {folder}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130
        shutil.rmtree(folder)
    for name, value in rows():
        print(f"{name:<38}" + "".join(f"{value(of):>10}" for of in figures))
    return 0 if "--check" not in words or check(*figures) else 1


if __name__ == "__main__":
    sys.exit(main())
