# SPDX-License-Identifier: MIT
"""The schedule of faults in a cluster, drawn from a seed before the run starts."""

import random
from dataclasses import dataclass

KILL_INTERVAL = 5.0
STOP_TIME_MIN = 0.5
STOP_TIME_MAX = 10.0
# Time without faults at the beginning and at the end.
QUIET_AT_FIRST = 2.0
QUIET_AT_LAST = 1.0
# When --cut-off cuts nodes off, and for how long: until other nodes own all their objects.
CUT_AT = 5.0
CUT_DURATION = 15.0

# kill      kill -9; the lease of the dead node is revoked, as its supervisor would
# vanish    kill -9; the lease is not revoked and has to expire
# stop      SIGSTOP, and SIGCONT after `duration`
# redis     kill -9 of redis; restarted after `duration`
# etcd      the same for etcd
# cut       the node loses its connection to etcd for `duration`


@dataclass(frozen=True)
class Fault:
    at: float  # Seconds from the start of the load.
    kind: str
    node: int = -1
    duration: float = 0.0

    @property
    def end(self):
        return self.at + self.duration


def draw(seed, seconds, node_count):
    """Faults by time: a node is killed every five seconds; one at a time is suspended."""
    random_of = random.Random(seed)
    last = seconds - QUIET_AT_LAST
    faults = []
    at = QUIET_AT_FIRST + random_of.uniform(0.0, 3.0)
    while at + STOP_TIME_MIN < last:
        duration = random_of.uniform(STOP_TIME_MIN, min(STOP_TIME_MAX, last - at))
        faults.append(Fault(at, "stop", random_of.randrange(node_count), duration))
        at += duration + random_of.uniform(4.0, 12.0)
    stops = list(faults)
    kills = int((last - 0.001) / KILL_INTERVAL)
    vanishing = random_of.randrange(kills) if kills > 2 else -1
    for i in range(kills):
        at = KILL_INTERVAL * (i + 1)
        standing = {stop.node for stop in stops if stop.at <= at <= stop.end}
        node = random_of.choice([n for n in range(node_count) if n not in standing])
        faults.append(Fault(at, "vanish" if i == vanishing else "kill", node))
    for kind, earliest in (("redis", 0.25), ("etcd", 0.6)):
        at = seconds * random_of.uniform(earliest, earliest + 0.2)
        faults.append(Fault(at, kind, duration=random_of.uniform(0.1, 1.0)))
    return sorted(faults, key=lambda fault: fault.at)


def cut_off(seconds, nodes):
    """Cuts off these nodes at the same time, until other nodes own all their objects."""
    assert CUT_AT + CUT_DURATION + QUIET_AT_LAST <= seconds
    return [Fault(CUT_AT, "cut", node, CUT_DURATION) for node in nodes]


def is_alone(fault, faults):
    """Whether no other fault happened during the takeover."""
    before, after = 1.0, 1.0
    return all(
        other is fault or other.end < fault.at - before or other.at > fault.at + after
        for other in faults
    )


def has_etcd_beside(fault, faults):
    """Whether etcd was restarted while a lease had to expire. Leases then live longer, since each
    new leader starts them again.
    """
    lease_time_max = 8.0
    return any(
        other.kind == "etcd" and fault.at - 1.0 <= other.at <= fault.at + lease_time_max
        for other in faults
    )
