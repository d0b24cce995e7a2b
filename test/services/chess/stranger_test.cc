// SPDX-License-Identifier: MIT
// Counts the methods of a chess node that a stranger can reach by frames, by HTTP and by
// reflection. A stranger is a client without any credential that has read every .proto.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/empty.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/directory/local_directory.h"
#include "framework/node/inspection.pb.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "framework/wire/push.pb.h"
#include "net/http/http.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/options.pb.h"
#include "rpc/reflection/reflection.corolane.h"
#include "rpc/wire/frame.h"
#include "services/chess/chess_service.h"
#include "services/chess/game.h"
#include "services/chess/lobby.h"
#include "services/chess/player.h"
#include "test/fixtures/real_loop.h"
#include "test/framework/test_node.h"
#include "tools/processes/child_process.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;
namespace pb = google::protobuf;

// Names of methods, "package.Service/Method".
using Names = std::set<std::string>;

std::vector<const pb::FileDescriptor*> known_files() {
  return {GameState::descriptor()->file(), GameRecord::descriptor()->file(),
          framework::SubscribeRequest::descriptor()->file(),
          framework::WaitsRequest::descriptor()->file(),
          rpc::ListServicesRequest::descriptor()->file()};
}

struct Known {
  Names public_methods;
  Names internal_methods;
  std::vector<std::string> symbols;  // Symbols that reflection can be asked for.
};

const Known& known() {
  static const Known known = [] {
    Known all;
    for (const pb::FileDescriptor* const file : known_files()) {
      for (int i = 0; i < file->message_type_count(); ++i) {
        all.symbols.push_back(file->message_type(i)->full_name());
      }
      for (int i = 0; i < file->service_count(); ++i) {
        const pb::ServiceDescriptor& service = *file->service(i);
        all.symbols.push_back(service.full_name());
        for (int j = 0; j < service.method_count(); ++j) {
          const pb::MethodDescriptor& method = *service.method(j);
          const bool is_public = method.options().GetExtension(corolane::method).public_();
          (is_public ? all.public_methods : all.internal_methods)
              .insert(service.full_name() + "/" + method.name());
          all.symbols.push_back(method.full_name());
        }
      }
    }
    return all;
  }();
  return known;
}

bool is_of_nodes_alone(std::string_view method) {
  return method.starts_with("corolane.framework.");
}

class Stranger {
 public:
  Stranger(net::Network& network, const net::Endpoint& listen, const net::Endpoint& http)
      : network_(network), http_(http) {
    auto client =
        rpc::Client::connect(network, {listen.address, listen.port}, Deadline::after(10s));
    EXPECT_TRUE(client) << client;
    if (client) client_ = *std::move(client);
  }

  // The methods among `methods` that are reached or seen. `is_expected` names those that may be
  // reached: a timeout counts as reached, so they get a short wait. The others get a long one, so
  // that a slow refusal is not mistaken for a reached method.
  template <typename F>
  Names reach(const Names& methods, F is_expected) {
    const Names seen = seen_by_reflection();
    const std::string listings = fetch("/") + fetch("/?format=json") + fetch("/", "text/html");
    Names reached;
    for (const std::string& method : methods) {
      const Duration patience = is_expected(method) ? Duration(300ms) : Duration(10s);
      if (seen.contains(method) || listings.contains(method) || answers(method, patience) ||
          answers_http(method, patience)) {
        reached.insert(method);
      }
    }
    return reached;
  }

  // By frames: any result counts, except that there is no such method.
  bool answers(const std::string& name, Duration patience) {
    const rpc::Method method{.full_name = name.c_str(),
                             .id = rpc::method_id(name),
                             .timeout = patience,
                             .stack_size_bytes = 64 * 1024};
    const auto chain = std::to_array<rpc::ObjectCall>({{.method = "a.B/C", .id = "d"}});
    const rpc::ObjectTarget plain{.id = "victim"};
    const rpc::ObjectTarget forged{
        .id = "victim", .node_epoch = 1, .partition_epoch = 1, .chain = chain};
    for (const rpc::ObjectTarget* const target :
         {static_cast<const rpc::ObjectTarget*>(nullptr), &plain, &forged}) {
      pb::Empty reply;
      const auto called = client_->call(method, pb::Empty(), reply,
                                        {.deadline = Deadline::after(patience), .object = target});
      if (called || called.error().code() != Code::unimplemented ||
          !called.error().message().contains("the server has no such method")) {
        return true;
      }
    }
    return false;
  }

  bool answers_http(const std::string& name, Duration patience) {
    for (const char* object : {"", "victim"}) {
      for (const bool is_post : {true, false}) {
        net::HttpRequest request{.method = is_post ? "POST" : "GET", .target = "/" + name};
        if (is_post) {
          request.body = "{}";
          request.headers.add("Content-Type", "application/json");
        } else {
          request.target += "?connect=v1&encoding=json&message=%7B%7D";
        }
        if (*object != '\0') request.headers.add("Corolane-Object", object);
        const auto answer = net::fetch_http(network_, {http_.address, http_.port}, request,
                                            Deadline::after(patience));
        if (!answer || answer->status != 404 || !answer->body.contains("no method /")) return true;
      }
    }
    return false;
  }

 private:
  std::string fetch(const std::string& target, const std::string& accepted = "*/*") {
    net::HttpRequest request{.target = target};
    request.headers.add("Accept", accepted);
    const auto answer =
        net::fetch_http(network_, {http_.address, http_.port}, request, Deadline::after(10s));
    EXPECT_TRUE(answer && answer->status == 200) << target;
    return answer ? answer->body : "";
  }

  Names seen_by_reflection() {
    Names seen;
    rpc::ReflectionClient reflection(*client_);
    const auto listed = reflection.list_services({});
    EXPECT_TRUE(listed) << listed;
    if (!listed) return seen;
    for (const auto& service : listed->services()) {
      for (const auto& method : service.methods()) seen.insert(method.full_name());
    }
    for (const std::string& symbol : known().symbols) {
      rpc::DescribeRequest request;
      request.set_symbol(symbol);
      if (const auto described = reflection.describe(request)) add_methods(*described, seen);
    }
    return seen;
  }

  static void add_methods(const rpc::DescribeReply& description, Names& seen) {
    for (const std::string& bytes : description.files()) {
      pb::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      for (const auto& service : file.service()) {
        for (const auto& method : service.method()) {
          seen.insert(file.package() + "." + service.name() + "/" + method.name());
        }
      }
    }
    for (const rpc::Comment& comment : description.comments()) {
      std::string name = comment.symbol();
      name[std::min(name.rfind('.'), name.size() - 1)] = '/';
      seen.insert(std::move(name));
    }
  }

  net::Network& network_;
  const net::Endpoint http_;
  std::unique_ptr<rpc::Client> client_;
};

void report(const char* where, std::size_t reached_count) {
  std::printf("stranger%s: internal methods reached by frames, HTTP and reflection: %zu of %zu\n",
              where, reached_count, known().internal_methods.size());
  std::fflush(stdout);
}

// A chess node in a process of the shipped program.
class NodeProcess {
 public:
  explicit NodeProcess(const char* public_methods_only)
      : process_(COROLANE_CHESS_NODE,
                 {"--set", "node.clients.listen=127.0.0.1:0", "--set",
                  "node.clients.login.anonymous=true", "--set", "node.admin.listen=127.0.0.1:0",
                  "--set", "node.clients.http=127.0.0.1:0", "--set", "node.store.kind=memory",
                  "--set", "node.crash.folder=", "--set",
                  std::string("node.clients.public_methods_only=") + public_methods_only}) {
    const std::string line = process_.read_line();
    std::smatch found;
    const std::regex form("serves on ([0-9.:]+), admin http://([0-9.:]+)/, http://([0-9.:]+)/");
    EXPECT_TRUE(std::regex_search(line, found, form)) << line;
    listen = net::parse_endpoint(found[1].str()).value_or(net::Endpoint());
    admin = net::parse_endpoint(found[2].str()).value_or(net::Endpoint());
    http = net::parse_endpoint(found[3].str()).value_or(net::Endpoint());
  }

  net::Endpoint listen;
  net::Endpoint admin;
  net::Endpoint http;

 private:
  test::ChildProcess process_;
};

// Every method that a node serves is among the methods tried here.
void expect_known(net::Network& network, const net::Endpoint& admin) {
  const auto page = net::fetch_http(network, {admin.address, admin.port},
                                    {.target = "/methods?format=json"}, Deadline::after(10s));
  ASSERT_TRUE(page) << page;
  Names served;
  const std::regex form(R"re("method": ?"([^"]+)")re");
  for (std::sregex_iterator at(page->body.begin(), page->body.end(), form), end; at != end; ++at) {
    served.insert((*at)[1]);
  }
  Names all = known().public_methods;
  all.insert(known().internal_methods.begin(), known().internal_methods.end());
  EXPECT_EQ(served, all);
}

TEST(StrangerTest, ReachesNoInternalMethodOfANode) {
  NodeProcess node("true");
  test::run_on_real_loop([&](test::RealLoop& real) {
    expect_known(real.network, node.admin);
    Stranger stranger(real.network, node.listen, node.http);
    const Names reached =
        stranger.reach(known().internal_methods, [](const std::string&) { return false; });
    report("", reached.size());
    EXPECT_THAT(reached, testing::IsEmpty());
    EXPECT_GT(known().internal_methods.size(), 10U);

    for (const std::string& method : known().public_methods) {
      EXPECT_TRUE(stranger.answers(method, 300ms)) << method;
      EXPECT_TRUE(stranger.answers_http(method, 300ms)) << method;
    }
    EXPECT_GT(known().public_methods.size(), 10U);
  });
}

// Proves that this test can detect reached methods.
TEST(StrangerTest, ReachesInternalMethodsWhereTheConfigurationOpensThem) {
  NodeProcess node("false");
  test::run_on_real_loop([&](test::RealLoop& real) {
    Stranger stranger(real.network, node.listen, node.http);
    const Names reached = stranger.reach(known().internal_methods, [](const std::string& method) {
      return !is_of_nodes_alone(method);
    });
    report(" with node.clients.public_methods_only: false", reached.size());
    EXPECT_GT(reached.size(), 10U);
    EXPECT_TRUE(std::ranges::none_of(reached, is_of_nodes_alone)) << "only nodes call these";
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
  node.host<Lobby>();
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
  Stranger stranger(network, node.endpoints().clients, *node.endpoints().http);
  const Names reached =
      stranger.reach(known().internal_methods, [](const std::string&) { return false; });
  report(" of a cluster", reached.size());
  EXPECT_THAT(reached, testing::IsEmpty());
}

}  // namespace
}  // namespace corolane::services::chess
