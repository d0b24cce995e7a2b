// SPDX-License-Identifier: MIT
#include "tools/corolane/bench/load.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "rpc/client/client.h"
#include "tools/corolane/on_network.h"
#include "tools/corolane/remote_method.h"
#include "tools/corolane/remote_server.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli::bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

using google::protobuf::Message;

// How often the stop flag is checked.
constexpr Duration look_interval = 50ms;
constexpr Duration last_replies_time = 1s;

class Run {
 public:
  Run(const Load& load, const std::atomic<bool>& stops, Tally& tally,
      const std::function<void(const Progress&)>& tell)
      : load_(load), stops_(stops), tally_(tally), tell_(tell) {}

  // Finds the method, and checks that the first request fits it.
  std::expected<void, Failure> prepare(net::Network& network) {
    auto server = RemoteServer::connect(network, load_.peer);
    if (!server) return std::unexpected(server.error());
    auto entry = server->find_method(load_.method);
    if (!entry) return std::unexpected(entry.error());
    entry_ = *std::move(entry);
    if (auto fits = check_object(entry_, server->service_of(entry_), load_.object.has_value());
        !fits) {
      return fits;
    }
    if (entry_.client_streaming() || entry_.server_streaming()) {
      return misused("corolane: " + entry_.full_name() +
                     " is a stream, which bench does not support");
    }
    if (auto described = server->describe(entry_, types_); !described) return described;
    const auto type = types_.find(entry_.request_type());
    if (!type) return failed("corolane: " + type.error().message());
    auto first = request_of(0);
    if (!first) return std::unexpected(no_fit(first.error(), types_, **type));
    if (load_.request.is_same_for_all()) common_ = *std::move(first);
    method_ = calling_side_of(entry_, load_.timeout);
    return connect(network);
  }

  Ran run() {
    begin_ = now();
    coroutine::TaskGroup calls;
    send_all(calls);
    Deadline end = Deadline::never();
    while (calls.size() > 0 && !end.has_passed()) {
      if (stops_ && end.is_never()) end = Deadline::after(last_replies_time);
      static_cast<void>(calls.join(earlier(end, next_look())));
      tell_if_due(calls.size());
    }
    const std::size_t unanswered = calls.size();
    const double seconds = seconds_since_begin();
    gives_up_ = true;
    calls.cancel_and_join();
    return {.method = entry_.full_name(),
            .rate = load_.rate,
            .seconds = seconds,
            .unanswered = unanswered};
  }

 private:
  std::expected<void, Failure> connect(net::Network& network) {
    rpc::Client::Options options;
    options.pending_count_max = under_way_max;
    for (std::size_t i = 0; i < load_.connections; ++i) {
      auto client = connect_to_peer(network, load_.peer, options);
      if (!client) return std::unexpected(client.error());
      clients_.push_back(*std::move(client));
    }
    return {};
  }

  Result<std::unique_ptr<Message>> request_of(std::uint64_t number) {
    auto request = types_.make(entry_.request_type());
    if (!request) return request.error();
    if (auto read = read_json(load_.request.of(number), **request); !read) return read.error();
    return request;
  }

  void send_all(coroutine::TaskGroup& calls) {
    const auto total = static_cast<std::uint64_t>(
        load_.rate * std::chrono::duration<double>(load_.duration).count());
    for (std::uint64_t number = 0; number < std::max<std::uint64_t>(total, 1) && !stops_;) {
      const TimePoint due = due_at(number);
      if (due > now()) {
        static_cast<void>(coroutine::sleep_until(earlier(Deadline::at(due), next_look())));
        tell_if_due(calls.size());
        continue;
      }
      send(calls, number++, due);
      // Calls that are behind schedule must not keep replies from being read.
      if (number % 64 == 0) static_cast<void>(coroutine::yield());
    }
  }

  void send(coroutine::TaskGroup& calls, std::uint64_t number, TimePoint due) {
    const bool has_room = calls.size() < under_way_max;
    if (!has_room || !calls.spawn("call", [this, number, due] { call(number, due); })) {
      tally_.count_unsent();
    }
  }

  void call(std::uint64_t number, TimePoint due) {
    const TimePoint sent = now();
    const Result<void> outcome = call_once(number);
    if (!gives_up_) tally_.count(due, sent, now(), outcome);
  }

  Result<void> call_once(std::uint64_t number) {
    std::unique_ptr<Message> own;
    if (common_ == nullptr) {
      auto request = request_of(number);
      if (!request) return request.error();
      own = *std::move(request);
    }
    const auto reply = types_.make(entry_.reply_type());
    if (!reply) return reply.error();
    const std::string id = load_.object ? load_.object->of(number) : "";
    const rpc::ObjectTarget object = {.id = id};
    const rpc::CallOptions options = {.object = load_.object ? &object : nullptr};
    const Message& request = own ? *own : *common_;
    rpc::Client& client = *clients_[number % clients_.size()];
    return entry_.one_way() ? client.notify(method_, request, options)
                            : client.call(method_, request, **reply, options);
  }

  TimePoint due_at(std::uint64_t number) const {
    const std::chrono::duration<double> delay(static_cast<double>(number) / load_.rate);
    return begin_ + std::chrono::duration_cast<Duration>(delay);
  }
  static Deadline next_look() { return Deadline::after(look_interval); }
  double seconds_since_begin() const {
    return std::chrono::duration<double>(now() - begin_).count();
  }
  void tell_if_due(std::size_t under_way) {
    if (seconds_since_begin() < static_cast<double>(told_ + 1)) return;
    ++told_;
    tell_({.seconds = seconds_since_begin(), .under_way = under_way, .tally = tally_});
  }

  const Load& load_;
  const std::atomic<bool>& stops_;
  Tally& tally_;
  const std::function<void(const Progress&)>& tell_;
  RemoteTypes types_;
  rpc::MethodEntry entry_;
  rpc::Method method_{};
  std::unique_ptr<Message> common_;  // The request, if it is the same for all calls.
  std::vector<std::unique_ptr<rpc::Client>> clients_;
  TimePoint begin_{};
  std::uint64_t told_ = 0;
  bool gives_up_ = false;
};

}  // namespace

std::expected<Ran, Failure> run_load(net::Network& network, const Load& load,
                                     const std::atomic<bool>& stops, Tally& tally,
                                     const std::function<void(const Progress&)>& tell) {
  Run run(load, stops, tally, tell);
  if (auto prepared = run.prepare(network); !prepared) return std::unexpected(prepared.error());
  return run.run();
}

}  // namespace corolane::tools::cli::bench
