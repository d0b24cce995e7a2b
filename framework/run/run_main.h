// SPDX-License-Identifier: MIT
// The main function of a program that is a node:
//
//   int main(int argc, char** argv) {
//     return framework::run_main(argc, argv,
//                                [](framework::Node& node, const ChessConfig& config) {
//                                  node.serve(std::make_unique<ChessService>(config));
//                                });
//   }
//
// It reads the command line (--help lists the options) and the configuration: the section `node`
// (node_config.h) and that of the program, a struct with describe() and its own name: `static
// constexpr const char* section = "chess"`. It makes the loop, scheduler and network, starts the
// node, prints one line on stdout when it serves, and stops it at SIGINT or SIGTERM.
//
// A function that takes a `const Live<ChessConfig>&` (live.h) sees reloads of the live keys of its
// section; with a `const ChessConfig&` they change at the next start.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/keys.h"
#include "config/loader.h"
#include "config/reference.h"
#include "coroutine/base/result.h"
#include "framework/node/live.h"
#include "framework/node/node.h"
#include "framework/node/node_config.h"
#include "framework/node/reload.h"
#include "framework/run/detail/program.h"
#include "framework/run/recorder.h"

namespace corolane::framework {
namespace detail {

// The same failure, reported at the place where `key` is set.
Error at_origin(const config::Origins& origins, const std::string& key, const Error& error);

// Returns the exit status.
int run(int argc, const char* const* argv, Program& program, const Recorder* recorder);

// The argument of a program's function besides the node.
template <typename Argument>
struct Wanted;
template <typename ServiceConfig>
struct Wanted<const ServiceConfig&> {
  using Config = ServiceConfig;
  static constexpr bool is_live = false;
};
template <typename ServiceConfig>
struct Wanted<Live<ServiceConfig>> {
  using Config = ServiceConfig;
  static constexpr bool is_live = true;
};
template <typename ServiceConfig>
struct Wanted<const Live<ServiceConfig>&> : Wanted<Live<ServiceConfig>> {};

template <typename ServiceConfig, bool is_live>
struct ProgramConfig {
  NodeConfig node;
  ServiceConfig service;
};

template <typename ServiceConfig, bool is_live>
void describe(config::Section& section, ProgramConfig<ServiceConfig, is_live>& value) {
  section.field("node", value.node, "The node: where it listens, its limits.");
  section.field(ServiceConfig::section, value.service, "The service of this program.",
                is_live ? config::Marks() : config::fixed);
}

template <typename R, typename Argument>
class TypedProgram final : public Program {
 public:
  using ServiceConfig = Wanted<Argument>::Config;
  using Setup = std::function<R(Node&, Argument)>;

  explicit TypedProgram(Setup setup) : setup_(std::move(setup)) {}

  const char* name() const override { return ServiceConfig::section; }

  Result<void> load(const std::string& path, const config::Overrides& overrides) override {
    path_ = path;
    overrides_ = overrides;
    return keep(read());
  }

  Result<void> load_recorded(const std::string& text) override {
    // Only a node with one shard is recorded: one without the key ran on a single core.
    return keep(config::load_text<Config>(text, "recording", {.settings = {"node.shards=1"}}));
  }

  const NodeConfig& node_config() const override { return loaded_.value.node; }
  std::vector<config::Key> keys() const override { return config::keys(loaded_.value); }
  const config::Origins& origins() const override { return loaded_.origins; }
  std::string print_config(config::Secrets secrets) const override {
    return config::print(loaded_.value, loaded_.origins, secrets);
  }
  std::string config_reference() const override { return config::reference<Config>(); }

  // Hands over a copy, since a reload writes to `loaded_` and other threads read the copy.
  Result<void> set_up(Node& node) override {
    live_.emplace(loaded_.value.service, node.config().shard_count());
    started_with_ = live_->snapshot();
    if constexpr (Wanted<Argument>::is_live) {
      return call(node, *live_);
    } else {
      return call(node, *started_with_);
    }
  }

  Result<std::vector<config::Change>> reload(Node& node) override {
    auto next = read();
    if (!next) return next.error();
    auto changes = config::changes(keys(), config::keys(next->value));
    Config merged = config::with_live(loaded_.value, next->value);
    if (auto obeyed = config::obeys_rules(merged, next->origins); !obeyed) {
      return Error(
          Code::invalid_argument,
          obeyed.error().message() + " (the new live values, with the other values in effect)");
    }
    const auto snapshot = std::make_shared<const ServiceConfig>(merged.service);
    auto changed = node.reload(merged.node, [&](Shard& shard) { live_->set(shard, snapshot); });
    if (!changed)
      return at_origin(next->origins, "node.clients.tls.certificate_file", changed.error());
    loaded_.value = std::move(merged);
    keep_origins(std::move(next->origins), changes);
    return changes;
  }

 private:
  using Config = ProgramConfig<ServiceConfig, Wanted<Argument>::is_live>;

  Result<config::Loaded<Config>> read() const {
    return path_.empty() ? config::load_text<Config>("", "defaults", overrides_)
                         : config::load_file<Config>(path_, overrides_);
  }

  Result<void> keep(Result<config::Loaded<Config>> loaded) {
    if (!loaded) return loaded.error();
    loaded_ = *std::move(loaded);
    return {};
  }

  // Values that wait for the next start keep their old origins.
  void keep_origins(config::Origins next, const std::vector<config::Change>& changes) {
    for (const config::Change& change : changes) {
      if (change.is_live) continue;
      next.erase(change.path);
      if (auto old = loaded_.origins.extract(change.path)) next.insert(std::move(old));
    }
    loaded_.origins = std::move(next);
  }

  template <typename Given>
  Result<void> call(Node& node, const Given& config) {
    if constexpr (std::is_void_v<R>) {
      setup_(node, config);
      return {};
    } else {
      return setup_(node, config);
    }
  }

  const Setup setup_;
  std::string path_;
  config::Overrides overrides_;
  config::Loaded<Config> loaded_;  // The configuration in effect.
  std::shared_ptr<const ServiceConfig> started_with_;
  std::optional<Live<ServiceConfig>> live_;  // Set by set_up().
};

// Deduces R and Argument from the type of a function.
template <typename R, typename Argument>
TypedProgram(std::function<R(Node&, Argument)>) -> TypedProgram<R, Argument>;

}  // namespace detail

// `set_up` is a function of (Node&, const Config&) or (Node&, const Live<Config>&) that returns
// nothing or Result<void>; it runs in a task, before the node starts. Returns the exit status: 0
// after a stop by signal, 1 when the node could not serve, 2 for wrong usage or configuration. With
// a recorder (recording/file_recorder.h) the program can record its node and replay a recording.
template <typename SetUp>
int run_main(int argc, char** argv, SetUp set_up, const Recorder* recorder = nullptr) {
  detail::TypedProgram program{std::function(std::move(set_up))};
  return detail::run(argc, argv, program, recorder);
}

}  // namespace corolane::framework
