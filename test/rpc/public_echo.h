// SPDX-License-Identifier: MIT
// The Echo service for clients from outside the cluster: all of its methods are public.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "test/rpc/echo_service.h"

namespace corolane::test {

class PublicEcho : public rpc::Service {
 public:
  const char* service_name() const override { return echo.service_name(); }
  std::span<const rpc::Method> methods() const override { return methods_; }

  EchoService echo;

 private:
  static constexpr std::size_t method_count = 8;

  template <std::size_t index>
  static Result<void> invoke(rpc::Service& service, const google::protobuf::Message& request,
                             rpc::Context& context, rpc::Messages& sink) {
    EchoService& echo = static_cast<PublicEcho&>(service).echo;
    return echo.methods()[index].invoke(echo, request, context, sink);
  }
  template <std::size_t... index>
  static std::array<rpc::Method, method_count> make_public(std::span<const rpc::Method> methods,
                                                           std::index_sequence<index...>) {
    check(methods.size() == method_count, "all methods are made public");
    std::array<rpc::Method, method_count> made = {methods[index]...};
    ((made[index].is_public = true, made[index].invoke = &invoke<index>), ...);
    return made;
  }

  const std::array<rpc::Method, method_count> methods_ =
      make_public(echo.methods(), std::make_index_sequence<method_count>());
};

// A server of PublicEcho on a simulated network: port 1 for clients, port 2 for nodes.
struct PublicWorld {
  explicit PublicWorld(rpc::Server::Options options = {},
                       net::ConnectionBound* connections = nullptr)
      : server(network, options) {
    check(server.add(service).has_value(), "the service can be added");
    const bool listens =
        server.listen({"server", 1}, {.door = rpc::Door::clients, .connections = connections}) &&
        server.listen({"server", 2}, {.door = rpc::Door::nodes});
    check(listens, "the server listens");
  }

  Result<std::unique_ptr<rpc::Client>> connect(const std::string& address, std::uint16_t port = 1) {
    network.set_client_address(address);
    return rpc::Client::connect(network, {"server", port},
                                Deadline::after(std::chrono::seconds(1)));
  }

  sim::SimulatedNetwork network;
  PublicEcho service;
  rpc::Server server;
};

}  // namespace corolane::test
