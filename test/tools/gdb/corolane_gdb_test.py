#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/gdb/corolane.py as its user sees it: on a live process, and on a core file of it.

Called with the path of task_zoo, a program that stops with a task in every state.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "tools/gdb/corolane.py"
ZOO = "task_zoo"

# The commands of both sessions, and the mark before each answer.
QUESTIONS = (
    "corolane tasks",
    "corolane stackless",
    *(f"corolane bt {number}" for number in range(1, 8)),
    *(f"corolane bt {number} -whole" for number in range(1, 6)),
    "corolane bt 3 -frame-info short-location",
    "bt",
    "corolane bt 3 -no-such-option",
    "corolane bt 99",
    "corolane bt",
)
MARK = "== "


def run_gdb(*arguments):
    settings = ("set debuginfod enabled off", "set startup-with-shell off", "set width 0")
    begin = [part for setting in settings for part in ("-iex", setting)]
    return subprocess.run(
        ["gdb", "--batch", "-nx", *begin, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


def asking():
    """Yields arguments that ask all questions, so that a failing one does not stop the rest."""
    yield from ("-ex", f"source {SCRIPT}")
    for question in QUESTIONS:
        yield from ("-ex", f"echo {MARK}{question}\\n", "-ex", question)
    yield from ("-ex", f"echo {MARK}end\\n")


def answers(output):
    parts = re.split(rf"^{MARK}(.*)\n", output, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def calls(line, function):
    """Whether that line of a backtrace is a call of the function, in any namespace."""
    return re.search(rf"\b{function}(?:\(.*\))? \(", line) is not None


def run_sessions():
    """The answers of both sessions by name, and everything that was printed."""
    with tempfile.TemporaryDirectory() as folder:
        core = Path(folder) / "core"
        live = run_gdb(
            *("-ex", "break corolane::test::all_in_place", "-ex", "run"),
            *asking(),
            *("-ex", f"corolane core {core}", "-ex", "kill", ZOO),
        )
        dead = run_gdb(*asking(), ZOO, str(core))
        printed = "".join((live.stdout, live.stderr, dead.stdout, dead.stderr))
        return {"live": answers(live.stdout), "core": answers(dead.stdout)}, printed


class Claims:
    """The claims that hold in either session."""

    session = None
    sessions = None  # Both run once, for all tests.
    printed = ""

    @classmethod
    def setUpClass(cls):
        if Claims.sessions is None:
            Claims.sessions, Claims.printed = run_sessions()

    def answer(self, question):
        self.assertIn("end", self.sessions[self.session], self.printed)
        return self.sessions[self.session][question]

    def assert_calls(self, backtrace, *expected):
        """These functions are in the backtrace, in this order, perhaps with others in between."""
        lines = iter(backtrace.splitlines())
        for function in expected:
            self.assertTrue(any(calls(line, function) for line in lines), backtrace + self.printed)

    def test_tasks_lists_every_task_of_every_scheduler(self):
        outer, _, inner = self.answer("corolane tasks").partition("scheduler 2: 7 tasks\n")
        self.assertRegex(outer, r"^scheduler 1: 1 tasks\n.*\n *1  running +outer +\S+\n")
        rows = [re.split(r" {2,}", line.strip()) for line in inner.splitlines()]
        self.assertEqual(rows[0], ["id", "state", "waits for", "name", "spawned at"])
        self.assertEqual(
            [row[:-1] for row in rows[1:]],
            [
                ["1", "running", "keeper"],
                ["2", "suspended", "event", "waiter"],
                ["3", "suspended", "sleep", "sleeper"],
                ["4", "suspended", "mutex", "locker"],
                ["5", "ready", "yielder"],
                ["6", "ended", "ended"],
                ["7", "new", r"un\x1b[1mborn"],
            ],
        )
        for row in rows[2:]:
            self.assertRegex(row[-1], r"/task_zoo\.cc:\d+$")

    def test_stackless_counts_coroutines_by_where_they_wait_and_what_for(self):
        outer, _, inner = self.answer("corolane stackless").partition("scheduler 2: ")
        self.assertEqual(outer, "scheduler 1: 0 stackless coroutines\n")
        first, *lines = inner.splitlines()
        self.assertEqual(first, "6 stackless coroutines", self.printed)
        rows = [re.split(r" {2,}", line.strip()) for line in lines]
        self.assertEqual(rows[0], ["count", "state", "waits for", "in", "group made at"])
        self.assertEqual(
            [row[:3] for row in rows[1:]],
            [["5", "suspended", "event"], ["1", "suspended", "sleep"]],
        )
        self.assertRegex(rows[1][3], r"\bhear_the_bell$")
        self.assertRegex(rows[2][3], r"\bdoze$")
        self.assertRegex(rows[1][4], r"/task_zoo\.cc:\d+$")

    def test_bt_shows_a_suspended_task_down_to_its_function(self):
        waiter = self.answer("corolane bt 2 -whole")
        self.assertTrue(waiter.startswith('task 2 "waiter" of scheduler 2: suspended\n#0'), waiter)
        self.assert_calls(waiter, *["wait_for_the_bell"] * 4, "run_function")
        self.assertRegex(waiter, r"wait_for_the_bell \(.*\) at \S+/task_zoo\.cc:\d+")
        self.assert_calls(self.answer("corolane bt 3 -whole"), "sleep_for_an_hour", "run_function")
        self.assert_calls(self.answer("corolane bt 4 -whole"), "take_the_lock", "run_function")

    def test_bt_folds_frames_of_corolane_and_frames_that_repeat(self):
        waiter = self.answer("corolane bt 2")
        self.assertRegex(waiter, r"\n     \(\d+ frames of corolane\)\n")
        self.assertEqual(waiter.count("wait_for_the_bell"), 2, waiter)
        self.assertIn("\n     (the frame above 2 times more)\n", waiter)
        whole = self.answer("corolane bt 2 -whole")
        self.assertNotIn("frames of corolane", whole)
        self.assertEqual(whole.count("wait_for_the_bell"), 4, whole)

    def test_bt_shows_a_task_that_yielded(self):
        self.assert_calls(self.answer("corolane bt 5 -whole"), "keep_yielding", "run_function")

    def test_bt_shows_the_running_task_and_the_one_that_runs_its_scheduler(self):
        mark = 'task 1 "keeper" of scheduler 2: running\n'
        outer, _, keeper = self.answer("corolane bt 1 -whole").partition(mark)
        self.assert_calls(outer, "Scheduler::run_ready", "Scheduler::run", "run_inside_a_task")
        self.assert_calls(keeper, "all_in_place", "run_zoo", "run_function")

    def test_bt_says_when_there_is_no_stack(self):
        self.assertIn("ended\nhas no stack to show\n", self.answer("corolane bt 6"))
        self.assertIn("new\nhas no stack to show\n", self.answer("corolane bt 7"))

    def test_a_backtrace_ends_where_the_task_began(self):
        for number in (2, 3, 4, 5):
            backtrace = self.answer(f"corolane bt {number} -whole")
            self.assertNotIn("Backtrace stopped", backtrace)
            self.assertRegex(backtrace.splitlines()[-1], r"ContextSwitch::enter<")

    def test_options_of_bt_are_passed_on(self):
        question = "corolane bt 3 -frame-info short-location"
        self.assertNotRegex(self.answer(question), r" at \S+:\d+")
        self.assert_calls(self.answer(question), "sleep_for_an_hour")

    def test_the_selected_thread_is_restored(self):
        self.assert_calls(self.answer("bt").splitlines()[0], "all_in_place")

    def test_errors_say_what_is_wrong(self):
        self.answer("corolane bt 99")
        self.assertIn("there is no task 99; corolane tasks shows all", self.printed)
        self.assertIn("usage: corolane bt ID", self.printed)
        self.assertNotIn("Python Exception", self.printed)


class LiveTest(Claims, unittest.TestCase):
    session = "live"


class CoreTest(Claims, unittest.TestCase):
    session = "core"


if __name__ == "__main__":
    ZOO = sys.argv.pop(1)
    unittest.main()
