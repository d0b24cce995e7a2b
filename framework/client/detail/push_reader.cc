// SPDX-License-Identifier: MIT
#include "framework/client/detail/push_reader.h"

#include <utility>

#include "coroutine/base/try.h"
#include "framework/client/detail/push_inbox.h"

namespace corolane::framework::detail {
namespace {

std::size_t size_of(const PushQueue::Item& item) { return item ? item->size() : 0; }

}  // namespace

void PushQueue::add(Item item) {
  if (end_ || (!item && !items_.empty() && !items_.back())) return;
  bytes_ += size_of(item);
  items_.push_back(std::move(item));
  while (items_.size() > count_max || bytes_ > bytes_max) {
    bytes_ -= size_of(items_.front());
    items_.pop_front();
    if (items_.empty()) items_.emplace_back();
    bytes_ -= size_of(std::exchange(items_.front(), std::nullopt));
  }
  changed_.pulse();
}

void PushQueue::end(Error reason) {
  if (!end_) end_ = std::move(reason);
  changed_.pulse();
}

Result<PushQueue::Item> PushQueue::next(Deadline deadline) {
  while (items_.empty()) {
    if (end_) return *end_;
    COROLANE_TRY(changed_.wait(deadline));
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  bytes_ -= size_of(item);
  return item;
}

PushReader::~PushReader() { leave(); }

PushReader& PushReader::operator=(PushReader&& other) noexcept {
  if (this == &other) return *this;
  leave();
  state_ = std::move(other.state_);
  return *this;
}

void PushReader::leave() {
  if (state_ != nullptr && state_->inbox != nullptr) state_->inbox->leave(*state_);
}

}  // namespace corolane::framework::detail
