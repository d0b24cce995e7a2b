// The part of a TcpStream that libuv holds on to, and the callbacks through which it calls.
#pragma once

#include <uv.h>

#include "net/detail/byte_buffer.h"
#include "net/detail/event_loop_impl.h"
#include "net/detail/tcp_stream.h"

namespace corolane::net::detail {

// Deletes itself when libuv is done with it; its owner may be gone long before.
struct TcpSocket {
  TcpSocket(EventLoop::Impl& loop, TcpStream& stream) : owner(&stream) {
    uv_tcp_init(&loop.uv, &handle);
    handle.data = connect_request.data = write_request.data = this;
  }
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;

  // From here on no callback reaches the owner.
  void release() {
    owner = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&handle),
             [](uv_handle_t* closed) { delete static_cast<TcpSocket*>(closed->data); });
  }

  uv_stream_t* stream() { return reinterpret_cast<uv_stream_t*>(&handle); }

  static void on_connected(uv_connect_t* request, int status);
  static void on_room_wanted(uv_handle_t* handle, std::size_t suggested_size, uv_buf_t* buffer);
  static void on_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer);
  static void on_written(uv_write_t* request, int status);

  TcpStream* owner;
  uv_tcp_t handle;
  uv_connect_t connect_request;
  uv_write_t write_request;
  uv_shutdown_t shutdown_request;
  ByteBuffer sending;  // What `write_request` is about.
};

}  // namespace corolane::net::detail
