#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The main job as its user sees it: a chess node and its bots, two processes over loopback.

Called with the paths of chess_node and bots, from the root of the tree.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import harness

CHESS_NODE = "chess_node"
BOTS = "bots"
GAMES = "test/data/chess/games.pgn"
EXPECTED = "test/data/chess/expected.csv"
BROKEN = "test/data/chess/broken.pgn"

# With sanitizers, a call costs up to a hundred times as much, so all games at once would be an
# overload, and the server would refuse most calls. The first games already cover what the
# sanitizers look for.
GAMES_AT_ONCE = 15 if os.environ.get("SANITIZERS") else 366
GAME_COUNT = 60 if os.environ.get("SANITIZERS") else 366
TLS_GAME_COUNT = 16 if os.environ.get("SANITIZERS") else 366
FEW_GAMES = 8 if os.environ.get("SANITIZERS") else 20
MOVE_COUNT = r"[1-9]\d+" if os.environ.get("SANITIZERS") else "19085"


class Node(harness.ChessNode):
    """A chess node, its bots, and calls over HTTP."""

    def __init__(self, folder, *options):
        super().__init__(CHESS_NODE, folder, *options)

    def bots(self, *options):
        return super().bots(BOTS, "--admin", self.admin, *options)

    def call(self, method, **request):
        """Calls a method over HTTP."""
        asked = urllib.request.Request(
            f"http://{self.http}/corolane.services.chess.Chess/{method}",
            data=json.dumps(request).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)


class NodeTest(unittest.TestCase):
    """Tests with a node, which must shut down cleanly."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *options):
        node = Node(self.folder, *options)
        self.addCleanup(self.stop, node)
        return node

    def some_games(self, count):
        return harness.some_games(self.folder, count)

    def stop(self, node):
        if node.process.returncode is None:
            status, log = node.stop()
            self.assertEqual(status, 0, log)


class MainJobTest(NodeTest):
    def setUp(self):
        super().setUp()
        self.node = self.start()

    def test_all_real_games_end_as_expected(self):
        games = self.some_games(GAME_COUNT)
        played = self.node.bots(
            *("--games", games, "--expected", EXPECTED, "--at-once", str(GAMES_AT_ONCE))
        )
        self.assertEqual((played.returncode, played.stderr), (0, ""), played.stdout)
        self.assertIn(f"{GAME_COUNT}/{GAME_COUNT} games ended as expected", played.stdout)
        for row in (
            rf"games at the same time +{GAMES_AT_ONCE}\b",
            rf"moves +{MOVE_COUNT}\b",
            r"calls/s +[1-9]",
            r"per call, p99 +\d+ us",
            r"coroutines alive, peak +[1-9]",
            r"cost of a switch +p50 [1-9]\d* ns",
            r"cost of a creation +p50 [1-9]\d* ns",
            r"\nthe ratings of 40 players are from 1[34]\d\d to 1[56]\d\d; "
            r"their sum is what it was\n",
        ):
            self.assertRegex(played.stdout, row)

        stats = self.node.stats()
        for name in ("switch_ns", "create_ns"):
            for figure in ("count", "mean", "p50", "p99"):
                self.assertGreater(stats["coroutine"][name][figure], 0, (name, figure))
        self.assertGreater(stats["coroutine"]["tasks"], 0)
        self.assertGreater(stats["stack_pool"]["hit_rate"], 0.9)
        self.assertEqual(stats["rpc"]["running"], 0)

    def test_every_damaged_game_is_named_and_the_others_finish(self):
        played = self.node.bots("--games", BROKEN)
        self.assertEqual(played.returncode, 1, played.stdout)
        self.assertIn("4/13 games played, without comparison", played.stdout)
        for line, game, ply, reason in (
            (13, "broken-1-unterminated-tag", 0, 'unterminated tag "White"'),
            (26, "broken-2-unknown-token", 6, 'unknown token "@@"'),
            (44, "broken-3-illegal-move", 14, 'illegal move "Bg5": no bishop of black'),
            (52, "broken-4-ambiguous-move", 5, 'ambiguous move "Nd2": knights on b1 and f3'),
            (61, "broken-5-malformed-move", 4, 'malformed move "Nf9": expected algebraic'),
            (78, "broken-6-unterminated-comment", 4, "unterminated comment"),
            (88, "broken-7-missing-result", 5, "no result after the last move"),
            (97, "broken-8-unterminated-variation", 3, "unterminated variation"),
            (105, "broken-9-move-after-mate", 5, "the game is over: checkmate"),
        ):
            self.assertIn(f'{BROKEN}:{line}: game "{game}", ply {ply}: {reason}', played.stderr)
        self.assertEqual(len(played.stderr.splitlines()), 9, played.stderr)

    def play(self, node, games, *options):
        played = node.bots("--games", games, "--expected", EXPECTED, *options)
        self.assertEqual((played.returncode, played.stderr), (0, ""), played.stdout)
        return played.stdout

    def test_games_that_begin_later_end_as_expected_too(self):
        count = 2 * FEW_GAMES
        said = self.play(self.node, self.some_games(count), "--at-once=5")
        self.assertIn(f"{count}/{count} games ended as expected", said)
        self.assertRegex(said, r"games at the same time +5\b")

    def test_runs_on_one_node_do_not_interfere(self):
        games = self.some_games(FEW_GAMES)
        for players in ("2", "1000"):
            said = self.play(self.node, games, "--players", players)
            self.assertIn(f"{FEW_GAMES}/{FEW_GAMES} games ended as expected", said)
            self.assertIn(f"the ratings of {players} players are from", said)

    def test_a_restarted_node_has_its_objects(self):
        games = self.some_games(FEW_GAMES)
        self.play(self.node, games)
        white = self.node.call("Join", game="kept", seat="WHITE", player="anna")
        black = self.node.call("Join", game="kept", seat="BLACK", player="ben")
        self.node.call("Move", game="kept", token=white["token"], san="e4")
        self.stop(self.node)
        self.node = self.start()
        self.play(self.node, games)
        self.assertEqual(self.node.call("Look", game="kept")["state"]["plies"], 1)
        self.node.call("Move", game="kept", token=black["token"], san="e5")
        self.node.call("Resign", game="kept", token=black["token"])
        # A rating changes shortly after its game has ended.
        for _ in range(100):
            anna = self.node.call("LookAtPlayer", player="anna")
            if anna["rating"] != 1500:
                break
            time.sleep(0.1)
        self.assertEqual((anna["rating"], anna["wins"]), (1510, 1))

    def test_an_expectation_without_a_number_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            expected = os.path.join(folder, "expected.csv")
            with open(expected, "w", encoding="ascii") as file:
                file.write("game,plies,outcome,final_fen,uci_moves\nmine,,unfinished,x,\n")
            played = self.node.bots("--games", GAMES, "--expected", expected)
        self.assertEqual(played.returncode, 1)
        self.assertIn(f"{expected}:2: expected five columns, the second a number", played.stderr)

    def test_a_game_with_an_unexpected_end_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            games = os.path.join(folder, "games.pgn")
            expected = os.path.join(folder, "expected.csv")
            with open(games, "w", encoding="ascii") as file:
                file.write('[Site "mine"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n')
            with open(expected, "w", encoding="ascii") as file:
                file.write("game,plies,outcome,final_fen,uci_moves\n")
                file.write("mine,4,stalemate,8/8/8/8/8/8/8/8 w - - 0 1,\n")
            played = self.node.bots("--games", games, "--expected", expected)
        self.assertEqual(played.returncode, 1)
        self.assertIn("0/1 games ended as expected", played.stdout)
        self.assertIn(
            f'{games}:3: game "mine", ply 4: the outcome is checkmate, expected stalemate; '
            "the final position is rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
            played.stderr,
        )

    def test_files_that_cannot_be_read_are_named(self):
        for options, message in (
            (["--games", "nowhere.pgn"], "bots: cannot read nowhere.pgn: No such file"),
            (["--games", GAMES, "--expected", BROKEN], f"bots: {BROKEN}:1: the first line has to"),
        ):
            played = self.node.bots(*options)
            self.assertEqual(played.returncode, 1)
            self.assertTrue(played.stderr.startswith(message), played.stderr)

    def test_a_wrong_command_line_says_what_to_type(self):
        for options in (
            ["--game"],
            ["--games"],
            ["games.pgn"],
            ["--at-once", "0"],
            ["--players", "1"],
            ["--server", "here"],
            ["--server", "127.0.0.1:1,here"],
            ["--server", ""],
            ["--admin", "here"],
        ):
            played = self.node.bots(*options)
            self.assertEqual(played.returncode, 2)
            self.assertTrue(played.stderr.endswith("; see bots --help\n"), played.stderr)


class TlsTest(NodeTest):
    """The same over TLS, with certificates like those of tools/run --tls."""

    def setUp(self):
        super().setUp()
        self.openssl("req", "-x509", *self.new_key("ca"), "-subj", "/CN=CA", "-out", "ca.pem")
        self.issue("node", "IP:127.0.0.1")

    def openssl(self, *words):
        subprocess.run(
            ["openssl", *words], cwd=self.folder, capture_output=True, check=True, timeout=60
        )

    @staticmethod
    def new_key(name):
        curve = ("-pkeyopt", "ec_paramgen_curve:P-256")
        return ("-newkey", "ec", *curve, "-nodes", "-keyout", f"{name}.key")

    def issue(self, name, subject):
        with open(self.file(f"{name}.ext"), "w", encoding="ascii") as file:
            file.write(f"subjectAltName={subject}\n")
        self.openssl("req", *self.new_key(name), "-subj", f"/CN={name}", "-out", f"{name}.csr")
        signed_by_ca = ("-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "1")
        files = ("-in", f"{name}.csr", "-extfile", f"{name}.ext", "-out", f"{name}.pem")
        self.openssl("x509", "-req", *files, *signed_by_ca)

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self, *options):
        return super().start(
            *("--set", f"node.clients.tls.certificate_file={self.file('node.pem')}"),
            *("--set", f"node.clients.tls.key_file={self.file('node.key')}"),
            *options,
        )

    def test_all_real_games_end_as_expected(self):
        played = self.start().bots(
            *("--games", self.some_games(TLS_GAME_COUNT), "--expected", EXPECTED),
            *("--at-once", str(GAMES_AT_ONCE), "--tls", self.file("ca.pem")),
        )
        self.assertEqual((played.returncode, played.stderr), (0, ""), played.stdout)
        expected = f"{TLS_GAME_COUNT}/{TLS_GAME_COUNT} games ended as expected"
        self.assertIn(expected, played.stdout)

    def test_bots_without_a_certificate_are_refused_where_one_is_needed(self):
        node = self.start(
            *("--set", f"node.clients.tls.ca_file={self.file('ca.pem')}"),
            *("--set", "node.clients.tls.needs_client_certificate=true"),
        )
        played = node.bots("--games", BROKEN, "--tls", self.file("ca.pem"))
        self.assertEqual(played.returncode, 1)
        self.assertIn("the peer demands a certificate of ours", played.stderr)
        self.issue("bots", "DNS:bots")
        own = ("--certificate", self.file("bots.pem"), "--key", self.file("bots.key"))
        played = node.bots("--games", BROKEN, "--tls", self.file("ca.pem"), *own)
        self.assertIn("4/13 games played, without comparison", played.stdout)

    def test_a_hangup_reloads_the_certificate_or_says_why_not(self):
        node = self.start()
        self.issue("node", "DNS:elsewhere")
        node.process.send_signal(signal.SIGHUP)
        self.assertIn("configuration reloaded", self.log_line(node, "reloaded"))
        played = node.bots("--games", BROKEN, "--tls", self.file("ca.pem"))
        self.assertIn('it is for "elsewhere", not for "127.0.0.1"', played.stderr)
        os.remove(self.file("node.key"))
        node.process.send_signal(signal.SIGHUP)
        self.assertIn("node.key: No such file", self.log_line(node, "not reloaded"))

    def log_line(self, node, text):
        for line in node.process.stderr:
            if text in line:
                return line
        return "the log has ended"

    def test_bots_trust_no_other_ca(self):
        self.openssl("req", "-x509", *self.new_key("o"), "-subj", "/CN=CA", "-out", "other.pem")
        played = self.start().bots("--games", BROKEN, "--tls", self.file("other.pem"))
        self.assertEqual(played.returncode, 1)
        self.assertIn("the peer's certificate is refused", played.stderr)

    def test_wrong_files_are_named(self):
        node = self.start()
        for options, message in (
            (["--tls", "nowhere.pem"], "bots: TLS CA nowhere.pem: No such file"),
            (["--key", "a.key"], "bots: --certificate and --key need --tls FILE"),
        ):
            played = node.bots(*options)
            self.assertEqual(played.returncode, 2)
            self.assertIn(message, played.stderr)


class NoNodeTest(unittest.TestCase):
    def test_bots_without_a_node_say_so(self):
        played = subprocess.run(
            [BOTS, "--server", "127.0.0.1:1", "--games", BROKEN],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        self.assertEqual(played.returncode, 1)
        self.assertIn("connect to 127.0.0.1:1: connection refused", played.stderr)


class HelpTest(unittest.TestCase):
    def test_help_has_two_names(self):
        for program in (CHESS_NODE, BOTS):
            with self.subTest(program=program):
                texts = {
                    subprocess.run([program, option], capture_output=True, check=True).stdout
                    for option in ("-h", "--help")
                }
                self.assertEqual(len(texts), 1)
                self.assertIn(b"usage: ", texts.pop().lower())

    def test_a_repeated_option_of_the_bots_is_refused(self):
        refused = subprocess.run(
            [BOTS, "--players", "3", "--players", "4"], capture_output=True, check=False
        )
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"--players is given twice", refused.stderr)


if __name__ == "__main__":
    CHESS_NODE, BOTS = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
