// SPDX-License-Identifier: MIT
// C in the style of libuv: handles with callbacks, memory by malloc.
#include "tools/benchmarks/peers/uv_server.h"

#include <netinet/in.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "tools/benchmarks/network/http_text.h"

namespace corolane::bench {
namespace {

// Accepts on a free port and runs the default loop; returns only on failure.
Error serve(uv_connection_cb on_connection) {
  static uv_tcp_t listener;
  uv_loop_t* const loop = uv_default_loop();
  sockaddr_in address{};
  int problem = uv_ip4_addr("127.0.0.1", 0, &address);
  if (problem == 0) problem = uv_tcp_init(loop, &listener);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (problem == 0) problem = uv_tcp_bind(&listener, generic, 0);
  auto* const stream = reinterpret_cast<uv_stream_t*>(&listener);
  if (problem == 0) problem = uv_listen(stream, 1024, on_connection);
  int size = sizeof address;
  if (problem == 0) problem = uv_tcp_getsockname(&listener, generic, &size);
  if (problem == 0) {
    Seat::announce(ntohs(address.sin_port));
    uv_run(loop, UV_RUN_DEFAULT);
  }
  return Error(Code::unavailable, std::string("libuv: ") + uv_strerror(problem));
}

template <typename Client>
void on_close(uv_handle_t* handle) {
  delete reinterpret_cast<Client*>(handle);
}

// `Client` begins with its uv_tcp_t.
template <typename Client, uv_alloc_cb on_alloc, uv_read_cb on_read>
void on_connection(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto* const client = new Client();
  auto* const handle = reinterpret_cast<uv_tcp_t*>(client);
  auto* const stream = reinterpret_cast<uv_stream_t*>(client);
  uv_tcp_init(listener->loop, handle);
  if (uv_accept(listener, stream) != 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(client), on_close<Client>);
    return;
  }
  uv_tcp_nodelay(handle, 1);
  uv_read_start(stream, on_alloc, on_read);
}

struct EchoClient {
  uv_tcp_t handle;
};

struct EchoWrite {
  uv_write_t request;
  uv_buf_t buffer;
};

void allocate_for_echo(uv_handle_t*, std::size_t suggested_size, uv_buf_t* buffer) {
  *buffer = uv_buf_init(static_cast<char*>(std::malloc(suggested_size)),
                        static_cast<unsigned>(suggested_size));
}

void on_echo_written(uv_write_t* request, int) {
  auto* const write = reinterpret_cast<EchoWrite*>(request);
  std::free(write->buffer.base);
  std::free(write);
}

void on_echo_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  if (count > 0) {
    auto* const write = static_cast<EchoWrite*>(std::malloc(sizeof(EchoWrite)));
    write->buffer = uv_buf_init(buffer->base, static_cast<unsigned>(count));
    uv_write(&write->request, stream, &write->buffer, 1, on_echo_written);
    return;
  }
  if (count < 0) uv_close(reinterpret_cast<uv_handle_t*>(stream), on_close<EchoClient>);
  std::free(buffer->base);
}

struct HttpClient {
  uv_tcp_t handle;
  std::string unfinished;
};

std::array<char, 64 * 1024> http_input;

const std::string& http_reply() {
  static const std::string reply = [] {
    const std::string body = http_json_body();
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }();
  return reply;
}

void allocate_for_http(uv_handle_t*, std::size_t, uv_buf_t* buffer) {
  *buffer = uv_buf_init(http_input.data(), http_input.size());
}

void close_http(uv_stream_t* stream) {
  auto* const handle = reinterpret_cast<uv_handle_t*>(stream);
  if (uv_is_closing(handle) == 0) uv_close(handle, on_close<HttpClient>);
}

// Removes the complete requests from the front of `text`, and returns their number.
std::size_t take_requests(std::string_view& text) {
  std::size_t request_count = 0;
  while (const std::size_t size = http_message_size(text)) {
    text.remove_prefix(size);
    ++request_count;
  }
  return request_count;
}

void on_http_read(uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
  if (count < 0) close_http(stream);
  if (count <= 0) return;
  std::string& unfinished = reinterpret_cast<HttpClient*>(stream)->unfinished;
  std::string_view text(buffer->base, static_cast<std::size_t>(count));
  if (!unfinished.empty()) text = unfinished.append(text);
  std::size_t request_count = take_requests(text);
  unfinished = std::string(text);
  for (; request_count > 0; --request_count) {
    // With one request at a time there is always room for a reply.
    uv_buf_t reply = uv_buf_init(const_cast<char*>(http_reply().data()),
                                 static_cast<unsigned>(http_reply().size()));
    if (uv_try_write(stream, &reply, 1) != static_cast<int>(reply.len)) return close_http(stream);
  }
}

}  // namespace

Error serve_uv_echo(const Seat&) {
  return serve(on_connection<EchoClient, allocate_for_echo, on_echo_read>);
}

Error serve_uv_http(const Seat&) {
  return serve(on_connection<HttpClient, allocate_for_http, on_http_read>);
}

}  // namespace corolane::bench
