// SPDX-License-Identifier: MIT
#include "net/connection_bound.h"

namespace corolane::net {

ConnectionBound::Place ConnectionBound::take(const Endpoint& peer) {
  const std::scoped_lock lock(mutex_);
  AddressShares::Guest guest(shares_, peer);
  if (!guest.may_take()) return {};
  guest.take();
  return {*this, std::move(guest)};
}

void ConnectionBound::set_limits(const AddressShares::Limits& limits) {
  const std::scoped_lock lock(mutex_);
  shares_.set_limits(limits);
}

AddressShares::Statistics ConnectionBound::statistics() const {
  const std::scoped_lock lock(mutex_);
  return shares_.statistics();
}

ConnectionBound::Place& ConnectionBound::Place::operator=(Place&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  bound_ = std::exchange(other.bound_, nullptr);
  guest_ = std::move(other.guest_);
  return *this;
}

void ConnectionBound::Place::give_back() {
  if (bound_ == nullptr) return;
  const std::scoped_lock lock(bound_->mutex_);
  guest_.give_back();
  guest_ = {};
  bound_ = nullptr;
}

}  // namespace corolane::net
