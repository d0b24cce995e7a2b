#include "rpc/server/detail/call_order.h"

namespace corolane::rpc::detail {

CallOrder::Place::Place(CallOrder& order, std::uint64_t key) : order_(order), key_(key) {
  if (key == 0) return;
  lane_ = &order_.lanes_[key];
  ++lane_->place_count;
  number_ = ++lane_->last_made;
  lane_->unsent.insert(number_);
}

CallOrder::Place::~Place() {
  if (lane_ == nullptr) return;
  leave();
  if (--lane_->place_count == 0) order_.lanes_.erase(key_);
}

Result<void> CallOrder::Place::wait_for_turn(Deadline deadline) {
  while (lane_ != nullptr && *lane_->unsent.begin() != number_) {
    if (auto waited = lane_->turn.wait_or_fail(deadline); !waited) return waited;
  }
  return {};
}

void CallOrder::Place::sent() {
  if (lane_ == nullptr) return;
  lane_->last_sent = number_;
  leave();
}

bool CallOrder::Place::take_back() {
  if (lane_ == nullptr) return true;
  if (lane_->last_sent != number_) return false;
  lane_->unsent.insert(number_);
  return true;
}

void CallOrder::Place::leave() {
  lane_->unsent.erase(number_);
  // All waiters wake, since only they know which one is next.
  lane_->turn.notify_all();
}

}  // namespace corolane::rpc::detail
