# SPDX-License-Identifier: MIT
"""Relays connections to a server until it is cut. Then no data passes, and neither end sees an
error, as when the network between two machines breaks.
"""

import socket
import threading


class Relay:
    def __init__(self, port, server_port):
        self.port = port
        self.server_port = server_port
        self.is_whole = threading.Event()
        self.is_whole.set()
        self.listener = None
        self.lock = threading.Lock()
        self.byte_count = 0  # All that the server has sent.

    def start(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.run_beside(self.accept)

    def cut(self):
        self.is_whole.clear()

    def mend(self):
        """Lets data pass again, with what was sent in between."""
        self.is_whole.set()

    def close(self):
        self.mend()
        if self.listener is not None:
            self.listener.close()

    @staticmethod
    def run_beside(work, *arguments):
        threading.Thread(target=work, args=arguments, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.run_beside(self.serve, client)

    def serve(self, client):
        self.is_whole.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self.server_port))
        except OSError:
            client.close()
            return
        self.run_beside(self.pass_on, server, client, self.count)
        self.pass_on(client, server)

    def count(self, data):
        with self.lock:
            self.byte_count += len(data)

    def pass_on(self, source, target, note=lambda data: None):
        """Copies data until either end closes, then closes both."""
        try:
            while data := source.recv(65536):
                self.is_whole.wait()
                note(data)
                target.sendall(data)
        except OSError:
            pass
        self.is_whole.wait()
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
