// SPDX-License-Identifier: MIT
// A method of a server: the service that serves it, and its statistics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "rpc/filter.h"
#include "rpc/server/detail/admission.h"
#include "rpc/server/server.h"
#include "rpc/service.h"

namespace corolane::rpc {

class RequestExtension;

namespace detail {

struct ServedMethod {
  const Method* method;
  std::string_view task_name;  // The distinctive end of its name.
  Service* service;
  bool is_for_clients;                  // Peers behind Door::clients may call it.
  Server::MethodStatistics statistics;  // Except the cost, which `meter` has.
  std::size_t stack_size_bytes;         // Of the tasks that run its handlers.
  Admission::Share waiting = {};
  MethodMeter meter = {};
};

// The deadline of a call from behind `door`: clients get no more than the method allows.
inline Deadline bounded(Deadline own, const Method& method, Door door, TimePoint arrived_at) {
  if (door == Door::nodes) return own;
  return earlier(own, Deadline::at(arrived_at + std::max(method.timeout, method.timeout_max)));
}

// All methods of a server, at stable addresses.
class ServedMethods {
 public:
  // Fails with already_exists, and adds nothing, when two methods have the same id.
  Result<void> add(Service& service, Server::Audience audience, const StackSizes& stack_sizes);

  // Null when there is none.
  ServedMethod* find(std::uint64_t id) const {
    if (by_id_.empty()) return nullptr;
    std::size_t place = id & (by_id_.size() - 1);
    while (by_id_[place] != nullptr && by_id_[place]->method->id != id) {
      place = (place + 1) & (by_id_.size() - 1);
    }
    return by_id_[place];
  }
  ServedMethod* find(std::string_view full_name) const;

  const std::vector<std::unique_ptr<ServedMethod>>& all() const { return all_; }
  const std::vector<const Service*>& services() const { return services_; }

 private:
  void index_all();

  std::vector<const Service*> services_;
  std::vector<std::unique_ptr<ServedMethod>> all_;
  // A hash table with linear probing on the low bits of the id, which is a good hash. Its size is a
  // power of two, and it is at most half full.
  std::vector<ServedMethod*> by_id_;
};

struct Observer {
  ServerObserver look;
  const CallBar* bar;  // Null when it wants all calls.

  bool wants(Context& call, const Result<void>& outcome) const {
    if (!outcome || bar == nullptr) return true;
    const TimePoint ended_at = call.returned_at();
    return ended_at - call.arrived_at() > bar->took_max || ended_at >= bar->ends_before;
  }
};

// The filters and observers around all handlers of a server.
struct Around {
  std::vector<ServerFilter> filters;
  bool keeps_replies = false;  // One of the filters sees them.
  std::vector<Observer> observers;
};

// Runs the handler with its filters and observers. Suspends. An exception that escapes any of them
// becomes `internal`, and sets `threw`.
Result<void> serve_call(const Around& around, const ServedMethod& served,
                        const google::protobuf::Message& request, Context& context, Messages& sink,
                        bool& threw);

}  // namespace detail
}  // namespace corolane::rpc
