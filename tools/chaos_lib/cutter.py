# SPDX-License-Identifier: MIT
"""A proxy before the sockets of players that cuts each of its connections every few seconds, as
phones do that change their network.
"""

import random
import select
import socket
import threading
import time

BYTES_PER_READ = 65536
TICK = 0.02


class End:
    """One of the two sockets of a connection."""

    def __init__(self, own_socket, is_client):
        own_socket.setblocking(False)
        self.socket = own_socket
        self.is_client = is_client
        self.other = None
        self.unsent = b""  # What this socket has no room for yet, or is not connected yet to take.
        self.is_connected = True


class Cutter:
    """Serves 127.0.0.1:PORT for a server on this machine, in a thread of its own. What is on its
    way when a connection is cut is lost.
    """

    def __init__(self, port, server_port, interval):
        """Of all connections at the beginning of an interval, in seconds, each is cut at a random
        moment of it.
        """
        self.port = port
        self.server_port = server_port
        self.interval = interval
        self.cut_count = 0
        self.ends = {}  # By descriptor.
        self.listener = None
        self.poll = select.epoll()
        self.is_closed = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def client_count(self):
        return len(self.ends) // 2

    def start(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=1024)
        self.listener.setblocking(False)
        self.poll.register(self.listener, select.EPOLLIN)
        self.thread.start()

    def close(self):
        self.is_closed.set()
        if self.thread.is_alive():
            self.thread.join()
        for end in self.ends.values():
            end.socket.close()
        if self.listener is not None:
            self.listener.close()
        self.poll.close()

    def run(self):
        begin, due = time.monotonic(), []
        while not self.is_closed.is_set():
            for number, events in self.poll.poll(TICK):
                if number == self.listener.fileno():
                    self.accept()
                elif (end := self.ends.get(number)) is not None:
                    self.serve(end, events)
            now = time.monotonic()
            if now >= begin:
                # Server ends are not drawn: each goes with the end of its client.
                due = [(begin + random.uniform(0, self.interval), end)
                       for end in self.ends.values() if end.is_client]
                due.sort(key=lambda entry: entry[0], reverse=True)
                begin += self.interval
            while due and due[-1][0] <= now:
                _, end = due.pop()
                self.cut_count += self.finish(end)

    def accept(self):
        try:
            while True:
                client, _ = self.listener.accept()
                self.connect(client)
        except OSError:
            pass

    def connect(self, client):
        pair = [End(client, True), End(socket.socket(), False)]
        for end, other in zip(pair, reversed(pair)):
            end.other = other
            end.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.ends[end.socket.fileno()] = end
        server = pair[1]
        server.is_connected = server.socket.connect_ex(("127.0.0.1", self.server_port)) == 0
        self.poll.register(client, select.EPOLLIN)
        self.poll.register(server.socket,
                           select.EPOLLIN | (0 if server.is_connected else select.EPOLLOUT))

    def serve(self, end, events):
        try:
            if events & select.EPOLLOUT:
                end.is_connected = True
                self.send(end, b"")
            if events & ~select.EPOLLOUT:
                data = end.socket.recv(BYTES_PER_READ)
                if data:
                    self.send(end.other, data)
                else:
                    self.finish(end)
        except BlockingIOError:
            pass
        except OSError:
            self.finish(end)

    def send(self, end, data):
        waited = not end.is_connected or bool(end.unsent)
        end.unsent += data
        if end.is_connected and end.unsent:
            try:
                end.unsent = end.unsent[end.socket.send(end.unsent):]
            except BlockingIOError:
                pass
        waits = not end.is_connected or bool(end.unsent)
        if waits or waited or not data:
            self.poll.modify(end.socket, select.EPOLLIN | (select.EPOLLOUT if waits else 0))

    def finish(self, end):
        """Breaks both sockets of the connection. False when that was done before."""
        if self.ends.get(end.socket.fileno()) is not end:
            return False
        for one in (end, end.other):
            del self.ends[one.socket.fileno()]
            one.socket.close()
        return True
