// SPDX-License-Identifier: MIT
#include "tools/bots/steady_play.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/client/cluster_client.h"
#include "services/chess/game.corolane.h"

namespace corolane::tools::bots {
namespace {

namespace chess = services::chess;

constexpr std::size_t looks_at_once = 32;

// Half of the tables think this much longer. Quick tables are often in the middle of a write; slow
// tables are not all stuck on a suspended node when the next fault happens.
constexpr int slow_factor = 20;

// A client that soon gives up a node that is suspended or cut off, and does not begin at the same
// one as its neighbours.
framework::ClusterClient::Options options_of(std::string caller, std::size_t number,
                                             History& history) {
  constexpr std::chrono::milliseconds patience(500);
  return {.connection = {.connect_time_max = patience,
                         .keepalive = {.interval = patience, .patience = patience},
                         .random_seed = number},
          .keeps_session = false,
          .failing_time_max = patience,
          .caller = std::move(caller),
          .observer = &history};
}

// One game, played by white and black and watched by a spectator. The first failure ends it.
class Table {
 public:
  Table(Hall& hall, const PlannedGame& game, std::string name, Duration think_time,
        History& history)
      : hall_(hall),
        game_(game),
        name_(std::move(name)),
        think_time_(think_time),
        history_(history) {}

  // Returns why the game did not end as expected, or "".
  std::string play() {
    coroutine::TaskGroup bots;
    for (const chess::Seat seat : {chess::WHITE, chess::BLACK, chess::SEAT_UNSPECIFIED}) {
      auto spawned = bots.spawn(name_of(seat), [this, seat] { take_part(seat); });
      check(spawned.has_value(), "there are stacks for all bots");
    }
    check(bots.join(Deadline::never()).has_value(), "bots return no error and are never cancelled");
    return failure_;
  }

 private:
  std::string name_of(chess::Seat seat) const {
    return name_ + (seat == chess::WHITE ? " white" : seat == chess::BLACK ? " black" : " watch");
  }

  void take_part(chess::Seat seat) {
    framework::ClusterClient cluster(hall_.network, hall_.servers,
                                     options_of(name_of(seat), ++hall_.tally.bot_count, history_));
    chess::GameClient game(cluster, name_);
    std::size_t ply = 0;
    auto done = seat == chess::SEAT_UNSPECIFIED ? watch(game, ply) : play(game, seat, ply);
    if (done || !failure_.empty()) return;
    failure_ = describe_failure(hall_.file, game_.moves.line, name_, game_.moves.ordinal, ply,
                                name_of(seat) + ": " + done.error().to_string());
  }

  Result<void> play(chess::GameClient& game, chess::Seat seat, std::size_t& ply) {
    chess::JoinRequest joining;
    joining.set_game(name_);
    joining.set_seat(seat);
    joining.set_player(player_of(hall_, game_, seat));
    const auto joined = game.join(joining);
    if (!joined) return joined.error();
    if (auto begun = game.wait_opponent({}); !begun) return begun.error();

    for (const auto& planned : game_.moves.moves) {
      const bool is_mine = (++ply % 2 == 1) == (seat == chess::WHITE);
      auto done = is_mine ? move(game, joined->token(), ply, planned.san) : wait(game, ply);
      if (!done) return done;
    }
    return seat == chess::WHITE ? end(game, joined->token()) : Result<void>();
  }

  Result<void> move(chess::GameClient& game, std::uint64_t token, std::size_t ply,
                    const std::string& san) {
    if (auto thought = coroutine::sleep_for(think_time_); !thought) return thought;
    chess::MoveRequest request;
    request.set_game(name_);
    request.set_token(token);
    request.set_san(san);
    const auto moved = game.move(request);
    if (!moved) return moved.error();
    ++hall_.tally.move_count;
    if (moved->ply() == ply) return {};
    return Error(Code::data_loss, "the move became ply " + std::to_string(moved->ply()));
  }

  Result<void> wait(chess::GameClient& game, std::size_t ply) {
    if (!failure_.empty()) return Error(Code::aborted, "another bot of the game has failed");
    chess::WaitMoveRequest request;
    request.set_game(name_);
    request.set_ply(static_cast<std::uint32_t>(ply));
    if (auto seen = game.wait_move(request); !seen) return seen.error();
    return {};
  }

  Result<void> end(chess::GameClient& game, std::uint64_t token) {
    const auto seen = look(game);
    if (!seen) return seen.error();
    if (const auto differences = game_.expected ? compare(*seen, *game_.expected) : "";
        !differences.empty()) {
      return Error(Code::data_loss, differences);
    }
    if (seen->outcome() != "unfinished") return {};
    // Most games ended by resignation or agreement, not on the board.
    chess::ResignRequest request;
    request.set_game(name_);
    request.set_token(token);
    if (auto resigned = game.resign(request); !resigned) return resigned.error();
    return {};
  }

  Result<void> watch(chess::GameClient& game, std::size_t& ply) {
    // A player has to open the game first.
    while (!look(game)) {
      if (!failure_.empty()) return {};
      if (auto slept = coroutine::sleep_for(std::chrono::milliseconds(20)); !slept) return slept;
    }
    while (ply < game_.moves.moves.size()) {
      if (auto seen = wait(game, ++ply); !seen) return seen;
      if (auto seen = look(game); !seen) return seen.error();
    }
    return {};
  }

  Result<chess::GameState> look(chess::GameClient& game) {
    chess::LookRequest request;
    request.set_game(name_);
    auto reply = game.look(request);
    if (!reply) return reply.error();
    return std::move(*reply->mutable_state());
  }

  Hall& hall_;
  const PlannedGame& game_;
  const std::string name_;
  const Duration think_time_;
  History& history_;
  std::string failure_;
};

// Calls each game and player once: it must answer, whichever node owns it.
void call_the_roll(Hall& hall, const std::vector<std::string>& games, History& history) {
  std::size_t next = 0;
  coroutine::TaskGroup looks;
  for (std::size_t i = 0; i < looks_at_once; ++i) {
    auto spawned = looks.spawn("roll call", [&, i] {
      framework::ClusterClient cluster(
          hall.network, hall.servers,
          options_of(hall.run + " roll call " + std::to_string(i), i + 1, history));
      while (next < games.size() + hall.players.size()) {
        const std::size_t index = next++;
        // The history records the answer or the failure.
        if (index < games.size()) {
          static_cast<void>(chess::GameClient(cluster, games[index]).look({}));
        } else {
          static_cast<void>(
              chess::PlayerClient(cluster, hall.players[index - games.size()]).look({}));
        }
      }
    });
    check(spawned.has_value(), "there are stacks for all bots");
  }
  check(looks.join(Deadline::never()).has_value(), "looks return no error and are never cancelled");
}

}  // namespace

SteadyResult play_steadily(Hall& hall, const Plan& plan, const SteadyPlay& play, History& history) {
  SteadyResult result;
  std::vector<std::string> names;
  coroutine::TaskGroup tables;
  for (std::size_t table = 0; table < play.table_count; ++table) {
    auto spawned = tables.spawn("table " + std::to_string(table), [&, table] {
      const Duration think_time = table % 2 == 0 ? play.think_time : slow_factor * play.think_time;
      while (!play.last_begin.has_passed()) {
        const std::size_t index = names.size();
        const PlannedGame& game = plan.games[index % plan.games.size()];
        const std::string& name =
            names.emplace_back(hall.run + " " + game.moves.name + " " + std::to_string(index));
        std::string failure = Table(hall, game, name, think_time, history).play();
        if (!failure.empty()) result.failures.push_back(std::move(failure));
        ++result.game_count;
      }
    });
    check(spawned.has_value(), "there are stacks for all tables");
  }
  check(tables.join(Deadline::never()).has_value(),
        "tables return no error and are never cancelled");
  call_the_roll(hall, names, history);
  return result;
}

}  // namespace corolane::tools::bots
