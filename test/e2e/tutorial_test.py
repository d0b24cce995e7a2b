#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the pages of deploy/tutorial as their reader would: each command must print what they say.

Called with a build folder, which it installs, and perhaps with another page or folder of pages,
whose names begin with their numbers. tutorial.py describes the format of a page. The test runs in
its own network namespace where that is allowed, since its ports may be taken outside; otherwise
they must be free. It leaves its files in a folder of BUILD that is named after the tutorial:
`transcript.txt` has the whole output. What people do in browsers needs Chromium, and leaves
pictures in the folder `screenshots` of BUILD; without Chromium it is skipped, and says so by name.
"""

import fcntl
import os
import queue
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from installed import environment, install
from tutorial import Act, Mismatch, Unreadable, compare, steps_of
from windows import Windows

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path()
TUTORIAL = ROOT / "deploy/tutorial"

# The programs, and the packages that contain them.
NEEDED = (
    ("etcd", "etcd-server"),
    ("redis-server", "redis-server"),
    ("redis-cli", "redis-tools"),
    ("curl", "curl"),
    ("patch", "patch"),
    ("openssl", "openssl"),
    ("pkill", "procps"),
)
NO_BROWSER = "chromium is missing; tools/setup --tests installs it"
# The ports of etcd and redis, which the page does not mention.
OTHER_PORTS = (2379, 2380, 6379)

# The limit for one block; a compiler on a busy machine takes the longest.
BLOCK_TIME_MAX = 300
# Output of background jobs may come late.
LATE_OUTPUT_TIME_MAX = 30
IN_OWN_NAMESPACES = "TUTORIAL_IN_OWN_NAMESPACES"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

# An interactive shell words it differently.
JOB_NOTICE = re.compile(r".*: line \d+: +\d+ (Killed|Terminated) .*")


def pages_of(tutorial):
    """The pages of a tutorial, in order: those of a folder, or the page itself."""
    return sorted(tutorial.glob("[0-9]*.md")) if tutorial.is_dir() else [tutorial]


class Shell:
    """One bash for all pages, and the processes that it started."""

    def __init__(self, folder, environment_):
        self.scripts = folder
        self.lines = queue.SimpleQueue()
        self.count = 0
        self.cwd = folder / "work"
        self.cwd.mkdir()
        self.bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", cwd=self.cwd, env=environment_,
            start_new_session=True,
        )  # fmt: skip
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.bash.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def run(self, commands, is_complete):
        """Returns the output of the commands, with late output until `is_complete` accepts it."""
        self.count += 1
        script = self.scripts / f"block-{self.count}.sh"
        script.write_text(commands, encoding="utf-8")
        mark = f"end of block {self.count} in"
        self.bash.stdin.write(f". '{script}' </dev/null; printf '\\n{mark} %s\\n' \"$PWD\"\n")
        self.bash.stdin.flush()
        printed = []
        deadline = time.monotonic() + BLOCK_TIME_MAX
        has_ended = False
        while not (has_ended and is_complete(printed)):
            try:
                line = self.lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if line is None:
                raise AssertionError("the shell has ended\n" + "\n".join(printed))
            if line.startswith(mark):
                has_ended = True
                self.cwd = Path(line.removeprefix(mark).strip())
                # The mark begins a new line, whether or not the output before it ended with one.
                if printed and printed[-1] == "":
                    printed.pop()
                deadline = time.monotonic() + LATE_OUTPUT_TIME_MAX
            elif not JOB_NOTICE.fullmatch(line):
                printed.append(line)
        if not has_ended:
            printed.append(f"(not at its end after {BLOCK_TIME_MAX} s)")
        return printed

    def end(self):
        """Kills the processes of its session, and returns when none of them runs."""
        # A killed process runs on for a moment, and may have started another one before.
        while running := list(self.running()):
            for process in running:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.001)
        self.bash.wait()
        self.reader.join()
        self.bash.stdin.close()
        self.bash.stdout.close()

    def running(self):
        """The running processes of its session; no other process has started one."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                text = stat.read_text(encoding="utf-8", errors="replace")
            except OSError:  # It has ended meanwhile.
                continue
            state, _, _, session = text.rpartition(")")[2].split()[:4]
            # A zombie has ended, and stays until its parent reaps it.
            if int(session) == self.bash.pid and state not in "ZX":
                yield int(stat.parent.name)


class TutorialTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        missing = [package for program, package in NEEDED if shutil.which(program) is None]
        if missing:
            self.fail(f"the tutorial needs more: apt-get install {' '.join(missing)}")
        if os.environ.get("CI") == "true" and shutil.which("chromium") is None:
            self.fail(NO_BROWSER)
        self.picture_count = 0
        self.pages = {page: page.read_text(encoding="utf-8") for page in pages_of(TUTORIAL)}
        if IN_OWN_NAMESPACES not in os.environ:
            self.assert_ports_are_free()

    def assert_ports_are_free(self):
        text = "".join(self.pages.values())
        ports = {int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", text)}
        for port in sorted(ports | set(OTHER_PORTS)):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    self.fail(f"the tutorial needs port {port}: {error.strerror}; free it")

    def test_each_command_prints_what_its_page_says(self):
        self.assertTrue(self.pages, f"{TUTORIAL} has no pages")
        folder = BUILD / TUTORIAL.stem
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        install(BUILD, folder / "prefix")
        self.transcript = folder / "transcript.txt"
        shell = Shell(folder, environment(folder / "prefix", folder))
        self.addCleanup(shell.end)
        windows = Windows(folder)
        self.addCleanup(windows.close)
        has_browser = shutil.which("chromium") is not None
        for page, text in self.pages.items():
            for step in steps_of(text):
                if step.file_name:
                    (shell.cwd / step.file_name).write_text(step.content, encoding="utf-8")
                elif not step.acts:
                    self.take(page.name, step, shell)
                elif has_browser:
                    self.act(page.name, step, windows)
                else:
                    with self.subTest(f"{page.name}:{step.line}"):
                        self.skipTest(NO_BROWSER)
        self.assertEqual(windows.errors(), [])

    def act(self, page_name, step, windows):
        begin = time.monotonic()
        for act in step.acts:
            try:
                windows.perform(act)
            except AssertionError as error:
                self.fail(f"{page_name}:{act.line}: {act.person}: {error}")
        pictures = BUILD / "screenshots"
        pictures.mkdir(exist_ok=True)
        self.picture_count += 1
        windows.take_pictures(step.acts[0].person, pictures, f"project-{self.picture_count}")
        print(f"{page_name}:{step.line}: {time.monotonic() - begin:.1f} s", flush=True)

    def take(self, page_name, step, shell):
        begin = time.monotonic()
        printed = shell.run(step.commands, lambda lines: compare(step.output, lines) is None)
        print(f"{page_name}:{step.line}: {time.monotonic() - begin:.1f} s", flush=True)
        with self.transcript.open("a", encoding="utf-8") as transcript:
            transcript.writelines(f"$ {line}\n" for line in step.commands.splitlines())
            transcript.writelines(f"{line}\n" for line in printed)
        if mismatch := compare(step.output, printed):
            line = step.output_line + mismatch.index if step.output else step.line
            came = "\n".join(f"  {text}" for text in printed) or "  nothing"
            self.fail(
                f"{page_name}:{line}: expected\n  {mismatch.expected}\n"
                f"of the commands in line {step.line}\n{step.commands}which printed\n{came}"
            )


class PageTest(unittest.TestCase):
    def test_the_pages_of_a_folder_come_in_the_order_of_their_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("2_b.md", "1_z.md", "README.md"):
                Path(folder, name).touch()
            self.assertEqual([page.name for page in pages_of(Path(folder))], ["1_z.md", "2_b.md"])
            self.assertEqual(pages_of(Path(folder, "README.md")), [Path(folder, "README.md")])

    def test_outputs_belong_to_the_commands_before_them(self):
        page = "\n".join(
            ("# T", "```sh", "echo a", "```", "It says", "```text", "a", "```")
            + ("Save as `b.yaml`:", "", "```yaml", "b: 1", "```")
        )
        run, save = steps_of(page)
        self.assertEqual((run.line, run.commands), (3, "echo a\n"))
        self.assertEqual((run.output_line, run.output), (7, ("a",)))
        self.assertEqual((save.file_name, save.content), ("b.yaml", "b: 1\n"))

    def test_people_act_in_windows(self):
        page = "\n".join(
            ("```browser", "Anna opens http://127.0.0.1:8460/#lions")
            + ('Anna writes "7" into "Your donation"', 'Ben sees "Anna 7 gold"', "```")
        )
        (step,) = steps_of(page)
        self.assertEqual(
            step.acts,
            (
                Act(2, "Anna", "opens", "http://127.0.0.1:8460/#lions"),
                Act(3, "Anna", "writes", "7", "Your donation"),
                Act(4, "Ben", "sees", "Anna 7 gold"),
            ),
        )

    def test_a_page_that_cannot_be_run_is_refused(self):
        for page, reason in (
            ("```text\na\n```", "line 2: an output without commands"),
            ("```sh\na\n```\n```text\na\n```\n```text\na\n```", "line 8: an output without"),
            ("See\n```yaml\na: 1\n```", "line 3: a file without a name"),
            ("```sh\na", "line 1: a block that does not end"),
            ("```browser\nAnna jumps\n```", "line 2: nobody can do that in a window: Anna jumps"),
            ('```browser\nAnna writes "a"\n```', "line 2: nobody can do that"),
            ('```browser\nAnna opens "a"\n```', "line 2: nobody can do that"),
        ):
            with self.subTest(page), self.assertRaisesRegex(Unreadable, reason):
                steps_of(page)


class ShellTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.shell = Shell(Path(folder.name), dict(os.environ))
        self.addCleanup(self.shell.end)

    def run_block(self, commands, is_complete=lambda lines: True):
        return self.shell.run(commands, is_complete)

    def test_a_block_keeps_the_state_of_the_one_before(self):
        self.assertEqual(self.run_block("mkdir a\ncd a\nb=1\n"), [])
        self.assertEqual(self.shell.cwd.name, "a")
        self.assertEqual(self.run_block('echo "$b ${PWD##*/}"\n'), ["1 a"])

    def test_all_output_counts(self):
        self.assertEqual(self.run_block("echo a; echo b >&2\n"), ["a", "b"])
        self.assertEqual(self.run_block("printf a\n"), ["a"])
        self.assertEqual(self.run_block("echo a; echo\n"), ["a", ""])

    def test_commands_do_not_read_later_commands(self):
        self.assertEqual(self.run_block("cat\necho a\n"), ["a"])

    def test_output_of_background_jobs_is_awaited(self):
        fifo = self.shell.cwd / "fifo"
        os.mkfifo(fifo)
        begun = self.run_block("cat fifo &\n")
        fifo.write_text("a\n", encoding="utf-8")
        self.assertEqual(begun + self.run_block("true\n", lambda lines: lines == ["a"]), ["a"])

    def test_the_notice_of_a_killed_job_is_not_output(self):
        self.assertEqual(self.run_block("sleep 60 &\nkill -9 $!\nwait\necho a\n"), ["a"])

    def test_its_end_kills_all_processes_that_it_started(self):
        (process,) = self.run_block("sleep 60 & echo $!\n")
        self.assertIn(int(process), self.shell.running())
        self.shell.end()
        self.assertEqual(list(self.shell.running()), [])


class CompareTest(unittest.TestCase):
    def test_each_line_has_to_come(self):
        self.assertIsNone(compare(["a", "b"], ["a", "b"]))
        self.assertEqual(compare(["a", "b"], ["a"]), Mismatch(1, "b"))
        self.assertEqual(compare(["a"], ["a", "b"]), Mismatch(1, "nothing more"))
        self.assertEqual(compare([], ["a"]), Mismatch(0, "nothing more"))
        self.assertEqual(compare(["a"], ["ab"]), Mismatch(0, "a"))

    def test_dots_stand_for_any_lines_or_text_in_a_line(self):
        self.assertIsNone(compare(["a", "...", "b"], ["a", "b"]))
        self.assertIsNone(compare(["a", "...", "b"], ["a", "x", "b", "y", "b"]))
        self.assertIsNone(compare(["took ... us"], ["took 1 or 2 us"]))
        self.assertEqual(compare(["...", "b", "c"], ["a", "b"]), Mismatch(2, "c"))

    def test_a_tilde_stands_for_one_word(self):
        self.assertIsNone(compare(["pid=~12 up"], ["pid=345 up"]))
        self.assertEqual(compare(["pid ~12 up"], ["pid 3 4 up"]), Mismatch(0, "pid ~12 up"))

    def test_columns_may_be_of_any_width(self):
        self.assertIsNone(compare(["a  b"], ["a     b  "]))
        self.assertEqual(compare(["a b"], ["ab"]), Mismatch(0, "a b"))


def enter_own_namespaces():
    """Restarts this test in namespaces where all ports are free and no process outlives it, even if
    it is killed. Returns when that is not allowed.
    """
    command = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    if os.getuid() != 0:
        command += ["--user", "--map-root-user"]
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
        os.environ[IN_OWN_NAMESPACES] = "1"
        os.execvp("unshare", [*command, sys.executable, *sys.argv])


def bring_up_loopback():
    with socket.socket() as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


if __name__ == "__main__":
    BUILD = Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        TUTORIAL = Path(sys.argv[2])
    if IN_OWN_NAMESPACES in os.environ:
        bring_up_loopback()
    elif shutil.which("unshare"):
        enter_own_namespaces()
    unittest.main(argv=sys.argv[:1])
