// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Failure } from "../src/failure.js";
import { encodeFrame, type Frame, FrameReader, FrameType, hashOf } from "../src/frames.js";
import { frame } from "./fake_server.js";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function readAll(pieces: Uint8Array[], payloadBytesMax = 1 << 20): Frame[] {
  const reader = new FrameReader(payloadBytesMax);
  const frames: Frame[] = [];
  for (const piece of pieces) reader.read(piece, (read) => frames.push(read));
  return frames;
}

test("frames are the same however their bytes are cut", () => {
  const whole = Buffer.concat([
    frame(FrameType.reply, { id: 2 ** 40 + 7, message: bytesOf("reply"), flags: 3 }),
    frame(FrameType.ping),
    frame(FrameType.item, { id: 9, extension: bytesOf("ext"), message: bytesOf("x".repeat(100)) }),
  ]);
  const expected = readAll([whole]);
  assert.equal(expected.length, 3);
  assert.equal(expected[0]!.id, 2 ** 40 + 7);
  for (let size = 1; size < whole.length; ++size) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size));
    const told = ({ id, type, flags, extension, message }: Frame) => [
      ...[id, type, flags],
      ...[Buffer.from(extension).toString(), Buffer.from(message).toString()],
    ];
    assert.deepEqual(readAll(pieces).map(told), expected.map(told), `pieces of ${size}`);
  }
});

test("headers that contradict themselves are refused", () => {
  for (const type of [0, 17, 100, 127]) {
    const bytes = encodeFrame(FrameType.ping);
    bytes[4] = type;
    assert.throws(() => readAll([bytes]), (reason: Failure) => /its type is/.test(reason.text));
  }
  const extended = encodeFrame(FrameType.reply, { extension: bytesOf("abc") });
  extended[28] = 4;
  assert.throws(() => readAll([extended]), (reason: Failure) => /extension/.test(reason.text));
  const large = encodeFrame(FrameType.push, { message: new Uint8Array(100) });
  assert.throws(() => readAll([large], 99), (reason: Failure) => /above/.test(reason.text));
});

test("a reply above the limit and a frame to be skipped leave the next one whole", () => {
  const unknown = encodeFrame(FrameType.ping, { message: new Uint8Array(300) });
  unknown[4] = 0x90;
  const whole = Buffer.concat([
    encodeFrame(FrameType.reply, { id: 1, message: new Uint8Array(200) }),
    unknown,
    encodeFrame(FrameType.pong),
  ]);
  for (const size of [1, 40, whole.length]) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size));
    const read = readAll(pieces, 100).map(({ type, id, isTooLarge }) => [type, id, isTooLarge]);
    assert.deepEqual(read, [
      [FrameType.reply, 1, true],
      [FrameType.pong, 0, false],
    ]);
  }
});

test("methods are named by a hash", () => {
  assert.equal(hashOf("corolane.test.Echo/Echo"), 0x7b457903932e81cdn);
  assert.equal(hashOf("corolane.test.EchoRequest"), 0x7340a96ead3d4d74n);
});

interface Step {
  header?: Record<string, number | string | string[]>;
  bytes?: string;
}

// "78*40000" is the byte 78, 40,000 times.
function fromHex(text: string): Uint8Array {
  const parts = text.split(/\s+/).map((part) => {
    const [hex = "", count] = part.split("*");
    return Buffer.from(hex.repeat(Number(count ?? 1)), "hex");
  });
  return Buffer.concat(parts);
}

test("the transcripts of the protocol are read and written byte by byte", (context) => {
  const root = process.env["COROLANE_ROOT"];
  if (root === undefined) return context.skip("COROLANE_ROOT does not say where they are");
  let count = 0;
  for (const name of readdirSync(`${root}/test/data/protocol`)) {
    if (!name.endsWith(".json")) continue;
    const file = JSON.parse(readFileSync(`${root}/test/data/protocol/${name}`, "utf8"));
    for (const { steps } of file.transcripts as { steps: Step[] }[]) {
      for (const { header, bytes } of steps) {
        if (header === undefined || bytes === undefined) continue;
        if (typeof header["type"] === "number") continue; // Unknown on purpose.
        const whole = fromHex(bytes);
        const [read] = readAll([whole]);
        assert.ok(read, `${name}: ${bytes.slice(0, 60)}`);
        assert.equal(read.id, Number(BigInt(String(header["call_id"]))));
        assert.equal(read.time, header["time"]);
        const written = encodeFrame(read.type as FrameType, {
          ...read,
          id: read.type === FrameType.hello ? 0 : read.id,
          method: read.header.getBigUint64(16, true),
        });
        written[6] = read.flags;
        if (read.type === FrameType.hello) written.set(whole.subarray(8, 16), 8);
        assert.deepEqual(Buffer.from(written), Buffer.from(whole), name);
        ++count;
      }
    }
  }
  assert.ok(count > 100, `${count} frames`);
});
