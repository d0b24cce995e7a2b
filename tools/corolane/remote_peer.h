// SPDX-License-Identifier: MIT
// The node that a command calls as a client, and the token by which the command logs in.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "net/endpoint.h"
#include "net/network.h"
#include "rpc/client/client.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

struct RemotePeer {
  net::HostPort address;
  std::string token = {};  // Empty: the command calls as an anonymous client.
};

constexpr OptionRule login_option_rule = {.name = "--login", .has_value = true};

// Reads the address, and the file that --login names. Fails as a wrong usage of `command`.
std::expected<RemotePeer, Failure> remote_peer_of(std::string_view command,
                                                  const Arguments& arguments,
                                                  const std::string& address);

// Connects and logs in, which may take some seconds. Suspends.
std::expected<std::unique_ptr<rpc::Client>, Failure> connect_to_peer(
    net::Network& network, const RemotePeer& peer, rpc::Client::Options options = {});

}  // namespace corolane::tools::cli
