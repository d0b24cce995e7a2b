// SPDX-License-Identifier: MIT
// Colyseus, as a peer of tools/bench edge: "server.mjs --rows" prints the names of its rows,
// "server.mjs serve ROW" prints the port on which it serves a row. All clients are in one room,
// which has no state.
import { createServer } from 'node:http';

import { Room, Server } from '@colyseus/core';
import { WebSocketTransport } from '@colyseus/ws-transport';

// Messages of this size are published; others are acknowledgements.
const publicationBytes = 98;

const rows = {
  'echo/1000x1': (_, client, bytes) => client.sendBytes('m', bytes),
  publish,
  'publish/acknowledged': publish,
};

function publish(room, _, bytes) {
  if (bytes.length === publicationBytes) room.broadcastBytes('m', bytes, {});
}

async function serve(answer) {
  class BenchRoom extends Room {
    maxMessagesPerSecond = Infinity;
    onCreate() {
      this.autoDispose = false;
      this.setPatchRate(null);
      this.onMessageBytes('m', (client, bytes) => answer(this, client, bytes));
    }
  }
  const transport = new WebSocketTransport({ server: createServer() });
  const server = new Server({ transport, greet: false });
  server.define('bench', BenchRoom);
  await server.listen(0, '127.0.0.1', 4096);
  console.log(transport.server.address().port);
}

const [command, row] = process.argv.slice(2);
if (command === '--rows') {
  console.log(Object.keys(rows).join('\n'));
} else if (command === 'serve' && row in rows) {
  await serve(rows[row]);
} else {
  console.log('usage: server.mjs --rows | server.mjs serve ROW');
  process.exitCode = 2;
}
