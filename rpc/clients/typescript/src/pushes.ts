// SPDX-License-Identifier: MIT
// What a session is pushed, as async iterators: messages of the session itself, and of the groups
// that it follows.
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
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
const unfollowedCountMax = 4_096;
const groupGap = hashOf("corolane.rpc.GroupGap");
const groupEnd = hashOf("corolane.rpc.GroupEnd");

interface Item {
  type: bigint;
  // Nothing: a gap.
  bytes?: Uint8Array;
}

// What waits for one reader. When it is full the oldest message makes room, and a gap takes its
// place.
class Queue {
  #items: Item[] = [];
  #end: { reason: Failure | undefined } | undefined;
  #wakes: (() => void)[] = [];

  get size(): number {
    return this.#items.length;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  add(item: Item): void {
    if (this.#end !== undefined) return;
    const last = this.#items.at(-1);
    if (last !== undefined && last.bytes === undefined && item.bytes === undefined) return;
    this.#items.push(item);
    if (this.size > queuedCountMax) this.#items.splice(0, 2, { type: 0n });
    this.#wake();
  }

  // Messages of other types are not for the reader.
  keepOnly(type: bigint): void {
    this.#items = this.#items.filter((item) => item.bytes === undefined || item.type === type);
  }

  // What is queued is still read, but not after the reader itself has gone.
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
    return this.#items.shift();
  }
}

interface Group {
  queue: Queue;
  // Of the messages that its follower wants; nothing while nobody has claimed it.
  type: bigint | undefined;
}

export class Inbox {
  #byType = new Map<bigint, Set<Queue>>();
  #groups = new Map<number, Group>();
  #unclaimedCount = 0;
  // So many groups were unclaimed that some were forgotten.
  #hasForgotten = false;
  // The groups that nobody wants any more, and the connection on which the server was told.
  #unfollowed = new Map<number, unknown>();
  #end: { reason: Failure | undefined } | undefined;

  // `unfollow` tells the server, if there is a connection, and returns that.
  constructor(private readonly unfollow: (group: number) => unknown) {}

  pushes<Desc extends DescMessage>(schema: Desc, options: PushOptions) {
    const type = hashOf(schema.typeName);
    const queue = new Queue();
    const queues = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, queues.add(queue));
    if (this.#end !== undefined) queue.end(this.#end.reason);
    return iterate(schema, queue, options, () => queues.delete(queue));
  }

  follow<Desc extends DescMessage>(schema: Desc, number: number, options: PushOptions) {
    const type = hashOf(schema.typeName);
    const unclaimed = this.#groups.get(number);
    if (unclaimed?.type !== undefined || this.#unfollowed.has(number)) {
      throw errorOf(failure(Code.FailedPrecondition, `group ${number} was followed already`));
    }
    const group = unclaimed ?? { queue: new Queue(), type };
    if (unclaimed !== undefined) this.#claim(unclaimed, type);
    else if (this.#hasForgotten) group.queue.add({ type: 0n });
    if (this.#end !== undefined) group.queue.end(this.#end.reason);
    if (group.queue.hasEnded) this.#groups.delete(number);
    else this.#groups.set(number, group);
    return iterate(schema, group.queue, options, () => this.#leave(number, group));
  }

  onPush(link: unknown, type: bigint, number: number, bytes: Uint8Array): void {
    if (number === 0) {
      for (const queue of this.#byType.get(type) ?? []) queue.add({ type, bytes });
    } else if (this.#unfollowed.has(number)) {
      if (type === groupEnd) this.#unfollowed.delete(number);
      else if (this.#unfollowed.get(number) !== link) this.#tellUnfollowed(number);
    } else {
      this.#onGroupPush(number, type, bytes);
    }
  }

  #onGroupPush(number: number, type: bigint, bytes: Uint8Array): void {
    const group = this.#groups.get(number) ?? this.#addUnclaimed(number);
    if (group === undefined) return;
    if (type === groupEnd) {
      const { code, reason } = readGroupEnd(bytes);
      group.queue.end(code === 0 ? undefined : failure(codeOf(code), reason));
      if (group.type !== undefined) this.#groups.delete(number);
    } else if (type === groupGap) {
      this.#add(group, { type });
    } else if (group.type === undefined || group.type === type) {
      this.#add(group, { type, bytes });
    }
  }

  // Pushes of a group that nobody has claimed share one bound. Beyond it the newest are lost.
  #add(group: Group, item: Item): void {
    if (group.type !== undefined) return group.queue.add(item);
    const before = group.queue.size;
    group.queue.add(this.#unclaimedCount < queuedCountMax ? item : { type: item.type });
    this.#unclaimedCount += group.queue.size - before;
  }

  // Nothing when there are too many of them.
  #addUnclaimed(number: number): Group | undefined {
    let unclaimedCount = 0;
    for (const group of this.#groups.values()) if (group.type === undefined) ++unclaimedCount;
    if (unclaimedCount >= queuedCountMax) {
      this.#hasForgotten = true;
      return undefined;
    }
    const group: Group = { queue: new Queue(), type: undefined };
    this.#groups.set(number, group);
    return group;
  }

  #claim(group: Group, type: bigint): void {
    this.#unclaimedCount -= group.queue.size;
    group.type = type;
    group.queue.keepOnly(type);
  }

  // Pushes of the session were lost, of any type or group.
  onGap(): void {
    for (const queues of this.#byType.values()) {
      for (const queue of queues) queue.add({ type: 0n });
    }
    for (const group of this.#groups.values()) this.#add(group, { type: 0n });
  }

  // The server does not remember the session any more: its groups are gone.
  onNewSession(): void {
    const reason = failure(Code.Aborted, "the session is a new one: follow again");
    for (const group of this.#groups.values()) group.queue.end(reason);
    this.#forgetGroups();
    this.onGap();
  }

  #forgetGroups(): void {
    this.#groups.clear();
    this.#unfollowed.clear();
    this.#unclaimedCount = 0;
    this.#hasForgotten = false;
  }

  // Ends all iterators: with the reason, or without an error when the page itself has closed.
  end(reason: Failure | undefined): void {
    this.#end = { reason };
    for (const queues of this.#byType.values()) for (const queue of queues) queue.end(reason);
    for (const group of this.#groups.values()) group.queue.end(reason);
    this.#byType.clear();
    this.#forgetGroups();
  }

  // The follower has left.
  #leave(number: number, group: Group): void {
    if (this.#groups.get(number) !== group) return; // Of a former session.
    this.#groups.delete(number);
    this.#tellUnfollowed(number);
    if (this.#unfollowed.size <= unfollowedCountMax) return;
    for (const oldest of this.#unfollowed.keys()) {
      this.#unfollowed.delete(oldest);
      break;
    }
  }

  #tellUnfollowed(number: number): void {
    this.#unfollowed.set(number, this.unfollow(number));
  }
}

// `leave` is called once, when the reader goes or the queue has ended.
function iterate<Desc extends DescMessage>(
  schema: Desc,
  queue: Queue,
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
      const item = await queue.take();
      if (item === undefined) return { done: true, value: undefined };
      const message = item.bytes && decode(schema, item.bytes);
      return { done: false, value: message ? { isGap: false, message } : { isGap: true } };
    },
    async return() {
      stop();
      return { done: true, value: undefined };
    },
  };
}

// What cannot be read is lost.
function decode<Desc extends DescMessage>(schema: Desc, bytes: Uint8Array) {
  try {
    return fromBinary(schema, bytes);
  } catch {
    return undefined;
  }
}
