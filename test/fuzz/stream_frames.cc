// SPDX-License-Identifier: MIT
// A client that opens streams and sends their frames in any order: each call has at most one reply,
// which is the sum of its numbers when the client has kept the rules, and a good client beside it
// is still served.
//
// Input: pairs of bytes: what to send, and to which of four calls.
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/virtual_time.h"
#include "net/testing/network.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/wire.pb.h"
#include "test/fuzz/target.h"
#include "test/rpc/talk.corolane.h"

namespace corolane::fuzz {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;
using test::Number;

class Talk final : public test::TalkBase {
 public:
  Result<Number> sum(rpc::Requests<Number>& in, rpc::Context&) override {
    Number sum;
    for (Number added; in.read(added);) sum.set_value(sum.value() + added.value());
    if (auto read = in.finish(); !read) return read.error();
    return sum;
  }
  Result<void> twice(rpc::Requests<Number>& in, rpc::Writer<Number>& out, rpc::Context&) override {
    for (Number asked; in.read(asked);) {
      asked.set_value(2 * asked.value());
      if (auto written = out.write(asked); !written) return written;
    }
    return in.finish();
  }
};

std::string bytes_of_number(std::int64_t value, std::size_t padding) {
  Number number;
  number.set_value(value);
  number.set_padding(std::string(padding, 'x'));
  return number.SerializeAsString();
}

// A peer that sends frames, and keeps what it is answered.
class Peer {
 public:
  explicit Peer(net::Network& network)
      : stream_(*network.connect({"server", 1}, Deadline::after(1s))) {
    rpc::Hello hello;
    send(
        {.type = FrameType::hello, .call_id = rpc::hello_magic, .method_id = rpc::protocol_version},
        hello.SerializeAsString());
  }

  void send(rpc::FrameHeader header, std::string_view payload = {}) {
    header.payload_size = static_cast<std::uint32_t>(payload.size());
    std::array<std::byte, rpc::frame_header_size> bytes;
    rpc::encode(header, bytes);
    // A frame must not get lost while the server lives, so a long talk waits for it.
    static_cast<void>(stream_->write_all(bytes, Deadline::after(15s)));
    static_cast<void>(stream_->write_all(net::bytes_of(payload), Deadline::after(15s)));
  }

  // Suspends until the server is silent or has closed.
  void read_all() {
    rpc::FrameDecoder decoder(std::size_t{1} << 20);
    std::array<std::byte, 4096> buffer;
    for (;;) {
      const auto count = stream_->read_some(buffer, Deadline::after(15s));
      if (!count || *count == 0) return;
      decoder.feed(std::span(buffer).first(*count));
      for (rpc::Frame frame;;) {
        const auto has_frame = decoder.next(frame);
        check(has_frame.has_value(), "a server sends frames");
        if (!*has_frame) break;
        take(frame);
      }
    }
  }

  bool was_sent_away = false;
  std::map<std::uint64_t, std::optional<std::int64_t>> replies;  // Empty: an error.

 private:
  void take(const rpc::Frame& frame) {
    if (frame.header.type == FrameType::bye) was_sent_away = true;
    if (frame.header.type != FrameType::reply) return;
    std::optional<std::int64_t> sum;
    Number number;
    if (frame.header.code == 0) {
      check(number.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size())),
            "a reply is a number");
      sum = number.value();
    }
    check(replies.emplace(frame.header.call_id, sum).second, "no call has two replies");
  }

  std::unique_ptr<net::Stream> stream_;
};

// The state of one call, as the client knows it.
struct Asked {
  bool is_open = false;
  bool has_ended = false;
  bool is_spoilt = false;  // By a cancel, a malformed item or one that is too large.
  std::int64_t sum = 0;
};

void talk(Input& input) {
  sim::SimulatedNetwork network;
  Talk service;
  rpc::Server server(network, {.keepalive = {.interval = 1min}, .random_seed = 1});
  check(server.add(service).has_value(), "the service can be added");
  check(server.listen({"server", 1}, {.request_bytes_max = 4096, .door = rpc::Door::nodes})
            .has_value(),
        "the server listens");
  const auto good = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
  check(good.has_value(), "a good client is admitted");
  Peer peer(network);

  std::array<Asked, 5> calls;
  while (!input.rest().empty()) {
    const std::uint8_t what = input.take_byte();
    const std::uint64_t id = 1 + input.take_byte() % 4;
    Asked& call = calls[id];
    switch (what % 9) {
      case 0:
        if (call.is_open) break;  // Ids of pending calls are unique.
        call = {.is_open = true};
        peer.send({.type = FrameType::request,
                   .call_id = id,
                   .method_id = rpc::method_id("corolane.test.Talk/Sum"),
                   .time = 60'000'000});
        break;
      case 1:
      case 2:
        if (!call.has_ended) call.sum += what;
        peer.send({.type = FrameType::item, .call_id = id}, bytes_of_number(what, 0));
        break;
      case 3:
        if (!call.has_ended) call.sum += what;
        peer.send({.type = FrameType::item, .call_id = id}, bytes_of_number(what, 3000));
        break;
      case 4:
        call.has_ended = true;
        peer.send({.type = FrameType::end, .call_id = id});
        break;
      case 5:
        call.is_spoilt = true;
        peer.send({.type = FrameType::item, .call_id = id}, bytes_of_number(what, 5000));
        break;
      case 6:
        call.is_spoilt = true;
        peer.send({.type = FrameType::item, .call_id = id}, "\xff");
        break;
      case 7:
        call.is_spoilt = true;
        peer.send({.type = FrameType::cancel, .call_id = id});
        break;
      default:
        peer.send({.type = FrameType::window, .call_id = id, .time = what * 1000u});
        check(coroutine::sleep_for(10ms).has_value(), "time passes");
    }
  }
  peer.read_all();
  for (std::uint64_t id = 1; id < calls.size(); ++id) {
    const auto reply = peer.replies.find(id);
    const bool is_answered = reply != peer.replies.end();
    check(calls[id].is_open || !is_answered, "a call that was not made has no reply");
    if (!calls[id].is_open || calls[id].is_spoilt || peer.was_sent_away) continue;
    check(is_answered == calls[id].has_ended, "a stream is answered when it has ended");
    if (is_answered) check(reply->second == calls[id].sum, "the reply is the sum of its numbers");
  }

  const auto sum = test::TalkClient(**good).sum().finish();
  check(sum.has_value(), "a good client is still served");
}

}  // namespace

void run(Input input) {
  static coroutine::VirtualTime time;
  static coroutine::Scheduler scheduler(time);
  const auto ran = scheduler.run("fuzz", [&] { talk(input); });
  check(ran.has_value(), "the task runs");
}

}  // namespace corolane::fuzz
