// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { connect, isFromHandler, mayHaveRun } from "../src/index.js";
import { type Frame, FrameType, hashOf } from "../src/frames.js";
import { pass, secret, settled } from "./fake_server.js";
import { connection, server, useServer } from "./fixture.js";
import { Game, Lobby, MeetReplySchema } from "./gen/services/chess/game_pb.js";
import { MoveReplySchema } from "./gen/services/chess/chess_pb.js";
import { Echo, EchoReplySchema, EchoRequestSchema } from "./gen/test/rpc/echo_pb.js";

useServer();

const echo = () => createClient(Echo, connection);
const reply = (text: string) => toBinary(EchoReplySchema, create(EchoReplySchema, { text }));
const request = () => server.link.last(FrameType.request);

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ConnectError, String(error));
    return error;
  }
  return assert.fail("the call succeeds");
}

// The fields of a message, by number, each as often as it comes.
function fieldsOf(bytes: Uint8Array): Map<number, (Uint8Array | number)[]> {
  const fields = new Map<number, (Uint8Array | number)[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const value = type === WireType.LengthDelimited ? reader.bytes() : Number(reader.uint64());
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

// The object of a request: its id, and that of the request.
function objectOf(frame: Frame): [string, string | undefined, number | undefined] {
  const [object] = fieldsOf(frame.extension).get(6) ?? [];
  const fields = fieldsOf(object as Uint8Array);
  const text = (number: number) => fields.get(number)?.map(String)[0];
  const asText = (value?: Uint8Array | number) =>
    value === undefined ? undefined : Buffer.from(value as Uint8Array).toString();
  assert.ok(text(1) !== undefined);
  return [
    asText(fields.get(1)![0])!,
    asText(fields.get(4)?.[0]),
    fields.get(5)?.[0] as number | undefined,
  ];
}

function header(name: string, value: Uint8Array | string): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(name)
    .tag(2, WireType.LengthDelimited)
    .bytes(typeof value === "string" ? Buffer.from(value) : value)
    .finish();
}

test("a call is a request and a reply", async () => {
  const call = echo().echo({ text: "hi" }, { timeoutMs: 5_000 });
  await settled();
  const sent = request();
  assert.equal(sent.header.getBigUint64(16, true), hashOf("corolane.test.Echo/Echo"));
  assert.equal(sent.time, 5_000_000);
  assert.equal(sent.extension.length, 0);
  assert.equal(fromBinary(EchoRequestSchema, sent.message).text, "hi");
  server.link.send(FrameType.reply, { id: sent.id, message: reply("hello") });
  assert.equal((await call).text, "hello");
});

test("replies come in any order", async () => {
  const calls = ["a", "b", "c"].map((text) => echo().echo({ text }));
  await settled();
  for (const { id, message } of server.link.frames(FrameType.request).reverse()) {
    server.link.send(FrameType.reply, { id, message });
  }
  const texts = (await Promise.all(calls)).map(({ text }) => text);
  assert.deepEqual(texts, ["a", "b", "c"]);
});

test("without a timeout the method's own one holds", async () => {
  const call = failureOf(echo().sleep({}));
  await settled();
  assert.equal(request().time, 3_000_000);
  await pass(3_000);
  assert.equal((await call).code, Code.DeadlineExceeded);
  assert.equal(server.link.last(FrameType.cancel).id, request().id);
});

test("an aborted call is cancelled at the server, and its late reply ignored", async () => {
  const abort = new AbortController();
  const call = failureOf(echo().echo({}, { signal: abort.signal }));
  await settled();
  abort.abort();
  assert.equal((await call).code, Code.Canceled);
  assert.equal(server.link.last(FrameType.cancel).id, request().id);
  server.link.send(FrameType.reply, { id: request().id, message: reply("late") });
  assert.equal(connection.state.is, "open");
});

test("a call waits for the connection, and can be given up meanwhile", async () => {
  server.onHello = () => {};
  const late = connect({ url: "ws://b", webSocket: server.webSocket });
  const abort = new AbortController();
  const given = failureOf(createClient(Echo, late).echo({}, { signal: abort.signal }));
  const call = createClient(Echo, late).echo({});
  await settled();
  abort.abort();
  assert.equal((await given).code, Code.Canceled);
  server.link.begin();
  await settled();
  assert.equal(server.link.frames(FrameType.request).length, 1);
  server.link.send(FrameType.reply, { id: request().id });
  await call;
  late.close();
});

test("an error tells what is known of the handler, with details and headers", async () => {
  const call = failureOf(echo().fail({}));
  await settled();
  const any = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("type.googleapis.com/corolane.test.EchoReply")
    .tag(2, WireType.LengthDelimited)
    .bytes(reply("why"))
    .finish();
  const details = new BinaryWriter().tag(3, WireType.LengthDelimited).bytes(any).finish();
  const extension = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .bytes(details)
    .tag(2, WireType.LengthDelimited)
    .bytes(header("x-shard", "3"))
    .tag(3, WireType.LengthDelimited)
    .bytes(header("x-raw-bin", new Uint8Array([0, 255, 254])))
    .finish();
  const message = new TextEncoder().encode("no game ♟");
  server.link.send(FrameType.reply, { id: request().id, code: 5, flags: 5, extension, message });
  const error = await call;
  assert.equal(error.code, Code.NotFound);
  assert.equal(error.rawMessage, "no game ♟");
  assert.ok(isFromHandler(error) && mayHaveRun(error));
  assert.equal(error.findDetails(EchoReplySchema)[0]?.text, "why");
  assert.equal(error.metadata.get("x-shard"), "3");
  assert.equal(error.metadata.get("x-raw-bin"), "AP/+");
});

test("headers go both ways, binary ones in base64", async () => {
  let header_ = new Headers();
  let trailer = new Headers();
  const call = echo().echo(
    {},
    {
      headers: { "X-Colour": "blue", "x-raw-bin": "AP/+" },
      onHeader: (headers) => (header_ = headers),
      onTrailer: (trailers) => (trailer = trailers),
    },
  );
  await settled();
  const sent = (fieldsOf(request().extension).get(8) as Uint8Array[]).map((bytes) =>
    [...fieldsOf(bytes).values()].map(([value]) => Buffer.from(value as Uint8Array)),
  );
  assert.deepEqual(sent, [
    [Buffer.from("x-colour"), Buffer.from("blue")],
    [Buffer.from("x-raw-bin"), Buffer.from([0, 255, 254])],
  ]);
  const extension = new BinaryWriter()
    .tag(2, WireType.LengthDelimited)
    .bytes(header("x-a", "1"))
    .tag(3, WireType.LengthDelimited)
    .bytes(header("x-b", "2"))
    .finish();
  server.link.send(FrameType.reply, { id: request().id, extension });
  await call;
  assert.deepEqual([header_.get("x-a"), trailer.get("x-b")], ["1", "2"]);
});

test("a header that the server would refuse is not sent", async () => {
  const error = await failureOf(echo().echo({}, { headers: { "x-name": "Jos\u00e9" } }));
  assert.equal(error.code, Code.InvalidArgument);
  assert.equal(server.link.frames(FrameType.request).length, 0);
});

test("a one-way call is over when it is sent", async () => {
  await echo().note({ text: "noted" });
  assert.equal(request().id, 0);
});

test("what is too large fails its own call alone", async () => {
  server.onHello = (link) => link.begin({ payloadBytesMax: 1_000, session: secret("a") });
  const small = connect({ url: "ws://b", webSocket: server.webSocket });
  await settled();
  const client = createClient(Echo, small);
  const request_ = await failureOf(client.echo({ text: "x".repeat(1_000) }));
  assert.deepEqual([request_.code, mayHaveRun(request_)], [Code.ResourceExhausted, false]);
  const call = failureOf(client.echo({}));
  await settled();
  server.link.send(FrameType.reply, { id: 1, message: new Uint8Array(4 * 1024 * 1024 + 1) });
  assert.equal((await call).code, Code.ResourceExhausted);
  assert.equal(small.state.is, "open");
  small.close();
});

test("a reply that is no message is internal", async () => {
  for (const fields of [{ message: Buffer.from("\xff\xff") }, { extension: Buffer.from([0x0a]) }]) {
    const call = failureOf(echo().echo({}));
    await settled();
    server.link.send(FrameType.reply, { id: request().id, ...fields });
    assert.equal((await call).code, Code.Internal);
  }
});

test("interceptors see each call once", async () => {
  const seen: string[] = [];
  const watched = connect({
    url: "ws://b",
    webSocket: server.webSocket,
    interceptors: [
      (next) => (req) => {
        seen.push(req.url);
        req.header.set("x-seen", "yes");
        return next(req);
      },
    ],
  });
  const call = createClient(Echo, watched).echo({});
  await settled();
  assert.ok(request().extension.length > 0);
  server.link.send(FrameType.reply, { id: request().id });
  await call;
  assert.deepEqual(seen, ["ws://b/corolane.test.Echo/Echo"]);
  watched.close();
});

test("a call of an object names it, and a durable one its request", async () => {
  const game = createClient(Game, connection.object("g1"));
  void game.look({}).catch(() => {});
  await settled();
  assert.deepEqual(objectOf(request()), ["g1", undefined, undefined]);
  const first = game.move({ san: "e4" });
  await settled();
  assert.deepEqual(objectOf(request()), ["g1", "1", 1]);
  void game.move({ san: "e5" }).catch(() => {});
  await settled();
  assert.deepEqual(objectOf(request()), ["g1", "2", 2], "a caller has one call at a time");
  server.link.send(FrameType.reply, { id: server.link.frames(FrameType.request)[1]!.id });
  await first;
  void game.move({ san: "Nf3" }).catch(() => {});
  await settled();
  assert.deepEqual(objectOf(request()), ["g1", "1", 3]);
});

test("a durable call is repeated by its request id when the socket breaks", async () => {
  const move = createClient(Game, connection.object("g1")).move({ san: "e4" });
  await settled();
  const before = objectOf(request());
  for (let i = 0; i < 3; ++i) {
    server.link.drop();
    await pass(200);
    await pass(400);
    assert.equal(server.links.length, i + 2);
    assert.deepEqual(objectOf(request()), before);
  }
  const message = toBinary(MoveReplySchema, create(MoveReplySchema, { ply: 1 }));
  server.link.send(FrameType.reply, { id: request().id, message });
  assert.equal((await move).ply, 1);
  const requesters = server.links.map(
    (link) => fieldsOf(link.received[0]!.message).get(5)?.[0] as Uint8Array,
  );
  for (const requester of requesters) assert.deepEqual(requester, requesters[0]);
});

test("an idempotent call is repeated, another one fails and may have run", async () => {
  const meet = createClient(Lobby, connection.object("")).meet({});
  const call = failureOf(echo().echo({}));
  await settled();
  server.link.drop();
  const error = await call;
  assert.deepEqual([error.code, mayHaveRun(error)], [Code.Unavailable, true]);
  await pass(200);
  await pass(400);
  const requests = server.link.frames(FrameType.request);
  assert.equal(requests.length, 1);
  const message = toBinary(MeetReplySchema, create(MeetReplySchema, { game: "g" }));
  server.link.send(FrameType.reply, { id: requests[0]!.id, message });
  assert.equal((await meet).game, "g");
});

test("a call that has not begun is repeated after the time that the server asks for", async () => {
  const call = echo().echo({});
  await settled();
  server.link.send(FrameType.reply, { id: request().id, code: 8, flags: 2, time: 500 });
  await pass(500);
  assert.equal(server.link.frames(FrameType.request).length, 1);
  await pass(20);
  assert.equal(server.link.frames(FrameType.request).length, 2);
  server.link.send(FrameType.reply, { id: request().id, message: reply("at last") });
  assert.equal((await call).text, "at last");
});

test("other errors are final, even when the handler has not begun", async () => {
  for (const fields of [
    { code: 8, flags: 2 },
    { code: 7, flags: 2 },
    { code: 14, flags: 1 },
  ]) {
    const call = failureOf(echo().echo({}));
    await settled();
    server.link.send(FrameType.reply, { id: request().id, ...fields });
    const error = await call;
    assert.deepEqual([error.code, mayHaveRun(error)], [fields.code, fields.flags === 1]);
  }
});

test("one call in ten is repeated, and no call beyond its deadline", async () => {
  let refusedCount = 0;
  for (let i = 0; i < 30; ++i) {
    const before = server.link.frames(FrameType.request).length;
    const call = echo().echo({}, { timeoutMs: 1_000 });
    const outcome = call.then(
      () => {},
      () => ++refusedCount,
    );
    await settled();
    server.link.send(FrameType.reply, { id: request().id, code: 14, flags: 2 });
    await pass(50);
    if (server.link.frames(FrameType.request).length === before + 2) {
      server.link.send(FrameType.reply, { id: request().id });
    }
    await outcome;
  }
  assert.equal(refusedCount, 30 - 12);
  const late = failureOf(echo().echo({}, { timeoutMs: 1_000 }));
  await settled();
  server.link.send(FrameType.reply, { id: request().id, code: 14, flags: 2, time: 2_000 });
  assert.equal((await late).code, Code.Unavailable);
});
