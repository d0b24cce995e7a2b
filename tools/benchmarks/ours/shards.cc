// SPDX-License-Identifier: MIT
// One node in the benchmark's own process. With two shards, half of the calls cross shards.
#include "tools/benchmarks/ours/shards.h"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/task_group.h"
#include "framework/node/node.h"
#include "services/chess/game.h"
#include "tools/benchmarks/counter.corolane.h"
#include "tools/benchmarks/ours/one_process.h"

namespace corolane::bench {
namespace {

namespace chess = services::chess;

class Counter : public CounterObject {
 public:
  Result<AddReply> add(const AddRequest&, rpc::Context&) override { return AddReply(); }
  Result<AddReply> get(const AddRequest&, rpc::Context&) const override { return AddReply(); }
};

// Repeats one kind of call until the time is over.
class Caller {
 public:
  virtual ~Caller() = default;
  // Makes one or a few calls, and returns how many of them count. Suspends.
  virtual Result<std::size_t> act() = 0;
};

class CounterCaller final : public Caller {
 public:
  CounterCaller(framework::Router& router, std::size_t start) : router_(router), next_(start) {}

  Result<std::size_t> act() override {
    constexpr std::size_t counters = 1'000;
    auto got = CounterClient(router_, std::to_string(next_++ % counters)).get({});
    if (!got) return got.error();
    return 1;
  }

 private:
  framework::Router& router_;
  std::size_t next_;
};

// Plays both sides of a game, again and again.
class ChessCaller final : public Caller {
 public:
  ChessCaller(framework::Router& router, std::string name) : game_(router, std::move(name)) {}

  Result<std::size_t> act() override {
    if (ply_ == 0) {
      if (auto began = begin(); !began) return began.error();
    }
    chess::MoveRequest request;
    request.set_token(tokens_[ply_ % 2]);
    request.set_san(opening[ply_]);
    if (auto moved = game_.move(request); !moved) return moved.error();
    if (++ply_ < opening.size()) return 1;
    ply_ = 0;
    chess::ResignRequest resign;
    resign.set_token(tokens_[0]);
    if (auto resigned = game_.resign(resign); !resigned) return resigned.error();
    return 1;
  }

 private:
  // The Breyer defence of the Spanish.
  static constexpr std::array<const char*, 20> opening = {
      "e4",  "e5", "Nf3", "Nc6", "Bb5", "a6",  "Ba4", "Nf6", "O-O", "Be7",
      "Re1", "b5", "Bb3", "d6",  "c3",  "O-O", "h3",  "Nb8", "d4",  "Nbd7"};

  Result<void> begin() {
    chess::JoinRequest request;
    for (const chess::Seat seat : {chess::WHITE, chess::BLACK}) {
      request.set_seat(seat);
      auto joined = game_.join(request);
      if (!joined) return joined.error();
      tokens_[seat == chess::WHITE ? 0 : 1] = joined->token();
    }
    return {};
  }

  chess::GameClient game_;
  std::array<chess::Token, 2> tokens_{};
  std::size_t ply_ = 0;
};

using MakeCaller = std::unique_ptr<Caller> (*)(framework::Shard& shard, std::size_t index);

// Returns calls per second of all callers, with `in_flight` callers on each shard.
Result<Measurement> count_calls(framework::Node& node, std::size_t shard_count, MakeCaller make) {
  std::vector<std::size_t> counts(shard_count);
  const auto end = std::chrono::steady_clock::now() + effort();
  const auto called = node.on_each_shard([&](framework::Shard& shard) -> Result<void> {
    coroutine::TaskGroup callers;
    std::size_t count = 0;
    for (std::size_t i = 0; i < in_flight; ++i) {
      auto spawned = callers.spawn("caller", [&, i]() -> Result<void> {
        const auto caller = make(shard, i);
        while (std::chrono::steady_clock::now() < end) {
          const auto done = caller->act();
          if (!done) return done.error();
          count += *done;
        }
        return {};
      });
      if (!spawned) return spawned.error();
    }
    auto joined = callers.join(Deadline::never());
    counts[shard.index()] = count;
    return joined;
  });
  if (!called) return called.error();
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  const auto seconds = std::chrono::duration<double>(effort()).count();
  return Measurement{.value = static_cast<double>(sum) / seconds};
}

framework::NodeConfig config_of(std::size_t shard_count) {
  return node_config("node", static_cast<std::uint32_t>(shard_count));
}

}  // namespace

Result<Measurement> our_chess_moves(std::size_t shard_count) {
  use_all_cores();
  return with_network([shard_count](net::Network& network) -> Result<Measurement> {
    chess::ChessConfig config;
    config.finished_kept = {};
    framework::Node node(config_of(shard_count), network,
                         framework::Log(framework::LogLevel::error));
    node.host<chess::Game>(
        [&config](framework::Shard&) { return std::make_unique<chess::Game>(config); });
    if (auto started = node.start(); !started) return started.error();
    return count_calls(node, shard_count, [](framework::Shard& shard, std::size_t index) {
      const std::string name = std::to_string(shard.index()) + "-" + std::to_string(index);
      return std::unique_ptr<Caller>(std::make_unique<ChessCaller>(shard.router(), name));
    });
  });
}

Result<Measurement> our_object_calls(std::size_t shard_count) {
  use_all_cores();
  return with_network([shard_count](net::Network& network) -> Result<Measurement> {
    framework::Node node(config_of(shard_count), network,
                         framework::Log(framework::LogLevel::error));
    node.host<Counter>();
    if (auto started = node.start(); !started) return started.error();
    return count_calls(node, shard_count, [](framework::Shard& shard, std::size_t index) {
      return std::unique_ptr<Caller>(std::make_unique<CounterCaller>(shard.router(), index));
    });
  });
}

}  // namespace corolane::bench
