// SPDX-License-Identifier: MIT
// The calls with a request id that have taken effect on an object, and their replies. The ledger is
// stored with the object's state, so a retried call takes effect once.
//
// A caller makes one call at a time, so its last call is enough. Entries expire only by age: an
// entry younger than the horizon is never evicted for another one. When there is no room, the call
// of a new caller is refused before any of it is executed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <unordered_set>

#include "coroutine/base/result.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/objects.pb.h"
#include "rpc/object_target.h"

namespace corolane::framework::detail {

Error request_id_too_long(const rpc::RequestId& id);
// Fails with invalid_argument when the id is longer than an object would store.
inline Result<void> check_request_id(const rpc::RequestId& id) {
  const bool fits = id.caller.size() <= rpc::RequestId::caller_bytes_max &&
                    id.scope.size() <= rpc::RequestId::scope_bytes_max;
  if (fits) [[likely]]
    return {};
  return request_id_too_long(id);
}

class RequestLedger {
 public:
  struct Options {
    // In wall-clock time, since the ledger moves between nodes. No router retries a call for longer
    // than RequestId::retry_time_max, so clock differences of minutes are harmless.
    std::chrono::milliseconds horizon = rpc::RequestId::memory_time;
    // Each caller adds about 100 bytes to every write of the object. Writing a full ledger still
    // takes less time than the store's commit.
    std::size_t caller_count_max = 4'096;
    // The total size of all replies. The oldest are dropped first: a retry of such a call learns
    // that it has taken effect, but not its reply. The newest reply is always kept.
    std::size_t reply_bytes_max = std::size_t{256} << 10;
    // A caller begins a call when the one before it was answered, with an empty reply. So an older
    // call than its last one has taken effect, too.
    bool is_in_order = false;

    // For calls from outboxes, which are delivered for as long as it takes: after an outage of more
    // than a day one of them could be executed again. There are more senders than clients, and
    // their replies are empty.
    static Options of_outboxes() {
      return {.horizon = std::chrono::hours(24), .caller_count_max = 16'384, .is_in_order = true};
    }
  };

  RequestLedger() : RequestLedger(Options{}) {}
  explicit RequestLedger(const Options& options) : options_(options) {}
  RequestLedger(const RequestLedger&) = delete;
  RequestLedger& operator=(const RequestLedger&) = delete;

  // Looks up a call of the method with that id (rpc::Method). Returns its first reply if it has
  // taken effect, null if it may run. Otherwise the call must not run. The error is
  // failed_precondition with maybe_executed when a later call of that caller has taken effect, the
  // call has failed, or its reply was dropped, invalid_argument when the request id belongs to a
  // call of another method, and resource_exhausted while there is no room for another caller.
  Result<const std::string*> find(const rpc::RequestId& id, std::uint64_t method,
                                  WallTime now) const;
  // Records that the call has taken effect now. Overlapping calls may all have found the last free
  // place: all are added.
  void add(const rpc::RequestId& id, std::uint64_t method, std::string reply, WallTime now);
  // Records that the call has failed now, and that what it has changed stays: there is no reply.
  void add_failed(const rpc::RequestId& id, std::uint64_t method, const Error& error, WallTime now);

  // Loads an entry of an earlier owner. One without a time, or with one far in the future, gets the
  // present time.
  void load(const AppliedCaller& caller, WallTime now);
  // Appends its fields to a serialised ObjectRecord.
  void append_to(std::string& record) const;

  // The approximate memory it takes, which is more than its part of a record.
  std::size_t bytes() const { return bytes_; }
  std::size_t caller_count() const { return entries_.size(); }
  // Whether it has calls of any other caller.
  bool has_other_than(std::string_view caller) const;
  // Drops the oldest callers, however young, until `count` are left: a bug that tests seed on
  // purpose (framework/cluster/detail/seeded_bugs.h).
  void forget_all_but(std::size_t count);

 private:
  struct Entry {
    std::string name;  // The scope, then the caller.
    std::size_t scope_size = 0;
    std::uint64_t last = 0;
    std::uint64_t method = 0;
    WallTime time{};
    bool has_reply = false;
    bool has_failed = false;
    std::string reply;  // Or the error of the call.

    std::string_view scope() const { return std::string_view(name).substr(0, scope_size); }
    std::string_view caller() const { return std::string_view(name).substr(scope_size); }
  };
  using Place = std::list<Entry>::iterator;
  struct Name {
    std::string_view scope;
    std::string_view caller;
    bool operator==(const Name&) const = default;
  };
  static Name name_of(const Place& place) { return {place->scope(), place->caller()}; }
  static Name name_of(const rpc::RequestId& id) { return {id.scope, id.caller}; }
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& named) const {
      const Name name = name_of(named);
      const std::hash<std::string_view> hash;
      return hash(name.scope) * 31 + hash(name.caller);
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& one, const auto& other) const {
      return name_of(one) == name_of(other);
    }
  };

  bool is_young(const Entry& entry, WallTime now) const {
    return now - entry.time < options_.horizon;
  }
  Entry* note(const rpc::RequestId& id, std::uint64_t method, WallTime now);
  Entry& renew(const rpc::RequestId& id);
  void set_reply(Entry& entry, std::string reply);
  void set_failure(Entry& entry, std::string error);
  void forget_reply(Entry& entry);
  void forget_oldest();
  void forget_replies();

  Options options_;
  std::list<Entry> entries_;  // The latest to take effect comes last.
  std::unordered_set<Place, Hash, Equal> places_;
  std::size_t reply_bytes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace corolane::framework::detail
