// SPDX-License-Identifier: MIT
// An HTTP server that sends what the test scripts, over the simulated network.
//
//   ScriptedServer server(network, [](Stream& stream, std::size_t number) {
//     read_request(stream);
//     say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
//   });
//   fetch_http(network, server.host(), {}, soon());
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "coroutine/task_group.h"
#include "net/network.h"
#include "net/testing/network.h"
#include "test/net/stream_pair.h"

namespace corolane::net {

// The next request, which must be short and without a body; empty when the client has gone.
// Suspends.
inline std::string read_request(Stream& stream) {
  std::string text;
  while (!text.ends_with("\r\n\r\n")) {
    const auto part = read_text(stream, Deadline::after(std::chrono::hours(1)), 1);
    if (!part || part->empty()) return "";
    text += *part;
  }
  return text;
}

inline void say(Stream& stream, std::string_view text) {
  static_cast<void>(stream.write_all(bytes_of(text), test::soon()));
}

inline std::string ok(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

class ScriptedServer {
 public:
  // Runs for each connection, with its number from 0, on a task of its own; the connection is
  // closed when it returns.
  using Script = std::function<void(Stream& stream, std::size_t number)>;

  ScriptedServer(sim::SimulatedNetwork& network, Script script) : script_(std::move(script)) {
    auto listener = network.listen({.address = "server", .port = 80});
    check(listener.has_value(), "the address is free");
    listener_ = *std::move(listener);
    static_cast<void>(tasks_.spawn("server", [this] { accept_all(); }));
  }

  static HostPort host() { return {.host = "server", .port = 80}; }
  std::size_t connection_count() const { return connection_count_; }

 private:
  void accept_all() {
    for (;;) {
      auto stream = listener_->accept(Deadline::never());
      if (!stream) return;
      static_cast<void>(
          tasks_.spawn("connection", [this, taken = std::shared_ptr<Stream>(*std::move(stream)),
                                      number = connection_count_++] { script_(*taken, number); }));
    }
  }

  Script script_;
  std::unique_ptr<Listener> listener_;
  std::size_t connection_count_ = 0;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::net
