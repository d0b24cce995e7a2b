// SPDX-License-Identifier: MIT
// A game that is played or watched: what the server says of it, the board, and what a player does.
import { Code, GameStateSchema, isFromHandler, Rules, Seat } from "./lib/corolane.js";
import { Board } from "./board.js";
import { Clocks } from "./clocks.js";
import { chess, codeOf, follow, pause, textOf, whenOpen } from "./link.js";
import { keepSeat, playerName, seatOf } from "./store.js";
import { ending, seatName, spoken } from "./words.js";

const part = (id) => document.getElementById(id);
const other = (seat) => (seat === Seat.WHITE ? Seat.BLACK : Seat.WHITE);

export class GameView {
  #game;
  #end = new AbortController();
  #mine; // The seat of this player, and its token; nothing for a spectator.
  #players = {}; // By seat: a name, which may be empty; nothing while the seat is free.
  #rules = new Rules();
  #sans = []; // All moves; "…" where the server does not tell any more.
  #state;
  #sending = false; // The last move is not known to the server yet.
  #applied = Promise.resolve(); // States are shown one after the other.
  #clocks;
  #board;

  constructor(game) {
    this.#game = game;
    this.#mine = seatOf(game);
    const { signal } = this.#end;
    this.#board = new Board(part("board"), part("promotion"), (it) => this.#play(it.san), signal);
    this.#board.flip(this.#mine?.seat === Seat.BLACK);
    this.#clocks = new Clocks((...told) => this.#showClock(...told));
    const on = (id, event, handler) =>
      part(id).addEventListener(event, handler.bind(this), { signal });
    on("flip", "click", () => (this.#board.flip(!this.#board.isFlipped), this.#show()));
    on("draw", "click", this.#draw);
    on("resign", "click", this.#resign);
    on("take", "click", this.#takeSeat);
    on("copy", "click", this.#copyLink);
    on("san-form", "submit", this.#submitSan);
    on("link", "focus", () => part("link").select());
    part("link").value = location.href;
    part("moves").replaceChildren();
    part("san").value = "";
    this.#note("");
    this.#show();
    this.#follow();
  }

  close() {
    this.#end.abort();
    this.#clocks.stop();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    part("live").textContent = "";
  }

  // What the server says.

  async #follow() {
    const { signal } = this.#end;
    const game = this.#game;
    const seen = (reply) => {
      this.#players = { [Seat.WHITE]: reply.white?.name, [Seat.BLACK]: reply.black?.name };
      return reply;
    };
    const look = async () => seen(await chess.look({ game }, { signal })).state;
    const show = async (state) => {
      if (this.#freeSeat() && state.outcome === "unfinished") await look();
      await this.#apply(state);
      return state.outcome === "unfinished";
    };
    const enter = async () => {
      const reply = seen(await chess.follow({ game }, { signal }));
      await this.#apply(reply.state);
      return reply;
    };
    try {
      await follow(GameStateSchema, { enter, look, show, signal });
    } catch (error) {
      if (signal.aborted || this.#isOver()) return;
      this.#clocks.stop();
      const isGone = codeOf(error) === Code.NotFound;
      this.#status(isGone ? "This game is over, or never was." : textOf(error));
      part("again").hidden = false;
    }
  }

  // States come late and twice: of those with equal plies the last one counts.
  #apply(state) {
    this.#applied = this.#applied.then(() => this.#applyNow(state)).catch((error) => {
      if (!this.#end.signal.aborted) this.#note(textOf(error));
    });
    return this.#applied;
  }

  async #applyNow(state) {
    const isOver = state.outcome !== "unfinished";
    if (this.#end.signal.aborted || this.#isOver()) return;
    if (state.plies < (this.#state?.plies ?? 0)) return;
    const wasAt = this.#sans.length;
    const before = this.#state;
    if (isOver && this.#sending && state.plies < this.#sans.length) this.#takeBack();
    await this.#catchUp(state);
    if (this.#end.signal.aborted) return;
    this.#state = state;
    if (state.plies >= this.#sans.length) this.#setClocks(state);
    this.#show();
    if (before) this.#announce(before, wasAt);
  }

  #setClocks({ whiteClockMs, blackClockMs, turn }) {
    this.#clocks.set({
      [Seat.WHITE]: Number(whiteClockMs),
      [Seat.BLACK]: Number(blackClockMs),
      running: this.#isOver() || this.#freeSeat() ? undefined : turn,
    });
  }

  // Plays what the state has beyond the board.
  async #catchUp({ plies, fen, lastSan }) {
    const position = (text) => text.split(" ").slice(0, 2).join(" ");
    if (plies === this.#sans.length + 1) this.#add(lastSan);
    else if (plies > this.#sans.length) await this.#fetchMoves(plies);
    const isAhead = plies < this.#sans.length; // By the move that is being sent.
    if (isAhead || position(this.#rules.fen()) === position(fen)) return;
    this.#rules.load(fen);
    this.#sans = Array(plies).fill("…");
  }

  async #fetchMoves(plies) {
    const { signal } = this.#end;
    const request = { game: this.#game, fromPly: this.#sans.length + 1 };
    for await (const { ply, san } of chess.followMoves(request, { signal })) {
      this.#add(san);
      if (ply >= plies) break;
    }
  }

  #add(san) {
    this.#rules.move(san);
    this.#sans.push(san);
  }

  #takeBack() {
    this.#rules.undo();
    this.#sans.pop();
    this.#sending = false;
  }

  #isOver() {
    return this.#state !== undefined && this.#state.outcome !== "unfinished";
  }

  #freeSeat() {
    return [Seat.WHITE, Seat.BLACK].find((seat) => this.#players[seat] === undefined);
  }

  #isMyTurn() {
    if (!this.#mine || !this.#state || this.#isOver() || this.#freeSeat()) return false;
    return (this.#rules.turn() === "w") === (this.#mine.seat === Seat.WHITE) && !this.#sending;
  }

  // What the player does.

  // The board shows the move at once; the server has the last word.
  async #play(san) {
    if (!this.#isMyTurn()) return;
    this.#note("");
    this.#add(san);
    this.#sending = true;
    this.#clocks.run(other(this.#mine.seat));
    this.#show();
    await this.#send(san, this.#sans.length);
  }

  // A move whose fate is unknown after a break is looked for before it is sent again.
  async #send(san, ply) {
    const { signal } = this.#end;
    const request = { game: this.#game, token: this.#mine.token, san };
    while (!signal.aborted) {
      try {
        const { state } = await chess.move(request, { signal });
        this.#sending = false;
        return this.#apply(state);
      } catch (error) {
        if (signal.aborted || this.#isOver()) return;
        if (isFromHandler(error) && codeOf(error) !== Code.Unavailable) {
          if (this.#sans.length === ply && this.#sending) this.#takeBack();
          this.#clocks.run(this.#mine.seat);
          this.#note(textOf(error));
          return this.#show();
        }
      }
      await whenOpen(signal);
      try {
        const { state } = await chess.look({ game: this.#game }, { signal });
        if (state.plies >= ply || state.outcome !== "unfinished") {
          if (state.plies >= ply) this.#sending = false;
          return this.#apply(state);
        }
      } catch {
        await pause(500, signal);
      }
    }
  }

  #submitSan(event) {
    event.preventDefault();
    const text = part("san").value.trim();
    if (!text || !this.#isMyTurn()) return;
    const move = this.#legalMoves().find(({ san, lan }) => {
      const plain = (it) => it.replace(/[+#=x-]/g, "").toLowerCase();
      return san === text || plain(san) === plain(text) || lan === text.toLowerCase();
    });
    if (!move) return this.#note(`${text} is no legal move here`);
    part("san").value = "";
    this.#play(move.san);
  }

  async #act(method) {
    this.#note("");
    try {
      const request = { game: this.#game, token: this.#mine.token };
      const { state } = await chess[method](request, { signal: this.#end.signal });
      await this.#apply(state);
    } catch (error) {
      if (!this.#end.signal.aborted) this.#note(textOf(error));
    }
  }

  #canClaimDraw() {
    return this.#rules.isThreefoldRepetition() || this.#rules.isDrawByFiftyMoves();
  }

  #draw() {
    return this.#act(this.#isMyTurn() && this.#canClaimDraw() ? "claimDraw" : "offerDraw");
  }

  #resign() {
    const dialog = part("confirm");
    dialog.returnValue = "";
    dialog.showModal();
    const closed = () => dialog.returnValue === "yes" && this.#act("resign");
    dialog.addEventListener("close", closed, { once: true });
  }

  async #takeSeat() {
    const seat = this.#freeSeat();
    try {
      const { token, state } = await chess.join({ game: this.#game, seat, player: playerName() });
      this.#mine = { seat, token };
      keepSeat(this.#game, this.#mine);
      this.#players[seat] = playerName();
      this.#board.flip(seat === Seat.BLACK);
      await this.#apply(state);
    } catch (error) {
      this.#note(textOf(error));
    }
  }

  async #copyLink() {
    part("link").select();
    try {
      await navigator.clipboard.writeText(part("link").value);
      part("copy").textContent = "Copied";
      await pause(2_000, this.#end.signal);
    } catch {
      this.#note("Copy the marked text yourself: this browser does not let the page do it");
    }
    part("copy").textContent = "Copy";
  }

  // What is seen and heard.

  #note(text) {
    part("note").textContent = text;
  }

  #status(text) {
    if (part("status").textContent !== text) part("status").textContent = text;
  }

  #legalMoves() {
    return this.#rules.moves({ verbose: true });
  }

  #show() {
    const rules = this.#rules;
    const last = rules.history({ verbose: true }).at(-1);
    const check = rules.inCheck() ? rules.findPiece({ type: "k", color: rules.turn() })[0] : "";
    const moves = this.#isMyTurn() ? this.#legalMoves() : [];
    this.#board.show({ fen: rules.fen(), last: last ? [last.from, last.to] : [], check, moves });
    this.#showPlates();
    this.#showMoves();
    this.#showPanel();
  }

  #nameOf(seat) {
    const name = this.#players[seat];
    if (name === undefined) return this.#state ? "Free seat" : "";
    return name || seatName(seat);
  }

  #plateOf(seat) {
    const isTop = (seat === Seat.WHITE) === this.#board.isFlipped;
    return part(isTop ? "plate-top" : "plate-bottom");
  }

  #showPlates() {
    for (const seat of [Seat.WHITE, Seat.BLACK]) {
      const plate = this.#plateOf(seat);
      plate.dataset.colour = seatName(seat).toLowerCase();
      const isWinner = this.#isOver() && this.#state.winner === seat;
      const mark = isWinner ? " – winner" : seat === this.#mine?.seat ? " (you)" : "";
      plate.querySelector(".player").textContent = this.#nameOf(seat) + mark;
      plate.querySelector(".clock").ariaLabel = `Clock of ${seatName(seat)}`;
    }
    const names = `${this.#nameOf(Seat.WHITE)} – ${this.#nameOf(Seat.BLACK)}`;
    part("game-title").textContent = `Game: ${names}`;
    document.title = (this.#isMyTurn() ? "● Your move · " : "") + `${names} · Chess`;
    this.#clocks.show();
  }

  #showClock(text, seat, isLow, runs) {
    const clock = this.#plateOf(seat).querySelector(".clock");
    if (clock.textContent !== text) clock.textContent = text;
    clock.classList.toggle("low", isLow);
    clock.classList.toggle("runs", runs);
  }

  #showMoves() {
    const list = part("moves");
    const rows = [];
    for (let i = 0; i < this.#sans.length; i += 2) rows.push(this.#sans.slice(i, i + 2));
    while (list.children.length > rows.length) list.lastChild.remove();
    rows.forEach((row, index) => {
      const text = row.join(" ");
      const item = list.children[index] ?? list.appendChild(document.createElement("li"));
      if (item.dataset.moves === text) return;
      item.dataset.moves = text;
      item.replaceChildren(...row.flatMap((san) => {
        const move = document.createElement("span");
        move.textContent = san;
        return [move, " "];
      }));
    });
    list.scrollTo(list.scrollWidth, list.scrollHeight);
  }

  #showPanel() {
    const free = this.#freeSeat();
    const isOpen = this.#state !== undefined && !this.#isOver();
    const plays = isOpen && this.#mine !== undefined && !free;
    part("invite").hidden = !(isOpen && free && this.#mine);
    part("free").hidden = !(isOpen && free && !this.#mine);
    if (free) {
      part("free-text").textContent = `${this.#nameOf(other(free))} waits for an opponent.`;
      part("take").textContent = `Play ${seatName(free).toLowerCase()} as ${playerName()}`;
    }
    for (const id of ["san-form", "resign", "draw"]) part(id).hidden = !plays;
    part("again").hidden = !this.#isOver();
    part("flip").hidden = isOpen && free !== undefined;
    const isOffered = plays && this.#state.drawOfferedBy === other(this.#mine.seat);
    const claims = plays && this.#isMyTurn() && this.#canClaimDraw();
    const hasOffered = plays && this.#state.drawOfferedBy === this.#mine.seat;
    part("draw").textContent = claims ? "Claim draw" : isOffered ? "Accept draw"
      : hasOffered ? "Draw offered" : "Offer draw";
    part("draw").disabled = hasOffered && !claims;
    part("draw").classList.toggle("primary", isOffered || claims);
    this.#status(this.#summary(free, isOffered));
  }

  #summary(free, isOffered) {
    if (!this.#state) return "Loading the game";
    if (this.#isOver()) return ending(this.#state);
    if (free) return this.#mine ? "Waiting for your friend" : "A seat is free";
    if (isOffered) return `${this.#nameOf(other(this.#mine.seat))} offers a draw`;
    const check = this.#rules.inCheck() ? "Check! " : "";
    if (this.#isMyTurn()) return `${check}Your move`;
    const turn = this.#rules.turn() === "w" ? Seat.WHITE : Seat.BLACK;
    return `${check}${this.#nameOf(turn)} thinks`;
  }

  // For those who listen: what others have done, and what follows from it.
  #announce(before, wasAt) {
    const said = [];
    const { plies, drawOfferedBy: offerer } = this.#state;
    if (plies > wasAt) {
      const seat = plies % 2 ? Seat.WHITE : Seat.BLACK;
      said.push(`${seatName(seat)}: ${spoken(this.#state.lastSan)}.`);
    }
    if (this.#isOver()) said.push(ending(this.#state));
    else if (plies > wasAt && this.#isMyTurn()) said.push("Your move.");
    if (offerer && offerer !== before.drawOfferedBy && offerer !== this.#mine?.seat) {
      said.push(`${seatName(offerer)} offers a draw.`);
    }
    if (said.length) part("live").textContent = said.join(" ");
  }
}
