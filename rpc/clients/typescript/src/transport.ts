// SPDX-License-Identifier: MIT
// The calls of generated clients: attempts, retries where they are safe, streams.
import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { callOnce, type Reply, Stream } from "./calls.js";
import { errorOf, type Failure, failure } from "./failure.js";
import type { FrameFields } from "./frames.js";
import { factsOf, type MethodFacts } from "./methods.js";
import type { Session } from "./session.js";
import { type ObjectCall, writeRequestExtension } from "./wire.js";

const retryDelayFirstMs = 10;
const retryDelayLastMs = 2_000;
const timeLeftMaxUs = 0xffff_ffff;
const timerMaxMs = 0x7fff_ffff;
// An object remembers a request for ten minutes; it is not repeated close to that.
const requestMemoryMs = 9 * 60_000;

// At most one retry for ten calls, with ten to begin with: no storm follows an overload.
class RetryBudget {
  #tenths = 100;

  callMade(): void {
    this.#tenths = Math.min(this.#tenths + 1, 100);
  }

  take(): boolean {
    if (this.#tenths < 10) return false;
    this.#tenths -= 10;
    return true;
  }
}

// An object remembers the last request of each caller. So calls that are under way at the same time
// are of different callers, as few as possible.
class RequestIds {
  #free: number[] = [];
  #callerCount = 0;
  #sequence = 0;

  take(): { caller: number; sequence: number } {
    return { caller: this.#free.pop() ?? ++this.#callerCount, sequence: ++this.#sequence };
  }

  giveBack(caller: number): void {
    this.#free.push(caller);
  }
}

// What all transports of a connection share.
export interface Shared {
  session: Session;
  interceptors: Interceptor[];
  retries: RetryBudget;
  requestIds: RequestIds;
}

export function share(session: Session, interceptors: Interceptor[]): Shared {
  return { session, interceptors, retries: new RetryBudget(), requestIds: new RequestIds() };
}

// With an object, all calls go to the object of that id.
export function createTransport(shared: Shared, object?: Uint8Array): Transport {
  const { session, interceptors } = shared;
  return {
    async unary(method, signal, timeoutMs, header, message, contextValues) {
      const facts = factsOf(method);
      const budgetMs = Math.min(timeoutMs ?? facts.timeoutMs, timerMaxMs);
      const deadline = Date.now() + budgetMs;
      return runUnaryCall({
        interceptors,
        signal,
        timeoutMs: budgetMs,
        req: {
          stream: false,
          service: method.parent,
          requestMethod: "POST",
          url: `${session.url}/${facts.name}`,
          method,
          header: new Headers(header),
          contextValues: contextValues ?? createContextValues(),
          message,
        },
        next: async (req) => {
          const bytes = toBinary(method.input, req.message);
          const call = new UnaryCall(shared, facts, bytes, req.header, object, deadline);
          const reply = await orError(call.run(req.signal));
          return {
            stream: false,
            service: method.parent,
            method,
            header: reply.header,
            trailer: reply.trailer,
            message: decode(method, reply.message),
          };
        },
      });
    },

    async stream(method, signal, timeoutMs, header, messages, contextValues) {
      const facts = factsOf(method);
      const budgetMs = Math.min(timeoutMs ?? facts.timeoutMs, timerMaxMs);
      const deadline = Date.now() + budgetMs;
      return runStreamingCall({
        interceptors,
        signal,
        timeoutMs: budgetMs,
        req: {
          stream: true,
          service: method.parent,
          requestMethod: "POST",
          url: `${session.url}/${facts.name}`,
          method,
          header: new Headers(header),
          contextValues: contextValues ?? createContextValues(),
          message: messages,
        },
        next: async (req) => {
          const begin = beginStream(session, method, facts, req, object, deadline);
          const stream = await orError(begin);
          return {
            stream: true,
            service: method.parent,
            method,
            header: stream.header,
            trailer: stream.trailer,
            message: messagesOf(method, stream),
          };
        },
      });
    },
  };
}

class UnaryCall {
  #failedCount = 0;
  readonly #until: number;
  readonly #isRepeatable: boolean;
  readonly #request: ReturnType<RequestIds["take"]> | undefined;
  readonly #fields: FrameFields;

  constructor(
    private readonly shared: Shared,
    private readonly facts: MethodFacts,
    message: Uint8Array,
    headers: Headers,
    id: Uint8Array | undefined,
    private readonly deadline: number,
  ) {
    let object: ObjectCall | undefined = id && { id };
    if (object !== undefined && facts.isDurable) {
      this.#request = shared.requestIds.take();
      const caller = new TextEncoder().encode(String(this.#request.caller));
      object = { ...object, request: { caller, sequence: this.#request.sequence } };
    }
    this.#isRepeatable = facts.isIdempotent || this.#request !== undefined;
    this.#until =
      this.#request === undefined ? deadline : Math.min(deadline, Date.now() + requestMemoryMs);
    this.#fields = requestFields(facts, headers, object, message);
    shared.retries.callMade();
  }

  async run(signal: AbortSignal): Promise<Reply> {
    try {
      return await this.#runUntilFinal(signal);
    } finally {
      if (this.#request !== undefined) this.shared.requestIds.giveBack(this.#request.caller);
    }
  }

  async #runUntilFinal(signal: AbortSignal): Promise<Reply> {
    for (;;) {
      const link = await this.shared.session.link(signal);
      const fields = { ...this.#fields, time: timeLeft(this.deadline) };
      if (this.facts.isOneWay) {
        const refused = link.notify(fields);
        if (refused !== undefined) throw { ...refused, hasNotBegun: true };
        return { message: new Uint8Array(), header: new Headers(), trailer: new Headers() };
      }
      try {
        return await callOnce(link, fields, signal);
      } catch (reason) {
        if (!(await this.#mayRetry(reason as Failure, signal))) throw reason;
      }
    }
  }

  // Waits for the time of the next attempt.
  async #mayRetry(reason: Failure, signal: AbortSignal): Promise<boolean> {
    if (!reason.hasNotBegun && !this.#isRepeatable) return false;
    // A loaded server says when to come back; other limits do not go away by themselves.
    const isLoaded = reason.code === Code.ResourceExhausted && reason.retryAfterMs > 0;
    if (reason.code !== Code.Unavailable && !isLoaded) return false;
    const range = Math.min(retryDelayFirstMs * 2 ** this.#failedCount++, retryDelayLastMs);
    const delay = reason.retryAfterMs + (range * (1 + Math.random())) / 2;
    if (Date.now() + delay >= this.#until || !this.shared.retries.take()) return false;
    return sleep(delay, signal);
  }
}

async function beginStream(
  session: Session,
  method: DescMethodStreaming,
  facts: MethodFacts,
  req: { message: AsyncIterable<MessageShape<DescMessage>>; header: Headers; signal: AbortSignal },
  id: Uint8Array | undefined,
  deadline: number,
): Promise<Stream> {
  const isUpload = method.methodKind !== "server_streaming";
  const input = req.message[Symbol.asyncIterator]();
  let message = new Uint8Array();
  if (!isUpload) {
    const first = await input.next();
    message = toBinary(method.input, first.done ? create(method.input) : first.value);
  }
  const fields = requestFields(facts, req.header, id && { id }, message);
  const link = await session.link(req.signal);
  const isReplyAnItem = method.methodKind === "client_streaming";
  const stream = new Stream(link, { ...fields, time: timeLeft(deadline) }, isReplyAnItem);
  if (req.signal.aborted) stream.giveUp();
  req.signal.addEventListener("abort", () => stream.giveUp());
  if (isUpload) void upload(method, stream, input);
  await stream.begun();
  return stream;
}

async function upload(
  method: DescMethodStreaming,
  stream: Stream,
  input: AsyncIterator<MessageShape<DescMessage>>,
): Promise<void> {
  try {
    for (;;) {
      const next = await input.next();
      if (next.done) return stream.finishWriting();
      if (!(await stream.write(toBinary(method.input, next.value)))) return;
    }
  } catch (reason) {
    stream.giveUp(asFailure(reason));
  }
}

async function* messagesOf<O extends DescMessage>(
  method: DescMethodStreaming<DescMessage, O>,
  stream: Stream,
): AsyncGenerator<MessageShape<O>> {
  try {
    for (;;) {
      const bytes = await orError(stream.read());
      if (bytes === undefined) return;
      yield decode(method, bytes);
    }
  } finally {
    stream.giveUp();
  }
}

function decode<O extends DescMessage>(
  method: DescMethodUnary<DescMessage, O> | DescMethodStreaming<DescMessage, O>,
  bytes: Uint8Array,
): MessageShape<O> {
  try {
    return fromBinary(method.output, bytes);
  } catch {
    throw errorOf(failure(Code.Internal, `a reply is not a valid ${method.output.typeName}`));
  }
}

function requestFields(
  facts: MethodFacts,
  headers: Headers,
  object: ObjectCall | undefined,
  message: Uint8Array,
): FrameFields {
  const extension = writeRequestExtension(headers, object);
  return { method: facts.hash, message, ...(extension && { extension }) };
}

function timeLeft(deadline: number): number {
  return Math.min(Math.max(Math.ceil((deadline - Date.now()) * 1000), 1), timeLeftMaxUs);
}

// False when the caller gives up meanwhile.
function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener("abort", wake);
  });
}

function asFailure(reason: unknown): Failure {
  if (typeof reason === "object" && reason !== null && "hasNotBegun" in reason) {
    return reason as Failure;
  }
  const { code, rawMessage } = ConnectError.from(reason);
  return failure(code, rawMessage);
}

async function orError<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (reason) {
    throw reason instanceof Error ? reason : errorOf(asFailure(reason));
  }
}
