// SPDX-License-Identifier: MIT
#include "tools/bots/bot.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "coroutine/sync/for_each.h"
#include "coroutine/task.h"
#include "framework/client/cluster_client.h"
#include "services/chess/chess.corolane.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;
namespace chess = services::chess;

constexpr Duration call_patience = 30s;
constexpr Duration opponent_patience = 120s;
constexpr Duration settle_patience = 30s;
constexpr Duration settle_interval = 100ms;
constexpr std::size_t looks_at_once = 32;

// The rating of a player without a game.
constexpr std::int32_t first_rating = 1'500;

Deadline patience() { return Deadline::after(call_patience); }

// Bots begin at the servers in turn.
framework::ClusterClient::Options options_of(std::size_t bot) {
  return {.connection = {.random_seed = bot}, .keeps_session = false};
}

// Retries a call that an overloaded server refuses, after the delay that the server asks for.
template <typename F>
auto admitted(F call) -> decltype(call()) {
  const Deadline end = patience();
  for (Duration pause = 100ms;; pause = std::min<Duration>(pause * 2, 2s)) {
    auto result = call();
    const bool is_refused = !result && result.error().code() == Code::resource_exhausted &&
                            result.error().retry_after() > 0ms;
    if (!is_refused || end.has_passed()) return result;
    const Duration asked = result.error().retry_after();
    if (auto slept = coroutine::sleep_for(std::max(asked, pause)); !slept) return result;
  }
}

// The failure of one bot, and its ply; ply 0 is before the first move.
struct Failure {
  std::size_t ply;
  Error error;
  bool moved = false;  // It failed at its own move, not while waiting.

  bool tells_more_than(const Failure& other) const {
    return ply != other.ply ? ply < other.ply : moved && !other.moved;
  }
};

// One participant of a game, with its connection.
class Bot {
 public:
  // All bots of a game meet at its `table` before the first move.
  Bot(Hall& hall, const PlannedGame& game, StartLine& table)
      : hall_(hall), game_(game), table_(table) {}

  // Plays from joining to the last move of the game.
  std::optional<Failure> play(chess::Seat seat) {
    const auto seated = connect_and_join(seat);
    arrive();
    if (!seated) return Failure{0, seated.error()};
    if (auto begun = wait_for_start(); !begun) return Failure{0, begun.error()};

    std::size_t ply = 0;
    for (const auto& planned : game_.moves.moves) {
      const bool is_mine = (++ply % 2 == 1) == (seat == chess::WHITE);
      const auto done = is_mine ? move(planned.san) : wait_move(ply);
      if (!done) {
        resign();  // Otherwise the opponent would wait for a move in vain.
        return Failure{ply, done.error(), is_mine};
      }
    }
    return {};
  }

  // Watches the game: sees every move as it is made.
  std::optional<Failure> watch() {
    const auto connected = connect();
    arrive();
    if (!connected) return Failure{0, connected.error()};
    if (auto begun = wait_for_start(); !begun) return Failure{0, begun.error()};

    for (std::size_t ply = 1; ply <= game_.moves.moves.size(); ++ply) {
      if (auto seen = wait_move(ply); !seen) return Failure{ply, seen.error()};
    }
    return {};
  }

  Result<chess::GameState> look() {
    chess::LookRequest request;
    request.set_game(name());
    auto reply = timed([&] { return chess_->look(request, {patience()}); });
    if (!reply) return reply.error();
    return std::move(*reply->mutable_state());
  }

  void resign() {
    chess::ResignRequest request;
    request.set_game(name());
    request.set_token(token_);
    // The game may be over already.
    static_cast<void>(timed([&] { return chess_->resign(request, {patience()}); }));
  }

 private:
  std::string name() const { return hall_.run + " " + game_.moves.name; }

  void arrive() {
    table_.arrive();
    hall_.start_line.arrive();
  }

  Result<void> wait_for_start() {
    if (auto complete = table_.wait(patience()); !complete) return complete;
    return hall_.start_line.wait(patience());
  }

  Result<void> connect() {
    client_.emplace(hall_.network, hall_.servers, options_of(++hall_.tally.bot_count));
    chess_.emplace(*client_);
    auto connected = client_->wait_until_connected(patience());
    if (connected) ++hall_.tally.connection_count;
    return connected;
  }

  Result<void> connect_and_join(chess::Seat seat) {
    if (auto connected = connect(); !connected) return connected;
    chess::JoinRequest request;
    request.set_game(name());
    request.set_seat(seat);
    request.set_player(player_of(hall_, game_, seat));
    auto reply = timed([&] { return chess_->join(request, {patience()}); });
    if (!reply) return reply.error();
    token_ = reply->token();
    return {};
  }

  Result<void> move(const std::string& san) {
    chess::MoveRequest request;
    request.set_game(name());
    request.set_token(token_);
    request.set_san(san);
    auto reply = timed([&] { return chess_->move(request, {patience()}); });
    if (!reply) return reply.error();
    ++hall_.tally.move_count;
    return {};
  }

  Result<void> wait_move(std::size_t ply) {
    chess::WaitMoveRequest request;
    request.set_game(name());
    request.set_ply(static_cast<std::uint32_t>(ply));
    ++hall_.tally.call_count;
    auto reply =
        admitted([&] { return chess_->wait_move(request, {Deadline::after(opponent_patience)}); });
    if (!reply) return reply.error();
    return {};
  }

  template <typename F>
  auto timed(F call) -> decltype(call()) {
    const TimePoint start = now();
    auto result = admitted(call);
    const auto elapsed = std::chrono::duration_cast<std::chrono::microseconds>(now() - start);
    hall_.tally.call_us.record(static_cast<std::uint64_t>(elapsed.count()));
    ++hall_.tally.call_count;
    return result;
  }

  Hall& hall_;
  const PlannedGame& game_;
  StartLine& table_;
  std::optional<framework::ClusterClient> client_;
  std::optional<chess::ChessClient> chess_;
  std::uint64_t token_ = 0;
};

// Sums over all players.
struct Balance {
  Ratings ratings = {.lowest = std::numeric_limits<std::int32_t>::max(),
                     .highest = std::numeric_limits<std::int32_t>::min()};
  std::int64_t sum = 0;  // The sum of all rating changes.
  std::uint64_t result_count = 0;

  void add(const chess::LookAtPlayerReply& player) {
    ratings.lowest = std::min(ratings.lowest, player.rating());
    ratings.highest = std::max(ratings.highest, player.rating());
    sum += player.rating() - first_rating;
    result_count += player.wins() + player.draws() + player.losses();
  }
};

Result<Balance> look_at_all(chess::ChessClient& chess, const std::vector<std::string>& players) {
  Balance balance;
  const auto look = [&](const std::string& player) -> Result<void> {
    chess::LookAtPlayerRequest request;
    request.set_player(player);
    const auto seen = admitted([&] { return chess.look_at_player(request, {patience()}); });
    if (!seen) return seen.error();
    balance.add(*seen);
    return {};
  };
  auto looked = coroutine::for_each(
      players, {.concurrency = looks_at_once, .name = "look at players"}, look, Deadline::never());
  if (!looked) return looked.error();
  return balance;
}

}  // namespace

const std::string& player_of(const Hall& hall, const PlannedGame& game, chess::Seat seat) {
  const std::size_t count = hall.players.size();
  const auto ordinal = static_cast<std::size_t>(game.moves.ordinal);
  const std::size_t white = ordinal % count;
  const std::size_t distance = 1 + ordinal / count % (count - 1);
  return hall.players[seat == chess::WHITE ? white : (white + distance) % count];
}

std::string compare(const chess::GameState& state, const Expected& expected) {
  std::string differences;
  const auto differ = [&](const char* what, const std::string& is, const std::string& should_be) {
    if (is == should_be) return;
    if (!differences.empty()) differences += "; ";
    differences.append(what).append(" is ").append(is).append(", expected ").append(should_be);
  };
  differ("the number of plies", std::to_string(state.plies()), std::to_string(expected.plies));
  differ("the outcome", state.outcome(), expected.outcome);
  differ("the final position", state.fen(), expected.final_fen);
  return differences;
}

std::string play_game(Hall& hall, const PlannedGame& game) {
  const auto& pgn = game.moves;
  const auto failed = [&](std::size_t ply, const std::string& reason) {
    const int line = ply == 0 ? pgn.line : pgn.moves[ply - 1].line;
    return describe_failure(hall.file, line, pgn.name, pgn.ordinal, ply, reason);
  };
  StartLine table(3);
  Bot white(hall, game, table);
  Bot black(hall, game, table);
  Bot spectator(hall, game, table);
  Tally& tally = hall.tally;
  tally.playing_count_peak = std::max(tally.playing_count_peak, ++tally.playing_count);

  std::optional<Failure> cause;
  const auto note = [&](const std::optional<Failure>& failure) {
    if (failure && (!cause || failure->tells_more_than(*cause))) cause = failure;
  };
  auto white_plays = coroutine::spawn("white " + pgn.name, [&] { note(white.play(chess::WHITE)); });
  auto black_plays = coroutine::spawn("black " + pgn.name, [&] { note(black.play(chess::BLACK)); });
  auto spectator_watches = coroutine::spawn("watch " + pgn.name, [&] { note(spectator.watch()); });
  for (auto* bot : {&white_plays, &black_plays, &spectator_watches}) {
    if (auto joined = bot->join(Deadline::never()); !joined)
      return failed(0, joined.error().message());
  }
  --tally.playing_count;
  if (cause) return failed(cause->ply, cause->error.message());

  const auto state = white.look();
  if (!state) return failed(pgn.moves.size(), state.error().message());
  white.resign();  // Most games ended by resignation or agreement, not on the board.
  const std::string differences = game.expected ? compare(*state, *game.expected) : "";
  return differences.empty() ? "" : failed(pgn.moves.size(), differences);
}

Result<Ratings> look_at_ratings(const Hall& hall, std::size_t game_count) {
  framework::ClusterClient client(hall.network, hall.servers, options_of(1));
  return look_at_ratings(client, hall.players, game_count);
}

Result<Ratings> look_at_ratings(rpc::Client& client, const std::vector<std::string>& players,
                                std::size_t game_count) {
  chess::ChessClient chess(client);
  // A rating changes shortly after its game has ended.
  for (const Deadline end = Deadline::after(settle_patience);;) {
    const auto seen = look_at_all(chess, players);
    if (!seen && (seen.error().code() != Code::unavailable || end.has_passed())) {
      return seen.error();
    }
    const bool is_complete = seen && seen->result_count == 2 * game_count;
    if (is_complete && seen->sum == 0) return seen->ratings;
    if (is_complete || end.has_passed()) {
      return Error(Code::data_loss, "the sum of all ratings changed by " +
                                        std::to_string(seen->sum) + " after " +
                                        std::to_string(seen->result_count) + " results of " +
                                        std::to_string(2 * game_count));
    }
    if (auto slept = coroutine::sleep_for(settle_interval); !slept) return slept.error();
  }
}

}  // namespace corolane::tools::bots
