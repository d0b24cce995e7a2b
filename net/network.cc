// SPDX-License-Identifier: MIT
#include "net/network.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/sync/race.h"
#include "coroutine/task.h"

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

// The error of a connection whose attempts have all failed.
Error failure_of(const std::vector<Error>& attempts) {
  Code code = attempts.front().code();
  std::string message = std::to_string(attempts.size()) + " attempts";
  for (const Error& error : attempts) {
    if (error.code() != code) code = Code::unavailable;
    message += (&error == &attempts.front() ? ": " : "; ") + error.message();
  }
  const bool is_late = std::ranges::any_of(
      attempts, [](const Error& error) { return error.code() == Code::deadline_exceeded; });
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
  std::vector<Error> failed;
  const auto attempt = [&](const Endpoint& address) {
    auto stream = network.connect_by_name(host.host, address, deadline, options);
    if (!stream && stream.error().code() == Code::cancelled) {
      // Cancelled by the race, which is over: if no attempt has won it, because of the deadline.
      failed.emplace_back(Code::deadline_exceeded,
                          "connect to " + to_string(address) + ": no answer");
    } else if (!stream) {
      failed.push_back(stream.error());
    }
    return stream;
  };
  auto won = coroutine::race(addresses, {.head_start = connect_attempt_delay, .name = "connect"},
                             attempt, deadline);
  if (won) return won;
  // Without a failed attempt there was no stack for any.
  const bool is_cancelled = won.error().code() == Code::cancelled;
  Error reason = is_cancelled || failed.empty() ? std::move(won.error()) : failure_of(failed);
  return std::move(reason).with_context("connect to " + host.host);
}

}  // namespace corolane::net
