// SPDX-License-Identifier: MIT
#include "tools/corolane/remote_peer.h"

#include <chrono>
#include <fstream>
#include <utility>

#include "tools/corolane/on_network.h"

namespace corolane::tools::cli {
namespace {

constexpr std::chrono::seconds connect_time_max{5};

}  // namespace

std::expected<RemotePeer, Failure> remote_peer_of(std::string_view command,
                                                  const Arguments& arguments,
                                                  const std::string& address) {
  auto parsed = net::parse_host_port(address);
  if (!parsed) return wrong_usage(command, parsed.error().message());
  RemotePeer peer{.address = *std::move(parsed)};
  const auto option = arguments.options.find("--login");
  if (option == arguments.options.end()) return peer;
  std::ifstream file(option->second);
  if (!std::getline(file, peer.token) || peer.token.empty()) {
    return misused("corolane: --login: cannot read a token from " + option->second +
                   ": give a file with the token of a player, such as a JSON Web Token");
  }
  return peer;
}

std::expected<std::unique_ptr<rpc::Client>, Failure> connect_to_peer(net::Network& network,
                                                                     const RemotePeer& peer,
                                                                     rpc::Client::Options options) {
  if (!peer.token.empty()) {
    options.token = [token = peer.token]() -> Result<std::string> { return token; };
  }
  auto client = rpc::Client::connect(network, peer.address, Deadline::after(connect_time_max),
                                     std::move(options));
  if (client) return *std::move(client);
  if (client.error().code() == Code::unauthenticated) {
    return failed("corolane: " + client.error().message() +
                  (peer.token.empty() ? "; give a token with --login FILE" : ""));
  }
  return std::unexpected(no_connection(client.error(), "node.clients.listen"));
}

}  // namespace corolane::tools::cli
