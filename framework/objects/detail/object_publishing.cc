// SPDX-License-Identifier: MIT
// The publications of objects, and the publications of others that they follow.
#include <algorithm>
#include <utility>

#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/object.h"
#include "framework/push/detail/publication_traces.h"
#include "rpc/call_scope.h"

namespace corolane::framework {

bool ObjectBase::is_followed() const { return cell_->is_followed(); }

void ObjectBase::publish_message(std::shared_ptr<const google::protobuf::Message> message) {
  cell_->publish(std::move(message));
}

Position ObjectBase::published() const { return cell_->published(); }

std::uint64_t ObjectBase::epoch() const { return cell_->epoch(); }

Result<Following> ObjectBase::begin_following(
    detail::Broadcast::Reader reader,
    std::move_only_function<void(const Result<detail::Published>&)> handler) {
  auto follower = cell_->type().host().follow(*cell_, std::move(reader), std::move(handler));
  cell_->add_follower(follower);
  return Following(std::move(follower));
}

namespace detail {

std::shared_ptr<Follower> ObjectHost::follow(ObjectCell& cell, Broadcast::Reader reader,
                                             Follower::Handler handler) {
  auto follower =
      std::make_shared<Follower>(cell, std::move(reader), std::move(handler), followers_);
  follower->listen();
  return follower;
}

Topic& ObjectCell::topic() {
  if (topic_ == nullptr) topic_ = std::make_unique<Topic>(published());
  return *topic_;
}

Position ObjectCell::published() const {
  if (topic_ != nullptr) return topic_->position();
  return {.epoch = epoch_, .sequence = type_.last_sequence()};
}

PublicationTrace ObjectCell::trace_of(const google::protobuf::Message& message) {
  const rpc::CallScope* const scope = rpc::CallScope::current();
  if (scope == nullptr || !scope->trace.is_sampled) [[likely]]
    return nullptr;
  Position position = published();
  ++position.sequence;
  return note_published(tracer(), scope->trace, {.type = type_.name(), .id = id_}, message,
                        position);
}

void ObjectCell::publish(Broadcast::Message message) {
  ++type_.counts.publication_count;
  Topic& topic = this->topic();
  if (!is_owned()) {
    // Another owner may publish for the object by now.
    topic.end();
    message = nullptr;
  }
  PublicationTrace trace = message == nullptr ? nullptr : trace_of(*message);
  topic.publish(std::move(message), is_durable_turn_ || hides_change_ || !has_lease(),
                std::move(trace));
}

void ObjectCell::release_held(Position end) {
  if (topic_ == nullptr || !topic_->has_held()) return;
  is_owned() && (has_lease() || topic_->is_proven(end)) ? topic_->release(end) : topic_->end();
}

void ObjectCell::end_publishing() {
  for (const auto& follower : followers_) follower->stop();
  followers_.clear();
  // Skips one sequence number: the state of the next activation may differ from the last published
  // one.
  if (topic_ != nullptr) type_.note_sequence(topic_->position().sequence + 1);
  topic_.reset();
}

void ObjectCell::add_follower(std::shared_ptr<Follower> follower) {
  std::erase_if(followers_, [](const auto& one) { return one->is_over(); });
  followers_.push_back(std::move(follower));
}

std::size_t ObjectCell::followed_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(followers_, [](const auto& one) { return !one->is_over(); }));
}

}  // namespace detail
}  // namespace corolane::framework
