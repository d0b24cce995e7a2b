// SPDX-License-Identifier: MIT
// A reload of a node with several threads, on the real loop: all of them change, or none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/node/reload.h"
#include "framework/run/run_main.h"
#include "net/testing/certificates.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/fort.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::FortConfig;
using testing::Each;
using testing::HasSubstr;

constexpr std::size_t shard_count = 3;

// A node that records the number of guards that each shard sees.
class ShardedFort {
 public:
  // `while_starting` runs in a task as soon as the start of the node suspends.
  explicit ShardedFort(
      net::Network& network,
      const std::function<void(ShardedFort& fort)>& while_starting = [](auto&) {})
      : files_(authority_.issue({.dns_names = {"fort"}})) {
    write(4);
    const auto loaded = program_.load(
        path(),
        {.settings = {"node.clients.listen=127.0.0.1:0", "node.clients.login.anonymous=true",
                      "node.admin.listen=127.0.0.1:0", "node.store.kind=memory",
                      "node.log_level=error", "node.shards=" + std::to_string(shard_count)}});
    EXPECT_TRUE(loaded) << loaded;
    node_.emplace(program_.node_config(), network, Log(LogLevel::error, [](std::string_view) {}));
    reload_.emplace(program_, *node_, Reload::Options{});
    EXPECT_TRUE(program_.set_up(*node_));
    auto meanwhile = coroutine::spawn("while starting", [&] { while_starting(*this); });
    const auto started = node_->start();
    EXPECT_TRUE(meanwhile.join(Deadline::never()));
    EXPECT_TRUE(started) << started;
    EXPECT_TRUE(node_->on_each_shard([this](Shard& shard) -> Result<void> {
      on_shards_[shard.index()] = live_->on(shard);
      return {};
    }));
  }
  ~ShardedFort() { EXPECT_TRUE(node_->stop(test::soon())); }
  ShardedFort(const ShardedFort&) = delete;
  ShardedFort& operator=(const ShardedFort&) = delete;

  void write(int guards) {
    std::ofstream(path()) << "node:\n  clients:\n    tls:\n      certificate_file: "
                          << files_.certificate_file << "\n      key_file: " << files_.key_file
                          << "\nfort: {guards: " << guards << "}\n";
  }
  std::string path() const { return folder_.path() / "fort.yaml"; }
  const test::CertificateFiles& files() const { return files_; }

  Result<std::vector<config::Change>> reload() { return reload_->run(); }

  std::vector<int> guards() {
    std::vector<int> seen(shard_count);
    EXPECT_TRUE(node_->on_each_shard([&](Shard& shard) -> Result<void> {
      seen[shard.index()] = (*on_shards_[shard.index()])->guards;
      return {};
    }));
    return seen;
  }

 private:
  using Program = test::Fort::Program;

  test::TemporaryFolder folder_;
  test::CertificateAuthority authority_{"fort"};
  test::CertificateFiles files_;
  std::optional<Live<FortConfig>> live_;
  std::vector<std::optional<Live<FortConfig>>> on_shards_{shard_count};
  Program program_{Program::Setup([this](Node&, const auto& live) { live_ = live; })};
  std::optional<Node> node_;
  std::optional<Reload> reload_;
};

TEST(ReloadShardsTest, AllShardsSeeTheNewSnapshot) {
  test::run_on_real_loop([](test::RealLoop& real) {
    ShardedFort fort(real.network);
    EXPECT_THAT(fort.guards(), Each(4));
    for (int guards = 5; guards < 9; ++guards) {
      fort.write(guards);
      const auto changes = fort.reload();
      ASSERT_TRUE(changes) << changes;
      EXPECT_THAT(fort.guards(), Each(guards));
    }
  });
}

// Its first shard is not open, and the thread of the second is not ready.
TEST(ReloadShardsTest, ANodeWhoseThreadsStartRefuses) {
  test::run_on_real_loop([](test::RealLoop& real) {
    ShardedFort fort(real.network, [](ShardedFort& starting) {
      starting.write(5);
      EXPECT_THAT(starting.reload(), test::fails_with(Code::unavailable));
    });
    EXPECT_THAT(fort.guards(), Each(4));
    ASSERT_TRUE(fort.reload());
    EXPECT_THAT(fort.guards(), Each(5));
  });
}

TEST(ReloadShardsTest, ACertificateThatCannotBeReadChangesNothingOnAnyShard) {
  test::run_on_real_loop([](test::RealLoop& real) {
    ShardedFort fort(real.network);
    fort.write(7);
    std::filesystem::remove(fort.files().key_file);
    const auto changes = fort.reload();
    ASSERT_FALSE(changes);
    EXPECT_THAT(changes.error().message(), HasSubstr("fort.yaml:4: node.clients.tls: "));
    EXPECT_THAT(changes.error().message(), HasSubstr("No such file"));
    EXPECT_THAT(fort.guards(), Each(4));
  });
}

}  // namespace
}  // namespace corolane::framework
