// SPDX-License-Identifier: MIT
#include "tools/bots/session_play.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "coroutine/sync/for_each.h"
#include "coroutine/sync/ticker.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/client/cluster_client.h"
#include "rpc/auth/jwt.h"
#include "services/chess/chess.corolane.h"
#include "tools/bots/token.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;
namespace chess = services::chess;

constexpr std::chrono::seconds token_lifetime = 1h;
constexpr Duration attempt_patience = 10s;
constexpr Duration call_patience = 30s;
// For a push, from the time on when the opponent has moved.
constexpr Duration push_patience = 30s;
constexpr Duration retry_pause = 20ms;
// A notice that comes twice may do so after the game.
constexpr Duration aftermath = 2s;
constexpr Duration watch_interval = 10ms;
// A notice this late is told, with the time, to be found in the logs of the nodes.
constexpr Duration lateness_told = 2s;
constexpr std::size_t seating_count_max = 20;

std::uint64_t milliseconds(Duration duration) {
  return static_cast<std::uint64_t>(std::max(duration, Duration::zero()) / 1ms);
}

// The ply after the last one stands for the end.
struct Progress {
  std::vector<std::optional<TimePoint>> known_at;  // By ply: when the reply to the move came.
};

bool is_transient(const Error& error) {
  return error.maybe_executed() || error.not_executed() || error.code() == Code::unavailable ||
         error.code() == Code::aborted || error.code() == Code::resource_exhausted ||
         error.code() == Code::deadline_exceeded;
}

std::function<Result<std::string>()> login(const SessionPlay& play, std::string subject) {
  return [&play, subject = std::move(subject)]() -> Result<std::string> {
    return make_token(play.secret, subject, rpc::system_unix_time() + token_lifetime);
  };
}

class Player;

// Sees how long each player is without a connection.
class Monitor {
 public:
  explicit Monitor(Histogram& away_ms) : away_ms_(away_ms) {}
  void add(Player& player) { players_.insert(&player); }
  void remove(Player& player) { players_.erase(&player); }
  // Until it is cancelled.
  void run();

 private:
  Histogram& away_ms_;
  std::set<Player*> players_;
};

struct Room {
  Hall& hall;
  const SessionPlay& play;
  SessionResult& result;
  Monitor& monitor;
};

class Player final : public rpc::PushSink {
 public:
  Player(Room& room, const PlannedGame& game, std::string name, chess::Seat seat)
      : room_(room),
        game_(game),
        name_(std::move(name)),
        seat_(seat),
        notices_(name_, seat),
        client_(room.hall.network, room.hall.servers,
                {.connection = {.token = login(room.play, name_ + " " + role()), .pushes = this}}),
        chess_(client_) {
    room_.monitor.add(*this);
  }
  ~Player() {
    room_.monitor.remove(*this);
    room_.result.notices.add(notices_.counts());
    client_.close();
  }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  const char* role() const { return seat_ == chess::WHITE ? "white" : "black"; }
  NoticeChecker& notices() { return notices_; }
  std::size_t ply() const { return ply_; }

  // Fails with maybe_executed when the seat may be taken, by nobody.
  Result<void> join() {
    chess::JoinRequest request;
    request.set_game(name_);
    request.set_seat(seat_);
    request.set_player(player_of(room_.hall, game_, seat_));
    for (const Deadline end = Deadline::after(call_patience);;) {
      auto reply = chess_.join(request, {.deadline = Deadline::after(attempt_patience)});
      if (reply) {
        token_ = reply->token();
        return {};
      }
      if (reply.error().maybe_executed() || !may_retry(reply.error(), end)) return reply.error();
    }
  }

  // Plays all moves, each when it is due, and waits for the notice of the end.
  Result<void> play_game(Progress& progress, TimePoint begin, Duration length) {
    const auto& moves = game_.moves.moves;
    const auto share = static_cast<std::int64_t>(moves.size() + 1);
    for (const auto& planned : moves) {
      const bool is_mine = (++ply_ % 2 == 1) == (seat_ == chess::WHITE);
      if (!is_mine) {
        if (auto told = wait_for_notice(progress); !told) return told;
        continue;
      }
      const TimePoint due = begin + length * static_cast<std::int64_t>(ply_) / share;
      if (auto slept = coroutine::sleep_until(Deadline::at(due)); !slept) return slept;
      if (auto moved = move(planned.san); !moved) return moved;
      progress.known_at[ply_] = now();
    }
    if (seat_ == chess::WHITE) {
      if (auto ended = end_game(); !ended) return ended;
      progress.known_at[ply_ + 1] = now();
    }
    ++ply_;
    return wait_for_notice(progress);
  }

  // Hears each state of the game as a spectator does, by its group, until the game is over. A new
  // session has to ask for the group again.
  Result<void> follow_game() {
    chess::FollowRequest request;
    request.set_game(name_);
    for (;;) {
      const auto game = chess_.follow(request, {.deadline = Deadline::after(attempt_patience)});
      if (!game) {
        if (!may_retry(game.error(), Deadline::never())) return game.error();
        continue;
      }
      auto news = client_.follow<chess::GameState>(game->group());
      notices_.on_follow(game->state().plies());
      if (is_over(game->state())) return {};
      auto state = news.next(Deadline::never());
      for (; state; state = news.next(Deadline::never())) {
        if (state->is_gap()) {
          notices_.on_news_gap();
          // It may hide the last one.
          const auto seen = look();
          if (!seen) return seen.error();
          if (is_over(*seen)) return {};
          continue;
        }
        notices_.on_news(**state);
        if (is_over(**state)) return {};
      }
      if (coroutine::is_cancelled()) return state.error();
    }
  }

  bool ended_on_board() const { return ended_on_board_; }

 private:
  friend class Monitor;

  void on_push(const rpc::Push& push) override {
    notices_.on_push(push.number);
    if (const auto notice = push.as<chess::TurnNotice>()) notices_.on_notice(*notice);
    told_.pulse();
  }
  void on_repeated(std::uint64_t number) override { notices_.on_push(number); }
  void on_gap(std::uint64_t lost_count) override { notices_.on_gap(lost_count); }
  void on_session(bool is_resumed) override {
    notices_.on_session(is_resumed);
    last_end_.reset();
    ++connection_count_;
  }
  void on_end(const Error& reason) override { last_end_ = reason; }

  static bool is_over(const chess::GameState& state) { return state.outcome() != "unfinished"; }

  bool knows(std::size_t ply) const {
    return ply > game_.moves.moves.size() ? notices_.knows_end() : notices_.knows_ply(ply);
  }

  Result<void> wait_for_notice(const Progress& progress) {
    while (!knows(ply_)) {
      const auto& known_at = progress.known_at[ply_];
      const Deadline end =
          known_at ? Deadline::at(*known_at + push_patience) : Deadline::after(push_patience);
      auto told = told_.wait(end);
      if (told || (told.error().code() == Code::deadline_exceeded && !known_at)) continue;
      if (told.error().code() != Code::deadline_exceeded) return told;
      if (ply_ > game_.moves.moves.size()) {
        notices_.lose_end();
      } else {
        notices_.lose(ply_);
      }
      return lacks_notice();
    }
    const auto& known_at = progress.known_at[ply_];
    const Duration late = known_at ? now() - *known_at : Duration::zero();
    room_.result.notice_ms.record(milliseconds(late));
    if (late >= lateness_told) tell_lateness(late);
    return {};
  }

  void tell_lateness(Duration late) {
    const auto time = std::chrono::system_clock::now().time_since_epoch() / 1ms;
    room_.result.late.push_back(
        name_ + ", " + role() + ": the notice of ply " + std::to_string(ply_) + " came after " +
        std::to_string(milliseconds(late)) + " ms, at " + std::to_string(time) + " ms since 1970");
  }

  Error lacks_notice() const {
    std::string text = std::string("no notice in 30 s, ") +
                       (client_.is_connected() ? "connected" : "without a connection") + ", " +
                       std::to_string(notices_.counts().push_count) + " pushes before";
    if (last_end_) text += "; its session has ended: " + last_end_->to_string();
    return Error(Code::data_loss, std::move(text));
  }

  Result<void> move(const std::string& san) {
    chess::MoveRequest request;
    request.set_game(name_);
    request.set_token(token_);
    request.set_san(san);
    for (const Deadline end = Deadline::after(call_patience);;) {
      const auto reply = chess_.move(request, {.deadline = Deadline::after(attempt_patience)});
      if (reply) {
        ++room_.hall.tally.move_count;
        if (reply->ply() == ply_) return {};
        return Error(Code::data_loss, "the move became ply " + std::to_string(reply->ply()));
      }
      const Error& error = reply.error();
      // An earlier attempt may have been executed late, and then this one is out of turn.
      const bool is_out_of_turn = error.code() == Code::failed_precondition;
      if (error.maybe_executed() || is_out_of_turn) {
        ++room_.result.looked_up_count;
        const auto seen = look();
        if (!seen) return seen.error();
        if (seen->plies() >= ply_) return {};
      }
      if (is_out_of_turn || !may_retry(error, end)) return error;
    }
  }

  Result<chess::GameState> look() {
    chess::LookRequest request;
    request.set_game(name_);
    for (const Deadline end = Deadline::after(call_patience);;) {
      auto reply = chess_.look(request, {.deadline = Deadline::after(attempt_patience)});
      if (reply) return std::move(*reply->mutable_state());
      if (!may_retry(reply.error(), end)) return reply.error();
    }
  }

  Result<void> end_game() {
    const auto seen = look();
    if (!seen) return seen.error();
    if (const auto differences = game_.expected ? compare(*seen, *game_.expected) : "";
        !differences.empty()) {
      return Error(Code::data_loss, differences);
    }
    ended_on_board_ = seen->outcome() != "unfinished";
    return ended_on_board_ ? Result<void>() : resign();
  }

  // Most games ended by resignation or agreement, not on the board.
  Result<void> resign() {
    chess::ResignRequest request;
    request.set_game(name_);
    request.set_token(token_);
    for (const Deadline end = Deadline::after(call_patience);;) {
      const auto reply = chess_.resign(request, {.deadline = Deadline::after(attempt_patience)});
      if (reply) return {};
      const auto seen = look();
      if (!seen) return seen.error();
      if (seen->outcome() != "unfinished") return {};
      if (!may_retry(reply.error(), end)) return reply.error();
    }
  }

  // Waits a little, and for a connection, when another attempt makes sense.
  bool may_retry(const Error& error, Deadline end) {
    if (!is_transient(error) || end.has_passed()) return false;
    if (!coroutine::sleep_for(std::max<Duration>(retry_pause, error.retry_after()))) return false;
    // Without one the next attempt fails, and says why.
    static_cast<void>(client_.wait_until_connected(end));
    return true;
  }

  Room& room_;
  const PlannedGame& game_;
  const std::string name_;
  const chess::Seat seat_;
  NoticeChecker notices_;
  coroutine::Event told_{"a push"};
  std::optional<Error> last_end_;
  std::uint64_t token_ = 0;
  std::size_t ply_ = 0;
  bool ended_on_board_ = false;
  // For the monitor.
  std::size_t connection_count_ = 0;
  std::size_t seen_connection_count_ = 0;
  std::optional<TimePoint> away_since_;
  framework::ClusterClient client_;
  chess::ChessClient chess_;
};

void Monitor::run() {
  coroutine::Ticker ticker(watch_interval);
  for (TimePoint before = now(); ticker.next(Deadline::never()); before = now()) {
    for (Player* const player : players_) {
      if (player->connection_count_ == 0) continue;
      const bool is_new = player->connection_count_ != player->seen_connection_count_;
      const bool is_first = player->seen_connection_count_ == 0;
      player->seen_connection_count_ = player->connection_count_;
      if (is_new && !is_first) {
        // Away for less than an interval, if it was never seen to be.
        away_ms_.record(milliseconds(now() - player->away_since_.value_or(before)));
        player->away_since_.reset();
      }
      if (!player->client_.is_connected() && !player->away_since_) player->away_since_ = before;
    }
  }
}

class SessionTable {
 public:
  SessionTable(Room& room, const PlannedGame& game, Duration length)
      : room_(room), game_(game), length_(length) {}

  // Returns why the game did not end as expected, or "".
  std::string play() {
    for (std::size_t attempt = 1;; ++attempt) {
      std::string name = room_.hall.run + " " + game_.moves.name;
      if (attempt > 1) name += " " + std::to_string(attempt);
      Player white(room_, game_, name, chess::WHITE);
      Player black(room_, game_, name, chess::BLACK);
      auto seated = white.join();
      if (seated) seated = black.join();
      if (seated) return play(white, black);
      // Nobody has the token of a seat whose reply was lost.
      if (!seated.error().maybe_executed() || attempt == seating_count_max) {
        return failed(0, seated.error().to_string());
      }
      ++room_.result.seated_again_count;
    }
  }

 private:
  std::string play(Player& white, Player& black) {
    Progress progress;
    progress.known_at.resize(game_.moves.moves.size() + 2);
    coroutine::TaskGroup group({.cancel_on_error = true});
    const TimePoint begin = now();
    std::string failure;
    auto white_follows =
        coroutine::spawn("follow " + game_.moves.name, [&] { return white.follow_game(); });
    auto black_follows =
        coroutine::spawn("follow " + game_.moves.name, [&] { return black.follow_game(); });
    for (Player* const player : {&white, &black}) {
      auto spawned = group.spawn(
          std::string(player->role()) + " " + game_.moves.name, [&, player]() -> Result<void> {
            auto played = player->play_game(progress, begin, length_);
            if (!played && failure.empty()) {
              failure = failed(player->ply(), player->role() + (": " + played.error().to_string()));
            }
            return played;
          });
      check(spawned.has_value(), "there are stacks for all players");
    }
    static_cast<void>(group.join_or_cancel(Deadline::never()));
    if (failure.empty()) {
      static_cast<void>(coroutine::sleep_for(aftermath));
      for (Player* const player : {&white, &black}) {
        player->notices().finish(game_.moves.moves.size(), white.ended_on_board());
      }
      const Deadline told_by = Deadline::after(push_patience);
      if (!white_follows.join(told_by)) white.notices().lose_end_of_news();
      if (!black_follows.join(told_by)) black.notices().lose_end_of_news();
    }
    for (Player* const player : {&white, &black}) {
      for (const std::string& mistake : player->notices().mistakes()) {
        room_.result.mistakes.push_back(failed(0, player->role() + (": " + mistake)));
      }
    }
    return failure;
  }

  std::string failed(std::size_t ply, const std::string& reason) const {
    return describe_failure(room_.hall.file, game_.moves.line, game_.moves.name,
                            game_.moves.ordinal, ply, reason);
  }

  Room& room_;
  const PlannedGame& game_;
  const Duration length_;
};

// "12,345".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string quantiles(const Histogram& times_ms) {
  return "p50 " + grouped(times_ms.quantile(0.5)) + " ms, p99 " + grouped(times_ms.quantile(0.99)) +
         " ms, max " + grouped(times_ms.max()) + " ms";
}

}  // namespace

std::string SessionResult::summary() const {
  std::string text = "pushes: " + grouped(notices.push_count) + " received, " +
                     grouped(notices.lost_count) + " lost, " + grouped(notices.doubled_count) +
                     " doubled, " + grouped(notices.unordered_count) + " out of order; " +
                     grouped(notices.gap_count) + " were told as lost\n";
  text += "states of games by their groups: " + grouped(notices.news_count) + ", with " +
          grouped(notices.news_gap_count) + " gaps\n";
  text += "notices came after their moves: " + quantiles(notice_ms) + "\n";
  text += "resumed " + grouped(notices.resumed_count) + " times: " + quantiles(away_ms) +
          "; new sessions " + grouped(notices.new_session_count) + "\n";
  text += "moves looked up " + grouped(looked_up_count) + ", games seated again " +
          grouped(seated_again_count) + "\n";
  return text;
}

SessionResult play_with_sessions(Hall& hall, const Plan& plan, const SessionPlay& play) {
  SessionResult result;
  const std::size_t table_count = std::min(play.table_count_max, plan.games.size());
  if (table_count == 0) return result;
  Monitor monitor(result.away_ms);
  Room room{.hall = hall, .play = play, .result = result, .monitor = monitor};
  auto watching = coroutine::spawn("monitor", [&] { monitor.run(); });
  // Games that do not fit beside the others come after them.
  const Duration share = play.length * static_cast<std::int64_t>(table_count) /
                         static_cast<std::int64_t>(plan.games.size());
  const Duration length = std::max(share - aftermath, Duration::zero());
  const auto play_one = [&](std::size_t index) {
    std::string failure = SessionTable(room, plan.games[index], length).play();
    if (failure.empty()) {
      ++result.game_count;
    } else {
      result.failures.push_back(std::move(failure));
    }
  };
  const auto played = coroutine::for_each(std::views::iota(std::size_t{0}, plan.games.size()),
                                          {.concurrency = table_count, .name = "table"}, play_one,
                                          Deadline::never());
  check(played.has_value(), "games return no error and are never cancelled");
  watching.cancel();
  static_cast<void>(watching.join(Deadline::never()));
  return result;
}

Result<Ratings> look_at_ratings_with_token(const Hall& hall, const SessionPlay& play,
                                           std::size_t game_count) {
  framework::ClusterClient client(
      hall.network, hall.servers,
      {.connection = {.token = login(play, hall.run + " referee")}, .keeps_session = false});
  return look_at_ratings(client, hall.players, game_count);
}

}  // namespace corolane::tools::bots
