# SPDX-License-Identifier: MIT
"""An etcd, a redis and chess nodes on this machine, as processes that can be killed, suspended and
restarted.
"""

import base64
import http.client
import json
import re
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path

from chaos_lib.relay import Relay

ROOT = Path(__file__).resolve().parents[2]
CLUSTER_NAME = "chess"
SAMPLE = "config/samples/chess-cluster.yaml"
START_TIME_MAX = 30.0


def boot_ns():
    """The current time on the clock of the bots' history and of the nodes' logs."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Broken(Exception):
    """The cluster cannot be brought into the required state."""


# Bound until this process ends. They do not listen, and a server that sets SO_REUSEADDR, as all of
# ours do, listens beside them; every other bind fails.
_reservations = []


def free_ports(count):
    """Ports that no other process takes, below the range that the kernel assigns."""
    ports = []
    while len(ports) < count:
        candidate = 20000 + secrets.randbelow(12000)
        reservation = socket.socket()
        try:
            reservation.bind(("127.0.0.1", candidate))
        except OSError:
            reservation.close()
            continue
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _reservations.append(reservation)
        ports.append(candidate)
    return ports


class Process:
    """A program that may be started several times, with a log for each start."""

    def __init__(self, name, command, folder):
        self.name = name
        self.command = command
        self.folder = folder
        self.start_count = 0
        self.process = None

    @property
    def log(self):
        return self.folder / f"{self.name}.{self.start_count}.log"

    @property
    def announcement(self):
        return self.folder / f"{self.name}.{self.start_count}.out"

    def start(self):
        self.start_count += 1
        with open(self.log, "wb") as log, open(self.announcement, "wb") as out:
            self.process = subprocess.Popen(
                self.command, stdout=out, stderr=log, cwd=ROOT, start_new_session=True
            )

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Kills the process, and returns when it is reaped."""
        self.process.kill()
        self.process.wait()

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def wait_for(self, is_ready):
        end = time.monotonic() + START_TIME_MAX
        while not is_ready():
            if not self.is_running() or time.monotonic() > end:
                raise Broken(f"{self.name} did not start; its log is {self.log}")
            time.sleep(0.02)


def command_of(program, settings, folder):
    """The command of a build that may know only one redis: then the address has another key, in the
    settings and in a copy of the sample.
    """
    keys = subprocess.run(
        [program, "--print-config"], capture_output=True, text=True, check=True
    ).stdout
    if not re.search(r"^ +redis:\n( +#.*\n)+ +servers:", keys, re.MULTILINE):
        sample = folder / "one-redis.yaml"
        text = (ROOT / SAMPLE).read_text(encoding="utf-8")
        text = re.sub(r"redis: {servers: \[(.*?)\]}", r"redis: {server: \1}", text)
        sample.write_text(text, encoding="utf-8")
        settings = [
            re.sub(r"^node\.store\.redis\.servers=\[(.*)\]$", r"node.store.redis.server=\1", word)
            for word in settings
        ]
        settings[settings.index(SAMPLE)] = str(sample)
    return [program, *settings]


class Node(Process):
    def __init__(self, name, command, folder, port, admin_port, relay):
        """The node reaches etcd through the relay."""
        command = [
            *command,
            *("--set", f"node.cluster.etcd.servers=[127.0.0.1:{relay.port}]"),
            *("--set", f"node.name={name}"),
            *("--set", f"node.clients.listen=127.0.0.1:{port}"),
            *("--set", f"node.admin.listen=127.0.0.1:{admin_port}"),
        ]
        self.settings = command[1:]
        super().__init__(name, command_of(command[0], self.settings, folder), folder)
        self.port = port
        self.listen = f"127.0.0.1:{port}"
        self.admin_port = admin_port
        self.relay = relay

    def use(self, build):
        """From its next start on it runs the program of that build."""
        self.command = command_of(str(build / Cluster.PROGRAM), self.settings, self.folder)

    @property
    def incarnation(self):
        """The name of the current process of the node in logs and records."""
        return f"{self.name}.{self.start_count}"

    def has_announced(self):
        return b" serves on " in self.announcement.read_bytes()

    def memberships(self):
        """The names of this process in the directory, NAME.INCARNATION, in order."""
        return re.findall(r"joined the cluster .* as=(\S+)", self.log.read_text(errors="replace"))

    def shares(self):
        """How many partitions each member of the cluster has, as this node sees it. Empty while the
        node does not answer.
        """
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=1)
            connection.request("GET", "/objects")
            page = connection.getresponse().read().decode()
        except OSError:
            return []
        rows = page.partition("\nMEMBER ")[2].splitlines()[1:]
        cells = [row.split() for row in rows]
        return [int(row[7]) for row in cells if len(row) > 7 and row[6] == "serving"]


class Cluster:
    PROGRAM = "services/chess/chess_node"

    def __init__(self, build, folder, node_count, settings=(), edge_count=0):
        """Each of the settings is a KEY=VALUE of all nodes. Edge nodes come beside the others."""
        self.folder = folder
        client, peer, *ports = free_ports(2 + 3 * (node_count + edge_count))
        self.etcd_port = client
        peers = f"http://127.0.0.1:{peer}"
        clients = f"http://127.0.0.1:{client}"
        self.etcd = Process(
            "etcd",
            [
                *("etcd", "--name=etcd", f"--data-dir={folder}/etcd", "--log-level=warn"),
                *(f"--listen-client-urls={clients}", f"--advertise-client-urls={clients}"),
                *(f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}"),
                f"--initial-cluster=etcd={peers}",
            ],
            folder,
        )
        # Its append-only file is the record of all writes, so it is never rewritten.
        self.redis = Process(
            "redis",
            [
                *("redis-server", "--port", "0", "--unixsocket", f"{folder}/redis.sock"),
                *("--dir", str(folder), "--save", "", "--appendonly", "yes"),
                *("--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"),
            ],
            folder,
        )
        key = folder / "shared.key"
        key.write_text(secrets.token_hex(32))
        command = [
            f"{build}/{Cluster.PROGRAM}",
            *("--config", SAMPLE),
            *("--set", "node.shards=1", "--set", "node.log_level=debug"),
            # The roll call finds all games.
            *("--set", "chess.finished_kept=1d"),
            *("--set", f"node.store.redis.servers=[unix:{folder}/redis.sock]"),
            *("--set", f"node.cluster.name={CLUSTER_NAME}"),
            *("--set", "node.cluster.listen=127.0.0.1:0"),
            *("--set", f"node.cluster.shared_key_file={key}"),
            # The bots call games and players directly, so that each call has a request id.
            *("--set", "node.clients.public_methods_only=false"),
        ]
        for setting in settings:
            command += ["--set", setting]
        edge_command = [*command, "--set", "node.cluster.roles=[edge]"]
        starts = [(f"node-{i + 1}", command) for i in range(node_count)]
        starts += [(f"edge-{i + 1}", edge_command) for i in range(edge_count)]
        made = [
            Node(name, words, folder, port, admin_port, Relay(relay_port, client))
            for (name, words), (port, admin_port, relay_port)
            in zip(starts, zip(*[iter(ports)] * 3))
        ]
        self.nodes, self.edges = made[:node_count], made[node_count:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (*self.nodes, *self.edges, self.etcd, self.redis):
            if process.is_running():
                process.signal(signal.SIGCONT)
                process.kill()
        for node in (*self.nodes, *self.edges):
            node.relay.close()

    def start(self):
        self.etcd.start()
        self.redis.start()
        self.etcd.wait_for(self.etcd_is_healthy)
        self.redis.wait_for((self.folder / "redis.sock").exists)
        for node in (*self.nodes, *self.edges):
            node.relay.start()
            node.start()
        self.wait_until_whole()

    def wait_until_whole(self):
        """Waits until all nodes serve, know all others, and have a fair share."""
        for node in (*self.nodes, *self.edges):
            node.wait_for(node.has_announced)
        self.nodes[0].wait_for(self.is_whole)

    def is_whole(self):
        for node in self.nodes:
            shares = node.shares()
            if len(shares) != len(self.nodes) + len(self.edges):
                return False
            # Edge nodes have nothing to share.
            shares = [share for share in shares if share > 0]
            if len(shares) != len(self.nodes):
                return False
            fair = sum(shares) / len(self.nodes)
            if any(abs(share - fair) > 0.2 * fair for share in shares):
                return False
        return True

    def ask_etcd(self, path, request, time_max=0.5):
        connection = http.client.HTTPConnection("127.0.0.1", self.etcd_port, timeout=time_max)
        connection.request("POST" if request is not None else "GET", path,
                           None if request is None else json.dumps(request))
        return json.load(connection.getresponse())

    def etcd_is_healthy(self):
        try:
            return self.ask_etcd("/health", None).get("health") == "true"
        except (OSError, ValueError, http.client.HTTPException):
            return False

    def revoke_leases(self, members):
        """Revokes the leases of dead members. Returns False when etcd does not answer."""
        try:
            for member in members:
                key = base64.b64encode(f"/{CLUSTER_NAME}/nodes/{member}".encode()).decode()
                for entry in self.ask_etcd("/v3/kv/range", {"key": key}).get("kvs", []):
                    self.ask_etcd("/v3/lease/revoke", {"ID": entry["lease"]})
        except (OSError, ValueError, http.client.HTTPException):
            return False
        return True
