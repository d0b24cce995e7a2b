// SPDX-License-Identifier: MIT
#include "framework/push/detail/feed.h"

#include <chrono>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/detail/object_error.h"
#include "framework/wire/push.pb.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {
namespace {

// The delay before an unreachable object is located again.
constexpr std::chrono::milliseconds follow_retry_interval(250);

// Whether the error is transient: not an answer of the object, but the lack of one.
bool passes_by_itself(const Error& error) {
  switch (error.code()) {
    case Code::aborted:
    case Code::cancelled:
    case Code::deadline_exceeded:
    case Code::resource_exhausted:
    case Code::unavailable:
      return true;
    default:
      return false;
  }
}

Error stopped() { return Error(Code::unavailable, "the node stops"); }

}  // namespace

Feed::Feed(Feeds& feeds, std::string_view type, const std::string& id,
           const google::protobuf::Message& prototype)
    : feeds_(feeds),
      type_(type),
      id_(id),
      prototype_(prototype),
      broadcast_(std::make_shared<Broadcast>(Broadcast::Bounds())) {}

Result<void> Feed::receive(const PublishedBatch& batch) {
  const Position last = broadcast_->position();
  if (batch.after < last) {
    return moved_error(type_, id_, {.partition_epoch = batch.after.epoch});
  }
  if (!broadcast_->has_begun() || batch.after != last) {
    broadcast_->begin(batch.after, is_new_source_ ? Gap::moved : Gap::behind);
  }
  is_new_source_ = false;
  for (const Broadcast::Message& message : batch.messages) broadcast_->append(message);
  return {};
}

Result<void> Feed::receive(const PublicationBatch& batch) {
  PublishedBatch parsed{.after = {.epoch = batch.epoch(), .sequence = batch.sequence()},
                        .messages = {}};
  for (const std::string& bytes : batch.messages()) {
    std::shared_ptr<google::protobuf::Message> message(prototype_.New());
    if (!message->ParseFromString(bytes)) {
      return Error(Code::data_loss, "a publication of " + type_ + " \"" + id_ +
                                        "\" cannot be parsed as " + prototype_.GetTypeName() +
                                        ": do both nodes have the same proto?");
    }
    parsed.messages.push_back(std::move(message));
  }
  return receive(parsed);
}

void Feed::run() {
  // The task must not inherit the deadline and the call chain of the first subscriber.
  rpc::CallScope::enter({});
  CallChain::enter(CallChain());
  for (;;) {
    auto followed = feeds_.source_.follow(*this);
    // By then a new feed of the same object may exist.
    if (coroutine::is_cancelled()) return;
    if (followed) continue;
    if (!passes_by_itself(followed.error())) {
      feeds_.remove(*this);
      return broadcast_->end(followed.error());
    }
    if (!coroutine::sleep_for(follow_retry_interval)) return;
  }
}

Broadcast::Reader Feeds::subscribe(std::string_view type, const std::string& id,
                                   const google::protobuf::Message& prototype) {
  const auto found = feeds_.find({type, id});
  if (found != feeds_.end()) {
    check(&found->second->prototype_ == &prototype, "objects of one type publish one message");
    return Broadcast::Reader(found->second->broadcast());
  }
  auto feed = std::make_shared<Feed>(*this, type, id, prototype);
  Broadcast::Reader reader(feed->broadcast());
  if (is_stopped_) {
    feed->broadcast()->end(stopped());
    return reader;
  }
  auto spawned = tasks_.spawn("feed of " + feed->type(), [feed] { feed->run(); });
  if (!spawned) {
    feed->broadcast()->end(std::move(spawned.error()).with_context("no stack"));
    return reader;
  }
  feed->task_ = *spawned;
  feed->broadcast()->set_on_abandoned([this, raw = feed.get()] {
    raw->task_.cancel();
    remove(*raw);
  });
  feeds_.emplace(Key{feed->type(), feed->id()}, std::move(feed));
  return reader;
}

// A running task of the feed keeps it alive.
void Feeds::remove(Feed& feed) {
  feed.broadcast()->set_on_abandoned(nullptr);
  past_behind_count_ += feed.broadcast()->behind_count();
  feeds_.erase({feed.type(), feed.id()});
}

void Feeds::stop() {
  is_stopped_ = true;
  while (!feeds_.empty()) {
    const std::shared_ptr<Feed> feed = feeds_.begin()->second;
    remove(*feed);
    feed->broadcast()->end(stopped());
  }
  tasks_.cancel_and_join();
}

Feeds::Statistics Feeds::statistics() const {
  Statistics all{.object_count = feeds_.size(), .behind_count = past_behind_count_};
  for (const auto& [key, feed] : feeds_) {
    all.subscription_count += feed->broadcast()->reader_count();
    all.behind_count += feed->broadcast()->behind_count();
  }
  return all;
}

}  // namespace corolane::framework::detail
