// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { type State } from "../src/index.js";
import { helloOf, pass } from "./fake_server.js";
import { connection, open, reason, server, useServerWithDelays } from "./fixture.js";

useServerWithDelays();

// The state, as it is by now.
const state = (): State => connection.state;

test("a login that is refused is the end", async () => {
  server.onHello = (link) => link.bye(Code.Unauthenticated, "no");
  await open({ token: "wrong" });
  assert.deepEqual([helloOf(server.link).token, reason()?.code], ["wrong", Code.Unauthenticated]);
});

test("a function is asked for a fresh token for each connection", async () => {
  let count = 0;
  await open({ token: async () => `token ${++count}` });
  server.onHello = (link) => (count === 2 ? link.bye(Code.Unauthenticated) : link.begin());
  server.link.drop();
  await pass(50);
  assert.equal(helloOf(server.link).token, "token 2");
  assert.equal(state().is, "waiting", "it may have expired on its way");
  await pass(100);
  assert.equal(helloOf(server.link).token, "token 3");
  assert.equal(state().is, "open");
  server.onHello = (link) => link.bye(Code.Unauthenticated);
  await pass(2_000);
  server.link.drop();
  await pass(50);
  await pass(100);
  assert.equal(state().is, "ended", "two fresh ones in a row are refused");
});

test("a login service that cannot be reached is asked again", async () => {
  let isDown = true;
  await open({
    token: () => {
      if (isDown) throw new TypeError("fetch failed");
      return "token";
    },
  });
  assert.equal(state().is, "waiting");
  isDown = false;
  await pass(50);
  assert.equal(state().is, "open");
});

test("an error of the token function that is none of its server does not end it", async () => {
  for (const name of ["SyntaxError", "TimeoutError", "AbortError", "SecurityError"]) {
    let isDown = true;
    const token = async () => {
      if (isDown) throw new DOMException("no token", name);
      return "token";
    };
    await open({ token });
    assert.equal(state().is, "waiting", name);
    assert.equal(reason()?.code, Code.Unavailable, name);
    isDown = false;
    await pass(50);
    assert.equal(state().is, "open", name);
    connection.close();
  }
  await open({ token: () => Promise.reject(new ConnectError("banned", Code.PermissionDenied)) });
  assert.equal(reason()?.code, Code.PermissionDenied);
});

test("a token function that never answers is asked again", async () => {
  let count = 0;
  await open({ token: () => (++count === 1 ? new Promise(() => {}) : "token") });
  await pass(9_999);
  assert.equal(state().is, "connecting");
  await pass(1);
  assert.deepEqual([state().is, reason()?.code], ["waiting", Code.Unavailable]);
  await pass(50);
  assert.deepEqual([state().is, count], ["open", 2]);
});
