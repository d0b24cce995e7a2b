// SPDX-License-Identifier: MIT
// The session with the server: one for the page, over one WebSocket after the other.
import { Chess, Code, ConnectError, connect, createClient } from "./lib/corolane.js";

export const connection = connect({ url: location.origin.replace(/^http/, "ws") });
export const chess = createClient(Chess, connection);

// The address of a game on this page.
export const linkTo = (game) => `#game=${encodeURIComponent(game)}`;

export const codeOf = (error) => ConnectError.from(error).code;
export const textOf = (error) => ConnectError.from(error).rawMessage;

export function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

// Returns when calls can be sent, or when the signal says that nobody wants to send any.
export function whenOpen(signal) {
  if (connection.state.is === "open" || signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => (stop(), resolve());
    const stop = connection.onState((state) => void (state.is === "open" && done()));
    signal?.addEventListener("abort", done, { once: true });
  });
}

// Follows what an object publishes until the signal, or until `show` returns false. `enter` makes
// the call whose reply names the group, and shows the first picture. A gap shows what `look`
// returns. A session that is a new one enters again. Fails when the server refuses.
export async function follow(schema, { enter, look, show, signal }) {
  while (!signal.aborted) {
    try {
      const reply = await enter();
      for await (const news of connection.follow(schema, reply, { signal })) {
        const picture = news.isGap ? await look() : news.message;
        if ((await show(picture)) === false) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const code = codeOf(error);
      if (code === Code.NotFound || code === Code.InvalidArgument) throw error;
    }
    await pause(500, signal);
    await whenOpen(signal);
  }
}

// Says in the banner how the connection is, while it is not open and for a moment after.
export function showState(banner) {
  let wasAway = false;
  let timer;
  const say = (text, kind) => {
    banner.textContent = text;
    banner.dataset.kind = kind;
  };
  const countDown = (until) => {
    const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    say(seconds > 0 ? `Offline. Next try in ${seconds} s` : "Offline. Trying again", "away");
  };
  const show = (state) => {
    clearInterval(timer);
    if (state.is === "open") {
      say(wasAway ? "Back online" : "", "back");
      if (wasAway) timer = setTimeout(() => say("", ""), 2_500);
      wasAway = false;
    } else if (state.is === "waiting") {
      wasAway = true;
      countDown(state.until);
      timer = setInterval(() => countDown(state.until), 1_000);
    } else if (state.is === "connecting") {
      // The first connection is usually there before anyone could read about it.
      timer = setTimeout(() => say("Connecting", "away"), wasAway ? 0 : 600);
    } else {
      say(`Disconnected: ${state.reason?.message ?? "closed"}. Load the page again`, "away");
    }
  };
  connection.onState(show);
  show(connection.state);
}
