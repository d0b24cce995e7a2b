// serve_http(): the server's side of a connection.
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "net/detail/http_wire.h"
#include "net/http.h"

namespace corolane::net {
namespace {

// How long a peer that is still sending is listened to, after its request was refused.
constexpr auto linger_time_max = std::chrono::seconds(2);

HttpResponse respond(const HttpHandler& handler, const HttpRequest& request) {
  try {
    return handler(request);
  } catch (...) {
    return detail::bare_response(500);
  }
}

// A socket that is closed with bytes unread resets the connection, and the peer would lose the
// response that told it to stop.
void linger(Stream& stream) {
  const Deadline deadline = Deadline::after(linger_time_max);
  stream.finish_writing();
  std::array<std::byte, 4096> ignored;
  for (;;) {
    const auto count = stream.read_some(ignored, deadline);
    if (!count || *count == 0) return;
  }
}

void refuse(Stream& stream, unsigned status, Deadline deadline) {
  const std::string text = detail::to_text(detail::bare_response(status), false, false);
  if (!stream.write_all(bytes_of(text), deadline)) return;
  if (!stream.flush(deadline)) return;
  linger(stream);
}

}  // namespace

Result<void> serve_http(Stream& stream, const HttpHandler& handler, const HttpOptions& options) {
  detail::HttpReader reader(stream, options);
  for (bool keep_alive = true; keep_alive;) {
    auto begun = reader.wait_for_message(Deadline::after(options.idle_time_max));
    if (!begun && begun.error().code() == Code::deadline_exceeded) break;
    if (!begun) return begun.error();
    if (!*begun) break;

    auto received = reader.read_request(Deadline::after(options.request_time_max));
    if (!received) {
      auto& [status, error] = received.error();
      if (status != 0) refuse(stream, status, Deadline::after(options.response_time_max));
      return std::move(error);
    }

    const HttpRequest& request = received->request;
    keep_alive = received->keep_alive;
    const std::string text =
        detail::to_text(respond(handler, request), request.method == "HEAD", keep_alive);
    const Deadline deadline = Deadline::after(options.response_time_max);
    if (auto written = stream.write_all(bytes_of(text), deadline); !written) return written;
  }
  return stream.flush(Deadline::after(options.response_time_max));
}

}  // namespace corolane::net
