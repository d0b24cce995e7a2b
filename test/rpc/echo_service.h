// The Echo service, and a server with one client over the simulated network.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "rpc/client.h"
#include "rpc/server.h"
#include "test/rpc/echo.corolane.h"
#include "test/sim/network.h"

namespace corolane::test {

// More than a frame holds. Nobody looks at its bytes, so its memory is never touched.
inline std::string text_above_a_frame() {
  std::string text;
  text.resize_and_overwrite((std::size_t{1} << 30) + 1,
                            [](char*, std::size_t count) { return count; });
  return text;
}

class EchoService : public EchoBase {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    return reply(request.text());
  }
  Result<EchoReply> sleep(const SleepRequest& request, rpc::Context&) override {
    ++sleeping_count;
    const auto slept = coroutine::sleep_for(std::chrono::milliseconds(request.milliseconds()));
    --sleeping_count;
    if (!slept) {
      ++cancelled_count;
      cancelled_at = now();
      return slept.error();
    }
    return reply(request.text());
  }
  Result<EchoReply> fail(const FailRequest& request, rpc::Context&) override {
    Error error(code_from_number(request.code()), request.text());
    if (request.maybe_executed()) error = std::move(error).with_maybe_executed();
    return std::move(error).with_retry_after(std::chrono::milliseconds(request.retry_after_ms()));
  }
  Result<EchoReply> explode(const EchoRequest& request, rpc::Context&) override {
    throw std::runtime_error(request.text());
  }
  Result<EchoReply> overflow(const EchoRequest&, rpc::Context&) override {
    EchoReply reply;
    reply.set_text(text_above_a_frame());
    return reply;
  }
  Result<TimeLeftReply> time_left(const EchoRequest&, rpc::Context& context) override {
    TimeLeftReply time;
    time.set_microseconds(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(context.deadline().remaining())
            .count()));
    return time;
  }

  int sleeping_count = 0;
  int cancelled_count = 0;
  TimePoint cancelled_at{};

 private:
  static EchoReply reply(const std::string& text) {
    EchoReply reply;
    reply.set_text(text);
    return reply;
  }
};

inline EchoRequest make_echo(const std::string& text) {
  EchoRequest request;
  request.set_text(text);
  return request;
}

inline SleepRequest make_sleep(std::chrono::milliseconds duration, const std::string& text = "") {
  SleepRequest request;
  request.set_milliseconds(static_cast<std::uint64_t>(duration.count()));
  request.set_text(text);
  return request;
}

inline FailRequest make_fail(std::uint32_t code, const std::string& text = "") {
  FailRequest request;
  request.set_code(code);
  request.set_text(text);
  return request;
}

// A server of the Echo service on a simulated network with a latency of a millisecond.
class EchoWorld {
 public:
  explicit EchoWorld(rpc::Server::Options options = {}, sim::SimulatedNetwork::Options wire = {})
      : network(wire), server(network, options) {
    check(server.add(service).has_value(), "the service can be added");
    auto endpoint = server.listen({"server", 1});
    check(endpoint.has_value(), "the server listens");
  }

  std::unique_ptr<rpc::Client> connect(rpc::Client::Options options = {}) {
    auto client = rpc::Client::connect(network, {"server", 1},
                                       Deadline::after(std::chrono::seconds(1)), options);
    check(client.has_value(), "the client connects");
    return std::move(*client);
  }

  sim::SimulatedNetwork network;
  EchoService service;
  rpc::Server server;
};

}  // namespace corolane::test
