# SPDX-License-Identifier: MIT
"""A collector of OTLP for tests, over HTTP with JSON: it keeps what it is sent."""

import collections
import gzip
import http.server
import json
import ssl
import threading
import time

import harness
import otlp_schema


class Collector:
    """Keeps what it is sent; the requests that break the schema are in `complaints`."""

    def __init__(self, certificate=None, key=None):
        self.received = collections.defaultdict(list)
        self.complaints = []
        self.tokens = set()
        self.request_counts = collections.Counter()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.take(self.path, self.headers, body)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A client that trusts another certificate ends the handshake.
        self.server.handle_error = lambda *_: None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def take(self, path, headers, body):
        try:
            if headers["Content-Type"] != "application/json":
                raise otlp_schema.Invalid(f"a body of type {headers['Content-Type']}")
            if headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            request = json.loads(body.decode())
            otlp_schema.check_request(path, request)
        except (otlp_schema.Invalid, ValueError, OSError) as error:
            self.complaints.append(f"{path}: {error}")
            return
        self.tokens.add(headers["Authorization"])
        self.request_counts[path] += 1
        self.received[path].extend(otlp_schema.items(path, request))

    def wait_for(self, is_there):
        end = time.monotonic() + harness.PATIENCE
        while not is_there() and time.monotonic() < end:
            time.sleep(0.05)
        return is_there()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
