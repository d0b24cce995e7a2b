# SPDX-License-Identifier: MIT
"""Checks the invariants of ownership on the records of a run (records.py).

Each check returns a list of violations, as readable lines. HOW says how each is checked.
"""

import bisect
from collections import defaultdict

from chaos_lib import records
from chaos_lib.records import OK

HOW = """\
I1  one node serves an object at a time: nodes log each reply with their ownership epoch and a time
    at which they held it, from a clock that all nodes share; sorted by that time, epochs never
    decrease, and each epoch belongs to one process
I2  writes are ordered: in redis' append-only file, the epoch of an object never decreases and its
    version grows by one with each write
I3  no acknowledged write is lost: the stored object knows the request of each durable call that was
    answered, and the stored moves are those that the players were sent
I4  a request takes effect once: in the chain of stored versions, each request id appears once and
    is not forgotten too early, and each move of a game belongs to one request
I5  sums are conserved: in the stored states, the sum of all ratings is unchanged, wins equal
    losses, and no game is left to be scored
I6  all objects answer after the last fault: calls that wait then, or begin later, end within 10 s,
    and each object that was ever stored answers at least once
I7  epochs of replies never decrease: a call that begins after a reply under one epoch is not
    answered under an earlier one
I8  games are linearizable: calls sorted by the version that they saw (plies) agree with real time,
    and all calls that saw a version saw the same position"""

ANSWER_TIME_MAX_NS = 10_000_000_000
SERVING_TIME_MAX_NS = 4_600_000_000

# How long an object remembers the last request of a caller: RequestId in rpc/object_target.h.
MEMORY_TIME_MS = 600_000

DURABLE = {"Game/Join", "Game/Move", "Game/Resign"}


def by_object(items):
    groups = defaultdict(list)
    for item in items:
        groups[item.object].append(item)
    return groups


def check_owners(replies):
    """I1. What the store has proven needs no check here: it was true when the store was read, and a
    next owner may have replied since.
    """
    violations = []
    for name, group in by_object(reply for reply in replies if not reply.is_proven).items():
        owners = {}
        last = None
        for reply in sorted(group, key=lambda reply: reply.at):
            if last is not None and reply.epoch < last.epoch:
                violations.append(
                    f"I1 {name}: {reply.node} served under epoch {reply.epoch} at {reply.at}, "
                    f"after {last.node} under {last.epoch} at {last.at}"
                )
            owner = owners.setdefault(reply.epoch, reply.node)
            if owner != reply.node:
                violations.append(f"I1 {name}: epoch {reply.epoch} is of {owner} and {reply.node}")
            if last is None or reply.epoch >= last.epoch:
                last = reply
    return violations


def check_fences(replies, keeps):
    """I1: a node without contact to etcd stops serving before another node may own its objects."""
    kept_at = defaultdict(list)
    for kept in sorted(keeps, key=lambda kept: kept.at):
        kept_at[kept.node].append(kept.at)
    violations = []
    for reply in replies:
        if reply.is_proven:
            continue
        times = kept_at[reply.node]
        place = bisect.bisect_right(times, reply.at)
        silent = reply.at - times[place - 1] if place > 0 else None
        if silent is not None and silent <= SERVING_TIME_MAX_NS:
            continue
        before = "none" if silent is None else f"{silent / 1e9:.2f} s before"
        violations.append(
            f"I1 {reply.object}: {reply.node} served at {reply.at}, its last keepalive was {before}"
        )
    return violations


def check_recorded(calls, replies, keeps, writes):
    """A check of no records finds no violation, so records that are missing are one."""
    if not any(call.code == OK for call in calls):
        return []
    kinds = {"I1 no reply": replies, "I1 no keepalive": keeps, "I2 no write": writes}
    return [f"{kind} is recorded, but calls were answered" for kind in kinds if not kinds[kind]]


def check_writes(writes):
    """I2."""
    violations = []
    for name, chain in by_object(writes).items():
        epoch = version = 0
        for write in chain:
            if write.epoch < epoch:
                violations.append(f"I2 {name}: epoch {write.epoch} wrote after epoch {epoch}")
            epoch = max(epoch, write.epoch)
            if write.version == 0:
                continue
            if write.version != version + 1:
                violations.append(f"I2 {name}: version {write.version} follows {version}")
            version = write.version
    return violations


class Chain:
    """The requests of an object's callers, each with the version that first knew it."""

    def __init__(self, name, writes):
        self.known = {}  # (caller, sequence): version.
        self.violations = []
        before = {}
        for write in writes:
            now = records.applied_by(write.state)
            newest = max((time for _, time in now.values()), default=0)
            for caller, (last, time) in before.items():
                is_old = caller not in now and newest - time >= MEMORY_TIME_MS
                if now.get(caller, (0, 0))[0] < last and not is_old:
                    self.violations.append(
                        f"I4 {name}: version {write.version} has forgotten request {last} of "
                        f"{caller}"
                    )
            for caller, entry in now.items():
                if entry == before.get(caller):
                    continue
                earlier = self.known.setdefault((caller, entry[0]), write.version)
                if earlier != write.version:
                    self.violations.append(
                        f"I4 {name}: request {entry[0]} of {caller} took effect in version "
                        f"{earlier} and again in {write.version}"
                    )
            before = now
        self.last = writes[-1] if writes else None


def chains_of(writes):
    chains = {}
    for name, group in by_object(writes).items():
        chains[name] = Chain(name, [write for write in group if write.version > 0])
    return chains


def check_acknowledged(calls, chains):
    """I3."""
    violations = []
    uci = {}
    for call in calls:
        if call.method == "Game/WaitMove" and call.code == OK:
            uci[(call.object, call.request.get("ply", 0))] = call.reply.get("uci")
    stored_moves = {}
    for call in calls:
        if call.method not in DURABLE or call.code != OK:
            continue
        chain = chains.get(call.object)
        if chain is None or (call.caller, call.sequence) not in chain.known:
            violations.append(
                f"I3 {call.object}: {call.method} {call.sequence} of {call.caller} was answered "
                "and is not stored"
            )
            continue
        if call.method != "Game/Move":
            continue
        if call.object not in stored_moves:
            stored_moves[call.object] = records.moves_of(chain.last.state)
        moves, ply = stored_moves[call.object], call.reply.get("ply", 0)
        told = uci.get((call.object, ply))
        if not 0 < ply <= len(moves):
            violations.append(f"I3 {call.object}: move {ply} of {len(moves)} was answered")
        elif told is not None and moves[ply - 1] != told:
            violations.append(f"I3 {call.object}: move {ply} is {moves[ply - 1]}, sent was {told}")
    return violations


def check_once(calls, chains):
    """I4."""
    violations = [line for chain in chains.values() for line in chain.violations]
    requests = defaultdict(set)
    for call in calls:
        if call.method == "Game/Move" and call.code == OK:
            requests[(call.object, call.reply.get("ply", 0))].add(call.id)
    for (name, ply), ids in requests.items():
        if len(ids) > 1:
            violations.append(f"I4 {name}: move {ply} is that of {len(ids)} requests")
    return violations


def check_sums(chains, game_count):
    """I5."""
    players = [
        records.player_of(chain.last.state)
        for name, chain in chains.items()
        if name.startswith("Player ") and chain.last is not None
    ]
    change = sum(player.rating_change for player in players)
    wins = sum(player.wins for player in players)
    losses = sum(player.losses for player in players)
    results = wins + losses + sum(player.draws for player in players)
    violations = []
    if change != 0:
        violations.append(f"I5 the sum of all ratings has changed by {change}")
    if wins != losses:
        violations.append(f"I5 there are {wins} wins and {losses} losses")
    if results != 2 * game_count:
        violations.append(f"I5 {game_count} games have {results} results")
    return violations


def check_answers(calls, objects, faults_end):
    """I6."""
    violations = []
    answered = set()
    for call in calls:
        if call.end < faults_end:
            continue
        took = call.end - max(call.begin, faults_end)
        if took > ANSWER_TIME_MAX_NS:
            violations.append(
                f"I6 {call.object}: {call.method} of {call.caller} took {took / 1e9:.1f} s "
                "after the last fault"
            )
        if call.code == OK and call.begin >= faults_end:
            answered.add(call.object)
    for name in objects - answered:
        violations.append(f"I6 {name} did not answer after the last fault")
    return violations


def epochs_of(calls, replies):
    """The epoch under which each call was answered, where it is known. For a call that was answered
    more than once, it is the highest, since it is unknown which answer reached the caller.
    """
    epochs = {}
    for reply in replies:
        epochs[reply.id] = max(epochs.get(reply.id, 0), reply.epoch)
    return {call.id: epochs[call.id] for call in calls if call.code == OK and call.id in epochs}


def check_epochs_seen(calls, epochs):
    """I7."""
    violations = []
    for name, group in by_object(call for call in calls if call.id in epochs).items():
        ended = sorted(group, key=lambda call: call.end)
        seen = place = 0
        for call in sorted(group, key=lambda call: call.begin):
            while place < len(ended) and ended[place].end < call.begin:
                seen = max(seen, epochs[ended[place].id])
                place += 1
            if epochs[call.id] < seen:
                violations.append(
                    f"I7 {name}: {call.method} {call.sequence} of {call.caller} was answered under "
                    f"epoch {epochs[call.id]} after {seen} was seen"
                )
    return violations


def versions_of(call):
    """(the minimum version of the game when the call ended, the exact version it saw or None)"""
    if call.method == "Game/Move":
        ply = call.reply.get("ply", 0)
        return ply, ply
    if call.method == "Game/Look":
        plies = call.reply.get("state", {}).get("plies", 0)
        return plies, plies
    return call.request.get("ply", 0), None


def check_linearizable(calls):
    """I8."""
    violations = []
    methods = {"Game/Move", "Game/Look", "Game/WaitMove"}
    games = by_object(call for call in calls if call.method in methods and call.code == OK)
    for name, group in games.items():
        positions = {}
        writes = {}
        for call in group:
            _, version = versions_of(call)
            if version is None:
                continue
            fen = call.reply.get("state", {}).get("fen")
            if positions.setdefault(version, fen) != fen:
                violations.append(f"I8 {name}: version {version} is {positions[version]} and {fen}")
            if call.method == "Game/Move":
                writes[version] = call
        ended = sorted(group, key=lambda call: call.end)
        past = place = 0
        for call in sorted(group, key=lambda call: call.begin):
            while place < len(ended) and ended[place].end < call.begin:
                past = max(past, versions_of(ended[place])[0])
                place += 1
            lowest, version = versions_of(call)
            is_write = call.method == "Game/Move"
            if version is not None and version < past + is_write:
                violations.append(
                    f"I8 {name}: {call.method} of {call.caller} saw version {version} after {past}"
                )
            write = writes.get(lowest)
            if write is not None and write.begin > call.end:
                violations.append(
                    f"I8 {name}: {call.method} of {call.caller} saw version {lowest} too early"
                )
    return violations


def check_all(calls, replies, keeps, writes, faults_end):
    """Returns the violations, and for each invariant what was checked."""
    chains = chains_of(writes)
    epochs = epochs_of(calls, replies)
    games = {call.object for call in calls if call.method == "Game/Move"}
    objects = {name for name in chains if not name.startswith("Lobby ")}
    acknowledged = [call for call in calls if call.method in DURABLE and call.code == OK]
    violations = (
        check_owners(replies)
        + check_fences(replies, keeps)
        + check_recorded(calls, replies, keeps, writes)
        + check_writes(writes)
        + check_acknowledged(calls, chains)
        + check_once(calls, chains)
        + check_sums(chains, len(games))
        + check_answers(calls, objects, faults_end)
        + check_epochs_seen(calls, epochs)
        + check_linearizable(calls)
    )
    looked_at = {
        "I1": f"{len(replies)} replies of {len(by_object(replies))} objects, "
        f"{len(keeps)} keepalives",
        "I2": f"{len(writes)} seals and writes",
        "I3": f"{len(acknowledged)} acknowledged writes",
        "I4": f"{sum(len(chain.known) for chain in chains.values())} requests",
        "I5": f"{len(games)} games",
        "I6": f"{len(objects)} objects",
        "I7": f"{len(epochs)} answers",
        "I8": f"{sum(call.code == OK for call in calls)} calls",
    }
    return violations, looked_at


def check_without_history(replies, keeps, writes, game_count):
    """The same for players of whose calls there is no history."""
    chains = chains_of(writes)
    violations = (
        check_owners(replies)
        + check_fences(replies, keeps)
        + check_writes(writes)
        + check_once([], chains)
        + check_sums(chains, game_count)
    )
    kinds = {"I1 no reply": replies, "I1 no keepalive": keeps, "I2 no write": writes}
    violations += [f"{kind} is recorded" for kind in kinds if not kinds[kind]]
    looked_at = {
        "I1": f"{len(replies)} replies of {len(by_object(replies))} objects, "
        f"{len(keeps)} keepalives",
        "I2": f"{len(writes)} seals and writes",
        "I4": f"{sum(len(chain.known) for chain in chains.values())} requests",
        "I5": f"{game_count} games",
    }
    return violations, looked_at
