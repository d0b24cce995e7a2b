// SPDX-License-Identifier: MIT
// Reads a response that has no known end, line by line: a watch, a log that is followed, a stream
// of JSON objects.
//
//   auto lines = HttpLines::open(network, host, {.method = "POST", .body = what}, deadline);
//   if (!lines) return lines.error();
//   for (;;) {
//     auto line = lines->next_line(Deadline::after(30s));  // A server silent for longer is gone.
//     if (!line) return line.error();
//     tell(*line);
//   }
//
// Each HttpLines has its own connection and closes it. Belongs to one scheduler's thread.
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
  // Suspends until the head of the response has arrived. `network` outlives the lines. The option
  // `body_bytes_max` bounds a line, not the whole body. Fails as fetch_http() does; a status of 400
  // or more is a success, and its lines explain the failure.
  static Result<HttpLines> open(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options = {});
  HttpLines(HttpLines&& other) noexcept;
  HttpLines& operator=(HttpLines&& other) noexcept;
  ~HttpLines();

  // The response without its body.
  const HttpResponse& head() const;

  // Suspends until a line has arrived, and returns it without its terminator: valid until the next
  // call. Text after the last terminator is a line, too. Fails with out_of_range after the last
  // line, with resource_exhausted for a line above the bound, and with unavailable when the
  // connection broke before the end of the response. With deadline_exceeded and cancelled nothing
  // is lost.
  Result<std::string_view> next_line(Deadline deadline);

 private:
  class Impl;
  explicit HttpLines(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
