// SPDX-License-Identifier: MIT
// Bounds the header of a message that Boost.Beast parses. For .cc files that see Beast.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <cstddef>
#include <span>

namespace corolane::net::detail {

// Beast bounds the first line and each field; this bounds their sum.
class HeaderBound {
 public:
  // A new message begins.
  void begin(std::size_t bytes_max) {
    bytes_max_ = bytes_max;
    count_ = 0;
  }
  // Whether the parser has taken anything of the header.
  bool has_begun() const { return count_ > 0; }

  // Parses, and returns how many bytes were taken. `code` is header_limit above the bound.
  template <typename Parser>
  std::size_t put(Parser& parser, std::span<const std::byte> bytes,
                  boost::beast::error_code& code) {
    namespace http = boost::beast::http;
    const bool was_in_header = !parser.is_header_done();
    const std::size_t taken =
        parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), code);
    if (was_in_header) count_ += taken;
    std::size_t unfinished = was_in_header ? count_ : 0;
    if (code == http::error::need_more) {
      // The parser has scanned the rest and found no end in it: it belongs to one header. Lines
      // between the chunks of a body are bounded as well.
      unfinished = (parser.is_header_done() ? 0 : count_) + bytes.size() - taken;
    }
    if (unfinished > bytes_max_) code = http::error::header_limit;
    return taken;
  }

 private:
  std::size_t bytes_max_ = 0;
  std::size_t count_ = 0;  // Taken by the parser since the header began.
};

}  // namespace corolane::net::detail
