// SPDX-License-Identifier: MIT
// What this browser remembers: the player's name, and the seats of games by their tokens.
const seatKept = 24 * 3600 * 1000;
const seatPrefix = "corolane.chess.seat.";

// A browser may refuse to remember anything; then a reload loses the seat, and nothing else.
function attempt(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}

export function playerName() {
  const kept = attempt(() => localStorage.getItem("corolane.chess.name"));
  if (kept) return kept;
  // Two guests are two players.
  const name = `Guest ${1000 + (crypto.getRandomValues(new Uint16Array(1))[0] % 9000)}`;
  keepPlayerName(name);
  return name;
}

export function keepPlayerName(name) {
  attempt(() => localStorage.setItem("corolane.chess.name", name));
}

// { seat, token } or nothing.
export function seatOf(game) {
  return attempt(() => {
    const { seat, token } = JSON.parse(localStorage.getItem(seatPrefix + game));
    return { seat, token: BigInt(token) };
  });
}

export function keepSeat(game, { seat, token }) {
  forgetOldSeats();
  const kept = JSON.stringify({ seat, token: String(token), at: Date.now() });
  attempt(() => localStorage.setItem(seatPrefix + game, kept));
}

function forgetOldSeats() {
  for (const key of attempt(() => Object.keys(localStorage)) ?? []) {
    if (!key.startsWith(seatPrefix)) continue;
    const { at } = attempt(() => JSON.parse(localStorage.getItem(key))) ?? { at: 0 };
    if (Date.now() - at > seatKept) attempt(() => localStorage.removeItem(key));
  }
}
