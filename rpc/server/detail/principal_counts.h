// SPDX-License-Identifier: MIT
// Counts the connections and calls of each principal, so that a client that comes from many
// addresses has no more than others.
//
//   PrincipalCounts counts({.connection_count_max = 256, .call_count_max = 4096});
//   PrincipalCounts::Guest guest = counts.enter(principal.id);  // Once per connection.
//   if (guest.connection_count() > counts.limits().connection_count_max) return refusal;
//
// Anonymous clients share no count: those of their addresses bound them. Belongs to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace corolane::rpc::detail {

class PrincipalCounts {
 public:
  struct Limits {
    std::size_t connection_count_max = 0;
    std::size_t call_count_max = 0;
  };
  class Guest;

  explicit PrincipalCounts(const Limits& limits) : limits_(limits) {}
  PrincipalCounts(const PrincipalCounts&) = delete;
  PrincipalCounts& operator=(const PrincipalCounts&) = delete;

  const Limits& limits() const { return limits_; }
  void set_limits(const Limits& limits) { limits_ = limits; }
  // The number of principals that have guests now.
  std::size_t principal_count() const { return counts_.size(); }
  // Empty for an anonymous principal, whose id is empty.
  Guest enter(const std::string& id);

 private:
  struct Count {
    std::size_t guest_count = 0;
    std::size_t call_count = 0;
  };
  using Counts = std::unordered_map<std::string, Count>;

  Limits limits_;
  Counts counts_;
};

// A connection of a principal, or one request over HTTP. Gives its calls back before it is
// destroyed; the counts outlive it.
class PrincipalCounts::Guest {
 public:
  Guest() = default;
  ~Guest() { leave(); }
  Guest(Guest&& other) noexcept
      : counts_(std::exchange(other.counts_, nullptr)), count_(other.count_) {}
  Guest& operator=(Guest&& other) noexcept {
    if (this == &other) return *this;
    leave();
    counts_ = std::exchange(other.counts_, nullptr);
    count_ = other.count_;
    return *this;
  }

  // With this one.
  std::size_t connection_count() const {
    return counts_ == nullptr ? 0 : count_->second.guest_count;
  }
  bool has_room_to_connect() const {
    return counts_ == nullptr || connection_count() <= counts_->limits_.connection_count_max;
  }
  bool has_room_to_call() const {
    return counts_ == nullptr || count_->second.call_count < counts_->limits_.call_count_max;
  }
  void take_call() {
    if (counts_ != nullptr) ++count_->second.call_count;
  }
  void give_back_call() {
    if (counts_ != nullptr) --count_->second.call_count;
  }

 private:
  friend class PrincipalCounts;
  Guest(PrincipalCounts& counts, Counts::value_type& count) : counts_(&counts), count_(&count) {
    ++count.second.guest_count;
  }
  void leave() {
    if (counts_ == nullptr) return;
    if (--count_->second.guest_count == 0) counts_->counts_.erase(count_->first);
    counts_ = nullptr;
  }

  PrincipalCounts* counts_ = nullptr;
  Counts::value_type* count_ = nullptr;
};

inline PrincipalCounts::Guest PrincipalCounts::enter(const std::string& id) {
  if (id.empty()) return {};
  return {*this, *counts_.try_emplace(id).first};
}

}  // namespace corolane::rpc::detail
