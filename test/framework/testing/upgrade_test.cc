// SPDX-License-Identifier: MIT
// Clusters of two builds: during an update some nodes host a type or a method more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/client/cluster_client.h"
#include "framework/testing/cluster.h"
#include "framework/wire/partition.h"
#include "test/framework/counter.h"
#include "test/framework/room.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

// The counter before there was a way to read it.
class OldCounter : public test::Counter {
 public:
  static framework::ObjectType object_type() {
    framework::ObjectType type = Counter::object_type();
    type.methods = type.methods.first(2);
    return type;
  }
};

class UpgradeTest : public testing::Test, private framework::CallObserver {
 protected:
  // Ends the node, as an operator does, and starts the next build of it.
  void upgrade(std::size_t node) {
    cluster_.stop(node);
    ASSERT_TRUE(cluster_.run_until([&] { return !cluster_.is_running(node); }, 30s));
    upgraded_.insert(cluster_.node_host(node).name());
    cluster_.restart(node);
    cluster_.run_for(15s);
  }

  std::size_t owned_count(std::size_t node) {
    const std::string name = cluster_.node_host(node).name() + ".";
    std::size_t count = 0;
    for (std::size_t i = 0; i < framework::partition_count_min; ++i) {
      const auto partition = static_cast<framework::Partition>(i);
      if (cluster_.directory().owner_name({}, partition).starts_with(name)) ++count;
    }
    return count;
  }

  // Starts a client that calls objects "0" to "19" through that node, each until it answers or has
  // been called for so long. The count is of those that have answered.
  template <typename Call>
  std::shared_ptr<int> call_each(std::size_t node, Duration patience, Call call) {
    const auto count = std::make_shared<int>(0);
    cluster_.spawn("client", [this, node, patience, call, count] {
      framework::ClusterClient router(cluster_.network(), {cluster_.servers()[node]},
                                      {.keeps_session = false,
                                       .patience = patience,
                                       .caller = "client " + std::to_string(++client_count_),
                                       .observer = this,
                                       .clock = now});
      for (int i = 0; i < object_count; ++i) {
        const auto called = call(router, std::to_string(i));
        EXPECT_TRUE(called || called.error().code() != Code::unimplemented) << called;
        if (called) ++*count;
      }
    });
    return count;
  }
  std::shared_ptr<int> say(std::size_t node, Duration patience) {
    return call_each(node, patience, [](framework::Router& router, const std::string& id) {
      return test::RoomClient(router, id).say(test::say_request("hello"));
    });
  }
  std::shared_ptr<int> add(std::size_t node) {
    return call_each(node, 1s, [](framework::Router& router, const std::string& id) {
      return test::CounterClient(router, id).add_for_good(test::add_request(1));
    });
  }
  void let_clients_return() {
    ASSERT_TRUE(cluster_.run_until([&] { return cluster_.are_clients_done(); }, 1min));
  }

  static constexpr int object_count = 20;

 private:
  void on_call(const framework::CallRecord&, const google::protobuf::Message&,
               const google::protobuf::Message&) override {}

  std::set<std::string> upgraded_;
  int client_count_ = 0;

 protected:
  SimulatedCluster cluster_{{.seed = 1, .nodes = 4}, [this](framework::Node& node) {
                              if (!upgraded_.contains(node.config().name)) {
                                node.host<OldCounter>();
                                return;
                              }
                              node.host<test::Counter>();
                              node.host<test::Room>();
                            }};
};

TEST_F(UpgradeTest, ObjectsOfANewTypeAnswerOnceMostNodesHostIt) {
  cluster_.run_for(10s);
  upgrade(0);
  EXPECT_NEAR(static_cast<double>(owned_count(0)), 256, 40) << "it gets its share, and no more";
  const auto said = say(0, 1s);
  const auto added = add(3);
  let_clients_return();
  EXPECT_GT(*said, 0) << "where it owns the partition";
  EXPECT_LT(*said, object_count);
  EXPECT_EQ(*added, object_count);

  upgrade(1);
  upgrade(2);
  EXPECT_EQ(owned_count(3), 0U) << "it could not serve the new type";
  const auto said_by_most = say(0, 1s);
  const auto added_by_old = add(3);
  let_clients_return();
  EXPECT_EQ(*said_by_most, object_count);
  EXPECT_EQ(*added_by_old, object_count);

  upgrade(3);
  EXPECT_NEAR(static_cast<double>(owned_count(3)), 256, 40);
  const auto said_by_all = say(3, 1s);
  let_clients_return();
  EXPECT_EQ(*said_by_all, object_count);
  EXPECT_THAT(cluster_.violations(), IsEmpty());
}

TEST_F(UpgradeTest, ACallOfANewTypeWaitsForAnOwnerThatHostsIt) {
  cluster_.run_for(10s);
  upgrade(0);
  const auto said = say(0, 5min);
  cluster_.run_for(5s);
  EXPECT_LT(*said, object_count);
  upgrade(1);
  upgrade(2);
  let_clients_return();
  EXPECT_EQ(*said, object_count);
  EXPECT_THAT(cluster_.violations(), IsEmpty());
}

TEST_F(UpgradeTest, ACallOfANewMethodWaitsForAnOwnerThatKnowsIt) {
  cluster_.run_for(10s);
  upgrade(0);
  const auto read = call_each(0, 5min, [](framework::Router& router, const std::string& id) {
    return test::CounterClient(router, id)
        .get(test::GetRequest(), {.deadline = Deadline::after(5min)});
  });
  cluster_.run_for(5s);
  EXPECT_LT(*read, object_count);
  for (const std::size_t node : {1, 2, 3}) upgrade(node);
  let_clients_return();
  EXPECT_EQ(*read, object_count);
  EXPECT_THAT(cluster_.violations(), IsEmpty());
}

}  // namespace
}  // namespace corolane::sim
