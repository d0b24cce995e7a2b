// SPDX-License-Identifier: MIT
// Bounds the connections that are open at the same time: in total, and per address.
//
//   ConnectionBound bound({.count_max = 16'384});
//   ConnectionBound::Place place = bound.take(stream->peer_endpoint());
//   if (!place) return refuse(*stream);
//
// The servers of several threads share one bound, so that a node with many shards takes as many
// connections as its operator configures. Thread-safe. Outlives its places; never suspends.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>

#include "net/address_shares.h"

namespace corolane::net {

class ConnectionBound {
 public:
  // The place of an admitted connection; given back when it is destroyed. A default place is empty.
  class Place {
   public:
    Place() = default;
    ~Place() { give_back(); }
    Place(Place&& other) noexcept
        : bound_(std::exchange(other.bound_, nullptr)), guest_(std::move(other.guest_)) {}
    Place& operator=(Place&& other) noexcept;

    explicit operator bool() const { return bound_ != nullptr; }

   private:
    friend class ConnectionBound;
    Place(ConnectionBound& bound, AddressShares::Guest guest)
        : bound_(&bound), guest_(std::move(guest)) {}
    void give_back();

    ConnectionBound* bound_ = nullptr;
    AddressShares::Guest guest_;
  };

  explicit ConnectionBound(const AddressShares::Limits& limits) : shares_(limits) {}

  // Returns a place for a connection from `peer`; an empty one when there is no room for it.
  Place take(const Endpoint& peer);
  // Applies from now on; connections that are open stay.
  void set_limits(const AddressShares::Limits& limits);
  AddressShares::Statistics statistics() const;

 private:
  mutable std::mutex mutex_;
  AddressShares shares_;
};

}  // namespace corolane::net
