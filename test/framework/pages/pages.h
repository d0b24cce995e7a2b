// SPDX-License-Identifier: MIT
// Reads admin pages as an operator would.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "net/http/http.h"
#include "net/network.h"
#include "test/framework/pages/paged_node.h"

namespace corolane::test {

// The response to one request on a connection of its own. When there is none, its status is 0 and
// its body is the error.
net::HttpResponse fetch(net::Network& network, const net::Endpoint& admin,
                        const net::HttpRequest& request);
net::HttpResponse fetch(net::Network& network, const net::Endpoint& admin, std::string target,
                        std::string method = "GET");

// Returns the JSON of a page. Fails the test unless the status is 200 and the page is JSON.
nlohmann::json json_page(net::Network& network, const net::Endpoint& admin,
                         const std::string& target);

}  // namespace corolane::test
