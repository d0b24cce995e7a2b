// SPDX-License-Identifier: MIT
#include "framework/directory/detail/transaction.h"

#include <set>
#include <string>
#include <string_view>

namespace corolane::framework::detail {

Result<void> check_transaction(const Directory::Transaction& transaction) {
  constexpr std::size_t size_max = Directory::transaction_size_max;
  if (transaction.conditions.size() > size_max ||
      transaction.puts.size() + transaction.removals.size() > size_max) {
    return Error(Code::invalid_argument, "a transaction has at most " + std::to_string(size_max) +
                                             " conditions, and as many changes");
  }
  std::set<std::string_view> keys;
  for (const auto& put : transaction.puts) keys.insert(put.key);
  for (const auto& key : transaction.removals) keys.insert(key);
  if (keys.size() < transaction.puts.size() + transaction.removals.size()) {
    return Error(Code::invalid_argument, "a transaction changes a key once at most");
  }
  return {};
}

Result<void> check_read(std::span<const std::string> keys) {
  if (keys.size() <= Directory::transaction_size_max) return {};
  return Error(
      Code::invalid_argument,
      "a request reads at most " + std::to_string(Directory::transaction_size_max) + " keys");
}

Error lease_not_found(Directory::Lease lease) {
  return Error(Code::not_found, "lease " + std::to_string(lease) + " has ended");
}

}  // namespace corolane::framework::detail
