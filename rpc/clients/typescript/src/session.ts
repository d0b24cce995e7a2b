// SPDX-License-Identifier: MIT
// The session of a page over all its connections: connects, resumes, waits, and gives up when the
// server says so.
import { Code, ConnectError } from "@connectrpc/connect";
import { errorOf, type Failure, failure, notBegun } from "./failure.js";
import { type Frame, FrameType, groupOf, methodOf } from "./frames.js";
import { Link, type LinkHost, replyBytesMax, type WebSocketClass } from "./link.js";
import { Inbox } from "./pushes.js";
import { type ServerHello, writeHello } from "./wire.js";

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

// The longest delay before an attempt is doubled from the first to the last; the delay itself is
// drawn from all of that, so that clients that were cut off together come back apart.
const delayFirstMs = 100;
const delayLastMs = 5_000;
// Calls wait so long for a lost connection; after that they fail at once until it is back.
const unreachableAfterMs = 3_000;

interface Waiter {
  resolve(link: Link): void;
  reject(reason: Failure): void;
}

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
  #state: State;
  #requester = crypto.getRandomValues(new Uint8Array(16));
  #secret: Uint8Array | undefined;
  #receivedPush = 0;
  // The last connection that has opened: only its pushes are of this session.
  #source: Link | undefined;
  // The one that takes calls, the one that begins, and those that still get replies.
  #current: Link | undefined;
  #beginning: Link | undefined;
  #leaving = new Set<Link>();
  #waiters = new Set<Waiter>();
  #failedCount = 0;
  #wasRefused = false;
  #attempt = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #lastFailure = failure(Code.Unavailable, "not connected yet");
  #isUnreachable = false;
  #unreachableTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: SessionOptions) {
    this.#urls = typeof options.url === "string" ? [options.url] : options.url;
    if (this.#urls.length === 0) throw errorOf(failure(Code.InvalidArgument, "no url is given"));
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

  // Waits for a connection. Rejects with a Failure.
  link(signal: AbortSignal): Promise<Link> {
    return new Promise((resolve, reject) => {
      if (this.#state.is === "ended" || this.#isUnreachable) {
        return reject(notBegun(this.#lastFailure));
      }
      if (this.#current?.takesCalls) return resolve(this.#current);
      const leave = () => {
        this.#waiters.delete(waiter);
        signal.removeEventListener("abort", abort);
      };
      const abort = () => waiter.reject(failure(Code.Canceled, "the caller has given up"));
      const waiter: Waiter = {
        resolve: (link) => (leave(), resolve(link)),
        reject: (reason) => (leave(), reject(notBegun(reason))),
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort);
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    this.#end(failure(Code.Unavailable, "the connection was closed"), true);
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#setState({ is: "connecting", url: this.url });
    try {
      const { token = "" } = this.options;
      const proof = typeof token === "string" ? token : await token();
      if (attempt !== this.#attempt || this.#state.is === "ended") return;
      const WebSocketOfPage = this.options.webSocket ?? (globalThis.WebSocket as WebSocketClass);
      const hello = writeHello({
        requester: this.#requester,
        payloadBytesMax: replyBytesMax,
        token: proof,
        session: this.#secret,
        receivedPush: this.#receivedPush,
      });
      this.#beginning = new Link(WebSocketOfPage, this.url, hello, this);
    } catch (error) {
      if (attempt === this.#attempt) this.#failed(failureOfAttempt(error));
    }
  }

  onOpen(link: Link, hello: ServerHello): void {
    this.#beginning = undefined;
    this.#current = this.#source = link;
    this.#failedCount = 0;
    this.#wasRefused = this.#isUnreachable = false;
    clearTimeout(this.#unreachableTimer);
    const isResumed = hello.isResumed && this.#secret !== undefined;
    if (!isResumed) {
      this.#receivedPush = 0;
      if (this.#secret !== undefined) this.inbox.onNewSession();
    }
    this.#secret = hello.session;
    this.#setState({ is: "open", url: this.url, isResumed });
    for (const waiter of [...this.#waiters]) waiter.resolve(link);
  }

  onPush(link: Link, frame: Frame): void {
    // A former server may still answer calls while another one has begun a session; and each number
    // comes once.
    if (link !== this.#source || frame.id <= this.#receivedPush) return;
    const isGap = frame.type === FrameType.pushGap;
    const lostCount = frame.id - this.#receivedPush - (isGap ? 0 : 1);
    this.#receivedPush = frame.id;
    if (lostCount > 0) this.inbox.onGap();
    if (!isGap) this.inbox.onPush(link, methodOf(frame), groupOf(frame), frame.message);
  }

  onLeaving(link: Link): void {
    if (this.#state.is === "ended") return;
    this.#leaving.add(link);
    if (link !== this.#current) return;
    this.#current = undefined;
    this.#disconnected();
    this.#url = (this.#url + 1) % this.#urls.length;
    void this.#connect();
  }

  onLost(link: Link, reason: Failure): void {
    this.#leaving.delete(link);
    if (this.#state.is === "ended") return;
    if (link === this.#beginning) {
      this.#beginning = undefined;
      this.#failed(reason);
    } else if (link === this.#current) {
      this.#current = undefined;
      this.#disconnected();
      this.#failed(reason);
    }
  }

  #failed(reason: Failure): void {
    if (this.#state.is === "ended") return;
    this.#lastFailure = reason;
    // The token may have expired on its way; a fresh one that is refused as well is no good.
    const mayLogInAgain = reason.code === Code.Unauthenticated && !this.#wasRefused;
    if (mayLogInAgain && typeof this.options.token === "function") this.#wasRefused = true;
    else if (!isPassing(reason)) return this.#end(reason);
    this.#url = (this.#url + 1) % this.#urls.length;
    const round = this.#failedCount++ / this.#urls.length;
    // Waits once it has tried them all.
    if (this.#failedCount % this.#urls.length !== 0) return void this.#connect();
    const range = Math.min(delayFirstMs * 2 ** Math.min(Math.floor(round), 20), delayLastMs);
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
      this.#refuseWaiters();
    }, unreachableAfterMs);
  }

  #refuseWaiters(): void {
    for (const waiter of [...this.#waiters]) waiter.reject(this.#lastFailure);
  }

  #end(reason: Failure, isByPage = false): void {
    if (this.#state.is === "ended") return;
    this.#lastFailure = reason;
    this.#state = { is: "ended", reason: isByPage ? undefined : errorOf(reason) };
    globalThis.removeEventListener?.("online", this.#onOnline);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#unreachableTimer);
    for (const link of [this.#beginning, this.#current, ...this.#leaving]) link?.lose(reason);
    this.#refuseWaiters();
    this.inbox.end(isByPage ? undefined : reason);
    this.#tell();
  }

  #setState(state: State): void {
    this.#state = state;
    this.#tell();
  }

  // A listener that throws is the page's own fault, and must not harm the connection.
  #tell(): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(this.#state);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  #unfollow(group: number): Link | undefined {
    const link = this.#source;
    if (link === undefined || link.isOver) return undefined;
    link.send(FrameType.unfollow, { id: group });
    return link;
  }
}

// A login service that cannot be reached may be back soon.
function failureOfAttempt(error: unknown): Failure {
  const { code, rawMessage } = ConnectError.from(error, Code.Unavailable);
  const isWrongUrl = error instanceof Error && error.name === "SyntaxError";
  return failure(isWrongUrl ? Code.InvalidArgument : code, rawMessage);
}
