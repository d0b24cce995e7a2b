// SPDX-License-Identifier: MIT
// A program that is a node; the test writes its configuration file and has it reloaded.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/testing/temporary_folder.h"
#include "framework/pages/config_page.h"
#include "framework/run/run_main.h"
#include "net/testing/network.h"
#include "test/framework/pages/pages.h"

namespace corolane::test {

struct FortConfig {
  static constexpr const char* section = "fort";

  int guards = 3;
  int guards_max = 9;
  Duration watch = std::chrono::hours(1);
  std::vector<std::string> gates = {"north"};
  std::string password = {};
};

inline void describe(config::Section& section, FortConfig& value) {
  section.field("guards", value.guards, "On the wall.", config::between(0, 100), config::live);
  section.field("guards_max", value.guards_max, "The largest garrison.");
  section.field("watch", value.watch, "The watch of one guard.", config::live);
  section.field("gates", value.gates, "The open gates.", config::live);
  section.field("password", value.password, "The password of the day.",
                config::live | config::secret);
  section.rule({"guards", "guards_max"}, [&value]() -> Result<void> {
    if (value.guards <= value.guards_max) return {};
    return Error(Code::invalid_argument, "more guards than room");
  });
}

class Fort {
 public:
  using Program = framework::detail::TypedProgram<void, const framework::Live<FortConfig>&>;

  struct NotStarted {};
  // The node is set up, and start() starts it.
  static constexpr NotStarted not_started{};

  explicit Fort(std::string_view text, framework::Reload::Options options = {})
      : Fort(text, not_started, std::move(options)) {
    start();
  }
  Fort(std::string_view text, NotStarted, framework::Reload::Options options = {})
      : log_(framework::LogLevel::debug,
             [this](std::string_view line) { lines_.emplace_back(line); }) {
    write(text);
    const auto loaded = program_.load(
        path(),
        {.settings = {"node.clients.listen=127.0.0.1:0", "node.clients.login.anonymous=true",
                      "node.admin.listen=127.0.0.1:0", "node.shards=1", "node.store.kind=memory"}});
    EXPECT_TRUE(loaded) << loaded;
    log_.set_level(program_.node_config().log_level);
    node_.emplace(program_.node_config(), network_, std::move(log_));
    reload_ = std::make_shared<framework::Reload>(program_, *node_, std::move(options));
    framework::add_config_pages(node_->admin(), reload_);
    EXPECT_TRUE(program_.set_up(*node_));
  }

  void start() {
    const auto started = node_->start();
    EXPECT_TRUE(started) << started;
  }

  void write(std::string_view text) const { std::ofstream(path(), std::ios::binary) << text; }
  std::string path() const { return folder_.path() / "fort.yaml"; }

  // Replaces the path of the file with its name.
  std::string without_folder(std::string text) const {
    const std::string folder = folder_.path().string() + "/";
    for (auto at = text.find(folder); at != text.npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }

  Result<std::vector<config::Change>> reload() { return reload_->run(); }
  // The snapshot that the services of the node see.
  const FortConfig& seen() const { return **live_; }
  framework::Node& node() { return *node_; }
  Program& program() { return program_; }
  const std::vector<std::string>& log_lines() const { return lines_; }

  net::HttpResponse page(const std::string& target, const std::string& method = "GET") {
    return fetch(network_, node_->endpoints().admin, target, method);
  }

 private:
  TemporaryFolder folder_;
  std::optional<framework::Live<FortConfig>> live_;
  Program program_{Program::Setup([this](framework::Node&, const auto& live) { live_ = live; })};
  sim::SimulatedNetwork network_;
  std::vector<std::string> lines_;
  framework::Log log_;
  std::optional<framework::Node> node_;
  std::shared_ptr<framework::Reload> reload_;
};

}  // namespace corolane::test
