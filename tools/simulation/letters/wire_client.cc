// SPDX-License-Identifier: MIT
#include "tools/simulation/letters/wire_client.h"

#include <algorithm>
#include <span>
#include <utility>

#include "rpc/wire/wire.pb.h"

namespace corolane::sim {

Result<WireClient> WireClient::connect(net::Network& network, const net::HostPort& server,
                                       Deadline deadline) {
  auto stream = net::connect_to(network, server, deadline);
  if (!stream) return std::move(stream.error());
  return WireClient(*std::move(stream));
}

void WireClient::say_hello(const Hello& hello, std::size_t bytes_max) {
  rpc::Hello message;
  message.set_token(hello.user);
  message.set_keeps_session(true);
  message.set_session(hello.session);
  message.set_received_push(hello.received_push);
  send({.type = rpc::FrameType::hello,
        .call_id = rpc::hello_magic,
        .method_id = rpc::protocol_version},
       message.SerializeAsString(), bytes_max);
}

void WireClient::acknowledge(std::uint64_t push) {
  send({.type = rpc::FrameType::push_ack, .call_id = push}, "", SIZE_MAX);
}

void WireClient::ping() { send({.type = rpc::FrameType::ping}, "", SIZE_MAX); }

// What cannot be sent is as good as lost.
void WireClient::send(const rpc::FrameHeader& header, const std::string& message,
                      std::size_t bytes_max) {
  rpc::FrameHeader whole = header;
  whole.payload_size = static_cast<std::uint32_t>(message.size());
  std::string bytes(rpc::frame_header_size, '\0');
  rpc::encode(whole, std::as_writable_bytes(std::span(bytes)).first<rpc::frame_header_size>());
  bytes += message;
  bytes.resize(std::min(bytes.size(), bytes_max));
  static_cast<void>(stream_->try_write(std::as_bytes(std::span(bytes))));
}

Result<WireClient::Received> WireClient::receive(Deadline deadline) {
  for (rpc::Frame frame;;) {
    const auto more = decoder_->next(frame);
    if (!more) return more.error();
    if (*more) {
      Received received{.type = frame.header.type,
                        .number = frame.header.call_id,
                        .message = std::string(rpc::text_of(frame))};
      if (received.type != rpc::FrameType::bye) return received;
      return Error(code_from_number(frame.header.code), "the server says bye: " + received.message);
    }
    const auto count = stream_->read_some(buffer_, deadline);
    if (!count) return count.error();
    if (*count == 0) return Error(Code::unavailable, "the server has closed");
    decoder_->feed(std::span(buffer_).first(*count));
  }
}

}  // namespace corolane::sim
