// SPDX-License-Identifier: MIT
// What the chess page takes from libraries: services/chess/web/lib/corolane.js.
export { createClient, Code, ConnectError } from "@connectrpc/connect";
export { Chess as Rules } from "chess.js";
export { connect, isFromHandler } from "./client/index.js";
export {
  Chess, GameStateSchema, HallNewsSchema, Seat,
} from "./gen/services/chess/chess_pb.js";
