// The router of one shard: finds where an object lives and brings the call there.
//
// What it knows of other nodes may be old. Who is asked for an object that lives elsewhere says so,
// and where; a node that is gone is found out by the directory. Meanwhile calls that were surely
// not executed wait for better knowledge, until their deadlines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/seeded_bugs.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/publisher.h"
#include "framework/push/detail/feed.h"
#include "framework/routing/detail/node_clients.h"
#include "framework/routing/router.h"
#include "framework/telemetry/slow_calls.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/object_error.h"

namespace corolane::framework::detail {

class ObjectRouter final : public Router {
 public:
  // A shard of this node, for those of the others that call its objects.
  struct Peer {
    coroutine::Scheduler* scheduler;
    ObjectRouter* router;
  };

  // `network` outlives it. `index` is that of its shard.
  ObjectRouter(net::Network& network, std::size_t index);
  ~ObjectRouter() { stop(); }
  ObjectRouter(const ObjectRouter&) = delete;
  ObjectRouter& operator=(const ObjectRouter&) = delete;

  // How it proves to other nodes that it is one. Before it calls them.
  void set_security(rpc::Security security) { clients_.set_security(std::move(security)); }
  // The objects of its shard, which outlive it; after all types were added to it.
  void set_host(ObjectHost& host);
  // All shards of the node by number, which outlive its calls. Until then there is none but this.
  void set_peers(std::vector<Peer> peers) { peers_ = std::move(peers); }
  // One shard of another node. Kept by the caller while it calls.
  std::shared_ptr<rpc::Client> client_of(const Member& member, std::size_t shard) {
    return clients_.of(member, shard);
  }
  void set_bugs(const SeededBugs& bugs) { bugs_ = bugs; }
  // Where calls of its objects are noted that come from this process; outlives it.
  void set_slow_calls(SlowCalls& slow_calls) { slow_calls_ = &slow_calls; }
  const NodeClients& node_clients() const { return clients_; }
  // What there is of other nodes, from now on. `on_doubt` is called when somebody has said that it
  // is old.
  void set_view(std::shared_ptr<const ClusterView> view);
  void set_on_doubt(std::function<void()> on_doubt) { on_doubt_ = std::move(on_doubt); }
  // Somebody has said so.
  void doubt();
  // Ends all subscriptions, and later ones at once: "unavailable". Suspends until nothing is
  // followed any more.
  void end_subscriptions() { feeds_.stop(); }
  // Also cancels what runs for other shards and one-way calls, and suspends until they have ended.
  void stop();

  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message& reply,
                    const rpc::CallOptions& options) override;
  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request,
                      const rpc::CallOptions& options) override;
  // What notify() has a task do, in the calling one: for one-way calls that have come from
  // elsewhere, and are counted there until this returns. Suspends until the handler has ended.
  Result<void> deliver(const rpc::Method& method, const std::string& id,
                       const google::protobuf::Message& request, const rpc::CallOptions& options);
  Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                              const google::protobuf::Message& prototype) override {
    return feeds_.subscribe(type, id, prototype);
  }

  // Finds the object of the feed and feeds it what that publishes. Suspends, until the object lives
  // there no more. Fails as call().
  Result<void> follow(Feed& feed);
  const Feeds& feeds() const { return feeds_; }

  // Whether this shard is the one that has objects of that partition.
  bool is_here(Partition partition) const { return partition % peers_.size() == index_; }
  // Of another owner, as far as we know.
  Moved owner_of(const HostedType& type, Partition partition) const;

 private:
  // What is known of a method, wherever its objects live.
  struct Route {
    std::string type;  // "package.Counter".
    PartitionHash partition_of;
    HostedType* hosted;  // Null when this node hosts none of them.
    std::size_t method_index;
    const ClusterView::Group* group = nullptr;  // Of the present view; null when there is none.
  };
  // One call on its way.
  struct Call {
    const rpc::Method& method;
    const Route& route;
    const std::string& id;
    const google::protobuf::Message& request;
    google::protobuf::Message* reply;  // Null of a one-way call.
    const rpc::CallOptions& options;
    std::shared_ptr<const CallChain::Link> chain;
    Deadline deadline;
    Partition partition;
    Feed* feed = nullptr;  // Of one that follows the object; null of all others.
  };
  // Where it is to be called, and what became of the way there.
  struct Place {
    enum class Kind : std::uint8_t { unknown, here, other_shard, other_node };

    Kind kind = Kind::unknown;
    std::size_t shard = 0;
    const Member* member = nullptr;  // Of the view.
    std::uint64_t partition_epoch = 0;
    bool is_lost = false;  // There is no connection.
  };
  struct Learned {
    std::uint64_t node_epoch;
    std::uint64_t partition_epoch;
  };

  const ClusterView::Group* group_of(std::string_view type) const;
  const Route& route_of(const rpc::Method& method);
  const Route& route_of_type(const std::string& type);
  Place locate(const Route& route, Partition partition) const;
  Result<void> call_until_final(const Call& call);
  Result<void> call_at(Place& place, const Call& call);
  Result<void> call_here(const Call& call);
  Result<void> call_other_shard(std::size_t shard, const Call& call);
  Result<void> call_other_node(Place& place, const Call& call);
  Result<void> follow_at(Place& place, const Call& call);
  Result<void> publish_from_here(const std::string& type, const std::string& id,
                                 const SendBatch& send);
  Result<void> serve_here(const rpc::Method& method, const google::protobuf::Message& request,
                          rpc::Context& context, rpc::ReplySink& sink);
  // One of this process has ended.
  void note_end(rpc::Context& context, const Result<void>& result) const;
  bool may_try_again(const Error& error, const Call& call, const Place& place) const;
  bool learn(const Moved& moved, const Call& call);

  const std::size_t index_;
  ObjectHost* host_ = nullptr;
  std::vector<Peer> peers_;
  std::shared_ptr<const ClusterView> view_;
  std::function<void()> on_doubt_;
  std::unordered_map<std::uint64_t, Route> routes_;  // By id of the method.
  std::map<std::string, Route> followed_;            // By type.
  // Mostly the next call is of the same.
  const rpc::Method* last_method_ = nullptr;
  const Route* last_route_ = nullptr;
  // What those that were asked said, newer than the view.
  std::map<std::pair<std::string_view, Partition>, Learned> learned_;
  coroutine::Event view_changed_{"news of the cluster"};
  bool is_stopped_ = false;
  SeededBugs bugs_;
  SlowCalls* slow_calls_ = nullptr;
  NodeClients clients_;
  coroutine::TaskGroup incoming_;  // From other shards.
  coroutine::TaskGroup one_way_calls_;
  std::size_t part_count_ = 0;  // Calls that were a part of their callers' tasks.
  Feeds feeds_{*this};
};

}  // namespace corolane::framework::detail
