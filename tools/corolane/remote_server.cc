// SPDX-License-Identifier: MIT
#include "tools/corolane/remote_server.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "coroutine/base/check.h"
#include "rpc/reflection/reflection.corolane.h"
#include "tools/corolane/method_search.h"

namespace corolane::tools::cli {
namespace {

std::string service_name_of(const rpc::MethodEntry& method) {
  return method.full_name().substr(0, method.full_name().find('/'));
}

// The time limit for each request to Reflection.
constexpr std::chrono::seconds patience{5};

std::unexpected<Failure> no_reflection(const Error& error) {
  std::string message = "corolane: the node did not describe its services: " + error.to_string();
  if (error.code() == Code::unimplemented) {
    message += "; does node.clients.reflection switch it off?";
  }
  return failed(std::move(message));
}

}  // namespace

std::vector<std::string> full_names(const std::vector<rpc::MethodEntry>& methods) {
  std::vector<std::string> names;
  names.reserve(methods.size());
  for (const rpc::MethodEntry& method : methods) names.push_back(method.full_name());
  return names;
}

std::expected<RemoteServer, Failure> RemoteServer::connect(net::Network& network,
                                                           const RemotePeer& peer) {
  auto client = connect_to_peer(network, peer);
  if (!client) return std::unexpected(client.error());
  auto services =
      rpc::ReflectionClient(**client).list_services({}, {.deadline = Deadline::after(patience)});
  if (!services) return no_reflection(services.error());
  return RemoteServer(std::move(*client), std::move(*services));
}

std::vector<rpc::MethodEntry> RemoteServer::methods() const {
  std::vector<rpc::MethodEntry> methods;
  for (const rpc::ServiceEntry& service : services_.services()) {
    std::ranges::copy(service.methods(), std::back_inserter(methods));
  }
  return methods;
}

std::expected<rpc::MethodEntry, Failure> RemoteServer::find_method(
    const std::string& wanted) const {
  const std::vector<rpc::MethodEntry> candidates = methods();
  const auto index = cli::find_method(full_names(candidates), wanted);
  if (!index) return misused("corolane: " + index.error().message());
  return candidates[*index];
}

const rpc::ServiceEntry& RemoteServer::service_of(const rpc::MethodEntry& method) const {
  const auto found =
      std::ranges::find(services_.services(), service_name_of(method), &rpc::ServiceEntry::name);
  check(found != services_.services().end(), "the method is of one of the services");
  return *found;
}

std::expected<void, Failure> RemoteServer::describe(const rpc::MethodEntry& method,
                                                    RemoteTypes& types) {
  rpc::DescribeRequest request;
  request.set_symbol(service_name_of(method));
  const auto described =
      rpc::ReflectionClient(*client_).describe(request, {.deadline = Deadline::after(patience)});
  if (!described) return no_reflection(described.error());
  if (auto added = types.add(*described); !added) {
    return failed("corolane: " + added.error().message());
  }
  return {};
}

}  // namespace corolane::tools::cli
