# SPDX-License-Identifier: MIT
"""How long objects were unavailable: after the death of their node, and during a handover."""

from collections import defaultdict
from dataclasses import dataclass

from chaos_lib.records import OK

# Methods whose calls wait for the move of another player, whatever the nodes do.
WAITING = {"Game/WaitMove", "Game/WaitOpponent"}

# An object without a reply for longer than this before its node died was idle, or already
# unavailable.
IN_USE_NS = 300_000_000


@dataclass(frozen=True)
class Death:
    """A process lost the objects that it owned."""

    node: str  # "node-1.3".
    at: int


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def answered_by_object(calls, epochs):
    """For each object, its answered calls with a known epoch, sorted by their end."""
    answered = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.end):
        if call.code == OK and call.id in epochs:
            answered[call.object].append(call)
    return answered


def failovers(deaths, calls, replies, epochs):
    """For each death, the failover time of each object that the dead process was serving and that
    had a waiting call: the nanoseconds until the first answer of another owner.
    """
    served = defaultdict(list)
    for reply in sorted(replies, key=lambda reply: reply.at):
        served[reply.object].append(reply)
    answered = answered_by_object(calls, epochs)
    times = {death: [] for death in deaths}
    for name, group in served.items():
        for death in deaths:
            before = [reply for reply in group if reply.at <= death.at]
            if not before or before[-1].node != death.node:
                continue
            if death.at - before[-1].at > IN_USE_NS:
                continue
            epoch = before[-1].epoch
            after = [c for c in answered[name] if c.end > death.at and epochs[c.id] > epoch]
            if any(call.begin <= death.at for call in after):
                times[death].append(after[0].end - death.at)
    return times


@dataclass(frozen=True)
class Silence:
    """How a cut-off process stopped serving, in nanoseconds after its last keepalive."""

    last_reply: int
    first_claim: int | None  # Another node's first reply for an object it had served.


def silence_of(node, cut_at, replies, keeps):
    """The silence of a process that was cut off at that time; None when it was not serving."""
    before = [kept.at for kept in keeps if kept.node == node and kept.at <= cut_at]
    after = sorted(kept.at for kept in keeps if kept.node == node and kept.at > cut_at)
    if not before:
        return None
    last, back = max(before), after[0] if after else None
    own = [
        reply
        for reply in replies
        if reply.node == node and reply.at >= last and (back is None or reply.at < back)
    ]
    if not own:
        return None
    epochs = {reply.object: reply.epoch for reply in own}
    claims = [
        reply.at - last
        for reply in replies
        if reply.node != node and reply.epoch > epochs.get(reply.object, reply.epoch)
    ]
    return Silence(max(reply.at for reply in own) - last, min(claims, default=None))


@dataclass(frozen=True)
class Proven:
    """How a process served without its lease."""

    count: int
    gap: int  # The longest time between two replies, in nanoseconds.


def proven_of(node, begin, end, replies):
    """The replies of a process in that time, which the store has proven."""
    times = sorted(
        reply.at
        for reply in replies
        if reply.node == node and reply.is_proven and begin <= reply.at < end
    )
    bounds = [begin, *times, end]
    return Proven(len(times), max(b - a for a, b in zip(bounds, bounds[1:])))


def pauses(calls, epochs):
    """For each object and each change of its owner: the duration of the longest call that was in
    flight when the new owner gave its first answer.
    """
    times = []
    for group in answered_by_object(
        (call for call in calls if call.method not in WAITING), epochs
    ).values():
        epoch = epochs[group[0].id]
        for first in group:
            if epochs[first.id] <= epoch:
                continue
            epoch = epochs[first.id]
            there = [c for c in group if c.begin <= first.end and c.end >= first.end]
            times.append(max(call.end - call.begin for call in there))
    return times
