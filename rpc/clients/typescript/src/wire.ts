// SPDX-License-Identifier: MIT
// The messages of the protocol itself, rpc/wire/wire.proto, as bytes: written by hand, since
// generated code would be larger than all the rest.
import { Code, ConnectError } from "@connectrpc/connect";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export interface ClientHello {
  requester: Uint8Array;
  payloadBytesMax: number;
  token: string;
  session: Uint8Array | undefined;
  receivedPush: number;
}

export interface ServerHello {
  payloadBytesMax: number;
  session: Uint8Array | undefined;
  isResumed: boolean;
}

export interface ErrorDetail {
  type: string;
  value: Uint8Array;
}

export interface ReplyExtension {
  headers: Headers;
  trailers: Headers;
  details: ErrorDetail[];
}

export interface ObjectCall {
  id: Uint8Array;
  // The id of the request; without one it may be executed twice when it is repeated.
  request?: { caller: Uint8Array; sequence: number } | undefined;
}

type Read = (reader: BinaryReader, wireType: WireType) => unknown;

// Calls the function of each field that has one. Throws for bytes that are no message.
function readFields(bytes: Uint8Array, fields: Record<number, Read>): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const read = fields[number];
    if (read === undefined) reader.skip(wireType, number);
    else read(reader, wireType);
  }
}

const bytesField = (writer: BinaryWriter, number: number, value: Uint8Array) =>
  writer.tag(number, WireType.LengthDelimited).bytes(value);

export function writeHello(hello: ClientHello): Uint8Array {
  const writer = new BinaryWriter();
  bytesField(writer, 5, hello.requester);
  writer.tag(7, WireType.Varint).uint32(hello.payloadBytesMax);
  if (hello.token !== "") writer.tag(8, WireType.LengthDelimited).string(hello.token);
  writer.tag(9, WireType.Varint).bool(true);
  if (hello.session !== undefined) {
    bytesField(writer, 10, hello.session);
    writer.tag(11, WireType.Varint).uint64(hello.receivedPush);
  }
  return writer.finish();
}

export function readHello(bytes: Uint8Array): ServerHello {
  const hello: ServerHello = { payloadBytesMax: 0, session: undefined, isResumed: false };
  readFields(bytes, {
    7: (reader) => (hello.payloadBytesMax = reader.uint32()),
    10: (reader) => (hello.session = reader.bytes()),
    12: (reader) => (hello.isResumed = reader.bool()),
  });
  return hello;
}

export function writeRequestExtension(
  headers: Headers,
  object: ObjectCall | undefined,
): Uint8Array | undefined {
  const writer = new BinaryWriter();
  let isEmpty = object === undefined;
  if (object !== undefined) {
    writer.tag(6, WireType.LengthDelimited).fork();
    bytesField(writer, 1, object.id);
    if (object.request !== undefined) {
      bytesField(writer, 4, object.request.caller);
      writer.tag(5, WireType.Varint).uint64(object.request.sequence);
    }
    writer.join();
  }
  headers.forEach((value, name) => {
    isEmpty = false;
    if (!/^[a-z0-9_.-]+$/.test(name) || !/^[ -~]*$/.test(value)) {
      throw new ConnectError(`the header ${name} cannot be sent`, Code.InvalidArgument);
    }
    writer.tag(8, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name);
    bytesField(writer, 2, isBinary(name) ? fromBase64(value) : new TextEncoder().encode(value));
    writer.join();
  });
  return isEmpty ? undefined : writer.finish();
}

export function readReplyExtension(bytes: Uint8Array): ReplyExtension {
  const extension: ReplyExtension = {
    headers: new Headers(),
    trailers: new Headers(),
    details: [],
  };
  readFields(bytes, {
    1: (reader) => (extension.details = readErrorDetails(reader.bytes())),
    2: (reader) => readHeader(reader.bytes(), extension.headers),
    3: (reader) => readHeader(reader.bytes(), extension.trailers),
  });
  return extension;
}

function readHeader(bytes: Uint8Array, headers: Headers): void {
  let name = "";
  let value: Uint8Array = new Uint8Array(0);
  readFields(bytes, {
    1: (reader) => (name = reader.string()),
    2: (reader) => (value = reader.bytes()),
  });
  headers.append(name, isBinary(name) ? toBase64(value) : new TextDecoder().decode(value));
}

// Bytes that are no ErrorDetails have no details.
function readErrorDetails(bytes: Uint8Array): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  try {
    readFields(bytes, { 3: (reader) => details.push(readAny(reader.bytes())) });
  } catch {
    return [];
  }
  return details;
}

function readAny(bytes: Uint8Array): ErrorDetail {
  const any: ErrorDetail = { type: "", value: new Uint8Array(0) };
  readFields(bytes, {
    1: (reader) => (any.type = reader.string().replace(/^.*\//, "")),
    2: (reader) => (any.value = reader.bytes()),
  });
  return any;
}

/** The number of a push that is kept for the user, in a mailbox; 0n: it says nothing. */
export interface KeptPush {
  mailbox: bigint;
  number: bigint;
}

export function readPushExtension(bytes: Uint8Array): KeptPush {
  const kept: KeptPush = { mailbox: 0n, number: 0n };
  try {
    readFields(bytes, {
      1: (reader) => (kept.mailbox = BigInt(reader.fixed64())),
      2: (reader) => (kept.number = BigInt(reader.uint64())),
    });
  } catch {
    kept.mailbox = 0n;
  }
  return kept;
}

export interface GroupEnd {
  code: number;
  reason: string;
}

export function readGroupEnd(bytes: Uint8Array): GroupEnd {
  const end: GroupEnd = { code: 0, reason: "" };
  try {
    readFields(bytes, {
      1: (reader) => (end.code = reader.uint32()),
      2: (reader) => (end.reason = new TextDecoder().decode(reader.bytes())),
    });
  } catch {
    // Bytes that cannot be decoded tell no reason.
  }
  return end;
}

export interface MethodOptions {
  timeout: string;
  isIdempotent: boolean;
  isOneWay: boolean;
  isDurable: boolean;
}

// The message MethodOptions of rpc/options.proto.
export function readMethodOptions(bytes: Uint8Array): MethodOptions {
  const options = { timeout: "", isIdempotent: false, isOneWay: false, isDurable: false };
  readFields(bytes, {
    1: (reader) => (options.timeout = reader.string()),
    3: (reader) => (options.isIdempotent = reader.bool()),
    4: (reader) => (options.isOneWay = reader.bool()),
    7: (reader) => (options.isDurable = reader.bool()),
  });
  return options;
}

// Headers of a page have binary values in base64, as those of gRPC and Connect do.
const isBinary = (name: string) => name.endsWith("-bin");

function fromBase64(text: string): Uint8Array {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/=+$/, "");
}
