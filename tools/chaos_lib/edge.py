# SPDX-License-Identifier: MIT
"""Players on edge nodes: their sockets are cut all the time, all nodes are restarted in turn, and
an edge node is killed. No push may be lost, doubled or out of order.
"""

import random
import re
import secrets
import signal
import time

from chaos_lib.cluster import free_ports
from chaos_lib.cutter import Cutter

EDGE_COUNT = 2
CUT_INTERVAL = 2.0
RESUME_TIME_MAX_MS = 300

# All nodes are restarted within that time, each after the last one is back.
SECONDS_MIN = 30


def settings_of(key_file):
    """The settings with which players log in, by a secret that this makes."""
    key_file.write_text(secrets.token_hex(32), encoding="utf-8")
    return [
        "node.clients.login.anonymous=false",
        f"node.clients.login.jwt_keys_file={key_file}",
        "node.clients.public_methods_only=true",
    ]


class Edges:
    """The proxies before the edge nodes, and what happens to the nodes."""

    def __init__(self, cluster, seed, say):
        self.cluster = cluster
        self.say = say
        self.random = random.Random(seed)
        self.cutters = [
            Cutter(port, node.port, CUT_INTERVAL)
            for port, node in zip(free_ports(EDGE_COUNT), cluster.edges)
        ]
        self.restart_count = 0
        self.kill_count = 0
        self.violations = []
        self.start = 0.0

    def __enter__(self):
        for cutter in self.cutters:
            cutter.start()
        return self

    def __exit__(self, *_):
        for cutter in self.cutters:
            cutter.close()

    @property
    def addresses(self):
        return ",".join(cutter.address for cutter in self.cutters)

    @property
    def cut_count(self):
        return sum(cutter.cut_count for cutter in self.cutters)

    def run(self, seconds):
        """Restarts each node and kills an edge node, one after the other, in an order by the
        seed.
        """
        steps = [*self.cluster.nodes, *self.cluster.edges, None]
        self.random.shuffle(steps)
        self.start = time.monotonic()
        for i, node in enumerate(steps):
            self.wait_until(seconds * (i + 0.5) / (len(steps) + 1))
            if node is None:
                self.kill_one()
            else:
                self.restart(node)
            self.cluster.wait_until_whole()
        self.wait_until(seconds)

    def now(self):
        return time.monotonic() - self.start

    def wait_until(self, at):
        time.sleep(max(0.0, at - self.now()))

    def restart(self, node):
        began = self.now()
        node.signal(signal.SIGTERM)
        status = node.process.wait()
        if status != 0:
            self.violations.append(
                f"{node.incarnation} ended with {status}; its log is {node.log}"
            )
        self.say(f"{began:6.1f} s  {node.incarnation} stopped in {self.now() - began:.2f} s")
        node.start()
        self.restart_count += 1

    def kill_one(self):
        """Kills the edge node with the most clients, since one that was just restarted has few. As
        the supervisor of a real node does, revokes the lease of the dead one.
        """
        crowd = max(self.cutters, key=lambda cutter: cutter.client_count)
        node = self.cluster.edges[self.cutters.index(crowd)]
        count = crowd.client_count
        dead = node.memberships()
        node.kill()
        self.say(f"{self.now():6.1f} s  kill {node.incarnation} with {count} clients")
        while not self.cluster.revoke_leases(dead):
            time.sleep(0.1)
        node.start()
        self.kill_count += 1


def number(text):
    return int(text.replace(",", ""))


def judge(edges, said, is_fine, say):
    """Prints a line for each claim, from what the bots have said. Returns how many games there
    were, and violations.
    """
    games = re.search(r"^(\d+)/(\d+) games ", said, re.MULTILINE)
    pushes = re.search(
        r"^pushes: (\S+) received, (\S+) lost, (\S+) doubled, (\S+) out of order",
        said, re.MULTILINE,
    )
    resumed = re.search(r"^resumed (\S+) times: p50 (\S+) ms, p99 (\S+) ms, max (\S+) ms", said,
                        re.MULTILINE)
    if not games or not pushes or not resumed:
        return 0, ["the bots have given no verdict"]
    received, lost, doubled, unordered = map(number, pushes.groups())
    count, p50, p99, most = map(number, resumed.groups())
    wrong = lost + doubled + unordered
    missed = "" if p99 <= RESUME_TIME_MAX_MS else ": MISSED"
    say(f"{games[1]} of {games[2]} games by WebSocket clients as expected")
    say(f"pushes lost, doubled or out of order: {wrong} (of {received})")
    say(f"resume p50 {p50} ms, p99 {p99} ms, max {most} ms, target at most {RESUME_TIME_MAX_MS}"
        f"{missed} ({count} times)")
    say(f"sockets cut: {edges.cut_count}")
    say(f"nodes restarted: {edges.restart_count}, edge nodes killed: {edges.kill_count}")
    violations = list(edges.violations)
    if wrong > 0:
        violations.append(f"pushes: {lost} lost, {doubled} doubled, {unordered} out of order")
    if not is_fine:
        violations.append("the bots have found mistakes")
    if edges.cut_count == 0:
        violations.append("no socket was cut")
    return int(games[1]), violations
