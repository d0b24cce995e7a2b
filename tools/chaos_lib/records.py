# SPDX-License-Identifier: MIT
"""Reads the records of a run: the history of the bots, the logs of the nodes, and the file in which
redis keeps all writes.
"""

import json
import re
from dataclasses import dataclass, field

OK = "ok"


@dataclass(frozen=True)
class Call:
    """A call of a bot, from its first attempt to its end."""

    method: str  # "Game/Move".
    object: str  # "Game ID".
    caller: str
    sequence: int
    begin: int  # Nanoseconds of CLOCK_BOOTTIME, like all times here.
    end: int
    code: str = OK
    errors: tuple = ()  # The errors after which it was retried.
    request: dict = field(default_factory=dict)
    reply: dict = field(default_factory=dict)

    @property
    def id(self):
        return (self.object, self.caller, self.sequence)


@dataclass(frozen=True)
class Reply:
    """A node was about to reply, and owned the object at that time."""

    node: str  # One process of the node: "node-1.3".
    object: str
    epoch: int
    version: int
    at: int
    caller: str = ""
    sequence: int = 0
    is_proven: bool = False  # The store has proven it; the lease had ended.

    @property
    def id(self):
        return (self.object, self.caller, self.sequence)


@dataclass(frozen=True)
class Kept:
    """A node sent a keepalive of its lease, and etcd answered it."""

    node: str
    at: int


@dataclass(frozen=True)
class Write:
    """A write that the store accepted."""

    object: str
    epoch: int
    version: int  # 0: the object was sealed, and no state was written.
    state: bytes = b""


def short_type(name):
    return name.rsplit(".", 1)[-1]


def read_history(lines):
    for line in lines:
        entry = json.loads(line)
        kind, method = entry["method"].split("/")
        kind = short_type(kind)
        yield Call(
            method=f"{kind}/{method}",
            object=f"{kind} {entry['object']}",
            caller=entry["caller"],
            sequence=entry["sequence"],
            begin=entry["begin"],
            end=entry["end"],
            code=entry["code"],
            errors=tuple(entry["errors"]),
            request=entry["request"],
            reply=entry.get("reply", {}),
        )


REPLY_LINE = re.compile(
    r'object replies type=(\S+) id=("(?:[^"\\]|\\.)*"|\S+) epoch=(\d+) version=(\d+) at=(\d+) '
    r'(?:proven=([01]) )?caller=("(?:[^"\\]|\\.)*"|\S+) sequence=(\d+)$'
)


KEPT_LINE = re.compile(r"lease kept at=(\d+)$")


def unquoted(text):
    return json.loads(text) if text.startswith('"') else text


def read_log(node, lines):
    """The replies and keepalives of a process. Its end may have cut off its last line."""
    for line in lines:
        line = line.rstrip("\n")
        if kept := KEPT_LINE.search(line):
            yield Kept(node, int(kept.group(1)))
        found = REPLY_LINE.search(line)
        if not found:
            continue
        kind, name, epoch, version, at, proven, caller, sequence = found.groups()
        yield Reply(
            node=node,
            object=f"{short_type(kind)} {unquoted(name)}",
            epoch=int(epoch),
            version=int(version),
            at=int(at),
            caller=unquoted(caller),
            sequence=int(sequence),
            is_proven=proven == "1",
        )


def read_commands(file):
    """The commands of an append-only file of redis, as lists of bytes. The end of its server may
    have cut off the last one.
    """
    while head := file.readline():
        if not head.endswith(b"\n"):
            return
        if head.startswith(b"#"):
            continue
        words = []
        for _ in range(int(head[1:])):
            size = file.readline()
            if not size.endswith(b"\n"):
                return
            word = file.read(int(size[1:]) + 2)
            if not word.endswith(b"\r\n"):
                return
            words.append(word[:-2])
        yield words


def read_writes(file):
    """The accepted writes in order: redis logs the changes of its scripts."""
    epochs = {}
    for words in read_commands(file):
        if words[0].upper() != b"HSET" or b":object:" not in words[1]:
            continue
        kind, name = words[1].split(b":object:", 1)[1].decode().split(":", 1)
        key = f"{short_type(kind)} {name}"
        fields = dict(zip(words[2::2], words[3::2]))
        if b"epoch" in fields:
            epochs[key] = int(fields[b"epoch"])
            yield Write(key, epochs[key], 0)
        if b"version" in fields:
            yield Write(key, epochs.get(key, 0), int(fields[b"version"]), fields[b"state"])


# A minimal decoder of protobuf. The field numbers are those of framework/wire/objects.proto and
# services/chess/game.proto.


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields_of(data):
    """(number, value) of each field of a message; a value is an int or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = 8 if kind == 1 else 4
            value, at = int.from_bytes(data[at : at + size], "little"), at + size
        yield tag >> 3, value


def signed(value):
    """The value of a sint32 field."""
    return (value >> 1) ^ -(value & 1)


def state_of(record):
    return next((value for number, value in fields_of(record) if number == 1), b"")


def applied_by(record):
    """For each caller: its last request that took effect, and when, in ms since 1970."""
    callers = {}
    for number, value in fields_of(record):
        if number == 2:
            parts = dict(part for part in fields_of(value) if part[0] != 4)
            callers[parts[1].decode()] = (parts.get(2, 0), parts.get(6, 0))
    return callers


def moves_of(record):
    """The moves of a game, in the notation of chess engines."""
    return [value.decode() for number, value in fields_of(state_of(record)) if number == 2]


@dataclass(frozen=True)
class Player:
    rating_change: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0


def player_of(record):
    numbers = {1: 0, 2: 0, 3: 0, 4: 0}
    numbers |= dict(fields_of(state_of(record)))
    return Player(signed(numbers[1]), *(numbers[i] for i in (2, 3, 4)))
