// SPDX-License-Identifier: MIT
#include "net/one_port/one_port.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "coroutine/base/check.h"
#include "net/one_port/detail/open_port.h"

namespace corolane::net {

class OnePort::KindNetwork final : public Network {
 public:
  KindNetwork(Impl& port, std::size_t kind) : port_(port), kind_(kind) {}

  Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                           ListenOptions options) override;
  Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                          StreamOptions options) override;
  Result<std::unique_ptr<Stream>> connect_by_name(const std::string& name, const Endpoint& endpoint,
                                                  Deadline deadline,
                                                  StreamOptions options) override;
  Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                              UdpOptions options) override;
  Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) override;

 private:
  Impl& port_;
  const std::size_t kind_;
};

struct OnePort::Impl {
  Network& inner;
  detail::OpenPort::Shared shared;
  std::deque<KindNetwork> networks = {};
  std::vector<std::weak_ptr<detail::OpenPort>> ports = {};  // Their listeners own them.

  Result<std::shared_ptr<detail::OpenPort>> open(std::size_t kind, const Endpoint& endpoint,
                                                 const ListenOptions& options);
};

// Returns the port at that endpoint where nobody listens for that kind yet, or opens it.
Result<std::shared_ptr<detail::OpenPort>> OnePort::Impl::open(std::size_t kind,
                                                              const Endpoint& endpoint,
                                                              const ListenOptions& options) {
  std::erase_if(ports, [](const auto& port) { return port.expired(); });
  for (const auto& known : ports) {
    auto port = known.lock();
    const bool is_it = port->is_open() && port->local_endpoint() == endpoint;
    if (is_it && !port->has_listener(kind)) return port;
  }
  auto listener = inner.listen(endpoint, options);
  if (!listener) return listener.error();
  auto port = std::make_shared<detail::OpenPort>(shared, *std::move(listener));
  if (auto started = port->start(); !started) return started.error();
  ports.push_back(port);
  return port;
}

Result<std::unique_ptr<Listener>> OnePort::KindNetwork::listen(const Endpoint& endpoint,
                                                               ListenOptions options) {
  auto port = port_.open(kind_, endpoint, options);
  if (!port) return port.error();
  return std::make_unique<detail::KindListener>(*std::move(port), kind_);
}

Result<std::unique_ptr<Stream>> OnePort::KindNetwork::connect(const Endpoint& endpoint,
                                                              Deadline deadline,
                                                              StreamOptions options) {
  return port_.inner.connect(endpoint, deadline, options);
}

Result<std::unique_ptr<Stream>> OnePort::KindNetwork::connect_by_name(const std::string& name,
                                                                      const Endpoint& endpoint,
                                                                      Deadline deadline,
                                                                      StreamOptions options) {
  return port_.inner.connect_by_name(name, endpoint, deadline, options);
}

Result<std::unique_ptr<UdpSocket>> OnePort::KindNetwork::bind_udp(const Endpoint& endpoint,
                                                                  UdpOptions options) {
  return port_.inner.bind_udp(endpoint, options);
}

Result<std::vector<Endpoint>> OnePort::KindNetwork::resolve(const HostPort& host,
                                                            Deadline deadline) {
  return port_.inner.resolve(host, deadline);
}

OnePort::OnePort(Network& inner, ConnectionBound& connections, std::vector<Kind> kinds,
                 Options options)
    : impl_(new Impl{.inner = inner,
                     .shared = {.connections = connections,
                                .kinds = std::move(kinds),
                                .options = std::move(options),
                                .statistics = {},
                                .first_bytes_max = 0}}) {
  for (const Kind& kind : impl_->shared.kinds) {
    impl_->shared.first_bytes_max = std::max(impl_->shared.first_bytes_max, kind.first_bytes_max);
    impl_->networks.emplace_back(*impl_, impl_->networks.size());
    impl_->shared.statistics.kinds.push_back({.name = kind.name});
  }
}

OnePort::~OnePort() {
  check(std::ranges::all_of(impl_->ports, [](const auto& port) { return port.expired(); }),
        "a OnePort outlives its listeners");
}

Network& OnePort::network(std::string_view kind) {
  const auto found = std::ranges::find(impl_->shared.kinds, kind, &Kind::name);
  check(found != impl_->shared.kinds.end(),
        "a OnePort knows the kind whose network it is asked for");
  return impl_->networks[static_cast<std::size_t>(found - impl_->shared.kinds.begin())];
}

const OnePort::Statistics& OnePort::statistics() const { return impl_->shared.statistics; }

}  // namespace corolane::net
