// SPDX-License-Identifier: MIT
// Objects of several nodes, in one thread and virtual time: the nodes share a directory and a
// store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "coroutine/testing/matchers.h"
#include "coroutine/testing/temporary_folder.h"
#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/objects/detail/object_host.h"
#include "framework/store/memory_store.h"
#include "net/testing/certificates.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "test/framework/counter.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/test_node.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using test::add_request;
using test::Counter;
using test::CounterClient;
using test::fails_with;
using test::FaultyDirectory;
using testing::HasSubstr;

class NodeObjectsTest : public testing::Test {
 protected:
  struct Member {
    std::shared_ptr<FaultyDirectory> directory;
    std::unique_ptr<Node> node;

    CounterClient counter(const std::string& id) const { return {node->router(), id}; }
    std::size_t active_count() const { return node->shard().active_object_count(); }
  };

  Member make(const std::string& name, bool is_deaf = false) {
    Member member{.directory = std::make_shared<FaultyDirectory>(table_), .node = nullptr};
    member.directory->is_deaf = is_deaf;
    NodeConfig config = test::node_config(name);
    config.cluster.shared_key_file = shared_key_file_;
    config.cluster.tls = tls_;
    member.node = std::make_unique<Node>(
        config, network_, Log(LogLevel::error, [](std::string_view) {}),
        Node::Parts{.store = store_, .directory = member.directory, .clock = now});
    member.node->host<Counter>();
    const auto started = member.node->start();
    EXPECT_TRUE(started) << started;
    return member;
  }

  // Calls objects on both nodes, each from both.
  static void expect_same_objects(const Member& a, const Member& b) {
    for (int i = 0; i < 20; ++i) {
      const std::string id = std::to_string(i);
      EXPECT_EQ(a.counter(id).add(add_request(1))->value(), 1);
      EXPECT_EQ(b.counter(id).add(add_request(1))->value(), 2);
    }
  }

  sim::SimulatedNetwork network_;
  LocalDirectory table_{1'000};
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::string shared_key_file_;  // For nodes that are created later, as the next.
  PeerTlsConfig tls_;
};

TEST_F(NodeObjectsTest, AnObjectIsTheSameFromEveryNode) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  for (int i = 0; i < 100; ++i) {
    const std::string id = std::to_string(i);
    EXPECT_EQ(a.counter(id).add(add_request(1))->value(), 1);
    EXPECT_EQ(b.counter(id).add(add_request(1))->value(), 2);
  }
  EXPECT_NEAR(static_cast<double>(a.active_count()), 50, 20);
  EXPECT_EQ(a.active_count() + b.active_count(), 100U);
}

TEST_F(NodeObjectsTest, HeadersReachAnObjectAndComeBackFromIt) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const net::Endpoint& endpoint = a.node->endpoints().cluster.front();
  const auto client =
      rpc::Client::connect(network_, {endpoint.address, endpoint.port}, Deadline::after(1s),
                           {.security = {.cluster = "corolane"}});
  ASSERT_TRUE(client) << client;
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    rpc::Headers sent;
    sent.add("to", id);
    rpc::ReplyHeaders received;
    ASSERT_TRUE(a.counter(id).get({}, {.headers = &sent, .reply_headers = &received}));
    EXPECT_EQ(received.headers, sent);
    // Through a node that may have to forward the call.
    received = {};
    const rpc::ObjectTarget target{.id = id};
    test::CounterReply reply;
    const rpc::Method& get =
        *std::ranges::find_if(Counter::object_type().methods, [](const rpc::Method& method) {
          return std::string_view(method.full_name).ends_with("/Get");
        });
    ASSERT_TRUE((*client)->call(get, test::GetRequest(), reply,
                                {.headers = &sent, .reply_headers = &received, .object = &target}));
    EXPECT_EQ(received.headers, sent);
  }
}

TEST_F(NodeObjectsTest, NodesWithOneKeyCallEachOther) {
  const test::TemporaryFolder folder;
  shared_key_file_ = folder.path() / "shared.key";
  std::ofstream(shared_key_file_) << "sixteen bytes or more\n";
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  expect_same_objects(a, b);
}

PeerTlsConfig tls_of(test::CertificateAuthority& authority, const std::string& name) {
  const test::CertificateFiles files = authority.issue({.dns_names = {name}});
  return {.ca_file = authority.file(),
          .certificate_file = files.certificate_file,
          .key_file = files.key_file};
}

TEST_F(NodeObjectsTest, NodesWithCertificatesForTheClusterCallEachOther) {
  test::CertificateAuthority authority("cluster");
  tls_ = tls_of(authority, "corolane");
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  expect_same_objects(a, b);
}

TEST_F(NodeObjectsTest, ANodeWithoutACertificateOfTheClusterCallsNothing) {
  test::CertificateAuthority authority("cluster");
  test::CertificateAuthority stranger("stranger");
  tls_ = tls_of(authority, "corolane");
  const PeerTlsConfig foreign = tls_of(stranger, "corolane");
  auto a = make("a");
  for (const PeerTlsConfig& wrong : {PeerTlsConfig(), foreign,
                                     // Trusts the cluster, but shows a certificate of a stranger.
                                     PeerTlsConfig{.ca_file = authority.file(),
                                                   .certificate_file = foreign.certificate_file,
                                                   .key_file = foreign.key_file}}) {
    tls_ = wrong;
    auto b = make("b");
    ASSERT_TRUE(coroutine::sleep_for(5s));
    int refused_count = 0;
    for (int i = 0; i < 20; ++i) {
      const auto added =
          b.counter(std::to_string(i)).add(add_request(1), {.deadline = Deadline::after(1s)});
      if (!added) ++refused_count;
    }
    EXPECT_GT(refused_count, 0) << "some of these objects live on the other node";
    EXPECT_LT(refused_count, 20) << "and some on this one";
    EXPECT_TRUE(b.node->stop(Deadline::after(5s)));
    ASSERT_TRUE(coroutine::sleep_for(10s));
  }
}

TEST_F(NodeObjectsTest, ANodeThatACallerTakesForTheOwnerAsksTheDirectory) {
  auto a = make("a");
  auto b = make("b", /*is_deaf=*/true);
  ASSERT_TRUE(coroutine::sleep_for(5s));
  for (int i = 0; i < 20; ++i) {
    const auto added =
        a.counter(std::to_string(i)).add(add_request(1), {.deadline = Deadline::after(400ms)});
    EXPECT_TRUE(added) << added;
  }
  EXPECT_GT(b.active_count(), 0U);
}

TEST_F(NodeObjectsTest, NestedCallsCarryThePrincipalOverNodes) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const rpc::Principal player{.id = "player-17"};
  for (int i = 0; i < 20; ++i) {
    test::AddAlongRequest request;
    request.add_ids(std::to_string(i + 100));
    request.add_ids("who");
    const auto told = a.counter(std::to_string(i)).add_along(request, {.principal = &player});
    EXPECT_EQ(told.error().message(), "you are player-17");
  }
  EXPECT_GT(b.active_count(), 0U);
}

TEST_F(NodeObjectsTest, ACycleOverNodesIsRefusedAndNamed) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  test::AddAlongRequest request;
  for (int i = 1; i < 3; ++i) request.add_ids(std::to_string(i));
  request.add_ids("0");
  const TimePoint start = now();
  const auto refused = a.counter("0").add_along(request);
  ASSERT_THAT(refused, fails_with(Code::failed_precondition));
  EXPECT_THAT(refused.error().message(), HasSubstr("Counter/AddAlong(\"2\") -> "
                                                   "corolane.test.Counter/AddAlong(\"0\")"));
  EXPECT_LT(now() - start, 10ms);
}

// Both calls are under way when each arrives at an object that waits for the other one.
TEST_F(NodeObjectsTest, OneOfTwoObjectsThatCallEachOtherOverNodesIsToldAtOnce) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const auto id_on = [](const Member& member) {
    for (int i = 0;; ++i) {
      const std::size_t before = member.active_count();
      const std::string id = std::to_string(i);
      EXPECT_TRUE(member.counter(id).add(add_request(0)));
      if (member.active_count() > before) return id;
    }
  };
  const std::string id_a = id_on(a);
  const std::string id_b = id_on(b);
  const auto add_along = [](const Member& member, const std::string& from, const std::string& to) {
    test::AddAlongRequest request;
    request.add_ids(to);
    return member.counter(from).add_along(request);
  };
  const TimePoint start = now();
  auto of_a = coroutine::spawn("a", [&] { return add_along(a, id_a, id_b); });
  const auto of_b = add_along(b, id_b, id_a);
  const auto first = of_a.join(Deadline::never());
  EXPECT_LT(now() - start, 10ms);
  EXPECT_NE(first.has_value(), of_b.has_value()) << first << of_b;
  const auto& told = first ? of_b : first;
  ASSERT_THAT(told, fails_with(Code::aborted));
  EXPECT_THAT(told.error().message(), HasSubstr("two chains of calls would wait for each other"));
}

TEST_F(NodeObjectsTest, APastOwnerReportsTheMoveAtOnce) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const net::Endpoint& cluster = a.node->endpoints().cluster.front();
  const auto connected =
      rpc::Client::connect(network_, {cluster.address, cluster.port}, Deadline::after(1s),
                           {.security = {.cluster = "corolane"}});
  ASSERT_TRUE(connected) << connected;
  const auto& client = *connected;
  const rpc::Method& get = a.node->shard().host()->types()[0]->method(2);
  ASSERT_STREQ(get.full_name, "corolane.test.Counter/Get");
  int moved_count = 0;
  for (int i = 0; i < 100; ++i) {
    // A caller sends this while it has not heard of the new owner.
    const std::string id = std::to_string(i);
    const rpc::ObjectTarget target{.id = id, .node_epoch = 1, .partition_epoch = 1};
    const TimePoint start = now();
    test::CounterReply reply;
    if (!client->call(get, test::GetRequest(), reply, {.object = &target})) ++moved_count;
    EXPECT_LT(now() - start, 100ms);
  }
  EXPECT_NEAR(moved_count, 50, 20);
}

TEST_F(NodeObjectsTest, CallsSucceedWhileAThirdNodeTakesItsShare) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  std::map<std::string, std::int64_t> expected;
  int failed_count = 0;
  bool is_done = false;
  auto caller = coroutine::spawn("caller", [&] {
    for (int i = 0; !is_done; ++i) {
      const std::string id = std::to_string(i % 500);
      const auto& from = i % 2 == 0 ? a : b;
      const auto reply = from.counter(id).add(add_request(1));
      if (!reply || reply->value() != ++expected[id]) ++failed_count;
      if (!coroutine::sleep_for(100us)) return;
    }
  });
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  is_done = true;
  EXPECT_TRUE(caller.join(Deadline::never()));
  EXPECT_EQ(failed_count, 0);
  EXPECT_GT(c.active_count(), 50U);
}

TEST_F(NodeObjectsTest, ClientsOfObjectsDoNotNoticeThatTheyMove) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  const auto client = test::connect(network_, *a.node);
  const rpc::Method& await = a.node->shard().host()->types()[0]->method(3);
  ASSERT_STREQ(await.full_name, "corolane.test.Counter/Await");
  // Callers that wait in an object are there whenever it moves.
  std::vector<std::string> failures;
  coroutine::TaskGroup callers;
  for (int i = 0; i < 100; ++i) {
    const auto spawned = callers.spawn("caller", [&, id = std::to_string(i)] {
      const rpc::ObjectTarget target{.id = id};
      test::WaitUntilRequest request;
      request.set_value(1);
      test::CounterReply reply;
      const auto waited = client->call(await, request, reply,
                                       {.deadline = Deadline::after(60s), .object = &target});
      if (!waited) failures.push_back(waited.error().to_string());
    });
    ASSERT_TRUE(spawned);
  }
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(b.counter(std::to_string(i)).add(add_request(1)));
  EXPECT_TRUE(callers.join(Deadline::never()));
  EXPECT_THAT(failures, testing::IsEmpty());
}

TEST_F(NodeObjectsTest, ARollingStopLosesNoCall) {
  auto a = make("a");
  auto b = make("b");
  auto c = make("c");
  ASSERT_TRUE(coroutine::sleep_for(10s));
  std::map<std::string, std::int64_t> expected;
  std::vector<std::string> failures;
  Duration longest{};
  bool is_done = false;
  auto caller = coroutine::spawn("caller", [&] {
    for (int i = 0; !is_done; ++i) {
      const std::string id = std::to_string(i % 500);
      const TimePoint start = now();
      const auto reply = a.counter(id).add(add_request(1));
      longest = std::max(longest, now() - start);
      if (!reply) {
        failures.push_back(reply.error().to_string());
      } else if (reply->value() != ++expected[id]) {
        failures.push_back(id + " is " + std::to_string(reply->value()) + ", not " +
                           std::to_string(expected[id]));
      }
      if (!coroutine::sleep_for(100us)) return;
    }
  });
  for (auto* member : {&b, &c}) {
    EXPECT_TRUE(member->node->stop(Deadline::after(5s)));
    member->node.reset();
    ASSERT_TRUE(coroutine::sleep_for(1s));
    *member = make(member == &b ? "b" : "c");
    ASSERT_TRUE(coroutine::sleep_for(3s));
  }
  is_done = true;
  EXPECT_TRUE(caller.join(Deadline::never()));
  EXPECT_THAT(failures, testing::IsEmpty());
  EXPECT_GT(expected["0"], 10);
  EXPECT_LT(longest, 50ms);
}

TEST_F(NodeObjectsTest, ObjectsStoredByACrashedNodeContinueElsewhere) {
  auto a = make("a");
  auto b = make("b");
  ASSERT_TRUE(coroutine::sleep_for(5s));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a.counter(std::to_string(i)).add_for_good(add_request(i)));
  }
  b.directory->cut();
  for (int i = 0; i < 100; ++i) {
    const auto reply = a.counter(std::to_string(i)).get({}, {.deadline = Deadline::after(20s)});
    ASSERT_TRUE(reply) << reply;
    EXPECT_EQ(reply->value(), i);
  }
  b.directory->mend();
}

const rpc::Method& add_for_good() {
  const auto methods = Counter::object_type().methods;
  return *std::ranges::find_if(methods, [](const rpc::Method& row) {
    return std::string_view(row.full_name).ends_with("/AddForGood");
  });
}

// Clients whose calls carry request ids of the same caller.
class NodeRequestsTest : public NodeObjectsTest {
 protected:
  NodeRequestsTest() { check(coroutine::sleep_for(5s).has_value(), "both nodes own objects"); }

  // Calls over a new connection of a client with that requester id.
  Result<std::int64_t> add(const std::string& requester, std::size_t node, const std::string& id,
                           std::uint64_t sequence = 1) {
    const net::Endpoint& endpoint = members_[node].node->endpoints().clients;
    auto client = rpc::Client::connect(network_, {endpoint.address, endpoint.port},
                                       Deadline::after(1s), {.requester = requester});
    if (!client) return client.error();
    const rpc::ObjectTarget target{.id = id, .request_id = {.caller = "ada", .sequence = sequence}};
    test::CounterReply reply;
    auto added = (*client)->call(add_for_good(), add_request(1), reply, {.object = &target});
    if (!added) return added.error();
    return reply.value();
  }

  const std::string ada_ = "a secret of ada's own";
  std::array<Member, 2> members_{make("a"), make("b")};
};

TEST_F(NodeRequestsTest, ARetryGetsTheFirstReplyFromAnyNode) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    for (const std::size_t node : {0UZ, 1UZ, 0UZ}) EXPECT_EQ(*add(ada_, node, id), 1) << id;
  }
}

TEST_F(NodeRequestsTest, AClientCannotNameTheRequestOfAnother) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_EQ(*add(ada_, 0, id), 1);
    EXPECT_EQ(*add("a secret of mallory's", 0, id), 2) << id;
    EXPECT_EQ(*add("", 1, id), 3) << id;
    EXPECT_EQ(*add(ada_, 1, id), 1) << id;
  }
}

TEST_F(NodeRequestsTest, AClientCannotNameTheRequestOfAService) {
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    const rpc::CallOptions options{.request_id = {.caller = "ada", .sequence = 1}};
    const auto call = [&] { return members_[0].counter(id).add_for_good(add_request(1), options); };
    ASSERT_EQ(call()->value(), 1);
    EXPECT_EQ(*add(ada_, 0, id), 2) << id;
    EXPECT_EQ(call()->value(), 1);
  }
}

TEST_F(NodeRequestsTest, ALargeSequenceLocksOutNoOtherClient) {
  ASSERT_TRUE(add("a secret of mallory's", 0, "game", std::uint64_t{1} << 63));
  EXPECT_EQ(*add(ada_, 0, "game"), 2);
  EXPECT_EQ(*add(ada_, 1, "game"), 2);
}

TEST_F(NodeRequestsTest, ACallerWithALongNameIsRefusedByEveryNode) {
  const std::string name(65, 'x');
  const rpc::CallOptions options{.request_id = {.caller = name, .sequence = 1}};
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(members_[0].counter(std::to_string(i)).add(add_request(1), options),
                fails_with(Code::invalid_argument));
  }
  EXPECT_EQ(members_[0].active_count() + members_[1].active_count(), 0U);
}

TEST_F(NodeObjectsTest, AStoreOfOneNodeIsRefusedInACluster) {
  NodeConfig config = test::node_config("a");
  config.cluster.directory = DirectoryKind::etcd;
  config.store.kind = StoreKind::sqlite;
  Node node(config, network_);
  const auto started = node.start();
  ASSERT_THAT(started, fails_with(Code::invalid_argument));
  EXPECT_THAT(started.error().message(), HasSubstr("node.store.kind"));
}

}  // namespace
}  // namespace corolane::framework
