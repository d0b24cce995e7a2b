// SPDX-License-Identifier: MIT
// A client, or another end of a stream, that sends raw frames, which an rpc::Client would never
// send.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "net/stream.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {

class RawPeer {
 public:
  explicit RawPeer(EchoWorld& world) : RawPeer(world.network) {}
  explicit RawPeer(net::Network& network, std::uint16_t port = 1) {
    auto stream = network.connect({"server", port}, Deadline::after(std::chrono::seconds(1)));
    check(stream.has_value(), "the raw stream connects");
    stream_ = std::move(*stream);
  }
  // Speaks at this end of a stream, which may be a server's.
  explicit RawPeer(std::unique_ptr<net::Stream> stream) : stream_(std::move(stream)) {}

  struct HelloParts {
    std::string cluster = {};
    std::string nonce = {};
    std::string requester = {};
    std::string token = {};
    bool keeps_session = false;
    std::string session = {};
    std::uint64_t received_push = 0;
  };
  void say_hello(const HelloParts& parts) {
    rpc::Hello hello;
    hello.set_cluster(parts.cluster);
    hello.set_nonce(parts.nonce);
    hello.set_requester(parts.requester);
    hello.set_token(parts.token);
    hello.set_keeps_session(parts.keeps_session);
    hello.set_session(parts.session);
    hello.set_received_push(parts.received_push);
    own_hello = hello.SerializeAsString();
    send({.type = rpc::FrameType::hello,
          .call_id = rpc::hello_magic,
          .method_id = rpc::protocol_version},
         own_hello);
  }

  // Sends a request of Echo/Echo; ignores send errors.
  void call(const std::string& text, std::uint64_t id = 1) {
    send({.type = rpc::FrameType::request,
          .call_id = id,
          .method_id = rpc::method_id("corolane.test.Echo/Echo")},
         make_echo(text).SerializeAsString());
  }

  // The same with an empty message, for an object.
  void call_object(const rpc::ObjectTarget& target) {
    const rpc::ExtensionBytes extension({}, nullptr, &target);
    send({.type = rpc::FrameType::request,
          .call_id = 1,
          .method_id = rpc::method_id("corolane.test.Echo/Echo"),
          .extension_size = static_cast<std::uint32_t>(extension.view().size())},
         std::string(extension.view()));
  }

  // `message` begins with the extension, if there is one.
  void send(rpc::FrameHeader header, const std::string& message = "") {
    header.payload_size = static_cast<std::uint32_t>(message.size());
    std::array<std::byte, rpc::frame_header_size> bytes;
    rpc::encode(header, bytes);
    static_cast<void>(stream_->try_write(bytes));
    static_cast<void>(stream_->try_write(net::bytes_of(message)));
  }

  // The next frame with its message as text; nothing when the other end has closed.
  struct Received {
    rpc::FrameHeader header;
    std::string message;
  };
  std::optional<Received> receive(Duration patience = std::chrono::hours(1)) {
    for (rpc::Frame frame;;) {
      const auto more = decoder_.next(frame);
      check(more.has_value(), "the other end sends frames");
      if (*more) return Received{.header = frame.header, .message = std::string(text_of(frame))};
      const auto count = stream_->read_some(buffer_, Deadline::after(patience));
      if (!count || *count == 0) return std::nullopt;
      decoder_.feed(std::span(buffer_).first(*count));
    }
  }

  // "push 1" or "push_gap 3".
  std::string next_push() {
    const auto frame = receive(std::chrono::seconds(1));
    if (!frame) return "nothing";
    const std::string number = " " + std::to_string(frame->header.call_id);
    if (frame->header.type == rpc::FrameType::push) return "push" + number;
    if (frame->header.type == rpc::FrameType::push_gap) return "push_gap" + number;
    return "another frame";
  }

  // "1: text" is news of group 1.
  std::string receive_news() {
    const auto frame = receive(std::chrono::seconds(1));
    if (!frame) return "nothing";
    if (frame->header.type != rpc::FrameType::push) return "another frame";
    const std::string group = std::to_string(frame->header.time) + ": ";
    if (frame->header.method_id == rpc::method_id("corolane.rpc.GroupGap")) return group + "gap";
    if (frame->header.method_id == rpc::method_id("corolane.rpc.GroupEnd")) {
      rpc::GroupEnd end;
      check(end.ParseFromString(frame->message), "the server tells an end");
      return group + "ended " + Error(code_from_number(end.code()), end.reason()).to_string();
    }
    EchoRequest echo;
    check(echo.ParseFromString(frame->message), "the server pushes what the test says");
    return group + echo.text();
  }

  // The reason why the server closes; skips other frames.
  Error receive_bye() {
    while (auto received = receive()) {
      if (received->header.type != rpc::FrameType::bye) continue;
      return Error(code_from_number(received->header.code), received->message);
    }
    return Error(Code::unknown, "the server said no bye");
  }

  net::Stream& stream() { return *stream_; }

  std::string own_hello;

 private:
  std::unique_ptr<net::Stream> stream_;
  rpc::FrameDecoder decoder_{std::size_t{8} << 20};
  std::array<std::byte, 4096> buffer_;
};

}  // namespace corolane::test
