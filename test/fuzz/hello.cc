// SPDX-License-Identifier: MIT
// A server and a peer that sends arbitrary bytes: a good client beside it is still served, no peer
// is served before a valid hello, answers are frames, and the chunking changes nothing.
//
// Input: cuts, and the peer's bytes from the first one on.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/virtual_time.h"
#include "rpc/wire/frame.h"
#include "test/fuzz/target.h"
#include "test/rpc/echo_service.h"

namespace corolane::fuzz {
namespace {

using namespace std::chrono_literals;
using test::EchoReply;
using test::EchoRequest;
using test::SleepRequest;

constexpr std::size_t request_bytes_max = 1024;

// Methods that do not slow a fuzzer down: none creates gigabytes or throws.
class CountingService : public test::EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    ++executed_count;
    EchoReply reply;
    reply.set_text(request.text());
    return reply;
  }
  Result<EchoReply> sleep(const SleepRequest& request, rpc::Context& context) override {
    const auto slept =
        coroutine::sleep_for(std::min<std::uint64_t>(request.milliseconds(), 1000) * 1ms);
    if (!slept) return slept.error();
    return echo(test::make_echo(request.text()), context);
  }
  Result<EchoReply> explode(const EchoRequest& request, rpc::Context& context) override {
    return echo(request, context);
  }
  Result<EchoReply> overflow(const EchoRequest& request, rpc::Context& context) override {
    return echo(request, context);
  }

  int executed_count = 0;
};

struct Answer {
  std::string bytes;
  int executed_count = 0;

  friend bool operator==(const Answer&, const Answer&) = default;
};

// Reads the server's output until it closes, or is silent for longer than it waits for the rest of
// a frame.
std::string read_all(net::Stream& stream) {
  std::string all;
  std::array<std::byte, 4096> buffer;
  for (;;) {
    const auto count = stream.read_some(buffer, Deadline::after(15s));
    if (!count || *count == 0) return all;
    all += text_of(std::span(buffer).first(*count));
  }
}

// Suspends.
Answer say(const Pieces& pieces) {
  sim::SimulatedNetwork network;
  CountingService service;
  // No ping while the output is read, and the same random delays each time.
  rpc::Server server(network, {.keepalive = {.interval = 1min}, .random_seed = 1});
  check(server.add(service).has_value(), "the service can be added");
  check(
      server
          .listen({"server", 1}, {.request_bytes_max = request_bytes_max, .door = rpc::Door::nodes})
          .has_value(),
      "the server listens");
  const auto good = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
  check(good.has_value(), "a good client is admitted");

  const auto stream = network.connect({"server", 1}, Deadline::after(1s));
  check(stream.has_value(), "the peer can connect");
  for (const Bytes piece : pieces) check((*stream)->try_write(piece).has_value(), "and speak");
  Answer answer{.bytes = read_all(**stream), .executed_count = service.executed_count};

  const auto reply = test::EchoClient(**good).echo(test::make_echo("still here"));
  check(reply.has_value() && reply->text() == "still here", "a good client is still served");
  (*stream)->close();
  check(coroutine::sleep_for(10s).has_value(), "time passes");
  check(server.statistics().connection_count == 1, "the peer is forgotten");
  check(server.statistics().running_count == 0, "with its calls");
  return answer;
}

std::vector<rpc::FrameHeader> headers_of(Bytes flow, std::size_t payload_size_max) {
  std::vector<rpc::FrameHeader> headers;
  rpc::FrameDecoder decoder(payload_size_max);
  decoder.feed(flow);
  for (rpc::Frame frame; decoder.next(frame).value_or(false);) headers.push_back(frame.header);
  return headers;
}

bool is_good_hello(const rpc::FrameHeader& header) {
  return header.type == rpc::FrameType::hello && header.call_id == rpc::hello_magic &&
         header.method_id == rpc::protocol_version;
}

void check_answer(const Answer& answer, Bytes question) {
  const auto asked = headers_of(question, request_bytes_max);
  const auto said = headers_of(std::as_bytes(std::span(answer.bytes)), std::size_t{1} << 20);
  std::size_t said_bytes = 0;
  for (const rpc::FrameHeader& header : said) {
    said_bytes += rpc::frame_header_size + header.payload_size;
  }
  check(said_bytes == answer.bytes.size(), "a server sends whole frames");
  // A peer that says goodbye gets no answer.
  if (said.empty() && !asked.empty() && asked.front().type == rpc::FrameType::bye) return;
  check(!said.empty(), "a server at least gives the reason for closing");
  const bool says_hello = is_good_hello(said.front());

  const auto count = [](const auto& headers, rpc::FrameType type) {
    return std::ranges::count(headers, type, &rpc::FrameHeader::type);
  };
  const auto reply_count = count(said, rpc::FrameType::reply);
  const auto pong_count = count(said, rpc::FrameType::pong);
  const auto bye_count = count(said, rpc::FrameType::bye);
  check((says_hello ? 1 : 0) + reply_count + pong_count + bye_count == std::ssize(said),
        "a hello first, and only requested answers");
  check(bye_count <= (said.back().type == rpc::FrameType::bye ? 1 : 0), "a bye is the last word");
  check(reply_count <= count(asked, rpc::FrameType::request), "no request has two replies");
  check(pong_count <= count(asked, rpc::FrameType::ping), "nor a ping two pongs");
  if (asked.empty() || !is_good_hello(asked.front())) {
    check(!says_hello && reply_count + pong_count == 0, "no peer is answered before a valid hello");
    check(answer.executed_count == 0, "nor served");
  }
}

}  // namespace

void run(Input input) {
  // One for all inputs: creating it costs more than most of them.
  static coroutine::VirtualTime time;
  static coroutine::Scheduler scheduler(time);
  const auto cuts = input.take_cuts();
  const auto ran = scheduler.run("fuzz", [&] {
    const Answer whole = say({input.rest()});
    check_answer(whole, input.rest());
    check(say(cut(input.rest(), cuts)) == whole, "cuts change nothing");
  });
  check(ran.has_value(), "the task runs");
}

}  // namespace corolane::fuzz
