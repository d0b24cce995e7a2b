// A server that tells what it serves.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/endpoint.h"
#include "net/network.h"
#include "rpc/client/client.h"
#include "rpc/reflection/reflection.pb.h"
#include "tools/corolane/command.h"
#include "tools/corolane/remote_types.h"

namespace corolane::tools::cli {

// "package.Service/Method" of each.
std::vector<std::string> full_names(const std::vector<rpc::MethodEntry>& methods);

class RemoteServer {
 public:
  // Connects and asks for all services. Suspends, for seconds at most.
  static std::expected<RemoteServer, Failure> connect(net::Network& network,
                                                      const net::HostPort& peer);

  const rpc::ListServicesReply& services() const { return services_; }
  // All of all services, in their order.
  std::vector<rpc::MethodEntry> methods() const;

  // The one that somebody means who writes `wanted`, by the rules of find_method().
  std::expected<rpc::MethodEntry, Failure> find_method(const std::string& wanted) const;
  // That of a method of this server.
  const rpc::ServiceEntry& service_of(const rpc::MethodEntry& method) const;

  // Asks for the types of a method and what is said of them. Suspends, for seconds at most.
  std::expected<void, Failure> describe(const rpc::MethodEntry& method, RemoteTypes& types);

  rpc::Client& client() { return *client_; }

 private:
  RemoteServer(std::unique_ptr<rpc::Client> client, rpc::ListServicesReply services)
      : client_(std::move(client)), services_(std::move(services)) {}

  std::unique_ptr<rpc::Client> client_;
  rpc::ListServicesReply services_;
};

}  // namespace corolane::tools::cli
