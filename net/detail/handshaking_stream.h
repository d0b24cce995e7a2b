// SPDX-License-Identifier: MIT
// A stream that shakes hands with its peer before it can be used: inside of TLS, or of a WebSocket.
#pragma once

#include "coroutine/base/deadline.h"
#include "net/stream.h"

namespace corolane::net::detail {

class HandshakingStream : public Stream {
 public:
  // Is notified of the handshake, on the loop's stack; may close the stream then, but not destroy
  // it.
  class Host {
   public:
    // One of these two is called, once.
    virtual void opened(HandshakingStream& stream) = 0;
    virtual void failed(HandshakingStream& stream) = 0;
    // After failed(): the peer has been sent the reason, as far as possible, and the stream is
    // closed.
    virtual void ended(HandshakingStream& stream) = 0;

   protected:
    ~Host() = default;
  };

  // Begins the handshake. `host` lives until it is notified, or the stream is closed.
  virtual void shake_hands(Host& host, Deadline deadline) = 0;
  // Counts a handshake that its listener gives up because newer peers need the place.
  virtual void note_dropped() = 0;
};

}  // namespace corolane::net::detail
