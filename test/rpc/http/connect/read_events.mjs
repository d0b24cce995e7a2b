// SPDX-License-Identifier: MIT
// Reads streams of connect_server as a browser's EventSource does, which node does not have without
// a flag. Argument: the URL of the server. Throws at the first broken claim.
import assert from "node:assert/strict";

const [baseUrl] = process.argv.slice(2);

// The events of a stream, as EventSource dispatches them: {name, data, at}.
async function* eventsOf(message, abort = new AbortController()) {
  const query = new URLSearchParams({ encoding: "json", message: JSON.stringify(message) });
  const response = await fetch(`${baseUrl}/corolane.test.Echo/Count?${query}`, {
    headers: { Accept: "text/event-stream" },
    signal: abort.signal,
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("cache-control"), "no-store");
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const event = { name: "message", data: [], at: performance.now() };
      for (const line of text.slice(0, end).split("\n")) {
        if (line.startsWith("event: ")) event.name = line.slice(7);
        if (line.startsWith("data: ")) event.data.push(line.slice(6));
      }
      if (event.data.length > 0) yield { ...event, data: JSON.parse(event.data.join("\n")) };
    }
  }
  assert.equal(text, "", "the stream ends behind an event");
}

async function allOf(message) {
  const all = [];
  for await (const event of eventsOf(message)) all.push(event);
  return all;
}

const counted = await allOf({ count: 3, milliseconds: 300 });
assert.deepEqual(
  counted.map(({ name, data }) => [name, data]),
  [["message", {}], ["message", { number: 1 }], ["message", { number: 2 }], ["end", {}]],
);
assert.ok(counted[2].at - counted[0].at > 400, "events arrive as they are written");

const failed = await allOf({ count: 1, errorCode: 9 });
assert.deepEqual(
  failed.map(({ name, data }) => [name, data.code]),
  [["message", undefined], ["failure", "failed_precondition"]],
);

// The comment that a silent stream begins with is no event, and closing ends the stream.
const abort = new AbortController();
for await (const { data } of eventsOf({ count: 1000, milliseconds: 5 }, abort)) {
  if (data.number === 10) break;
}
abort.abort();

console.log("all claims hold");
