// The operator's own door to a node: pages over HTTP, on a listener apart from the service's.
//
//   AdminServer admin(network);
//   admin.page("/health", "whether the node serves", [&](const net::HttpRequest&) { ... });
//   auto endpoint = admin.listen({.endpoint = {"127.0.0.1", 8461}});
//
// A page is text to curl, JSON with ?format=json, and to a browser a document that draws that JSON
// (admin/web). Whoever reaches the door sees everything: so it is on loopback or a Unix socket, or
// asks for a token. Pages are read by GET and HEAD; an action, which changes something, takes POST,
// and nothing that another site has a browser send. All of it belongs to one scheduler's thread.
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
}

// Who does not come from this machine does not get there: 127.0.0.0/8, ::1, a Unix socket.
bool is_local(const net::Endpoint& endpoint);

class AdminServer {
 public:
  // A browser, some scripts and Prometheus are a handful. One more takes the place of the one that
  // has been idle for the longest time, so that a probe gets in whoever holds connections.
  static constexpr std::size_t connection_count_max = 64;
  // Between two requests of a connection.
  static constexpr std::chrono::seconds idle_time_max{10};

  // `network` outlives the server, which has no page yet: who asks for one is told which there are.
  explicit AdminServer(net::Network& network);
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  // Serves `path` by `handler`, in a task of its own with a roomy stack. `summary` is what the
  // list says of the page. Each path once. A path that ends like "/tasks/{id}" stands for all that
  // have another last part and no page of their own.
  void page(std::string path, std::string summary, net::HttpHandler handler);

  // The same for POST: it does something and says what. A path may have both. `summary` is for the
  // list.
  void action(std::string path, std::string summary, net::HttpHandler handler);

  struct Door {
    net::Endpoint endpoint;
    // What a request has to show, as `Authorization: Bearer TOKEN` or as the password of a browser.
    // A wrong one is answered after a second. Empty: nothing, which is for local endpoints; then a
    // request has to name this machine as its Host, by "localhost" or a loopback address.
    std::string token = {};
    // By which network they come, when it is not that of the server, such as a net::TlsNetwork.
    // Outlives the server.
    net::Network* network = nullptr;
    // Gets a line for wrong tokens, a few a minute. Outlives the server.
    Log* log = nullptr;
  };

  // Starts to serve; returns the endpoint with the port that was chosen. Once. Fails with
  // invalid_argument when anybody could come without a token; as Network::listen(), and with
  // resource_exhausted at the cap of tasks.
  Result<net::Endpoint> listen(const Door& door);

  // What GET has there, for the node itself, in a task as one of its own; suspends until it has it.
  net::HttpResponse get(const std::string& target) const;

  struct Listed {
    std::string_view path;
    std::string_view summary;
    bool is_action;
  };
  // All that there is, by path.
  std::vector<Listed> pages() const;

  // Shows all connections; see net::HttpServer.
  void for_each_connection(
      const std::function<void(const net::HttpServer::ConnectionView&)>& see) const {
    if (server_ != nullptr) server_->for_each_connection(see);
  }

  // Closes the listener and all connections, whatever they are doing. Suspends until their tasks
  // have ended, whether or not the calling task is cancelled.
  void stop();

 private:
  struct Page {
    std::string summary;
    net::HttpHandler handler;
  };

  using Pages = std::map<std::string, Page, std::less<>>;

  net::HttpResponse answer(const net::HttpRequest& request) const;
  net::HttpResponse answer_post(const net::HttpRequest& request) const;
  net::HttpResponse no_page(const net::HttpRequest& request) const;
  std::string list_of_pages() const;

  net::Network& network_;
  Pages pages_;
  Pages actions_;
  std::unique_ptr<detail::AdminGate> gate_;  // Null until it listens.
  std::unique_ptr<net::HttpServer> server_;  // Null until it listens.
};

}  // namespace corolane::framework
