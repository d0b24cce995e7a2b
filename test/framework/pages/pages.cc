// SPDX-License-Identifier: MIT
// One request at a time, over net::fetch_http.
#include "test/framework/pages/pages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

namespace corolane::test {

net::HttpResponse fetch(net::Network& network, const net::Endpoint& admin, std::string target,
                        std::string method) {
  net::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  return fetch(network, admin, request);
}

net::HttpResponse fetch(net::Network& network, const net::Endpoint& admin,
                        const net::HttpRequest& request) {
  auto response = net::fetch_http(network, {admin.address, admin.port}, request,
                                  Deadline::after(std::chrono::seconds(10)));
  if (response) return *std::move(response);
  net::HttpResponse failure;
  failure.status = 0;
  failure.body = response.error().to_string();
  return failure;
}

nlohmann::json json_page(net::Network& network, const net::Endpoint& admin,
                         const std::string& target) {
  const auto response = fetch(network, admin, target);
  EXPECT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(response.content_type, "application/json");
  return nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
}

}  // namespace corolane::test
