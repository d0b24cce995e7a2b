// The operator's own door to a node: pages over HTTP, on a listener apart from the service's.
//
//   AdminServer admin(network);
//   admin.page("/health", "whether the node serves", [&](const net::HttpRequest&) { ... });
//   if (auto endpoint = admin.listen({"127.0.0.1", 8461}); !endpoint) return endpoint.error();
//
// Whoever reaches the door is let in and sees everything, so it is on loopback only. Pages show
// and change nothing: GET and HEAD. All of it belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "net/http_server.h"
#include "net/network.h"

namespace corolane::framework {

// Fails with invalid_argument unless the address is in 127.0.0.0/8 or is ::1.
Result<void> require_loopback(const net::Endpoint& endpoint);

class AdminServer {
 public:
  // More wait in the kernel's backlog: a browser, some scripts and Prometheus are a handful.
  static constexpr std::size_t connection_count_max = 64;

  // `network` outlives the server. There is one page from the start, "/": the list of all.
  explicit AdminServer(net::Network& network);
  ~AdminServer() { stop(); }
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Serves `path` by `handler`, in a task of its own with a roomy stack. `summary` is what the
  // list says of the page. Each path once. A path that ends like "/tasks/{id}" stands for all that
  // have another last part and no page of their own.
  void page(std::string path, std::string summary, net::HttpHandler handler);

  // Starts to serve; returns the endpoint with the port that was chosen. Once. Fails as
  // require_loopback() and Network::listen() do, and with resource_exhausted at the cap of tasks.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint);

  // Closes the listener and all connections, whatever they are doing. Suspends until their tasks
  // have ended, whether or not the calling task is cancelled.
  void stop();

 private:
  struct Page {
    std::string summary;
    net::HttpHandler handler;
  };

  net::HttpResponse answer(const net::HttpRequest& request) const;
  const Page* find(std::string_view path) const;
  std::string list_of_pages() const;

  std::map<std::string, Page, std::less<>> pages_;
  net::HttpServer server_;
  bool listens_ = false;
};

}  // namespace corolane::framework
