// SPDX-License-Identifier: MIT
// Parses requests from a byte stream that arrives in pieces of any size.
//
// Boost.Beast validates every byte; http_request_parser.cc only decides where the parts are stored,
// so that a request that is read into the memory of the last one allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "coroutine/base/result.h"
#include "net/http/http.h"

namespace corolane::net::detail {

class HttpRequestParser {
 public:
  enum class State { needs_more, is_done, is_refused };

  HttpRequestParser();
  ~HttpRequestParser();

  // Starts a request, which is read into `request`. Both arguments must outlive the reading.
  void begin(const HttpOptions& options, HttpRequest& request);

  // Consumes bytes from the front and returns how many. While it needs more, the caller passes the
  // rest again, together with further bytes.
  std::size_t put(std::span<const std::byte> bytes);

  State state() const { return state_; }
  // The status that answers a request that is_refused: 400, 413, 431, 501 or 505.
  unsigned refusal() const { return refusal_; }
  // True, once per request, when the header is complete and the peer waits for "100 Continue"
  // before it sends the body.
  bool take_expectation();
  // Valid when it is_done: more requests may follow.
  bool keeps_alive() const { return keeps_alive_; }
  // Whether the peer speaks HTTP/1.1, and so reads chunks.
  bool reads_chunks() const { return reads_chunks_; }

 private:
  class Impl;

  void refuse(unsigned status) {
    state_ = State::is_refused;
    refusal_ = status;
  }
  // One step of the parser; false when there is nothing more to do now.
  bool advance(std::span<const std::byte>& bytes);

  std::unique_ptr<Impl> impl_;
  State state_ = State::needs_more;
  unsigned refusal_ = 0;
  bool keeps_alive_ = false;
  bool reads_chunks_ = false;
};

}  // namespace corolane::net::detail
