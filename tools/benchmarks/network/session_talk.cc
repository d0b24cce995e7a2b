// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/session_talk.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "rpc/wire/frame.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/wire_header.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using rpc::FrameType;

Bytes call(std::string_view method, std::uint64_t call_id) {
  Bytes frame = rpc_frame(method, 60s, "");
  std::memcpy(frame.data() + offsetof(WireHeader, call_id), &call_id, sizeof call_id);
  return frame;
}

void append_frame(FrameType type, std::uint64_t call_id, Bytes& out) {
  const WireHeader header{.type = static_cast<std::uint8_t>(type), .call_id = call_id};
  const auto bytes = std::as_bytes(std::span(&header, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Error unexpected(const WireHeader& header, std::span<const std::byte> text) {
  return Error(Code::internal,
               "a frame of type " + std::to_string(header.type) + ", code " +
                   std::to_string(header.code) + ": " +
                   std::string(reinterpret_cast<const char*>(text.data()), text.size()));
}

}  // namespace

SessionTalk::SessionTalk(Options options)
    : options_(std::move(options)),
      joining_(call("corolane.bench.Square/Follow", joining_call_id)),
      request_(call("corolane.bench.Square/Announce", request_call_id)) {}

void SessionTalk::append_greeting(std::size_t client, Bytes& out) {
  append_rpc_hello(out, options_.token(client), /*keeps_session=*/true);
}

void SessionTalk::append_joining(std::size_t, Bytes& out) {
  out.insert(out.end(), joining_.begin(), joining_.end());
}

void SessionTalk::append_request(std::size_t, Bytes& out) {
  out.insert(out.end(), request_.begin(), request_.end());
}

void SessionTalk::append_acknowledgement(std::size_t client, Bytes& out) {
  append_frame(FrameType::push_ack, received_[client], out);
}

// The server sends each frame as one message.
Result<void> SessionTalk::hear(std::size_t client, std::span<const std::byte> message, Heard& heard,
                               Bytes& answer) {
  WireHeader header;
  if (message.size() < sizeof header) return Error(Code::internal, "a message is no frame");
  std::memcpy(&header, message.data(), sizeof header);
  const auto text = message.subspan(sizeof header);
  if (text.size() != header.payload_size) return Error(Code::internal, "a message is no frame");
  switch (static_cast<FrameType>(header.type)) {
    case FrameType::hello:
      if (received_.size() <= client) received_.resize(client + 1);
      ++heard.open_count;
      return {};
    case FrameType::ping:
      append_frame(FrameType::pong, 0, answer);
      return {};
    case FrameType::push:
      ++heard.news_count;
      received_[client] = header.call_id;
      if (options_.acknowledges) append_acknowledgement(client, answer);
      return {};
    case FrameType::reply:
      if (header.call_id > request_call_id && options_.on_reply) {
        options_.on_reply(header.call_id, header.code);
        return {};
      }
      if (header.code != 0) break;
      ++heard.answer_count;
      return {};
    default:
      break;
  }
  return unexpected(header, text);
}

MakeTalk session_talk(std::string prefix) {
  return [prefix = std::move(prefix)](std::uint16_t) -> Result<std::unique_ptr<Talk>> {
    return std::make_unique<SessionTalk>(SessionTalk::Options{
        .token = [prefix](std::size_t client) { return prefix + "." + std::to_string(client); }});
  };
}

}  // namespace corolane::bench
