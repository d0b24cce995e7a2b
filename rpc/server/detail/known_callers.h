// The latest connection of each caller that sent a caller id.
//
// A caller that reconnects has abandoned the requests on its old connection: none of them may be
// executed after its new requests. An old connection may also arrive late, delayed on the way, when
// the newer one has come and gone; so a closed connection is remembered for a while.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "rpc/server/detail/server_connection.h"

namespace corolane::rpc::detail {

template <typename Connection>
class KnownCallersOf {
 public:
  // Returns the caller's previous open connection, which the server has to end; null when there is
  // none. Fails with aborted when a later one is known, with invalid_argument when it has no
  // number.
  Result<Connection*> opened(Connection& connection) {
    forget();
    const Caller& caller = connection.caller();
    if (caller.connection == 0) {
      return Error(Code::invalid_argument, "a caller counts its connections from 1");
    }
    Known& known = callers_[caller.id];
    if (known.number >= caller.connection) {
      return Error(Code::aborted, "a later connection of the same caller was here already");
    }
    known.number = caller.connection;
    return std::exchange(known.open, &connection);
  }

  void ended(const Connection& connection) {
    const auto known = callers_.find(connection.caller().id);
    if (known == callers_.end() || known->second.open != &connection) return;
    known->second.open = nullptr;
    known->second.ended_at = now();
    gone_.emplace_back(known->second.ended_at, known->first);
    forget();
  }

  std::size_t size() const { return callers_.size(); }

 private:
  // Longer than bytes are delayed between two live ends.
  static constexpr Duration memory_time = std::chrono::minutes(1);
  // The default limit of connections, at about a hundred bytes each.
  static constexpr std::size_t gone_count_max = 16'384;

  struct Known {
    std::uint64_t number = 0;  // Callers count from 1.
    Connection* open = nullptr;
    TimePoint ended_at{};
  };

  void forget() {
    const TimePoint time = now();
    while (!gone_.empty() &&
           (gone_.size() > gone_count_max || gone_.front().first + memory_time <= time)) {
      const auto& [ended_at, id] = gone_.front();
      const auto known = callers_.find(id);
      // The caller may have come back meanwhile, and even gone again.
      if (known != callers_.end() && known->second.open == nullptr &&
          known->second.ended_at == ended_at) {
        callers_.erase(known);
      }
      gone_.pop_front();
    }
  }

  std::unordered_map<std::string, Known> callers_;
  std::deque<std::pair<TimePoint, std::string>> gone_;  // In order of their end.
};

using KnownCallers = KnownCallersOf<ServerConnection>;

}  // namespace corolane::rpc::detail
