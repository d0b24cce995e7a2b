#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checker of tools/chaos finds each kind of violation, and none in a correct history.

No cluster is started here: its records are made up.
"""

import io
import sys
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

# pylint: disable=wrong-import-position
from chaos_lib import checker, records, schedule, timing
from chaos_lib.records import Call, Kept, Reply, Write

GAME = "Game g"
SECOND = 1_000_000_000


def field(number, value):
    """A field of a protobuf message; no length here is above 127."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(data)]) + data


def record(state, **callers):
    """An object as it is stored; for each caller (last, time)."""
    data = field(1, state)
    for caller, (last, time) in callers.items():
        data += field(2, field(1, caller) + field(2, last) + field(6, time))
    return data


def game(*moves, **callers):
    return record(b"".join(field(2, move) for move in moves), **callers)


def player(change, wins=0, draws=0, losses=0):
    zigzag = change << 1 if change >= 0 else (-change << 1) - 1
    state = field(1, zigzag) + field(2, wins) + field(3, draws) + field(4, losses)
    return record(state)


def move(caller, sequence, ply, begin, end, fen=None, **others):
    reply = {"ply": ply, "state": {"plies": ply, "fen": fen or f"fen {ply}"}}
    return Call("Game/Move", GAME, caller, sequence, begin, end, reply=reply, **others)


def look(plies, begin, end, fen=None, caller="watch", sequence=1):
    reply = {"state": {"plies": plies, "fen": fen or f"fen {plies}"}}
    return Call("Game/Look", GAME, caller, sequence, begin, end, reply=reply)


def wait(ply, uci, begin, end):
    reply = {"san": "", "uci": uci}
    return Call("Game/WaitMove", GAME, "b", 1, begin, end, request={"ply": ply}, reply=reply)


# A short game: three moves, of which the second was made on another node.
CALLS = [
    move("w", 1, 1, 10, 20),
    move("b", 1, 2, 30, 60, errors=("unavailable",)),
    look(2, 61, 65),
    move("w", 2, 3, 70, 80),
]
REPLIES = [
    Reply("node-1.1", GAME, 5, 1, 15, "w", 1),
    Reply("node-2.1", GAME, 9, 2, 55, "b", 1),
    Reply("node-2.1", GAME, 9, 2, 62, "watch", 1),
    Reply("node-2.1", GAME, 9, 3, 75, "w", 2),
]
KEEPS = [Kept("node-1.1", 2), Kept("node-2.1", 3)]
WRITES = [
    Write(GAME, 5, 0),
    Write(GAME, 5, 1, game("e2e4", w=(1, 50))),
    Write(GAME, 9, 0),
    Write(GAME, 9, 2, game("e2e4", "e7e5", w=(1, 50), b=(1, 60))),
    Write(GAME, 9, 3, game("e2e4", "e7e5", "g1f3", w=(2, 70), b=(1, 60))),
]
PLAYERS = [
    Write("Player a", 5, 1, player(10, wins=1)),
    Write("Player b", 5, 1, player(-10, losses=1)),
]


def changed(items, index, **changes):
    items = list(items)
    items[index] = replace(items[index], **changes)
    return items


class CheckerTest(unittest.TestCase):
    def assert_found(self, violations, pattern):
        self.assertEqual(len(violations), 1, violations)
        self.assertRegex(violations[0], pattern)

    def test_a_correct_history_has_no_violation(self):
        roll_call = [look(3, 200, 201)]
        for name in ("Player a", "Player b"):
            roll_call.append(Call("Player/Look", name, "roll", 1, 200, 201))
        violations, looked_at = checker.check_all(
            [*CALLS, *roll_call], REPLIES, KEEPS, [*WRITES, *PLAYERS], faults_end=100
        )
        self.assertEqual(violations, [])
        self.assertEqual(sorted(looked_at), [f"I{i}" for i in range(1, 9)])

    def test_i1_a_past_owner_serves(self):
        found = checker.check_owners([*REPLIES, replace(REPLIES[0], at=56)])
        self.assert_found(found, r"I1 Game g: node-1.1 served under epoch 5 at 56, after node-2.1")

    def test_i1_two_processes_with_one_epoch(self):
        found = checker.check_owners(changed(REPLIES, 3, node="node-2.2"))
        self.assert_found(found, "I1 Game g: epoch 9 is of node-2.1 and node-2.2")

    def test_i1_a_node_without_contact_to_etcd_serves(self):
        late = replace(REPLIES[0], at=2 + checker.SERVING_TIME_MAX_NS)
        self.assertEqual(checker.check_fences([late], KEEPS), [])
        found = checker.check_fences([replace(late, at=late.at + 1)], KEEPS)
        self.assert_found(found, r"I1 Game g: node-1.1 served at \d+, .* was 4.60 s before")

    def test_i1_a_node_that_never_joined_serves(self):
        for keeps in ([], KEEPS[1:], [Kept("node-1.1", 16)]):
            found = checker.check_fences(REPLIES[:1], keeps)
            self.assert_found(found, "node-1.1 served at 15, its last keepalive was none")

    def test_i1_the_store_proves_a_reply_after_the_lease(self):
        late = replace(REPLIES[0], at=56 + checker.SERVING_TIME_MAX_NS, is_proven=True)
        self.assertEqual(checker.check_owners([*REPLIES, late]), [])
        self.assertEqual(checker.check_fences([late], KEEPS), [])

    def test_records_are_missing(self):
        def found(replies=REPLIES, keeps=KEEPS, writes=WRITES):
            return checker.check_recorded(CALLS, replies, keeps, writes)

        self.assertEqual(found(), [])
        self.assert_found(found(replies=[]), "I1 no reply is recorded")
        self.assert_found(found(keeps=[]), "I1 no keepalive is recorded")
        self.assert_found(found(writes=[]), "I2 no write is recorded")

    def test_i2_an_epoch_falls(self):
        found = checker.check_writes(changed(WRITES, 4, epoch=5))
        self.assert_found(found, "I2 Game g: epoch 5 wrote after epoch 9")

    def test_i2_a_version_is_left_out_or_written_twice(self):
        for version in (2, 4):
            found = checker.check_writes(changed(WRITES, 4, version=version))
            self.assert_found(found, f"I2 Game g: version {version} follows 2")

    def acknowledged(self, calls, writes):
        return checker.check_acknowledged(calls, checker.chains_of(writes))

    def test_i3_an_acknowledged_write_is_lost(self):
        self.assertEqual(self.acknowledged(CALLS, WRITES), [])
        lost = changed(WRITES[:-1], 3, state=game("e2e4", w=(1, 50)))
        found = self.acknowledged(CALLS, lost)
        self.assertEqual(len(found), 2)
        self.assertRegex(found[0], "I3 Game g: Game/Move 1 of b was answered and is not stored")

    def test_i3_moves_are_fewer_than_were_answered(self):
        fewer = changed(WRITES, 4, state=game("e2e4", "e7e5", w=(2, 70), b=(1, 60)))
        self.assert_found(self.acknowledged(CALLS, fewer), "I3 Game g: move 3 of 2 was answered")

    def test_i3_a_stored_move_differs_from_the_one_that_was_sent(self):
        told = [*CALLS, wait(2, "d7d5", 30, 62)]
        self.assert_found(self.acknowledged(told, WRITES), "I3 .* move 2 is e7e5, sent was d7d5")

    def test_i4_a_request_takes_effect_twice(self):
        again = Write(GAME, 9, 4, game("e2e4", "e7e5", "g1f3", "g8f6", w=(2, 80), b=(1, 60)))
        found = checker.check_once([], checker.chains_of([*WRITES, again]))
        self.assert_found(found, "I4 .* request 2 of w took effect in version 3 and again in 4")

    def test_i4_a_request_is_forgotten(self):
        chains = checker.chains_of([*WRITES[:4], Write(GAME, 9, 3, game("e2e4", b=(2, 70)))])
        found = checker.check_once([], chains)
        self.assert_found(found, "I4 Game g: version 3 has forgotten request 1 of w")

    def test_i4_a_request_is_forgotten_in_time(self):
        late = game("e2e4", b=(2, 120))
        with mock.patch.object(checker, "MEMORY_TIME_MS", 70):
            chains = checker.chains_of([*WRITES[:4], Write(GAME, 9, 3, late)])
        self.assertEqual(checker.check_once([], chains), [])

    def test_i4_a_move_is_that_of_two_requests(self):
        found = checker.check_once([*CALLS, move("w", 3, 3, 81, 82)], {})
        self.assert_found(found, "I4 Game g: move 3 is that of 2 requests")

    def test_i5_a_sum_changes(self):
        lost = checker.chains_of(changed(PLAYERS, 1, state=player(-9, losses=1)))
        self.assert_found(checker.check_sums(lost, 1), "I5 the sum of all ratings .* by 1")
        twice = checker.chains_of(changed(PLAYERS, 0, state=player(10, wins=2)))
        self.assertEqual(len(checker.check_sums(twice, 1)), 2)
        found = checker.check_sums(checker.chains_of(PLAYERS), 2)
        self.assert_found(found, "2 games have 2 results")

    def test_i6_an_answer_takes_too_long_or_never_comes(self):
        slow = [look(3, 50, 11 * SECOND), look(3, 200, 201)]
        self.assert_found(checker.check_answers(slow, {GAME}, 100), "I6 Game g: .* took 11.0 s")
        failed = [replace(look(3, 200, 201), code="unavailable")]
        self.assert_found(checker.check_answers(failed, {GAME}, 100), "I6 Game g did not answer")

    def test_i7_an_answer_is_of_a_past_owner(self):
        replies = changed(REPLIES, 3, epoch=7)
        found = checker.check_epochs_seen(CALLS, checker.epochs_of(CALLS, replies))
        self.assert_found(found, "I7 .* 2 of w was answered under epoch 7 after 9 was seen")

    def test_i7_a_call_that_began_earlier_may_be_answered_late(self):
        calls = changed(CALLS, 0, end=64)
        self.assertEqual(
            checker.check_epochs_seen(calls, checker.epochs_of(calls, REPLIES)), []
        )

    def test_i8_a_read_misses_what_was_there(self):
        found = checker.check_linearizable([*CALLS, look(2, 81, 82)])
        self.assert_found(found, "I8 Game g: Game/Look of watch saw version 2 after 3")

    def test_i8_a_read_sees_what_is_not_there_yet(self):
        found = checker.check_linearizable([*CALLS, look(3, 62, 69)])
        self.assertIn("I8 Game g: Game/Look of watch saw version 3 too early", found)

    def test_i8_a_write_comes_before_an_earlier_one(self):
        found = checker.check_linearizable(changed(CALLS, 1, begin=90, end=95))
        self.assertTrue(any("Game/Move of b saw version 2 after 3" in line for line in found))

    def test_i8_two_see_a_version_differently(self):
        found = checker.check_linearizable([*CALLS, look(3, 85, 86, fen="another")])
        self.assert_found(found, "I8 Game g: version 3 is fen 3 and another")


class RecordsTest(unittest.TestCase):
    def test_a_line_of_the_history_is_a_call(self):
        line = (
            '{"method":"corolane.services.chess.Game/Move","object":"g","caller":"w","sequence":2,'
            '"begin":1,"end":2,"errors":["unavailable"],"code":"ok","request":{},"reply":{"ply":3}}'
        )
        (call,) = records.read_history([line])
        self.assertEqual((call.method, call.object, call.id), ("Game/Move", GAME, (GAME, "w", 2)))
        self.assertEqual((call.errors, call.reply), (("unavailable",), {"ply": 3}))

    def test_lines_of_a_log_are_replies(self):
        lines = [
            "2026-02-01T12:00:00.123Z info    node serves name=node-1\n",
            "2026-02-01T12:00:00.123Z debug   object replies type=corolane.services.chess.Game "
            'id="run g" epoch=7 version=3 at=12 proven=0 caller="w \\"x\\"" sequence=4\n',
            "2026-02-01T12:00:00.123Z debug   object replies type=a.B id=c epoch=7 version=0 at=13 "
            'caller="" sequence=0\n',
            "2026-02-01T12:00:00.123Z debug   object replies type=a.B id=c epoch=7 version=0 at=14 "
            'proven=1 caller="" sequence=0\n',
            "2026-02-01T12:00:00.123Z debug   lease kept at=14\n",
            "2026-02-01T12:00:00.123Z debug   object replies type=a.B id=c epo",
        ]
        self.assertEqual(
            list(records.read_log("node-1.1", lines)),
            [
                Reply("node-1.1", "Game run g", 7, 3, 12, 'w "x"', 4),
                Reply("node-1.1", "B c", 7, 0, 13, "", 0),
                Reply("node-1.1", "B c", 7, 0, 14, "", 0, is_proven=True),
                Kept("node-1.1", 14),
            ],
        )

    def test_an_append_only_file_holds_the_accepted_writes(self):
        def command(*words):
            parts = [f"*{len(words)}\r\n".encode()]
            for word in words:
                parts.append(f"${len(word)}\r\n".encode() + word + b"\r\n")
            return b"".join(parts)

        key = b"chess:{7}:object:corolane.services.chess.Game:g"
        data = (
            command(b"SELECT", b"0")
            + command(b"HSET", key, b"epoch", b"00000000000000000005")
            + command(b"HSET", key, b"version", b"1", b"state", b"\r\n*")
            + command(b"HSET", key, b"version", b"2", b"state", b"cut short")[:-4]
        )
        self.assertEqual(
            list(records.read_writes(io.BytesIO(data))),
            [Write(GAME, 5, 0), Write(GAME, 5, 1, b"\r\n*")],
        )

    def test_stored_records_can_be_read(self):
        stored = game("e2e4", "e7e5", w=(3, 40))
        self.assertEqual(records.moves_of(stored), ["e2e4", "e7e5"])
        self.assertEqual(records.applied_by(stored), {"w": (3, 40)})
        self.assertEqual(
            records.player_of(player(-12, 1, 2, 3)), records.Player(-12, 1, 2, 3)
        )


class ScheduleTest(unittest.TestCase):
    def test_a_seed_is_a_schedule(self):
        self.assertEqual(schedule.draw(7, 60, 3), schedule.draw(7, 60, 3))
        self.assertNotEqual(schedule.draw(7, 60, 3), schedule.draw(8, 60, 3))

    def test_every_schedule_has_every_kind_of_fault(self):
        for seed in range(100):
            faults = schedule.draw(seed, 60, 3)
            kinds = [fault.kind for fault in faults]
            self.assertEqual((kinds.count("redis"), kinds.count("etcd")), (1, 1))
            self.assertEqual((kinds.count("kill"), kinds.count("vanish")), (10, 1))
            self.assertGreaterEqual(kinds.count("stop"), 2)
            self.assertLess(max(fault.end for fault in faults), 60)
            stops = [fault for fault in faults if fault.kind == "stop"]
            for fault in faults:
                if fault.kind in ("kill", "vanish"):
                    standing = [s.node for s in stops if s.at <= fault.at <= s.end]
                    self.assertNotIn(fault.node, standing)

    def test_a_kill_beside_another_fault_is_not_alone(self):
        kill = schedule.Fault(10.0, "kill", 0)
        early = schedule.Fault(2.0, "stop", 1, 5.0)
        beside = schedule.Fault(9.0, "stop", 1, 5.0)
        self.assertTrue(schedule.is_alone(kill, [early, kill]))
        self.assertFalse(schedule.is_alone(kill, [kill, beside]))

    def test_a_lease_lives_longer_when_etcd_is_restarted(self):
        vanish = schedule.Fault(10.0, "vanish", 0)
        for at, is_beside in ((8.0, False), (9.5, True), (15.0, True), (19.0, False)):
            etcd = schedule.Fault(at, "etcd", duration=0.5)
            self.assertEqual(schedule.has_etcd_beside(vanish, [vanish, etcd]), is_beside)


class TimingTest(unittest.TestCase):
    def test_failover_is_from_the_death_to_the_next_answer(self):
        death = timing.Death("node-1.1", 25)
        waiting = changed(CALLS, 1, begin=12)
        epochs = checker.epochs_of(waiting, REPLIES)
        self.assertEqual(timing.failovers([death], waiting, REPLIES, epochs), {death: [35]})

    def test_an_object_without_a_waiting_call_has_no_failover(self):
        death = timing.Death("node-1.1", 25)
        epochs = checker.epochs_of(CALLS, REPLIES)
        self.assertEqual(timing.failovers([death], CALLS, REPLIES, epochs), {death: []})

    def test_an_object_that_was_unavailable_before_is_not_counted(self):
        death = timing.Death("node-1.1", 16 + timing.IN_USE_NS)
        waiting = changed(CALLS, 1, begin=12, end=death.at + 5)
        replies = changed(REPLIES, 1, at=death.at + 1)
        epochs = checker.epochs_of(waiting, replies)
        self.assertEqual(timing.failovers([death], waiting, replies, epochs), {death: []})

    def test_a_process_that_served_nothing_has_no_failover(self):
        death = timing.Death("node-2.1", 25)
        epochs = checker.epochs_of(CALLS, REPLIES)
        self.assertEqual(timing.failovers([death], CALLS, REPLIES, epochs), {death: []})

    def test_a_silence_is_counted_from_the_last_keepalive(self):
        silence = timing.silence_of("node-1.1", 5, REPLIES, KEEPS)
        self.assertEqual(silence, timing.Silence(13, 53))

    def test_replies_after_a_reconnect_are_not_part_of_a_silence(self):
        keeps = [*KEEPS, Kept("node-1.1", 14)]
        self.assertIsNone(timing.silence_of("node-1.1", 5, REPLIES, keeps))

    def test_proven_replies_are_counted_while_the_node_is_cut_off(self):
        proven = [replace(REPLIES[0], at=at, is_proven=True) for at in (18, 25, 26, 40)]
        other = replace(proven[0], node="node-3.1", at=30)
        by_lease = replace(REPLIES[0], at=30)
        found = timing.proven_of("node-1.1", 20, 38, [*proven, other, by_lease])
        self.assertEqual(found, timing.Proven(2, 12))
        self.assertEqual(timing.proven_of("node-1.1", 20, 38, []), timing.Proven(0, 18))

    def test_a_pause_is_the_longest_call_at_a_change_of_owner(self):
        epochs = checker.epochs_of(CALLS, REPLIES)
        self.assertEqual(timing.pauses(CALLS, epochs), [30])


if __name__ == "__main__":
    unittest.main()
