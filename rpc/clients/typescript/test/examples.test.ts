// SPDX-License-Identifier: MIT
// Runs the examples of README.md against a server that answers each call in one way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { connect, type ConnectOptions } from "../src/index.js";
import { type Frame, FrameType, hashOf, methodOf } from "../src/frames.js";
import { type FakeLink, FakeServer, settled } from "./fake_server.js";
import { examples } from "./gen/examples.js";
import {
  Chess,
  GameMoveSchema,
  GameStateSchema,
  JoinReplySchema,
  LookReplySchema,
  MoveReplySchema,
  TurnNoticeSchema,
} from "./gen/services/chess/chess_pb.js";

const bytesOf = <Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>) =>
  toBinary(schema, create(schema, init));

const state = { plies: 1, outcome: "unfinished" };
const replies = new Map([
  ["Chess/Join", bytesOf(JoinReplySchema, { token: 7n, state })],
  ["Chess/Move", bytesOf(MoveReplySchema, { ply: 1, state })],
  ["Chess/Look", bytesOf(LookReplySchema, { state })],
  ["Game/Move", bytesOf(MoveReplySchema, { ply: 1 })],
].map(([name, bytes]) => [hashOf(`corolane.services.chess.${name}`), bytes as Uint8Array]));

// The second example of a move loses its reply.
let losesMoves = false;

function answer(link: FakeLink, request: Frame): void {
  const { id } = request;
  if (methodOf(request) === hashOf("corolane.services.chess.Chess/FollowMoves")) {
    for (const [ply, san] of [[1, "e4"], [2, "e5"]] as const) {
      link.send(FrameType.item, { id, message: bytesOf(GameMoveSchema, { ply, san }) });
    }
    return link.send(FrameType.reply, { id });
  }
  const isMove = methodOf(request) === hashOf("corolane.services.chess.Chess/Move");
  if (isMove && losesMoves) return link.drop();
  link.send(FrameType.reply, { id, message: replies.get(methodOf(request))! });
}

test("the examples of the page do what they say", async (context) => {
  assert.equal(examples.length, 9);
  for (const [place, { run, prints }] of examples.entries()) {
    await context.test(`example ${place + 1}`, async () => {
      const server = new FakeServer();
      server.onRequest = answer;
      const connectHere = (options: ConnectOptions) =>
        connect({ ...options, webSocket: server.webSocket });
      const connection = connectHere({ url: "ws://a" });
      await settled();
      losesMoves = prints.some((text) => text.startsWith("it was played"));
      const printed: string[] = [];
      const link = server.link;
      const done = run({
        connect: connectHere,
        connection,
        chess: createClient(Chess, connection),
        console: { log: (...words) => void printed.push(words.join(" ")) },
        fetch: async () => ({ ok: true, status: 200, text: async () => "token" }),
        enterRoom: async () => {
          const news = bytesOf(GameStateSchema, state);
          link.push(3, hashOf("corolane.services.chess.GameState"), news, 1);
          link.push(4, hashOf("corolane.rpc.GroupEnd"), new Uint8Array(), 1);
          return { group: 1 };
        },
      });
      // A gap, and a push behind it.
      const notice = bytesOf(TurnNoticeSchema, { state: { plies: 2 } });
      if (link.isClosed === false) {
        link.push(2, hashOf("corolane.services.chess.TurnNotice"), notice);
      }
      await done;
      connection.close();
      assert.deepEqual(printed, prints);
    });
  }
});
