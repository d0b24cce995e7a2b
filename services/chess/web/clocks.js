// SPDX-License-Identifier: MIT
// Both clocks, which go on by themselves between two states of the server.
import { Seat } from "./lib/corolane.js";
import { clockText } from "./words.js";

const lowBelow = 30_000;

export class Clocks {
  #left = {};
  #running;
  #since = 0;
  #timer;
  #tell;

  // Calls `tell` with text, seat, whether little is left, and whether it runs.
  constructor(tell) {
    this.#tell = tell;
    this.#timer = setInterval(() => this.show(), 100);
  }

  // Milliseconds by seat, and the seat whose clock runs, if one does.
  set({ running, ...left }) {
    this.#left = left;
    this.#running = running;
    this.#since = performance.now();
    this.show();
  }

  // The other clock runs from now on.
  run(seat) {
    for (const each of [Seat.WHITE, Seat.BLACK]) this.#left[each] = this.#leftOf(each);
    this.#since = performance.now();
    this.#running = seat;
  }

  stop() {
    clearInterval(this.#timer);
    this.#running = undefined;
  }

  #leftOf(seat) {
    const left = this.#left[seat];
    return seat === this.#running ? left - (performance.now() - this.#since) : left;
  }

  show() {
    for (const seat of [Seat.WHITE, Seat.BLACK]) {
      const left = this.#leftOf(seat);
      const text = left === undefined ? "" : clockText(left);
      this.#tell(text, seat, left < lowBelow, seat === this.#running);
    }
  }
}
