#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests services over HTTP, with real sockets and foreign clients: curl, and @connectrpc/connect
from npm.

Called with the paths of connect_server and protoc, and of a folder in the build tree for the
packages of npm. The client from npm is optional: Debian packages neither it nor a way to its
registry, so its test says when it was skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "test/e2e"))

import harness  # pylint: disable=wrong-import-position

SERVER = "connect_server"
PROTOC = "protoc"
NODE_FOLDER = Path("node")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]

# The errors of npm when it does not reach its registry.
OUT_OF_REACH = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
                "ERR_SOCKET_TIMEOUT", "E403", "E407", "SELF_SIGNED_CERT")


def start_server():
    process = subprocess.Popen([SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, f"http://127.0.0.1:{process.stdout.readline().strip()}"


class ServedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server, cls.url = start_server()

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        status = cls.server.wait(timeout=60)
        cls.server.stdout.close()
        if status != 0:
            raise AssertionError(f"the server ends with {status}")


@harness.needs("curl")
class CurlTest(ServedTest):
    def curl(self, *words):
        """Status, content type and body."""
        command = ["curl", "--silent", "--show-error", "--max-time", "20",
                   "--write-out", "\n%{http_code} %{content_type}", *words]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        body, _, rest = output.rpartition("\n")
        status, _, content_type = rest.partition(" ")
        return int(status), content_type, body

    def call(self, method, message, *words):
        return self.curl("--header", "Content-Type: application/json", "--data", message, *words,
                         f"{self.url}/corolane.test.{method}")

    def test_a_call_is_a_post_of_json(self):
        self.assertEqual(self.call("Echo/Echo", '{"text":"hello"}'),
                         (200, "application/json", '{"text":"hello"}'))

    def test_an_error_has_a_code_and_a_message(self):
        self.assertEqual(self.call("Echo/Fail", '{"code":5,"text":"no game"}'),
                         (404, "application/json", '{"code":"not_found","message":"no game"}'))

    def test_a_wrong_message_is_told_where(self):
        status, _, body = self.call("Mirror/Reflect", '{"children":[{},{"anInt32":"many"}]}')
        self.assertEqual(status, 400)
        self.assertEqual(json.loads(body)["message"],
                         'children[1].anInt32: expects an int32, not "many"')

    def test_a_timeout_ends_the_call(self):
        status, _, body = self.call("Echo/Sleep", '{"milliseconds":"20000"}',
                                    "--header", "Connect-Timeout-Ms: 50")
        self.assertEqual((status, json.loads(body)["code"]), (504, "deadline_exceeded"))

    def test_a_body_in_chunks_and_one_that_waits_to_be_invited(self):
        text = "x" * 40_000
        for header in ("Transfer-Encoding: chunked", "Expect: 100-continue"):
            status, _, body = self.call("Echo/Echo", json.dumps({"text": text}),
                                        "--header", header)
            self.assertEqual((status, json.loads(body)["text"] == text), (200, True), header)

    def test_the_root_lists_what_there_is(self):
        status, content_type, body = self.curl(self.url + "/")
        self.assertEqual((status, content_type), (200, "text/plain; charset=utf-8"))
        self.assertIn("POST /corolane.test.Echo/Echo", body)
        services = json.loads(self.curl(self.url + "/?format=json")[2])["services"]
        self.assertEqual([service["name"] for service in services],
                         ["corolane.test.Echo", "corolane.test.Mirror"])

    def test_requests_share_a_connection(self):
        url = f"{self.url}/corolane.test.Echo/Echo"
        each = ["--header", "Content-Type: application/json", "--data", "{}",
                "--write-out", "%{num_connects} ", "--silent", url]
        output = subprocess.run(["curl", *each, "--next", *each, "--next", *each],
                                capture_output=True, text=True, check=True).stdout
        self.assertEqual(output, "{}1 {}0 {}0 ")

    def read_events(self, message, *words):
        query = urllib.parse.urlencode({"encoding": "json", "message": message})
        return self.curl("--no-buffer", "--header", "Accept: text/event-stream", *words,
                         f"{self.url}/corolane.test.Echo/Count?{query}")

    def test_a_stream_is_read_as_events(self):
        self.assertEqual(
            self.read_events('{"count":2,"milliseconds":20}'),
            (200, "text/event-stream",
             'data: {}\n\ndata: {"number":1}\n\nevent: end\ndata: {}\n\n'))
        self.assertEqual(
            self.read_events('{"errorCode":5}')[2],
            'event: failure\ndata: {"code":"not_found","message":"as was asked for"}\n\n')


@unittest.skipIf(shutil.which("node") is None, "node is missing: it reads no events")
class EventSourceTest(ServedTest):
    def test_events_arrive_while_the_stream_goes_on(self):
        process = subprocess.run(
            ["node", HERE / "read_events.mjs", self.url], capture_output=True, text=True,
            check=False, timeout=60,
            env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()})
        self.assertEqual((process.returncode, process.stdout), (0, "all claims hold\n"),
                         process.stdout + process.stderr)


def install_client(test):
    """Installs the packages of package-lock.json, once for each version of it."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            test.skipTest(f"{tool} is missing: the client from npm calls nothing")
    lock = (HERE / "package-lock.json").read_bytes()
    done = NODE_FOLDER / "installed-lock.json"
    if done.is_file() and done.read_bytes() == lock:
        return
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, NODE_FOLDER)
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1",
               "--fetch-timeout=20000"]
    try:
        process = subprocess.run(command, cwd=NODE_FOLDER, capture_output=True, text=True,
                                 check=False, timeout=120)
    except subprocess.TimeoutExpired:
        test.skipTest("npm did not get the client in two minutes: it calls nothing")
    if process.returncode != 0 and any(word in process.stderr for word in OUT_OF_REACH):
        test.skipTest("npm does not reach its registry: the client from npm calls nothing")
    test.assertEqual(process.returncode, 0, process.stderr)
    done.write_bytes(lock)


class ConnectClientTest(ServedTest):
    def test_the_client_of_the_connect_project_understands_it(self):
        install_client(self)
        descriptors = NODE_FOLDER / "descriptors.bin"
        subprocess.run([PROTOC, f"-I{ROOT}", "--include_imports",
                        f"--descriptor_set_out={descriptors}",
                        "test/rpc/echo.proto", "test/rpc/mirror.proto"], cwd=ROOT, check=True)
        # Beside node_modules, where node looks for imports.
        shutil.copy(HERE / "call_services.mjs", NODE_FOLDER)
        process = subprocess.run(
            ["node", "call_services.mjs", self.url, descriptors.resolve()], cwd=NODE_FOLDER,
            capture_output=True, text=True, check=False, timeout=120,
            env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()})
        self.assertEqual((process.returncode, process.stdout), (0, "all claims hold\n"),
                         process.stdout + process.stderr)


if __name__ == "__main__":
    SERVER, PROTOC = sys.argv[1:3]
    NODE_FOLDER = Path(sys.argv[3])
    unittest.main(argv=sys.argv[:1])
