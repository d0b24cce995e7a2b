// SPDX-License-Identifier: MIT
// Messages in both directions over one connection, as in browsers (RFC 6455), for either end.
//
//   auto socket = net::connect_websocket(network, {"game.example", 80}, "/play", deadline);
//   if (!socket) return socket.error();
//   (*socket)->write_message(net::MessageKind::text, "hello", deadline);
//   auto answer = (*socket)->read_message(deadline);
//
// Destroying a WebSocket is enough: its output is still sent, and the peer gets a close frame. An
// echo:
//
//   while (auto message = socket.read_message(deadline)) {
//     if (!socket.write_message(message->kind, message->payload, deadline)) return;
//   }
//
// Reading is linear or push, as with a Stream: read_message() suspends its task, a MessageSink is
// called on the loop's stack. An idle connection costs no coroutine. Pings are answered, and a peer
// that is silent for long is pinged. A peer that breaks the rules gets the matching close code
// (1002, 1007 or 1009) and is closed.
//
// websocket_upgrade.h makes the opening handshake. All of it belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/timer_wheel.h"
#include "net/detail/byte_buffer.h"
#include "net/detail/call_count.h"
#include "net/detail/read_half.h"
#include "net/peer_life.h"
#include "net/stream.h"
#include "net/websocket/detail/websocket_codec.h"
#include "net/websocket/detail/websocket_deflate.h"

namespace corolane::net {

enum class MessageKind : std::uint8_t { text, binary };

struct WebSocketMessage {
  MessageKind kind = MessageKind::binary;
  std::string payload = {};  // A text is UTF-8.
};

// permessage-deflate as the handshake has agreed on it; see WebSocketUpgradeOptions.
using WebSocketDeflate = detail::WebSocketDeflate;

// RFC 6455, section 7.4.
struct WebSocketClose {
  std::uint16_t code = 1005;  // 1000: finished; 1001: going away; 1005: the peer gave none.
  std::string reason = {};
};

struct WebSocketOptions {
  // The size of a message in one piece or many: the messages of a game client are much smaller.
  // It is the size after inflating.
  std::size_t message_bytes_max = 64 * 1024;
  // A peer could otherwise keep us busy with headers for ever, for no payload at all.
  std::size_t fragment_count_max = 1024;
  // With permessage-deflate, messages below this size are sent as they are: they shrink by too
  // little for the time.
  std::size_t deflate_bytes_min = 1024;
  // A peer that is silent for this time is pinged; often enough for routers that forget connections
  // after a minute.
  std::chrono::milliseconds keepalive_interval = std::chrono::seconds(30);
  // How long the peer then has to send anything.
  std::chrono::milliseconds keepalive_patience = std::chrono::seconds(10);
  // How long a peer that was sent a close frame has to answer and end.
  std::chrono::milliseconds close_time_max = std::chrono::seconds(5);
};

// Receives messages on the loop's stack: must not suspend, and may only close this socket.
class MessageSink {
 public:
  // The payload is valid during the call only.
  virtual void on_message(MessageKind kind, std::span<const std::byte> payload) = 0;
  // Called once, last: the peer closed it, it broke, or the peer broke a rule. Not called after
  // abort().
  virtual void on_end(const Error& reason) = 0;

 protected:
  ~MessageSink() = default;
};

class WebSocket final : private ReadSink, private coroutine::Timer {
 public:
  enum class Role : std::uint8_t { client, server };

  // Takes over a stream that has been upgraded; `early` are bytes that were read together with the
  // upgrade, behind it; `deflate` is what the upgrade has agreed on.
  WebSocket(std::unique_ptr<Stream> stream, Role role, const WebSocketOptions& options,
            std::span<const std::byte> early = {},
            const std::optional<WebSocketDeflate>& deflate = {});
  // Hands the stream to its network, which sends the queued output and the close frame (1001,
  // unless close() or the peer has sent one before) and waits for the peer's end, for at most
  // close_time_max; see PartingStreams. No task may be inside one of its calls. Never suspends.
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  // Suspends until a message has arrived. Fails with unavailable when the peer has closed, see
  // peer_close(), or the connection broke; with invalid_argument when the peer broke a rule, with
  // resource_exhausted when its message was too large; with deadline_exceeded or cancelled, and
  // nothing is lost then.
  Result<WebSocketMessage> read_message(Deadline deadline);

  // Push reading, from now on. Messages that came before are delivered by the next turn. The sink
  // outlives the socket or its end.
  void set_message_sink(MessageSink& sink);
  // The same as in Stream; pings wait as well.
  void pause_reading();
  void resume_reading();

  // The counterparts of Stream::write_all() and try_write(), with a message as one frame. Fail in
  // addition with invalid_argument for a text that is not UTF-8, with failed_precondition after
  // close().
  Result<void> write_message(MessageKind kind, std::span<const std::byte> payload,
                             Deadline deadline);
  Result<void> try_write_message(MessageKind kind, std::span<const std::byte> payload);
  Result<void> write_message(MessageKind kind, std::string_view payload, Deadline deadline) {
    return write_message(kind, bytes_of(payload), deadline);
  }
  Result<void> try_write_message(MessageKind kind, std::string_view payload) {
    return try_write_message(kind, bytes_of(payload));
  }

  // Sends what is queued and then the close frame; further messages of the peer are dropped, and
  // reading ends with its answer. `code` must be one that may be sent (1000 to 1003, 1007 to 1014,
  // 3000 to 4999), `reason` is cut to 123 bytes. Never suspends.
  void close(std::uint16_t code = 1000, std::string_view reason = {});
  // The same, but suspends until the peer has answered; if the peer closed first, until our answer
  // to it, behind all output, is handed to the kernel. For callers that must know that all output
  // was delivered; no task may be reading. Fails with unavailable when the connection broke or the
  // peer does not answer, with deadline_exceeded or cancelled.
  Result<void> finish(Deadline deadline);
  // Ends the connection at once, without a word. Never suspends.
  void abort();

  // True when nothing can be written any more.
  bool is_closed() const { return state_ != State::open; }
  // The contents of the peer's close frame, once it came.
  const std::optional<WebSocketClose>& peer_close() const { return peer_close_; }
  // Empty when messages are not compressed.
  const std::optional<WebSocketDeflate>& deflate() const { return deflate_; }
  // For the identity of the peer; must not be read or written.
  const Stream& stream() const { return *stream_; }

 private:
  enum class State : std::uint8_t { open, closing, parting, ended };

  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;

  // Decodes input while a reader wants messages; the rest waits in `unread_`.
  void decode(std::span<const std::byte> bytes);
  void decode_unread();
  void deliver();
  bool wants_messages() const;
  void regulate_stream();

  void handle(const detail::WebSocketEvent& event);
  void handle_message(MessageKind kind, std::span<const std::byte> payload);
  void handle_close(std::span<const std::byte> payload);
  void refuse(const detail::WebSocketViolation& violation);
  void end_reading(Error reason);
  void part();
  void end_stream();
  void leave_stream();

  Result<void> check_writable(MessageKind kind, std::span<const std::byte> payload) const;
  std::span<const std::byte> make_frame(detail::WebSocketOpcode opcode,
                                        std::span<const std::byte> payload,
                                        bool is_deflated = false) const;
  std::span<const std::byte> make_message(MessageKind kind,
                                          std::span<const std::byte> payload) const;
  void send_control(detail::WebSocketOpcode opcode, std::span<const std::byte> payload);
  void send_close(std::uint16_t code, std::string_view reason);
  // Sends the close frame that had no room: false when it still has none.
  bool send_unsent_close();

  void on_time();
  void look_for_life();
  void give_up_closing();
  void arm(Deadline deadline);
  // Arms the timer for the next event of this state.
  void rearm();

  // The members that each message needs come first, in as few cache lines as possible: among a
  // thousand sockets, none of these lines is in the cache.
  std::unique_ptr<Stream> stream_;
  const Role role_;
  State state_ = State::open;
  detail::SourcePause stream_pause_;
  bool delivery_is_due_ = false;
  // A task was given a message and has not run yet: it may answer before later input is decoded,
  // which may be the peer's close frame.
  bool reader_is_awake_ = false;
  std::optional<Error> failure_;  // Why reading has ended.
  detail::Reader<MessageSink, std::optional<WebSocketMessage>> reader_{"WebSocket read"};
  detail::ByteBuffer unread_;  // Input behind `pending_`.
  PeerLife life_;
  const std::optional<WebSocketDeflate> deflate_;
  detail::WebSocketDecoder decoder_;

  const WebSocketOptions options_;
  std::optional<WebSocketMessage> pending_;  // Not read by a task yet.
  detail::CallCount calls_;
  std::optional<WebSocketClose> peer_close_;
  std::optional<Error> broken_by_;  // Why reading will end, once what came before is read.
  std::vector<std::byte> unsent_close_;
  TimePoint closing_until_{};  // While closing or parting.
  coroutine::Event ended_{"WebSocket close"};
};

}  // namespace corolane::net
