// The chess service through its generated client, over the simulated network.
#include "services/chess/chess_service.h"

#include <gtest/gtest.h>

#include <chrono>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "test/sim/network.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;

class ChessServiceTest : public testing::Test {
 protected:
  ChessServiceTest() {
    check(server_.add(service_).has_value(), "the service is added");
    check(server_.listen({"server", 1}).has_value(), "the server listens");
    auto connection = rpc::Client::connect(network_, {"server", 1}, Deadline::after(1s));
    check(connection.has_value(), "the client connects");
    connection_ = std::move(*connection);
  }

  Result<JoinReply> join(const std::string& game, Seat seat) {
    JoinRequest request;
    request.set_game(game);
    request.set_seat(seat);
    return client().join(request);
  }
  Result<MoveReply> move(const std::string& game, Token token, const std::string& san) {
    MoveRequest request;
    request.set_game(game);
    request.set_token(token);
    request.set_san(san);
    return client().move(request);
  }
  Result<LookReply> look(const std::string& game) {
    LookRequest request;
    request.set_game(game);
    return client().look(request);
  }
  ChessClient client() { return ChessClient(*connection_); }

  sim::SimulatedNetwork network_;
  ChessService service_{
      ChessConfig{.rooms_max = 2, .clock = 1min, .seat_time_max = 1min, .finished_kept = 1s}};
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> connection_;
};

TEST_F(ChessServiceTest, TwoPlayersAndASpectatorShareAGame) {
  const auto white = join("table", WHITE);
  ASSERT_TRUE(white) << white;
  const auto black = join("table", BLACK);
  ASSERT_TRUE(black) << black;
  EXPECT_NE(white->token(), black->token());

  auto spectator = coroutine::spawn("spectator", [&] {
    WaitMoveRequest request;
    request.set_game("table");
    request.set_ply(2);
    return client().wait_move(request);
  });
  ASSERT_TRUE(move("table", white->token(), "e4"));
  const auto reply = move("table", black->token(), "c5");
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->ply(), 2u);

  const auto seen = spectator.join();
  ASSERT_TRUE(seen) << seen;
  EXPECT_EQ(seen->san(), "c5");
  EXPECT_EQ(look("table")->state().fen(),
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
}

TEST_F(ChessServiceTest, UnknownGameIsNotFound) {
  const auto seen = look("nowhere");
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code(), Code::not_found);
  EXPECT_EQ(seen.error().message(), "no game \"nowhere\" is open");
}

TEST_F(ChessServiceTest, NamesAndSeatsAreChecked) {
  for (const auto& reply :
       {join("", WHITE), join(std::string(65, 'x'), WHITE), join("table", SEAT_UNSPECIFIED)}) {
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::invalid_argument);
  }
}

TEST_F(ChessServiceTest, RoomsAreBounded) {
  ASSERT_TRUE(join("one", WHITE));
  ASSERT_TRUE(join("two", WHITE));
  const auto third = join("three", WHITE);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), Code::resource_exhausted);
}

TEST_F(ChessServiceTest, FinishedRoomIsGoneAfterAWhile) {
  const auto white = join("table", WHITE);
  ASSERT_TRUE(white) << white;
  ResignRequest request;
  request.set_game("table");
  request.set_token(white->token());
  ASSERT_TRUE(client().resign(request));
  EXPECT_EQ(look("table")->state().outcome(), "resignation");
  ASSERT_TRUE(coroutine::sleep_for(1s));
  EXPECT_FALSE(look("table"));
  EXPECT_TRUE(join("table", BLACK)) << "the name is free again";
}

TEST_F(ChessServiceTest, WaitMoveEndsWithItsCallersDeadline) {
  ASSERT_TRUE(join("table", WHITE));
  WaitMoveRequest request;
  request.set_game("table");
  request.set_ply(1);
  const TimePoint start = now();
  const auto seen = client().wait_move(request, {.deadline = Deadline::after(2s)});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(now() - start, 2s);
}

}  // namespace
}  // namespace corolane::services::chess
