// SPDX-License-Identifier: MIT
// Plays real games between two players each, over sockets that are cut at random. Runs in Node and
// in browsers.
import { ConnectError, createClient, type Client } from "@connectrpc/connect";
import { connect, type Connection, mayHaveRun, type WebSocketClass } from "../../src/index.js";
import { Chess, type GameState, GameStateSchema, Seat, TurnNoticeSchema } from "../gen/services/chess/chess_pb.js";

export interface PlannedGame {
  name: string;
  moves: string[];
  finalFen: string;
  outcome: string;
  // The tokens of white and black.
  tokens: [string, string];
}

export interface Plan {
  url: string;
  games: PlannedGame[];
}

export interface Verdict {
  gameCount: number;
  asExpected: number;
  problems: string[];
  // How often a connection was made, resumed or not, and how often a move had to be looked up.
  connectCount: number;
  resumeCount: number;
  lookUpCount: number;
  noticeCount: number;
  // The news that the players hear as followers of their game.
  newsCount: number;
  // The gaps of either.
  gapCount: number;
}

const patienceMs = 60_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

class Player {
  readonly connection: Connection;
  readonly chess: Client<typeof Chess>;
  #token = 0n;
  #seesEnd: Promise<unknown>;

  constructor(
    plan: Plan,
    private readonly game: PlannedGame,
    private readonly seat: Seat,
    private readonly verdict: Verdict,
    webSocket: WebSocketClass | undefined,
  ) {
    const token = game.tokens[seat === Seat.WHITE ? 0 : 1]!;
    this.connection = connect({ url: plan.url, token, webSocket });
    this.connection.onState((state) => {
      if (state.is !== "open") return;
      ++verdict.connectCount;
      if (state.isResumed) ++verdict.resumeCount;
    });
    this.chess = createClient(Chess, this.connection);
    this.#seesEnd = Promise.all([this.#readNotices(), this.#followGame()]);
    this.#seesEnd.catch(() => {}); // It is awaited at the end.
  }

  // Reads until a notice says that the game is over. The player looks up what is lost.
  async #readNotices(): Promise<void> {
    for await (const notice of this.connection.pushes(TurnNoticeSchema)) {
      if (notice.isGap) {
        ++this.verdict.gapCount;
        if ((await this.look()).outcome !== "unfinished") return;
      } else {
        ++this.verdict.noticeCount;
        if (notice.message.state?.outcome !== "unfinished") return;
      }
    }
  }

  async join(): Promise<void> {
    for (;;) {
      try {
        const reply = await this.chess.join({ game: this.game.name, seat: this.seat });
        this.#token = reply.token;
        return;
      } catch (error) {
        // A browser lets few sockets connect at once, so some calls wait in vain.
        if (mayHaveRun(error)) throw error;
        await this.#opened();
      }
    }
  }

  async look() {
    const reply = await this.#again(() => this.chess.look({ game: this.game.name }));
    return reply.state!;
  }

  // A call would fail at once while the server cannot be reached, and then cost more than a
  // connection.
  async #opened(): Promise<void> {
    await sleep(20);
    if (this.connection.state.is === "open") return;
    await new Promise<void>((resolve) => {
      const stop = this.connection.onState(({ is }) => {
        if (is !== "open" && is !== "ended") return;
        stop();
        resolve();
      });
    });
  }

  // For calls that may be made twice.
  async #again<T>(call: () => Promise<T>): Promise<T> {
    for (const end = Date.now() + patienceMs; ; ) {
      try {
        return await call();
      } catch (error) {
        if (Date.now() > end) throw error;
        await this.#opened();
      }
    }
  }

  // Follows the game until it is over: no state is missing unless a gap says so.
  async #followGame(): Promise<void> {
    let plies = 0;
    let mayJump = true;
    const see = (state: GameState): boolean => {
      if (state.plies > plies + 1 && !mayJump) {
        throw new Error(`ply ${state.plies} comes after ${plies}, without a gap`);
      }
      plies = Math.max(plies, state.plies);
      mayJump = false;
      return state.outcome !== "unfinished";
    };
    for (;;) {
      const reply = await this.#again(() => this.chess.follow({ game: this.game.name }));
      mayJump = true;
      if (see(reply.state!)) return;
      try {
        for await (const news of this.connection.follow(GameStateSchema, reply)) {
          ++this.verdict[news.isGap ? "gapCount" : "newsCount"];
          if (news.isGap) mayJump = true;
          if (see(news.isGap ? await this.look() : news.message)) return;
        }
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
      }
    }
  }

  async play(): Promise<void> {
    if (this.seat === Seat.WHITE) await this.#playByWaiting();
    else await this.#playByFollowing();
  }

  async #playByWaiting(): Promise<void> {
    for (let ply = 1; ply <= this.game.moves.length; ++ply) {
      if (ply % 2 === 1) {
        await this.#move(ply);
      } else {
        const reply = await this.#again(() => this.chess.waitMove({ game: this.game.name, ply }));
        this.#compare(ply, reply.san);
      }
    }
  }

  async #playByFollowing(): Promise<void> {
    const end = Date.now() + patienceMs;
    let ply = 1;
    while (ply <= this.game.moves.length) {
      try {
        const moves = this.chess.followMoves({ game: this.game.name, fromPly: ply });
        for await (const move of moves) {
          this.#compare(ply, move.san);
          if (move.ply !== ply) throw new Error(`ply ${move.ply} comes as ${ply}`);
          if (++ply % 2 === 0 && ply <= this.game.moves.length) await this.#move(ply);
          if (ply > this.game.moves.length) break;
        }
      } catch (error) {
        if (!(error instanceof ConnectError) || Date.now() > end) throw error;
        await this.#opened();
      }
    }
  }

  #compare(ply: number, san: string): void {
    const expected = this.game.moves[ply - 1]!;
    if (san !== expected) throw new Error(`ply ${ply} is ${san}, not ${expected}`);
  }

  // A move whose reply was lost is looked up.
  async #move(ply: number): Promise<void> {
    await this.#again(async () => {
      try {
        const san = this.game.moves[ply - 1]!;
        await this.chess.move({ game: this.game.name, token: this.#token, san });
      } catch (error) {
        if (mayHaveRun(error)) {
          ++this.verdict.lookUpCount;
          if ((await this.look()).plies >= ply) return;
        }
        throw error;
      }
    });
  }

  async resign(): Promise<void> {
    await this.#again(async () => {
      if ((await this.look()).outcome !== "unfinished") return;
      await this.chess.resign({ game: this.game.name, token: this.#token });
    });
  }

  async seesEnd(): Promise<void> {
    const late = sleep(patienceMs).then(() => Promise.reject(new Error("no notice of the end")));
    await Promise.race([this.#seesEnd, late]);
  }
}

async function playGame(players: [Player, Player], game: PlannedGame): Promise<void> {
  await Promise.all(players.map((player) => player.play()));
  const state = await players[0].look();
  if (state.plies !== game.moves.length || state.fen !== game.finalFen) {
    throw new Error(`it ends at ${state.fen} after ${state.plies} plies`);
  }
  if (state.outcome !== game.outcome) throw new Error(`its outcome is ${state.outcome}`);
  await players[0].resign(); // Most games ended so, and both players are told.
  await Promise.all(players.map((player) => player.seesEnd()));
}

// `seated` is awaited once all players have their seats: before that no socket may be cut, since a
// seat is given only once.
export async function playGames(
  plan: Plan,
  seated: () => Promise<void>,
  webSocket?: WebSocketClass,
): Promise<Verdict> {
  const verdict: Verdict = {
    gameCount: plan.games.length,
    asExpected: 0,
    problems: [],
    connectCount: 0,
    resumeCount: 0,
    lookUpCount: 0,
    noticeCount: 0,
    newsCount: 0,
    gapCount: 0,
  };
  const tables = plan.games.map((game) => {
    const player = (seat: Seat) => new Player(plan, game, seat, verdict, webSocket);
    return [player(Seat.WHITE), player(Seat.BLACK)] as [Player, Player];
  });
  await Promise.all(tables.flat().map((player) => player.join()));
  await seated();
  const outcomes = await Promise.allSettled(
    tables.map((players, i) => playGame(players, plan.games[i]!)),
  );
  for (const player of tables.flat()) player.connection.close();
  outcomes.forEach((outcome, i) => {
    if (outcome.status === "fulfilled") ++verdict.asExpected;
    else verdict.problems.push(`${plan.games[i]!.name}: ${outcome.reason}`);
  });
  return verdict;
}
