#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A game server with planted faults (twenty_faults/), as its user meets them: for each of them the
command, page, log or crash report that a user would look at first, the words that have to be there,
and the time within which they are. Prints a table of what was found.

The bounds are for what hangs: usually it takes a tenth of them.

Usage: test/e2e/twenty_faults_test.py FAULTS_NODE COROLANE
"""

import concurrent.futures
import resource
import socket
import sys
import time
import unittest
from pathlib import Path

import fault_scene
from fault_scene import matches, one_line
from raw_client import RawClient

NODE = "faults_node"
COROLANE = "corolane"
SOURCE = Path(__file__).with_name("twenty_faults") / "thing.cc"

STALL = "the loop does not turn"

# Faults that are looked at at the same time, each in a node of its own.
AT_ONCE = 4

# The looks that find nothing yet, as "fault: what", and what is there instead. One that finds what
# it looks for is an error here, and so is one that does not exist.
EXPECTED_LATER = {}

FAULTS = {}


def fault(name):
    """Registers a function that plants a fault in a scene, and looks at what is said about it."""

    def register(plant):
        FAULTS[name] = plant
        return plant

    return register


def place_of(function):
    return fault_scene.place_of(SOURCE, function)


# --- The process dies


def crash(scene, method):
    scene.start()
    scene.call(method)
    scene.log_says("task", rf'"faults\.Thing/{method}"')


@fault("a local array of 200 KB")
def overflow(scene):
    crash(scene, "Overflow")
    place = place_of("overflow")
    scene.report_says("place", r'^object +faults\.Thing/Overflow\("x"\)', "stack overflow", place)
    enough = r'stack_size = "(?:25[6-9]|2[6-9]\d|[3-9]\d\d|\d{4,})KiB"'
    scene.log_says("a stack that is enough", enough, "stack overflow")
    scene.report_says("frames folded", r"\d+ frames of corolane", place)


@fault("an endless recursion")
def recursion(scene):
    crash(scene, "Recurse")
    place = place_of("count_rooms")
    scene.report_says("place", r'^object +faults\.Thing/Recurse\("x"\)', "stack overflow", place)
    scene.log_says("that it is recursion", r"(?i)recurs", "!next larger")
    times = r"\b\d{2,} times"
    scene.report_says(
        "a frame told once", rf"count_rooms.*(?:\n.*)?{times}|{times}.*(?:\n.*)?count_rooms", place
    )


@fault("a null pointer")
def null_pointer(scene):
    crash(scene, "UseNull")
    scene.report_says(
        "place",
        r"^signal +SIGSEGV .* at address 0x0\b",
        r'^object +faults\.Thing/UseNull\("x"\)',
        place_of("use_null"),
    )


@fault("a check that fails")
def failed_check(scene):
    crash(scene, "FailCheck")
    place = place_of("fail_check")
    scene.log_says("claim", "^check failed: a purse holds no debt", place)
    scene.report_says(
        "place",
        rf'^check +"a purse holds no debt" failed at .*{place}',
        r'^object +faults\.Thing/FailCheck\("x"\)',
    )


@fault("a double free")
def double_free(scene):
    crash(scene, "FreeTwice")
    scene.log_says("kind", "double free")
    place = place_of("free_twice")
    scene.report_says(
        "place", r'^object +faults\.Thing/FreeTwice\("x"\)', r"^signal +SIGABRT", place
    )
    scene.report_says("frames of libc", "!^ +at 0x", r"^ +at abort$", place)


# --- A call fails


def throw(scene, method, text, kind):
    scene.start()
    scene.caller_hears(scene.answer(method), f"internal: faults.Thing/{method} .*exception")
    scene.log_says("log", one_line(" error ", "id=x", f"Thing/{method}", text))
    explain = ("explain", "Thing/x")
    scene.command_says("explain", explain, f"Thing/{method} .*internal: .*{text}")
    scene.log_says("type", one_line(f"Thing/{method}", kind, unless=STALL), f"Thing/{method}")


@fault("std::out_of_range with a text")
def throw_range(scene):
    throw(scene, "ThrowRange", "slot 9 of a bag with 8", "out_of_range")


@fault("throw 42")
def throw_number(scene):
    throw(scene, "ThrowNumber", "", r"\bint\b")


@fault("a reminder that fails again and again")
def reminder(scene):
    scene.start()
    scene.answer("Remind")
    why = "the auction has no winner"
    words = (" warning ", r"type=faults\.Thing", "id=x", "reminder=settle", why)
    scene.log_says("log", one_line(*words, "failures=1"))
    scene.log_says("log again", one_line(*words, "failures=2"), within=20)
    scene.command_says("explain", ("explain", "Thing/x"), "settle", why, "1 reminder")


# --- A thread is held


# They say it of each shard that they ask.
COMMANDS = (
    ("stats",),
    ("tasks",),
    ("stacks",),
    ("methods",),
    ("objects",),
    ("objects", "Thing"),
    ("waits",),
    ("connections",),
    ("slow",),
    ("trace", "--seconds", "0.1"),
    ("page", "/ready"),
    ("page", "/sites"),
)
# They ask none.
OTHER_COMMANDS = (("log",), ("config",), ("heap",), ("page", "/"), ("page", "/metrics"))


def ask_all(scene, who):
    """A line for each command that hides a hanging shard, or hangs itself."""
    lines = []
    for command in COMMANDS + OTHER_COMMANDS:
        begin = time.monotonic()
        text = scene.ask(*command)
        seconds = time.monotonic() - begin
        is_told = command in OTHER_COMMANDS or matches(f"has not turned .*{who}", text)
        if seconds > 10 or not text or not is_told:
            lines.append(f"{' '.join(command)} hides it for {seconds:.1f} s: {text[:200]}")
    return "\n".join(lines or [f"{len(COMMANDS)} name it, {len(OTHER_COMMANDS)} more answer"])


def spin(scene, shard):
    scene.start()
    (thing,) = scene.things_on(shard, 1)
    who = rf'faults\.Thing/Spin\(\\?"{thing}\\?"\)'
    place = place_of("spin")
    scene.call("Spin", thing)
    scene.log_says("log", one_line(f"shard={shard}", r"for=\d[\d.]*ms", who, place), within=5)
    scene.command_says("stalls", ("stalls",), who, place)
    explain = ("explain", f"Thing/{thing}")
    scene.command_says("explain", explain, f"has not turned .*{who}.*{place}")
    scene.log_says("log again", one_line(r"\bfor=[1-9][\d.]*s\b", who), within=20)
    scene.says("each command", "corolane", lambda: ask_all(scene, who), "!hides it", within=60)
    scene.command_says("top", ("top", "--once"), f"has not turned .*{who}")
    scene.command_says("profile", ("profile", "--seconds", "0.2"), who)


@fault("an endless loop on shard 0")
def spin_on_first(scene):
    spin(scene, 0)


@fault("an endless loop on shard 1")
def spin_on_second(scene):
    spin(scene, 1)


def block(scene, method, system_call):
    scene.start()
    caller = scene.call(method)
    scene.log_says("task", one_line(STALL, rf"faults\.Thing/{method}"), within=5)
    scene.log_says("system call", one_line(STALL, rf"asleep_in=\S*{system_call}"), STALL, within=5)
    told = scene.answer_of(caller)
    slept = r'"number": "(?:1[5-9]|[2-9]\d)\d\d"'
    scene.says("not ended early", "the handler", lambda: told, slept, '"number"')


@fault("a usleep of 1.5 s")
def blocking_sleep(scene):
    block(scene, "Sleep", "nanosleep")


@fault("a poll of 1.5 s")
def blocking_poll(scene):
    block(scene, "Poll", "poll")


@fault("a std::mutex held over a wait")
def std_mutex(scene):
    scene.start()
    holder, waiter = scene.things_on(0, 2)
    scene.call("HoldStdMutex", holder)
    time.sleep(0.2)
    scene.call("HoldStdMutex", waiter)
    # A debug build ends at the first wait instead, with a crash report.
    scene.says(
        "log",
        "log",
        lambda: scene.log() + scene.report(),
        r"faults\.Thing/HoldStdMutex",
        r"pthread_mutex_lock|futex|std::mutex",
        place_of("hold_std_mutex"),
        begin=scene.begun,
    )


# --- A call waits

# Such as "the sleep ends in 59 s", or "until its deadline in 9.2 s".
WHAT_ENDS_IT = r"(?i)\b(?:ends?|ended|until|wakes?)\b.*\d(?:\.\d+)? ?(?:s|min)\b"


@fault("a wait while the turn is held")
def held_turn(scene):
    scene.start()
    scene.call("HoldTurn")
    explain = ("explain", "Thing/x")
    runs = "Thing/HoldTurn runs .* waits for sleep"
    place = place_of("hold_turn")
    scene.command_says("explain", explain, runs, place)
    for _ in range(3):
        scene.call("Add")
    waits = r"^faults\.Thing/Add .* its turn "
    scene.command_says("those that wait", explain, "; 3 wait for a turn", waits)
    scene.command_says("what ends it", explain, WHAT_ENDS_IT, runs)
    scene.command_says("frames folded", explain, r"\d+ frames of corolane", place)


@fault("calls in a cycle")
def cycle(scene):
    scene.start()
    chain = r'CallRound\("a"\) -> .*CallBack\("b"\) -> .*Add\("a"\)'
    scene.caller_hears(scene.answer("CallRound", "a", {"other": "b"}), f"cycle.*{chain}", within=5)


@fault("two objects that call each other")
def two_chains(scene):
    scene.start()
    callers = [scene.call("Cross", "a", {"other": "b"}), scene.call("Cross", "b", {"other": "a"})]
    told = "".join(map(scene.answer_of, callers))
    chains = [
        rf'Thing/Cross\(\\?"{one}\\?"\) -> \S*Add\(\\?"{other}\\?"\)' for one, other in ("ab", "ba")
    ]
    scene.caller_hears(told, "wait for each other", *chains, within=5)
    scene.log_says("log", one_line(" warning ", "(?:cycle|wait for each other)", *chains))
    metric = r"^corolane_\w*cycles?\w*_total(?:\{.*\})? [1-9]"
    scene.command_says("metric", ("page", "/metrics"), metric)


@fault("a mutex that is not given back")
def kept_mutex(scene):
    scene.start()
    holder, waiter = scene.things_on(0, 2)
    scene.call("KeepMutex", holder)
    scene.command_says("the first", ("explain", f"Thing/{holder}"), "waits for the bell")
    scene.call("TakeMutex", waiter)
    explain = ("explain", f"Thing/{waiter}")
    waits = "Thing/TakeMutex runs .* waits for .*mutex"
    scene.command_says("explain", explain, waits, place_of("take_mutex"))
    holds = rf'held by task \d+ "faults\.Thing/KeepMutex" of Thing/{holder}'
    scene.command_says("holder", explain, f"{waits}.*{holds}")
    scene.command_says("waits", ("waits",), "mutex", "Thing/TakeMutex")


@fault("a wake-up that is lost")
def lost_wake_up(scene):
    scene.start()
    scene.call("MissBell")
    explain = ("explain", "Thing/x")
    runs = "Thing/MissBell runs .* waits for the bell"
    scene.command_says("explain", explain, runs, place_of("miss_bell"))
    scene.command_says("what ends it", explain, WHAT_ENDS_IT, runs)


@fault("a store that takes no more")
def full_store(scene):
    file = scene.folder / "objects.db"
    settings = ("node.store.kind=sqlite", f"node.store.file={file}")
    scene.start(*settings, before=("env", "--ignore-signal=XFSZ"))
    scene.answer("Keep", "x", {"number": 10})
    largest = max(path.stat().st_size for path in scene.folder.glob("objects.db*"))
    resource.prlimit(scene.node.process.pid, resource.RLIMIT_FSIZE, (largest, largest))
    caller = scene.call("Keep", "x", {"number": 60_000})
    scene.log_says("log", one_line("the store fails", f"{file}: .*disk"))
    explain = ("explain", "Thing/x")
    failed = "storing it has failed"
    scene.command_says("explain", explain, failed)
    scene.command_says("the store", explain, r"objects\.db", "disk", failed)
    refusal = r"^(?:unavailable|resource_exhausted): .*Thing/Keep .*not stored"
    scene.caller_hears(scene.answer_of(caller), refusal, within=30)


# --- Something grows


@fault("a deep stack")
def deep_stack(scene):
    scene.start()
    # The node measures each second stack of the first calls.
    for _ in range(4):
        scene.answer("Dig", "x", {"number": 16 * 1024})
    scene.command_says("methods", ("methods",), r"^faults\.Thing/Dig .* 128$", r"ENOUGH KIB$")


@fault("a deep stack on a rare path")
def rare_deep_stack(scene):
    scene.start()
    scene.answer("DigOften", None, {"thing": "x", "number": 300})
    scene.log_says(
        "log", one_line(" warning ", r"faults\.\w+/Dig", "stack", unless=STALL), within=5
    )


@fault("coroutines that leak")
def leak(scene):
    scene.start()
    for _ in range(2):
        scene.answer("Leak", "x", {"number": 4000})
    place = place_of("leak")
    scene.command_says(
        "stacks", ("stacks",), r'\A8000 tasks .* waits for the bell.*"follower"', place
    )
    scene.command_says("sites", ("page", "/sites"), rf" 8000 +8000 .* follower +\S*{place}")


@fault("a mailbox that is full")
def full_mailbox(scene):
    scene.start()
    told = scene.answer("Crowd", None, {"thing": "x", "number": 1024 + 10})
    refusal = r'resource_exhausted: 1024 calls of faults\.Thing \\"x\\" are pending'
    scene.caller_hears(told, refusal, '"refused": [1-9]')
    runs = "Thing/HoldTurn runs .*; 1023 wait for a turn"
    scene.command_says("explain", ("explain", "Thing/x"), runs, place_of("hold_turn"))
    scene.command_says("objects", ("objects", "Thing"), r"^x +1023 +faults\.Thing/HoldTurn")


@fault("a slow method")
def slow_method(scene):
    scene.start()
    seconds = r"[1-9]\d*\.\d+s"
    computing = scene.call("Compute", "busy", {"number": 1000})
    place = place_of("compute")
    scene.log_says("log", one_line(r"Thing/Compute\(\\\"busy\\\"\)", place))
    scene.answer_of(computing)
    computed = rf"^faults\.Thing/Compute +busy +{seconds} +0\.0\d\ds +{seconds} "
    scene.command_says("slow, computes", ("slow",), computed)
    took = rf"^faults\.Thing/Compute +ok .*{seconds}$"
    scene.command_says("explain", ("explain", "Thing/busy"), took, r"Thing/Compute +ok")
    scene.call("HoldTurn", "x", {"number": 3000})
    scene.command_says("it is held", ("explain", "Thing/x"), "Thing/HoldTurn runs")
    scene.answer("Add")
    waited = rf"^faults\.Thing/Add +x +{seconds} +{seconds} +0\.0\d\ds "
    scene.command_says("slow, waited", ("slow",), waited, "Thing/Add")


@fault("a client that never reads")
def silent_reader(scene):
    scene.start()
    with RawClient(scene.node.listen, receive_bytes=8192) as client:
        for number in range(1, 200):
            client.call(number, "faults.Gate/Tell")
        port = client.socket.getsockname()[1]
        waits = r"\d{5,}(?:, above its mark)?, not read meanwhile"
        unsent = rf"^client +127\.0\.0\.1:{port} .* {waits}"
        scene.command_says("connections", ("connections",), unsent)


# --- The node does not start


@fault("a key that is misspelt")
def misspelt_key(scene):
    file = scene.folder / "faults.yaml"
    file.write_text("node:\n  objects:\n    mailbox_maks: 10\n", encoding="utf-8")
    refused = scene.start_in_vain("--config", str(file))
    advice = rf'^{file}:3: .*"mailbox_maks".*"node\.objects".*did you mean "mailbox_max"'
    scene.says("key", "stderr", lambda: refused, advice, "^exit status 2$", begin=scene.begun)


@fault("a port that is taken")
def taken_port(scene):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = scene.start_in_vain(
            *("--set", "node.store.kind=memory"),
            *("--set", "node.clients.login.anonymous=true"),
            *("--set", "node.admin.listen=127.0.0.1:0"),
            *("--set", f"node.clients.listen={endpoint}"),
        )
    advice = rf"{endpoint}: address in use.*change node\.clients\.listen"
    scene.says("port", "stderr", lambda: refused, advice, "^exit status 1$", begin=scene.begun)


# --- The test


def looks_at(name):
    with fault_scene.Scene(NODE, COROLANE, name, EXPECTED_LATER) as scene:
        try:
            FAULTS[name](scene)
        except Exception as error:  # The other faults are told all the same.
            scene.looks.append(fault_scene.Look(name, "all", "the test", 0, repr(error), ["all"]))
        return scene.looks


class TwentyFaultsTest(unittest.TestCase):
    def test_each_fault_is_named(self):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            looks = [look for found in pool.map(looks_at, FAULTS) for look in found]
        fault_scene.print_table(looks, EXPECTED_LATER)
        not_named = {look.fault for look in looks if look.missing}
        print(f"twenty_faults: {len(FAULTS) - len(not_named)} of {len(FAULTS)} named")
        unexpected = [look for look in looks if bool(look.missing) != (look.key in EXPECTED_LATER)]
        self.assertEqual("", "\n".join(map(str, unexpected)))
        self.assertEqual(set(), EXPECTED_LATER.keys() - {look.key for look in looks})


if __name__ == "__main__":
    NODE, COROLANE = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
