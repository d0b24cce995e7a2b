// SPDX-License-Identifier: MIT
// A connection to a fake server, in virtual time, for each test of a file.
import { afterEach, beforeEach, mock } from "node:test";
import { type ConnectError } from "@connectrpc/connect";
import { connect, type Connection, type ConnectOptions } from "../src/index.js";
import { type FakeLink, FakeServer, settled, useRealTime, useVirtualTime } from "./fake_server.js";

export let server: FakeServer;
export let connection: Connection;

// Makes both before each test. With `isOpen` the connection is open, otherwise open() begins it.
export function useServer({ isOpen = true } = {}): void {
  beforeEach(async () => {
    useVirtualTime();
    server = new FakeServer();
    if (isOpen) await open();
  });
  afterEach(() => {
    connection?.close();
    useRealTime();
  });
}

// The same without a connection, and each random delay is half of what it is drawn from.
export function useServerWithDelays(): void {
  useServer({ isOpen: false });
  beforeEach(() => void mock.method(Math, "random", () => 0.5));
}

// `begin` is called before the connection has had time to open.
export async function open(
  options: Partial<ConnectOptions> = {},
  begin: () => void = () => {},
): Promise<FakeLink> {
  connection = connect({ url: "ws://a", webSocket: server.webSocket, ...options });
  begin();
  await settled();
  return server.link;
}

// Why the connection has ended or waits, by now.
export function reason(): ConnectError | undefined {
  const { state } = connection;
  return state.is === "ended" || state.is === "waiting" ? state.reason : undefined;
}
