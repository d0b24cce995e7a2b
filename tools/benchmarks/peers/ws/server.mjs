// SPDX-License-Identifier: MIT
// The library ws, as a peer of tools/bench edge: "server.mjs --rows" prints the names of its rows,
// "server.mjs serve ROW" prints the port on which it serves a row.
import { WebSocketServer } from 'ws';

// Messages of this size are published; others are acknowledgements.
const publicationBytes = 98;

const rows = {
  idle: () => {},
  'echo/1000x1': (_, socket, message) => socket.send(message, { binary: true }),
  publish,
  'publish/acknowledged': publish,
};

function publish(server, _, message) {
  if (message.length !== publicationBytes) return;
  for (const client of server.clients) client.send(message, { binary: true });
}

function serve(answer) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, backlog: 4096 });
  server.on('listening', () => console.log(server.address().port));
  server.on('connection', (socket) => {
    socket.on('message', (message) => answer(server, socket, message));
    socket.on('error', () => {}); // A client that has gone.
  });
}

const [command, row] = process.argv.slice(2);
if (command === '--rows') {
  console.log(Object.keys(rows).join('\n'));
} else if (command === 'serve' && row in rows) {
  serve(rows[row]);
} else {
  console.log('usage: server.mjs --rows | server.mjs serve ROW');
  process.exitCode = 2;
}
