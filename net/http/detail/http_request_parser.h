// Cuts requests out of a flow of bytes, in whatever pieces it comes.
//
// Boost.Beast judges every byte; http_request_parser.cc only decides where it puts what it has
// found, so that a request which is read into the memory of the last one allocates nothing.
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

  // The next bytes are the beginning of a request, which is read into `request`. Both outlive the
  // reading.
  void begin(const HttpOptions& options, HttpRequest& request);

  // Takes bytes from the front and returns how many. What it leaves while it needs more is given
  // again, with more behind it.
  std::size_t put(std::span<const std::byte> bytes);

  State state() const { return state_; }
  // The status that answers what is_refused: 400, 413, 431, 501 or 505.
  unsigned refusal() const { return refusal_; }
  // The header is there, and its peer waits for "100 Continue" before it sends the body. Says so
  // once.
  bool take_expectation();
  // When it is_done: more requests may follow.
  bool keeps_alive() const { return keeps_alive_; }

 private:
  class Impl;

  void refuse(unsigned status) {
    state_ = State::is_refused;
    refusal_ = status;
  }
  // One step of the parser, false when there is nothing more to do now.
  bool advance(std::span<const std::byte>& bytes);

  std::unique_ptr<Impl> impl_;
  State state_ = State::needs_more;
  unsigned refusal_ = 0;
  bool keeps_alive_ = false;
  std::size_t header_bytes_max_ = 0;
  std::size_t header_count_ = 0;  // Bytes taken since the request began, until its header ended.
};

}  // namespace corolane::net::detail
