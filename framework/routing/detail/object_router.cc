// SPDX-License-Identifier: MIT
#include "framework/routing/detail/object_router.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "coroutine/cancel_scope.h"
#include "coroutine/task.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "framework/routing/detail/cross_call.h"
#include "framework/routing/detail/receive_stream.h"
#include "framework/wire/detail/method_name.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// The redirects that a call follows at once. After that it waits for another owner, starting with
// wait_min and doubling each time. Without a known owner only news help, so it waits longer.
constexpr int redirect_count_max = 2;
constexpr Duration wait_min = 5ms;
constexpr Duration wait_max = 250ms;
constexpr Duration wait_without_owner_max = 2s;
// Consecutive local calls before other tasks run.
constexpr std::size_t parts_per_turn = 64;

// Stores the reply in the waiting caller's message.
class ReplyHere final : public rpc::Messages {
 public:
  ReplyHere(const rpc::Method& method, google::protobuf::Message* reply)
      : method_(method), reply_(reply) {}

  Result<void> reply(google::protobuf::Message& message) override {
    if (reply_ != nullptr) method_.take_reply(message, *reply_);
    return {};
  }
  Result<void> write(const google::protobuf::Message&) override {
    return Error(Code::internal, std::string(method_.full_name) + " replies once");
  }

 private:
  const rpc::Method& method_;
  google::protobuf::Message* const reply_;
};

// The deadline of a call made here. The time of the loop turn is precise enough: a turn is shorter
// than any useful timeout.
inline Deadline deadline_of(const rpc::Method& method, const rpc::CallOptions& options,
                            const rpc::CallScope* scope) {
  const Deadline own =
      options.deadline ? *options.deadline
                       : Deadline::at(coroutine::Scheduler::current().turn_time() + method.timeout);
  const Deadline deadline = scope == nullptr ? own : earlier(own, scope->deadline_of_calls());
  if (options.request_id.caller.empty()) return deadline;
  return earlier(deadline, Deadline::after(rpc::RequestId::retry_time_max));
}

// The principal of a call made here: by default that of the handler which makes it.
const rpc::Principal* principal_of(const rpc::CallOptions& options,
                                   std::optional<rpc::Principal>& copy) {
  return options.principal != nullptr ? options.principal : rpc::CallScope::current_principal(copy);
}

inline std::shared_ptr<const CallChain::Link> current_chain() {
  const CallChain* const chain = CallChain::current();
  return chain == nullptr ? nullptr : chain->link();
}

Result<void> of_runtime(Result<void> result) {
  if (!result) return std::move(result.error()).with_origin(Origin::runtime);
  return result;
}

Error not_the_owner() {
  return Error(Code::aborted, "the calling object has another owner by now").with_not_executed();
}

// The object of this process that calls.
[[gnu::cold]] std::string local_caller() {
  const auto chain = current_chain();
  if (chain == nullptr) return std::string("this node");
  return chain->method + "(\"" + chain->id + "\")";
}

}  // namespace

class ObjectRouter::NotedSink final : public rpc::Messages {
 public:
  explicit NotedSink(rpc::Messages& out) : out_(out) {}

  Result<void> reply(google::protobuf::Message& message) override { return out_.reply(message); }
  Result<void> write(const google::protobuf::Message& message) override {
    has_written_ = true;
    return out_.write(message);
  }
  bool has_written() const { return has_written_; }

 private:
  rpc::Messages& out_;
  bool has_written_ = false;
};

ObjectRouter::ObjectRouter(net::Network& network, std::size_t index)
    : index_(index),
      peers_{{.scheduler = &coroutine::Scheduler::current(), .router = this}},
      clients_(network),
      push_(*this, index) {}

void ObjectRouter::set_peers(std::vector<Peer> peers) {
  peers_ = std::move(peers);
  std::vector<PushHub::Peer> hubs;
  for (const Peer& peer : peers_) hubs.push_back(peer.router->push_.as_peer());
  push_.set_peers(std::move(hubs));
}

void ObjectRouter::set_host(ObjectHost& host) {
  host_ = &host;
  for (const auto& type : host.types()) {
    const auto rows = type->methods();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      routes_.emplace(rows[i].id, Route{.type = std::string(type->name()),
                                        .partition_of = hash_of(type->name()),
                                        .hosted = type.get(),
                                        .method_index = i,
                                        .stack_size_bytes = stack_sizes_.of(rows[i])});
    }
  }
}

void ObjectRouter::set_view(std::shared_ptr<const ClusterView> view) {
  view_ = std::move(view);
  const auto look_up_again = [this](Route& route) {
    route.group = view_->find_group(route.type);
    route.partition_of = hash_of(route.type);
  };
  for (auto& [id, route] : routes_) look_up_again(route);
  for (auto& [type, route] : followed_) look_up_again(route);
  std::erase_if(learned_, [this](const auto& entry) {
    const auto* const group = view_->find_group(entry.first.first);
    return group != nullptr &&
           group->owner(entry.first.second).epoch >= entry.second.partition_epoch;
  });
  clients_.keep_only(*view_);
  news_.look_again();
  push_.feeds().look_again();
  if (host_ != nullptr) host_->ownership_changed();
}

void ObjectRouter::stop() {
  is_stopped_ = true;
  // The cluster ends while services may still call objects.
  on_doubt_ = nullptr;
  on_loss_ = nullptr;
  push_.end_subscriptions();
  one_way_calls_.cancel_and_join();
  incoming_.cancel_and_join();
  push_.stop();
}

const ObjectRouter::Route& ObjectRouter::look_up(const rpc::Method& method) {
  const std::string_view type = type_of(method.full_name);
  // Keeps a known route.
  const auto place =
      routes_.try_emplace(method.id, Route{.type = std::string(type),
                                           .partition_of = hash_of(type),
                                           .hosted = nullptr,
                                           .method_index = 0,
                                           .stack_size_bytes = stack_sizes_.of(method),
                                           .group = group_of(type)});
  last_method_ = &method;
  last_route_ = &place.first->second;
  return *last_route_;
}

const ObjectRouter::Route& ObjectRouter::route_of_type(const std::string& type) {
  const auto found = followed_.find(type);
  if (found != followed_.end()) return found->second;
  Route route{.type = type,
              .partition_of = hash_of(type),
              .hosted = host_ == nullptr ? nullptr : host_->find_type(type),
              .method_index = 0,
              .group = group_of(type)};
  return followed_.emplace(type, std::move(route)).first->second;
}

// The partitions of a type of this node, or as the latest view tells them.
PartitionHash ObjectRouter::hash_of(std::string_view type) const {
  const HostedType* const hosted = host_ == nullptr ? nullptr : host_->find_type(type);
  if (hosted != nullptr) return hosted->partition_hash();
  return view_ == nullptr ? PartitionHash(type) : view_->partition_hash(type);
}

const ClusterView::Group* ObjectRouter::group_of(std::string_view type) const {
  return view_ == nullptr ? nullptr : view_->find_group(type);
}

// A call from this process has ended.
[[gnu::always_inline]] inline void ObjectRouter::note_end(rpc::Context& context,
                                                          const Result<void>& result) const {
  if (slow_calls_ == nullptr) return;
  slow_calls_->look_at(context, result, coroutine::Scheduler::current().turn_time(), local_caller);
}

[[gnu::always_inline]] inline ObjectRouter::Place ObjectRouter::locate(const Route& route,
                                                                       Partition partition) const {
  const Ownership::Epoch own_epoch =
      route.hosted == nullptr ? 0 : route.hosted->ownership().epoch(partition);
  if (own_epoch != 0) {
    std::size_t shard = shard_of(partition, peers_.size());
    if (COROLANE_SEEDED_BUG(shard_of_caller)) shard = index_;
    return {.kind = shard == index_ ? Place::Kind::here : Place::Kind::other_shard,
            .shard = shard,
            .partition_epoch = own_epoch};
  }
  const ClusterView::Group* const group = route.group;
  if (group == nullptr) return {};
  ClusterView::Owner owner = group->owner(partition);
  if (!learned_.empty()) {
    const auto learned = learned_.find({route.type, partition});
    if (learned != learned_.end() && learned->second.partition_epoch > owner.epoch) {
      owner = {.member = view_->find_member(learned->second.node_epoch),
               .epoch = learned->second.partition_epoch};
    }
  }
  if (owner.member == nullptr) return {};
  if (group->is_mixed && !owner.member->hosts(group->placement, route.type)) {
    return {.member = owner.member, .partition_epoch = owner.epoch};
  }
  return {.kind = Place::Kind::other_node,
          // A node of a former build expects calls at the door of the object's own shard; any other
          // one takes those of a shard of ours at one of its doors.
          .shard = shard_of(owner.member->forwards ? static_cast<std::uint32_t>(index_) : partition,
                            owner.member->shards.size()),
          .member = owner.member,
          .partition_epoch = owner.epoch};
}

Moved ObjectRouter::owner_of(const HostedType& type, Partition partition) const {
  Moved moved{.partition = partition};
  const auto* const group = group_of(type.name());
  if (group == nullptr) return moved;
  const ClusterView::Owner& owner = group->owner(partition);
  moved.partition_epoch = owner.epoch;
  if (owner.member != nullptr) moved.node_epoch = owner.member->epoch;
  return moved;
}

[[gnu::always_inline]] inline Result<void> ObjectRouter::call_in_this_task(const Call& call,
                                                                           TimePoint arrived_at) {
  const rpc::ObjectTarget target{.id = call.id, .request_id = call.options.request_id};
  const auto* const outer = rpc::CallScope::current();
  const rpc::Context::Facts facts{
      .deadline = call.deadline,
      .principal = call.principal,
      .trace = outer == nullptr ? rpc::TraceContext{} : outer->trace,
      .arrived_at = arrived_at,
      .object = &target,
      .headers = call.options.headers,
  };
  rpc::Context context(call.method, call.request, facts);
  ReplyHere reply(call.method, call.reply);
  auto result = host_->serve(
      *call.route.hosted, call.route.hosted->method(call.route.method_index), call.request, context,
      call.stream == nullptr ? static_cast<rpc::Messages&>(reply) : *call.stream);
  if (call.options.reply_headers != nullptr && context.reply_headers_or_null() != nullptr) {
    *call.options.reply_headers = std::move(context.made_reply_headers());
  }
  note_end(context, result);
  return result;
}

[[gnu::always_inline]] inline Result<void> ObjectRouter::call_here(const Call& call) {
  const TimePoint arrived_at = coroutine::Scheduler::current().turn_time();
  // A one-way call has its own task already, and so has a stream. Any other call runs within the
  // caller's task, unless it needs more stack than is left, or could overtake one-way calls that
  // the caller has sent before.
  if (call.reply != nullptr) {
    const bool may_be_part =
        one_way_calls_.size() == 0 && coroutine::has_stack_left(call.route.stack_size_bytes);
    if (!may_be_part) [[unlikely]]
      return call_in_own_task(call, arrived_at);
    // A task that calls in a loop yields now and then.
    if (++part_count_ % parts_per_turn == 0) {
      if (auto yielded = coroutine::yield(); !yielded) return yielded;
    }
  }
  return call_in_this_task(call, arrived_at);
}

[[gnu::always_inline]] inline Result<void> ObjectRouter::call_at(Place& place, const Call& call) {
  if (call.feed == nullptr) [[likely]] {
    if (place.kind == Place::Kind::here) return call_here(call);
    if (place.kind == Place::Kind::other_node) return call_other_node(place, call);
  }
  return call_elsewhere(place, call);
}

[[gnu::always_inline]] inline Result<void> ObjectRouter::call_until_final(const Call& call) {
  Place place = locate(call.route, call.partition);
  const OwnerMark tried = place.mark();  // The view, and so the member, may go meanwhile.
  auto result = call_at(place, call);
  return result ? std::move(result) : call_again(call, place, tried, std::move(result));
}

ObjectRouter::Place ObjectRouter::place_of(const Route& route, Partition partition) const {
  return locate(route, partition);
}

Result<void> ObjectRouter::call_for_feed(const Call& call) { return call_until_final(call); }

[[gnu::always_inline]] inline Result<void> ObjectRouter::call_or_stream(
    const rpc::Method& method, const std::string& id, const google::protobuf::Message& request,
    google::protobuf::Message* reply, NotedSink* stream, const rpc::CallOptions& options) {
  const Route& route = route_of(method);
  if (auto valid = check_object_id(route.type, id); !valid) return valid;
  std::optional<rpc::Principal> copy;
  const rpc::CallScope* const scope = rpc::CallScope::current();
  const Call call{.method = method,
                  .route = route,
                  .id = id,
                  .request = request,
                  .reply = reply,
                  .options = options,
                  .principal = principal_of(options, copy),
                  .chain = current_chain(),
                  .deadline = deadline_of(method, options, scope),
                  .partition = route.partition_of(id),
                  .stream = stream};
  if (call.chain != nullptr) {
    if (auto may = may_call(call); !may) return of_runtime(std::move(may));
  }
  const CallChain::OutCall out(call.chain == nullptr ? calls_of_tasks_ : call.chain->out_calls,
                               method, route.type, id);
  auto result = of_runtime(call_until_final(call));
  if (!result && host_ != nullptr) [[unlikely]] {
    return host_->long_waits().explained(std::move(result.error()), route.type, id);
  }
  return result;
}

const CallChain::OutCall* ObjectRouter::call_of(coroutine::TaskId task, std::string_view method,
                                                std::string_view id) const {
  const CallChain::OutCall* call = calls_of_tasks_;
  if (!id.empty()) {
    const HostedType* const hosted =
        host_ == nullptr ? nullptr : host_->find_type(method.substr(0, method.find('/')));
    const ObjectCell* const cell = hosted == nullptr ? nullptr : hosted->find(id);
    const ObjectVisitor* visitor = cell == nullptr ? nullptr : cell->visitors();
    while (visitor != nullptr && visitor->task() != task) visitor = visitor->next();
    call = visitor == nullptr ? nullptr : visitor->out_calls();
  }
  while (call != nullptr && call->task() != task) call = call->next();
  return call;
}

Result<void> ObjectRouter::call(const rpc::Method& method, const std::string& id,
                                const google::protobuf::Message& request,
                                google::protobuf::Message& reply, const rpc::CallOptions& options) {
  return call_or_stream(method, id, request, &reply, nullptr, options);
}

Result<void> ObjectRouter::stream(const rpc::Method& method, const std::string& id,
                                  const google::protobuf::Message& request, rpc::Messages& sink,
                                  const rpc::CallOptions& options) {
  NotedSink noted(sink);
  return call_or_stream(method, id, request, nullptr, &noted, options);
}

// Suspends.
Result<void> ObjectRouter::may_call(const Call& call) const {
  auto may = check_may_call(call.chain.get(), call.method.full_name, call.route.type, call.id);
  if (!may || host_ == nullptr) return may;
  if (!is_of_owner(call)) return not_the_owner();
  may = host_->check_call_out(*call.chain, call.method, call.route.type, call.id);
  if (!may) return may;
  if (!host_->has_shared_writes()) [[likely]]
    return {};
  return host_->wait_for_shared_write(*call.chain);
}

bool ObjectRouter::is_of_owner(const Call& call) const {
  const CallChain::Link* const caller = call.chain ? call.chain.get() : call.sender.get();
  return caller == nullptr || host_ == nullptr || host_->may_call_out(*caller);
}

// The first attempt, at that place, has failed with `result`.
Result<void> ObjectRouter::call_again(const Call& call, Place place, OwnerMark tried,
                                      Result<void> result) {
  int failed_count = 0;
  std::optional<Error> failure;
  for (;; ++failed_count) {
    if (failed_count > 0) {
      if (!is_of_owner(call)) return not_the_owner().with_attempt(*failure);
      call.partition = call.route.partition_of(call.id);
      place = locate(call.route, call.partition);
      tried = place.mark();
      result = call_at(place, call);
      if (result) return result;
    }
    const bool is_older = is_older_build(result.error(), tried);
    if (is_older) result = owner_is_older(call);
    if (failure) result = std::move(result.error()).with_attempt(*failure);
    failure = result.error();
    const bool is_new = [&] {
      const auto moved = moved_of(result.error());
      return moved && learn(*moved, call);
    }();
    const bool is_last =
        (!is_older && !may_try_again(result.error(), call, place)) || call.deadline.has_passed();
    if (!is_last && is_new && failed_count < redirect_count_max) continue;
    const bool needs_news = is_older || place.kind == Place::Kind::unknown;
    const Duration wait = wait_of(needs_news, failed_count, call.deadline);
    // A feed waits by itself, without a task.
    if (call.feed != nullptr && !is_last) {
      if (needs_news) doubt(call.route.type, call.partition);
      return result;
    }
    const bool has_time = call.deadline.is_never() || call.deadline.remaining() > wait;
    if (!is_last && has_time && wait_for_news(call, tried, wait)) continue;
    return result;
  }
}

Duration ObjectRouter::wait_of(bool needs_news, int failed_count, Deadline deadline) {
  const Duration wait = wait_min * (1 << std::min(failed_count, 10));
  if (!needs_news) return std::min(wait, wait_max);
  const Duration longer = std::clamp(wait, wait_max, wait_without_owner_max);
  // A deadline that comes before is no reason to give up yet.
  return deadline.is_never() ? longer : std::clamp(deadline.remaining() / 2, wait_min, longer);
}

Result<void> ObjectRouter::wait_for_news(const Call& call, const OwnerMark& tried,
                                         Duration at_most) {
  const OwnerNews::Look look = {
      .owner = [this, &route = call.route,
                partition = call.partition] { return locate(route, partition).mark(); },
      .doubt = [this, &route = call.route,
                partition = call.partition] { doubt(route.type, partition); }};
  return news_.wait({call.route.type, call.partition}, look, tried, at_most);
}

// The shards of this node are one owner; its own epoch as a node does not matter here.
OwnerMark ObjectRouter::Place::mark() const {
  return {.node_epoch = member == nullptr ? 0 : member->epoch, .partition_epoch = partition_epoch};
}

// Retries calls that have certainly not begun, or are repeatable, after transient errors: an object
// that moves, a node that is gone.
bool ObjectRouter::may_try_again(const Error& error, const Call& call, const Place& place) const {
  if (call.stream != nullptr && call.stream->has_written()) return false;
  if (COROLANE_SEEDED_BUG(retry_on_unknown) && error.maybe_executed()) return true;
  if (!error.not_executed() && !is_repeatable(call.method, call.options.request_id)) return false;
  if (moved_of(error)) return true;
  // An error of the object itself, or of its store, is final.
  return error.code() == Code::unavailable && (place.kind == Place::Kind::unknown || place.is_lost);
}

// Whether the owner does not know the method because it runs a build from before an update that is
// under way: it has joined before us. Another owner will know it.
bool ObjectRouter::is_older_build(const Error& error, const OwnerMark& owner) const {
  return error.code() == Code::unimplemented && error.not_executed() && owner.node_epoch != 0 &&
         view_ != nullptr && owner.node_epoch < view_->self_epoch();
}

// Not `unimplemented`: a caller that tries again later will succeed.
Error ObjectRouter::owner_is_older(const Call& call) {
  return Error(Code::unavailable, "the owner of " + call.route.type + " \"" + call.id +
                                      "\" runs a former build, which does not know " +
                                      std::string(call.method.full_name))
      .with_not_executed();
}

// Returns whether it names a known member as a new owner.
bool ObjectRouter::learn(const Moved& moved, const Call& call) {
  const auto* const group = call.route.group;
  if (moved.node_epoch == 0) return false;
  if (group == nullptr || group->owner(call.partition).epoch >= moved.partition_epoch) {
    return false;
  }
  auto& learned = learned_[{call.route.type, call.partition}];
  if (learned.partition_epoch >= moved.partition_epoch) return false;
  learned = {.node_epoch = moved.node_epoch, .partition_epoch = moved.partition_epoch};
  news_.look_again();
  return view_->find_member(moved.node_epoch) != nullptr;
}

void ObjectRouter::doubt(const HostedType& type, Partition partition) {
  doubt(type.name(), partition);
}

void ObjectRouter::doubt(std::string_view type, Partition partition) {
  const Placement* const placement = view_ == nullptr ? nullptr : view_->find_placement(type);
  if (placement != nullptr && on_doubt_ != nullptr) on_doubt_(*placement, partition);
}

void ObjectRouter::lose() {
  if (on_loss_ != nullptr) on_loss_();
}

Result<void> ObjectRouter::call_elsewhere(Place& place, const Call& call) {
  if (call.feed != nullptr && place.kind != Place::Kind::unknown) return attach_at(place, call);
  switch (place.kind) {
    case Place::Kind::other_shard:
      return call_other_shard(place.shard, call);
    case Place::Kind::other_node:
    case Place::Kind::here:
    case Place::Kind::unknown:
      break;
  }
  if (place.member != nullptr) {
    return Error(Code::unavailable, "the owner of " + call.route.type + " \"" + call.id + "\", " +
                                        place.member->name +
                                        ", runs a build that does not host that type")
        .with_not_executed();
  }
  const bool is_hosted = call.route.hosted != nullptr || call.route.group != nullptr;
  if (is_hosted) {
    return Error(Code::unavailable, "no node owns " + call.route.type + " \"" + call.id + "\" now")
        .with_not_executed();
  }
  const std::string what = call.feed != nullptr
                               ? "of " + call.route.type
                               : "with the method " + std::string(call.method.full_name);
  return Error(Code::unimplemented,
               "no node hosts objects " + what + "; call host<>() with their class");
}

Result<void> ObjectRouter::call_in_own_task(const Call& call, TimePoint arrived_at) {
  return coroutine::spawn(call.method.full_name,
                          [&] { return call_in_this_task(call, arrived_at); },
                          {.stack_size_bytes = call.route.stack_size_bytes})
      .join(Deadline::never());
}

Result<void> ObjectRouter::serve_here(const rpc::Method& method,
                                      const google::protobuf::Message& request,
                                      rpc::Context& context, rpc::Messages& sink) {
  if (is_stopped_) return Error(Code::unavailable, "the node stops").with_not_executed();
  const Route& route = route_of(method);
  auto result =
      host_->serve(*route.hosted, route.hosted->method(route.method_index), request, context, sink);
  note_end(context, result);
  return result;
}

Result<void> ObjectRouter::serve_forwarded(const rpc::Method& method,
                                           const google::protobuf::Message& request,
                                           rpc::Context& context, rpc::Messages& sink) {
  if (is_stopped_) return Error(Code::unavailable, "the node stops").with_not_executed();
  const Route& route = route_of(method);
  return host_->serve_or_send_on(*route.hosted, route.hosted->method(route.method_index), request,
                                 context, sink);
}

Result<void> ObjectRouter::forward(const rpc::Method& method,
                                   const google::protobuf::Message& request, rpc::Context& context,
                                   rpc::Messages& sink) {
  const rpc::ObjectTarget& target = *context.object();
  const Route& route = route_of(method);
  const std::string id(target.id);
  const rpc::CallOptions options{.request_id = target.request_id,
                                 .headers = &context.headers(),
                                 .reply_headers = &context.made_reply_headers()};
  NotedSink stream(sink);
  const bool has_reply = !method.server_streaming && !method.one_way;
  const std::unique_ptr<google::protobuf::Message> reply(has_reply ? method.new_reply(nullptr)
                                                                   : nullptr);
  const Call call{.method = method,
                  .route = route,
                  .id = id,
                  .request = request,
                  .reply = reply.get(),
                  .options = options,
                  .principal = &context.principal(),
                  .chain = current_chain(),
                  .deadline = context.deadline(),
                  .partition = route.partition_of(id),
                  .stream = method.server_streaming ? &stream : nullptr,
                  .arrived = &target};
  auto served = call_other_shard(shard_of(call.partition, peers_.size()), call);
  return served && has_reply ? sink.reply(*reply) : served;
}

Result<void> ObjectRouter::call_other_shard(std::size_t shard, const Call& call) {
  // The thread of that shard may have ended: a node stops the calls of all shards first.
  if (is_stopped_) return Error(Code::unavailable, "the node stops").with_not_executed();
  const Peer& peer = peers_[shard];
  auto crossing = CrossCall::make(call.method, call.id, call.request, call.options, call.principal,
                                  call.chain.get(), call.deadline);
  crossing->take_stack_of(call.route.stack_size_bytes);
  const bool is_forwarded = call.arrived != nullptr;
  if (is_forwarded) {
    crossing->come_from_node(call.arrived->node_epoch, call.arrived->partition_epoch);
  }
  const auto run = [&](std::shared_ptr<CrossStream> stream) {
    return crossing->run(
        *peer.scheduler, peer.router->incoming_,
        [router = peer.router, is_forwarded](const rpc::Method& method, const auto& request,
                                             rpc::Context& context, rpc::Messages& sink) {
          return is_forwarded ? router->serve_forwarded(method, request, context, sink)
                              : router->serve_here(method, request, context, sink);
        },
        call.reply, call.options.reply_headers, std::move(stream));
  };
  if (call.stream == nullptr) return run(nullptr);
  const auto stream = std::make_shared<CrossStream>(call.method.full_name, *peer.scheduler,
                                                    call.options.reply_headers);
  Result<void> forwarded;
  coroutine::TaskGroup forwarding;
  auto spawned = forwarding.spawn(call.method.full_name,
                                  [&] { forwarded = stream->forward_to(*call.stream); });
  if (!spawned) return std::move(spawned.error()).with_not_executed();
  auto ended = run(stream);
  stream->end();
  const auto joined = forwarding.join(call.deadline);
  if (!ended) return ended;
  if (!joined) return Error(joined.error()).with_maybe_executed();
  return forwarded ? ended : std::move(forwarded.error()).with_maybe_executed();
}

Result<void> ObjectRouter::call_other_node(Place& place, const Call& call) {
  const auto chain =
      call.chain == nullptr ? std::vector<rpc::ObjectCall>() : calls_of(call.chain.get());
  const rpc::ObjectTarget target{.id = call.id,
                                 .node_epoch = place.member->epoch,
                                 .partition_epoch = place.partition_epoch,
                                 .request_id = call.options.request_id,
                                 .chain = chain};
  const rpc::CallOptions options{.deadline = call.deadline,
                                 .request_id = call.options.request_id,
                                 .headers = call.options.headers,
                                 .reply_headers = call.options.reply_headers,
                                 .object = &target,
                                 .principal = call.principal};
  // Keeps the client: the view with the member may be replaced meanwhile.
  const auto client = clients_.of(*place.member, place.shard);
  const auto run = [&] {
    if (call.stream != nullptr) {
      return receive_stream(*client, call.method, call.request, *call.stream, options);
    }
    if (call.reply == nullptr) return client->notify(call.method, call.request, options);
    return client->call(call.method, call.request, *call.reply, options);
  };
  auto result = run();
  place.is_lost = !result && !client->is_connected();
  return result;
}

Result<void> ObjectRouter::notify(const rpc::Method& method, const std::string& id,
                                  const google::protobuf::Message& request,
                                  const rpc::CallOptions& options) {
  if (auto valid = check_object_id(type_of(method.full_name), id); !valid) return valid;
  auto sender = current_chain();
  if (sender != nullptr && host_ != nullptr && host_->has_shared_writes()) [[unlikely]] {
    if (auto stored = host_->wait_for_shared_write(*sender); !stored) return stored;
  }
  // The caller must wait neither for the lookup of the object nor for its turn.
  std::unique_ptr<google::protobuf::Message> copy(request.New());
  copy->CopyFrom(request);
  std::optional<rpc::Principal> held;
  const rpc::Principal* const principal = principal_of(options, held);
  auto spawned = one_way_calls_.spawn(
      method.full_name,
      [this, &method, id, copy = std::move(copy), sender = std::move(sender),
       principal = principal == nullptr ? rpc::anonymous() : *principal,
       headers = options.headers == nullptr ? rpc::Headers() : *options.headers,
       deadline = deadline_of(method, options, rpc::CallScope::current())] {
        static_cast<void>(send_one_way(
            method, id, *copy, {.deadline = deadline, .headers = &headers, .principal = &principal},
            sender));
      },
      {.stack_size_bytes = stack_sizes_.of(method)});
  if (!spawned) return spawned.error();
  return {};
}

Result<void> ObjectRouter::deliver(const rpc::Method& method, const std::string& id,
                                   const google::protobuf::Message& request,
                                   const rpc::CallOptions& options) {
  return send_one_way(method, id, request, options, nullptr);
}

Result<void> ObjectRouter::send_one_way(const rpc::Method& method, const std::string& id,
                                        const google::protobuf::Message& request,
                                        const rpc::CallOptions& options,
                                        std::shared_ptr<const CallChain::Link> sender) {
  if (auto valid = check_object_id(type_of(method.full_name), id); !valid) return valid;
  // No caller waits for it, so a callee may call back.
  CallChain::enter(CallChain());
  const Route& route = route_of(method);
  const Call call{.method = method,
                  .route = route,
                  .id = id,
                  .request = request,
                  .reply = nullptr,
                  .options = options,
                  .principal = options.principal,
                  .chain = nullptr,
                  .sender = std::move(sender),
                  .deadline = deadline_of(method, options, rpc::CallScope::current()),
                  .partition = route.partition_of(id)};
  if (!is_of_owner(call)) return not_the_owner();
  return call_until_final(call);
}

}  // namespace corolane::framework::detail
