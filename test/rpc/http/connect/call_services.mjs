// SPDX-License-Identifier: MIT
// Calls connect_server with the client of the Connect project, in both codecs. Arguments: the URL
// of the server and a FileDescriptorSet of its protos. Throws at the first broken claim.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { create, createFileRegistry, equals, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

const [baseUrl, descriptors] = process.argv.slice(2);
const registry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)),
);
const everything = registry.getMessage("corolane.test.Everything");

async function errorOf(promise) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof ConnectError, `${error}`);
    return error;
  }
  assert.fail("the call succeeds");
}

const samples = [
  {},
  {
    anInt32: -7,
    anInt64: -9007199254740993n,
    aUint64: 18446744073709551615n,
    aFloat: 1.5,
    aDouble: 0.1,
    aBool: true,
    aString: 'a "quote", ä, €, 𝄞\n',
    someBytes: new Uint8Array([0, 255, 1]),
    colour: 2,
    child: { children: [{ oddName: "odd" }, {}] },
    maybeInt32: 0,
    int64s: [1n, -1n],
    doubles: [Infinity, -Infinity, 1e300],
    byName: { a: 1, "": 2 },
    byNumber: { "-3": "x" },
    tree: { root: { byTruth: { true: 1 } } },
    choice: { case: "chosenText", value: "" },
    timestamp: { seconds: 1700000000n, nanos: 500000000 },
    duration: { seconds: -1n, nanos: -500000000 },
    mask: { paths: ["child.an_int32"] },
    structure: { a: [1, null, { b: "c" }] },
    wrappedInt64: 7n,
    wrappedBool: false,
  },
];

async function callAll(options) {
  const transport = createConnectTransport({ baseUrl, httpVersion: "1.1", ...options });
  const mirror = createClient(registry.getService("corolane.test.Mirror"), transport);
  const echo = createClient(registry.getService("corolane.test.Echo"), transport);

  for (const sample of samples) {
    const message = create(everything, sample);
    const again = await mirror.reflect(message);
    assert.ok(equals(everything, again, message), "the reply equals the request");
  }

  // NaN is not equal to anything, itself included.
  const nan = await mirror.reflect(create(everything, { aDouble: NaN }));
  assert.ok(Number.isNaN(nan.aDouble));

  const failed = await errorOf(echo.fail({ code: 5, text: "no game", retryAfterMs: 1200n }));
  assert.equal(failed.code, Code.NotFound);
  assert.equal(failed.rawMessage, "no game");
  assert.equal(failed.metadata.get("retry-after"), "2");
  for (let code = 1; code <= 16; ++code) {
    assert.equal((await errorOf(echo.fail({ code }))).code, code, "every code has its name");
  }

  const late = await errorOf(echo.sleep({ milliseconds: 20000n }, { timeoutMs: 100 }));
  assert.equal(late.code, Code.DeadlineExceeded);
  const left = await echo.timeLeft({}, { timeoutMs: 5000 });
  assert.ok(left.microseconds > 1000000n && left.microseconds <= 5000000n, "timeouts travel");

  const abort = new AbortController();
  setTimeout(() => abort.abort(), 50);
  const given_up = await errorOf(echo.sleep({ milliseconds: 2000n }, { signal: abort.signal }));
  assert.equal(given_up.code, Code.Canceled);

  const numbers = [];
  for await (const reply of echo.count({ count: 3 })) numbers.push(reply.number);
  assert.deepEqual(numbers, [0, 1, 2]);
  const before_the_end = [];
  const ended = await errorOf(
    (async () => {
      for await (const reply of echo.count({ count: 2, errorCode: 9 })) {
        before_the_end.push(reply.number);
      }
    })(),
  );
  assert.deepEqual(before_the_end, [0, 1]);
  assert.equal(ended.code, Code.FailedPrecondition);

  await echo.note({ text: "kept" });
  assert.equal((await echo.echo({ text: "x".repeat(50000) })).text.length, 50000);
  const many = await Promise.all(
    Array.from({ length: 100 }, (_, i) => echo.echo({ text: `${i}` })),
  );
  assert.deepEqual(many.map((reply) => reply.text), Array.from({ length: 100 }, (_, i) => `${i}`));
}

await callAll({ useBinaryFormat: false });
await callAll({ useBinaryFormat: true });
await callAll({ useBinaryFormat: false, useHttpGet: true });
await callAll({ useBinaryFormat: true, useHttpGet: true });
console.log("all claims hold");
process.exit(0);
