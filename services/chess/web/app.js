// SPDX-License-Identifier: MIT
// The chess page: the lobby, or the game that the address names (#game=NAME).
import { loadPieces } from "./board.js";
import { GameView } from "./game.js";
import { LobbyView } from "./lobby.js";
import { linkTo, showState } from "./link.js";

const views = { lobby: document.getElementById("lobby"), game: document.getElementById("game") };
let shown;

function route() {
  shown?.close();
  const [, encoded] = /^#game=(.+)$/.exec(location.hash) ?? [];
  let game;
  try {
    game = encoded && decodeURIComponent(encoded);
  } catch {
    location.hash = "";
  }
  views.lobby.hidden = Boolean(game);
  views.game.hidden = !game;
  document.body.dataset.view = game ? "game" : "lobby";
  shown = game ? new GameView(game) : new LobbyView((name) => (location.hash = linkTo(name)));
}

showState(document.getElementById("banner"));
await loadPieces();
addEventListener("hashchange", route);
route();
