// SPDX-License-Identifier: MIT
// Wraps the talk of the crowd: the next request is the answer to an echo.
#include "tools/benchmarks/network/crowd_echo.h"

#include <chrono>
#include <utility>
#include <vector>

#include "coroutine/base/histogram.h"
#include "tools/benchmarks/network/crowd.h"

namespace corolane::bench {
namespace {

using Clock = std::chrono::steady_clock;

// A server that is silent for this time has lost a request.
constexpr int silence_max_ms = 10'000;

class EchoTalk final : public Talk {
 public:
  EchoTalk(std::unique_ptr<Talk> inner, std::size_t client_count)
      : inner_(std::move(inner)), sent_at_(client_count) {}

  Result<std::string> target(std::size_t client) override { return inner_->target(client); }
  bool is_open_at_once() const override { return inner_->is_open_at_once(); }
  void append_greeting(std::size_t client, Bytes& out) override {
    inner_->append_greeting(client, out);
  }
  void append_request(std::size_t client, Bytes& out) override {
    sent_at_[client] = Clock::now();
    ++under_way_count_;
    inner_->append_request(client, out);
  }
  Result<void> hear(std::size_t client, std::span<const std::byte> message, Heard& heard,
                    Bytes& answer) override {
    const std::size_t news_before = heard.news_count;
    if (auto done = inner_->hear(client, message, heard, answer); !done) return done;
    if (heard.news_count == news_before) return {};
    const Clock::time_point now = Clock::now();
    latency_ns_.record(static_cast<std::uint64_t>((now - sent_at_[client]).count()));
    --under_way_count_;
    if (now < end_) append_request(client, answer);
    return {};
  }

  void begin(Clock::time_point end) {
    end_ = end;
    latency_ns_ = {};
  }
  std::size_t under_way_count() const { return under_way_count_; }
  const Histogram& latency_ns() const { return latency_ns_; }

 private:
  const std::unique_ptr<Talk> inner_;
  std::vector<Clock::time_point> sent_at_;
  std::size_t under_way_count_ = 0;
  Histogram latency_ns_;
  Clock::time_point end_;
};

class CrowdEcho final : public Generator {
 public:
  CrowdEcho(std::unique_ptr<EchoTalk> talk, std::unique_ptr<Crowd> crowd)
      : talk_(std::move(talk)), crowd_(std::move(crowd)) {}

  Result<LoadOutcome> run(std::chrono::milliseconds time) override {
    const Clock::time_point start = Clock::now();
    talk_->begin(start + time);
    for (std::size_t client = 0; client < crowd_->size(); ++client) {
      if (auto said = crowd_->request(client); !said) return said.error();
    }
    while (talk_->under_way_count() > 0) {
      const auto handled = crowd_->poll(silence_max_ms);
      if (!handled) return handled.error();
      if (*handled == 0) return Error(Code::deadline_exceeded, "the server has lost a request");
    }
    const Histogram& latency_ns = talk_->latency_ns();
    return LoadOutcome{.op_count = latency_ns.count(),
                       .elapsed = Clock::now() - start,
                       .p50 = std::chrono::nanoseconds(latency_ns.quantile(0.5)),
                       .p99 = std::chrono::nanoseconds(latency_ns.quantile(0.99))};
  }

 private:
  const std::unique_ptr<EchoTalk> talk_;
  const std::unique_ptr<Crowd> crowd_;
};

}  // namespace

Connect crowd_echo(MakeTalk make_talk, std::size_t client_count) {
  return [=](std::uint16_t port) -> Result<std::unique_ptr<Generator>> {
    auto inner = make_talk(port);
    if (!inner) return inner.error();
    auto talk = std::make_unique<EchoTalk>(std::move(*inner), client_count);
    auto crowd = Crowd::connect(port, *talk, client_count);
    if (!crowd) return crowd.error();
    return std::make_unique<CrowdEcho>(std::move(talk), std::move(*crowd));
  };
}

}  // namespace corolane::bench
