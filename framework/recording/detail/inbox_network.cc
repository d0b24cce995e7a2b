// SPDX-License-Identifier: MIT
#include "framework/recording/detail/inbox_network.h"

#include <deque>
#include <utility>

#include "coroutine/sync/event.h"
#include "framework/recording/detail/inbox_stream.h"
#include "framework/recording/detail/messages.h"

namespace corolane::framework::recording {
namespace {

StreamSettings to_message(const net::StreamOptions& options) {
  StreamSettings settings;
  settings.set_output_bytes_max(options.output_bytes_max);
  settings.set_output_stall_max_milliseconds(options.output_stall_max.count());
  settings.set_keepalive_idle_seconds(options.keepalive_idle.count());
  settings.set_keepalive_interval_seconds(options.keepalive_interval.count());
  settings.set_keepalive_count(options.keepalive_count);
  return settings;
}

}  // namespace

class InboxListener final : public net::Listener {
 public:
  InboxListener(InboxNetwork& network, std::uint64_t id, net::Endpoint local,
                const net::ListenOptions& options)
      : network_(network), id_(id), local_(std::move(local)), options_(options) {
    network_.listeners_.emplace(id_, this);
  }
  ~InboxListener() override { close(); }

  Result<std::unique_ptr<net::Stream>> accept(Deadline deadline) override {
    while (waiting_.empty() && !failure_) {
      if (is_closed_) return Error(Code::unavailable, "the listener is closed");
      if (auto waited = changed_.wait(deadline); !waited) return waited.error();
    }
    if (failure_) {
      Error failure = *std::move(failure_);
      failure_.reset();
      return failure;
    }
    auto stream = std::move(waiting_.front());
    waiting_.pop_front();
    return stream;
  }

  void close() override {
    if (std::exchange(is_closed_, true)) return;
    network_.listeners_.erase(id_);
    waiting_.clear();
    Ask ask;
    ask.set_stop_listening(id_);
    network_.inbox_.ask(std::move(ask));
    changed_.pulse();
  }

  net::Endpoint local_endpoint() const override { return local_; }

  void arrive(const Connected& connected) {
    waiting_.push_back(std::make_unique<InboxStream>(network_, connected, options_.stream));
    changed_.pulse();
  }
  void arrive(const Failure& failure) {
    failure_ = to_error(failure);
    changed_.pulse();
  }

 private:
  InboxNetwork& network_;
  const std::uint64_t id_;
  const net::Endpoint local_;
  const net::ListenOptions options_;
  std::deque<std::unique_ptr<net::Stream>> waiting_;
  std::optional<Error> failure_;
  bool is_closed_ = false;
  coroutine::Event changed_{"accept"};
};

InboxNetwork::InboxNetwork(Inbox& inbox) : inbox_(inbox) { inbox_.set_network(this); }

InboxNetwork::~InboxNetwork() { inbox_.set_network(nullptr); }

Result<std::unique_ptr<net::Listener>> InboxNetwork::listen(const net::Endpoint& endpoint,
                                                            net::ListenOptions options) {
  const std::uint64_t id = inbox_.new_id();
  Ask ask;
  Listen& listen = *ask.mutable_listen();
  listen.set_listener(id);
  *listen.mutable_local() = recording::to_message(endpoint);
  listen.set_backlog(options.backlog);
  listen.set_shares_port(options.shares_port);
  *listen.mutable_stream() = to_message(options.stream);
  const Listening listening = inbox_.listen(ask);
  if (listening.has_failure()) return to_error(listening.failure());
  return std::make_unique<InboxListener>(*this, id, to_endpoint(listening.local()), options);
}

Result<std::unique_ptr<net::Stream>> InboxNetwork::connect(const net::Endpoint& endpoint,
                                                           Deadline deadline,
                                                           net::StreamOptions options) {
  Ask ask;
  *ask.mutable_connect()->mutable_peer() = recording::to_message(endpoint);
  *ask.mutable_connect()->mutable_stream() = to_message(options);
  const auto answer = inbox_.call(std::move(ask), deadline);
  if (!answer) return answer.error();
  return std::make_unique<InboxStream>(*this, answer->connected(), options);
}

Result<std::vector<net::Endpoint>> InboxNetwork::resolve(const net::HostPort& host,
                                                         Deadline deadline) {
  Ask ask;
  ask.mutable_resolve()->set_host(host.host);
  ask.mutable_resolve()->set_port(host.port);
  const auto answer = inbox_.call(std::move(ask), deadline);
  if (!answer) return answer.error();
  std::vector<net::Endpoint> endpoints;
  for (const Address& address : answer->resolved().addresses()) {
    endpoints.push_back(to_endpoint(address));
  }
  return endpoints;
}

void InboxNetwork::arrive(const Arrival& arrival) {
  if (arrival.has_accepted()) return accept(arrival.accepted());
  if (arrival.has_accept_failed()) {
    const auto found = listeners_.find(arrival.accept_failed().listener());
    if (found != listeners_.end()) found->second->arrive(arrival.accept_failed().failure());
    return;
  }
  // Arrivals for closed streams are dropped.
  const std::uint64_t stream = arrival.has_bytes()          ? arrival.bytes().stream()
                               : arrival.has_ended()        ? arrival.ended().stream()
                               : arrival.has_write_failed() ? arrival.write_failed().stream()
                                                            : arrival.written().stream();
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  if (arrival.has_bytes()) {
    found->second->arrive(arrival.bytes().bytes());
  } else if (arrival.has_ended()) {
    found->second->arrive_end(arrival.ended());
  } else if (arrival.has_write_failed()) {
    found->second->arrive_write_failed(arrival.write_failed().failure());
  } else {
    found->second->arrive_written(arrival.written().size());
  }
}

void InboxNetwork::accept(const Connected& connected) {
  const auto found = listeners_.find(connected.listener());
  if (found != listeners_.end()) return found->second->arrive(connected);
  Ask ask;
  ask.set_close(connected.stream());
  inbox_.ask(std::move(ask));
}

void InboxNetwork::end_turn() {
  for (const std::uint64_t id : std::exchange(talking_, {})) streams_.at(id)->end_turn();
}

}  // namespace corolane::framework::recording
