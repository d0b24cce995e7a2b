#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the shells offer while a command line of corolane is typed.

Called with the paths of the command and of echo_server.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import command_test
from command_test import CommandTest, EchoServer, corolane, harness


class CompletionTest(CommandTest):
    """The completions that bash offers for the last word of a line."""

    @classmethod
    def setUpClass(cls):
        cls.server = EchoServer()

    @classmethod
    def tearDownClass(cls):
        if cls.server.stop() != 0:
            raise AssertionError("the server did not end well")

    def assert_offers(self, line, *choices, in_order=True):
        script = (
            'eval "$("$1" completion bash)"\n'
            'COMP_LINE="$2" COMP_POINT=${#2}\n'
            "_corolane\n"
            'printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        line = line.replace("corolane", command_test.COROLANE, 1)
        line = line.replace("ADDRESS", self.server.address)
        process = subprocess.run(
            ["bash", "-c", script, "bash", command_test.COROLANE, line],
            capture_output=True, text=True, check=False, timeout=60,
        )
        offered = process.stdout.split()
        if not in_order:
            offered.sort()
        self.assertEqual((offered, process.stderr), (list(choices), ""))

    def test_commands_and_options_are_offered(self):
        names = re.findall(r"^  ([a-z]+)  ", corolane("help").stdout, re.MULTILINE)
        self.assert_offers("corolane ", *names)
        self.assert_offers("corolane ca", "call")
        self.assert_offers("corolane help sta", "stats", "stacks", "stalls")
        self.assert_offers("corolane completion ", "bash", "fish", "zsh")
        self.assert_offers("corolane call ADDRESS --d", "--describe")
        self.assert_offers("corolane call ADDRESS --o", "--object")
        self.assert_offers("corolane config ADDRESS --r", "--reload")
        self.assert_offers("corolane page ADDRESS --to", "--token")

    def test_the_choices_of_a_value_are_offered(self):
        self.assert_offers("corolane tasks ADDRESS --state r", "ready", "running")
        self.assert_offers("corolane new demo --client ", "none", "web")
        self.assert_offers("corolane log ADDRESS ", "debug", "info", "warning", "error")

    def test_every_option_of_a_help_is_offered(self):
        names = re.findall(r"^  ([a-z]+)  ", corolane("help").stdout, re.MULTILINE)
        for name in names:
            if name != "help":
                told = re.findall(r"^  (--[a-z-]+)", corolane("help", name).stdout, re.MULTILINE)
                told = sorted({*told, "--help"})
                self.assert_offers(f"corolane {name} --", *told, in_order=False)

    def test_the_methods_of_the_node_are_offered(self):
        self.assert_offers("corolane call ADDRESS Echo/W", "Echo/Wait", "Echo/Whisper")
        self.assert_offers("corolane call ADDRESS S", "SecondEcho/Say")
        self.assert_offers("corolane bench ADDRESS S", "SecondEcho/Say")
        second = "corolane.cli_test.SecondEcho/Say"
        self.assert_offers("corolane call ADDRESS corolane.cli_test.S", second)
        names = corolane("call", self.server.address, "--names").stdout.split()
        self.assert_offers("corolane call ADDRESS ", *names[::2])

    def test_without_a_node_nothing_is_offered(self):
        self.assert_offers("corolane call 127.0.0.1:1 ")

    def test_files_are_offered(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a_test", "a_recording"):
                open(f"{folder}/{name}", "w", encoding="utf-8").close()
            for line in (
                *(f"corolane {name} {folder}/a_t" for name in ("simulate", "replay", "run")),
                f"corolane simulate x --trace {folder}/a_t",
                f"corolane page ADDRESS --token {folder}/a_t",
            ):
                self.assert_offers(line, f"{folder}/a_test")

    def test_other_shells_are_refused(self):
        self.assert_fails(
            2,
            'corolane completion: "ksh" is not a supported shell; bash, fish and zsh are; '
            "see corolane help completion",
            *("completion", "ksh"),
        )


@harness.needs("fish")
@harness.needs("zsh")
class OtherShellsTest(CommandTest):
    """The completions of fish and zsh, as these shells offer them, and their scripts."""

    @classmethod
    def setUpClass(cls):
        cls.server = EchoServer()

    @classmethod
    def tearDownClass(cls):
        if cls.server.stop() != 0:
            raise AssertionError("the server did not end well")

    def offers_of_fish(self, line):
        path = f"{os.path.dirname(command_test.COROLANE)}:{os.environ['PATH']}"
        script = f"{command_test.COROLANE} completion fish | source; complete -C '{line}'"
        process = subprocess.run(
            ["fish", "--no-config", "-c", script],
            capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "PATH": path},
        )  # fmt: skip
        self.assertEqual(process.stderr, "")
        return [offer.split("\t")[0] for offer in process.stdout.splitlines()]

    def offers_of_zsh(self, line):
        # The functions of the completion system print what they get.
        script = (
            "compdef() { :; }\n"
            'compadd() { print -l -- ${(P)2}; }\n'
            '_describe() { print -l -- ${${(P)2}%%:*}; }\n'
            "_files() { print FILES; }\n"
            'eval "$($1 completion zsh)"\n'
            'words=("${(@s: :)2}")\nwords[1]=$1\nCURRENT=${#words}\n_corolane\n'
        )
        process = subprocess.run(
            ["zsh", "-f", "-c", script, "zsh", command_test.COROLANE, line],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        self.assertEqual(process.stderr, "")
        begun = line.rpartition(" ")[2]
        return [word for word in process.stdout.split() if word.startswith(begun)]

    def assert_offers(self, line, *choices):
        line = line.replace("ADDRESS", self.server.address)
        for shell, offers_of in (("fish", self.offers_of_fish), ("zsh", self.offers_of_zsh)):
            with self.subTest(shell=shell, line=line):
                self.assertEqual(sorted(set(offers_of(line))), sorted(choices))

    def test_their_scripts_name_every_command_and_option(self):
        names = re.findall(r"^  ([a-z]+)  ", corolane("help").stdout, re.MULTILINE)
        fish, zsh = (corolane("completion", shell).stdout for shell in ("fish", "zsh"))
        for name in names:
            self.assertIn(f" -a {name} ", fish)
            self.assertIn(f"    '{name}:", zsh)
            told = re.findall(r"^  (--[a-z-]+)", corolane("help", name).stdout, re.MULTILINE)
            for option in told if name != "help" else ():
                seen = f"'__fish_seen_subcommand_from {name}' -l {option[2:]}"
                self.assertRegex(fish, f"{re.escape(seen)}[ \\n]")
                self.assertRegex(zsh, rf"      {name}\) choices=\(.*{option}\b.*\) ;;\n")

    def test_they_offer_what_bash_offers(self):
        self.assert_offers("corolane ca", "call")
        self.assert_offers("corolane help sta", "stats", "stacks", "stalls")
        self.assert_offers("corolane completion ", "bash", "fish", "zsh")
        self.assert_offers("corolane call ADDRESS --d", "--describe")
        self.assert_offers("corolane tasks ADDRESS --state r", "ready", "running")
        self.assert_offers("corolane log ADDRESS ", "debug", "error", "info", "warning")
        self.assert_offers("corolane call ADDRESS Echo/W", "Echo/Wait", "Echo/Whisper")
        second = "corolane.cli_test.SecondEcho/Say"
        self.assert_offers("corolane bench ADDRESS corolane.cli_test.S", second)


if __name__ == "__main__":
    command_test.COROLANE, command_test.ECHO_SERVER = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
