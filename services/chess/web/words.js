// SPDX-License-Identifier: MIT
// Chess in words, for people who read and for those who listen.
import { Seat } from "./lib/corolane.js";

export const pieceNames = {
  p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king",
};
export const colourNames = { w: "white", b: "black" };
export const seatName = (seat) => (seat === Seat.WHITE ? "White" : "Black");

// "Nxf6+" is "knight takes f6, check".
export function spoken(san) {
  const ending = san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "";
  const move = san.replace(/[+#]$/, "");
  if (move === "O-O") return "castles short" + ending;
  if (move === "O-O-O") return "castles long" + ending;
  const [, piece, from, takes, to, promoted] =
    /^([NBRQK]?)([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=([NBRQ]))?$/.exec(move) ?? [];
  if (to === undefined) return san;
  const words = [pieceNames[(piece || "p").toLowerCase()], from, takes && "takes", to];
  if (promoted) words.push("becomes a", pieceNames[promoted.toLowerCase()]);
  return words.filter(Boolean).join(" ") + ending;
}

const outcomes = {
  checkmate: "Checkmate", stalemate: "Stalemate",
  insufficient_material: "Neither side can give mate",
  fivefold_repetition: "The position came five times",
  seventyfive_moves: "75 moves without progress",
  threefold_repetition: "The position came three times",
  fifty_moves: "50 moves without progress",
};

// "Checkmate. White wins."
export function ending({ outcome, winner }) {
  if (outcome === "absence") return "Nobody came to play.";
  if (outcome === "agreement") return "Draw by agreement.";
  const loser = winner === Seat.WHITE ? "Black" : "White";
  if (outcome === "resignation") return `${loser} resigns. ${seatName(winner)} wins.`;
  if (outcome === "time") {
    return winner ? `${loser} is out of time. ${seatName(winner)} wins.` : "Out of time. Draw.";
  }
  const how = outcomes[outcome] ?? outcome.replaceAll("_", " ");
  return winner ? `${how}. ${seatName(winner)} wins.` : `${how}. Draw.`;
}

// "9:05"; tenths in the last seconds.
export function clockText(milliseconds) {
  const left = Math.max(0, milliseconds);
  if (left < 20_000) return `0:${(Math.floor(left / 100) / 10).toFixed(1).padStart(4, "0")}`;
  const seconds = Math.floor(left / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
