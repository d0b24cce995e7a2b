// Reads a response that goes on for as long as its server has something to say, line by line: a
// watch, a log that is followed, JSON objects as they come up.
//
//   auto lines = HttpLines::open(network, host, {.method = "POST", .body = what}, deadline);
//   if (!lines) return lines.error();
//   for (;;) {
//     auto line = lines->next_line(Deadline::after(30s));  // Who is silent for longer is gone.
//     if (!line) return line.error();
//     tell(*line);
//   }
//
// The connection is its own, and closed with it. Belongs to one scheduler's thread.
#pragma once

#include <memory>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/http/http.h"
#include "net/network.h"

namespace corolane::net {

class HttpLines {
 public:
  // Suspends until the beginning of the response is there. `network` outlives the lines. Of the
  // options, `body_bytes_max` bounds a line, not the whole. Fails as fetch_http() does; a status of
  // 400 and more is a success, and its lines say what is wrong.
  static Result<HttpLines> open(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options = {});
  HttpLines(HttpLines&& other) noexcept;
  HttpLines& operator=(HttpLines&& other) noexcept;
  ~HttpLines();

  // The response without its body.
  const HttpResponse& head() const;

  // Suspends until a line is there, and returns it without its end: valid until the next call. What
  // stands behind the last end of a line is one, too. Fails with out_of_range after the last one,
  // with resource_exhausted for one above the bound, and with unavailable when the connection broke
  // before the end of the response. With deadline_exceeded and cancelled nothing is lost.
  Result<std::string_view> next_line(Deadline deadline);

 private:
  class Impl;
  explicit HttpLines(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
