// SPDX-License-Identifier: MIT
// The operator's entrance to a node: pages over HTTP, on a listener apart from the service's.
//
//   AdminServer admin(network);
//   admin.page("/health", "whether the node serves", [&](const net::HttpRequest&) {
//     return net::HttpResponse{.body = "it serves"};
//   });
//   auto endpoint = admin.listen({.endpoint = {"127.0.0.1", 8461}});
//
// A page is text to curl, JSON with ?format=json, and to a browser a document that draws that JSON
// (admin/web). A client that reaches the listener sees everything, so the listener is on loopback
// or a Unix socket, or asks for a token. Pages are read by GET and HEAD. An action changes
// something and takes POST, and is logged with the visitor and its address; a request that another
// site makes a browser send is refused, and so is one with the token for looking. All of it belongs
// to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "net/http/http_server.h"
#include "net/network.h"

namespace corolane::framework {

class Log;

namespace detail {
class AdminGate;
struct AdminVisitor;
}  // namespace detail

// Whether only this machine can reach `endpoint`: 127.0.0.0/8, ::1 or a Unix socket.
bool is_local(const net::Endpoint& endpoint);

class AdminServer {
 public:
  // A browser, some scripts and Prometheus need a handful. One more connection replaces the one
  // that has been idle for longest, so that a probe always gets in.
  static constexpr std::size_t connection_count_max = 64;
  // The limit between two requests of a connection.
  static constexpr std::chrono::seconds idle_time_max{10};

  // `network` outlives the server, which has no page yet. A request for an unknown page is answered
  // with the list of pages.
  explicit AdminServer(net::Network& network);
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Serves `path` by `handler`, in a task of its own with a roomy stack. `summary` describes the
  // page in the list of pages. Each path is added once. A path that ends like "/tasks/{id}" matches
  // all paths that differ in the last part and have no page of their own.
  void page(std::string path, std::string summary, net::HttpHandler handler);

  // The same for POST: the handler does something and reports it. A path may have both a page and
  // an action. `summary` is for the list.
  void action(std::string path, std::string summary, net::HttpHandler handler);

  struct Door {
    net::Endpoint endpoint;
    // The token that a request presents, as `Authorization: Bearer TOKEN` or as the password in a
    // browser. A wrong token is answered after a second. Neither token is for local endpoints: a
    // request must then name this machine as its Host, by "localhost" or a loopback address.
    std::string token = {};
    // A second token, whose holders may read pages and run no action. Empty: none.
    std::string look_token = {};
    // The network on which clients connect, when it is not that of the server: a net::TlsNetwork,
    // for example. Outlives the server.
    net::Network* network = nullptr;
    // Receives a line for each action, and for wrong tokens, a few a minute. Outlives the server.
    Log* log = nullptr;
  };

  // Starts to serve; returns the endpoint with the port that was chosen. Call it once. Fails with
  // invalid_argument when other machines could connect without a token, with resource_exhausted at
  // the cap of tasks, and as Network::listen().
  Result<net::Endpoint> listen(const Door& door);

  // Returns the answer to a GET of `target` for the node itself. The handler runs in a task of its
  // own; suspends until it has ended.
  net::HttpResponse get(const std::string& target) const;

  struct Listed {
    std::string_view path;
    std::string_view summary;
    bool is_action;
  };
  // All pages and actions, by path.
  std::vector<Listed> pages() const;

  // Visits all connections; see net::HttpServer.
  void for_each_connection(
      const std::function<void(const net::HttpServer::ConnectionView&)>& see) const {
    if (server_ != nullptr) server_->for_each_connection(see);
  }

  // Closes the listener and all connections, also busy ones. Suspends until their tasks have ended,
  // whether or not the calling task is cancelled.
  void stop();

 private:
  struct Page {
    std::string summary;
    net::HttpHandler handler;
  };

  using Pages = std::map<std::string, Page, std::less<>>;

  net::HttpResponse answer(const net::HttpRequest& request,
                           const detail::AdminVisitor& visitor) const;
  net::HttpResponse answer_post(const net::HttpRequest& request,
                                const detail::AdminVisitor& visitor) const;
  net::HttpResponse no_page(const net::HttpRequest& request) const;
  std::string list_of_pages() const;

  net::Network& network_;
  Pages pages_;
  Pages actions_;
  Log* log_ = nullptr;
  std::unique_ptr<detail::AdminGate> gate_;  // Null until it listens.
  std::unique_ptr<net::HttpServer> server_;  // Null until it listens.
};

}  // namespace corolane::framework
