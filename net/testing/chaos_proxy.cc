// SPDX-License-Identifier: MIT
// Accepts a connection, draws its fate, connects to the target, and hands over to a ChaosLink.
#include "net/testing/chaos_proxy.h"

#include <map>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task_group.h"
#include "net/testing/chaos_link.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using Kind = ChaosEvent::Kind;

// Adjacent seeds and connections get unrelated random sources.
Random random_of_connection(std::uint64_t seed, std::uint64_t number) {
  return Random((seed ^ number << 32) * 0x9e3779b97f4a7c15);
}

// The time limit for a connect to the target.
constexpr Duration connect_time_max = 5s;

}  // namespace

class ChaosProxy::Impl {
 public:
  Impl(net::Network& network, Options options)
      : network_(network), options_(std::move(options)), trace_(options_.trace_event_count_max) {}

  ~Impl() {
    stop_listening();
    connecting_.cancel_and_join();
  }

  Result<net::Endpoint> listen(const net::Endpoint& endpoint) {
    auto listener = network_.listen(endpoint);
    if (!listener) return listener.error();
    listener_ = std::move(*listener);
    endpoint_ = listener_->local_endpoint();
    auto spawned = accepting_.spawn("chaos accept", [this] { accept_all(); });
    if (!spawned) return spawned.error();
    return endpoint_;
  }

  void stop_listening() {
    accepting_.cancel_and_join();
    listener_.reset();
  }

  Result<void> listen_again() {
    if (listener_ != nullptr) return {};
    auto listening = listen(endpoint_);
    if (!listening) return listening.error();
    return {};
  }

  Result<void> heal() {
    options_.plan = {};
    ++heal_count_;
    for (const auto& [number, link] : links_) link->heal();
    return listen_again();
  }

  Options& options() { return options_; }
  std::map<std::uint64_t, ChaosLink*>& links() { return links_; }
  const ChaosTrace& trace() const { return trace_; }

 private:
  void accept_all() {
    constexpr bool stopping = false;  // The task is cancelled.
    while (auto stream = net::accept_next(*listener_, stopping)) {
      const std::uint64_t number = ++last_number_;
      auto spawned = connecting_.spawn("chaos connection",
                                       [this, number, client = std::move(stream)]() mutable {
                                         serve(number, std::move(client));
                                       });
      if (!spawned) trace_.record(Kind::refused, number);
    }
  }

  void serve(std::uint64_t number, std::unique_ptr<net::Stream> client) {
    Random random = random_of_connection(options_.seed, number);
    const ChaosFate fate = ChaosFate::draw(options_.plan, random);
    const std::uint64_t heal_count = heal_count_;
    auto target = fate.refused ? Error(Code::unavailable, "refused by the plan")
                               : connect(number, fate.connect_delay);
    if (!target) {
      trace_.record(Kind::refused, number);
      options_.break_off(*client);
      return;
    }
    trace_.record(Kind::connected, number);
    ChaosLink link({.trace = trace_, .number = number, .break_off = options_.break_off},
                   std::move(client), std::move(*target), options_.plan, random);
    if (fate.fault && heal_count == heal_count_) {
      link.lane(fate.direction).inject_after(*fate.fault, fate.fault_at);
    }
    links_.emplace(number, &link);
    link.run();
    links_.erase(number);
  }

  Result<std::unique_ptr<net::Stream>> connect(std::uint64_t number, Duration delay) {
    if (delay > Duration::zero()) {
      trace_.record(Kind::connected_late, number);
      if (auto slept = coroutine::sleep_for(delay); !slept) return slept.error();
    }
    return network_.connect(options_.target, Deadline::after(connect_time_max));
  }

  net::Network& network_;
  Options options_;
  ChaosTrace trace_;
  net::Endpoint endpoint_;
  std::unique_ptr<net::Listener> listener_;
  std::uint64_t last_number_ = 0;
  std::uint64_t heal_count_ = 0;
  std::map<std::uint64_t, ChaosLink*> links_;
  coroutine::TaskGroup accepting_;
  coroutine::TaskGroup connecting_;
};

ChaosProxy::ChaosProxy(net::Network& network, Options options)
    : impl_(std::make_unique<Impl>(network, std::move(options))) {}

ChaosProxy::~ChaosProxy() = default;

Result<net::Endpoint> ChaosProxy::listen(const net::Endpoint& endpoint) {
  return impl_->listen(endpoint);
}

std::vector<std::uint64_t> ChaosProxy::connections() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, link] : impl_->links()) numbers.push_back(number);
  return numbers;
}

void ChaosProxy::inject(ChaosFault fault) {
  for (const auto& [number, link] : impl_->links()) link->inject(fault);
}

void ChaosProxy::inject_after(std::uint64_t connection, ChaosDirection direction, ChaosFault fault,
                              std::uint64_t byte_count) {
  const auto found = impl_->links().find(connection);
  check(found != impl_->links().end(), "the connection is open");
  found->second->lane(direction).inject_after(fault, byte_count);
}

void ChaosProxy::resume() {
  for (const auto& [number, link] : impl_->links()) link->resume();
}

void ChaosProxy::stop_listening() { impl_->stop_listening(); }

Result<void> ChaosProxy::listen_again() { return impl_->listen_again(); }

void ChaosProxy::set_plan(const ChaosPlan& plan) { impl_->options().plan = plan; }

Result<void> ChaosProxy::heal() { return impl_->heal(); }

const ChaosTrace& ChaosProxy::trace() const { return impl_->trace(); }

}  // namespace corolane::test
