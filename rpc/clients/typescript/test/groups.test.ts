// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, type ConnectError, createClient } from "@connectrpc/connect";
import { FrameType, hashOf } from "../src/frames.js";
import { collect, type FakeLink, pass, secret, settled } from "./fake_server.js";
import { connection, server, useServer } from "./fixture.js";
import { Chess, FollowReplySchema } from "./gen/services/chess/chess_pb.js";
import { EchoReplySchema, EchoRequestSchema } from "./gen/test/rpc/echo_pb.js";

const replyType = hashOf("corolane.test.EchoReply");
const requestType = hashOf("corolane.test.EchoRequest");
const gapType = hashOf("corolane.rpc.GroupGap");
const endType = hashOf("corolane.rpc.GroupEnd");

let number: number;

useServer();
beforeEach(() => void (number = 0));

const message = (text: string) => toBinary(EchoReplySchema, create(EchoReplySchema, { text }));

function push(text: string, group = 0): void {
  server.link.push(++number, replyType, message(text), group);
}

function endGroup(group: number, code: number, reason = ""): void {
  const writer = new BinaryWriter();
  if (code !== 0) writer.tag(1, WireType.Varint).uint32(code);
  if (reason !== "") writer.tag(2, WireType.LengthDelimited).string(reason);
  server.link.push(++number, endType, writer.finish(), group);
}

async function reconnect(isResumed: boolean): Promise<void> {
  server.onHello = (link) => link.begin({ session: secret("a"), isResumed });
  await pass(2_000);
  server.link.drop();
  await pass(100);
}

const unfollowed = () => server.link.frames(FrameType.unfollow).map(({ id }) => id);
const follow = (group: number) => connection.follow(EchoReplySchema, { group });

test("a group's pushes come to its follower alone", async () => {
  const session = collect(connection.pushes(EchoReplySchema));
  const one = collect(follow(1));
  const two = collect(follow(2));
  push("a", 1);
  push("b", 2);
  push("c");
  server.link.push(++number, requestType, message("of another type"), 1);
  push("d", 1);
  await settled();
  assert.deepEqual([one, two, session], [["a", "d"], ["b"], ["c"]]);
});

test("pushes that come before the reply wait for their follower", async () => {
  push("early", 7);
  server.link.push(++number, requestType, message("of another type"), 7);
  server.link.push(++number, gapType, new Uint8Array(), 7);
  endGroup(8, Code.NotFound, "it was over at once");
  const seen = collect(follow(7));
  push("late", 7);
  const ended = collect(follow(8));
  await settled();
  assert.deepEqual([seen, ended], [["early", "gap", "late"], ["NotFound"]]);
});

test("of groups that nobody claims the oldest is given up, and the server told", async () => {
  for (let i = 0; i < 300; ++i) push(`orphan ${i}`, 1);
  assert.equal(unfollowed().length, 0, "there is no other group");
  push("early", 2);
  assert.deepEqual(unfollowed(), [1]);
  const given = collect(follow(1));
  const two = collect(follow(2));
  push("late", 2);
  await settled();
  assert.deepEqual([given, two], [["Aborted"], ["early", "late"]]);
  for (let group = 1_000; group < 1_300; ++group) push("never claimed", group);
  assert.deepEqual([unfollowed().length, unfollowed().at(-1)], [1 + 44, 1_043]);
  endGroup(1_043, Code.Canceled);
  const forgotten = collect(follow(1_043));
  const kept = collect(follow(1_044));
  await settled();
  assert.deepEqual([forgotten, kept], [["Aborted"], ["never claimed"]]);
});

test("a group that nobody claims keeps the latest when it is alone", async () => {
  for (let i = 0; i < 300; ++i) push(String(i), 1);
  const seen = collect(follow(1));
  await settled();
  assert.deepEqual([seen.length, seen[0], seen[1], seen.at(-1)], [256, "gap", "45", "299"]);
});

test("a gap of a group, and one of the session, reach its follower", async () => {
  const one = collect(follow(1));
  const two = collect(follow(2));
  server.link.push(++number, gapType, new Uint8Array(), 1);
  push("a", 1);
  push("b", 2);
  server.link.send(FrameType.pushGap, { id: (number += 5) });
  push("c", 2);
  await settled();
  assert.deepEqual([one, two], [["gap", "a", "gap"], ["b", "gap", "c"]]);
});

test("a group ends with its error, or without one", async () => {
  const failed = collect(follow(1));
  const ended = collect(follow(2));
  push("last", 1);
  endGroup(1, Code.NotFound, "the room has closed");
  endGroup(2, 0);
  await settled();
  assert.deepEqual([failed, ended], [["last", "NotFound"], ["end"]]);
  assert.deepEqual(unfollowed(), []);
});

test("a follower that leaves tells the server until it answers", async () => {
  const group = follow(3);
  push("a", 3);
  for await (const item of group) {
    assert.equal(item.message?.text, "a");
    break;
  }
  assert.deepEqual(unfollowed(), [3]);
  push("under way", 3);
  assert.deepEqual(unfollowed(), [3]);
  await reconnect(true);
  assert.deepEqual(unfollowed(), [3], "again, though there is no news");
  push("it did not hear", 3);
  assert.deepEqual(unfollowed(), [3]);
  endGroup(3, Code.Canceled);
  await reconnect(true);
  assert.deepEqual(unfollowed(), []);
});

test("a follower that leaves without a connection tells the next one", async () => {
  const group = follow(3);
  server.link.drop();
  await group.return?.();
  server.onHello = (link) => link.begin({ session: secret("a"), isResumed: true });
  await pass(100);
  assert.deepEqual(unfollowed(), [3]);
});

test("the answer to an unfollow is no new group, even of one that has ended", async () => {
  for (let group = 1; group <= 300; ++group) {
    const reader = follow(group);
    await reader.return?.();
    endGroup(group, 0);
    endGroup(group, Code.Canceled);
    push("still under way", group);
  }
  push("early", 1_000);
  const seen = collect(follow(1_000));
  await settled();
  assert.deepEqual(seen, ["early"]);
  assert.equal(unfollowed().length, 300);
});

test("a group is followed once", async () => {
  const seen = collect(follow(4));
  assert.throws(() => follow(4), /followed already/);
  endGroup(4, 0);
  await settled();
  assert.deepEqual(seen, ["end"]);
  assert.throws(() => follow(4), /followed already/);
  await follow(5).return?.();
  assert.throws(() => follow(5), /followed already/);
  endGroup(6, 0);
  assert.deepEqual(await follow(6).next(), { done: true, value: undefined });
  assert.throws(() => follow(6), /followed already/);
});

test("what is no number of a group is refused", () => {
  for (const group of [0, -1, 1.5, 2 ** 32, NaN]) {
    assert.throws(
      () => follow(group),
      (error: ConnectError) => error.code === Code.InvalidArgument,
    );
  }
});

test("a group's messages of several types come in one order", async () => {
  push("early", 1);
  server.link.push(++number, requestType, message("early too"), 1);
  const seen: string[] = [];
  const schemas = [EchoReplySchema, EchoRequestSchema];
  void (async () => {
    for await (const { message } of connection.follow(schemas, { group: 1 })) {
      seen.push(message?.$typeName === "corolane.test.EchoReply" ? message.text : "request");
    }
  })();
  server.link.push(++number, requestType, message("a"), 1);
  push("b", 1);
  await settled();
  assert.deepEqual(seen, ["early", "request", "request", "b"]);
});

test("an end that cannot be read has no reason", async () => {
  const seen = collect(follow(1));
  server.link.push(++number, endType, new Uint8Array([0x12, 99]), 1);
  await settled();
  assert.deepEqual(seen, ["end"]);
  assert.equal(connection.state.is, "open");
});

test("a reply of a former session names no group of the new one", async () => {
  const chess = createClient(Chess, connection);
  const answer = (link: FakeLink) =>
    link.send(FrameType.reply, {
      id: link.last(FrameType.request).id,
      message: toBinary(FollowReplySchema, create(FollowReplySchema, { group: 1 })),
    });
  const call = chess.follow({});
  await settled();
  const first = server.link;
  server.onHello = (link) => link.begin({ session: secret("b") });
  first.send(FrameType.goAway);
  await pass(100);
  server.link.push(1, replyType, message("of the new session"), 1);
  answer(first);
  const former = await call;
  assert.deepEqual(collect(connection.follow(EchoReplySchema, former)), []);
  const next = chess.follow({});
  await settled();
  answer(server.link);
  const [ofFormer, ofNext] = [former, await next].map((reply) =>
    collect(connection.follow(EchoReplySchema, reply)),
  );
  await settled();
  assert.deepEqual([ofFormer, ofNext], [["Aborted"], ["of the new session"]]);
  assert.deepEqual(unfollowed(), []);
});

test("a reader that has ended listens to its signal no more", async () => {
  const { signal } = new AbortController();
  const groups = [1, 2, 3].map((group) =>
    collect(connection.follow(EchoReplySchema, { group }, { signal })),
  );
  void collect(connection.pushes(EchoReplySchema, { signal }));
  assert.equal(getEventListeners(signal, "abort").length, 4);
  endGroup(1, 0);
  endGroup(2, Code.NotFound);
  await settled();
  assert.deepEqual(groups, [["end"], ["NotFound"], []]);
  assert.equal(getEventListeners(signal, "abort").length, 2);
  connection.close();
  await settled();
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a group is resumed with its session, and ends with it", async () => {
  const seen = collect(follow(1));
  push("a", 1);
  await reconnect(true);
  push("b", 1);
  await reconnect(false);
  number = 0;
  push("of another group", 1);
  await settled();
  assert.deepEqual(seen, ["a", "b", "Aborted"]);
  assert.deepEqual(collect(follow(1)), []);
});
