// SPDX-License-Identifier: MIT
// Links between hosts, and the messages in flight on them.
#include "framework/testing/fabric.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "framework/testing/host.h"
#include "framework/testing/host_network.h"

namespace corolane::sim {
namespace {

constexpr std::uint64_t fabric_concern = 1;
// Closed connections are swept when the list has this length.
constexpr std::size_t connections_before_sweep = 256;

}  // namespace

Fabric::Fabric(Simulation& simulation, const Options& options)
    : simulation_(simulation), options_(options), dice_(simulation.dice(fabric_concern)) {}

Fabric::~Fabric() {
  for (const auto& [index, network] : networks_) network->host().kill();
}

net::Network& Fabric::network_of(Host& host) {
  auto& network = networks_[host.index()];
  if (network == nullptr) {
    network = std::make_unique<HostNetwork>(*this, host);
    host.add_on_death([this, &host] { died(host); });
    host.add_on_burial([this, &host] { check_nothing_is_left(host); });
  }
  return *network;
}

std::string Fabric::address_of(const Host& host) {
  return "10.0.0." + std::to_string(host.process().index());
}

HostNetwork* Fabric::find(const std::string& address) const {
  for (const auto& [index, network] : networks_) {
    // A process comes before its threads.
    if (address_of(network->host()) == address) return network.get();
  }
  return nullptr;
}

Fabric::Link& Fabric::link(const Host& from, const Host& to) {
  return links_[{from.process().index(), to.process().index()}];
}

void Fabric::cut(const Host& from, const Host& to) { ++link(from, to).cut_count; }

void Fabric::mend(const Host& from, const Host& to) {
  Link& mended = link(from, to);
  check(mended.cut_count > 0, "a link is repaired only as often as it is cut");
  if (--mended.cut_count > 0) return;
  for (auto& go : std::exchange(mended.parked, {})) go(simulation_.now() + latency(from, to));
}

void Fabric::set_delay(const Host& from, const Host& to, Duration delay) {
  link(from, to).delay = delay;
}

Duration Fabric::latency(const Host& from, const Host& to) {
  return options_.latency_min + dice_.up_to(options_.latency_max - options_.latency_min) +
         link(from, to).delay;
}

void Fabric::leave(const Host& from, const Host& to, std::move_only_function<void(TimePoint)> go) {
  Link& taken = link(from, to);
  if (taken.cut_count > 0) {
    taken.parked.push_back(std::move(go));
  } else {
    go(simulation_.now() + latency(from, to));
  }
}

void Fabric::carry(const Host& from, Host& to, const std::shared_ptr<TimePoint>& lane,
                   std::move_only_function<void()> work) {
  if (!from.is_alive()) return;
  leave(from, to,
        [this, &to, lane, life = to.life(), work = std::move(work)](TimePoint arrival) mutable {
          if (to.life() != life) return;
          *lane = std::max(arrival, *lane + Duration(1));
          simulation_.at(*lane, to, std::move(work));
        });
}

void Fabric::send(const std::shared_ptr<Connection>& connection, std::size_t to,
                  std::move_only_function<void(HostStream*)> work) {
  Connection::End& receiver = connection->ends[to];
  const Host& sender = *connection->ends[1 - to].host;
  if (!sender.is_alive()) return;
  leave(sender, *receiver.host,
        [this, connection, to, work = std::move(work)](TimePoint arrival) mutable {
          Connection::End& end = connection->ends[to];
          end.last_arrival = std::max(arrival, end.last_arrival + Duration(1));
          if (end.host->life() != end.life) return;
          simulation_.at(end.last_arrival, *end.host,
                         [connection, to, work = std::move(work)]() mutable {
                           Connection::End& reached = connection->ends[to];
                           if (!reached.had_stream) return reached.early.push_back(std::move(work));
                           if (reached.stream != nullptr) work(reached.stream);
                         });
        });
}

// The end learns of it after the latency, even behind a cut.
void Fabric::break_off(const std::shared_ptr<Connection>& connection, std::size_t side) {
  const Connection::End& end = connection->ends[side];
  break_at(connection, side,
           simulation_.now() + latency(*connection->ends[1 - side].host, *end.host));
}

void Fabric::break_at(const std::shared_ptr<Connection>& connection, std::size_t side,
                      TimePoint time) {
  const Connection::End& end = connection->ends[side];
  if (!end.host->is_alive() || end.host->life() != end.life) return;
  simulation_.at(time, *end.host, [connection, side] {
    HostStream* const stream = connection->ends[side].stream;
    if (stream != nullptr) stream->reset();
  });
}

void Fabric::reset_one(const Host& a, const Host& b) {
  std::vector<std::shared_ptr<Connection>> found;
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection == nullptr) continue;
    const Host* const near = &connection->ends[0].host->process();
    const Host* const far = &connection->ends[1].host->process();
    if ((near == &a && far == &b) || (near == &b && far == &a)) found.push_back(connection);
  }
  if (found.empty()) return;
  const auto& chosen = found[dice_.below(found.size())];
  break_off(chosen, 0);
  break_off(chosen, 1);
}

std::size_t Fabric::connection_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(connections_, [](const auto& weak) { return !weak.expired(); }));
}

void Fabric::switch_off(const Host& host) { switched_off_[host.index()] = host.life(); }

// The operating system closes the streams of the process; bytes sent before still arrive.
void Fabric::died(const Host& host) {
  networks_.at(host.index())->forget_listeners();
  if (is_off(host)) return;
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection == nullptr) continue;
    for (const std::size_t side : {0UZ, 1UZ}) {
      const Connection::End& end = connection->ends[side];
      if (end.host != &host || end.life != host.life()) continue;
      // The close arrives behind the bytes sent before.
      leave(host, *connection->ends[1 - side].host,
            [this, connection, other = 1 - side](TimePoint arrival) {
              Connection::End& told = connection->ends[other];
              told.last_arrival = std::max(arrival, told.last_arrival + Duration(1));
              break_at(connection, other, told.last_arrival);
            });
    }
  }
}

void Fabric::check_nothing_is_left(const Host& host) const {
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection == nullptr) continue;
    for (const Connection::End& end : connection->ends) {
      check(end.host != &host || end.stream == nullptr, "no stream is left when a host has ended");
    }
  }
}

std::shared_ptr<Fabric::Connection> Fabric::connect(Host& near, Host& far) {
  if (connections_.size() >= connections_before_sweep) {
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
  }
  auto connection = std::make_shared<Connection>();
  connection->ends[0] = {.host = &near, .life = near.life()};
  connection->ends[1] = {.host = &far, .life = far.life()};
  connections_.push_back(connection);
  return connection;
}

bool Fabric::is_off(const Host& host) const {
  const auto off = switched_off_.find(host.process().index());
  return off != switched_off_.end() && off->second == host.process().life();
}

}  // namespace corolane::sim
