// SPDX-License-Identifier: MIT
// Two ends of a connection over loopback, and helpers to read and write them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/network.h"
#include "test/fixtures/real_loop.h"

namespace corolane::net {

inline const Endpoint loopback{.address = "127.0.0.1", .port = 0};

struct StreamPair {
  std::unique_ptr<Stream> client;
  std::unique_ptr<Stream> server;
};

// Suspends.
inline Result<StreamPair> make_stream_pair_at(const Endpoint& endpoint, Network& network,
                                              StreamOptions client_options = {},
                                              StreamOptions server_options = {}) {
  auto listener = network.listen(endpoint, {.stream = server_options});
  if (!listener) return listener.error();
  auto client = network.connect((*listener)->local_endpoint(), test::soon(), client_options);
  if (!client) return client.error();
  auto server = (*listener)->accept(test::soon());
  if (!server) return server.error();
  return StreamPair{.client = std::move(*client), .server = std::move(*server)};
}

// Over TCP. Suspends.
inline Result<StreamPair> make_stream_pair(Network& network, StreamOptions client_options = {},
                                           StreamOptions server_options = {}) {
  return make_stream_pair_at(loopback, network, client_options, server_options);
}

// More than a connection over loopback holds when it is not read.
inline std::string flood() {
  std::string text;
  text.resize(20'000'000, 'x');
  return text;
}

// A text that reveals a lost, doubled or moved piece.
inline std::string numbered_text(std::size_t size) {
  std::string text(size, '.');
  for (std::uint64_t at = 0; at + sizeof(at) <= size; at += sizeof(at)) {
    std::memcpy(text.data() + at, &at, sizeof(at));
  }
  return text;
}

// The result of one read_some() of at most `count_max` bytes, as text. Suspends.
inline Result<std::string> read_text(Stream& stream, Deadline deadline = test::soon(),
                                     std::size_t count_max = 4096) {
  std::array<std::byte, 4096> buffer;
  auto count = stream.read_some(std::span(buffer).first(count_max), deadline);
  if (!count) return count.error();
  return std::string(reinterpret_cast<const char*>(buffer.data()), *count);
}

// Reads exactly `count` bytes, or fewer when the peer ends first. Suspends.
inline Result<std::string> read_exactly(Stream& stream, std::size_t count) {
  std::string all;
  while (all.size() < count) {
    auto part = read_text(stream, test::soon(), std::min<std::size_t>(count - all.size(), 4096));
    if (!part) return part.error();
    if (part->empty()) break;
    all += *part;
  }
  return all;
}

// Reads until the peer finishes. Suspends.
inline Result<std::string> read_all(Stream& stream) {
  std::string all;
  for (;;) {
    auto part = read_text(stream);
    if (!part) return part.error();
    if (part->empty()) return all;
    all += *part;
  }
}

// Suspends until the kernel has all of it.
inline Result<void> send_text(Stream& stream, std::string_view text) {
  if (auto written = stream.write_all(bytes_of(text), test::soon()); !written) return written;
  return stream.flush(test::soon());
}

// Suspends until a turn of the loop has seen everything that had reached its sockets.
inline void see_arrivals(Network& network) {
  auto pair = make_stream_pair(network);
  ASSERT_TRUE(pair) << pair;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(send_text(*pair->client, "x"));
    ASSERT_TRUE(read_text(*pair->server));
  }
}

}  // namespace corolane::net
