#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The client for browsers and Node, rpc/clients/typescript: its own tests, its size, and real games
over sockets that are cut at random, in Node and in Chromium.

Usage: test/e2e/typescript_client_test.py CHESS_NODE PROTOC FOLDER

The folder is where the package is copied to and built. npm needs its registry the first time.
Without that, or without Node, it is skipped, and says so by name; with CI=true it fails without
Node.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import harness

CHESS_NODE = "chess_node"
PROTOC = "protoc"
FOLDER = Path("typescript_client")

PACKAGE = harness.ROOT / "rpc/clients/typescript"
DATA = harness.ROOT / "test/data/chess"
PROTOS = (
    *("rpc/options.proto", "services/chess/chess.proto", "services/chess/game.proto"),
    *("test/rpc/echo.proto", "test/rpc/talk.proto"),
)
SECRET = "the secret of a login service, long enough"
BUNDLE_BYTES_MAX = 15 * 1024
NODE_VERSION_MIN = 20  # The first with the virtual time of node:test.

# The errors of npm when it does not reach its registry.
OUT_OF_REACH = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
                "ERR_SOCKET_TIMEOUT", "E403", "E407", "SELF_SIGNED_CERT")

# What the last line says.
verdicts = []


def missing(why):
    if os.environ.get("CI") == "true":
        raise AssertionError(why)
    raise unittest.SkipTest(why)


def run(*command, seconds=300):
    """Returns its output. No proxy is between us and ourselves."""
    process = subprocess.run(
        [str(word) for word in command], cwd=FOLDER, capture_output=True, text=True, check=False,
        timeout=seconds,
        env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        | {"COROLANE_ROOT": str(harness.ROOT)},
    )
    if process.returncode != 0:
        raise AssertionError(f"{command[0]} fails:\n{process.stdout}{process.stderr}")
    return process.stdout


def copy_package():
    for old in ("src", "test", "dist"):
        shutil.rmtree(FOLDER / old, ignore_errors=True)
    ignored = shutil.ignore_patterns("node_modules", "dist", "gen")
    shutil.copytree(PACKAGE, FOLDER, ignore=ignored, dirs_exist_ok=True)


def install():
    """Installs the packages of package-lock.json, once for each version of it."""
    lock = (PACKAGE / "package-lock.json").read_bytes()
    done = FOLDER / "installed-lock.json"
    if done.is_file() and done.read_bytes() == lock:
        return
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1",
               "--fetch-timeout=20000"]
    try:
        process = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False,
                                 timeout=180)
    except subprocess.TimeoutExpired:
        raise unittest.SkipTest("npm did not get the packages in three minutes") from None
    if process.returncode != 0 and any(word in process.stderr for word in OUT_OF_REACH):
        raise unittest.SkipTest("npm does not reach its registry")
    if process.returncode != 0:
        raise AssertionError(process.stderr)
    done.write_bytes(lock)


def bundle(entry, output, *options):
    run("node_modules/.bin/esbuild", entry, "--bundle", "--minify", "--format=esm",
        f"--outfile={output}", "--log-level=warning", *options)


class TypeScriptClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("node", "npm"):
            if shutil.which(tool) is None:
                missing(f"{tool} is missing; install Node {NODE_VERSION_MIN} or later")
        version = subprocess.check_output(["node", "--version"], text=True)
        if int(re.match(r"v(\d+)", version)[1]) < NODE_VERSION_MIN:
            missing(f"Node {version.strip()} is too old; install {NODE_VERSION_MIN} or later")
        FOLDER.mkdir(parents=True, exist_ok=True)
        copy_package()
        install()
        generated = FOLDER / "test/gen"
        generated.mkdir()
        plugin = FOLDER / "node_modules/.bin/protoc-gen-es"
        run(PROTOC, f"-I{harness.ROOT}", f"--plugin=protoc-gen-es={plugin}",
            f"--es_out={generated}", "--es_opt=target=ts,import_extension=js", *PROTOS)
        run("node", "test/extract_examples.mjs")
        run("node_modules/.bin/tsc", "-p", "test")

    def test_its_own_tests_pass(self):
        files = sorted(FOLDER.glob("dist/test/*.test.js"))
        said = run("node", "--no-warnings", "--test", *files)
        self.assertRegex(said, r"# pass [1-9]\d*\n# fail 0\n")
        self.assertRegex(said, r"# skipped 0\n")

    def test_it_is_small(self):
        """With Connect, and without protobuf, which a page has anyway."""
        entry = FOLDER / "dist/bundle_entry.js"
        entry.write_text('export * from "./src/index.js";\n'
                         'export { createClient } from "@connectrpc/connect";\n', encoding="utf-8")
        output = FOLDER / "dist/bundle.js"
        bundle(entry, output, "--external:@bufbuild/protobuf", "--external:@bufbuild/protobuf/*")
        size = len(gzip.compress(output.read_bytes(), compresslevel=9, mtime=0))
        verdicts.append(f"bundle {size / 1024:.1f} KB of {BUNDLE_BYTES_MAX // 1024} KB")
        self.assertLessEqual(size, BUNDLE_BYTES_MAX)

    def play(self, browser):
        with tempfile.TemporaryDirectory() as folder:
            keys = Path(folder, "keys")
            keys.write_text(SECRET + "\n", encoding="utf-8")
            node = harness.ChessNode(
                CHESS_NODE, folder,
                *("--set", f"node.clients.login.jwt_keys_file={keys}"),
                *("--set", 'node.clients.origins=["*"]'),
                errors=subprocess.DEVNULL,
            )
            try:
                said = run("node", "--no-warnings", "dist/test/games/main.js", node.listen, SECRET,
                           DATA / "games.pgn", DATA / "expected.csv", FOLDER / "dist/page.js",
                           browser, seconds=420)
            finally:
                node.stop()
        print(said, end="", file=sys.stderr)
        verdicts.append(re.match(r"\w+ \d+/\d+ games", said)[0])

    def test_games_in_node_are_played_as_expected(self):
        self.play("")

    @harness.needs("chromium")
    def test_games_in_a_page_are_played_as_expected(self):
        bundle(FOLDER / "dist/test/games/page.js", FOLDER / "dist/page.js")
        self.play(shutil.which("chromium"))


if __name__ == "__main__":
    CHESS_NODE, PROTOC = sys.argv[1:3]
    FOLDER = Path(sys.argv[3]).resolve()
    program = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False)
    if verdicts:
        print("clients: " + ", ".join(sorted(verdicts, key=lambda text: "ncb".index(text[0]))))
    sys.exit(not program.result.wasSuccessful())
