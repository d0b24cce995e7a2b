// SPDX-License-Identifier: MIT
// A server that describes its services.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/network.h"
#include "rpc/client/client.h"
#include "rpc/reflection/reflection.pb.h"
#include "tools/corolane/command.h"
#include "tools/corolane/remote_peer.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// The full name of each method: "package.Service/Method".
std::vector<std::string> full_names(const std::vector<rpc::MethodEntry>& methods);

class RemoteServer {
 public:
  // Connects, logs in and asks for all services. Suspends for a few seconds at most.
  static std::expected<RemoteServer, Failure> connect(net::Network& network,
                                                      const RemotePeer& peer);

  const rpc::ListServicesReply& services() const { return services_; }
  // The methods of all services, in order.
  std::vector<rpc::MethodEntry> methods() const;

  // The method that `wanted` stands for, by the rules of find_method().
  std::expected<rpc::MethodEntry, Failure> find_method(const std::string& wanted) const;
  // The service of a method of this server.
  const rpc::ServiceEntry& service_of(const rpc::MethodEntry& method) const;

  // Asks for the types of a method and their comments. Suspends for a few seconds at most.
  std::expected<void, Failure> describe(const rpc::MethodEntry& method, RemoteTypes& types);

  rpc::Client& client() { return *client_; }

 private:
  RemoteServer(std::unique_ptr<rpc::Client> client, rpc::ListServicesReply services)
      : client_(std::move(client)), services_(std::move(services)) {}

  std::unique_ptr<rpc::Client> client_;
  rpc::ListServicesReply services_;
};

}  // namespace corolane::tools::cli
