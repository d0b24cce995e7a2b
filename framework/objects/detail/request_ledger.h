// Which calls with a request id have taken effect on an object, and what they were replied: part of
// what the object keeps, and stored with it, so that a call that is made again takes effect once.
//
// A caller makes one call after the other, so the last one of each is all that has to be known. It
// is forgotten by time alone: what is younger than the horizon is never given up for another one.
// When there is no room the call of a new caller is refused before anything of it is executed.
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
// Fails with invalid_argument when it is longer than an object would keep.
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
    // By the time of day, since it goes from node to node. No router tries a call again for longer
    // than RequestId::retry_time_max, so clocks that differ by minutes do no harm.
    std::chrono::milliseconds horizon = rpc::RequestId::memory_time;
    // Each takes about 100 bytes of every write of the object: with all of them a write still takes
    // less than the store needs to be sure of it.
    std::size_t caller_count_max = 4'096;
    // Of all replies. The oldest are forgotten first: whoever asks for such a one again is told
    // that his call has taken effect, and not what it was replied. The newest is kept in any case.
    std::size_t reply_bytes_max = std::size_t{256} << 10;
  };

  RequestLedger() : RequestLedger(Options{}) {}
  explicit RequestLedger(const Options& options) : options_(options) {}
  RequestLedger(const RequestLedger&) = delete;
  RequestLedger& operator=(const RequestLedger&) = delete;

  // Of a call of the method with that id (rpc::Method): the first reply if it has taken effect,
  // null if it has not and may. Otherwise it may not run: failed_precondition, which
  // maybe_executed, when a later one of that caller has taken effect, or the reply is forgotten;
  // invalid_argument when it was a call of another method; resource_exhausted while there is no
  // room for one more caller.
  Result<const std::string*> find(const rpc::RequestId& id, std::uint64_t method,
                                  WallTime now) const;
  // It has taken effect now. Calls that overlap may all have found the last room: all are added.
  void add(const rpc::RequestId& id, std::uint64_t method, std::string reply, WallTime now);

  // What an earlier owner has stored. What has no time, or one that is far ahead, is of now.
  void load(const ObjectRecord& record, WallTime now);
  // Appends its fields to a serialised ObjectRecord.
  void append_to(std::string& record) const;

  // About what it takes in memory, which is more than in a record.
  std::size_t bytes() const { return bytes_; }
  std::size_t caller_count() const { return entries_.size(); }
  // Forgets the callers that called first, until so many are left, however young: a mistake that
  // tests make on purpose (framework/cluster/seeded_bugs.h).
  void forget_all_but(std::size_t count);

 private:
  struct Entry {
    std::string name;  // The scope, then the caller.
    std::size_t scope_size = 0;
    std::uint64_t last = 0;
    std::uint64_t method = 0;
    WallTime time{};
    bool has_reply = false;
    std::string reply;

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
  Entry& renew(const rpc::RequestId& id);
  void set_reply(Entry& entry, std::string reply);
  void forget_reply(Entry& entry);
  void forget_oldest();
  void forget_replies();

  Options options_;
  std::list<Entry> entries_;  // That which took effect last comes last.
  std::unordered_set<Place, Hash, Equal> places_;
  std::size_t reply_bytes_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace corolane::framework::detail
