// SPDX-License-Identifier: MIT
// The Echo service, and a server with one client over the simulated network.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "test/rpc/echo.corolane.h"

namespace corolane::test {

// More than a frame holds. Its bytes are never read, so its memory is never touched.
inline std::string text_above_a_frame() {
  std::string text;
  text.resize_and_overwrite((std::size_t{1} << 30) + 1,
                            [](char*, std::size_t count) { return count; });
  return text;
}

class EchoService : public EchoBase {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    echoed.push_back(request.text());
    if (!echo_errors.empty()) {
      Error error = std::move(echo_errors.front());
      echo_errors.pop_front();
      return error;
    }
    return reply(reply_bytes == 0 ? request.text() : std::string(reply_bytes, 'x'));
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
    return std::move(error)
        .with_retry_after(std::chrono::milliseconds(request.retry_after_ms()))
        .with_detail(request.detail());
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

  Result<void> count(const CountRequest& request, rpc::Writer<CountReply>& out,
                     rpc::Context&) override {
    CountReply reply;
    reply.set_text(std::string(request.size(), 'x'));
    for (written_count = 0; written_count < request.count(); ++written_count) {
      reply.set_number(written_count);
      if (auto written = out.write(reply); !written) {
        ++cancelled_count;
        return written;
      }
      if (request.milliseconds() == 0) continue;
      auto slept = coroutine::sleep_for(std::chrono::milliseconds(request.milliseconds()));
      if (!slept) {
        ++cancelled_count;
        return slept;
      }
    }
    if (request.error_code() == 0) return {};
    return Error(code_from_number(request.error_code()), "as was asked for")
        .with_detail(std::to_string(written_count));
  }
  Result<void> note(const EchoRequest& request, rpc::Context&) override {
    if (auto slept = coroutine::sleep_for(note_time); !slept) {
      ++cancelled_count;
      return slept;
    }
    noted.push_back(request.text());
    return {};
  }

  std::vector<std::string> noted;   // Texts of note().
  Duration note_time{};             // How long note() takes.
  std::uint32_t written_count = 0;  // Items of the last count().
  std::vector<std::string> echoed;  // Texts of echo(), in order.
  std::deque<Error> echo_errors;    // Returned by the next calls of echo().
  std::size_t reply_bytes = 0;      // If set, the size of echo()'s reply.
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

// A copy of a method's description, which the test may change.
inline rpc::Method echo_method(std::string_view name = "Echo") {
  for (const rpc::Method& method : EchoService().methods()) {
    if (std::string_view(method.full_name).ends_with("/" + std::string(name))) return method;
  }
  check(false, "the service has such a method");
  return {};
}

// A server of the Echo service on a simulated network with a latency of a millisecond.
class EchoWorld {
 public:
  explicit EchoWorld(rpc::Server::Options options = {}, sim::SimulatedNetwork::Options wire = {},
                     rpc::Server::ListenOptions door = {.door = rpc::Door::nodes})
      : network(wire), server(network, options) {
    check(server.add(service).has_value(), "the service can be added");
    auto endpoint = server.listen({"server", 1}, door);
    check(endpoint.has_value(), "the server listens");
  }

  std::unique_ptr<rpc::Client> connect(rpc::Client::Options options = {}) {
    auto client = rpc::Client::connect(network, {"server", 1},
                                       Deadline::after(std::chrono::seconds(1)), options);
    check(client.has_value(), "the client connects");
    return std::move(*client);
  }

  // The next calls fail with these before their handlers begin.
  void refuse_with(std::deque<Error> refusals) {
    if (!std::exchange(has_filter_, true)) {
      server.add_filter([this](rpc::Context&, const rpc::Next& next) -> Result<void> {
        if (refusals_.empty()) return next();
        Error refusal = std::move(refusals_.front());
        refusals_.pop_front();
        return refusal;
      });
    }
    refusals_ = std::move(refusals);
  }

  sim::SimulatedNetwork network;
  EchoService service;
  rpc::Server server;

 private:
  std::deque<Error> refusals_;
  bool has_filter_ = false;
};

}  // namespace corolane::test
