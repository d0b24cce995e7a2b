// SPDX-License-Identifier: MIT
// A client of corolane servers; README.md shows its use.
export { connect, type Connection, type ConnectOptions } from "./connection.js";
export { isFromHandler, mayHaveRun } from "./failure.js";
export type { WebSocketClass, WebSocketLike } from "./link.js";
export type { Pushed, Pushes, PushOptions } from "./pushes.js";
export type { SessionOptions, State } from "./session.js";
