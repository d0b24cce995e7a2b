// SPDX-License-Identifier: MIT
// What the page of a new project takes from libraries: web/lib/corolane.js of its template.
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

export { Code, ConnectError, createClient } from "@connectrpc/connect";
export * from "./client/index.js";

/**
 * The services and messages of .proto files, for a page without generated code. The build of the
 * project writes them to that URL: DESCRIPTORS of corolane_add_protos().
 *
 *     const types = await loadTypes("lib/types.binpb");
 *     const guild = createClient(types.getService("demo.Guild"), connection.object("lions"));
 */
export async function loadTypes(url: string): Promise<FileRegistry> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
}
