// SPDX-License-Identifier: MIT
// The session of a page over all its connections: connects, resumes, waits, and gives up when the
// server says so.
import { Code, ConnectError } from "@connectrpc/connect";
import { givenUp } from "./calls.js";
import { errorOf, type Failure, failure, notBegun } from "./failure.js";
import { type Frame, FrameType, groupOf, methodOf } from "./frames.js";
import { Link, type LinkHost, replyBytesMax, type WebSocketClass } from "./link.js";
import { Inbox } from "./pushes.js";
import { type KeptPush, readPushExtension, type ServerHello, writeHello } from "./wire.js";

/** What a connection is doing. */
export type State =
  | { readonly is: "connecting"; readonly url: string }
  /** Not resumed: the session is a new one, so what was pushed before it is lost. */
  | { readonly is: "open"; readonly url: string; readonly isResumed: boolean }
  | { readonly is: "waiting"; readonly until: Date; readonly reason: ConnectError }
  /** It does not connect any more. Without a reason the page itself has closed it. */
  | { readonly is: "ended"; readonly reason: ConnectError | undefined };

export interface SessionOptions {
  /** The server, `wss://game.example`; or several, any of which will do. */
  url: string | readonly string[];
  /**
   * Logs in. A function is asked for each connection, so that it can fetch a fresh one: its session
   * outlives a token that expires.
   */
  token?: string | (() => string | Promise<string>) | undefined;
  /** For a Node before 22, which has none of its own: that of the package ws. */
  webSocket?: WebSocketClass | undefined;
}

const tokenTimeMaxMs = 10_000;
// The longest delay before an attempt is doubled from the first to the last; the delay itself is
// drawn from all of that, so that clients that were cut off together come back apart.
const delayFirstMs = 100;
const delayLastMs = 5_000;
// A connection that has lasted so long is a success; a shorter one, a failed attempt.
const lastingAfterMs = 2_000;
// Calls wait so long for a lost connection; after that they fail at once until it is back.
const unreachableAfterMs = 3_000;

const keepsNone = failure(Code.Unimplemented, "the server keeps no sessions");

// After which the server may be tried again. Everything else is for good.
function isPassing({ code }: Failure): boolean {
  return (
    code === Code.Unavailable ||
    code === Code.ResourceExhausted ||
    code === Code.DeadlineExceeded ||
    code === Code.NotFound
  );
}

export class Session implements LinkHost {
  readonly inbox = new Inbox((group) => this.#unfollow(group));
  readonly listeners = new Set<(state: State) => void>();
  #urls: readonly string[];
  #url: number;
  #webSocket: WebSocketClass;
  #state: State;
  #untoldStates: State[] = [];
  #requester = crypto.getRandomValues(new Uint8Array(16));
  #secret: Uint8Array | undefined;
  #receivedPush = 0;
  // The last push that was kept for the user, over all sessions.
  #receivedKept: KeptPush = { mailbox: 0n, number: 0n };
  // The last connection that has opened: only its pushes are of this session.
  #source: Link | undefined;
  // The one that takes calls, the one that begins, and those that still get replies.
  #current: Link | undefined;
  #beginning: Link | undefined;
  #leaving = new Set<Link>();
  // They wake the calls that wait: for a connection, and for the time of a retry.
  #waiting = new Set<() => void>();
  #sleeping = new Set<() => void>();
  #openedAt = 0;
  // A round tries all servers. How many have failed in this one, and how many for good.
  #triedCount = 0;
  #refusedCount = 0;
  // How many rounds have failed in a row.
  #roundCount = 0;
  #wasRefused = false;
  #attempt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #lastFailure = failure(Code.Unavailable, "not connected yet");
  #isUnreachable = false;
  #unreachableTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: SessionOptions) {
    this.#urls = typeof options.url === "string" ? [options.url] : options.url;
    if (this.#urls.length === 0) throw errorOf(failure(Code.InvalidArgument, "no url is given"));
    const webSocket = options.webSocket ?? (globalThis.WebSocket as WebSocketClass | undefined);
    if (webSocket === undefined) {
      const text = "there is no WebSocket here: pass that of the package ws as option webSocket";
      throw errorOf(failure(Code.FailedPrecondition, text));
    }
    this.#webSocket = webSocket;
    // Clients that start together do not all go to the first.
    this.#url = Math.floor(Math.random() * this.#urls.length);
    this.#state = { is: "connecting", url: this.url };
    globalThis.addEventListener?.("online", this.#onOnline);
    this.#disconnected();
    void this.#connect();
  }

  get url(): string {
    return this.#urls[this.#url]!;
  }

  get state(): State {
    return this.#state;
  }

  // Waits for a connection that takes calls. Rejects with a Failure.
  async link(signal: AbortSignal): Promise<Link> {
    for (;;) {
      if (signal.aborted) throw notBegun(givenUp);
      if (this.#state.is === "ended" || this.#isUnreachable) throw notBegun(this.#lastFailure);
      if (this.#current?.takesCalls) return this.#current;
      await wait(this.#waiting, signal);
    }
  }

  // Ends early when the caller gives up, or the session ends.
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.#state.is !== "ended" && !signal?.aborted) await wait(this.#sleeping, signal, ms);
  }

  close(): void {
    this.#end(failure(Code.Unavailable, "the connection was closed"), true);
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#setState({ is: "connecting", url: this.url });
    try {
      const token = await this.#token();
      if (attempt !== this.#attempt || this.#state.is === "ended") return;
      const hello = writeHello({
        requester: this.#requester,
        payloadBytesMax: replyBytesMax,
        token,
        session: this.#secret,
        receivedPush: this.#receivedPush,
      });
      this.#beginning = new Link(this.#webSocket, this.url, hello, this);
    } catch (error) {
      if (attempt === this.#attempt) this.#failed(failureOfAttempt(error));
    }
  }

  // A login service that cannot be reached may be back soon.
  async #token(): Promise<string> {
    const { token = "" } = this.options;
    if (typeof token === "string") return token;
    const refuse = () => Promise.reject(new Error("it does not answer"));
    try {
      return await Promise.race([token(), this.sleep(tokenTimeMaxMs).then(refuse)]);
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      throw new ConnectError(`the token function has failed: ${error}`, Code.Unavailable);
    }
  }

  onOpen(link: Link, hello: ServerHello): void {
    this.#beginning = undefined;
    this.#current = this.#source = link;
    this.#openedAt = performance.now();
    this.#wasRefused = this.#isUnreachable = false;
    clearTimeout(this.#unreachableTimer);
    const isResumed = hello.isResumed && this.#secret !== undefined;
    if (isResumed) {
      this.inbox.onResumed();
    } else {
      this.#receivedPush = 0;
      this.inbox.onNewSession();
    }
    this.#secret = hello.session;
    if (hello.session === undefined) this.inbox.end(keepsNone);
    link.session = this.inbox.session;
    this.#setState({ is: "open", url: this.url, isResumed });
    wakeAll(this.#waiting);
  }

  onPush(link: Link, frame: Frame): void {
    // A former server may still answer calls while another one has begun a session; and each number
    // comes once.
    if (link !== this.#source || frame.id <= this.#receivedPush) return;
    const isGap = frame.type === FrameType.pushGap;
    const lostCount = frame.id - this.#receivedPush - (isGap ? 0 : 1);
    this.#receivedPush = frame.id;
    if (lostCount > 0) this.inbox.onGap();
    if (isGap || this.#hasReceivedKept(frame)) return;
    this.inbox.onPush(methodOf(frame), groupOf(frame), frame.message);
  }

  // A push that is kept for the user may come again over another session. Notes the number of a
  // new one.
  #hasReceivedKept(frame: Frame): boolean {
    if (frame.extension.length === 0 || groupOf(frame) !== 0) return false;
    const kept = readPushExtension(frame.extension);
    if (kept.mailbox === 0n) return false;
    const last = kept.mailbox === this.#receivedKept.mailbox ? this.#receivedKept.number : 0n;
    if (kept.number <= last) return true;
    this.#receivedKept = kept;
    return false;
  }

  onLeaving(link: Link): void {
    if (this.#state.is === "ended") return;
    this.#leaving.add(link);
    if (link !== this.#current) return;
    const drains = failure(Code.Unavailable, `${this.url} drains`);
    if (!this.#closed(drains)) return this.#failed(drains);
    this.#nextUrl();
    void this.#connect();
  }

  onLost(link: Link, reason: Failure): void {
    this.#leaving.delete(link);
    if (this.#state.is === "ended") return;
    if (link === this.#beginning) {
      this.#beginning = undefined;
      this.#failed(reason);
    } else if (link === this.#current) {
      this.#closed(reason);
      if (!isPassing(reason)) return this.#end(reason);
      // The server itself is there: it is asked first.
      this.#wait(reason);
    }
  }

  // The connection takes no more calls. Returns whether it has lasted.
  #closed(reason: Failure): boolean {
    this.#current = undefined;
    this.#disconnected();
    this.#lastFailure = reason;
    const hasLasted = performance.now() - this.#openedAt >= lastingAfterMs;
    if (hasLasted) this.#triedCount = this.#refusedCount = this.#roundCount = 0;
    return hasLasted;
  }

  #nextUrl(): void {
    this.#url = (this.#url + 1) % this.#urls.length;
  }

  // Waits once it has tried all servers, and ends when each has refused it.
  #failed(reason: Failure): void {
    if (this.#state.is === "ended") return;
    this.#lastFailure = reason;
    this.#nextUrl();
    if (!isPassing(reason)) ++this.#refusedCount;
    if (++this.#triedCount < this.#urls.length) return void this.#connect();
    if (this.#refusedCount === this.#urls.length) {
      // The token may have expired on its way; a fresh one that is refused as well is no good.
      const isLogin = reason.code === Code.Unauthenticated;
      const canAskAgain = isLogin && typeof this.options.token === "function";
      if (!canAskAgain || this.#wasRefused) return this.#end(reason);
      this.#wasRefused = true;
    }
    this.#wait(reason);
  }

  // Waits until the next round.
  #wait(reason: Failure): void {
    this.#triedCount = this.#refusedCount = 0;
    const range = Math.min(delayFirstMs * 2 ** this.#roundCount++, delayLastMs);
    const delay = Math.random() * range;
    this.#retryTimer = setTimeout(() => void this.#connect(), delay);
    const until = new Date(Date.now() + delay);
    this.#setState({ is: "waiting", until, reason: errorOf(reason) });
  }

  #onOnline = () => {
    if (this.#state.is !== "waiting") return;
    clearTimeout(this.#retryTimer);
    void this.#connect();
  };

  #disconnected(): void {
    this.#lastFailure = failure(Code.Unavailable, `no connection to ${this.url}`);
    clearTimeout(this.#unreachableTimer);
    this.#unreachableTimer = setTimeout(() => {
      this.#isUnreachable = true;
      wakeAll(this.#waiting);
    }, unreachableAfterMs);
  }

  #end(reason: Failure, isByPage = false): void {
    if (this.#state.is === "ended") return;
    this.#lastFailure = reason;
    const state: State = { is: "ended", reason: isByPage ? undefined : errorOf(reason) };
    this.#state = state;
    globalThis.removeEventListener?.("online", this.#onOnline);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#unreachableTimer);
    for (const link of [this.#beginning, this.#current, ...this.#leaving]) link?.lose(reason);
    wakeAll(this.#waiting);
    wakeAll(this.#sleeping);
    this.inbox.end(isByPage ? undefined : reason);
    this.#setState(state);
  }

  // Listeners hear all states in order, also when one of them closes the connection meanwhile.
  #setState(state: State): void {
    this.#state = state;
    if (this.#untoldStates.push(state) > 1) return;
    for (; this.#untoldStates.length > 0; this.#untoldStates.shift()) this.#tell();
  }

  // A listener that throws is the page's own fault, and must not harm the connection.
  #tell(): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(this.#untoldStates[0]!);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #unfollow(group: number): void {
    this.#source?.send(FrameType.unfollow, { id: group });
  }
}

function failureOfAttempt(error: unknown): Failure {
  if (error instanceof ConnectError) return failure(error.code, error.rawMessage);
  const { name, message } = error as Error;
  const isWrongUrl = name === "SyntaxError" || name === "SecurityError";
  return failure(isWrongUrl ? Code.InvalidArgument : Code.Unavailable, message);
}

// Waits until one of `wakes` is called, the caller gives up, or the time is over.
function wait(wakes: Set<() => void>, signal?: AbortSignal, ms?: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      wakes.delete(wake);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = ms === undefined ? undefined : setTimeout(wake, ms);
    wakes.add(wake);
    signal?.addEventListener("abort", wake);
  });
}

const wakeAll = (wakes: Set<() => void>) => [...wakes].forEach((wake) => wake());
