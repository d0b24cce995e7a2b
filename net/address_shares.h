// SPDX-License-Identifier: MIT
// Divides a limited resource of a server, such as running calls, among addresses, so that no single
// address takes everything.
//
//   AddressShares shares({.count_max = 131'072});
//   AddressShares::Guest guest(shares, stream->peer_endpoint());  // Once per connection.
//   if (!guest.may_take()) return Error(Code::resource_exhausted, "too many calls");
//   guest.take();
//   ...
//   guest.give_back();
//
// One address holds at most its share. When nine tenths are taken, an address that already holds a
// few gets no more: the last tenth is for newcomers.
//
// An address is an IPv4 address, or the /64 prefix of an IPv6 one, which is the least that a
// household gets. The clients of a Unix socket have no address and no bound: the permissions of its
// file control access, and a proxy behind it connects for many clients.
//
// The table is looked up once per connection; a call costs two increments. An address without
// guests is forgotten. Not thread-safe, never suspends; outlives its guests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "net/endpoint.h"

namespace corolane::net {

// The address that is counted: "10.1.0.7", "2001:db8:1:2::/64". An IPv4-mapped IPv6 address counts
// as the IPv4 one. Empty for a Unix socket.
std::string share_address(const Endpoint& peer);

class AddressShares {
 public:
  struct Limits {
    std::size_t count_max = 0;  // The bound for all addresses together.
    // The share of one address, in percent. Half keeps one machine from taking everything, and has
    // room for the thousands of players behind the one address of a mobile carrier. 100 is for
    // servers behind a proxy, whose address all clients share: it turns the distinction off.
    std::uint32_t share_percent = 50;
  };

  struct Statistics {
    std::size_t count = 0;          // Taken now.
    std::size_t address_count = 0;  // Addresses that have guests now.
    std::uint64_t refused_count = 0;
  };

  class Guest;

  explicit AddressShares(const Limits& limits) { set_limits(limits); }
  AddressShares(const AddressShares&) = delete;
  AddressShares& operator=(const AddressShares&) = delete;

  // Applies from now on; nothing that is taken is withdrawn.
  void set_limits(const Limits& limits);
  Statistics statistics() const {
    return {.count = count_, .address_count = holders_.size(), .refused_count = refused_count_};
  }

 private:
  struct Holder {
    std::size_t count = 0;
    std::size_t guest_count = 0;
  };
  using Holders = std::unordered_map<std::string, Holder>;

  bool has_room(const Holders::value_type& holder, bool is_scarce) const;

  Limits limits_;
  std::size_t share_max_ = 0;
  std::size_t scarce_count_ = 0;  // From here on only newcomers are let in;
  std::size_t newcomer_max_ = 0;  // they hold less than this.
  std::size_t count_ = 0;
  std::uint64_t refused_count_ = 0;
  Holders holders_;
};

// A holder that comes from an address, such as a connection. A default guest belongs to no table:
// it has no bound and is not counted. A guest gives back everything it took before it is destroyed.
class AddressShares::Guest {
 public:
  Guest() = default;
  Guest(AddressShares& shares, const Endpoint& peer);
  ~Guest() { leave(); }
  Guest(Guest&& other) noexcept
      : shares_(std::exchange(other.shares_, nullptr)),
        holder_(std::exchange(other.holder_, nullptr)) {}
  Guest& operator=(Guest&& other) noexcept;

  bool is_counted() const { return shares_ != nullptr; }
  // Whether its address holds only a few, so that the last tenth is open to it.
  bool is_newcomer() const {
    return holder_ == nullptr || holder_->second.count <= shares_->newcomer_max_ ||
           shares_->limits_.share_percent == 100;
  }
  // Whether its address may take one more; a refusal is counted. `is_scarce` says that another
  // resource which all need, such as stacks, has less than a tenth left.
  bool may_take(bool is_scarce = false);
  void take() {
    if (shares_ == nullptr) return;
    ++shares_->count_;
    if (holder_ != nullptr) ++holder_->second.count;
  }
  void give_back() {
    if (shares_ == nullptr) return;
    --shares_->count_;
    if (holder_ != nullptr) --holder_->second.count;
  }

 private:
  void leave();

  AddressShares* shares_ = nullptr;
  Holders::value_type* holder_ = nullptr;  // Null for the client of a Unix socket.
};

}  // namespace corolane::net
