// SPDX-License-Identifier: MIT
// A call on one connection: a unary call, or a stream in either direction or both.
import { Code } from "@connectrpc/connect";
import { type Failure, failure, failureOf, notBegun } from "./failure.js";
import { type Frame, type FrameFields, FrameType, windowBytes } from "./frames.js";
import { type Link, type PendingCall, weightOf } from "./link.js";
import { readReplyExtension } from "./wire.js";

export interface Reply {
  message: Uint8Array;
  header: Headers;
  trailer: Headers;
  // The session of its connection.
  session: number;
}

export const givenUp = failure(Code.Canceled, "the caller has given up");

function replyOf(frame: Frame, { session }: Link): Reply {
  const { headers, trailers } = readReplyExtension(frame.extension);
  return { message: frame.message, header: headers, trailer: trailers, session };
}

// Resolves to the reply; rejects with a Failure. Aborting tells the server.
export function callOnce(link: Link, fields: FrameFields, signal: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(notBegun(givenUp));
    const settle = (then: () => void) => {
      signal.removeEventListener("abort", abort);
      then();
    };
    const call: PendingCall = {
      onReply: (frame) =>
        settle(() => (frame.code === 0 ? resolve(replyOf(frame, link)) : reject(failureOf(frame)))),
      onItem: () => "an item for a call that has one reply",
      onRoom: () => {},
      onFailure: (reason) => settle(() => reject(reason)),
    };
    const id = link.request(call, fields);
    const abort = () => {
      if (typeof id === "number") link.cancel(id);
      reject(givenUp);
    };
    if (typeof id !== "number") reject(notBegun(id));
    else signal.addEventListener("abort", abort, { once: true });
  });
}

// A stream of messages as bytes. One task reads, another one may write.
export class Stream implements PendingCall {
  readonly header = new Headers();
  readonly trailer = new Headers();
  #link: Link;
  #id = 0;
  #items: Uint8Array[] = [];
  #end: { reason?: Failure } | undefined;
  #hasItem = false;
  #isReplyAnItem: boolean;
  // How much the server may still send, and how much of what was read it has not been told.
  #incomingRoom = windowBytes;
  #readBytes = 0;
  #outgoingRoom = windowBytes;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  // Throws a Failure when the request could not be sent. A method that is only called with a stream
  // has its one message in the reply.
  constructor(link: Link, fields: FrameFields, isReplyAnItem: boolean) {
    this.#link = link;
    this.#isReplyAnItem = isReplyAnItem;
    const id = link.request(this, fields);
    if (typeof id !== "number") throw notBegun(id);
    this.#id = id;
  }

  get session(): number {
    return this.#link.session;
  }

  // Waits for the headers, which come with the first item, or with the end.
  async begun(): Promise<void> {
    if (!this.#hasItem && this.#end === undefined) await this.#readable();
    if (!this.#hasItem && this.#end?.reason !== undefined) throw this.#end.reason;
  }

  // The next message, or nothing at the end. Throws a Failure.
  async read(): Promise<Uint8Array | undefined> {
    while (this.#items.length === 0) {
      if (this.#end?.reason !== undefined) throw this.#end.reason;
      if (this.#end !== undefined) return undefined;
      await this.#readable();
    }
    const item = this.#items.shift()!;
    this.#grant(weightOf(item));
    return item;
  }

  // Waits for room. False when nobody wants more items.
  async write(message: Uint8Array): Promise<boolean> {
    while (this.#outgoingRoom <= 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
    }
    if (this.#end !== undefined) return false;
    const tooLarge = this.#link.tooLarge({ message });
    if (tooLarge !== undefined) throw tooLarge;
    this.#outgoingRoom -= weightOf(message);
    this.#link.send(FrameType.item, { id: this.#id, message });
    return true;
  }

  finishWriting(): void {
    if (this.#end === undefined) this.#link.send(FrameType.end, { id: this.#id });
  }

  // Tells the server, if it goes on.
  giveUp(reason: Failure = givenUp): void {
    if (this.#end !== undefined) return;
    this.#link.cancel(this.#id);
    this.onFailure(reason);
  }

  onReply(frame: Frame): void {
    if (frame.code !== 0) return this.onFailure(failureOf(frame));
    const { headers, trailers } = readReplyExtension(frame.extension);
    if (!this.#hasItem) headers.forEach((value, name) => this.header.set(name, value));
    trailers.forEach((value, name) => this.trailer.set(name, value));
    if (this.#isReplyAnItem) {
      this.#hasItem = true;
      this.#items.push(frame.message);
    }
    this.#finish({});
  }

  onItem(frame: Frame): string | undefined {
    if (this.#isReplyAnItem) return "an item for a method that replies once";
    if (this.#incomingRoom <= 0) return "an item in spite of the window";
    this.#incomingRoom -= weightOf(frame.message);
    if (!this.#hasItem) {
      const { headers } = readReplyExtension(frame.extension);
      headers.forEach((value, name) => this.header.set(name, value));
      this.#hasItem = true;
    }
    this.#items.push(frame.message);
    this.#wakeReader?.();
    return undefined;
  }

  onRoom(bytes: number): void {
    this.#outgoingRoom += bytes;
    if (this.#outgoingRoom > 0) this.#wakeWriter?.();
  }

  onFailure(reason: Failure): void {
    this.#finish({ reason });
  }

  #finish(end: { reason?: Failure }): void {
    this.#end ??= end;
    this.#wakeReader?.();
    this.#wakeWriter?.();
  }

  #readable(): Promise<void> {
    return new Promise((resolve) => (this.#wakeReader = resolve));
  }

  #grant(bytes: number): void {
    if (this.#end !== undefined) return;
    this.#readBytes += bytes;
    if (this.#readBytes < windowBytes / 2) return;
    this.#link.send(FrameType.window, { id: this.#id, time: this.#readBytes });
    this.#incomingRoom += this.#readBytes;
    this.#readBytes = 0;
  }
}
