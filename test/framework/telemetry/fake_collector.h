// SPDX-License-Identifier: MIT
// An OTLP collector for tests: an HTTP server that keeps all requests.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "net/http/http.h"
#include "net/http/http_server.h"
#include "net/network.h"

namespace corolane::test {

class FakeCollector {
 public:
  FakeCollector(net::Network& network, const net::Endpoint& endpoint)
      : server_(network, [this](const net::HttpRequest& request) { return answer(request); }) {
    auto listens = server_.listen(endpoint);
    check(listens.has_value(), "the collector listens");
    local_ = *listens;
  }

  const net::Endpoint& endpoint() const { return local_; }

  // Suspends until there are `count` requests; false after an hour.
  bool wait_for(std::size_t count) {
    const Deadline deadline = Deadline::after(std::chrono::hours(1));
    while (requests.size() < count) {
      if (!came_.wait(deadline)) return false;
    }
    return true;
  }

  // The spans of all requests that were answered with 200, each as JSON.
  std::vector<std::string> spans() const;

  std::vector<net::HttpRequest> requests;
  std::vector<TimePoint> times;           // The arrival time of each.
  std::deque<net::HttpResponse> answers;  // For the next requests; later ones succeed.
  Duration delay{};                       // Passes before each answer.

 private:
  net::HttpResponse answer(const net::HttpRequest& request) {
    requests.push_back(request);
    times.push_back(now());
    came_.pulse();
    if (delay > Duration::zero()) static_cast<void>(coroutine::sleep_for(delay));
    net::HttpResponse response{.content_type = "application/json", .body = "{}"};
    if (!answers.empty()) {
      response = answers.front();
      answers.pop_front();
    }
    if (response.status == 200) taken_.push_back(request.body);
    return response;
  }

  net::Endpoint local_;
  std::vector<std::string> taken_;
  coroutine::Event came_{"a request to the collector"};
  net::HttpServer server_;
};

}  // namespace corolane::test
