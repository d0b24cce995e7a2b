// SPDX-License-Identifier: MIT
#include "net/network.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"

namespace corolane::net {
namespace {

// How long accepting pauses after a failure.
constexpr Duration accept_pause = std::chrono::milliseconds(10);

bool is_ipv6(const Endpoint& address) {
  return !is_unix(address) && address.address.find(':') != std::string::npos;
}

// RFC 8305, section 4: the families take turns, beginning with the family of the resolver's first
// address; the order within a family stays.
std::vector<Endpoint> interleave_families(const std::vector<Endpoint>& addresses) {
  std::vector<Endpoint> first;
  std::vector<Endpoint> second;
  for (const Endpoint& address : addresses) {
    (is_ipv6(address) == is_ipv6(addresses.front()) ? first : second).push_back(address);
  }
  std::vector<Endpoint> all;
  for (std::size_t index = 0; index < std::max(first.size(), second.size()); ++index) {
    if (index < first.size()) all.push_back(std::move(first[index]));
    if (index < second.size()) all.push_back(std::move(second[index]));
  }
  return all;
}

// Attempts to connect, each a task; the first success wins.
class Race {
 public:
  Race(Network& network, const std::string& name, const StreamOptions& options, Deadline deadline)
      : network_(network), name_(name), options_(options), deadline_(deadline) {}

  // Suspends until one has succeeded, all have failed, or time is up; then no attempt is left
  // running.
  Result<std::unique_ptr<Stream>> run(const std::vector<Endpoint>& addresses) {
    auto cancelled = start_all(addresses);
    if (!cancelled) cancelled = wait_for_end();
    attempts_.cancel_and_join();
    if (winner_) return std::move(winner_);
    if (cancelled) return *std::move(cancelled);
    return failure();
  }

 private:
  // Both return an error only when the calling task was cancelled.
  std::optional<Error> start_all(const std::vector<Endpoint>& addresses);
  std::optional<Error> wait_for_end();
  void attempt(const Endpoint& address);
  Error failure() const;

  Network& network_;
  const std::string& name_;
  const StreamOptions options_;
  const Deadline deadline_;
  std::unique_ptr<Stream> winner_;
  std::vector<Error> errors_;
  std::size_t started_count_ = 0;
  std::size_t ended_count_ = 0;
  coroutine::Event ended_{"an attempt to connect"};
  coroutine::TaskGroup attempts_;  // The last member: what its tasks use outlives them.
};

std::optional<Error> Race::start_all(const std::vector<Endpoint>& addresses) {
  for (const Endpoint& address : addresses) {
    const std::size_t ended_before = ended_count_;
    auto started = attempts_.spawn("connect", [this, &address] { attempt(address); });
    if (!started) {
      errors_.push_back(
          std::move(started.error()).with_context("connect to " + to_string(address)));
      continue;
    }
    ++started_count_;
    const Deadline next = earlier(Deadline::after(connect_attempt_delay), deadline_);
    while (ended_count_ == ended_before) {
      auto waited = ended_.wait(next);
      if (waited) continue;
      if (waited.error().code() == Code::cancelled) return std::move(waited.error());
      break;
    }
    if (winner_ || deadline_.has_passed()) break;
  }
  return std::nullopt;
}

std::optional<Error> Race::wait_for_end() {
  while (!winner_ && ended_count_ < started_count_) {
    auto waited = ended_.wait(deadline_);
    if (waited) continue;
    if (waited.error().code() == Code::cancelled) return std::move(waited.error());
    break;
  }
  return std::nullopt;
}

void Race::attempt(const Endpoint& address) {
  auto stream = network_.connect_by_name(name_, address, deadline_, options_);
  if (!stream && stream.error().code() == Code::cancelled) {
    // Cancelled by the race, which is over: if no attempt has won it, because of the deadline.
    errors_.emplace_back(Code::deadline_exceeded,
                         "connect to " + to_string(address) + ": no answer");
  } else if (!stream) {
    errors_.push_back(std::move(stream.error()));
  } else if (!winner_) {
    winner_ = *std::move(stream);
  }
  ++ended_count_;
  ended_.pulse();
}

Error Race::failure() const {
  Code code = errors_.front().code();
  std::string message = std::to_string(errors_.size()) + " attempts";
  for (const Error& error : errors_) {
    if (error.code() != code) code = Code::unavailable;
    message += (&error == &errors_.front() ? ": " : "; ") + error.message();
  }
  const bool is_late = std::ranges::any_of(
      errors_, [](const Error& error) { return error.code() == Code::deadline_exceeded; });
  return Error(is_late ? Code::deadline_exceeded : code, std::move(message));
}

}  // namespace

std::unique_ptr<Stream> accept_next(Listener& listener, const bool& stopping) {
  while (!stopping) {
    auto stream = listener.accept(Deadline::never());
    if (stream) return *std::move(stream);
    if (stopping || !coroutine::sleep_for(accept_pause)) break;
  }
  return nullptr;
}

Result<std::unique_ptr<Stream>> Network::connect_by_name(const std::string& /*name*/,
                                                         const Endpoint& endpoint,
                                                         Deadline deadline, StreamOptions options) {
  return connect(endpoint, deadline, options);
}

Result<std::unique_ptr<UdpSocket>> Network::bind_udp(const Endpoint& endpoint, UdpOptions) {
  return Error(Code::unimplemented,
               "bind UDP " + to_string(endpoint) + ": this network has no datagrams");
}

Result<std::unique_ptr<Stream>> connect_to(Network& network, const HostPort& host,
                                           Deadline deadline, StreamOptions options) {
  auto resolved = network.resolve(host, deadline);
  if (!resolved) return resolved.error();
  if (resolved->empty()) return Error(Code::not_found, "resolve " + host.host + ": no address");
  if (resolved->size() == 1) {
    return network.connect_by_name(host.host, resolved->front(), deadline, options);
  }

  std::vector<Endpoint> addresses = interleave_families(*resolved);
  if (addresses.size() > connect_attempt_count_max) addresses.resize(connect_attempt_count_max);
  Race race(network, host.host, options, deadline);
  auto stream = race.run(addresses);
  if (!stream) return std::move(stream.error()).with_context("connect to " + host.host);
  return stream;
}

}  // namespace corolane::net
