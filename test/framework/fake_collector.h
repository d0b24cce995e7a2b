// What OTLP is sent to, in a test: an HTTP server that keeps what it gets.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/event.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "net/http.h"
#include "net/network.h"

namespace corolane::test {

class FakeCollector {
 public:
  FakeCollector(net::Network& network, const net::Endpoint& endpoint) {
    auto listener = network.listen(endpoint);
    check(listener.has_value(), "the collector listens");
    listener_ = std::move(*listener);
    local_ = listener_->local_endpoint();
    check(tasks_.spawn("collector", [this] { accept_all(); }).has_value(), "it has a stack");
  }

  const net::Endpoint& endpoint() const { return local_; }

  // Suspends until so many requests came; false after an hour.
  bool wait_for(std::size_t count) {
    const Deadline deadline = Deadline::after(std::chrono::hours(1));
    while (requests.size() < count) {
      if (!came_.wait(deadline)) return false;
    }
    return true;
  }

  // Of all requests that were answered well, each as JSON.
  std::vector<std::string> spans() const;

  std::vector<net::HttpRequest> requests;
  std::vector<TimePoint> times;           // At which they came.
  std::deque<net::HttpResponse> answers;  // To the next requests; then all is well.
  Duration delay{};                       // Before each answer.

 private:
  void accept_all() {
    for (;;) {
      auto stream = listener_->accept(Deadline::never());
      if (!stream) return;
      const auto spawned =
          tasks_.spawn("collector connection",
                       [this, owned = std::move(*stream)] {
                         static_cast<void>(net::serve_http(
                             *owned, [this](const auto& request) { return answer(request); }));
                       },
                       {.stack_size_bytes = 256 * 1024});
      check(spawned.has_value(), "a connection has a stack");
    }
  }

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

  std::unique_ptr<net::Listener> listener_;
  net::Endpoint local_;
  std::vector<std::string> taken_;
  coroutine::Event came_{"a request to the collector"};
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::test
