// SPDX-License-Identifier: MIT
// Traders and players, and the checks of their results.
#include "tools/simulation/market.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "framework/wire/objects.pb.h"
#include "services/chess/game.h"
#include "services/chess/hall.h"
#include "services/chess/lobby.h"
#include "services/chess/player.h"
#include "services/chess/rules/game.h"
#include "services/chess/rules/legal_moves.h"
#include "services/chess/rules/san.h"
#include "services/chess/rules/uci.h"
#include "tools/simulation/trade/account.h"
#include "tools/simulation/trade/chest.h"
#include "tools/simulation/trade/guild.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
namespace chess = services::chess;
namespace rules = services::chess::rules;

constexpr std::uint64_t concern = 5'000;
constexpr const char* account_type = "corolane.sim.Account";
constexpr const char* guild_type = "corolane.sim.Guild";
constexpr const char* guild_name = "lions";
constexpr const char* chest_type = "corolane.sim.Chest";
constexpr const char* player_type = "corolane.services.chess.Player";
constexpr const char* game_type = "corolane.services.chess.Game";
constexpr Duration think_time_min = 100ms;
constexpr Duration think_time_max = 700ms;
constexpr std::size_t game_length_max = 40;
constexpr std::uint64_t payment_max = 50;
constexpr int audit_length = 4;
// So that the last one ends in time after the faults.
constexpr Duration audit_time_max = 8s;
constexpr Duration collection_interval_max = 40s;
constexpr Duration nap_time_max = 1s;
// A call in an outbox is repeated after a minute at the latest.
constexpr Duration settle_time_max = 90s;

// Games stay, to be compared in the end.
chess::ChessConfig& chess_config() {
  static chess::ChessConfig config{.finished_kept = 1h};
  return config;
}

std::string account_name(std::size_t index) { return "account-" + std::to_string(index); }
std::string chest_name(std::size_t index) { return "chest-" + std::to_string(index); }

framework::ObjectRecord record_of(const framework::MemoryStore::Row& row) {
  framework::ObjectRecord record;
  record.ParseFromString(row.object.bytes);
  return record;
}

// Whether the call with that number from an outbox has taken effect on its receiver.
bool has_arrived(const framework::ObjectRecord& receiver, const std::string& caller,
                 std::uint64_t number) {
  return std::ranges::any_of(receiver.callers(), [&](const framework::AppliedCaller& applied) {
    return applied.caller() == caller && applied.last() >= number;
  });
}

template <typename State>
State state_of(const framework::ObjectRecord& record) {
  State state;
  state.ParseFromString(record.state());
  return state;
}

template <typename State>
State state_of(const framework::MemoryStore::Row& row) {
  return state_of<State>(record_of(row));
}

}  // namespace

void Market::set_up(framework::Node& node) {
  node.host<Account>({.affinity = "purse"});
  node.host<Guild>();
  node.host<Chest>({.affinity = "purse"});
  node.host<chess::Game>(
      [](framework::Shard&) { return std::make_unique<chess::Game>(chess_config()); });
  node.host<chess::Player>();
  node.host<chess::Hall>({.transient = true});
  node.host<chess::Lobby>({.transient = true});
}

Market::Market(SimulatedCluster& cluster, const SimulatedRun& run, const Options& options)
    : cluster_(cluster), run_(run), options_(options) {
  for (const char* const rare :
       {"the outcome of a call is unknown", "an account has too little gold",
        "a call is retried and answered", "a node cannot start, and is started again",
        "a full chest is destroyed"}) {
    cluster_.sometimes(rare, false);
  }
  cluster_.invariant("gold is conserved", [this] { return what_gold_is_missing(); });
  cluster_.invariant("tips are counted once", [this] { return what_tips_are_wrong(); });
  cluster_.invariant("donations are counted once", [this] { return what_donations_are_wrong(); });
}

// Clients that still run refer to this object.
Market::~Market() { cluster_.client_host().kill(); }

void Market::open() {
  for (std::size_t i = 0; i < options_.trader_count; ++i) {
    cluster_.spawn("trader " + std::to_string(i), [this, i] { trade(i); });
  }
  for (std::size_t i = 0; i < options_.porter_count; ++i) {
    cluster_.spawn("porter " + std::to_string(i), [this, i] { carry(i); });
  }
  for (std::size_t i = 0; i < options_.auditor_count; ++i) {
    cluster_.spawn("auditor " + std::to_string(i), [this, i] { audit(i); });
  }
  cluster_.spawn("collection", [this] { collect(); });
  for (std::size_t i = 0; i < options_.player_count / 2; ++i) {
    cluster_.spawn("table " + std::to_string(i), [this, i] { play(i); });
  }
}

std::string Market::any_account(test::Random& dice) const {
  return account_name(dice.below(options_.account_count));
}

void Market::note(const std::string& account, const AccountReply& reply) {
  if (reply.gold() < 0) cluster_.violated(account + " has a negative amount of gold");
  const auto [seen, is_new] = tips_seen_.emplace(std::pair(account, reply.count()), reply.tips());
  if (!is_new && seen->second != reply.tips()) {
    cluster_.violated("I8 " + account + ": count " + std::to_string(reply.count()) + " has " +
                      std::to_string(seen->second) + " tips and " + std::to_string(reply.tips()));
  }
}

void Market::trade(std::size_t index) {
  test::Random dice = cluster_.simulation().dice(concern + index);
  const std::string name = "trader " + std::to_string(index);
  framework::Router& router = cluster_.router(name);
  framework::Router& once = cluster_.router_without_ids(name);
  while (!run_.is_ending()) {
    if (!coroutine::sleep_for(think_time_min + dice.up_to(think_time_max - think_time_min))) return;
    const std::string account = any_account(dice);
    AccountClient client(router, account);
    rpc::CallOptions options;
    // Some callers have short deadlines.
    const bool is_in_a_hurry = dice.one_in(10);
    if (is_in_a_hurry) options.deadline = Deadline::after(dice.up_to(20ms));
    const std::uint64_t choice = dice.below(10);
    if (choice == 0) {
      PayRequest request;
      request.set_to(any_account(dice));
      request.set_amount(1 + dice.below(payment_max));
      // The gold is right whether or not that succeeds.
      static_cast<void>(client.pay_later(request, options));
    } else if (choice < 6) {
      PayRequest request;
      request.set_to(any_account(dice));
      request.set_amount(1 + dice.below(payment_max));
      const auto paid = client.pay(request, options);
      if (paid) note(account, *paid);
      const bool is_refused = !paid && paid.error().code() == Code::failed_precondition;
      cluster_.sometimes("an account has too little gold", is_refused);
      if (!paid && !is_refused && !is_in_a_hurry && paid.error().code() != Code::invalid_argument) {
        cluster_.violated("I6 " + account + ": " + paid.error().to_string());
      }
    } else if (choice < 8) {
      const auto seen = client.look({}, options);
      if (seen) note(account, *seen);
    } else {
      tip(once, dice);
    }
  }
}

// Calls without a request id: a call that may have been executed is not retried.
void Market::tip(framework::Router& once, test::Random& dice) {
  const std::string account = any_account(dice);
  Tips& tips = tips_[account];
  ++tips.maybe;
  const auto tipped = AccountClient(once, account)
                          .tip(google::protobuf::Empty(), {.deadline = Deadline::after(5s)});
  if (tipped) {
    --tips.maybe;
    ++tips.sure;
    note(account, *tipped);
  } else if (!tipped.error().maybe_executed()) {
    --tips.maybe;
  } else {
    cluster_.sometimes("the outcome of a call is unknown");
  }
}

void Market::collect() {
  test::Random dice = cluster_.simulation().dice(concern + 900);
  for (;;) {
    // Sleeps in short naps, because the market may close meanwhile.
    const TimePoint next = now() + dice.up_to(collection_interval_max);
    while (now() < next && !run_.is_ending()) {
      if (!coroutine::sleep_for(nap_time_max)) return;
    }
    if (run_.is_ending()) return;
    coroutine::TaskGroup donors;
    for (std::size_t i = 0; i < options_.donor_count; ++i) {
      auto spawned = donors.spawn("donor", [this, i] { donate(i); });
      check(spawned.has_value(), "there is memory for a donor");
    }
    static_cast<void>(donors.join(Deadline::never()));
  }
}

void Market::donate(std::size_t donor) {
  ++donations_.maybe;
  GuildClient guild(cluster_.router("donor " + std::to_string(donor)), guild_name);
  const auto donated = guild.donate({});
  if (!donated) return cluster_.violated("I6 the guild: " + donated.error().to_string());
  --donations_.maybe;
  ++donations_.sure;
}

void Market::carry(std::size_t porter) {
  test::Random dice = cluster_.simulation().dice(concern + 950 + porter);
  framework::Router& router = cluster_.router("porter " + std::to_string(porter));
  while (!run_.is_ending()) {
    if (!coroutine::sleep_for(think_time_min + dice.up_to(think_time_max - think_time_min))) return;
    const std::string name = chest_name(dice.below(options_.chest_count));
    ChestClient chest(router, name);
    const bool takes = dice.one_in(4);
    const auto answer = takes ? chest.take_all({}) : chest.put({});
    if (!answer) return cluster_.violated("I6 " + name + ": " + answer.error().to_string());
    if (takes) {
      taken_count_ += answer->items();
      cluster_.sometimes("a full chest is destroyed", answer->items() > 0);
    } else {
      ++put_count_;
    }
  }
}

void Market::audit(std::size_t auditor) {
  test::Random dice = cluster_.simulation().dice(concern + 980 + auditor);
  framework::Router& router = cluster_.router("auditor " + std::to_string(auditor));
  while (!run_.is_ending()) {
    if (!coroutine::sleep_for(think_time_min)) return;
    AuditRequest request;
    for (int i = 0; i < audit_length; ++i) request.add_accounts(any_account(dice));
    // Not repeated by the account that asks: it fails when one of them cannot be reached.
    const auto audited = AccountClient(router, any_account(dice))
                             .audit(request, {.deadline = Deadline::after(audit_time_max)});
    if (audited && audited->least_gold() < 0) {
      cluster_.violated("an audit saw a negative amount of gold");
    }
  }
}

void Market::play(std::size_t table) {
  for (std::size_t round = 0; !run_.is_ending(); ++round) {
    play_game(table, "table " + std::to_string(table) + " game " + std::to_string(round));
  }
}

void Market::play_game(std::size_t table, const std::string& name) {
  games_[name];
  test::Random dice = cluster_.simulation().dice(concern + 2'000 + table * 1'000 + games_.size());
  const std::size_t length = 2 + dice.below(game_length_max);
  const std::string first = "player-" + std::to_string(2 * table);
  const std::string second = "player-" + std::to_string(2 * table + 1);
  coroutine::TaskGroup players;
  for (const chess::Seat seat : {chess::WHITE, chess::BLACK}) {
    auto own = std::make_shared<test::Random>(dice.any());
    const std::string& player = seat == chess::WHITE ? first : second;
    auto spawned = players.spawn(name, [this, name, seat, player, length, own] {
      if (auto played = sit_and_play(name, seat, player, length, *own); !played) {
        cluster_.violated("I6 " + name + ": " + played.error().to_string());
      }
    });
    check(spawned.has_value(), "there is memory for a player");
  }
  static_cast<void>(players.join(Deadline::never()));
}

// Both players make random legal moves until the game has `length` plies or the market closes. Then
// the player to move resigns.
Result<void> Market::sit_and_play(const std::string& name, chess::Seat seat,
                                  const std::string& player, std::size_t length,
                                  test::Random& dice) {
  chess::GameClient client(cluster_.router(name + (seat == chess::WHITE ? " white" : " black")),
                           name);
  chess::JoinRequest joining;
  joining.set_game(name);
  joining.set_seat(seat);
  joining.set_player(player);
  const auto joined = client.join(joining);
  if (!joined) return joined.error();
  // The opponent may have left because the market has closed.
  const auto is_left = [this](const Error& error) {
    return run_.is_ending() && error.code() == Code::failed_precondition;
  };
  if (auto begun = client.wait_opponent({}); !begun) {
    return is_left(begun.error()) ? Result<void>() : begun.error();
  }
  rules::Game game;
  auto& answered = games_[name];
  for (std::uint32_t ply = 1; ply <= length && !game.is_over(); ++ply) {
    const bool is_mine = (ply % 2 == 1) == (seat == chess::WHITE);
    std::string uci;
    if (is_mine) {
      if (auto slept = coroutine::sleep_for(think_time_min + dice.up_to(think_time_max)); !slept) {
        return slept;
      }
      if (run_.is_ending()) break;
      const auto moves = rules::legal_moves(game.position());
      const rules::Move move = moves[dice.below(moves.size())];
      uci = rules::to_uci(move);
      chess::MoveRequest request;
      request.set_game(name);
      request.set_token(joined->token());
      request.set_san(to_san(game.position(), move));
      const auto moved = client.move(request);
      if (!moved) return moved.error();
      if (moved->ply() != ply) {
        return Error(Code::data_loss, uci + " is ply " + std::to_string(moved->ply()) +
                                          ", expected ply " + std::to_string(ply));
      }
      answered[ply] = uci;
    } else {
      chess::WaitMoveRequest request;
      request.set_game(name);
      request.set_ply(ply);
      auto seen = client.wait_move(request);
      if (!seen) return is_left(seen.error()) ? Result<void>() : seen.error();
      uci = seen->uci();
      if (const auto told = answered.find(ply); told != answered.end() && told->second != uci) {
        return Error(Code::data_loss,
                     "ply " + std::to_string(ply) + " was " + told->second + " and is " + uci);
      }
    }
    const auto move = rules::parse_uci(game.position(), uci);
    if (!move) return Error(Code::data_loss, "ply " + std::to_string(ply) + ": " + move.error());
    if (auto played = game.play(*move); !played) return Error(Code::data_loss, played.error());
  }
  // The player to move resigns.
  const bool white_moves = game.side_to_move() == rules::Color::white;
  if (game.is_over() || white_moves != (seat == chess::WHITE)) return {};
  chess::ResignRequest request;
  request.set_game(name);
  request.set_token(joined->token());
  if (auto resigned = client.resign(request); !resigned) return resigned.error();
  return {};
}

// Holds at any moment: gold in flight counts until it has arrived.
std::string Market::what_gold_is_missing() const {
  std::int64_t sum = 0;
  std::map<std::string, framework::ObjectRecord> accounts;
  const auto& table = cluster_.store().table();
  for (std::size_t i = 0; i < options_.account_count; ++i) {
    const std::string name = account_name(i);
    accounts[name] = record_of(table.look({.type = account_type, .id = name}));
  }
  for (const auto& [name, account] : accounts) {
    sum += state_of<AccountState>(account).change();
    const framework::StoredOutbox& outbox = account.outbox();
    for (const framework::StoredCall& call : outbox.calls()) {
      if (has_arrived(accounts[call.id()], outbox.caller(), call.number())) continue;
      Transfer transfer;
      transfer.ParseFromString(call.request());
      sum += static_cast<std::int64_t>(transfer.amount());
    }
  }
  return sum == 0 ? "" : "I5 the sum of all gold has changed by " + std::to_string(sum);
}

std::string Market::what_tips_are_wrong() const {
  const auto& table = cluster_.store().table();
  for (const auto& [name, tips] : tips_) {
    const auto state = state_of<AccountState>(table.look({.type = account_type, .id = name}));
    if (state.tips() < tips.sure || state.tips() > tips.sure + tips.maybe) {
      return "I4 " + name + " has " + std::to_string(state.tips()) +
             " tips: " + std::to_string(tips.sure) + " were answered, and " +
             std::to_string(tips.maybe) + " have an unknown outcome";
    }
  }
  return "";
}

std::string Market::what_donations_are_wrong() const {
  const auto guild =
      state_of<GuildState>(cluster_.store().table().look({.type = guild_type, .id = guild_name}));
  if (guild.gold() >= donations_.sure && guild.gold() <= donations_.sure + donations_.maybe) {
    return "";
  }
  return "I4 the guild has " + std::to_string(guild.gold()) +
         " gold: " + std::to_string(donations_.sure) + " donations were answered, and " +
         std::to_string(donations_.maybe) + " are in flight";
}

// Holds when every game is scored.
std::string Market::what_ratings_are_wrong() const {
  std::int64_t sum = 0;
  std::uint64_t results = 0;
  const auto& table = cluster_.store().table();
  for (std::size_t i = 0; i < options_.player_count; ++i) {
    const auto player = state_of<chess::PlayerRecord>(
        table.look({.type = player_type, .id = "player-" + std::to_string(i)}));
    sum += player.rating_change();
    results += player.wins() + player.draws() + player.losses();
  }
  if (sum != 0) return "I5 the sum of all ratings has changed by " + std::to_string(sum);
  if (results != 2 * games_.size()) {
    return "I5 " + std::to_string(games_.size()) + " games have " + std::to_string(results) +
           " results";
  }
  return "";
}

// Holds when no porter is under way.
std::string Market::what_items_are_wrong() const {
  std::uint64_t left = 0;
  const auto& table = cluster_.store().table();
  for (std::size_t i = 0; i < options_.chest_count; ++i) {
    left += state_of<ChestState>(table.look({.type = chest_type, .id = chest_name(i)})).items();
  }
  if (taken_count_ + left == put_count_) return "";
  return "I5 " + std::to_string(put_count_) + " items were put into chests, " +
         std::to_string(taken_count_) + " were taken and " + std::to_string(left) + " are left";
}

void Market::settle(Duration answer_time_max) {
  if (const std::string wrong = what_items_are_wrong(); !wrong.empty()) {
    return cluster_.violated(wrong);
  }
  const bool is_in_time = cluster_.run(
      "roll call",
      [this] {
        framework::Router& router = cluster_.router("roll call");
        bool has_answered = true;
        for (std::size_t i = 0; i < options_.account_count; ++i) {
          has_answered =
              AccountClient(router, account_name(i)).look({}).has_value() && has_answered;
        }
        for (std::size_t i = 0; i < options_.player_count; ++i) {
          const std::string name = "player-" + std::to_string(i);
          has_answered = chess::PlayerClient(router, name).look({}).has_value() && has_answered;
        }
        for (const auto& [name, moves] : games_) {
          has_answered = chess::GameClient(router, name).look({}).has_value() && has_answered;
        }
        has_everybody_answered_ = has_answered;
      },
      answer_time_max);
  if (!cluster_.violations().empty()) return;
  if (!is_in_time || !has_everybody_answered_) {
    return cluster_.violated("I6 not every object has answered after the last fault");
  }
  // Gold in flight arrives, and every game is scored.
  const auto is_settled = [this] {
    for (std::size_t i = 0; i < options_.account_count; ++i) {
      const auto account =
          record_of(cluster_.store().table().look({.type = account_type, .id = account_name(i)}));
      if (account.outbox().calls_size() > 0) return false;
    }
    return what_ratings_are_wrong().empty();
  };
  Simulation& simulation = cluster_.simulation();
  const TimePoint last = simulation.now() + settle_time_max;
  while (!is_settled() && simulation.now() < last && cluster_.violations().empty()) {
    cluster_.run_for(200ms);
  }
  if (!is_settled()) {
    std::string what = what_ratings_are_wrong();
    cluster_.violated(what.empty() ? "I5 a payment has not arrived" : what);
  }
  for (const auto& [name, moves] : games_) {
    const auto stored = cluster_.stored<chess::GameRecord>(game_type, name);
    for (const auto& [ply, uci] : moves) {
      if (static_cast<int>(ply) <= stored.moves_size() &&
          stored.moves(static_cast<int>(ply) - 1) == uci) {
        continue;
      }
      std::string what = "I3 " + name + ": ply " + std::to_string(ply) + ", ";
      cluster_.violated(what.append(uci).append(", was answered but is not stored"));
    }
  }
}

}  // namespace corolane::sim
