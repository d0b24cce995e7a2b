#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The corolane command as a user sees it: words in, text and exit status out, against servers in
other processes.

Called with the paths of the command and of echo_server.
"""

import http.server
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))

import harness  # pylint: disable=wrong-import-position

COROLANE = "corolane"
ECHO_SERVER = "echo_server"


def corolane(*words, **options):
    return subprocess.run(
        [COROLANE, *words], capture_output=True, text=True, check=False, timeout=60, **options
    )


class CommandTest(unittest.TestCase):
    def assert_prints(self, expected, *words, **options):
        process = corolane(*words, **options)
        self.assertEqual((process.stdout, process.stderr), (expected, ""))
        self.assertEqual(process.returncode, 0)

    def assert_fails(self, status, expected, *words, **options):
        """Expects exactly that text on standard error, and nothing on standard output."""
        process = corolane(*words, **options)
        self.assertEqual((process.stdout, process.stderr), ("", expected + "\n"))
        self.assertEqual(process.returncode, status)


class HelpTest(CommandTest):
    def test_help_is_an_overview(self):
        for words in (["help"], ["--help"], ["-h"]):
            text = corolane(*words).stdout
            self.assertTrue(text.startswith("Usage: corolane COMMAND ...\n"), text)
            self.assertIn("\n  call         calls a method with JSON\n", text)

    def test_help_of_a_command_is_the_same_both_ways(self):
        first_words = {
            "new": "NAME",
            "call": "HOST:PORT",
            "stats": "[HOST:PORT] [--json]",
            "cluster": "[HOST:PORT] [--json]",
            "explain": "[HOST:PORT] TYPE/ID [--json]",
            "drain": "[HOST:PORT] [--wait]",
            "page": "[HOST:PORT] PATH",
            "completion": "bash|fish|zsh",
            "simulate": "PROGRAM",
            "replay": "FILE",
        }
        for command, first in first_words.items():
            text = corolane("help", command).stdout
            self.assertTrue(text.startswith(f"Usage: corolane {command} {first}"), text)
            self.assert_prints(text, command, "--help")
            self.assert_prints(text, command, "-h")

    def test_each_command_has_help(self):
        names = re.findall(r"^  ([a-z]+)  ", corolane("help").stdout, re.MULTILINE)
        for name in names:
            if name != "help":
                self.assert_prints(corolane("help", name).stdout, name, "-h")

    def test_help_fits_a_terminal(self):
        names = re.findall(r"^  ([a-z]+)  ", corolane("help").stdout, re.MULTILINE)
        self.assertGreater(len(names), 15)
        for words in (["help"], *(["help", name] for name in names if name != "help")):
            for line in corolane(*words).stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_the_version_is_that_of_the_project(self):
        self.assertRegex(corolane("--version").stdout, r"^corolane \d+\.\d+\.\d+\n$")
        self.assert_prints(corolane("--version").stdout, "version")

    def test_without_a_command_the_overview_is_an_error(self):
        process = corolane()
        self.assertEqual(process.stderr, corolane("help").stdout + "\n")
        self.assertEqual(process.returncode, 2)

    def test_an_unknown_command_is_named(self):
        for words in (["cal"], ["help", "cal"]):
            process = corolane(*words)
            self.assertTrue(
                process.stderr.startswith(
                    'corolane: "cal" is not a command; did you mean call?\n'
                    "Commands: new, simulate, run, call, "
                ),
                process.stderr,
            )
            self.assertEqual((process.stdout, process.returncode), ("", 2))


class UsageTest(CommandTest):
    def test_a_missing_word_or_value_is_named(self):
        see = "; see corolane help call"
        self.assert_fails(2, "corolane call: needs HOST:PORT" + see, "call")
        self.assert_fails(
            2,
            "corolane call: --describe needs SERVICE/METHOD" + see,
            *("call", "127.0.0.1:1", "--describe"),
        )
        self.assert_fails(
            2, "corolane call: --timeout needs a value" + see, "call", "--timeout"
        )
        missing = "needs HOST:PORT, or COROLANE_ADMIN in the environment; see corolane help"
        self.assert_fails(2, f"corolane stats: {missing} stats", "stats")
        self.assert_fails(2, "corolane page: needs PATH; see corolane help page", "page", "a:1")
        self.assert_fails(
            2, "corolane explain: needs TYPE/ID; see corolane help explain", "explain", "a:1"
        )
        self.assert_fails(
            2,
            'corolane explain: "one" is not of the form TYPE/ID, such as chess.Game/one; '
            "see corolane help explain",
            *("explain", "a:1", "one"),
        )
        self.assert_fails(
            2, "corolane log: --for needs LEVEL; see corolane help log",
            *("log", "a:1", "--for", "5s"),
        )
        self.assert_fails(
            2,
            'corolane page: "stats" is not a path: a path begins with a slash; '
            "see corolane help page",
            *("page", "127.0.0.1:1", "stats"),
        )

    def test_a_repeated_option_is_named(self):
        self.assert_fails(
            2,
            "corolane call: --timeout is given twice; see corolane help call",
            *("call", "127.0.0.1:1", "Echo/Say", "--timeout", "5s", "--timeout=6s"),
        )

    def test_two_dashes_end_the_options(self):
        self.assert_fails(
            2,
            'corolane page: "--json" is not a path: a path begins with a slash; '
            "see corolane help page",
            *("page", "127.0.0.1:1", "--", "--json"),
        )

    def test_a_stray_argument_is_named(self):
        self.assert_fails(
            2,
            'corolane call: stray argument "more"; see corolane help call',
            *("call", "127.0.0.1:1", "Echo/Say", "{}", "more"),
        )

    def test_a_wrong_value_lists_the_choices(self):
        self.assert_fails(
            2,
            "corolane tasks: --state is one of ready, running, suspended, ended; "
            "see corolane help tasks",
            *("tasks", "127.0.0.1:1", "--state", "waiting"),
        )
        self.assert_fails(
            2,
            "corolane log: LEVEL is one of debug, info, warning, error; see corolane help log",
            *("log", "127.0.0.1:1", "loud"),
        )
        for seconds in ("5s", "0", "30.5"):
            self.assert_fails(
                2,
                "corolane profile: --seconds is a number above 0, at most 30, such as 0.5; "
                "see corolane help profile",
                *("profile", "127.0.0.1:1", "--seconds", seconds),
            )
        self.assert_fails(
            2,
            "corolane trace: --seconds is a number above 0, at most 10, such as 0.5; "
            "see corolane help trace",
            *("trace", "127.0.0.1:1", "--seconds", "11"),
        )

    def test_a_missing_token_file_is_misuse(self):
        self.assert_fails(
            2,
            "corolane: --token: cannot read a token from nowhere: "
            "give the file that node.admin.token_file of the node names",
            *("tasks", "127.0.0.1:1", "--token", "nowhere"),
        )

    def test_a_wrong_project_name_is_misuse(self):
        see = "; see corolane help new"
        self.assert_fails(2, "corolane new: needs the NAME of a project" + see, "new")
        self.assert_fails(
            2,
            'corolane new: "class" is a word of C++; try: corolane new class_game',
            *("new", "class"),
        )
        self.assert_fails(
            2,
            "corolane new: --client is one of none, web; see corolane help new",
            *("new", "demo", "--client", "flash"),
        )

    def test_what_comes_next_depends_on_the_client(self):
        with tempfile.TemporaryDirectory() as folder:
            for words, has_page in (("demo",), False), (("game", "--client", "web"), True):
                said = corolane("new", *words, cwd=folder).stdout
                self.assertEqual("  http://127.0.0.1:8460/\n" in said, has_page, said)
                self.assertIn("\nand while it serves, ", said)
                self.assertEqual(Path(folder, words[0], "web").exists(), has_page)

    def test_a_peer_is_a_host_and_a_port(self):
        process = corolane("call", "localhost", "Echo/Say")
        self.assertTrue(
            process.stderr.startswith('corolane call: "localhost" is not of the form host:port: '),
            process.stderr,
        )
        self.assertEqual(process.returncode, 2)

    def test_a_timeout_is_a_duration(self):
        process = corolane("call", "127.0.0.1:1", "Echo/Say", "{}", "--timeout", "5")
        self.assertTrue(
            process.stderr.startswith('corolane call: --timeout: read "5" without a unit; '),
            process.stderr,
        )
        self.assertEqual(process.returncode, 2)


class EchoServer:
    """A process that serves echo.proto, with its address."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [ECHO_SERVER, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = "127.0.0.1:" + self.process.stdout.readline().strip()

    def stop(self):
        self.process.communicate(timeout=60)
        return self.process.returncode


class CallTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.server = EchoServer()

    @classmethod
    def tearDownClass(cls):
        if cls.server.stop() != 0:
            raise AssertionError("the server did not end well")

    def test_the_reply_is_printed_as_json(self):
        process = corolane(
            "call", self.server.address, "cli_test.Echo/Say", '{"text": "hé", "spoken_as": 2}'
        )
        self.assertEqual(process.stderr, "")
        self.assertEqual(
            json.loads(process.stdout), {"said": {"text": "hé", "spoken_as": "SOFT"}}
        )

    def test_an_object_is_named_by_an_option(self):
        for words in (["--object", "north"], ["--object=north"]):
            process = corolane(
                *("call", self.server.address, "Wall/Shout", '{"text": "hello"}', *words)
            )
            self.assertEqual(process.stderr, "")
            self.assertEqual(json.loads(process.stdout), {"text": "hello", "wall": "north"})
        self.assert_fails(
            2,
            "corolane: corolane.cli_test.Echo has no objects: remove --object",
            *("call", self.server.address, "Echo/Find", "{}", "--object", "north"),
        )

    def test_a_request_may_come_from_standard_input(self):
        process = corolane(
            *("call", self.server.address, "cli_test.Echo/Say", "-"), input='{"text": "piped"}'
        )
        self.assertEqual(json.loads(process.stdout), {"said": {"text": "piped"}})

    def test_an_error_of_the_handler_is_printed(self):
        self.assert_fails(
            1, "not_found: nobody said that", "call", self.server.address, "Echo/Find", "{}"
        )

    def test_a_timeout_ends_the_call(self):
        process = corolane("call", self.server.address, "Echo/Wait", "{}", "--timeout=20ms")
        self.assertTrue(process.stderr.startswith("deadline_exceeded: "), process.stderr)
        self.assertEqual(process.returncode, 1)

    def test_an_unknown_method_is_misuse(self):
        process = corolane("call", self.server.address, "Echo/Sya")
        self.assertIn("did you mean corolane.cli_test.Echo/Say?", process.stderr)
        self.assertEqual(process.returncode, 2)

    def test_a_request_that_does_not_fit_is_misuse(self):
        process = corolane("call", self.server.address, "cli_test.Echo/Say", '{"txt": ""}')
        self.assertIn("txt: Cannot find field.", process.stderr)
        self.assertIn("\n  text: string\n", process.stderr)
        self.assertEqual(process.returncode, 2)

    def test_the_described_example_can_be_sent(self):
        for method in ("Echo/Say", "Echo/GiveBack", "Wall/Shout"):
            text = corolane("call", self.server.address, method).stdout
            command = text[text.index("\ncorolane call ") :]
            process = corolane(*shlex.split(command)[1:])
            self.assertEqual((process.stderr, process.returncode), ("", 0))

    def test_without_a_method_the_services_are_listed(self):
        listed = corolane("call", self.server.address).stdout
        self.assertTrue(listed.startswith("corolane.cli_test.Echo\n  Say ("), listed)

    def test_nothing_is_called_to_describe(self):
        call = ("call", self.server.address, "Echo/Find")
        self.assert_prints(corolane(*call).stdout, *call, "{}", "--describe")


class BenchTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.server = EchoServer()

    @classmethod
    def tearDownClass(cls):
        if cls.server.stop() != 0:
            raise AssertionError("the server did not end well")

    def test_the_measurement_is_printed(self):
        process = corolane(
            *("bench", self.server.address, "cli_test.Echo/Say", '{"text": "hello {i}"}'),
            *("--rate", "200/s", "--duration", "500ms", "--connections", "2"),
        )
        self.assertEqual((process.stderr, process.returncode), ("", 0))
        self.assertRegex(
            process.stdout,
            r"^corolane\.cli_test\.Echo/Say, 200/s were to come\ncalls      100 in .*\n"
            r"errors     0\nlatency    p50 .* p99\.9 .* max .*\nsent late  p50 .*\n  below ",
        )

    def test_programs_get_json(self):
        process = corolane(
            *("bench", self.server.address, "Echo/Find", "{}"),
            *("--rate=100/s", "--duration=100ms", "--json"),
        )
        self.assertEqual(json.loads(process.stdout)["errors"], {"not_found": 10})

    def test_control_c_ends_it_with_the_measurement_so_far(self):
        process = subprocess.Popen(
            [COROLANE, "bench", self.server.address, "cli_test.Echo/Say", "{}", "--duration", "1h"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertRegex(process.stderr.readline(), r"^1\.\ds  \d+ calls  p50 ")
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(text, r"\ncalls      \d+ in ")

    def test_wrong_options_are_misuse(self):
        bench = ("bench", self.server.address, "Echo/Find")
        see = "; see corolane help bench"
        self.assert_fails(
            2, "corolane bench: needs HOST:PORT, SERVICE/METHOD and JSON" + see, *bench
        )
        self.assert_fails(
            2,
            'corolane bench: --rate: "fast" is not a rate such as 1000/s, from 0.01/s to 1000000/s'
            + see,
            *bench, "{}", "--rate", "fast",
        )
        self.assert_fails(
            2,
            'corolane bench: "{i" is neither {i} nor {i%N} with N of at least 1' + see,
            *bench, "{i",
        )
        self.assert_fails(
            2,
            "corolane bench: --connections is a number from 1 to 1000" + see,
            *bench, "{}", "--connections", "0",
        )


class NoServerTest(CommandTest):
    def test_a_refused_connection_is_reported_with_a_remedy(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = "127.0.0.1:" + str(unused.getsockname()[1])
            expected = (
                f"corolane: connect to {address}: connection refused: "
                "is the node running? start it, such as demo_node --config demo.yaml"
            )
            self.assert_fails(1, expected, "call", address, "Echo/Say")
            self.assert_fails(1, expected, "stats", address)
            self.assert_fails(1, expected, "page", address, "/")

    def test_a_server_without_reflection_is_reported(self):
        server = EchoServer("--without-reflection")
        process = corolane("call", server.address, "Echo/Say")
        server.stop()
        self.assertTrue(
            process.stderr.endswith("; does node.clients.reflection switch it off?\n"),
            process.stderr,
        )
        self.assertEqual(process.returncode, 1)


class PagesTest(CommandTest):
    """Commands against made-up pages."""

    PAGES = {
        "GET /stats": b'{"node":{"name":"one","tasks":12}}',
        "GET /stats?format=json": b'{"node":{"name":"one","tasks":12}}',
        "GET /health": b"ok\n",
        "GET /objects?format=json": b'{\n  "types": [\n    {\n      "type": "chess.Game",\n',
    }

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            asked = f"{self.command} {self.path}"
            PagesTest.asked.append(asked)
            token = self.headers.get("Authorization", "")
            body = PagesTest.PAGES.get(asked, PagesTest.otherwise)
            status = 404 if body is None else 200
            if PagesTest.token not in ("", token.removeprefix("Bearer ")):
                status, body = 401, b"the pages of this node ask for its token\n"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    def setUp(self):
        PagesTest.asked = []
        PagesTest.token = ""
        PagesTest.otherwise = None
        self.server = http.server.HTTPServer(("127.0.0.1", 0), self.Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)

    def test_sections_are_printed_as_text(self):
        self.assert_prints("node\n  name   one\n  tasks  12\n", "stats", self.address)

    def test_json_is_printed_as_it_came(self):
        self.assert_prints(self.PAGES["GET /stats"].decode(), "stats", self.address, "--json")

    def test_a_page_is_printed_as_it_came(self):
        self.assert_prints("ok\n", "page", self.address, "/health")

    def test_a_page_that_fails_is_reported_with_its_status(self):
        self.assert_fails(
            1,
            f"corolane: /nothing of {self.address} returned status 404: "
            "are these the admin pages of a node?",
            *("page", self.address, "/nothing"),
        )

    def test_stacks_writes_the_suggested_sizes_to_a_configuration(self):
        PagesTest.PAGES["GET /methods?format=json"] = json.dumps(
            {
                "methods": [
                    {
                        "method": "chess.Game/Move",
                        "stack_size_bytes": 65536,
                        "suggested_stack_bytes": 131072,
                        "measured_stacks": 8,
                    }
                ]
            }
        ).encode()
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "target.yaml"
            target.write_text("node:\n  name: one  # ours\n")
            path = Path(folder) / "chess.yaml"
            path.symlink_to(target)
            told = corolane("stacks", self.address, "--apply", str(path))
            self.assertEqual(
                told.stdout,
                f"chess.Game/Move: 128KiB\nWrote these sizes to {path}; "
                "they take effect at the next start.\n",
            )
            self.assertEqual(
                path.read_text(),
                "node:\n  stacks:\n    methods:\n"
                "      - {method: chess.Game/Move, size: 128KiB}\n  name: one  # ours\n",
            )
            self.assertTrue(path.is_symlink())
            missing = corolane("stacks", self.address, "--apply", f"{folder}/no.yaml")
            self.assertEqual(missing.returncode, 1)
            self.assertIn("cannot read", missing.stderr)

    def test_every_command_asks_for_its_page(self):
        PagesTest.otherwise = b"as it came\n"
        for words, asked in (
            ("tasks", "GET /tasks"),
            ("tasks 1.17", "GET /tasks/1.17"),
            (
                "tasks --state ready --waiting-for a+b --age 5s --json",
                "GET /tasks?state=ready&waiting_for=a%2Bb&age=5s&format=json",
            ),
            ("stacks --name Move", "GET /tasks?group=stack&name=Move"),
            ("methods --json", "GET /methods?format=json"),
            ("objects", "GET /objects"),
            ("objects chess.Game", "GET /objects?type=chess.Game"),
            ("explain chess.Game/a/b", "GET /objects/chess.Game/a%2Fb"),
            ("move chess.Game/a --to b-1", "POST /move?object=chess.Game/a&to=b-1"),
            ("waits", "GET /waits"),
            ("connections --peer 10.1", "GET /connections?peer=10.1"),
            ("sessions", "GET /sessions"),
            ("sessions --user ann", "GET /sessions?user=ann"),
            ("user guest/7", "GET /users/guest%2F7"),
            ("kick ann --reason why", "POST /kick?user=ann&reason=why"),
            ("slow", "GET /slow"),
            ("stalls", "GET /stalls"),
            ("log", "GET /log"),
            ("log debug --for 10min", "POST /log?level=debug&for=10min"),
            ("config", "GET /config"),
            ("config --reload --json", "POST /config/reload?format=json"),
            ("profile --seconds 30 --format svg", "GET /profile?seconds=30&format=svg"),
            ("trace --seconds 0.5 --json", "GET /trace?seconds=0.5&format=json"),
            ("heap", "GET /heap"),
            ("drain", "POST /drain"),
            ("page /any?x=y", "GET /any?x=y"),
        ):
            command, *rest = words.split()
            self.assert_prints("as it came\n", command, self.address, *rest)
            self.assertEqual(PagesTest.asked.pop(), asked)

    def test_drain_waits_for_the_end_of_the_node(self):
        stats = (
            b'{"node": {"pid": 7}, "rpc": {"running": 2, "connections": 1},'
            b' "objects": {"active": 3}}'
        )
        self.addCleanup(setattr, PagesTest, "PAGES", self.PAGES)
        PagesTest.PAGES = {
            **self.PAGES, "POST /drain": b"it stops within 5s\n", "GET /stats": stats
        }
        command = subprocess.Popen(
            [COROLANE, "drain", self.address, "--wait"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertEqual(command.stderr.readline(), "it stops within 5s\n")
        self.assertEqual(
            command.stderr.readline(),
            "stopping: 2 calls running, 3 objects active, 1 connections\n",
        )
        self.server.shutdown()
        self.server.server_close()
        self.assertEqual(command.communicate(timeout=60), ("It has ended.\n", ""))
        self.assertEqual(command.returncode, 0)

    def test_drain_reports_a_node_that_was_restarted(self):
        def stats(pid):
            return (
                b'{"node": {"pid": %d}, "rpc": {"running": 0, "connections": 0},'
                b' "objects": {"active": 0}}' % pid
            )

        self.addCleanup(setattr, PagesTest, "PAGES", self.PAGES)
        PagesTest.PAGES = {**self.PAGES, "POST /drain": b"stops\n", "GET /stats": stats(7)}
        command = subprocess.Popen(
            [COROLANE, "drain", self.address, "--wait"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.assertEqual(command.stderr.readline(), "stops\n")
        command.stderr.readline()
        PagesTest.PAGES["GET /stats"] = stats(8)
        told, _ = command.communicate(timeout=60)
        self.assertEqual(told, "It has ended, and was started again.\n")

    def test_the_environment_names_the_node(self):
        PagesTest.otherwise = b"as it came\n"
        environment = {"COROLANE_ADMIN": self.address}
        for words, asked in (
            (["tasks"], "GET /tasks"),
            (["tasks", "17"], "GET /tasks/17"),
            (["explain", "Game/a:1"], "GET /objects/Game/a:1"),
        ):
            self.assert_prints("as it came\n", *words, env=environment)
            self.assertEqual(PagesTest.asked.pop(), asked)
        self.assert_prints("as it came\n", "waits", self.address, env={"COROLANE_ADMIN": "a:1"})

    def test_a_token_is_sent(self):
        PagesTest.token = "secret"
        PagesTest.otherwise = b"let in\n"
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("secret\n")
            file.flush()
            self.assert_prints("let in\n", "tasks", self.address, "--token", file.name)
        self.assert_fails(
            1,
            f"corolane: {self.address} requires a token: "
            "give --token FILE, the node.admin.token_file of the node",
            *("tasks", self.address),
        )

    def test_output_can_go_to_a_file(self):
        PagesTest.otherwise = b"<svg>"
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/flames.svg"
            self.assert_prints(
                f"Wrote {path}, 5 bytes\n", "profile", self.address, "--output", path
            )
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"<svg>")

    def test_types_of_objects_are_completed(self):
        script = (
            'eval "$("$1" completion bash)"\n'
            'COMP_LINE="$1 explain $2 ch" COMP_POINT=999\n'
            "_corolane\n"
            'printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        process = subprocess.run(
            ["bash", "-c", script, "bash", COROLANE, self.address],
            capture_output=True, text=True, check=False, timeout=60,
        )
        self.assertEqual((process.stdout, process.stderr), ("chess.Game\n", ""))

    def test_pages_of_another_server_are_reported(self):
        self.addCleanup(self.PAGES.update, dict(self.PAGES))
        self.PAGES["GET /stats"] = b"<html>"
        self.assert_fails(
            1,
            "corolane: the answer is not a JSON object: are these the admin pages of a node?",
            *("stats", self.address),
        )
        del self.PAGES["GET /stats"]
        self.assert_fails(
            1,
            f"corolane: /stats of {self.address} returned status 404: "
            "are these the admin pages of a node?",
            *("stats", self.address),
        )


class WrongPortTest(CommandTest):
    """A node has two ports that are easily confused."""

    def test_a_page_requested_from_the_port_for_calls(self):
        server = EchoServer()
        process = corolane("stats", server.address)
        server.stop()
        self.assertTrue(
            process.stderr.endswith(": is that the node.admin.listen of a node?\n"),
            process.stderr,
        )
        self.assertEqual(process.returncode, 1)

    def test_a_call_to_the_port_of_the_pages(self):
        def answer_once():
            connection, _ = listener.accept()
            connection.recv(1)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            # Unread bytes would turn the end of the connection into a reset.
            while connection.recv(1024):
                pass
            connection.close()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=answer_once)
            thread.start()
            process = corolane("call", f"127.0.0.1:{listener.getsockname()[1]}", "Echo/Say")
            thread.join()
        self.assertTrue(
            process.stderr.endswith(": is that the node.clients.listen of a node?\n"),
            process.stderr,
        )
        self.assertEqual(process.returncode, 1)


if __name__ == "__main__":
    COROLANE, ECHO_SERVER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
