// The main function of a program that is a node:
//
//   int main(int argc, char** argv) {
//     return framework::run_main(argc, argv,
//                                [](framework::Node& node, const ChessConfig& config) {
//                                  node.serve(std::make_unique<ChessService>(config));
//                                });
//   }
//
// It reads the command line (--help says what there is) and the configuration: the section `node`
// (node_config.h) and the one of the program, a struct with describe() and its own name:
// `static constexpr const char* section = "chess"`. It makes loop, scheduler and network, starts
// the node, prints one line on stdout when it serves, and stops it at SIGINT or SIGTERM.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "config/loader.h"
#include "coroutine/base/result.h"
#include "framework/node.h"
#include "framework/node_config.h"

namespace corolane::framework {
namespace detail {

// What run() needs of a program, without its types.
class Program {
 public:
  virtual ~Program() = default;

  // Of the program, and of its section in the configuration.
  virtual const char* name() const = 0;
  // Reads `path`, or nothing but the overrides when it is empty.
  virtual Result<void> load(const std::string& path, const config::Overrides& overrides) = 0;
  // Reads that text, which a recording has, and nothing else.
  virtual Result<void> load_recorded(const std::string& text) = 0;
  // What was loaded.
  virtual const NodeConfig& node_config() const = 0;
  virtual std::string print_config() const = 0;
  // Makes the services.
  virtual Result<void> set_up(Node& node) const = 0;
};

// Returns the exit status.
int run(int argc, const char* const* argv, Program& program);

template <typename ServiceConfig>
struct ProgramConfig {
  NodeConfig node;
  ServiceConfig service;
};

template <typename ServiceConfig>
void describe(config::Section& section, ProgramConfig<ServiceConfig>& value) {
  section.field("node", value.node, "The node: where it listens, its limits.");
  section.field(ServiceConfig::section, value.service, "The service of this program.");
}

template <typename R, typename ServiceConfig>
class TypedProgram final : public Program {
 public:
  using Setup = std::function<R(Node&, const ServiceConfig&)>;

  explicit TypedProgram(Setup setup) : setup_(std::move(setup)) {}

  const char* name() const override { return ServiceConfig::section; }

  Result<void> load(const std::string& path, const config::Overrides& overrides) override {
    auto loaded = path.empty() ? config::load_text<Config>("", "defaults", overrides)
                               : config::load_file<Config>(path, overrides);
    if (!loaded) return loaded.error();
    loaded_ = *std::move(loaded);
    return {};
  }

  Result<void> load_recorded(const std::string& text) override {
    // Without a number it had as many as its machine has cores: one, or it was not recorded.
    auto loaded = config::load_text<Config>(text, "recording", {.settings = {"node.shards=1"}});
    if (!loaded) return loaded.error();
    loaded_ = *std::move(loaded);
    return {};
  }

  const NodeConfig& node_config() const override { return loaded_.value.node; }
  std::string print_config() const override {
    return config::print(loaded_.value, loaded_.origins);
  }

  Result<void> set_up(Node& node) const override {
    if constexpr (std::is_void_v<R>) {
      setup_(node, loaded_.value.service);
      return {};
    } else {
      return setup_(node, loaded_.value.service);
    }
  }

 private:
  using Config = ProgramConfig<ServiceConfig>;

  const Setup setup_;
  config::Loaded<Config> loaded_;
};

// Finds R and ServiceConfig in the type of a function.
template <typename R, typename ServiceConfig>
TypedProgram(std::function<R(Node&, const ServiceConfig&)>) -> TypedProgram<R, ServiceConfig>;

}  // namespace detail

// `set_up` is a function of (Node&, const Config&) that returns nothing or Result<void>; it runs
// in a task, before the node starts. Returns the exit status: 0 after a stop by signal, 1 when the
// node could not serve, 2 for wrong usage or configuration.
template <typename SetUp>
int run_main(int argc, char** argv, SetUp set_up) {
  detail::TypedProgram program{std::function(std::move(set_up))};
  return detail::run(argc, argv, program);
}

}  // namespace corolane::framework
