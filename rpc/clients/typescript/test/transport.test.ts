// SPDX-License-Identifier: MIT
// When a call is sent, sent again, or not at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { mayHaveRun } from "../src/index.js";
import { FrameType, helloFrame } from "../src/frames.js";
import { frame, hello, pass, secret, settled } from "./fake_server.js";
import { connection, open, server, useServer } from "./fixture.js";
import { Game, Lobby } from "./gen/services/chess/game_pb.js";
import { Echo } from "./gen/test/rpc/echo_pb.js";
import { Talk } from "./gen/test/rpc/talk_pb.js";

useServer();

const echo = () => createClient(Echo, connection);
const requests = () => server.link.frames(FrameType.request);

// How the call has ended by now: its error, or a text.
async function outcomeOf(call: Promise<unknown>): Promise<ConnectError | string> {
  const late = settled().then(() => "it goes on");
  return Promise.race([call.then(() => "it succeeds", ConnectError.from), late]);
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const outcome = await outcomeOf(call);
  assert.ok(outcome instanceof ConnectError, String(outcome));
  return outcome;
}

async function readAll(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const message of messages) void message;
}

async function* nothing() {}

const beginners = {
  unary: (options: object) => echo().echo({}, options),
  oneWay: (options: object) => echo().note({}, options),
  stream: (options: object) => readAll(echo().count({}, options)),
  upload: (options: object) => createClient(Talk, connection).sum(nothing(), options),
};

test("a call that is given up before it begins is not sent", async () => {
  for (const [name, begin] of Object.entries(beginners)) {
    const aborted = await failureOf(begin({ signal: AbortSignal.abort() }));
    assert.equal(aborted.code, Code.Canceled, name);
    for (const timeoutMs of [0, -1]) {
      const late = await failureOf(begin({ timeoutMs }));
      assert.equal(late.code, Code.DeadlineExceeded, name);
    }
    assert.equal(requests().length, 0, name);
  }
});

test("a call that is given up inside an interceptor is not sent", async () => {
  const abort = new AbortController();
  connection.close();
  await open({
    interceptors: [
      (next) => async (request) => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return next(request);
      },
    ],
  });
  const begun = Object.values(beginners).map((begin) => begin({ signal: abort.signal }));
  const outcomes = begun.map((call) => call.catch((error) => ConnectError.from(error).code));
  await settled();
  abort.abort();
  await pass(50);
  assert.deepEqual(await Promise.all(outcomes), begun.map(() => Code.Canceled));
  assert.equal(requests().length, 0);
});

test("a page that closes ends the calls that wait for their next attempt", async () => {
  const call = echo().echo({});
  await settled();
  server.link.send(FrameType.reply, { id: 1, code: 14, flags: 2, time: 3_000 });
  await settled();
  connection.close();
  assert.equal((await failureOf(call)).code, Code.Unavailable);
});

test("what waits for a server that drains at once goes to the next connection", async () => {
  connection.close();
  server.onHello = (link, count) => {
    const fields = { session: secret("a"), isResumed: count > 2 };
    if (count > 2) link.begin(fields);
    else link.sendTogether(helloFrame(hello(fields)), frame(FrameType.goAway));
  };
  let calls: Promise<unknown>[] = [];
  await open({}, () => {
    calls = [echo().echo({}), echo().note({}), readAll(echo().count({}))];
  });
  await pass(100);
  assert.equal(requests().length, 3);
  for (const { id } of requests()) if (id !== 0) server.link.send(FrameType.reply, { id });
  await Promise.all(calls);
});

test("a durable call that cannot be sent uses up no caller", async () => {
  const game = createClient(Game, connection.object("g1"));
  for (let i = 0; i < 3; ++i) {
    const bad = game.move({ san: "e4" }, { headers: { "x-name": "Jos\u00e9" } });
    assert.equal((await failureOf(bad)).code, Code.InvalidArgument);
  }
  void game.move({ san: "e4" }).catch(() => {});
  await settled();
  const reader = new BinaryReader(requests()[0]!.extension);
  reader.tag();
  const object = new BinaryReader(reader.bytes());
  for (let [number, type] = object.tag(); number !== 4; [number, type] = object.tag()) {
    assert.equal(type, WireType.LengthDelimited);
    object.skip(type);
  }
  assert.equal(Buffer.from(object.bytes()).toString(), "1");
});

test("a call that was sent may have run, though its next attempt has not begun", async () => {
  const call = createClient(Lobby, connection.object("")).meet({});
  await settled();
  server.isReachable = false;
  server.link.drop();
  const outcome = call.then(() => assert.fail("it succeeds"), ConnectError.from);
  await pass(500);
  await pass(3_000);
  const error = await outcome;
  assert.deepEqual([error.code, mayHaveRun(error)], [Code.Unavailable, true]);
});

test("an item that cannot be read fails its stream alone", async () => {
  const stream = readAll(echo().count({}));
  await settled();
  const other = echo().echo({});
  await settled();
  const [id = 0, otherId = 0] = requests().map((request) => request.id);
  server.link.send(FrameType.item, { id, extension: new Uint8Array([0x12, 99]) });
  assert.equal((await failureOf(stream)).code, Code.Internal);
  assert.equal(server.link.last(FrameType.cancel).id, id);
  assert.equal(connection.state.is, "open");
  server.link.send(FrameType.reply, { id: otherId });
  await other;
});
