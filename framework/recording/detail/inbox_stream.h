// SPDX-License-Identifier: MIT
// A connection of a recorded or replayed node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "coroutine/sync/event.h"
#include "framework/recording/detail/inbox_network.h"
#include "net/stream.h"

namespace corolane::framework::recording {

class InboxStream final : public net::Stream {
 public:
  InboxStream(InboxNetwork& network, const Connected& connected, const net::StreamOptions& options);
  ~InboxStream() override;

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) override;
  void set_read_sink(net::ReadSink& sink) override;
  void release_read_sink(std::span<const std::byte> unread) override;
  void pause_reading() override { is_paused_ = true; }
  void resume_reading() override;
  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) override;
  Result<void> try_write(std::span<const std::byte> bytes) override;
  Result<void> flush(Deadline deadline) override;
  void finish_writing() override;
  void close() override;
  bool is_closed() const override {
    return is_closed_ || is_broken_ || (write_failed_ && ended_by_);
  }
  const net::Endpoint& peer_endpoint() const override { return peer_; }
  const net::Endpoint& local_endpoint() const override { return local_; }
  net::StreamStatistics statistics() const override;

  // Called by the network, on the loop's stack.
  void arrive(const std::string& bytes);
  void arrive_end(const Ended& ended);
  void arrive_write_failed(const Failure& failure);
  void arrive_written(std::size_t size);
  void end_turn();

 private:
  Result<void> append(std::span<const std::byte> bytes);
  void send_output();
  void talk() { network_.talking_.insert(id_); }
  void note_taken(std::size_t count);
  bool is_sink_open() const;
  void hand_over_soon();
  void hand_over();

  InboxNetwork& network_;
  const std::uint64_t id_;
  const net::Endpoint local_;
  const net::Endpoint peer_;
  const net::StreamOptions options_;
  net::ReadSink* sink_ = nullptr;
  std::string output_;         // Written in this turn.
  std::size_t unwritten_ = 0;  // Including output_: not taken by the kernel yet.
  net::StreamStatistics statistics_;
  std::string received_;
  std::size_t unread_ = 0;             // Bytes of received_ given back after they were taken.
  std::size_t taken_ = 0;              // Bytes of received_ consumed in this turn.
  std::optional<Error> ended_by_;      // No more input.
  std::optional<Error> write_failed_;  // No more output.
  bool is_finished_ = false;
  bool is_paused_ = false;
  bool is_broken_ = false;
  bool is_closed_ = false;
  coroutine::Event readable_{"stream read"};
  coroutine::Event writable_{"stream write"};
};

}  // namespace corolane::framework::recording
