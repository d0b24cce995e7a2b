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
import { errorOf, type Failure, failure, notBegun } from "./failure.js";
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

interface RequestId {
  caller: number;
  sequence: number;
}

// An object remembers the last request of each caller. So calls that are under way at the same time
// are of different callers, as few as possible.
class RequestIds {
  #free: number[] = [];
  #callerCount = 0;
  #sequence = 0;

  take(): RequestId {
    return { caller: this.#free.pop() ?? ++this.#callerCount, sequence: ++this.#sequence };
  }

  giveBack(caller: number): void {
    this.#free.push(caller);
  }
}

// All transports of a connection share it.
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
      const deadline = performance.now() + budgetMs;
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
            message: decode(shared, method, reply),
          };
        },
      });
    },

    async stream(method, signal, timeoutMs, header, messages, contextValues) {
      const facts = factsOf(method);
      const budgetMs = Math.min(timeoutMs ?? facts.timeoutMs, timerMaxMs);
      const deadline = performance.now() + budgetMs;
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
            message: messagesOf(shared, method, stream),
          };
        },
      });
    },
  };
}

class UnaryCall {
  #failedCount = 0;
  #mayHaveRun = false;
  readonly #isDurable: boolean;
  readonly #isRepeatable: boolean;
  readonly #until: number;

  constructor(
    private readonly shared: Shared,
    private readonly facts: MethodFacts,
    private readonly message: Uint8Array,
    private readonly headers: Headers,
    private readonly object: Uint8Array | undefined,
    private readonly deadline: number,
  ) {
    this.#isDurable = object !== undefined && facts.isDurable;
    this.#isRepeatable = facts.isIdempotent || this.#isDurable;
    const memoryMs = this.#isDurable ? requestMemoryMs : Infinity;
    this.#until = Math.min(deadline, performance.now() + memoryMs);
    shared.retries.callMade();
  }

  async run(signal: AbortSignal): Promise<Reply> {
    const { requestIds } = this.shared;
    const request = this.#isDurable ? requestIds.take() : undefined;
    try {
      return await this.#runUntilFinal(this.#fields(request), signal);
    } catch (reason) {
      // Only the last attempt has certainly not begun.
      throw this.#mayHaveRun ? { ...(reason as Failure), hasNotBegun: false } : reason;
    } finally {
      if (request !== undefined) requestIds.giveBack(request.caller);
    }
  }

  #fields(request: RequestId | undefined): FrameFields {
    const caller = new TextEncoder().encode(String(request?.caller));
    const object = this.object && { id: this.object, request: request && { ...request, caller } };
    return requestFields(this.facts, this.headers, object, this.message);
  }

  async #runUntilFinal(fields: FrameFields, signal: AbortSignal): Promise<Reply> {
    const { session } = this.shared;
    for (;;) {
      const link = await session.link(signal);
      const timed = { ...fields, time: timeLeft(this.deadline) };
      if (this.facts.isOneWay) {
        const refused = link.notify(timed);
        if (refused !== undefined) throw notBegun(refused);
        const nothing = { header: new Headers(), trailer: new Headers(), session: link.session };
        return { message: new Uint8Array(), ...nothing };
      }
      try {
        return await callOnce(link, timed, signal);
      } catch (error) {
        const reason = error as Failure;
        if (!reason.hasNotBegun) this.#mayHaveRun = true;
        const delay = this.#retryDelay(reason);
        if (delay === undefined) throw reason;
        await session.sleep(delay, signal);
      }
    }
  }

  // Nothing when the call is not made again.
  #retryDelay(reason: Failure): number | undefined {
    if (!reason.hasNotBegun && !this.#isRepeatable) return undefined;
    // A loaded server says when to come back; other limits do not go away by themselves.
    const isLoaded = reason.code === Code.ResourceExhausted && reason.retryAfterMs > 0;
    if (reason.code !== Code.Unavailable && !isLoaded) return undefined;
    const range = Math.min(retryDelayFirstMs * 2 ** this.#failedCount++, retryDelayLastMs);
    const delay = reason.retryAfterMs + (range * (1 + Math.random())) / 2;
    const isTooLate = performance.now() + delay >= this.#until;
    return isTooLate || !this.shared.retries.take() ? undefined : delay;
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
  shared: Shared,
  method: DescMethodStreaming<DescMessage, O>,
  stream: Stream,
): AsyncGenerator<MessageShape<O>> {
  try {
    for (;;) {
      const message = await orError(stream.read());
      if (message === undefined) return;
      yield decode(shared, method, { message, session: stream.session });
    }
  } finally {
    stream.giveUp();
  }
}

function decode<O extends DescMessage>(
  { session }: Shared,
  method: DescMethodUnary<DescMessage, O> | DescMethodStreaming<DescMessage, O>,
  reply: { message: Uint8Array; session: number },
): MessageShape<O> {
  try {
    const message = fromBinary(method.output, reply.message);
    session.inbox.onReply(message, reply.session);
    return message;
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
  return Math.min(Math.max(Math.ceil((deadline - performance.now()) * 1000), 1), timeLeftMaxUs);
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
