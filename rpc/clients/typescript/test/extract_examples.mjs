// SPDX-License-Identifier: MIT
// Writes the examples of README.md to test/gen/examples.ts: each becomes a function, with what it
// should print beside it. An arrow in a comment, "// → text", says that.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const imports = new Set(['import { createClient, type Client } from "@connectrpc/connect";']);
const examples = [];
for (const [, text] of readFileSync("README.md", "utf8").matchAll(/```ts\n(.*?)```/gs)) {
  const body = [];
  const prints = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("import ")) body.push(line);
    else if (!line.includes("{ createClient }") && !line.includes("{ connect }")) {
      imports.add(line.replace("./gen/", "./").replace("@corolane/client", "../../src/index.js"));
    }
    const [, expected] = /\/\/ → (.*)$/.exec(line) ?? [];
    if (expected !== undefined) prints.push(...expected.split(" → "));
  }
  examples.push({ body: body.join("\n"), prints });
}

const given = "{ connect, connection, chess, console, fetch, enterRoom }: Given";
const source = `// Made from README.md by test/extract_examples.mjs.
${[...imports].join("\n")}
import type { Connection, ConnectOptions } from "../../src/index.js";

export interface Given {
  connect(options: ConnectOptions): Connection;
  connection: Connection;
  chess: Client<typeof Chess>;
  console: { log(...words: unknown[]): void };
  fetch(path: string): Promise<{ ok: boolean; status: number; text(): Promise<string> }>;
  enterRoom(): Promise<{ group: number }>;
}

export const examples: { run(given: Given): Promise<void>; prints: string[] }[] = [
${examples
  .map(
    ({ body, prints }) => `{
prints: ${JSON.stringify(prints)},
async run(${given}) {
void [connect, connection, chess, console, fetch, enterRoom];
{
${body}
}
},
},`,
  )
  .join("\n")}
];
`;
mkdirSync("test/gen", { recursive: true });
writeFileSync("test/gen/examples.ts", source);
