// One request at a time, over net::fetch_http.
#include "test/framework/pages/pages.h"

#include <chrono>
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

}  // namespace corolane::test
