// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { FrameType, headerSize, windowBytes } from "../src/frames.js";
import { pass, settled } from "./fake_server.js";
import { connection, server, useServer } from "./fixture.js";
import { CountReplySchema, Echo } from "./gen/test/rpc/echo_pb.js";
import { NumberSchema, Talk } from "./gen/test/rpc/talk_pb.js";

useServer();

const echo = () => createClient(Echo, connection);
const talk = () => createClient(Talk, connection);
const request = () => server.link.last(FrameType.request);
const count = (number: number, text = "") =>
  toBinary(CountReplySchema, create(CountReplySchema, { number, text }));
const number = (value: bigint) => toBinary(NumberSchema, create(NumberSchema, { value }));

function sendItem(message: Uint8Array, extension?: Uint8Array): void {
  server.link.send(FrameType.item, {
    id: request().id,
    message,
    ...(extension && { extension }),
  });
}

const header = (field: number, name: string, value: string) =>
  new BinaryWriter()
    .tag(field, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.LengthDelimited)
    .string(name)
    .tag(2, WireType.LengthDelimited)
    .string(value)
    .join()
    .finish();

test("a stream is items and their end, with headers and trailers", async () => {
  let headers = new Headers();
  let trailers = new Headers();
  const options = {
    onHeader: (seen: Headers) => (headers = seen),
    onTrailer: (seen: Headers) => (trailers = seen),
  };
  const read = (async () => {
    const numbers: number[] = [];
    for await (const reply of echo().count({ count: 2 }, options)) numbers.push(reply.number);
    return numbers;
  })();
  await settled();
  assert.equal(request().time, 10_000_000);
  sendItem(count(0), header(2, "x-first", "1"));
  sendItem(count(1));
  server.link.send(FrameType.reply, { id: request().id, extension: header(3, "x-last", "2") });
  assert.deepEqual(await read, [0, 1]);
  assert.deepEqual([headers.get("x-first"), trailers.get("x-last")], ["1", "2"]);
  assert.equal(server.link.frames(FrameType.cancel).length, 0);
});

test("a reader grants room after half a window", async () => {
  const messages = echo().count({ count: 100 })[Symbol.asyncIterator]();
  const first = messages.next();
  await settled();
  const item = count(1, "x".repeat(20_000));
  for (let i = 0; i < 4; ++i) sendItem(item);
  await first;
  assert.equal(server.link.frames(FrameType.window).length, 0);
  await messages.next();
  assert.equal(server.link.last(FrameType.window).time, 2 * (headerSize + item.length));
  await messages.return?.();
});

test("an item in spite of the window ends the connection", async () => {
  const read = echo().count({})[Symbol.asyncIterator]().next();
  await settled();
  const item = count(1, "x".repeat(40_000));
  for (let i = 0; i < 3; ++i) sendItem(item);
  await read;
  assert.equal(server.link.last(FrameType.bye).code, Code.InvalidArgument);
  assert.equal(connection.state.is, "ended");
});

test("a reader that leaves cancels the stream", async () => {
  const read = (async () => {
    for await (const reply of echo().count({})) return reply.number;
    return -1;
  })();
  await settled();
  sendItem(count(7));
  assert.equal(await read, 7);
  await settled();
  assert.equal(server.link.last(FrameType.cancel).id, request().id);
  sendItem(count(8)); // Under way meanwhile.
  assert.equal(connection.state.is, "open");
});

async function readAll(messages: AsyncIterable<unknown>): Promise<Code | "end"> {
  try {
    for await (const message of messages) void message;
    return "end";
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

test("a stream ends by its error, its deadline, its signal or its connection", async () => {
  const failed = readAll(echo().count({}));
  await settled();
  sendItem(count(0));
  server.link.send(FrameType.reply, { id: request().id, code: 10 });
  assert.equal(await failed, Code.Aborted);

  const late = readAll(echo().count({}, { timeoutMs: 100 }));
  await settled();
  sendItem(count(0));
  await pass(100);
  assert.equal(await late, Code.DeadlineExceeded);
  assert.equal(server.link.last(FrameType.cancel).id, request().id);

  const abort = new AbortController();
  const aborted = readAll(echo().count({}, { signal: abort.signal }));
  await settled();
  abort.abort();
  assert.equal(await aborted, Code.Canceled);
  assert.equal(server.link.last(FrameType.cancel).id, request().id);

  const lost = readAll(echo().count({}));
  await settled();
  server.link.drop();
  assert.equal(await lost, Code.Unavailable);
});

async function* numbers(values: bigint[], padding = 0) {
  for (const value of values) yield { value, padding: new Uint8Array(padding) };
}

test("a method that is called with a stream gets items, and an end", async () => {
  const sum = talk().sum(numbers([1n, 2n, 3n]));
  await settled();
  assert.equal(request().message.length, 0);
  const items = server.link.frames(FrameType.item);
  assert.deepEqual(
    items.map(({ message }) => fromBinary(NumberSchema, message).value),
    [1n, 2n, 3n],
  );
  assert.equal(server.link.last(FrameType.end).id, request().id);
  server.link.send(FrameType.reply, { id: request().id, message: number(6n) });
  assert.equal((await sum).value, 6n);
});

test("a writer waits for room, and goes on when it is granted", async () => {
  const sum = talk().sum(numbers([1n, 2n, 3n, 4n, 5n], 30_000));
  await settled();
  // It may begin an item while any room is left.
  assert.equal(server.link.frames(FrameType.item).length, 3);
  server.link.send(FrameType.window, { id: request().id, time: windowBytes });
  await settled();
  assert.equal(server.link.frames(FrameType.item).length, 5);
  assert.equal(server.link.frames(FrameType.end).length, 1);
  server.link.send(FrameType.reply, { id: request().id, message: number(15n) });
  assert.equal((await sum).value, 15n);
});

test("a reply before the end stops the writer", async () => {
  let isLeft = false;
  async function* forever() {
    try {
      for (;;) yield { value: 1n, padding: new Uint8Array(30_000) };
    } finally {
      isLeft = true;
    }
  }
  const sum = talk().sum(forever());
  await settled();
  server.link.send(FrameType.reply, { id: request().id, message: number(-1n) });
  assert.equal((await sum).value, -1n);
  await settled();
  assert.ok(isLeft);
  assert.equal(server.link.frames(FrameType.end).length, 0);
});

test("a writer that fails cancels its call", async () => {
  async function* broken() {
    yield { value: 1n };
    throw new Error("out of numbers");
  }
  const sum = talk().sum(broken());
  await assert.rejects(sum, /out of numbers/);
  assert.equal(server.link.last(FrameType.cancel).id, request().id);
});

test("both directions go on at once", async () => {
  const twice = talk().twice(numbers([1n, 2n]))[Symbol.asyncIterator]();
  const first = twice.next();
  await settled();
  sendItem(number(2n));
  assert.equal((await first).value.value, 2n);
  sendItem(number(4n));
  server.link.send(FrameType.reply, { id: request().id });
  assert.equal((await twice.next()).value.value, 4n);
  assert.equal((await twice.next()).done, true);
});
