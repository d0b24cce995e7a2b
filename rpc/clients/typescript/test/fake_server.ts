// SPDX-License-Identifier: MIT
// A server inside the test, which speaks the protocol frame by frame, and says what the test wants.
import { mock } from "node:test";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  encodeFrame,
  type Frame,
  type FrameFields,
  FrameReader,
  FrameType,
  helloFrame,
} from "../src/frames.js";
import type { Pushes } from "../src/index.js";
import type { WebSocketClass } from "../src/link.js";

export const secret = (text: string) => new TextEncoder().encode(`${text} 0123456789abcdef`);

export interface HelloFields {
  payloadBytesMax?: number;
  session?: Uint8Array;
  isResumed?: boolean;
}

export function hello(fields: HelloFields): Uint8Array {
  const writer = new BinaryWriter();
  if (fields.payloadBytesMax) writer.tag(7, WireType.Varint).uint32(fields.payloadBytesMax);
  if (fields.session) writer.tag(10, WireType.LengthDelimited).bytes(fields.session);
  if (fields.isResumed) writer.tag(12, WireType.Varint).bool(true);
  return writer.finish();
}

// The hello of a client.
export interface Hello {
  requester: string;
  token: string;
  keepsSession: boolean;
  session: string | undefined;
  receivedPush: number | undefined;
}

export function helloOf(link: FakeLink): Hello {
  const fields = new Map<number, Uint8Array | number>();
  const reader = new BinaryReader(link.received[0]!.message);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const isText = type === WireType.LengthDelimited;
    fields.set(number, isText ? reader.bytes() : Number(reader.uint64()));
  }
  const text = (number: number) => {
    const value = fields.get(number);
    return value === undefined ? undefined : Buffer.from(value as Uint8Array).toString("latin1");
  };
  return {
    requester: text(5) ?? "",
    token: text(8) ?? "",
    keepsSession: fields.get(9) === 1,
    session: text(10),
    receivedPush: fields.get(11) as number | undefined,
  };
}

// The server's end of one connection.
export class FakeLink {
  readonly received: Frame[] = [];
  isClosed = false;
  onRequest: ((request: Frame) => void) | undefined;
  #reader = new FrameReader(1 << 20);

  constructor(
    readonly url: string,
    private readonly socket: FakeSocket,
  ) {}

  take(bytes: Uint8Array): void {
    this.#reader.read(bytes, (frame) => {
      this.received.push(frame);
      if (frame.type === FrameType.request) queueMicrotask(() => this.onRequest?.(frame));
    });
  }

  frames(type: FrameType): Frame[] {
    return this.received.filter((frame) => frame.type === type);
  }

  last(type: FrameType): Frame {
    const frame = this.frames(type).at(-1);
    if (frame === undefined) throw new Error(`no frame of type ${type} has come`);
    return frame;
  }

  send(type: FrameType, fields: FrameFields & { flags?: number } = {}): void {
    this.sendBytes(frame(type, fields));
  }

  // All in one message.
  sendTogether(...frames: Uint8Array[]): void {
    this.sendBytes(Buffer.concat(frames));
  }

  sendBytes(bytes: Uint8Array): void {
    this.sendMessage(new Uint8Array(bytes).buffer);
  }

  sendMessage(data: unknown): void {
    this.socket.onmessage?.({ data });
  }

  begin(fields: HelloFields = { session: secret("a") }): void {
    this.sendBytes(helloFrame(hello(fields)));
  }

  push(number: number, type: bigint, message: Uint8Array, group = 0): void {
    this.send(FrameType.push, { id: number, method: type, message, time: group });
  }

  bye(code: number, text = ""): void {
    this.send(FrameType.bye, { code, message: new TextEncoder().encode(text) });
    this.drop();
  }

  drop(): void {
    this.socket.onclose?.({});
  }
}

export function frame(type: FrameType, fields: FrameFields & { flags?: number } = {}): Uint8Array {
  const bytes = encodeFrame(type, fields);
  bytes[6] = fields.flags ?? 0;
  return bytes;
}

class FakeSocket {
  binaryType = "";
  bufferedAmount = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: unknown) => void) | null = null;
  onclose: ((event: unknown) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  readonly link: FakeLink;

  constructor(url: string) {
    this.link = new FakeLink(url, this);
  }

  send(bytes: Uint8Array): void {
    if (!this.link.isClosed) this.link.take(bytes);
  }

  close(): void {
    this.link.isClosed = true;
  }
}

export class FakeServer {
  readonly links: FakeLink[] = [];
  readonly webSocket: WebSocketClass;
  // Called for each connection, after its hello has come. By default it answers.
  onHello: (link: FakeLink, count: number) => void = (link) => link.begin();
  // Called for each request that comes, soon.
  onRequest: ((link: FakeLink, request: Frame) => void) | undefined;
  isReachable = true;

  constructor() {
    const server = this;
    this.webSocket = class extends FakeSocket {
      constructor(url: string) {
        super(url);
        queueMicrotask(() => {
          if (!server.isReachable) return this.onclose?.({});
          server.links.push(this.link);
          this.link.onRequest = (request) => server.onRequest?.(this.link, request);
          this.onopen?.();
          if (this.link.received.length > 0) server.onHello(this.link, server.links.length);
        });
      }
    } as unknown as WebSocketClass;
  }

  get link(): FakeLink {
    return this.links.at(-1)!;
  }
}

// Collects what a reader gets: texts, "gap", and how it ended.
export function collect(pushes: Pushes<{ text: string }>): string[] {
  const seen: string[] = [];
  void (async () => {
    try {
      for await (const item of pushes) seen.push(item.isGap ? "gap" : item.message.text);
      seen.push("end");
    } catch (error) {
      seen.push(Code[ConnectError.from(error).code]!);
    }
  })();
  return seen;
}

// Lets everything happen that needs no time.
export async function settled(): Promise<void> {
  for (let i = 0; i < 4; ++i) await new Promise((resolve) => setImmediate(resolve));
}

export function useVirtualTime(): void {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  mock.method(performance, "now", () => new Date().getTime());
}

export function useRealTime(): void {
  mock.timers.reset();
  mock.restoreAll();
}

export async function pass(ms: number): Promise<void> {
  await settled();
  mock.timers.tick(ms);
  await settled();
}
