// A method as a server has it: who serves it, and what came of its calls.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

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
  std::string_view task_name;  // As much of its name as tells it from others.
  Service* service;
  bool is_for_clients;                  // Peers behind Door::clients may call it.
  Server::MethodStatistics statistics;  // But for the cost, which the meter has.
  Admission::Share waiting = {};
  MethodMeter meter = {};
};

// All methods of a server. Each stays where it is.
class ServedMethods {
 public:
  // Two methods of the same id are already_exists, and nothing is added.
  Result<void> add(Service& service, Server::Audience audience);

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
  // By the low bits of the id, which is a good hash, or the next free place behind them: at most
  // half full, a power of two.
  std::vector<ServedMethod*> by_id_;
};

struct Observer {
  ServerObserver look;
  const CallBar* bar;  // Null when it wants all.

  bool wants(Context& call, const Result<void>& outcome) const {
    if (!outcome || bar == nullptr) return true;
    const TimePoint ended_at = call.returned_at();
    return ended_at - call.arrived_at() > bar->took_max || ended_at >= bar->ends_before;
  }
};

// What is around all handlers of a server.
struct Around {
  std::vector<ServerFilter> filters;
  std::vector<Observer> observers;
};

// The handler with all of it. Suspends; an exception that escapes any of them is `internal`, and
// sets `threw`.
Result<void> serve_call(const Around& around, const ServedMethod& served,
                        const google::protobuf::Message& request, Context& context, ReplySink& sink,
                        bool& threw);

}  // namespace detail
}  // namespace corolane::rpc
