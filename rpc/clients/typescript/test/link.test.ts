// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { type State } from "../src/index.js";
import { encodeFrame, FrameType, helloFrame } from "../src/frames.js";
import { type FakeLink, hello, pass, settled } from "./fake_server.js";
import { connection, open, reason, server, useServerWithDelays } from "./fixture.js";
import { Echo } from "./gen/test/rpc/echo_pb.js";

useServerWithDelays();

const echo = () => createClient(Echo, connection);

// The state, as it is by now.
const state = (): State => connection.state;

test("pushes that arrive at once are acknowledged once", async () => {
  const link = await open();
  const push = (id: number) => encodeFrame(FrameType.push, { id, method: 1n });
  link.sendTogether(push(1), push(2), push(3));
  link.sendTogether(push(4), encodeFrame(FrameType.pushGap, { id: 9 }));
  assert.deepEqual(
    link.frames(FrameType.pushAck).map(({ id }) => id),
    [3, 9],
  );
});

test("a silent server is asked after ten seconds, and given up after five more", async () => {
  const link = await open();
  await pass(9_999);
  assert.equal(link.frames(FrameType.ping).length, 0);
  await pass(1);
  assert.equal(link.frames(FrameType.ping).length, 1);
  await pass(4_999);
  link.send(FrameType.pong);
  await pass(10_000);
  assert.equal(link.frames(FrameType.ping).length, 2);
  assert.equal(state().is, "open");
  await pass(5_000);
  assert.equal(state().is, "waiting");
  assert.match(reason()!.message, /silent/);
  assert.ok(link.isClosed);
});

test("a server is not silent because somebody sets the clock", async () => {
  const link = await open();
  await pass(5_000);
  link.send(FrameType.pong);
  mock.method(Date, "now", () => 1e15);
  await pass(9_999);
  assert.equal(link.frames(FrameType.ping).length, 0);
});

test("a server without sessions that pushes is left for good", async () => {
  server.onHello = (link) => link.begin({});
  const link = await open();
  assert.equal(state().is, "open");
  link.push(1, 1n, new Uint8Array());
  assert.deepEqual([state().is, reason()?.code], ["ended", Code.InvalidArgument]);
  assert.equal(link.frames(FrameType.pushAck).length, 0);
});

test("messages of another realm are read", async () => {
  const { runInNewContext } = await import("node:vm");
  const link = await open();
  const ping = encodeFrame(FrameType.ping);
  const data = runInNewContext("Uint8Array.from(bytes).buffer", { bytes: [...ping] });
  assert.ok(!(data instanceof ArrayBuffer));
  link.sendMessage(data);
  assert.equal(link.frames(FrameType.pong).length, 1);
});

test("a ping is answered", async () => {
  const link = await open();
  link.send(FrameType.ping);
  assert.equal(link.frames(FrameType.pong).length, 1);
});

test("a server that sends no hello in five seconds is given up", async () => {
  server.onHello = () => {};
  const link = await open();
  await pass(5_000);
  assert.equal(state().is, "waiting");
  assert.ok(link.isClosed);
});

test("a server that breaks the protocol is told so, and left for good", async () => {
  const lies: [string, (link: FakeLink) => void][] = [
    ["text", (link) => link.sendMessage("hello")],
    ["a second hello", (link) => link.begin()],
    ["a request", (link) => link.send(FrameType.request, { id: 1 })],
    ["an unknown type", (link) => link.sendBytes(new Uint8Array(32).fill(77))],
    ["an item for a unary call", (link) => link.send(FrameType.item, { id: 1 })],
    ["a push number that is not exact", (link) => link.send(FrameType.push, { id: 2 ** 53 })],
    ["a large push", (link) => link.sendBytes(encodeFrame(13, { message: new Uint8Array(5e6) }))],
  ];
  for (const [name, lie] of lies) {
    const link = await open();
    const call = assert.rejects(echo().echo({}), ConnectError);
    await settled();
    lie(link);
    await call;
    assert.equal(link.last(FrameType.bye).code, Code.InvalidArgument, name);
    assert.equal(reason()?.code, Code.InvalidArgument, name);
  }
});

test("what does not begin as a server is left for good", async () => {
  const beginnings: [Code, (link: FakeLink) => void][] = [
    [Code.InvalidArgument, (link) => link.send(FrameType.reply, { id: 1 })],
    [Code.InvalidArgument, (link) => link.sendBytes(encodeFrame(FrameType.hello, { method: 1n }))],
    [Code.InvalidArgument, (link) => link.sendBytes(helloFrame(new Uint8Array([0x52, 9])))],
    [Code.InvalidArgument, (link) => link.sendBytes(helloFrame(new Uint8Array(5_121)))],
    [
      Code.Unimplemented,
      (link) => {
        const bytes = helloFrame(hello({}));
        bytes[16] = 2;
        link.sendBytes(bytes);
      },
    ],
  ];
  for (const [code, begin] of beginnings) {
    server.onHello = begin;
    await open();
    assert.equal(reason()?.code, code);
  }
});
