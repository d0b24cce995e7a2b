// SPDX-License-Identifier: MIT
// A network without waiting: a stream's peer has sent all its bytes in advance. Nothing suspends,
// so no scheduler is needed, and a target is as fast as the code that it tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/network.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {

class ScriptedStream final : public net::Stream {
 public:
  // Each read returns at most one of the pieces, which outlive the stream; then the peer has
  // finished. Output is appended to `written`.
  ScriptedStream(Pieces pieces, std::string& written)
      : pieces_(std::move(pieces)), written_(written) {}

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline) override {
    if (next_ == pieces_.size()) return std::size_t{0};
    Bytes& piece = pieces_[next_];
    const std::size_t count = std::min(buffer.size(), piece.size());
    std::copy_n(piece.begin(), count, buffer.begin());
    piece = piece.subspan(count);
    if (piece.empty()) ++next_;
    return count;
  }
  Result<void> write_all(std::span<const std::byte> bytes, Deadline) override {
    return try_write(bytes);
  }
  Result<void> try_write(std::span<const std::byte> bytes) override {
    written_ += text_of(bytes);
    return {};
  }
  Result<void> flush(Deadline) override { return {}; }
  void set_read_sink(net::ReadSink&) override {}
  void release_read_sink(std::span<const std::byte>) override {}
  void pause_reading() override {}
  void resume_reading() override {}
  void finish_writing() override {}
  void close() override {}
  bool is_closed() const override { return false; }
  const net::Endpoint& peer_endpoint() const override { return endpoint_; }
  const net::Endpoint& local_endpoint() const override { return endpoint_; }

 private:
  Pieces pieces_;
  std::size_t next_ = 0;
  std::string& written_;
  net::Endpoint endpoint_{.address = "127.0.0.1", .port = 1};
};

// Connects once, to a peer that sends `pieces`.
class ScriptedNetwork final : public net::Network {
 public:
  ScriptedNetwork(Pieces pieces, std::string& written)
      : pieces_(std::move(pieces)), written_(written) {}

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint&, net::ListenOptions) override {
    return Error(Code::unimplemented, "no peer connects");
  }
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint&, Deadline,
                                               net::StreamOptions) override {
    return std::make_unique<ScriptedStream>(pieces_, written_);
  }
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host, Deadline) override {
    return std::vector<net::Endpoint>{{.address = host.host, .port = host.port}};
  }

 private:
  Pieces pieces_;
  std::string& written_;
};

}  // namespace corolane::fuzz
