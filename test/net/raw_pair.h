// SPDX-License-Identifier: MIT
// A stream whose peer is a raw socket.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "net/network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/raw_socket.h"
#include "test/net/stream_pair.h"

namespace corolane::net {

// A raw socket as the peer, and the stream that was accepted from it.
struct RawPair {
  RawSocket peer;
  std::unique_ptr<Stream> stream;
};

// Suspends.
inline void accept_raw(Network& network, RawPair& pair, StreamOptions options = {}) {
  auto listener = network.listen(loopback, {.stream = options});
  ASSERT_TRUE(listener) << listener;
  pair.peer.connect((*listener)->local_endpoint());
  auto accepted = (*listener)->accept(test::soon());
  ASSERT_TRUE(accepted) << accepted;
  pair.stream = std::move(*accepted);
}

}  // namespace corolane::net
