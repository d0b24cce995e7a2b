#include "rpc/server.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "coroutine/event.h"
#include "coroutine/task_group.h"
#include "rpc/detail/call.h"
#include "rpc/detail/server_connection.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;

// How long the end of a connection may take to send what is queued, while stopping.
constexpr Duration flush_time_max = 500ms;

}  // namespace

class Server::Impl final : private detail::ServerConnection::Host {
 public:
  Impl(net::Network& network, const Options& options) : network_(network), options_(options) {}

  Result<void> add(Service& service);
  Result<net::Endpoint> listen(const net::Endpoint& endpoint);
  Result<void> stop(Deadline deadline);
  const std::vector<const Service*>& services() const { return services_; }
  Statistics statistics() const;

 private:
  void accept_all(net::Listener& listener);
  void admit(std::unique_ptr<net::Stream> stream);
  void serve(detail::ServerConnection& connection, const Frame& frame) override;
  void ended(detail::ServerConnection& connection) override;
  Result<void> start(detail::ServerConnection& connection, detail::ServedMethod& served,
                     const Frame& frame);
  void finish(detail::Call& call);
  void destroy_ended_connections();
  void close_connections();

  net::Network& network_;
  Options options_;
  std::vector<const Service*> services_;
  std::deque<detail::ServedMethod> methods_;
  std::unordered_map<std::uint64_t, detail::ServedMethod*> methods_by_id_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::unordered_map<std::uint64_t, std::unique_ptr<detail::ServerConnection>> connections_;
  // Streams may not be destroyed by what they call, so ended connections wait here for a task.
  std::vector<std::unique_ptr<detail::ServerConnection>> ended_;
  coroutine::Event some_ended_{"end of a connection"};
  bool stopping_ = false;
  std::uint64_t last_connection_id_ = 0;
  Statistics statistics_;
  detail::CallPool calls_;
  coroutine::TaskGroup handlers_;
  coroutine::TaskGroup housekeeping_;  // Accepting, and destroying ended connections.
  coroutine::TaskRef destroying_;      // The latter; begun by the first listen().
};

Result<void> Server::Impl::add(Service& service) {
  for (const Method& method : service.methods()) {
    const auto [place, is_new] = methods_by_id_.try_emplace(method.id, nullptr);
    if (!is_new) {
      return Error(Code::already_exists, std::string(method.full_name) + " has the same id as " +
                                             place->second->method->full_name +
                                             ": is the service added twice?");
    }
    methods_.push_back({.method = &method,
                        .service = &service,
                        .statistics = {.full_name = method.full_name, .latency_us = {}}});
    place->second = &methods_.back();
  }
  services_.push_back(&service);
  return {};
}

Result<net::Endpoint> Server::Impl::listen(const net::Endpoint& endpoint) {
  if (!destroying_) {
    auto spawned = housekeeping_.spawn("rpc connections", [this] { destroy_ended_connections(); });
    if (!spawned) return spawned.error();
    destroying_ = *spawned;
  }
  auto listener = network_.listen(endpoint);
  if (!listener) return listener.error();
  net::Listener& accepting = **listener;
  if (auto spawned =
          housekeeping_.spawn("rpc accept", [this, &accepting] { accept_all(accepting); });
      !spawned) {
    return spawned.error();
  }
  listeners_.push_back(std::move(*listener));
  return accepting.local_endpoint();
}

void Server::Impl::accept_all(net::Listener& listener) {
  for (;;) {
    auto stream = listener.accept(Deadline::never());
    if (stream) {
      admit(std::move(*stream));
    } else if (stopping_ || !coroutine::sleep_for(10ms)) {
      return;
    }
    // Whatever else it was may pass: when out of descriptors, others will end.
  }
}

void Server::Impl::admit(std::unique_ptr<net::Stream> stream) {
  ++statistics_.accepted_count;
  const std::uint64_t id = ++last_connection_id_;
  Host& host = *this;
  auto owned = std::make_unique<detail::ServerConnection>(host, id, std::move(stream),
                                                          options_.request_bytes_max,
                                                          Deadline::after(options_.hello_time_max));
  detail::ServerConnection& connection = *owned;
  connections_.emplace(id, std::move(owned));
  connection.start();
  if (connections_.size() > options_.connection_count_max) {
    connection.say_bye(
        Error(Code::resource_exhausted, "the server has all the connections it takes"));
  }
}

void Server::Impl::serve(detail::ServerConnection& connection, const Frame& frame) {
  const auto found = methods_by_id_.find(frame.header.method_id);
  if (found == methods_by_id_.end()) {
    connection.refuse(frame.header.call_id,
                      Error(Code::unimplemented, "the server has no such method"));
    return;
  }
  detail::ServedMethod& served = *found->second;
  if (auto started = start(connection, served, frame); !started) {
    ++served.statistics.refused_count;
    connection.refuse(frame.header.call_id, started.error());
  }
}

Result<void> Server::Impl::start(detail::ServerConnection& connection, detail::ServedMethod& served,
                                 const Frame& frame) {
  if (stopping_) return Error(Code::unavailable, "the server is stopping");
  if (connection.call_count() >= options_.calls_per_connection_max) {
    return Error(Code::resource_exhausted, std::to_string(options_.calls_per_connection_max) +
                                               " calls of this connection are running already")
        .with_retry_after(options_.retry_after);
  }
  detail::Call& call = calls_.take();
  if (!call.parse(served, frame.message)) {
    calls_.give_back(call);
    return Error(Code::invalid_argument,
                 std::string("the request of ") + served.method->full_name +
                     " cannot be parsed: do both sides have the same proto?");
  }
  const Deadline deadline = frame.header.time == 0
                                ? Deadline::after(served.method->timeout)
                                : Deadline::after(std::chrono::microseconds(frame.header.time));
  call.begin(connection, frame.header.call_id, deadline);
  auto task = handlers_.spawn(served.method->full_name,
                              [this, &call] {
                                call.run();
                                finish(call);
                              },
                              {.stack_size_bytes = served.method->stack_size_bytes});
  if (!task) {
    calls_.give_back(call);
    return std::move(task.error()).with_retry_after(options_.retry_after);
  }
  connection.add(call);
  call.bind(*task);
  ++served.statistics.running_count;
  ++statistics_.running_count;
  return {};
}

void Server::Impl::finish(detail::Call& call) {
  call.connection().remove(call);
  MethodStatistics& method = call.served().statistics;
  ++method.call_count;
  --method.running_count;
  --statistics_.running_count;
  if (call.has_failed()) ++method.error_count;
  if (call.threw()) ++statistics_.stray_exception_count;
  const auto latency =
      std::chrono::duration_cast<std::chrono::microseconds>(now() - call.begun_at());
  method.latency_us.record(static_cast<std::uint64_t>(latency.count()));
  calls_.give_back(call);
}

void Server::Impl::ended(detail::ServerConnection& connection) {
  if (connection.broke_protocol()) ++statistics_.protocol_error_count;
  const auto found = connections_.find(connection.id());
  ended_.push_back(std::move(found->second));
  connections_.erase(found);
  some_ended_.set();
}

void Server::Impl::destroy_ended_connections() {
  while (some_ended_.wait(Deadline::never())) {
    some_ended_.reset();
    ended_.clear();
  }
}

Result<void> Server::Impl::stop(Deadline deadline) {
  stopping_ = true;
  for (const auto& listener : listeners_) listener->close();
  auto drained = handlers_.join(deadline);
  if (!drained) {
    handlers_.cancel_and_join();
  }
  housekeeping_.cancel_and_join();
  close_connections();
  connections_.clear();
  ended_.clear();
  listeners_.clear();
  return drained;
}

void Server::Impl::close_connections() {
  // The connections may end, and leave the map, while this waits; destroyed they are later.
  std::vector<detail::ServerConnection*> open;
  open.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) open.push_back(connection.get());
  const Deadline deadline = Deadline::after(flush_time_max);
  for (detail::ServerConnection* const connection : open) {
    static_cast<void>(connection->stream().flush(deadline));
  }
  for (const auto& [id, connection] : connections_) connection->close();
}

Server::Statistics Server::Impl::statistics() const {
  Statistics statistics = statistics_;
  statistics.connection_count = connections_.size();
  for (const detail::ServedMethod& served : methods_) {
    statistics.methods.push_back(served.statistics);
  }
  std::ranges::sort(statistics.methods, {}, [](const MethodStatistics& method) {
    return std::string_view(method.full_name);
  });
  return statistics;
}

Server::Server(net::Network& network, Options options)
    : impl_(std::make_unique<Impl>(network, options)) {}

Server::~Server() { static_cast<void>(impl_->stop(Deadline::passed())); }

Result<void> Server::add(Service& service) { return impl_->add(service); }

Result<net::Endpoint> Server::listen(const net::Endpoint& endpoint) {
  return impl_->listen(endpoint);
}

Result<void> Server::stop(Deadline deadline) { return impl_->stop(deadline); }

std::vector<const Service*> Server::services() const { return impl_->services(); }

Server::Statistics Server::statistics() const { return impl_->statistics(); }

}  // namespace corolane::rpc
