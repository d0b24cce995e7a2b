// SPDX-License-Identifier: MIT
#include "framework/push/detail/feeds.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/push.pb.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {
namespace {

// The delay before an unreachable object is looked for again: doubles with each attempt.
constexpr Duration rest_min = std::chrono::milliseconds(5);
constexpr Duration rest_max = std::chrono::milliseconds(250);

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

Broadcast::Reader Feeds::subscribe(std::string_view type, const std::string& id,
                                   const google::protobuf::Message& prototype, Position after) {
  const auto found = feeds_.find({type, id});
  if (found != feeds_.end()) {
    check(&found->second->prototype_ == &prototype, "objects of one type publish one message");
    return Broadcast::Reader(found->second->broadcast(), after);
  }
  const auto feed = std::make_shared<Feed>(type, id, prototype);
  feed->broadcast()->count_readers_in(subscription_count_);
  if (after != Position()) feed->broadcast()->begin(after, Gap::begin);
  Broadcast::Reader reader(feed->broadcast(), after);
  if (is_stopped_) {
    feed->broadcast()->end(stopped());
    return reader;
  }
  feed->broadcast()->set_on_abandoned([this, raw = feed.get()] { leave(*raw); });
  feeds_.emplace(Key{feed->type(), feed->id()}, feed);
  queue(feed);
  return reader;
}

void Feeds::queue(const FeedPtr& feed) {
  feed->state_ = Feed::State::queued;
  queue_.push_back(feed);
  start_seekers();
}

void Feeds::start_seekers() {
  if (seeker_count_ == seeker_count_max) return;
  if (seekers_.spawn("find objects to subscribe to", [this] { seek(); })) {
    ++seeker_count_;
  } else if (seeker_count_ == 0) {
    // There is no stack; the timer tries again.
    rested_.arm(Deadline::after(rest_max));
  }
}

void Feeds::seek() {
  // The task must not inherit the deadline and the call chain of a subscriber.
  rpc::CallScope::enter({});
  CallChain::enter(CallChain());
  while (!queue_.empty()) {
    const FeedPtr feed = std::move(queue_.front());
    queue_.pop_front();
    if (feed->state_ == Feed::State::queued) attach(feed);
  }
  --seeker_count_;
}

void Feeds::attach(const FeedPtr& feed) {
  const std::uint64_t number = ++last_number_;
  feed->state_ = Feed::State::seeking;
  feed->number_ = number;
  feed->is_new_source_ = true;
  feed->tried_ = source_.owner_of(*feed);
  by_number_.emplace(number, feed);
  const auto place = source_.attach(*feed);
  if (feed->state_ == Feed::State::ended) {
    if (place) source_.detach(*place, number);
    return;
  }
  if (place) {
    // It may have ended already.
    if (feed->number_ != number) return rest(feed);
    feed->state_ = Feed::State::attached;
    feed->place_ = *place;
    return;
  }
  forget_source(*feed);
  if (passes_by_itself(place.error())) return rest(feed);
  remove(*feed);
  feed->broadcast()->end(place.error());
}

void Feeds::rest(const FeedPtr& feed) {
  feed->state_ = Feed::State::resting;
  const Duration time = std::min(rest_max, rest_min * (1 << std::min(feed->failed_count_, 10)));
  ++feed->failed_count_;
  resting_.emplace(now() + time, feed);
  rested_.arm(Deadline::at(resting_.begin()->first));
}

void Feeds::wake_rested() {
  while (!resting_.empty() && resting_.begin()->first <= now()) {
    const FeedPtr feed = std::move(resting_.begin()->second);
    resting_.erase(resting_.begin());
    if (feed->state_ == Feed::State::resting) queue(feed);
  }
  if (!resting_.empty()) {
    rested_.arm(Deadline::at(resting_.begin()->first));
  }
  if (!queue_.empty()) start_seekers();
}

void Feeds::look_again() {
  for (auto at = resting_.begin(); at != resting_.end();) {
    const FeedPtr feed = at->second;
    const bool is_due =
        feed->state_ == Feed::State::resting && source_.owner_of(*feed) != feed->tried_;
    at = is_due || feed->state_ == Feed::State::ended ? resting_.erase(at) : std::next(at);
    if (is_due) queue(feed);
  }
}

template <typename Batch>
bool Feeds::receive_any(std::uint64_t number, const Batch& batch) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return false;
  const FeedPtr feed = found->second;
  const auto received = feed->receive(batch, tracer_);
  if (received) {
    feed->failed_count_ = 0;
    return true;
  }
  const bool is_seeking = feed->state_ == Feed::State::seeking;
  forget_source(*feed);
  if (!passes_by_itself(received.error())) {
    remove(*feed);
    feed->broadcast()->end(received.error());
  } else if (!is_seeking) {
    rest(feed);
  }
  return false;
}

bool Feeds::receive(std::uint64_t number, const PublishedBatch& batch) {
  return receive_any(number, batch);
}

bool Feeds::receive(std::uint64_t number, const PublicationBatch& batch) {
  return receive_any(number, batch);
}

void Feeds::end_source(std::uint64_t number) {
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return;
  const FeedPtr feed = found->second;
  const bool is_seeking = feed->state_ == Feed::State::seeking;
  forget_source(*feed);
  if (!is_seeking) queue(feed);
}

void Feeds::lose(const LineName& line) {
  std::vector<FeedPtr> lost;
  for (const auto& [key, feed] : feeds_) {
    if (feed->state_ == Feed::State::attached && feed->place_.line == line) lost.push_back(feed);
  }
  for (const FeedPtr& feed : lost) {
    forget_source(*feed);
    rest(feed);
  }
}

void Feeds::forget_source(Feed& feed) {
  by_number_.erase(feed.number_);
  feed.number_ = 0;
}

// The last subscriber has left.
void Feeds::leave(Feed& feed) {
  if (feed.state_ == Feed::State::attached) source_.detach(feed.place_, feed.number_);
  remove(feed);
}

void Feeds::remove(Feed& feed) {
  feed.broadcast()->set_on_abandoned(nullptr);
  past_behind_count_ += feed.broadcast()->behind_count();
  const FeedPtr kept = feeds_.at({feed.type(), feed.id()});
  kept->state_ = Feed::State::ended;
  forget_source(*kept);
  feeds_.erase({kept->type(), kept->id()});
}

void Feeds::stop() {
  is_stopped_ = true;
  while (!feeds_.empty()) {
    const FeedPtr feed = feeds_.begin()->second;
    leave(*feed);
    feed->broadcast()->end(stopped());
  }
  seekers_.cancel_and_join();
  queue_.clear();
  resting_.clear();
  rested_.cancel();
}

const Feed* Feeds::find_awaited(const void* identity) const {
  const auto found = std::ranges::find_if(feeds_, [identity](const auto& feed) {
    return feed.second->broadcast()->is_awaited_as(identity);
  });
  return found == feeds_.end() ? nullptr : found->second.get();
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
