"""How long objects were away: after their node has died, and when it has handed them over."""

from collections import defaultdict
from dataclasses import dataclass

from chaos_lib.records import OK

# Who waits for somebody else's move waits for that, whatever the nodes do.
WAITING = {"Game/WaitMove", "Game/WaitOpponent"}

# Who has not replied for longer when its node died was not in use, or had been away before.
IN_USE_NS = 300_000_000


@dataclass(frozen=True)
class Death:
    """A process that has lost what it owned, at some time."""

    node: str  # "node-1.3".
    at: int


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def answered_by_object(calls, epochs):
    """For each object its answered calls whose epoch is known, by their end."""
    answered = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.end):
        if call.code == OK and call.id in epochs:
            answered[call.object].append(call)
    return answered


def failovers(deaths, calls, replies, epochs):
    """For each death and each object that the dead process was serving, and that somebody had
    asked for: how long, in nanoseconds, until the first answer of another owner.
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
    """Of a process that etcd did not hear of any more; nanoseconds after its last keepalive."""

    last_reply: int
    first_claim: int | None  # Somebody else's first reply for what it had served.


def silence_of(node, cut_at, replies, keeps):
    """Of a process that was cut off at that time. None when it was not serving then."""
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


def pauses(calls, epochs):
    """For each object and each change of its owner: the longest that a call took which was there
    when the new owner gave its first answer.
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
