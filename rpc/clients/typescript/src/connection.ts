// SPDX-License-Identifier: MIT
// The public face: calls, objects, pushes, states.
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Interceptor, Transport } from "@connectrpc/connect";
import type { Pushes, PushOptions } from "./pushes.js";
import { Session, type SessionOptions, type State } from "./session.js";
import { createTransport, share, type Shared } from "./transport.js";

export interface ConnectOptions extends SessionOptions {
  /** Around each call, as those of other transports. */
  interceptors?: Interceptor[] | undefined;
}

/**
 * A session with a server, over one WebSocket after the other, and the transport of its calls:
 *
 *     const connection = connect({ url: "wss://game.example" });
 *     const chess = createClient(Chess, connection);
 */
export class Connection implements Transport {
  readonly unary: Transport["unary"];
  readonly stream: Transport["stream"];
  readonly #session: Session;
  readonly #shared: Shared;

  constructor(options: ConnectOptions) {
    this.#session = new Session(options);
    this.#shared = share(this.#session, options.interceptors ?? []);
    const transport = createTransport(this.#shared);
    this.unary = transport.unary;
    this.stream = transport.stream;
  }

  /** The transport of the calls of one object: `createClient(Room, connection.object("lobby"))`. */
  object(id: string | Uint8Array): Transport {
    const bytes = typeof id === "string" ? new TextEncoder().encode(id) : id;
    return createTransport(this.#shared, bytes);
  }

  /**
   * The messages of this type that the session is pushed from now on. Each reader gets all of them.
   */
  pushes<Desc extends DescMessage>(
    schema: Desc,
    options: PushOptions = {},
  ): Pushes<MessageShape<Desc>> {
    return this.#session.inbox.pushes(schema, options);
  }

  /**
   * The messages of a group, of one type or of several, whose number is in the reply of the method
   * that has begun to follow it. Pass that reply itself, as soon as it is there: a number is valid
   * in its session only. Ends with the group. Fails with `aborted` when the session is a new one:
   * then call that method again. Leaving it tells the server.
   */
  follow<Desc extends DescMessage>(
    schema: Desc | readonly Desc[],
    reply: { readonly group: number },
    options: PushOptions = {},
  ): Pushes<MessageShape<Desc>> {
    return this.#session.inbox.follow(schema, reply, options);
  }

  get state(): State {
    return this.#session.state;
  }

  /** Calls the listener after each change of state. Returns what stops that. */
  onState(listener: (state: State) => void): () => void {
    this.#session.listeners.add(listener);
    return () => void this.#session.listeners.delete(listener);
  }

  /** Ends all calls and iterators, and the connection. */
  close(): void {
    this.#session.close();
  }
}

/** Begins to connect, and goes on until it is closed or the server refuses for good. */
export function connect(options: ConnectOptions): Connection {
  return new Connection(options);
}
