// SPDX-License-Identifier: MIT
// What the descriptor of a method says about its calls: rpc/options.proto.
import type { DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { hashOf } from "./frames.js";
import { readMethodOptions } from "./wire.js";

export interface MethodFacts {
  name: string;
  hash: bigint;
  // Executing it twice has the effect of once.
  isIdempotent: boolean;
  isOneWay: boolean;
  // An object that is called with the id of a request executes it once.
  isDurable: boolean;
  timeoutMs: number;
}

const optionsField = 50_851;
const defaultTimeoutMs = 10_000;
const units: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1e3,
  min: 60e3,
  h: 3600e3,
  d: 86_400e3,
};
const known = new WeakMap<DescMethod, MethodFacts>();

export function factsOf(method: DescMethod): MethodFacts {
  let facts = known.get(method);
  if (facts === undefined) known.set(method, (facts = readFacts(method)));
  return facts;
}

function readFacts(method: DescMethod): MethodFacts {
  const name = `${method.parent.typeName}/${method.name}`;
  // Generated code keeps the option whether or not the page imports rpc/options.proto.
  const field = method.proto.options?.$unknown?.find(({ no }) => no === optionsField);
  const bytes = field ? new BinaryReader(field.data).bytes() : new Uint8Array();
  const options = readMethodOptions(bytes);
  return {
    name,
    hash: hashOf(name),
    isIdempotent:
      options.isIdempotent ||
      method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS ||
      method.idempotency === MethodOptions_IdempotencyLevel.IDEMPOTENT,
    isOneWay: options.isOneWay,
    isDurable: options.isDurable,
    timeoutMs: millisecondsOf(options.timeout) ?? defaultTimeoutMs,
  };
}

// "250ms", "60s".
function millisecondsOf(duration: string): number | undefined {
  const [, amount = "", unit = ""] = /^(\d+)([a-z]+)$/.exec(duration) ?? [];
  const factor = units[unit];
  return factor && Number(amount) * factor;
}
