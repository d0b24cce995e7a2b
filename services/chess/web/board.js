// SPDX-License-Identifier: MIT
// The board: shows a position, and lets a player move by drag, by taps and by keys.
import { colourNames, pieceNames } from "./words.js";

const files = "abcdefgh";
const ranks = [1, 2, 3, 4, 5, 6, 7, 8];
const dragDistance = 4; // Pixels; a finger that taps trembles.
const svg = "http://www.w3.org/2000/svg";

function drawing(name, parts) {
  const element = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(parts)) element.setAttribute(key, value);
  return element;
}

const use = (symbol, place = {}) => drawing("use", { href: `#${symbol}`, ...place });
const useOf = (type, place) => use(`${pieceNames[type]}-piece`, place);

// Takes the drawings into the page, where they stay when the server is out of reach.
export async function loadPieces() {
  const text = await (await fetch("pieces.svg")).text();
  const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
  documentElement.setAttribute("class", "unseen");
  document.body.append(documentElement);
}

export function pieceElement({ color, type }) {
  const element = drawing("svg", { class: `piece ${colourNames[color]}`, "aria-hidden": "true" });
  element.append(useOf(type));
  return element;
}

// A position as one drawing.
export function smallBoard(fen) {
  const about = { class: "small-board", viewBox: "0 0 800 800", "aria-hidden": "true" };
  const board = drawing("svg", about);
  board.append(use("squares", { width: 800, height: 800 }));
  for (const [square, { color, type }] of piecesOf(fen)) {
    const x = files.indexOf(square[0]) * 100;
    const place = { x, y: (8 - Number(square[1])) * 100, width: 100, height: 100 };
    board.append(useOf(type, { class: `piece ${colourNames[color]}`, ...place }));
  }
  return board;
}

// The pieces of a FEN by their squares.
export function piecesOf(fen) {
  const pieces = new Map();
  fen.split(" ")[0].split("/").forEach((row, fromTop) => {
    let file = 0;
    for (const sign of row) {
      if (/\d/.test(sign)) {
        file += Number(sign);
        continue;
      }
      const color = sign === sign.toLowerCase() ? "b" : "w";
      pieces.set(files[file++] + (8 - fromTop), { color, type: sign.toLowerCase() });
    }
  });
  return pieces;
}

export class Board {
  #root;
  #squares = new Map(); // By name, in no order of the screen.
  #pieces = new Map();
  #moves = []; // The legal ones of the player whose board it is.
  #picked;
  #drag;
  #tapped;
  #isFlipped;
  #onMove;
  #promotion;

  // Calls `onMove` with a move of those that show() was given.
  constructor(root, promotion, onMove, signal) {
    this.#root = root;
    this.#promotion = promotion;
    this.#onMove = onMove;
    for (const file of files) {
      for (const rank of ranks) this.#squares.set(file + rank, this.#square(file, rank));
    }
    this.flip(false);
    const on = (name, handler) => root.addEventListener(name, handler.bind(this), { signal });
    on("pointerdown", this.#down);
    on("pointermove", this.#move);
    on("pointerup", this.#up);
    on("pointercancel", this.#cancelDrag);
    on("keydown", this.#key);
    on("focusin", (event) => this.#rove(event.target.dataset.square));
  }

  #square(file, rank) {
    const square = document.createElement("div");
    square.setAttribute("role", "gridcell");
    square.dataset.square = file + rank;
    square.tabIndex = -1;
    square.className = (files.indexOf(file) + rank) % 2 ? "square light" : "square dark";
    return square;
  }

  get isFlipped() {
    return this.#isFlipped;
  }

  // Black is at the bottom of a flipped board.
  flip(isFlipped) {
    if (isFlipped === this.#isFlipped) return;
    this.#isFlipped = isFlipped;
    const down = isFlipped ? ranks : ranks.toReversed();
    const order = isFlipped ? [...files].reverse() : [...files];
    const rows = down.map((rank) => {
      const row = document.createElement("div");
      row.setAttribute("role", "row");
      for (const file of order) {
        const square = this.#squares.get(file + rank);
        square.dataset.rank = file === order[0] ? rank : "";
        square.dataset.file = rank === down[7] ? file : "";
        row.append(square);
      }
      return row;
    });
    this.#root.replaceChildren(...rows);
    this.#rove(this.#root.querySelector('[tabindex="0"]')?.dataset.square ?? "e2");
  }

  // Shows a position: `last` are the squares of the last move, `check` that of a king in check;
  // `moves` are those that the player may make now.
  show({ fen, last = [], check, moves = [] }) {
    const pieces = piecesOf(fen);
    const wasDropped = this.#tapped === undefined && this.#drag?.isDropped;
    const places = wasDropped ? new Map() : this.#origins(pieces);
    this.#cancelDrag();
    for (const [name, square] of this.#squares) {
      const [before, after] = [this.#pieces.get(name), pieces.get(name)];
      if (before?.type !== after?.type || before?.color !== after?.color) {
        square.replaceChildren(...(after ? [pieceElement(after)] : []));
        if (places.has(name)) this.#slide(places.get(name), square);
      }
      square.classList.toggle("last", last.includes(name));
      square.classList.toggle("check", name === check);
    }
    this.#pieces = pieces;
    this.#moves = moves;
    if (!moves.some(({ from }) => from === this.#picked)) this.#picked = undefined;
    this.#mark();
  }

  // From where each piece has come that is on a square where it was not.
  #origins(pieces) {
    const left = [...this.#pieces].filter(([name, piece]) => {
      const now = pieces.get(name);
      return now?.type !== piece.type || now?.color !== piece.color;
    });
    const origins = new Map();
    for (const [name, piece] of pieces) {
      const before = this.#pieces.get(name);
      if (before?.type === piece.type && before?.color === piece.color) continue;
      const from = left.find(([, it]) => it.type === piece.type && it.color === piece.color);
      if (from) origins.set(name, from[0]);
    }
    return origins.size <= 2 ? origins : new Map(); // A move, not another game.
  }

  #slide(from, square) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [start, end] = [this.#squares.get(from), square].map((it) => it.getBoundingClientRect());
    const shift = `translate(${start.x - end.x}px, ${start.y - end.y}px)`;
    square.classList.add("sliding");
    square.firstChild
      .animate([{ transform: shift }, { transform: "none" }], { duration: 180, easing: "ease-out" })
      .finished.catch(() => {})
      .then(() => square.classList.remove("sliding"));
  }

  // Marks what is picked and where it may go, and names all squares.
  #mark() {
    const targets = new Set(this.#targets().map(({ to }) => to));
    for (const [name, square] of this.#squares) {
      const piece = this.#pieces.get(name);
      const isPicked = name === this.#picked;
      square.classList.toggle("picked", isPicked);
      square.classList.toggle("target", targets.has(name));
      square.classList.toggle("capture", targets.has(name) && piece !== undefined);
      square.classList.toggle("movable", this.#canPick(name));
      square.ariaSelected = isPicked;
      const named = piece ? `, ${colourNames[piece.color]} ${pieceNames[piece.type]}` : "";
      const label = name + named + (targets.has(name) ? ", possible move" : "");
      if (square.ariaLabel !== label) square.ariaLabel = label;
    }
  }

  #targets() {
    return this.#moves.filter(({ from }) => from === this.#picked);
  }

  #isTarget(name) {
    return this.#targets().some(({ to }) => to === name);
  }

  #canPick(name) {
    return this.#moves.some(({ from }) => from === name);
  }

  #pick(name) {
    this.#picked = name;
    this.#mark();
  }

  async #play(to) {
    const fitting = this.#targets().filter((move) => move.to === to);
    const type = fitting.length > 1 ? await this.#choose(fitting[0].color) : fitting[0].promotion;
    const move = fitting.find(({ promotion }) => promotion === type);
    this.#picked = undefined;
    if (move && this.#moves.includes(move)) this.#onMove(move);
    this.#cancelDrag();
    this.#mark();
  }

  // Which piece a pawn becomes; nothing when the player thinks better of it.
  #choose(color) {
    const form = this.#promotion.querySelector("form");
    form.replaceChildren(
      ...["q", "r", "b", "n"].map((type) => {
        const button = document.createElement("button");
        button.value = type;
        button.setAttribute("aria-label", pieceNames[type]);
        button.append(pieceElement({ color, type }));
        return button;
      }),
    );
    this.#promotion.returnValue = "";
    this.#promotion.showModal();
    return new Promise((resolve) => {
      const chosen = () => resolve(this.#promotion.returnValue);
      this.#promotion.addEventListener("close", chosen, { once: true });
    });
  }

  // Taps, drags: a piece that is picked by its press may be dragged from there.

  #at(event) {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    return under?.closest("[data-square]")?.dataset.square;
  }

  #down(event) {
    const name = event.target.closest("[data-square]")?.dataset.square;
    if (name === undefined || !event.isPrimary || event.button !== 0) return;
    this.#tapped = undefined;
    if (this.#isTarget(name)) {
      this.#tapped = name;
    } else if (this.#canPick(name)) {
      event.preventDefault(); // No selection of text; so the focus has to be set.
      this.#squares.get(name).focus({ preventScroll: true });
      const piece = this.#squares.get(name).firstChild;
      const wasPicked = this.#picked === name;
      this.#drag = { name, piece, wasPicked, x: event.clientX, y: event.clientY };
      this.#root.setPointerCapture(event.pointerId);
      this.#pick(name);
    } else {
      this.#pick(undefined);
    }
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag || !event.isPrimary) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoved && Math.hypot(x, y) < dragDistance) return;
    drag.isMoved = true;
    drag.piece.classList.add("dragged");
    drag.piece.style.transform = `translate(${x}px, ${y}px) scale(1.1)`;
    const over = this.#at(event);
    this.#hover(this.#isTarget(over) ? over : undefined);
  }

  #up(event) {
    if (!event.isPrimary) return;
    const name = this.#at(event);
    const drag = this.#drag;
    if (drag?.isMoved) {
      if (this.#isTarget(name)) {
        drag.isDropped = true;
        this.#play(name);
      } else {
        this.#cancelDrag();
      }
    } else if (drag) {
      this.#drag = undefined;
      if (drag.wasPicked) this.#pick(undefined);
    } else if (this.#tapped && this.#tapped === name) {
      this.#play(name);
    }
  }

  #cancelDrag() {
    const piece = this.#drag?.piece;
    this.#drag = undefined;
    this.#hover(undefined);
    piece?.classList.remove("dragged");
    if (piece) piece.style.transform = "";
  }

  #hover(name) {
    this.#root.querySelector(".over")?.classList.remove("over");
    if (name) this.#squares.get(name).classList.add("over");
  }

  // Keys: one square is in the order of tabs, the arrows go on from there.

  #rove(name) {
    if (!this.#squares.has(name)) return;
    for (const [each, square] of this.#squares) square.tabIndex = each === name ? 0 : -1;
  }

  #key(event) {
    const name = event.target.dataset.square;
    if (name === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const up = this.#isFlipped ? -1 : 1;
    const steps = {
      ArrowLeft: [-up, 0], ArrowRight: [up, 0], ArrowUp: [0, up], ArrowDown: [0, -up],
      Home: [-7 * up, 0], End: [7 * up, 0], PageUp: [0, 7 * up], PageDown: [0, -7 * up],
    };
    const bound = (value) => Math.min(7, Math.max(0, value));
    if (event.key in steps) {
      const [right, higher] = steps[event.key];
      const file = files[bound(files.indexOf(name[0]) + right)];
      this.#squares.get(file + (1 + bound(Number(name[1]) - 1 + higher))).focus();
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.#isTarget(name)) this.#play(name);
      else this.#pick(this.#canPick(name) && this.#picked !== name ? name : undefined);
    } else if (event.key === "Escape") {
      this.#pick(undefined);
    } else {
      return;
    }
    event.preventDefault();
  }
}
