// SPDX-License-Identifier: MIT
// A Stream inside of a WebSocket, over any other Stream.
//
// It is the read sink of the inner stream: reads the request of a client, then unmasks what comes
// and passes it on piece by piece. Each write becomes one message, in the room of the inner stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/timer_wheel.h"
#include "net/detail/call_count.h"
#include "net/detail/handshaking_stream.h"
#include "net/detail/read_half.h"
#include "net/stream.h"
#include "net/websocket/detail/websocket_codec.h"
#include "net/websocket/detail/websocket_deflate.h"
#include "net/websocket/websocket_network.h"

namespace corolane::net {
struct HttpResponse;
}

namespace corolane::net::detail {

class HttpRequestParser;

// What the connections of a WebSocketNetwork share.
struct WebSocketShared {
  const WebSocketNetwork::Options options;
  BufferPool buffers = {};
  WebSocketNetwork::Statistics statistics = {};
};

class WebSocketStream final : public HandshakingStream, private ReadSink, private coroutine::Timer {
 public:
  // For a server; shake_hands() comes next.
  WebSocketStream(std::unique_ptr<Stream> inner, std::shared_ptr<WebSocketShared> shared);
  // For a client whose handshake is done; `early` are the bytes behind it.
  WebSocketStream(std::unique_ptr<Stream> inner, std::shared_ptr<WebSocketShared> shared,
                  std::span<const std::byte> early, const std::optional<WebSocketDeflate>& deflate);
  // Hands the inner stream to its network when a close frame is still to be sent.
  ~WebSocketStream() override;
  WebSocketStream(const WebSocketStream&) = delete;
  WebSocketStream& operator=(const WebSocketStream&) = delete;

  void shake_hands(Host& host, Deadline deadline) override;
  void note_dropped() override;

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) override;
  void set_read_sink(ReadSink& sink) override;
  void release_read_sink(std::span<const std::byte> unread) override;
  void pause_reading() override;
  void resume_reading() override;
  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) override;
  Result<void> try_write(std::span<const std::byte> bytes) override;
  Result<void> append(std::span<const std::byte> bytes) override;
  std::span<std::byte> room_to_write(std::size_t size) override;
  Result<void> flush(Deadline deadline) override;
  void finish_writing() override;
  void close() override;
  bool is_closed() const override { return failure_.has_value() || inner_->is_closed(); }
  const Endpoint& peer_endpoint() const override { return inner_->peer_endpoint(); }
  const Endpoint& local_endpoint() const override { return inner_->local_endpoint(); }
  StreamStatistics statistics() const override { return inner_->statistics(); }
  ByteBudget::Account* account() override { return inner_->account(); }
  PartingStreams* parting_streams() override { return inner_->parting_streams(); }
  std::string_view peer_identity() const override { return inner_->peer_identity(); }

 private:
  // `parting`: the peer has been sent the last frame, and may read it.
  enum class State : std::uint8_t { shaking_hands, open, parting, closed };
  struct Request;

  // Called by the inner stream.
  void on_bytes(std::span<const std::byte> bytes) override;
  void on_end(const Error& reason) override;

  void read_request(std::span<const std::byte> bytes);
  void refuse_request(const HttpResponse& response);
  void fail_to_open(Error reason);
  void decode(std::span<const std::byte> bytes);
  void handle(const WebSocketEvent& event);
  void handle_close(std::span<const std::byte> payload);
  void refuse(const WebSocketViolation& violation);
  // No more input comes, and no more output is taken.
  void end(Error reason);
  void part();
  std::string name() const;

  void deliver();
  void end_turn_soon();
  void regulate_inner();

  Result<void> check_writable() const;
  std::span<const std::byte> frame_of(WebSocketOpcode opcode, std::span<const std::byte> payload,
                                      bool is_deflated = false);
  // A write as a message, deflated if that is worth it.
  std::span<const std::byte> message_of(std::span<const std::byte> bytes);
  void begin_decoding(const std::optional<WebSocketDeflate>& deflate);
  void send_pong(std::span<const std::byte> payload);
  void send_close(std::uint16_t code, std::string_view reason);
  void on_time();

  const std::shared_ptr<WebSocketShared> shared_;
  std::unique_ptr<Stream> inner_;
  ByteBudget::Share held_;
  const bool is_client_;
  State state_;
  bool is_finishing_ = false;   // Our close frame is on its way,
  bool owes_farewell_ = false;  // and nothing else is written,
  Deadline farewell_ends_ = Deadline::never();
  bool has_finished_ = false;  // or the peer has sent its own.
  Host* host_ = nullptr;
  std::unique_ptr<Request> request_;  // While shaking hands.
  std::optional<Error> failure_;
  CallCount calls_;

  std::optional<WebSocketDeflate> deflate_;  // What both ends have agreed on.
  std::optional<WebSocketDecoder> decoder_;  // Once they have.
  ReadHalf plain_;
  SourcePause inner_pause_;
  std::span<std::byte> room_;  // What room_to_write() has returned, with its header.
};

}  // namespace corolane::net::detail
