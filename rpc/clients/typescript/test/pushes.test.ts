// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code } from "@connectrpc/connect";
import { FrameType, hashOf } from "../src/frames.js";
import { collect, frame, type HelloFields, pass, secret, settled } from "./fake_server.js";
import { connection, server, useServer } from "./fixture.js";
import { EchoReplySchema, EchoRequestSchema } from "./gen/test/rpc/echo_pb.js";

const replyType = hashOf("corolane.test.EchoReply");
const requestType = hashOf("corolane.test.EchoRequest");

let number: number;

useServer();
beforeEach(() => void (number = 0));

const message = (text: string) => toBinary(EchoReplySchema, create(EchoReplySchema, { text }));

function push(text: string): void {
  server.link.push(++number, replyType, message(text));
}

const reconnect = (isResumed: boolean) => reconnectTo({ session: secret("a"), isResumed });

async function reconnectTo(fields: HelloFields): Promise<void> {
  server.onHello = (link) => link.begin(fields);
  await pass(2_000);
  server.link.drop();
  await pass(100);
}

const pushes = () => connection.pushes(EchoReplySchema);

test("each reader gets the pushes of its type, from its call on", async () => {
  const first = collect(pushes());
  push("a");
  const second = collect(pushes());
  const others = connection.pushes(EchoRequestSchema);
  push("b");
  server.link.push(++number, requestType, message("c"));
  await settled();
  assert.deepEqual([first, second], [["a", "b"], ["b"]]);
  const other = await others.next();
  assert.equal(other.value.message.text, "c");
});

test("a push that comes twice is seen once, and one that is missing is a gap", async () => {
  const seen = collect(pushes());
  push("1");
  push("2");
  await reconnect(true);
  server.link.push(2, replyType, message("2 again"));
  server.link.push(3, replyType, message("3"));
  server.link.send(FrameType.pushGap, { id: 5 });
  server.link.push(6, replyType, message("6"));
  server.link.push(8, replyType, message("8"));
  await settled();
  assert.deepEqual(seen, ["1", "2", "3", "gap", "6", "gap", "8"]);
});

test("a new session is a gap for its pushes, which begin at one", async () => {
  const seen = collect(pushes());
  push("1");
  await reconnect(false);
  server.link.push(1, replyType, message("new 1"));
  await settled();
  assert.deepEqual(seen, ["1", "gap", "new 1"]);
});

test("what is kept for the user comes once over all sessions", async () => {
  const seen = collect(pushes());
  const pushKept = (id: number, mailbox: bigint, kept: number) =>
    server.link.send(FrameType.push, {
      id,
      method: replyType,
      message: message(`${mailbox}-${kept}`),
      extension: new BinaryWriter()
        .tag(1, WireType.Bit64)
        .fixed64(mailbox)
        .tag(2, WireType.Varint)
        .uint64(kept)
        .finish(),
    });
  pushKept(1, 7n, 1);
  pushKept(2, 7n, 4);
  await reconnect(false);
  pushKept(1, 7n, 4);
  pushKept(2, 7n, 5);
  server.link.push(3, replyType, message("not kept"));
  await reconnect(false);
  // The page has logged in as another user.
  pushKept(1, 9n, 3);
  pushKept(2, 9n, 3);
  // An extension that says nothing of a mailbox.
  const withExtension = (id: number, text: string, extension: Uint8Array) =>
    server.link.send(FrameType.push, { id, method: replyType, message: message(text), extension });
  withExtension(3, "later", new BinaryWriter().tag(7, WireType.Varint).uint64(1).finish());
  withExtension(4, "broken", new Uint8Array([0x09, 1]));
  await settled();
  assert.deepEqual(seen, [
    ...["7-1", "7-4", "gap", "7-5", "not kept", "gap", "9-3"],
    ...["later", "broken"],
  ]);
});

test("what cannot be read is a gap", async () => {
  const seen = collect(pushes());
  server.link.push(++number, replyType, new Uint8Array([0x0a, 99]));
  push("next");
  await settled();
  assert.deepEqual(seen, ["gap", "next"]);
});

test("a reader that is slow loses the oldest, and learns of it", async () => {
  const slow = pushes();
  for (let i = 1; i <= 300; ++i) push(String(i));
  assert.equal((await slow.next()).value.isGap, true);
  assert.equal((await slow.next()).value.message.text, "46");
  for (let i = 47; i <= 300; ++i) await slow.next();
  const next = slow.next();
  push("more");
  assert.equal((await next).value.message.text, "more");
});

test("a reader that is slow holds at most a mebibyte", async () => {
  const slow = pushes();
  const large = "x".repeat(400_000);
  for (let i = 1; i <= 3; ++i) push(`${i} ${large}`);
  assert.equal((await slow.next()).value.isGap, true);
  assert.match((await slow.next()).value.message.text, /^3 /);
});

test("a push that waits does not hold the message that it came in", async () => {
  const slow = pushes();
  const fields = { id: 1, method: replyType, message: message("a") };
  const data = new Uint8Array(frame(FrameType.push, fields));
  server.link.sendMessage(data.buffer);
  data.fill(0);
  assert.equal((await slow.next()).value.message.text, "a");
});

test("a server without sessions has no pushes, but another one may", async () => {
  await reconnectTo({});
  const seen = collect(pushes());
  const group = collect(connection.follow(EchoReplySchema, { group: 1 }));
  await settled();
  assert.deepEqual([seen, group], [["Unimplemented"], ["Unimplemented"]]);
  assert.equal(connection.state.is, "open");
  await reconnectTo({ session: secret("b") });
  const next = collect(pushes());
  server.link.push(1, replyType, message("1"));
  await settled();
  assert.deepEqual(next, ["1"]);
});

test("a reader stops by break, by its signal, and by the end of the connection", async () => {
  const abort = new AbortController();
  const aborted = collect(connection.pushes(EchoReplySchema, { signal: abort.signal }));
  const closed = collect(pushes());
  push("1");
  await settled();
  abort.abort();
  push("2");
  await settled();
  connection.close();
  await settled();
  assert.deepEqual([aborted, closed], [["1", "end"], ["1", "2", "end"]]);
  assert.deepEqual(await pushes().next(), { done: true, value: undefined });
});

test("a server that ends the session fails its readers", async () => {
  const seen = collect(pushes());
  const group = collect(connection.follow(EchoReplySchema, { group: 1 }));
  push("1");
  server.link.bye(Code.PermissionDenied, "banned");
  await settled();
  assert.deepEqual(seen, ["1", "PermissionDenied"]);
  assert.deepEqual(group, ["PermissionDenied"]);
});

test("a former server's pushes are not those of the session that another has begun", async () => {
  const seen = collect(pushes());
  const first = server.link;
  server.onHello = (link) => link.begin({ session: secret("b") });
  // A call that keeps the former connection.
  const { createClient } = await import("@connectrpc/connect");
  const { Echo } = await import("./gen/test/rpc/echo_pb.js");
  const call = createClient(Echo, connection).echo({});
  await settled();
  first.send(FrameType.goAway);
  first.push(1, replyType, message("still of the former"));
  await pass(100);
  first.push(2, replyType, message("too late"));
  server.link.push(1, replyType, message("of the new one"));
  first.send(FrameType.reply, { id: first.last(FrameType.request).id });
  await call;
  await settled();
  assert.deepEqual(seen, ["still of the former", "gap", "of the new one"]);
});
