// SPDX-License-Identifier: MIT
// What a client knows of methods that it has no generated code for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, createFileRegistry, type DescFile, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { factsOf } from "../src/methods.js";
import { Game } from "./gen/services/chess/game_pb.js";

// The file behind all that it imports, as `protoc --include_imports` orders them.
function withImports(file: DescFile): FileDescriptorProto[] {
  return [...new Set([...file.dependencies.flatMap(withImports), file.proto])];
}

test("options of methods reach a client that reads its types from descriptors", () => {
  const set = create(FileDescriptorSetSchema, { file: withImports(Game.file) });
  const bytes = toBinary(FileDescriptorSetSchema, set);
  const types = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));

  const known = types.getService(Game.typeName)?.methods.map(factsOf);

  assert.deepEqual(known, Game.methods.map(factsOf));
  assert.ok(known?.some(({ isDurable }) => isDurable));
  assert.ok(known?.some(({ timeoutMs }) => timeoutMs === 60_000));
});
