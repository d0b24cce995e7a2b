// SPDX-License-Identifier: MIT
// Why a call or a connection has failed, and what a page sees of that.
import { Code, ConnectError } from "@connectrpc/connect";
import type { Frame } from "./frames.js";
import { type ErrorDetail, readReplyExtension } from "./wire.js";

// The names that errors over HTTP have in their headers, too.
const executedHeader = "corolane-executed";
const fromHeader = "corolane-error-from";

export interface Failure {
  code: Code;
  text: string;
  // The handler has certainly not begun, so the call may be repeated.
  hasNotBegun: boolean;
  // A handler has made it, not the runtime.
  isFromHandler: boolean;
  retryAfterMs: number;
  metadata: Headers;
  details: ErrorDetail[];
}

export function failure(code: Code, text: string, rest: Partial<Failure> = {}): Failure {
  return {
    code,
    text,
    hasNotBegun: false,
    isFromHandler: false,
    retryAfterMs: 0,
    metadata: new Headers(),
    details: [],
    ...rest,
  };
}

export const notBegun = (reason: Failure): Failure => ({ ...reason, hasNotBegun: true });

export function codeOf(number: number): Code {
  return number >= 1 && number <= 16 ? number : Code.Unknown;
}

// The failure of a reply with a code.
export function failureOf(frame: Frame): Failure {
  const { headers, trailers, details } = readReplyExtension(frame.extension);
  for (const [name, value] of trailers) headers.append(name, value);
  return failure(codeOf(frame.code), textOf(frame), {
    hasNotBegun: (frame.flags & 2) !== 0,
    isFromHandler: (frame.flags & 4) !== 0,
    retryAfterMs: frame.time,
    metadata: headers,
    details,
  });
}

export const textOf = (frame: Frame): string => new TextDecoder().decode(frame.message);

export function errorOf(reason: Failure): ConnectError {
  const metadata = new Headers(reason.metadata);
  if (reason.hasNotBegun) metadata.set(executedHeader, "no");
  if (reason.isFromHandler) metadata.set(fromHeader, "handler");
  const error = new ConnectError(reason.text, reason.code, metadata);
  error.details = reason.details;
  return error;
}

/**
 * Whether the call that failed so may have taken effect. False only when its handler has certainly
 * not begun: then it may be made again.
 */
export function mayHaveRun(error: unknown): boolean {
  return ConnectError.from(error).metadata.get(executedHeader) !== "no";
}

/**
 * Whether the service itself has decided so, and not the network, the server's limits or a
 * deadline.
 */
export function isFromHandler(error: unknown): boolean {
  return ConnectError.from(error).metadata.get(fromHeader) === "handler";
}
