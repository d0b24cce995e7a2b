// SPDX-License-Identifier: MIT
// The router of one shard: locates an object and forwards the call to it.
//
// Its view of other nodes may be stale. A node that is asked for an object that lives elsewhere
// answers with the owner; the directory reports nodes that are gone. Calls that were certainly not
// executed wait for an updated view and are retried, up to their deadlines.
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
#include "coroutine/task_group.h"
#include "framework/cluster/cluster_view.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/detail/owners.h"
#include "framework/push/detail/feeds.h"
#include "framework/routing/detail/node_clients.h"
#include "framework/routing/detail/outbox_router.h"
#include "framework/routing/detail/owner_news.h"
#include "framework/routing/detail/push_hub.h"
#include "framework/routing/router.h"
#include "framework/telemetry/slow_calls.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/object_error.h"
#include "rpc/stack_sizes.h"

namespace corolane::framework::detail {

class ObjectRouter final : public Router, public Owners, public FeedSource {
 public:
  // A shard of this node, as seen by the others that call its objects.
  struct Peer {
    coroutine::Scheduler* scheduler;
    ObjectRouter* router;
  };

  // `network` outlives it. `index` is that of its shard.
  ObjectRouter(net::Network& network, std::size_t index);
  ~ObjectRouter() { stop(); }
  ObjectRouter(const ObjectRouter&) = delete;
  ObjectRouter& operator=(const ObjectRouter&) = delete;

  // How it authenticates to other nodes, and the network on which it calls them, which outlives it.
  // Set before the first call to them.
  void set_security(rpc::Security security, net::Network& network) {
    clients_.set_security(std::move(security), network);
  }
  // The objects of its shard. `host` outlives the router and already has all its types.
  void set_host(ObjectHost& host);
  // All shards of the node by number; they outlive its calls. Before this call the router knows
  // only its own shard.
  void set_peers(std::vector<Peer> peers);
  std::size_t shard_count() const { return peers_.size(); }
  // The client of one shard of another node. The caller keeps it during its call.
  std::shared_ptr<rpc::Client> client_of(const Member& member, std::size_t shard) {
    return clients_.of(member, shard);
  }
  // Sets the stacks of the tasks that run handlers. Called before set_host() and the first call.
  void set_stack_sizes(const rpc::StackSizes& sizes) { stack_sizes_ = sizes; }
  // Records slow calls of its objects from this process; `slow_calls` outlives the router.
  void set_slow_calls(SlowCalls& slow_calls) { slow_calls_ = &slow_calls; }
  const NodeClients& node_clients() const { return clients_; }
  // Replaces the view of the cluster. `on_doubt` is called when a partition seems to have another
  // owner than the view says.
  using OnDoubt = std::function<void(const Placement& placement, Partition partition)>;
  void set_view(std::shared_ptr<const ClusterView> view);
  // Null before the first one.
  const std::shared_ptr<const ClusterView>& view() const { return view_; }
  void set_on_doubt(OnDoubt on_doubt) { on_doubt_ = std::move(on_doubt); }
  // `on_loss` is called when the store knows a later owner of what this node serves.
  void set_on_loss(std::function<void()> on_loss) { on_loss_ = std::move(on_loss); }
  // Call `on_doubt` and `on_loss`.
  void doubt(const HostedType& type, Partition partition) override;
  void lose() override;
  // Ends all subscriptions, and later ones at once, with unavailable. Suspends.
  void end_subscriptions() { push_.end_subscriptions(); }
  // Also cancels calls from other shards and one-way calls, and suspends until they have ended.
  void stop();

  Result<void> call(const rpc::Method& method, const std::string& id,
                    const google::protobuf::Message& request, google::protobuf::Message& reply,
                    const rpc::CallOptions& options) override;
  Result<void> stream(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request, rpc::Messages& sink,
                      const rpc::CallOptions& options) override;
  Result<void> notify(const rpc::Method& method, const std::string& id,
                      const google::protobuf::Message& request,
                      const rpc::CallOptions& options) override;
  // Like notify(), but in the calling task: for one-way calls from a connection, which the server
  // counts until this returns.
  Result<void> forward(const rpc::Method& method, const google::protobuf::Message& request,
                       rpc::Context& context, rpc::Messages& sink) override;
  Result<void> deliver(const rpc::Method& method, const std::string& id,
                       const google::protobuf::Message& request,
                       const rpc::CallOptions& options) override;
  Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                              const google::protobuf::Message& prototype) override {
    return push_.feeds().subscribe(type, id, prototype);
  }
  // The same behind that publication, without a gap, if what follows is still known.
  Broadcast::Reader subscribe_again(std::string_view type, const std::string& id,
                                    const google::protobuf::Message& prototype, Position after) {
    return push_.feeds().subscribe(type, id, prototype, after);
  }

  Result<FeedPlace> attach(const Feed& feed) override;
  void detach(const FeedPlace& place, std::uint64_t number) override {
    push_.detach(place, number);
  }
  FeedOwner owner_of(const Feed& feed) override;
  // Lets an object of this node publish to a feed. Suspends. Fails as ObjectHost::serve(), or as
  // serve_or_send_on() when the target names this node, and at the deadline.
  Result<void> attach_to_node(const std::string& type, const rpc::ObjectTarget& target,
                              const FeedAddress& address, Position after, Deadline deadline);
  // The calls of objects that tasks outside of objects wait for, the latest first; null: none.
  const CallChain::OutCall* calls_of_tasks() const { return calls_of_tasks_; }
  // The call of an object that the handler of `method` waits for, in that task; null: none. `id` is
  // that of its own object, empty for a service.
  const CallChain::OutCall* call_of(coroutine::TaskId task, std::string_view method,
                                    std::string_view id) const;
  PushHub& push() { return push_; }
  const PushHub& push() const { return push_; }

  bool is_here(Partition partition) const override {
    return shard_of(partition, peers_.size()) == index_;
  }
  Moved owner_of(const HostedType& type, Partition partition) const override;
  Router& router() override { return *this; }
  std::shared_ptr<Router> outbox_router(OutboxSink& sink) override {
    return std::make_shared<OutboxRouter>(sink);
  }

 private:
  // Cached facts about a method.
  struct Route {
    std::string type;  // "package.Counter".
    PartitionHash partition_of;
    HostedType* hosted;  // Null when this node does not host the type.
    std::size_t method_index;
    std::size_t stack_size_bytes = 0;           // That the handler needs.
    const ClusterView::Group* group = nullptr;  // From the present view; null: none.
  };
  // Writes the messages of a stream to its reader, and remembers whether there was one.
  class NotedSink;
  struct Attaching {
    std::uint64_t number;
    Position after;   // The feed has received this far.
    FeedPlace place;  // Where it was tried last.
  };
  // One call in flight.
  struct Call {
    const rpc::Method& method;
    const Route& route;
    const std::string& id;
    const google::protobuf::Message& request;
    google::protobuf::Message* reply;  // Null for a one-way call, and for a stream.
    const rpc::CallOptions& options;
    const rpc::Principal* principal;  // Null: anonymous.
    std::shared_ptr<const CallChain::Link> chain;
    // The call that has sent this one-way call, and does not wait for it; null otherwise.
    std::shared_ptr<const CallChain::Link> sender = nullptr;
    Deadline deadline;
    // Found anew when a view tells another number of partitions: a node without objects knows it
    // from those that have some.
    mutable Partition partition;
    Attaching* feed = nullptr;    // Set only when the call attaches a feed to the object.
    NotedSink* stream = nullptr;  // Set only when the object replies with a stream.
    // Set only when it has arrived from another node.
    const rpc::ObjectTarget* arrived = nullptr;
  };
  // The destination of one attempt, and whether it was reached.
  struct Place {
    enum class Kind : std::uint8_t { unknown, here, other_shard, other_node };

    Kind kind = Kind::unknown;
    std::size_t shard = 0;           // Of another node: the one that forwards our calls.
    const Member* member = nullptr;  // The owner, if it is known; owned by the view.
    std::uint64_t partition_epoch = 0;
    bool is_lost = false;  // The connection is down.

    OwnerMark mark() const;
  };
  struct Learned {
    std::uint64_t node_epoch;
    std::uint64_t partition_epoch;
  };

  const ClusterView::Group* group_of(std::string_view type) const;
  PartitionHash hash_of(std::string_view type) const;
  const Route& route_of(const rpc::Method& method) {
    return &method == last_method_ ? *last_route_ : look_up(method);
  }
  const Route& look_up(const rpc::Method& method);
  const Route& route_of_type(const std::string& type);
  Place locate(const Route& route, Partition partition) const;
  // Each call asks, and a division takes as long as a lookup: most nodes need none.
  static std::size_t shard_of(std::uint32_t partition, std::size_t shard_count) {
    // A power of two: std::has_single_bit() would call a function that counts the bits.
    if ((shard_count & (shard_count - 1)) == 0) return partition & (shard_count - 1);
    return partition % static_cast<std::uint32_t>(shard_count);
  }
  // `reply` or `stream` is null.
  Result<void> call_or_stream(const rpc::Method& method, const std::string& id,
                              const google::protobuf::Message& request,
                              google::protobuf::Message* reply, NotedSink* stream,
                              const rpc::CallOptions& options);
  Result<void> may_call(const Call& call) const;
  // Whether the object that calls is still ours: a later owner of it may have acted already.
  // Suspends without a lease.
  bool is_of_owner(const Call& call) const;
  Result<void> send_one_way(const rpc::Method& method, const std::string& id,
                            const google::protobuf::Message& request,
                            const rpc::CallOptions& options,
                            std::shared_ptr<const CallChain::Link> sender);
  Result<void> call_until_final(const Call& call);
  // The same two for other files: every call has those inlined.
  Place place_of(const Route& route, Partition partition) const;
  Result<void> call_for_feed(const Call& call);
  Result<void> call_again(const Call& call, Place place, OwnerMark tried, Result<void> result);
  Result<void> call_at(Place& place, const Call& call);
  Result<void> call_elsewhere(Place& place, const Call& call);
  Result<void> call_here(const Call& call);
  Result<void> call_in_this_task(const Call& call, TimePoint arrived_at);
  Result<void> call_in_own_task(const Call& call, TimePoint arrived_at);
  Result<void> call_other_shard(std::size_t shard, const Call& call);
  Result<void> call_other_node(Place& place, const Call& call);
  Result<void> attach_at(Place& place, const Call& call);
  Result<void> attach_here(const std::string& type, const rpc::ObjectTarget& target,
                           const FeedAddress& address, Position after);
  Result<void> attach_other_node(Place& place, const Call& call);
  Result<void> serve_here(const rpc::Method& method, const google::protobuf::Message& request,
                          rpc::Context& context, rpc::Messages& sink);
  // The same for a call that has come from another node by another shard.
  Result<void> serve_forwarded(const rpc::Method& method, const google::protobuf::Message& request,
                               rpc::Context& context, rpc::Messages& sink);
  void note_end(rpc::Context& context, const Result<void>& result) const;
  bool may_try_again(const Error& error, const Call& call, const Place& place) const;
  bool is_older_build(const Error& error, const OwnerMark& owner) const;
  static Error owner_is_older(const Call& call);
  // How long a call waits after so many attempts, unless there is news.
  static Duration wait_of(bool needs_news, int failed_count, Deadline deadline);
  Result<void> wait_for_news(const Call& call, const OwnerMark& tried, Duration at_most);
  void doubt(std::string_view type, Partition partition);
  bool learn(const Moved& moved, const Call& call);

  const std::size_t index_;
  rpc::StackSizes stack_sizes_;
  ObjectHost* host_ = nullptr;
  std::vector<Peer> peers_;
  std::shared_ptr<const ClusterView> view_;
  OnDoubt on_doubt_;
  std::function<void()> on_loss_;
  std::unordered_map<std::uint64_t, Route> routes_;  // Keyed by method id.
  std::map<std::string, Route> followed_;            // Keyed by type.
  // The next call is usually of the same method.
  const rpc::Method* last_method_ = nullptr;
  const Route* last_route_ = nullptr;
  // Owners that replies named, newer than the view.
  std::map<std::pair<std::string_view, Partition>, Learned> learned_;
  OwnerNews news_;
  bool is_stopped_ = false;
  SlowCalls* slow_calls_ = nullptr;
  CallChain::OutCall* calls_of_tasks_ = nullptr;
  NodeClients clients_;
  coroutine::TaskGroup incoming_;  // Calls from other shards.
  coroutine::TaskGroup one_way_calls_;
  std::size_t part_count_ = 0;  // Calls served within their callers' tasks.
  PushHub push_;
};

}  // namespace corolane::framework::detail
