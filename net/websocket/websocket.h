// Messages in both directions over one connection, as browsers have them (RFC 6455), on either end.
//
//   auto socket = net::connect_websocket(network, {"game.example", 80}, "/play", deadline);
//   if (!socket) return socket.error();
//   (*socket)->write_message(net::MessageKind::text, "hello", deadline);
//   auto answer = (*socket)->read_message(deadline);
//
// Whoever is done lets it go: what was written is sent, and the peer gets its close frame. An echo:
//
//   while (auto message = socket.read_message(deadline)) {
//     if (!socket.write_message(message->kind, message->payload, deadline)) return;
//   }
//
// Reading is linear or push, as of a Stream: read_message() suspends its task, a MessageSink is
// called on the loop's stack. An idle connection costs no coroutine. Pings are answered, and a peer
// that is silent for long is sent one. A peer that breaks the rules is told which (close code 1002,
// 1007 or 1009) and closed.
//
// How one comes about is in websocket_upgrade.h. All of it belongs to one scheduler's thread.
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
#include "coroutine/timer_wheel.h"
#include "coroutine/wait_queue.h"
#include "net/stream.h"
#include "net/uv/detail/byte_buffer.h"
#include "net/uv/detail/call_count.h"
#include "net/websocket/detail/websocket_codec.h"

namespace corolane::net {

enum class MessageKind : std::uint8_t { text, binary };

struct WebSocketMessage {
  MessageKind kind = MessageKind::binary;
  std::string payload = {};  // A text is UTF-8.
};

// RFC 6455, section 7.4.
struct WebSocketClose {
  std::uint16_t code = 1005;  // 1000: all is done; 1001: going away; 1005: the peer gave none.
  std::string reason = {};
};

struct WebSocketOptions {
  // Of a message in one piece or many: what a game client sends fits into much less.
  std::size_t message_bytes_max = 64 * 1024;
  // A peer could otherwise have us look at headers for ever, for no bytes at all.
  std::size_t fragment_count_max = 1024;
  // A peer that is silent for so long is asked whether it is there; often enough for the routers
  // that forget connections after a minute.
  std::chrono::milliseconds keepalive_interval = std::chrono::seconds(30);
  // Then it has so long to say anything.
  std::chrono::milliseconds keepalive_patience = std::chrono::seconds(10);
  // Until a peer that was sent a close frame answers and ends.
  std::chrono::milliseconds close_time_max = std::chrono::seconds(5);
};

// Receives messages on the loop's stack: must not suspend, and may only close this socket.
class MessageSink {
 public:
  // The payload is valid during the call only.
  virtual void on_message(MessageKind kind, std::span<const std::byte> payload) = 0;
  // Called once, last: closed by the peer, broken, or for a broken rule. Not after abort().
  virtual void on_end(const Error& reason) = 0;

 protected:
  ~MessageSink() = default;
};

class WebSocket final : private ReadSink, private coroutine::Timer {
 public:
  enum class Role : std::uint8_t { client, server };

  // Over a stream that has been upgraded; `early` are bytes behind the upgrade that were read with
  // it.
  WebSocket(std::unique_ptr<Stream> stream, Role role, const WebSocketOptions& options,
            std::span<const std::byte> early = {});
  // Leaves it to its network, which sends what is queued and the close frame (1001, unless close()
  // or the peer's own was before) and waits for the peer's end, for at most close_time_max; see
  // PartingStreams. No task may be inside one of its calls. Never suspends.
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  // Suspends until a message is there. Fails with unavailable when the peer has closed, see
  // peer_close(), or the connection broke; with invalid_argument when the peer broke a rule, with
  // resource_exhausted when its message was too large; with deadline_exceeded or cancelled, and
  // nothing is lost then.
  Result<WebSocketMessage> read_message(Deadline deadline);

  // Push reading, from now on. What came before is delivered by the next turn. The sink outlives
  // the socket or its end.
  void set_message_sink(MessageSink& sink);
  // As Stream has them; pings wait as well.
  void pause_reading();
  void resume_reading();

  // Both as Stream::write_all() and try_write(), with a message as one frame. Fail besides with
  // invalid_argument for a text that is not UTF-8, with failed_precondition after close().
  Result<void> write_message(MessageKind kind, std::span<const std::byte> payload,
                             Deadline deadline);
  Result<void> try_write_message(MessageKind kind, std::span<const std::byte> payload);
  Result<void> write_message(MessageKind kind, std::string_view payload, Deadline deadline) {
    return write_message(kind, bytes_of(payload), deadline);
  }
  Result<void> try_write_message(MessageKind kind, std::string_view payload) {
    return try_write_message(kind, bytes_of(payload));
  }

  // Sends what is queued and then the close frame; what the peer still sends is dropped, and
  // reading ends with its answer. `code` is one that may be sent (1000 to 1003, 1007 to 1014, 3000
  // to 4999), `reason` is cut to 123 bytes. Never suspends.
  void close(std::uint16_t code = 1000, std::string_view reason = {});
  // The same, and suspends until the peer has answered; after the peer's own close frame until our
  // answer to it, behind all that was written, is handed to the kernel. For whoever has to know
  // that all is said before it goes on; no task may be reading. Fails with unavailable when the
  // connection broke or the peer does not answer, with deadline_exceeded or cancelled.
  Result<void> finish(Deadline deadline);
  // Ends the connection at once, without a word. Never suspends.
  void abort();

  // Nothing can be written any more.
  bool is_closed() const { return state_ != State::open; }
  // What the peer's close frame said, once it came.
  const std::optional<WebSocketClose>& peer_close() const { return peer_close_; }
  // For who the peer is; not to be read or written.
  const Stream& stream() const { return *stream_; }

 private:
  enum class State : std::uint8_t { open, closing, parting, ended };

  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;

  // What came is decoded as long as somebody wants it; the rest waits in `unread_`.
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
                                        std::span<const std::byte> payload) const;
  void send_control(detail::WebSocketOpcode opcode, std::span<const std::byte> payload);
  void send_close(std::uint16_t code, std::string_view reason);
  // The close frame that had no room: false when it still has none.
  bool send_unsent_close();

  void on_time();
  void look_for_life();
  void give_up_closing();
  void arm(Deadline deadline);
  // For what comes next, by state.
  void rearm();

  std::unique_ptr<Stream> stream_;
  const Role role_;
  const WebSocketOptions options_;
  detail::WebSocketDecoder decoder_;
  State state_ = State::open;
  std::optional<WebSocketClose> peer_close_;
  std::optional<Error> failure_;    // Why reading has ended.
  std::optional<Error> broken_by_;  // Why it will, once what came before is read.
  bool aborted_ = false;
  detail::CallCount calls_;

  MessageSink* sink_ = nullptr;
  bool paused_ = false;
  bool stream_paused_ = false;
  bool delivery_is_due_ = false;
  // A task was given a message and has not run yet: it may answer before what follows is looked at,
  // which may be the peer's close frame.
  bool reader_is_awake_ = false;
  std::optional<WebSocketMessage> pending_;          // That no task has asked for yet.
  detail::ByteBuffer unread_;                        // Behind that.
  coroutine::WaitQueue readable_{"WebSocket read"};  // Its slot is an optional message.

  std::vector<std::byte> unsent_close_;
  TimePoint closing_until_{};  // While closing or parting.
  coroutine::WaitQueue ended_{"WebSocket close"};

  TimePoint heard_at_;
  TimePoint took_at_{};  // When the peer was seen to have taken output.
  OutputProgress output_progress_;
  bool asked_for_life_ = false;
};

}  // namespace corolane::net
