// SPDX-License-Identifier: MIT
#include "net/address_shares.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "coroutine/base/check.h"

namespace corolane::net {
namespace {

// An address that holds less is a newcomer. A player often waits in one call while making another,
// so where there is much to share a newcomer may hold a few; the last tenth then still serves a
// hundred addresses and more.
constexpr std::size_t newcomer_most = 8;
constexpr std::size_t newcomers_per_reserve = 100;

constexpr std::size_t prefix_bytes = 8;

bool is_ipv4_mapped(const in6_addr& address) {
  constexpr std::array<unsigned char, 12> prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(&address, prefix.data(), prefix.size()) == 0;
}

}  // namespace

std::string share_address(const Endpoint& peer) {
  if (is_unix(peer)) return {};
  in6_addr address{};
  if (inet_pton(AF_INET6, peer.address.c_str(), &address) != 1) return peer.address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_ipv4_mapped(address)) {
    inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  std::memset(&address.s6_addr[prefix_bytes], 0, sizeof(address) - prefix_bytes);
  inet_ntop(AF_INET6, &address, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

void AddressShares::set_limits(const Limits& limits) {
  check(limits.share_percent >= 1 && limits.share_percent <= 100, "a share is 1 to 100 hundredths");
  limits_ = limits;
  // In two steps, so that the product fits whatever the count is.
  const std::size_t whole = limits.count_max / 100 * limits.share_percent;
  const std::size_t rest = limits.count_max % 100 * limits.share_percent;
  share_max_ = std::max<std::size_t>(1, whole + (rest + 99) / 100);
  const std::size_t reserve = limits.count_max / 10;
  scarce_count_ = limits.count_max - reserve;
  newcomer_max_ = std::clamp<std::size_t>(reserve / newcomers_per_reserve, 1, newcomer_most);
}

bool AddressShares::has_room(const Holders::value_type& holder, bool is_scarce) const {
  if (limits_.share_percent == 100) return true;
  const std::size_t held = holder.second.count;
  if (held >= share_max_) return false;
  return held < newcomer_max_ || (count_ < scarce_count_ && !is_scarce);
}

AddressShares::Guest::Guest(AddressShares& shares, const Endpoint& peer) : shares_(&shares) {
  const std::string address = share_address(peer);
  if (address.empty()) return;
  holder_ = &*shares.holders_.try_emplace(address).first;
  ++holder_->second.guest_count;
}

AddressShares::Guest& AddressShares::Guest::operator=(Guest&& other) noexcept {
  if (this == &other) return *this;
  leave();
  shares_ = std::exchange(other.shares_, nullptr);
  holder_ = std::exchange(other.holder_, nullptr);
  return *this;
}

bool AddressShares::Guest::may_take(bool is_scarce) {
  if (shares_ == nullptr) return true;
  const bool may = shares_->count_ < shares_->limits_.count_max &&
                   (holder_ == nullptr || shares_->has_room(*holder_, is_scarce));
  if (!may) ++shares_->refused_count_;
  return may;
}

void AddressShares::Guest::leave() {
  if (holder_ != nullptr && --holder_->second.guest_count == 0) {
    check(holder_->second.count == 0, "a guest gives back what it has taken");
    shares_->holders_.erase(shares_->holders_.find(holder_->first));
  }
  shares_ = nullptr;
  holder_ = nullptr;
}

}  // namespace corolane::net
