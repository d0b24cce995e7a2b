// SPDX-License-Identifier: MIT
#include "framework/objects/detail/object_history.h"

#include <algorithm>
#include <utility>

namespace corolane::framework::detail {
namespace {

// The beginning is the most useful part, and an error may contain a large text of a caller.
Error shortened(const Error& error) {
  return Error(error.code(), error.message().substr(0, ObjectHistory::error_bytes_max));
}

}  // namespace

ObjectHistory::Failures& ObjectHistory::failures() {
  if (failures_ == nullptr) failures_ = std::make_unique<Failures>();
  return *failures_;
}

std::uint32_t ObjectHistory::ticks_of(Duration duration) {
  using WideTicks = std::chrono::duration<std::int64_t, Ticks::period>;
  const auto ticks = std::chrono::duration_cast<WideTicks>(duration).count();
  return static_cast<std::uint32_t>(std::min<std::int64_t>(ticks, took_max));
}

void ObjectHistory::add_error(const char* method, const Error& error, TimePoint ended_at) {
  auto& kept = failures().of_calls;
  if (kept.size() == error_count_max) kept.erase(kept.begin());
  kept.push_back({.method = method, .error = shortened(error), .at = ended_at});
}

void ObjectHistory::add_failed_save(const Error& error, TimePoint at) {
  failures().of_save = Failure{.method = {}, .error = shortened(error), .at = at};
}

std::vector<ObjectHistory::Call> ObjectHistory::calls(TimePoint now) const {
  std::vector<Call> calls;
  for (std::size_t i = 1; i <= call_count_max; ++i) {
    const Entry& entry = entries_[(next_ + call_count_max - i) % call_count_max];
    if (entry.method == nullptr) break;
    calls.push_back({.method = entry.method,
                     .error = entry.outcome == 0 ? std::nullopt
                                                 : std::optional(static_cast<Code>(entry.outcome)),
                     .ago = Milliseconds(milliseconds_of(now) - entry.ended_at),
                     .took = Ticks(entry.took)});
  }
  return calls;
}

std::size_t ObjectHistory::extra_bytes() const {
  if (failures_ == nullptr) return 0;
  const auto bytes_of = [](const Failure& failure) {
    return failure.method.capacity() + failure.error.message().size();
  };
  // A vector doubles; an error and its text are allocated separately.
  constexpr std::size_t error_bytes = 128;
  std::size_t bytes = sizeof(Failures);
  for (const Failure& failure : failures_->of_calls) {
    bytes += 2 * sizeof(Failure) + error_bytes + bytes_of(failure);
  }
  if (failures_->of_save) bytes += error_bytes + bytes_of(*failures_->of_save);
  return bytes;
}

std::vector<ObjectHistory::Failure> ObjectHistory::errors() const {
  if (failures_ == nullptr) return {};
  return {failures_->of_calls.rbegin(), failures_->of_calls.rend()};
}

std::optional<ObjectHistory::Failure> ObjectHistory::failed_save() const {
  return failures_ == nullptr ? std::nullopt : failures_->of_save;
}

}  // namespace corolane::framework::detail
