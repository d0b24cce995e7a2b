// SPDX-License-Identifier: MIT
#include "framework/store/detail/refusals.h"

#include <string>

#include "coroutine/base/text.h"
#include "coroutine/task.h"

namespace corolane::framework::detail {
namespace {

// Ids can be long: errors show this much of one.
constexpr std::size_t shown_id_size_max = 64;

std::string name_of(const ObjectKey& key) {
  return std::string(key.type) + ' ' + quote(key.id.substr(0, shown_id_size_max));
}

std::string text_of(const RowMark& mark) {
  return "epoch " + std::to_string(mark.epoch) + ", version " + std::to_string(mark.version);
}

}  // namespace

Result<void> check_may_begin(Deadline deadline) {
  if (coroutine::is_cancelled())
    return Error(Code::cancelled, "cancelled before the call to the store");
  if (deadline.has_passed()) {
    return Error(Code::deadline_exceeded, "the deadline passed before the call to the store");
  }
  return {};
}

Error sealed_by_later_owner(const ObjectKey& key, std::uint64_t found, std::uint64_t epoch) {
  return Error(Code::aborted, name_of(key) + " is sealed by epoch " + std::to_string(found) +
                                  ", later than " + std::to_string(epoch) +
                                  ": it has another owner by now");
}

Error not_to_be_replaced(const ObjectKey& key, const RowMark& found, const RowMark& expected) {
  return Error(Code::aborted, name_of(key) + " has " + text_of(found) + ", where " +
                                  text_of(expected) + " was to be replaced: nothing was written");
}

}  // namespace corolane::framework::detail
