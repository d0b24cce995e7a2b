// How many connections may be open at the same time: all together, and from one address.
//
//   ConnectionBound bound({.count_max = 16'384});
//   ConnectionBound::Place place = bound.take(stream->peer_endpoint());
//   if (!place) return refuse(*stream);
//
// The servers of several threads share one, so that a node with many shards takes as many
// connections as its operator says. Thread-safe: all of it may be called from any thread. Outlives
// its places; never suspends.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>

#include "net/address_shares.h"

namespace corolane::net {

class ConnectionBound {
 public:
  // The place of a connection that is let in; given back at its end. A default place is none.
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

  // A place for a connection from there; none when there is no room for it.
  Place take(const Endpoint& peer);
  // From now on; connections that there are stay.
  void set_limits(const AddressShares::Limits& limits);
  AddressShares::Statistics statistics() const;

 private:
  mutable std::mutex mutex_;
  AddressShares shares_;
};

}  // namespace corolane::net
