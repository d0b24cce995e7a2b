// SPDX-License-Identifier: MIT
// Without a lease the store decides whether what an object shows may leave the node.
#include "coroutine/base/text.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"

namespace corolane::framework::detail {

Result<void> ObjectCell::prove(Deadline deadline) {
  if (!is_owned()) return moved();
  if (has_lease()) return {};
  if (is_transient()) return resting();
  const std::uint64_t sequence = topic_ == nullptr ? 0 : topic_->position().sequence;
  const auto sealed = surroundings_.store.seal(key(), epoch_, deadline);
  if (sealed) {
    if (topic_ != nullptr) topic_->note_proven(sequence);
    return {};
  }
  if (sealed.error().code() == Code::aborted) {
    is_lost_ = true;
    return owned_by_another();
  }
  return Error(Code::unavailable, sealed.error().message())
      .with_retry_after(sealed.error().retry_after())
      .with_context("the directory does not answer, and the store proves nothing");
}

Error ObjectCell::resting() const {
  return Error(Code::unavailable, std::string(type_.name()) + " " + quote(id_) +
                                      " is transient and rests: the directory does not answer");
}

// Without a lease this concerns all that the node owns.
Error ObjectCell::owned_by_another() const {
  if (!has_lease()) surroundings_.owners.lose();
  return moved();
}

}  // namespace corolane::framework::detail
