// SPDX-License-Identifier: MIT
// The part of a SocketStream that libuv holds, and the callbacks that libuv calls.
#pragma once

#include <uv.h>

#include "net/detail/byte_buffer.h"
#include "net/uv/detail/event_loop_impl.h"
#include "net/uv/detail/socket_stream.h"

namespace corolane::net::detail {

// Deletes itself when libuv is done with it; its owner may be gone long before.
struct SocketHandle {
  SocketHandle(EventLoop::Impl& loop, SocketStream& owning, SocketStream::Transport transport)
      : owner(&owning) {
    if (transport == SocketStream::Transport::tcp) {
      uv_tcp_init(&loop.uv, &tcp);
    } else {
      uv_pipe_init(&loop.uv, &pipe, /*ipc=*/0);
    }
    handle.data = connect_request.data = write_request.data = this;
  }
  SocketHandle(const SocketHandle&) = delete;
  SocketHandle& operator=(const SocketHandle&) = delete;

  // From here on no callback reaches the owner.
  void release() {
    owner = nullptr;
    uv_close(&handle, [](uv_handle_t* closed) { delete static_cast<SocketHandle*>(closed->data); });
  }

  // -1 until there is a socket.
  int descriptor() const {
    uv_os_fd_t descriptor = -1;
    uv_fileno(&handle, &descriptor);
    return descriptor;
  }

  static void on_connected(uv_connect_t* request, int status);
  // The loop's poller has found something to read.
  static void on_readable(const SocketHandle& self);
  static void on_written(uv_write_t* request, int status);

  SocketStream* owner;
  // One handle, under the types that libuv's functions expect.
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  };
  uv_connect_t connect_request;
  uv_write_t write_request;
  uv_shutdown_t shutdown_request;
  ByteBuffer sending;  // The bytes of `write_request`.
};

}  // namespace corolane::net::detail
