// SPDX-License-Identifier: MIT
// One connection: its beginning, its signs of life, the calls that wait for an answer on it, its
// end. session.ts makes one after the other.
import { Code } from "@connectrpc/connect";
import { codeOf, type Failure, failure, textOf } from "./failure.js";
import {
  encodeFrame,
  type Frame,
  type FrameFields,
  FrameReader,
  FrameType,
  headerSize,
  helloFrame,
  isHello,
  methodOf,
} from "./frames.js";
import { readHello, type ServerHello } from "./wire.js";

const beginningTimeMaxMs = 5_000;
const silenceMs = 10_000;
const pongTimeMaxMs = 5_000;
const pendingCountMax = 4_096;
const helloBytesMax = 5 * 1024;
export const replyBytesMax = 4 * 1024 * 1024;

/** What a WebSocket of a browser, of Node and of the package ws have in common. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
  onopen: unknown;
  onmessage: unknown;
  onclose: unknown;
  onerror: unknown;
}

export type WebSocketClass = new (url: string) => WebSocketLike;

// A call that waits for an answer. Exactly one of onReply and onFailure is called, once, unless the
// call is taken back.
export interface PendingCall {
  onReply(frame: Frame): void;
  // Returns what is wrong with the item: then the connection ends.
  onItem(frame: Frame): string | undefined;
  onRoom(bytes: number): void;
  onFailure(reason: Failure): void;
}

export interface LinkHost {
  onOpen(link: Link, hello: ServerHello): void;
  onPush(link: Link, frame: Frame): void;
  // The server drains: no new calls here.
  onLeaving(link: Link): void;
  onLost(link: Link, reason: Failure): void;
}

export class Link {
  requestBytesMax = Infinity;
  // Which of the sessions that servers have begun it has carried.
  session = 0;
  #socket: WebSocketLike;
  #reader = new FrameReader(helloBytesMax);
  #calls = new Map<number, PendingCall>();
  #lastCall = 0;
  #isOpen = false;
  #isLeaving = false;
  #isOver = false;
  #hasSession = false;
  #receivedPush = 0;
  #owesAck = false;
  #heardAt = performance.now();
  // Nothing has been heard since.
  #hasPinged = false;
  #unsentBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    webSocket: WebSocketClass,
    private readonly url: string,
    private readonly hello: Uint8Array,
    private readonly host: LinkHost,
  ) {
    this.#socket = new webSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#write(helloFrame(this.hello));
    this.#socket.onmessage = (event: { data: unknown }) => this.#receive(event.data);
    const onEnd = () => this.lose(failure(Code.Unavailable, `lost the connection to ${url}`));
    this.#socket.onclose = onEnd;
    this.#socket.onerror = onEnd;
    this.#timer = setTimeout(
      () => this.lose(failure(Code.Unavailable, `${url} sent no hello in time`)),
      beginningTimeMaxMs,
    );
  }

  get takesCalls(): boolean {
    return this.#isOpen && !this.#isLeaving && !this.#isOver;
  }

  // Returns the id of the call, or why the request was not sent.
  request(call: PendingCall, fields: FrameFields): number | Failure {
    const refused = this.#refusal(fields);
    if (refused !== undefined) return refused;
    const id = ++this.#lastCall;
    this.#calls.set(id, call);
    this.send(FrameType.request, { ...fields, id });
    return id;
  }

  // The same for a call without a reply.
  notify(fields: FrameFields): Failure | undefined {
    const refused = this.#refusal(fields);
    if (refused === undefined) this.send(FrameType.request, fields);
    return refused;
  }

  #refusal(fields: FrameFields): Failure | undefined {
    if (!this.takesCalls) return failure(Code.Unavailable, `no connection to ${this.url}`);
    if (this.#calls.size >= pendingCountMax) {
      return failure(Code.ResourceExhausted, `${pendingCountMax} calls are pending already`);
    }
    return this.tooLarge(fields);
  }

  // Fails for a request that the server would refuse for its size, which is not sent.
  tooLarge({ extension, message }: FrameFields): Failure | undefined {
    const size = (extension?.length ?? 0) + (message?.length ?? 0);
    if (size <= this.requestBytesMax) return undefined;
    const text = `${size} bytes are above the server's limit of ${this.requestBytesMax}`;
    return failure(Code.ResourceExhausted, text);
  }

  send(type: FrameType, fields?: FrameFields): void {
    if (!this.#isOver) this.#write(encodeFrame(type, fields));
  }

  // The caller has given up.
  cancel(id: number): void {
    if (!this.#calls.delete(id)) return;
    this.send(FrameType.cancel, { id });
    this.#closeWhenIdle();
  }

  // Ends all calls that wait here, and the connection.
  lose(reason: Failure): void {
    if (this.#isOver) return;
    this.#end();
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.onFailure(reason);
    this.host.onLost(this, reason);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    // An error after that would be thrown by some implementations if nobody listened.
    const socket = this.#socket;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.onerror = () => {};
    socket.close();
  }

  #blame(text: string): void {
    const message = new TextEncoder().encode(text);
    if (this.#isOpen) this.send(FrameType.bye, { code: Code.InvalidArgument, message });
    this.lose(failure(Code.InvalidArgument, `${this.url}: ${text}`));
  }

  #write(bytes: Uint8Array<ArrayBuffer>): void {
    this.#socket.send(bytes);
  }

  #receive(data: unknown): void {
    this.#heard();
    if (typeof data === "string") return this.#blame("a message is text");
    try {
      this.#reader.read(new Uint8Array(data as ArrayBuffer), (frame) => {
        if (!this.#isOver) this.#take(frame);
      });
    } catch (reason) {
      this.#blame((reason as Failure).text ?? String(reason));
    }
    // One for all pushes that have arrived at once.
    if (this.#owesAck) {
      this.#owesAck = false;
      this.send(FrameType.pushAck, { id: this.#receivedPush });
    }
  }

  #take(frame: Frame): void {
    if (frame.type === FrameType.bye) {
      return this.lose(failure(codeOf(frame.code), `${this.url}: ${textOf(frame)}`));
    }
    if (!this.#isOpen) return this.#begin(frame);
    switch (frame.type) {
      case FrameType.reply:
        return this.#takeReply(frame);
      case FrameType.item:
        return this.#takeItem(frame);
      case FrameType.window:
        return this.#calls.get(frame.id)?.onRoom(frame.time);
      case FrameType.push:
      case FrameType.pushGap:
        return this.#takePush(frame);
      case FrameType.ping:
        return this.send(FrameType.pong);
      case FrameType.pong:
        return;
      case FrameType.goAway:
        return this.#leave();
      default:
        return this.#blame(`a server does not send frames of type ${frame.type}`);
    }
  }

  #begin(frame: Frame): void {
    if (!isHello(frame)) return this.#blame("not a corolane server");
    if (methodOf(frame) !== 1n) {
      return this.lose(failure(Code.Unimplemented, `${this.url} speaks another version`));
    }
    const hello = readHello(frame.message);
    if (hello.payloadBytesMax > 0) this.requestBytesMax = hello.payloadBytesMax;
    this.#hasSession = hello.session !== undefined;
    this.#reader.payloadBytesMax = replyBytesMax;
    this.#isOpen = true;
    clearTimeout(this.#timer);
    this.#watch(silenceMs);
    this.host.onOpen(this, hello);
  }

  #takePush(frame: Frame): void {
    if (!this.#hasSession) return this.#blame("a push without a session");
    if (!Number.isSafeInteger(frame.id)) return this.#blame(`a push has the number ${frame.id}`);
    this.#owesAck = true;
    this.#receivedPush = Math.max(this.#receivedPush, frame.id);
    this.host.onPush(this, frame);
  }

  #takeReply(frame: Frame): void {
    const call = this.#calls.get(frame.id);
    if (call === undefined) return; // The caller has given up.
    this.#calls.delete(frame.id);
    try {
      if (frame.isTooLarge) throw aboveLimit(frame);
      call.onReply(frame);
    } catch (reason) {
      call.onFailure(unreadable(reason));
    }
    this.#closeWhenIdle();
  }

  #takeItem(frame: Frame): void {
    const call = this.#calls.get(frame.id);
    if (call === undefined) return;
    try {
      if (frame.isTooLarge) throw aboveLimit(frame);
      const fault = call.onItem(frame);
      if (fault !== undefined) this.#blame(fault);
    } catch (reason) {
      this.cancel(frame.id);
      call.onFailure(unreadable(reason));
    }
  }

  #leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.send(FrameType.goAway);
    this.host.onLeaving(this);
    this.#closeWhenIdle();
  }

  // After the last reply, when the server drains; a session's next connection may not be there yet.
  #closeWhenIdle(): void {
    if (!this.#isLeaving || this.#isOver || this.#calls.size > 0) return;
    this.#end();
    this.host.onLost(this, failure(Code.Unavailable, `${this.url} drains`));
  }

  #heard(): void {
    this.#heardAt = performance.now();
    this.#hasPinged = false;
  }

  // A page cannot see what the peer acknowledges, but what leaves its own buffer. A hidden page's
  // timers are late.
  #watch(afterMs: number): void {
    this.#timer = setTimeout(() => {
      const unsent = this.#socket.bufferedAmount;
      if (unsent < this.#unsentBytes) this.#heard();
      this.#unsentBytes = unsent;
      const left = this.#heardAt + silenceMs - performance.now();
      if (left > 0) return this.#watch(left);
      if (this.#hasPinged) return this.lose(failure(Code.Unavailable, `${this.url} is silent`));
      this.#hasPinged = true;
      this.send(FrameType.ping);
      this.#watch(pongTimeMaxMs);
    }, afterMs);
  }
}

function aboveLimit(frame: Frame): Failure {
  const size = frame.header.getUint32(0, true);
  const text = `an answer of ${size} bytes is above the limit of ${replyBytesMax}`;
  return failure(frame.code === 0 ? Code.ResourceExhausted : codeOf(frame.code), text);
}

function unreadable(reason: unknown): Failure {
  if (!(reason instanceof Error)) return reason as Failure;
  return failure(Code.Internal, `the reply cannot be read: ${reason}`);
}

// The number of bytes that an item takes of its stream's window.
export const weightOf = (message: Uint8Array): number => headerSize + message.length;
