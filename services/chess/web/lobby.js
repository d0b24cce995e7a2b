// SPDX-License-Identifier: MIT
// The lobby: who wants to play, and the games that can be watched.
import { Code, HallNewsSchema, Seat } from "./lib/corolane.js";
import { smallBoard } from "./board.js";
import { chess, codeOf, follow, linkTo, pause, textOf, whenOpen } from "./link.js";
import { keepPlayerName, keepSeat, playerName } from "./store.js";
import { ending } from "./words.js";

// Players meet those who want the same kind of game: here, others in a browser.
const kind = "browser";
const seekTime = 600_000;

const part = (id) => document.getElementById(id);

// The name of a new game for friends: whoever knows it may take a seat.
function randomName() {
  const digits = crypto.getRandomValues(new Uint8Array(10));
  return "friends-" + [...digits].map((it) => (it % 36).toString(36)).join("");
}

export class LobbyView {
  #end = new AbortController();
  #seek;
  #open;
  #boards = new Map(); // By game: the entry, and its position.

  // Calls `open` with the name of the game to show.
  constructor(open) {
    this.#open = open;
    document.title = "Chess";
    part("name").value = playerName();
    this.#note("");
    const on = (id, event, handler) =>
      part(id).addEventListener(event, handler.bind(this), { signal: this.#end.signal });
    on("play", "submit", (event) => (event.preventDefault(), this.#playSomeone()));
    on("friend", "click", this.#playFriend);
    on("cancel", "click", () => this.#seek?.abort());
    on("name", "change", this.#showRating);
    this.#showSeeking(false);
    this.#showRating();
    this.#followHall();
  }

  close() {
    this.#end.abort();
    this.#seek?.abort();
  }

  #note(text) {
    part("lobby-note").textContent = text;
  }

  #name() {
    const name = part("name").value.trim() || playerName();
    keepPlayerName(name);
    return name;
  }

  async #showRating() {
    try {
      const { signal } = this.#end;
      const { rating, wins, draws, losses } =
        await chess.lookAtPlayer({ player: this.#name() }, { signal });
      const games = wins + draws + losses;
      const text = games ? `Rating ${rating}, ${games} ${games === 1 ? "game" : "games"}` : "";
      if (!signal.aborted) part("rating").textContent = text;
    } catch {
      part("rating").textContent = "";
    }
  }

  #showSeeking(seeks) {
    part("seeking").hidden = !seeks;
    for (const id of ["name", "seek", "friend"]) part(id).disabled = seeks;
    if (seeks) part("cancel").focus();
  }

  async #playSomeone() {
    const player = this.#name();
    this.#seek = new AbortController();
    const { signal } = this.#seek;
    this.#note("");
    this.#showSeeking(true);
    while (!signal.aborted) {
      try {
        const found = await chess.seek({ player, kind }, { signal, timeoutMs: seekTime });
        keepSeat(found.game, found);
        this.#open(found.game);
        return;
      } catch (error) {
        const code = codeOf(error);
        if (signal.aborted) break;
        if (code === Code.DeadlineExceeded) {
          this.#note("Nobody came for ten minutes. Try again later, or invite a friend.");
          break;
        }
        if (code !== Code.Aborted && code !== Code.Unavailable) {
          this.#note(textOf(error));
          break;
        }
        await pause(300, signal);
        await whenOpen(signal);
      }
    }
    this.#showSeeking(false);
    part("seek").focus();
  }

  async #playFriend() {
    const game = randomName();
    const seat = crypto.getRandomValues(new Uint8Array(1))[0] % 2 ? Seat.WHITE : Seat.BLACK;
    try {
      const { token } = await chess.join({ game, seat, player: this.#name() });
      keepSeat(game, { seat, token });
      this.#open(game);
    } catch (error) {
      this.#note(textOf(error));
    }
  }

  async #followHall() {
    const { signal } = this.#end;
    const show = ({ games }) => void (signal.aborted || this.#showGames(games));
    const enter = async () => {
      const reply = await chess.followHall({}, { signal });
      show(reply);
      return reply;
    };
    try {
      await follow(HallNewsSchema, {
        enter, look: () => chess.listGames({}, { signal }), show, signal,
      });
    } catch (error) {
      this.#note(textOf(error));
    }
  }

  // Entries stay where they are while their games go on, so that a click meets what it aims at.
  #showGames(games) {
    const names = new Set(games.map(({ game }) => game));
    for (const [name, { entry }] of this.#boards) {
      if (names.has(name)) continue;
      entry.remove();
      this.#boards.delete(name);
    }
    for (const game of games) {
      if (!this.#boards.has(game.game)) this.#addGame(game);
      this.#update(this.#boards.get(game.game), game);
    }
    part("no-games").hidden = games.length > 0;
    part("hall-count").textContent = games.length ? String(games.length) : "";
  }

  #addGame({ game }) {
    const entry = document.createElement("li");
    const link = document.createElement("a");
    link.href = linkTo(game);
    const text = document.createElement("span");
    text.className = "players";
    const more = document.createElement("span");
    more.className = "quiet";
    link.append(text, more);
    entry.append(link);
    if (this.#boards.size === 0) part("games").replaceChildren();
    part("games").append(entry);
    this.#boards.set(game, { entry, link, text, more, fen: "" });
  }

  #update(shown, { white, black, plies, fen, outcome, winner }) {
    shown.text.textContent = `${white || "White"} – ${black || "Black"}`;
    const isOver = outcome !== "unfinished";
    shown.more.textContent = isOver
      ? ending({ outcome, winner })
      : `Move ${Math.floor(plies / 2) + 1}`;
    shown.entry.classList.toggle("over", isOver);
    if (shown.fen === fen) return;
    shown.fen = fen;
    shown.link.querySelector("svg")?.remove();
    shown.link.prepend(smallBoard(fen));
  }
}
