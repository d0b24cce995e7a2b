// SPDX-License-Identifier: MIT
// Frames as bytes: a header of 32 bytes, an extension, a message. rpc/PROTOCOL.md says what they
// mean.
import { Code } from "@connectrpc/connect";
import { failure, type Failure } from "./failure.js";

export const FrameType = {
  hello: 1,
  request: 2,
  reply: 3,
  cancel: 4,
  bye: 5,
  auth: 6,
  item: 7,
  window: 8,
  ping: 9,
  pong: 10,
  goAway: 11,
  end: 12,
  push: 13,
  pushGap: 14,
  pushAck: 15,
  unfollow: 16,
} as const;
export type FrameType = (typeof FrameType)[keyof typeof FrameType];

export const headerSize = 32;
const helloMagic = 0x454e414c4f524f43n;
// How much of a stream its writer may send before the reader grants more room.
export const windowBytes = 65_536;

const mayBeSkippedBit = 0x80;
const twoTo32 = 4_294_967_296;
const nothing = new Uint8Array(0);

export interface Frame {
  type: number;
  code: number;
  flags: number;
  // A call id, or the number of a push. Both count from 1, so they are exact.
  id: number;
  time: number;
  extension: Uint8Array;
  message: Uint8Array;
  // A reply or an item above the limit of the reader: it has neither extension nor message.
  isTooLarge: boolean;
  header: DataView;
}

export interface FrameFields {
  code?: number;
  id?: number;
  method?: bigint;
  time?: number;
  extension?: Uint8Array;
  message?: Uint8Array;
}

export function encodeFrame(type: FrameType, fields: FrameFields = {}): Uint8Array<ArrayBuffer> {
  const { extension = nothing, message = nothing, id = 0 } = fields;
  const bytes = new Uint8Array(headerSize + extension.length + message.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, extension.length + message.length, true);
  view.setUint8(4, type);
  view.setUint8(5, fields.code ?? 0);
  view.setUint32(8, id % twoTo32, true);
  view.setUint32(12, Math.floor(id / twoTo32), true);
  view.setBigUint64(16, fields.method ?? 0n, true);
  view.setUint32(24, fields.time ?? 0, true);
  view.setUint32(28, extension.length, true);
  bytes.set(extension, headerSize);
  bytes.set(message, headerSize + extension.length);
  return bytes;
}

export function helloFrame(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = encodeFrame(FrameType.hello, { method: 1n, message });
  new DataView(bytes.buffer).setBigUint64(8, helloMagic, true);
  return bytes;
}

export function isHello(frame: Frame): boolean {
  return frame.type === FrameType.hello && frame.header.getBigUint64(8, true) === helloMagic;
}

// The version of a hello, the type of a push.
export const methodOf = (frame: Frame): bigint => frame.header.getBigUint64(16, true);

// The number of the group of a push, 0 for a push of the session itself.
export const groupOf = (frame: Frame): number => frame.time;

const hashes = new Map<string, bigint>();

// The 64-bit FNV-1a hash by which methods and pushed messages are named.
export function hashOf(name: string): bigint {
  let hash = hashes.get(name);
  if (hash === undefined) {
    hash = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(name)) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    }
    hashes.set(name, hash);
  }
  return hash;
}

// Cuts frames out of bytes that arrive in pieces of any size. Copies only an unfinished frame.
export class FrameReader {
  // Holds an unfinished frame; it grows as its bytes arrive, not as its header promises.
  #held = nothing;
  #heldSize = 0;
  #skipped = 0;

  // Larger replies and items are passed on without their payload; other larger frames are at fault.
  constructor(public payloadBytesMax: number) {}

  // Calls `take` for each whole frame, which may keep it. Throws a Failure for bytes that make no
  // sense; nothing may be read after that.
  read(bytes: Uint8Array, take: (frame: Frame) => void): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#skipped > 0) {
        const skipped = Math.min(this.#skipped, bytes.length - at);
        this.#skipped -= skipped;
        at += skipped;
      } else if (this.#heldSize > 0 || bytes.length - at < headerSize) {
        at += this.#hold(bytes.subarray(at), take);
      } else {
        at += this.#readWhole(bytes.subarray(at), take);
      }
    }
  }

  // Returns how many bytes it has taken.
  #readWhole(bytes: Uint8Array, take: (frame: Frame) => void): number {
    const header = viewOf(bytes);
    const size = this.#sizeOf(header);
    if (size === undefined) return this.#skip(header, take);
    if (bytes.length < size) return this.#hold(bytes, take);
    take(frameOf(header, bytes.subarray(0, size)));
    return size;
  }

  #hold(bytes: Uint8Array, take: (frame: Frame) => void): number {
    let taken = 0;
    if (this.#heldSize < headerSize) {
      taken = this.#append(bytes, headerSize);
      if (this.#heldSize < headerSize) return taken;
    }
    const header = viewOf(this.#held);
    const size = this.#sizeOf(header);
    if (size === undefined) {
      this.#skip(header, take);
    } else {
      taken += this.#append(bytes.subarray(taken), size);
      if (this.#heldSize < size) return taken;
      take(frameOf(viewOf(this.#held), this.#held.subarray(0, size)));
    }
    this.#held = nothing;
    this.#heldSize = 0;
    return taken;
  }

  #append(bytes: Uint8Array, size: number): number {
    const taken = Math.min(size - this.#heldSize, bytes.length);
    const needed = this.#heldSize + taken;
    if (this.#held.length < needed) {
      const larger = new Uint8Array(Math.max(needed, Math.min(2 * this.#held.length, size)));
      larger.set(this.#held.subarray(0, this.#heldSize));
      this.#held = larger;
    }
    this.#held.set(bytes.subarray(0, taken), this.#heldSize);
    this.#heldSize = needed;
    return taken;
  }

  #skip(header: DataView, take: (frame: Frame) => void): number {
    this.#skipped = header.getUint32(0, true);
    if (header.getUint8(4) < mayBeSkippedBit) take({ ...frameOf(header), isTooLarge: true });
    return headerSize;
  }

  // Returns nothing when the reader skips the frame.
  #sizeOf(header: DataView): number | undefined {
    const type = header.getUint8(4);
    if (type >= mayBeSkippedBit) return undefined;
    const payload = header.getUint32(0, true);
    if (type === 0 || type > FrameType.unfollow) {
      throw malformed(`its type is ${type}`);
    }
    if (header.getUint32(28, true) > payload) throw malformed("its extension is too large");
    if (payload <= this.payloadBytesMax) return headerSize + payload;
    if (type === FrameType.reply || type === FrameType.item) return undefined;
    throw malformed(`${payload} bytes are above the limit of ${this.payloadBytesMax}`);
  }
}

function malformed(why: string): Failure {
  return failure(Code.InvalidArgument, `not a corolane frame: ${why}`);
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, headerSize);

function frameOf(header: DataView, bytes: Uint8Array = nothing): Frame {
  const messageAt = headerSize + header.getUint32(28, true);
  return {
    type: header.getUint8(4),
    code: header.getUint8(5),
    flags: header.getUint8(6),
    id: header.getUint32(8, true) + header.getUint32(12, true) * twoTo32,
    time: header.getUint32(24, true),
    extension: bytes.subarray(headerSize, messageAt),
    message: bytes.subarray(messageAt),
    isTooLarge: false,
    header,
  };
}
