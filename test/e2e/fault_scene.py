# SPDX-License-Identifier: MIT
"""A node with one planted fault, what its user looks at, and a table of what was found.

A word is a pattern of which the text has to have a match; one that begins with ! must not match.
"""

import json
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import harness

# How long to look for what is not expected to be there.
LATER_PATIENCE = 2


def place_of(source, function):
    """A pattern of all places of a function: the file and one of its lines."""
    lines = source.read_text(encoding="utf-8").splitlines()
    (first,) = (
        number
        for number, line in enumerate(lines, 1)
        if re.match(rf"\S.*\b{function}\(.*\{{", line)
    )
    last = first
    while not lines[last - 1].endswith("}"):
        last += 1
    numbers = "|".join(map(str, range(first, last + 1)))
    return rf"{re.escape(source.name)}:(?:{numbers})\b"


def one_line(*words, unless=None):
    """A word for a line that has all of these, in any order, and not the last one."""
    return "^" + "".join(f"(?=.*{word})" for word in words) + (f"(?!.*{unless})" if unless else "")


def matches(word, text):
    found = re.search(word.removeprefix("!"), text, re.MULTILINE) is not None
    return found != word.startswith("!")


def telling_line(text, words, missing):
    """The line that says it; if something is missing, what is said instead."""
    unwanted = [word[1:] for word in missing if word.startswith("!")]
    wanted = [word for word in words if not word.startswith("!") and word not in missing]
    lines = [line for line in text.splitlines() if line.strip()]
    for word in unwanted + wanted:
        for line in lines:
            if re.search(word, line):
                return line
    return "-" if missing or not lines else lines[0]


class Look(NamedTuple):
    """What was found where a user looks."""

    fault: str
    what: str
    by: str
    seconds: float
    line: str
    missing: list  # The words that were not found.

    @property
    def key(self):
        return f"{self.fault}: {self.what}"


class Scene:
    """One fault, in a node of its own."""

    def __init__(self, program, corolane, fault, later):
        """`later` has the keys of the looks that find nothing yet."""
        self.program = program
        self.corolane = corolane
        self.fault = fault
        self.later = later
        self.looks = []
        self.node = None
        self.callers = []
        self.begun = time.monotonic()

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        return self

    def __exit__(self, *_):
        if self.node is not None:
            self.node.stop(signal.SIGKILL)
        for caller in self.callers:
            caller.kill()
            caller.communicate()
        self.temporary.cleanup()

    # --- What a user does

    def start(self, *settings, before=()):
        """`before` is what runs the program."""
        with open(self.folder / "log", "wb") as log:
            self.node = harness.Node(
                *before,
                self.program,
                *("--set", "node.shards=2"),
                *("--set", "node.store.kind=memory"),
                *("--set", f"node.crash.folder={self.folder}"),
                *(word for setting in settings for word in ("--set", setting)),
                errors=log,
            )

    def start_in_vain(self, *options):
        """The exit status of the program, and what it prints."""
        ran = subprocess.run(
            [self.program, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=harness.PATIENCE,
        )
        return f"exit status {ran.returncode}\n{ran.stdout}"

    def call(self, method, thing="x", ask=None):
        """Begins a call of a thing, or of the gate without one; returns the process."""
        name, option = (f"Thing/{method}", ("--object", thing)) if thing else (f"Gate/{method}", ())
        caller = subprocess.Popen(
            [self.corolane, "call", self.node.listen, name, json.dumps(ask or {}), *option],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.callers.append(caller)
        self.begun = time.monotonic()
        return caller

    @staticmethod
    def answer_of(caller):
        """The reply or the error of a call."""
        return caller.communicate(timeout=harness.PATIENCE)[0]

    def answer(self, *words):
        return self.answer_of(self.call(*words))

    def things_on(self, shard, count):
        """The ids of things that live on that shard."""
        found = []
        for number in range(100):
            owner = json.loads(self.node.page(f"objects/Thing/x{number}?format=json"))["owner"]
            if owner["shard"] == shard:
                found.append(f"x{number}")
            if len(found) == count:
                break
        return found

    # --- What a user looks at

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def report(self):
        """The crash report, once there is one."""
        files = self.folder.glob("*.crash")
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)

    def ask(self, command, *words):
        """What a command says of the node."""
        asked = subprocess.run(
            [self.corolane, command, self.node.admin, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=harness.PATIENCE,
        )
        return asked.stdout

    def says(self, what, by, told, *words, within=10, begin=None):
        """Looks at the text that `told` returns until all words are there, for at most `within`
        seconds since `begin`, by default from now on.
        """
        begin = time.monotonic() if begin is None else begin
        is_later = f"{self.fault}: {what}" in self.later
        end = time.monotonic() + LATER_PATIENCE if is_later else begin + within
        while True:
            text = told()
            seconds = time.monotonic() - begin
            missing = [word for word in words if not matches(word, text)]
            if not missing or time.monotonic() > end:
                break
            time.sleep(0.02)
        if not missing and seconds > within:
            missing = [f"an answer within {within} s"]
        line = telling_line(text, words, missing)
        self.looks.append(Look(self.fault, what, by, seconds, line, missing))

    # The node tells these by itself: the time counts from the beginning of the fault.

    def log_says(self, what, *words, within=10):
        self.says(what, "log", self.log, *words, within=within, begin=self.begun)

    def report_says(self, what, *words, within=20):
        self.says(what, "crash report", self.report, *words, within=within, begin=self.begun)

    # The time of these counts from the question.

    def command_says(self, what, command, *words, within=10):
        by = " ".join(("corolane", *command))
        self.says(what, by, lambda: self.ask(*command), *words, within=within)

    def caller_hears(self, told, *words, within=10):
        """`told` is the outcome of the call that began last."""
        self.says("error", "the caller", lambda: told, *words, within=within, begin=self.begun)


def verdict_of(look, later):
    if look.missing:
        return "LATER" if look.key in later else "FAIL"
    return "PASS, is in EXPECTED_LATER" if look.key in later else "PASS"


def print_table(looks, later):
    rows = [("FAULT", "FOUND BY", "AFTER", "WHAT IT SAYS", "VERDICT")]
    for before, look in zip([None, *looks], looks):
        is_first = before is None or before.fault != look.fault
        line = re.sub(r"^\d{4}-\d\d-\d\dT\S+ ", "", look.line.strip())
        line = re.sub(r"\s+", " ", line)
        line = line if len(line) <= 110 else line[:107] + "..."
        rows.append(
            (
                look.fault if is_first else "",
                f"{look.by}: {look.what}",
                f"{look.seconds:.2f} s",
                line,
                verdict_of(look, later),
            )
        )
    widths = [max(map(len, column)) for column in list(zip(*rows))[:-1]]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0])).rstrip())
