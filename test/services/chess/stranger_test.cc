// SPDX-License-Identifier: MIT
// Which methods of a chess node each kind of client reaches by frames and by HTTP, and sees by
// reflection. The client knows nothing but the addresses; the methods are those of all descriptors
// that the node is made of.
#include "test/services/chess/stranger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/encoding.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "net/crypto.h"
#include "net/testing/network.h"
#include "rpc/auth/jwt.h"
#include "services/chess/chess_service.h"
#include "services/chess/game.h"
#include "services/chess/hall.h"
#include "services/chess/lobby.h"
#include "services/chess/player.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/test_node.h"
#include "tools/processes/child_process.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
using test::generated_methods;
using test::MethodNames;
using test::Stranger;

bool is_of_nodes_alone(std::string_view method) {
  return method.starts_with("corolane.framework.");
}

// JSON Web Tokens, as a login service makes them, and as a forger would.
constexpr std::string_view secret = "the secret of a login service, long enough";

std::string part_of_token(const std::string& text) { return to_base64(text, Base64::url); }

std::string claims_until(std::chrono::seconds time) {
  return part_of_token(R"({"sub":"player-17","exp":)" + std::to_string(time.count()) + "}");
}

std::string signed_with(std::string_view key, const std::string& claims) {
  const std::string content = part_of_token(R"({"alg":"HS256"})") + "." + claims;
  return content + "." + to_base64(net::hmac_sha256(key, {content}), Base64::url);
}

struct Visitor {
  const char* name;
  std::string token = {};
  bool is_let_in = false;
};

// Those who come to the doors of a node that asks for a token.
std::vector<Visitor> visitors() {
  const std::chrono::seconds now = rpc::system_unix_time();
  const std::string claims = claims_until(now + 1h);
  const std::string right = signed_with(secret, claims);
  const std::string later = claims_until(now + 1'000h);
  return {
      {.name = "no token"},
      {.name = "forged", .token = signed_with("the secret of somebody else, long enough", claims)},
      {.name = "unsigned", .token = part_of_token(R"({"alg":"none"})") + "." + claims + "."},
      {.name = "altered",
       .token = part_of_token(R"({"alg":"HS256"})") + "." + later + right.substr(right.rfind('.'))},
      {.name = "expired", .token = signed_with(secret, claims_until(now - 1h))},
      {.name = "right", .token = right, .is_let_in = true},
  };
}

// The methods that one visitor has reached.
struct Reach {
  std::string visitor;
  MethodNames by_frames;
  MethodNames by_http;
  MethodNames seen;

  Reach(std::string name, Stranger stranger)
      : visitor(std::move(name)),
        by_frames(stranger.reach_by_frames()),
        by_http(stranger.reach_by_http()),
        seen(stranger.see_by_reflection()) {
    seen.merge(stranger.see_in_listing());
  }

  MethodNames all() const {
    MethodNames all = seen;
    all.insert(by_frames.begin(), by_frames.end());
    all.insert(by_http.begin(), by_http.end());
    return all;
  }
};

// One row for each method: F is reached by frames, H by HTTP, and R is seen by reflection.
void print_table(const char* node, const std::vector<Reach>& visits) {
  std::printf("%-44s %-8s", node, "");
  for (const Reach& visit : visits) std::printf("  %-9s", visit.visitor.c_str());
  std::puts("");
  std::vector<std::size_t> internal_counts(visits.size());
  for (const std::string& method : generated_methods().all) {
    const bool is_public = generated_methods().for_clients.contains(method);
    const std::string_view name = std::string_view(method).substr(std::string("corolane.").size());
    std::printf("  %-42.*s %-8s", static_cast<int>(name.size()), name.data(),
                is_public ? "public" : "internal");
    for (std::size_t i = 0; i < visits.size(); ++i) {
      const Reach& visit = visits[i];
      const std::string how = std::string(visit.by_frames.contains(method) ? "F" : ".") +
                              (visit.by_http.contains(method) ? "H" : ".") +
                              (visit.seen.contains(method) ? "R" : ".");
      if (!is_public && how != "...") ++internal_counts[i];
      std::printf("  %-9s", how.c_str());
    }
    std::puts("");
  }
  std::printf("  internal methods reached or seen, of %-14zu",
              generated_methods().internal().size());
  for (const std::size_t count : internal_counts) std::printf("  %-9zu", count);
  std::puts("");
  std::fflush(stdout);
}

// A chess node in a process of the shipped program.
class NodeProcess {
 public:
  explicit NodeProcess(const std::vector<std::string>& settings)
      : process_(COROLANE_CHESS_NODE, arguments(settings)) {
    const std::string line = process_.read_line();
    std::smatch found;
    const std::regex form("serves on ([0-9.:]+), admin http://([0-9.:]+)/, http://([0-9.:]+)/");
    EXPECT_TRUE(std::regex_search(line, found, form)) << line;
    doors.frames = net::parse_endpoint(found[1].str()).value_or(net::Endpoint());
    doors.http = net::parse_endpoint(found[3].str()).value_or(net::Endpoint());
    admin = net::parse_endpoint(found[2].str()).value_or(net::Endpoint());
  }

  test::ClientDoors doors;
  net::Endpoint admin;

 private:
  static std::vector<std::string> arguments(const std::vector<std::string>& settings) {
    std::vector<std::string> arguments;
    for (const char* const setting :
         {"node.clients.listen=127.0.0.1:0", "node.admin.listen=127.0.0.1:0",
          "node.clients.http=127.0.0.1:0", "node.store.kind=memory", "node.crash.folder="}) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    return arguments;
  }

  test::ChildProcess process_;
};

const std::string anonymous = "node.clients.login.anonymous=true";

// The methods that a node serves, to anybody.
MethodNames served_by(net::Network& network, const NodeProcess& node) {
  const auto page = net::fetch_http(network, {node.admin.address, node.admin.port},
                                    {.target = "/methods?format=json"}, test::soon());
  EXPECT_TRUE(page) << page;
  MethodNames served;
  if (!page) return served;
  const std::regex form(R"re("method": ?"([^"]+)")re");
  for (std::sregex_iterator at(page->body.begin(), page->body.end(), form), end; at != end; ++at) {
    served.insert((*at)[1]);
  }
  return served;
}

TEST(StrangerTest, KnowsEveryMethodOfANode) {
  const NodeProcess node({anonymous});
  test::run_on_real_loop([&](test::RealLoop& real) {
    EXPECT_EQ(served_by(real.network, node), generated_methods().all);
  });
  EXPECT_GT(generated_methods().for_clients.size(), 10U);
  EXPECT_GT(generated_methods().internal().size(), 10U);
  for (const std::string& method : generated_methods().for_clients) {
    EXPECT_TRUE(method.starts_with("corolane.services.chess.Chess/") ||
                method.starts_with("corolane.rpc.Reflection/"))
        << method << ": no other service of the node is for clients";
  }
}

TEST(StrangerTest, ReachesThePublicMethodsOfAnOpenNodeAndNoOther) {
  const NodeProcess node({anonymous});
  test::run_on_real_loop([&](test::RealLoop& real) {
    const Reach visit("anonymous", Stranger(real.network, node.doors, ""));
    print_table("A node that serves anonymous clients", {visit});
    EXPECT_EQ(visit.by_frames, generated_methods().for_clients);
    EXPECT_EQ(visit.by_http, generated_methods().for_clients);
    EXPECT_EQ(visit.seen, generated_methods().for_clients);
  });
}

TEST(StrangerTest, ReachesNothingWithoutTheRightTokenWhereOneIsNeeded) {
  const test::TemporaryFolder folder;
  const std::string keys = folder.path() / "login.keys";
  std::ofstream(keys) << secret << "\n";
  const NodeProcess node({"node.clients.login.jwt_keys_file=" + keys});
  test::run_on_real_loop([&](test::RealLoop& real) {
    std::vector<Reach> visits;
    for (const Visitor& visitor : visitors()) {
      SCOPED_TRACE(visitor.name);
      const Reach& visit =
          visits.emplace_back(visitor.name, Stranger(real.network, node.doors, visitor.token));
      const MethodNames expected =
          visitor.is_let_in ? generated_methods().for_clients : MethodNames();
      EXPECT_EQ(visit.by_frames, expected);
      EXPECT_EQ(visit.by_http, expected);
      // The list of HTTP names public methods to everybody.
      EXPECT_EQ(visit.all(), generated_methods().for_clients);
    }
    print_table("A node with a login", visits);
  });
}

// Proves that these tests can detect reached methods.
TEST(StrangerTest, ReachesInternalMethodsWhereTheConfigurationOpensThem) {
  const NodeProcess node({anonymous, "node.clients.public_methods_only=false"});
  test::run_on_real_loop([&](test::RealLoop& real) {
    const Reach visit("anonymous", Stranger(real.network, node.doors, ""));
    print_table("node.clients.public_methods_only: false", {visit});
    for (const MethodNames& reached : {visit.by_frames, visit.by_http, visit.seen}) {
      EXPECT_GT(std::ranges::count_if(reached,
                                      [](const std::string& method) {
                                        return !generated_methods().for_clients.contains(method);
                                      }),
                10);
      EXPECT_TRUE(std::ranges::none_of(reached, is_of_nodes_alone)) << "only nodes call these";
    }
  });
}

TEST(StrangerTest, IsAdmittedByNeitherDoorOfANodeInACluster) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "cluster.key") << "sixteen bytes or more\n";
  sim::SimulatedNetwork network;
  framework::LocalDirectory table{1'000};
  framework::NodeConfig config = test::node_config("member");
  config.clients.http = "127.0.0.1:0";
  config.cluster.name = "hush";
  config.cluster.shared_key_file = folder.path() / "cluster.key";
  const ChessConfig chess;
  framework::Node node(
      config, network, framework::Log(framework::LogLevel::error),
      {.store = std::make_shared<framework::MemoryStore>(),
       .directory = std::shared_ptr<framework::Directory>(&table, [](framework::Directory*) {}),
       .clock = now});
  node.serve(
      [](framework::Shard& shard) { return std::make_unique<ChessService>(shard.router()); });
  node.host<Game>([&chess](framework::Shard&) { return std::make_unique<Game>(chess); });
  node.host<Player>();
  node.host<Hall>({.transient = true});
  node.host<Lobby>({.transient = true});
  node.host_users();
  const auto started = node.start();
  ASSERT_TRUE(started) << started;

  const net::Endpoint& door = node.endpoints().cluster.front();
  for (const rpc::Security& guess :
       {rpc::Security{}, rpc::Security{.cluster = "corolane"}, rpc::Security{.cluster = "hush"},
        rpc::Security{.cluster = "hush", .shared_key = "another key of sixteen bytes"}}) {
    const auto client = rpc::Client::connect(network, {door.address, door.port},
                                             Deadline::after(1s), {.security = guess});
    ASSERT_THAT(client, test::fails_with(Code::unauthenticated)) << guess.cluster;
    const bool is_named = client.error().message().contains("hush");
    EXPECT_EQ(is_named, false) << client.error();
  }
  const Reach visit(
      "anonymous",
      Stranger(network, {.frames = node.endpoints().clients, .http = *node.endpoints().http}, ""));
  print_table("A node of a cluster", {visit});
  EXPECT_EQ(visit.all(), generated_methods().for_clients);
}

}  // namespace
}  // namespace corolane::services::chess
