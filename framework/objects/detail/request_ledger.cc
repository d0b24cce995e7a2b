// SPDX-License-Identifier: MIT
#include "framework/objects/detail/request_ledger.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "coroutine/base/text.h"

namespace corolane::framework::detail {
namespace {

using rpc::RequestId;

// The list node, the place in the table, and the allocator's overhead.
constexpr std::size_t overhead_bytes = 80;

Error forgotten(const RequestId& id, const std::string& what) {
  return Error(Code::failed_precondition,
               "request " + std::to_string(id.sequence) + " of " + quote(id.caller) + " " + what)
      .with_maybe_executed();
}

}  // namespace

Error request_id_too_long(const RequestId& id) {
  const auto too_long = [](const char* part, std::size_t bytes_max) {
    return Error(Code::invalid_argument, std::string("the ") + part +
                                             " of a request id has at most " +
                                             std::to_string(bytes_max) + " bytes");
  };
  if (id.caller.size() > RequestId::caller_bytes_max) {
    return too_long("caller", RequestId::caller_bytes_max);
  }
  return too_long("scope", RequestId::scope_bytes_max);
}

Result<const std::string*> RequestLedger::find(const RequestId& id, std::uint64_t method,
                                               WallTime now) const {
  const auto found = places_.find(id);
  if (found == places_.end()) {
    if (entries_.size() < options_.caller_count_max || !is_young(entries_.front(), now)) {
      return nullptr;
    }
    return Error(Code::resource_exhausted, "the object remembers requests of " +
                                               std::to_string(entries_.size()) +
                                               " callers, and has no room for " + quote(id.caller))
        .with_retry_after(
            std::max(entries_.front().time + options_.horizon - now, std::chrono::milliseconds(1)))
        .with_not_executed();
  }
  const Entry& entry = **found;
  if (id.sequence > entry.last) return nullptr;
  static const std::string empty_reply;
  if (id.sequence < entry.last && options_.is_in_order) return &empty_reply;
  if (id.sequence < entry.last) return forgotten(id, "is older than the last remembered one");
  if (entry.method != 0 && entry.method != method) {
    return Error(Code::invalid_argument, "request " + std::to_string(id.sequence) + " of " +
                                             quote(id.caller) + " belongs to another method")
        .with_not_executed();
  }
  if (entry.has_failed) {
    return forgotten(id, "has failed after a part of it had taken effect: " + entry.reply);
  }
  if (!entry.has_reply) return forgotten(id, "has taken effect; its reply was dropped");
  return &entry.reply;
}

void RequestLedger::add(const RequestId& id, std::uint64_t method, std::string reply,
                        WallTime now) {
  Entry* const entry = note(id, method, now);
  if (entry == nullptr) return;
  set_reply(*entry, std::move(reply));
  forget_replies();
}

void RequestLedger::add_failed(const RequestId& id, std::uint64_t method, const Error& error,
                               WallTime now) {
  constexpr std::size_t bytes_max = 256;
  Entry* const entry = note(id, method, now);
  if (entry == nullptr) return;
  set_failure(*entry, error.to_string().substr(0, bytes_max));
  forget_replies();
}

// Null when a later call of that caller is noted: a slow handler may end after that one's.
RequestLedger::Entry* RequestLedger::note(const RequestId& id, std::uint64_t method, WallTime now) {
  const auto found = places_.find(id);
  if (found != places_.end() && (*found)->last > id.sequence) return nullptr;
  Entry& entry = renew(id);
  entry.last = id.sequence;
  entry.method = method;
  entry.time = now;
  while (!is_young(entries_.front(), now)) forget_oldest();
  return &entry;
}

// Moves the caller's entry to the end; creates a missing entry.
RequestLedger::Entry& RequestLedger::renew(const RequestId& id) {
  if (const auto found = places_.find(id); found != places_.end()) {
    entries_.splice(entries_.end(), entries_, *found);
    return entries_.back();
  }
  Entry& added = entries_.emplace_back();
  added.name.reserve(id.scope.size() + id.caller.size());
  added.name.append(id.scope).append(id.caller);
  added.scope_size = id.scope.size();
  places_.insert(std::prev(entries_.end()));
  bytes_ += sizeof(Entry) + overhead_bytes + added.name.size();
  return added;
}

void RequestLedger::set_reply(Entry& entry, std::string reply) {
  forget_reply(entry);
  entry.reply = std::move(reply);
  entry.has_reply = true;
  reply_bytes_ += entry.reply.size();
  bytes_ += entry.reply.size();
}

void RequestLedger::set_failure(Entry& entry, std::string error) {
  set_reply(entry, std::move(error));
  entry.has_reply = false;
  entry.has_failed = true;
}

void RequestLedger::forget_reply(Entry& entry) {
  reply_bytes_ -= entry.reply.size();
  bytes_ -= entry.reply.size();
  entry.reply = std::string();
  entry.has_reply = entry.has_failed = false;
}

void RequestLedger::forget_oldest() {
  Entry& oldest = entries_.front();
  forget_reply(oldest);
  bytes_ -= sizeof(Entry) + overhead_bytes + oldest.name.size();
  places_.erase(entries_.begin());
  entries_.pop_front();
}

void RequestLedger::forget_replies() {
  for (Entry& entry : entries_) {
    if (reply_bytes_ <= options_.reply_bytes_max || &entry == &entries_.back()) return;
    forget_reply(entry);
  }
}

bool RequestLedger::has_other_than(std::string_view caller) const {
  return std::ranges::any_of(entries_,
                             [caller](const Entry& entry) { return entry.caller() != caller; });
}

void RequestLedger::forget_all_but(std::size_t count) {
  while (entries_.size() > count) forget_oldest();
}

void RequestLedger::load(const AppliedCaller& caller, WallTime now) {
  Entry& entry =
      renew({.caller = caller.caller(), .sequence = caller.last(), .scope = caller.scope()});
  entry.last = caller.last();
  entry.method = caller.method();
  const WallTime noted{std::chrono::milliseconds(caller.time_milliseconds())};
  // A time far in the future would keep the entry forever.
  const bool is_usable = noted != WallTime{} && noted <= now + options_.horizon;
  entry.time = is_usable ? noted : now;
  const auto reply = std::ranges::find(caller.replies(), caller.last(), &AppliedReply::sequence);
  if (reply != caller.replies().end()) set_reply(entry, reply->reply());
  if (!caller.failure().empty()) set_failure(entry, caller.failure());
}

void RequestLedger::append_to(std::string& record) const {
  // One message is reused for all entries: the fields of a record may come in any order.
  ObjectRecord part;
  AppliedCaller& caller = *part.add_callers();
  for (const Entry& entry : entries_) {
    caller.set_caller(entry.caller().data(), entry.caller().size());
    caller.set_scope(entry.scope().data(), entry.scope().size());
    caller.set_last(entry.last);
    caller.set_method(entry.method);
    caller.set_time_milliseconds(entry.time.time_since_epoch().count());
    caller.clear_replies();
    caller.clear_failure();
    if (entry.has_failed) caller.set_failure(entry.reply);
    if (entry.has_reply) {
      AppliedReply& reply = *caller.add_replies();
      reply.set_sequence(entry.last);
      reply.set_reply(entry.reply);
    }
    part.AppendToString(&record);
  }
}

}  // namespace corolane::framework::detail
