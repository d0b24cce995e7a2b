// SPDX-License-Identifier: MIT
// What a session is pushed, as async iterators: messages of the session itself, and of the groups
// that it follows.
import { type DescMessage, fromBinary, type Message, type MessageShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { codeOf, errorOf, type Failure, failure } from "./failure.js";
import { hashOf } from "./frames.js";
import { readGroupEnd } from "./wire.js";

/**
 * A pushed message; or a gap: messages were lost before the next one, so what a page has built from
 * them needs a fresh look. A gap has no message, so the compiler reminds of it.
 */
export type Pushed<T> =
  | { readonly isGap: false; readonly message: T }
  | { readonly isGap: true; readonly message?: undefined };

/** Ends with `break`, or by the signal of its options. */
export type Pushes<T> = AsyncIterableIterator<Pushed<T>>;

export interface PushOptions {
  /** Ends the iterator. */
  signal?: AbortSignal | undefined;
}

// Kept for a reader that is slow, and for groups that nobody has claimed yet.
const queuedCountMax = 256;
const queuedBytesMax = 1024 * 1024;
const pastCountMax = 4_096;
const groupGap = hashOf("corolane.rpc.GroupGap");
const groupEnd = hashOf("corolane.rpc.GroupEnd");
const formerSession = failure(Code.Aborted, "the session is a new one: follow again");
const forgotten = failure(Code.Aborted, "nobody has followed the group in time: follow again");
const followedAlready = failure(Code.FailedPrecondition, "the group was followed already");
const noGroup = failure(Code.InvalidArgument, "that is not the number of a group");

interface Item {
  type: bigint;
  // Nothing: a gap.
  bytes?: Uint8Array;
}

// The messages that wait for one reader. When the queue is full the oldest message makes room, and
// a gap takes its place.
class Queue {
  bytes = 0;
  #items: Item[] = [];
  #end: { reason: Failure | undefined } | undefined;
  #wakes: (() => void)[] = [];

  get size(): number {
    return this.#items.length;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  // Keeps a copy: the bytes may be a small part of what has arrived at once.
  add(type: bigint, bytes?: Uint8Array): void {
    if (this.#end !== undefined) return;
    if (bytes === undefined && this.size > 0 && this.#items.at(-1)?.bytes === undefined) return;
    this.#items.push(bytes === undefined ? { type } : { type, bytes: bytes.slice() });
    this.bytes += bytes?.length ?? 0;
    while (this.size > queuedCountMax || this.bytes > queuedBytesMax) {
      for (const item of this.#items.splice(0, 2, { type })) this.bytes -= item.bytes?.length ?? 0;
    }
    this.#wake();
  }

  // Messages of other types are not for the reader.
  keepOnly(types: Schemas): void {
    this.#items = this.#items.filter(({ type, bytes }) => bytes === undefined || types.has(type));
    this.bytes = this.#items.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  }

  // The reader still gets the queued messages, unless it has gone itself.
  end(reason: Failure | undefined, forgets = false): void {
    this.#end ??= { reason };
    if (forgets) this.#items = [];
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  async take(): Promise<Item | undefined> {
    while (this.size === 0) {
      if (this.#end !== undefined) {
        const { reason } = this.#end;
        this.#end = { reason: undefined };
        if (reason !== undefined) throw errorOf(reason);
        return undefined;
      }
      await new Promise<void>((resolve) => this.#wakes.push(resolve));
    }
    const item = this.#items.shift();
    this.bytes -= item?.bytes?.length ?? 0;
    return item;
  }
}

// The messages that a reader wants, by the hashes of their names.
type Schemas = Map<bigint, DescMessage>;

interface Reader {
  queue: Queue;
  schemas: Schemas;
}

export class Inbox {
  // Counts the sessions that servers have begun.
  session = 0;
  // That of each reply, since a group's number is valid in its session only.
  #sessionOf = new WeakMap<object, number>();
  #readers = new Set<Reader>();
  #groups = new Map<number, Reader>();
  // Groups whose pushes have come before anyone follows them, the oldest first.
  #unclaimed = new Map<number, Queue>();
  // Groups that were left or have ended, and what is said of them. Since no number is used twice,
  // what still comes of them is ignored.
  #past = new Map<number, Failure>();
  // Those of them that the server has not ended yet.
  #unfollowed = new Set<number>();
  #end: { reason: Failure | undefined } | undefined;

  // `unfollow` tells the server, if there is a connection.
  constructor(private readonly unfollow: (group: number) => void) {}

  // A reply that came over a connection of that session.
  onReply(reply: object, session: number): void {
    this.#sessionOf.set(reply, session);
  }

  pushes<Desc extends DescMessage>(schema: Desc, options: PushOptions) {
    const reader = { queue: new Queue(), schemas: schemasOf(schema) };
    if (this.#end !== undefined) reader.queue.end(this.#end.reason);
    else this.#readers.add(reader);
    return iterate<Desc>(reader, options, () => this.#readers.delete(reader));
  }

  follow<Desc extends DescMessage>(
    schema: Desc | readonly Desc[],
    reply: { readonly group: number },
    options: PushOptions,
  ) {
    const number = reply.group;
    const reader = { queue: new Queue(), schemas: schemasOf(schema) };
    const refused = this.#refusal(reply);
    if (this.#end !== undefined) reader.queue.end(this.#end.reason);
    else if (refused !== undefined) reader.queue.end(refused);
    else this.#claim(number, reader);
    return iterate<Desc>(reader, options, () => this.#leave(number, reader));
  }

  // Throws for what is the page's own mistake.
  #refusal(reply: { readonly group: number }): Failure | undefined {
    const { group } = reply;
    if (group !== group >>> 0 || group === 0) throw errorOf(noGroup);
    if ((this.#sessionOf.get(reply) ?? this.session) !== this.session) return formerSession;
    const past = this.#groups.has(group) ? followedAlready : this.#past.get(group);
    if (past === followedAlready) throw errorOf(followedAlready);
    return past;
  }

  #claim(number: number, reader: Reader): void {
    reader.queue = this.#unclaimed.get(number) ?? reader.queue;
    reader.queue.keepOnly(reader.schemas);
    this.#unclaimed.delete(number);
    if (reader.queue.hasEnded) this.#remember(number, followedAlready);
    else this.#groups.set(number, reader);
  }

  onPush(type: bigint, number: number, bytes: Uint8Array): void {
    if (number !== 0) return this.#onGroupPush(number, type, bytes);
    for (const { queue, schemas } of this.#readers) if (schemas.has(type)) queue.add(type, bytes);
  }

  #onGroupPush(number: number, type: bigint, bytes: Uint8Array): void {
    if (type === groupEnd) this.#unfollowed.delete(number);
    if (this.#past.has(number)) return;
    const reader = this.#groups.get(number);
    const queue = reader?.queue ?? this.#unclaimed.get(number) ?? new Queue();
    if (reader === undefined) this.#unclaimed.set(number, queue);
    if (type === groupEnd) {
      const { code, reason } = readGroupEnd(bytes);
      queue.end(code === 0 ? undefined : failure(codeOf(code), reason));
      if (this.#groups.delete(number)) this.#remember(number, followedAlready);
    } else if (type === groupGap) {
      queue.add(type);
    } else if (reader === undefined || reader.schemas.has(type)) {
      queue.add(type, bytes);
    }
    if (reader === undefined) this.#limitUnclaimed();
  }

  // They share the bounds of one queue. Beyond it the oldest are given up: their calls were, too,
  // or have lost their replies.
  #limitUnclaimed(): void {
    let count = 0;
    let bytes = 0;
    for (const queue of this.#unclaimed.values()) {
      count += Math.max(queue.size, 1);
      bytes += queue.bytes;
    }
    for (const [number, queue] of this.#unclaimed) {
      const isFull = count > queuedCountMax || bytes > queuedBytesMax;
      if (!isFull || this.#unclaimed.size === 1) return;
      count -= Math.max(queue.size, 1);
      bytes -= queue.bytes;
      this.#unclaimed.delete(number);
      this.#giveUp(number, forgotten, queue);
    }
  }

  // Pushes of the session were lost, of any type or group.
  onGap(): void {
    for (const { queue } of [...this.#readers, ...this.#groups.values()]) queue.add(0n);
    for (const queue of this.#unclaimed.values()) queue.add(0n);
  }

  onResumed(): void {
    for (const number of this.#unfollowed) this.unfollow(number);
  }

  // The server does not remember the session any more: its groups are gone.
  onNewSession(): void {
    this.#end = undefined;
    for (const { queue } of this.#groups.values()) queue.end(formerSession);
    this.#forgetGroups();
    if (++this.session > 1) this.onGap();
  }

  #forgetGroups(): void {
    this.#groups.clear();
    this.#unclaimed.clear();
    this.#past.clear();
    this.#unfollowed.clear();
  }

  // Ends all iterators: with the reason, or without an error when the page itself has closed.
  end(reason: Failure | undefined): void {
    this.#end = { reason };
    for (const { queue } of [...this.#readers, ...this.#groups.values()]) queue.end(reason);
    this.#readers.clear();
    this.#forgetGroups();
  }

  // The follower has left, if the group goes on.
  #leave(number: number, reader: Reader): void {
    if (this.#groups.get(number) !== reader) return;
    this.#groups.delete(number);
    this.#giveUp(number, followedAlready, reader.queue);
  }

  #giveUp(number: number, reason: Failure, queue: Queue): void {
    this.#remember(number, reason);
    if (queue.hasEnded) return;
    this.#unfollowed.add(number);
    this.unfollow(number);
  }

  #remember(number: number, reason: Failure): void {
    this.#past.set(number, reason);
    if (this.#past.size <= pastCountMax) return;
    const [oldest = 0] = this.#past.keys();
    this.#past.delete(oldest);
    this.#unfollowed.delete(oldest);
  }
}

function schemasOf(schemas: DescMessage | readonly DescMessage[]): Schemas {
  return new Map([schemas].flat().map((schema) => [hashOf(schema.typeName), schema]));
}

// `leave` is called when the reader goes or its queue has ended.
function iterate<Desc extends DescMessage>(
  { queue, schemas }: Reader,
  { signal }: PushOptions,
  leave: () => void,
): Pushes<MessageShape<Desc>> {
  const stop = () => {
    signal?.removeEventListener("abort", stop);
    leave();
    queue.end(undefined, true);
  };
  if (signal?.aborted) stop();
  else signal?.addEventListener("abort", stop);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      let item: Item | undefined;
      try {
        item = await queue.take();
      } finally {
        if (item === undefined) stop();
      }
      if (item === undefined) return { done: true, value: undefined };
      const message = item.bytes && decode(schemas.get(item.type)!, item.bytes);
      if (message === undefined) return { done: false, value: { isGap: true } };
      return { done: false, value: { isGap: false, message: message as MessageShape<Desc> } };
    },
    async return() {
      stop();
      return { done: true, value: undefined };
    },
  };
}

// A message that cannot be decoded is lost.
function decode(schema: DescMessage, bytes: Uint8Array): Message | undefined {
  try {
    return fromBinary(schema, bytes);
  } catch {
    return undefined;
  }
}
