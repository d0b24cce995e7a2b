// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { connect, type ConnectOptions, mayHaveRun, type State } from "../src/index.js";
import { FrameType, hashOf } from "../src/frames.js";
import { type FakeLink, helloOf, pass, secret, settled } from "./fake_server.js";
import { connection, open as openQuietly, reason, server, useServerWithDelays } from "./fixture.js";
import { Echo, EchoReplySchema } from "./gen/test/rpc/echo_pb.js";

let states: string[];

useServerWithDelays();

function open(options: Partial<ConnectOptions> = {}): Promise<FakeLink> {
  states = [];
  return openQuietly(options, () => connection.onState((state) => states.push(state.is)));
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const echo = () => createClient(Echo, connection);

// The state, as it is by now.
const state = (): State => connection.state;

test("each connection resumes the session with the latest secret and the last push", async () => {
  const first = await open();
  const begun = helloOf(first);
  assert.deepEqual(
    [begun.keepsSession, begun.session, begun.receivedPush, begun.requester.length],
    [true, undefined, undefined, 16],
  );
  first.push(1, hashOf("x"), new Uint8Array());
  first.push(2, hashOf("x"), new Uint8Array());
  server.onHello = (link) => link.begin({ session: secret("b"), isResumed: true });
  first.drop();
  await pass(50);
  const resumed = helloOf(server.link);
  assert.deepEqual([resumed.session, resumed.receivedPush], [textOf(secret("a")), 2]);
  assert.equal(resumed.requester, begun.requester);
  assert.deepEqual(state(), { is: "open", url: "ws://a", isResumed: true });
  await pass(2_000);
  server.link.drop();
  await pass(50);
  assert.equal(helloOf(server.link).session, textOf(secret("b")));
  assert.deepEqual(states.slice(0, 4), ["open", "waiting", "connecting", "open"]);
});

test("delays are drawn from a range that doubles up to five seconds", async () => {
  const link = await open();
  server.isReachable = false;
  link.drop();
  const delays: number[] = [];
  for (let i = 0; i < 9; ++i) {
    const now = state();
    assert.ok(now.is === "waiting", now.is);
    delays.push(now.until.getTime() - Date.now());
    await pass(delays.at(-1)!);
  }
  assert.deepEqual(delays, [50, 100, 200, 400, 800, 1_600, 2_500, 2_500, 2_500]);
  server.isReachable = true;
  await pass(2_500);
  assert.equal(state().is, "open");
});

test("several servers are tried in turn before it waits", async () => {
  const urls: string[] = [];
  server.onHello = (link, count) => {
    urls.push(link.url);
    if (count < 6) link.bye(Code.Unavailable, "full");
    else link.begin();
  };
  await open({ url: ["ws://a", "ws://b", "ws://c"] });
  assert.deepEqual(urls, ["ws://b", "ws://c", "ws://a"]);
  assert.equal(state().is, "waiting");
  await pass(50);
  assert.deepEqual(urls.slice(3), ["ws://b", "ws://c", "ws://a"]);
  assert.equal(state().is, "open");
});

test("a mere break keeps to its server, and is followed by a short delay", async () => {
  const first = await open({ url: ["ws://a", "ws://b"] });
  for (let i = 0; i < 4; ++i) {
    await pass(2_000);
    server.link.drop();
    await settled();
    assert.equal(state().is, "waiting");
    await pass(50);
    assert.deepEqual([server.links.length, server.link.url], [i + 2, first.url]);
  }
});

test("after a break the other servers are tried at once when its own does not answer", async () => {
  await open({ url: ["ws://a", "ws://b"] });
  server.onHello = (link) => (link.url === "ws://b" ? link.bye(Code.Unavailable) : link.begin());
  server.link.drop();
  await pass(50);
  assert.deepEqual(
    server.links.map(({ url }) => url),
    ["ws://b", "ws://b", "ws://a"],
  );
  assert.equal(state().is, "open");
});

test("a server that refuses for good does not keep a client from the others", async () => {
  for (const order of [0, 0.5]) {
    mock.method(Math, "random", () => order);
    server.onHello = (link) =>
      link.url === "ws://b" ? link.bye(Code.PermissionDenied, "no") : link.begin();
    await open({ url: ["ws://a", "ws://b"] });
    assert.deepEqual(state(), { is: "open", url: "ws://a", isResumed: false });
    connection.close();
  }
});

test("it ends when all servers of one round refuse it, and not before", async () => {
  let isFull = true;
  server.onHello = (link) =>
    link.bye(link.url === "ws://a" && isFull ? Code.Unavailable : Code.PermissionDenied);
  await open({ url: ["ws://a", "ws://b"] });
  assert.equal(state().is, "waiting");
  isFull = false;
  await pass(50);
  assert.equal(reason()?.code, Code.PermissionDenied);
});

// Connects until that much time has passed, and returns how often.
async function connectionCount(ms: number): Promise<number> {
  for (let passed = 0; passed < ms; passed += 50) await pass(50);
  return server.links.length;
}

test("a server that says go_away at once is not asked again and again", async () => {
  for (const url of ["ws://a", ["ws://a", "ws://b"]]) {
    server.links.length = 0;
    server.onHello = (link, count) => {
      if (count > 100) return;
      link.begin();
      link.send(FrameType.goAway);
    };
    await open({ url });
    const count = await connectionCount(10_000);
    assert.ok(count >= 5 && count <= 20, `${count} connections to ${url}`);
    connection.close();
  }
});

test("a server that says bye after its hello is asked after longer and longer delays", async () => {
  server.onHello = (link) => {
    link.begin();
    link.bye(Code.Unavailable, "full");
  };
  await open();
  const count = await connectionCount(10_000);
  assert.ok(count >= 5 && count <= 10, `${count} connections`);
  server.onHello = (link) => link.begin();
  await pass(2_500);
  assert.equal(state().is, "open");
  await pass(2_000);
  server.link.drop();
  await pass(50);
  assert.equal(state().is, "open", "a connection that has lasted begins with the first delay");
});

test("a page that is online again tries at once", async () => {
  const target = new EventTarget();
  const page = globalThis as { addEventListener?: unknown; removeEventListener?: unknown };
  const before = [page.addEventListener, page.removeEventListener];
  page.addEventListener = target.addEventListener.bind(target);
  page.removeEventListener = target.removeEventListener.bind(target);
  try {
    server.isReachable = false;
    await open();
    for (let i = 0; i < 10; ++i) await pass(2_500);
    assert.equal(state().is, "waiting");
    server.isReachable = true;
    target.dispatchEvent(new Event("online"));
    await settled();
    assert.equal(state().is, "open");
  } finally {
    connection.close();
    [page.addEventListener, page.removeEventListener] = before;
  }
});

test("a bye says whether a new session may begin", async () => {
  for (const code of [4, 5, 8, 14]) {
    (await open()).bye(code, "go");
    assert.equal(state().is, "waiting", `${code}`);
    connection.close();
  }
  for (const code of [1, 3, 7, 9, 10, 12, 13, 16]) {
    (await open()).bye(code, "go");
    assert.equal(state().is, "ended", `${code}`);
    assert.equal(reason()?.code, code);
    await assert.rejects(echo().echo({}), (error: ConnectError) => error.code === code);
    await pass(60_000);
  }
});

test("a server that drains keeps its calls, and the next one gets the new ones", async () => {
  const first = await open({ url: ["ws://a", "ws://b"] });
  assert.equal(first.url, "ws://b");
  const old = echo().echo({ text: "old" });
  await settled();
  server.onHello = (link) => link.begin({ session: secret("a"), isResumed: true });
  first.send(FrameType.goAway);
  assert.equal(first.frames(FrameType.goAway).length, 1, "no more requests come");
  first.push(1, 1n, new Uint8Array());
  await settled();
  const second = server.link;
  assert.deepEqual([second.url, helloOf(second).session], ["ws://a", textOf(secret("a"))]);
  const next = echo().echo({ text: "new" });
  await settled();
  assert.equal(first.frames(FrameType.request).length, 1);
  const message = toBinary(EchoReplySchema, create(EchoReplySchema, { text: "done" }));
  assert.ok(!first.isClosed);
  first.send(FrameType.reply, { id: first.last(FrameType.request).id, message });
  second.send(FrameType.reply, { id: second.last(FrameType.request).id, message });
  assert.deepEqual([(await old).text, (await next).text], ["done", "done"]);
  assert.ok(first.isClosed, "after its last reply");
  assert.equal(state().is, "open");
});

test("calls wait three seconds for a lost connection, and then fail at once", async () => {
  const link = await open();
  server.isReachable = false;
  link.drop();
  const waits = echo().echo({});
  const outcome = assert.rejects(waits, (error) => !mayHaveRun(error));
  await pass(2_999);
  await pass(1);
  await outcome;
  await assert.rejects(echo().echo({}), (error: ConnectError) => error.code === Code.Unavailable);
  server.isReachable = true;
  for (let i = 0; i < 4; ++i) await pass(2_500);
  assert.equal(state().is, "open");
  const call = echo().echo({});
  await settled();
  server.link.send(FrameType.reply, { id: 1 });
  await call;
});

test("a page that closes ends everything", async () => {
  const link = await open();
  const call = echo().echo({});
  const outcome = assert.rejects(call, (error: ConnectError) => error.code === Code.Unavailable);
  await settled();
  connection.close();
  await outcome;
  assert.deepEqual(state(), { is: "ended", reason: undefined });
  assert.ok(link.isClosed);
  await pass(60_000);
  assert.equal(server.links.length, 1);
});

test("a url that is none ends it at once", async () => {
  const broken = class {
    constructor() {
      throw new SyntaxError("not a url");
    }
  };
  await open({ webSocket: broken as never });
  assert.equal(reason()?.code, Code.InvalidArgument);
});

test("an address that the page may not use ends it at once", async () => {
  const forbidden = class {
    constructor() {
      throw new DOMException("not from https", "SecurityError");
    }
  };
  await open({ webSocket: forbidden as never });
  assert.equal(reason()?.code, Code.InvalidArgument);
});

test("without a WebSocket there is no connection, and the option is named", () => {
  const page = globalThis as { WebSocket?: unknown };
  const before = page.WebSocket;
  delete page.WebSocket;
  try {
    assert.throws(
      () => connect({ url: "ws://a" }),
      (error: ConnectError) =>
        error.code === Code.FailedPrecondition && /webSocket/.test(error.message),
    );
  } finally {
    if (before !== undefined) page.WebSocket = before;
  }
});

test("each listener hears each state in order, even when one closes meanwhile", async () => {
  const seen: string[] = [];
  await openQuietly({}, () => {
    connection.onState((now) => now.is === "open" && connection.close());
    connection.onState((now) => seen.push(now.is));
  });
  assert.deepEqual(seen, ["open", "ended"]);
});
