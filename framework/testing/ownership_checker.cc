// SPDX-License-Identifier: MIT
// Records the replies, writes and results of each object, and compares them.
#include "framework/testing/ownership_checker.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace corolane::sim {
namespace {

std::string name_of(std::string_view type, std::string_view id) {
  return std::string(type) + " \"" + std::string(id) + "\"";
}

std::string request(const std::pair<std::string, std::uint64_t>& id) {
  return "request " + std::to_string(id.second) + " of " + id.first;
}

}  // namespace

void OwnershipChecker::on_reply(std::uint64_t process, const framework::OwnerReply& reply) {
  ++statistics_.reply_count;
  const std::string name = name_of(reply.type, reply.id);
  Object& object = objects_[name];
  const std::uint64_t epoch = reply.epoch;
  if (reply.proof == framework::Proof::lease) check_by_lease(name, object, reply);
  // A proof counts when the store accepts it, and the reply may leave after one of the next owner.
  if (reply.proof == framework::Proof::question && !take_answer(object, epoch)) {
    violated("I1", name, "replied under epoch " + std::to_string(epoch) + " without a proof");
  }
  if (epoch == object.replied_epoch && process != object.replied_by) {
    violated("I1", name, "two processes replied under epoch " + std::to_string(epoch));
  }
  if (epoch >= object.replied_epoch) {
    object.replied_epoch = epoch;
    object.replied_by = process;
  }
  if (const rpc::RequestId& id = reply.request_id) {
    Seen& seen = object.replies[{std::string(id.caller), id.sequence}];
    seen = {.epoch = std::max(seen.epoch, epoch), .version = std::max(seen.version, reply.version)};
  }
}

// Each answer of the store is for one reply, while a write may be for several.
bool OwnershipChecker::take_answer(Object& object, std::uint64_t epoch) {
  std::uint64_t& left = object.answers[epoch];
  if (left == 0) return false;
  --left;
  return true;
}

void OwnershipChecker::check_by_lease(const std::string& name, const Object& object,
                                      const framework::OwnerReply& reply) {
  const std::uint64_t epoch = reply.epoch;
  if (epoch < object.replied_epoch) {
    violated("I1", name,
             "replied under epoch " + std::to_string(epoch) + " after " +
                 std::to_string(object.replied_epoch));
  }
  const std::uint64_t owner = owner_of_(reply.partition);
  if (owner != epoch) {
    violated("I1", name,
             "replied under epoch " + std::to_string(epoch) + " while the directory has " +
                 (owner == 0 ? "no owner" : std::to_string(owner)));
  }
  if (reply.version < object.version && object.version_epoch != epoch) {
    violated("I8", name,
             "version " + std::to_string(reply.version) + " is replied under epoch " +
                 std::to_string(epoch) + ", but " + std::to_string(object.version) +
                 " is stored by epoch " + std::to_string(object.version_epoch));
  }
}

void OwnershipChecker::on_call_out(const framework::OwnerCall& call) {
  if (call.is_proven) return;
  const std::uint64_t owner = owner_of_(call.partition);
  if (owner == call.epoch) return;
  violated("I1", name_of(call.type, call.id),
           "calls another object under epoch " + std::to_string(call.epoch) +
               " while the directory has " + (owner == 0 ? "no owner" : std::to_string(owner)));
}

void OwnershipChecker::on_sealed(const framework::ObjectKey& key, std::uint64_t epoch) {
  ++statistics_.seal_count;
  const std::string name = name_of(key.type, key.id);
  Object& object = objects_[name];
  reach(name, object, epoch, "sealed");
  ++object.answers[epoch];
}

// The store has accepted this epoch: it must not have seen a later one.
void OwnershipChecker::reach(const std::string& name, Object& object, std::uint64_t epoch,
                             std::string_view what) {
  if (epoch < object.written_epoch) {
    violated("I2", name,
             std::string(what) + " by epoch " + std::to_string(epoch) + " after " +
                 std::to_string(object.written_epoch));
  }
  object.written_epoch = std::max(object.written_epoch, epoch);
}

void OwnershipChecker::on_written(const framework::ObjectKey& key, std::uint64_t epoch,
                                  std::uint64_t version, std::string_view bytes) {
  ++statistics_.write_count;
  const std::string name = name_of(key.type, key.id);
  Object& object = objects_[name];
  reach(name, object, epoch, "written");
  // After a loss, versions are skipped that lost writes may have had.
  if (version != object.version + 1 && (!object.was_set_back || version <= object.version)) {
    violated("I2", name,
             "version " + std::to_string(version) + " follows " + std::to_string(object.version));
  }
  object.version = version;
  object.version_epoch = epoch;
  learn_requests(name, object, bytes);
}

void OwnershipChecker::on_set_back(const framework::MemoryStore& table) {
  std::map<std::string, framework::MemoryStore::Row> rows;
  table.for_each([&](const framework::ObjectKey& key, const framework::MemoryStore::Row& row) {
    rows.emplace(name_of(key.type, key.id), row);
  });
  for (auto& [name, object] : objects_) {
    const framework::MemoryStore::Row& row = rows[name];
    const std::uint64_t version = row.object.version;
    object.written_epoch = std::min(object.written_epoch, row.epoch);
    if (version >= object.version) continue;
    object.was_set_back = true;
    object.version = version;
    object.version_epoch = std::min(object.version_epoch, row.epoch);
    std::erase_if(object.known, [&](const auto& entry) {
      if (entry.second <= version) return false;
      object.lost.insert(entry.first);
      return true;
    });
    framework::ObjectRecord record;
    record.ParseFromString(row.object.bytes);
    object.callers.clear();
    for (const framework::AppliedCaller& caller : record.callers()) {
      object.callers[caller.caller()] = {.last = caller.last(),
                                         .time_milliseconds = caller.time_milliseconds()};
    }
  }
}

std::size_t OwnershipChecker::request_count(const framework::ObjectKey& key) const {
  const auto found = objects_.find(name_of(key.type, key.id));
  return found == objects_.end() ? 0 : found->second.known.size();
}

// Checks I4, and collects the stored requests for I3.
void OwnershipChecker::learn_requests(const std::string& name, Object& object,
                                      std::string_view bytes) {
  framework::ObjectRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return violated("I2", name, "the stored bytes are not a record");
  }
  for (const framework::AppliedCaller& caller : record.callers()) {
    Applied& before = object.callers[caller.caller()];
    const Applied applied{.last = caller.last(), .time_milliseconds = caller.time_milliseconds()};
    if (applied.last == before.last && applied.time_milliseconds == before.time_milliseconds) {
      continue;
    }
    const RequestId id{caller.caller(), applied.last};
    const auto [place, is_new] = object.known.emplace(id, object.version);
    if (!is_new) {
      violated("I4", name,
               request(id) + " took effect in version " + std::to_string(place->second) +
                   " and again in " + std::to_string(object.version));
    } else if (applied.last < before.last) {
      violated("I4", name, request({caller.caller(), before.last}) + " is forgotten");
    }
    before = applied;
  }
  find_forgotten(name, object, record);
}

// An object may forget requests beyond its memory time when another request takes effect.
void OwnershipChecker::find_forgotten(const std::string& name, Object& object,
                                      const framework::ObjectRecord& record) {
  if (object.callers.size() == static_cast<std::size_t>(record.callers_size())) return;
  std::set<std::string_view> present;
  std::int64_t newest = 0;
  for (const framework::AppliedCaller& caller : record.callers()) {
    present.insert(caller.caller());
    newest = std::max(newest, caller.time_milliseconds());
  }
  const auto horizon = std::chrono::milliseconds(rpc::RequestId::memory_time).count();
  std::erase_if(object.callers, [&](const auto& entry) {
    const auto& [caller, applied] = entry;
    if (present.contains(caller)) return false;
    if (newest - applied.time_milliseconds < horizon) {
      violated("I4", name, request({caller, applied.last}) + " is forgotten");
    }
    return true;
  });
}

void OwnershipChecker::on_call(const framework::CallRecord& record) {
  if (record.failure || record.sequence == 0) return;
  ++statistics_.call_count;
  const std::string_view method = record.method->full_name;
  const std::string name = name_of(method.substr(0, method.find('/')), record.object);
  Object& object = objects_[name];
  const RequestId id{std::string(record.caller), record.sequence};
  if (record.method->durable && !object.known.contains(id) && !object.lost.contains(id)) {
    violated("I3", name,
             std::string(method) + ", " + request(id) + ", was answered but is not stored");
  }
  const auto reply = object.replies.find(id);
  if (reply == object.replies.end()) {
    return violated("I7", name, request(id) + " was answered without a reply of an owner");
  }
  const Seen seen = reply->second;
  object.replies.erase(reply);
  // The answers that other callers had when this call began.
  const auto after = std::ranges::lower_bound(object.heard, record.begin, {}, &Heard::end);
  if (after != object.heard.begin()) {
    const Seen& past = std::prev(after)->highest;
    if (seen.epoch < past.epoch) {
      violated("I7", name,
               request(id) + " was answered under epoch " + std::to_string(seen.epoch) + " after " +
                   std::to_string(past.epoch));
    }
    if (seen.version < past.version && !object.was_set_back) {
      violated("I8", name,
               request(id) + " saw version " + std::to_string(seen.version) + " after " +
                   std::to_string(past.version));
    }
  }
  Seen highest = seen;
  if (!object.heard.empty()) {
    const Seen& before = object.heard.back().highest;
    highest = {.epoch = std::max(seen.epoch, before.epoch),
               .version = std::max(seen.version, before.version)};
  }
  object.heard.push_back({.end = record.end, .highest = highest});
}

}  // namespace corolane::sim
